"""Naive Bayes over the scopes of the six features."""

import msgspec
import numpy as np

from windrow.extract.lines_model.features import SCOPES
from windrow.extract.lines_model.source import Array, Codes, Flags

_DIGITS = 6


class Bayes(msgspec.Struct, frozen=True, tag="bayes", tag_field="kind"):
    prior: float  # logarithm of the odds that a line is topical
    evidence: list[list[float]]  # for each feature and scope, the logarithm of what it multiplies the odds by


def fit(rows: Array, topical: Flags) -> Bayes:
    chosen = _scopes(rows)
    positive, negative = _shares(chosen[topical]), _shares(chosen[~topical])
    prior = np.log((topical.sum() + 1) / ((~topical).sum() + 1))
    return Bayes(round(float(prior), _DIGITS), np.round(np.log(positive / negative), _DIGITS).tolist())


def decide(model: Bayes, rows: Array) -> Flags:
    evidence = np.array(model.evidence)
    odds = model.prior + evidence[np.arange(len(evidence)), _scopes(rows)].sum(axis=1)
    return np.asarray(odds > 0)


def _scopes(rows: Array) -> Codes:
    """(lines, features): the number of each feature's scope, the only one that is not 0."""
    return np.asarray(rows.reshape(len(rows), rows.shape[1] // len(SCOPES), len(SCOPES)).argmax(axis=2))


def _shares(chosen: Codes) -> Array:
    """(features, scopes), with one line more of each, so that none has never been seen."""
    counts = (chosen[:, :, None] == np.arange(len(SCOPES))).sum(axis=0) + 1.0
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
