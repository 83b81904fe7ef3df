"""Naive Bayes over the scopes of the six features, as the record of a model; `fit` trains it."""

import msgspec
import numpy as np

from windrow.extraction.main.lines.features import SCOPES
from windrow.extraction.main.lines.source import Array, Flags


class Bayes(msgspec.Struct, frozen=True, tag="bayes", tag_field="kind"):
    prior: float  # log-odds that a line is topical
    evidence: list[list[float]]  # per feature and scope, what it adds to the log-odds


def decide(model: Bayes, rows: Array) -> Flags:
    """Return which discretised lines are topical."""
    evidence = np.array(model.evidence)
    scopes = rows.reshape(len(rows), len(evidence), len(SCOPES)).argmax(axis=2)  # the only one that is not 0
    odds = model.prior + evidence[np.arange(len(evidence)), scopes].sum(axis=1)
    return np.asarray(odds > 0)
