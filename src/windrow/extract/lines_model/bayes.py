"""Naive Bayes over the scopes of the six features."""

import msgspec
import numpy as np

from windrow.extract.lines_model.features import SCOPES
from windrow.extract.lines_model.source import Array, Codes, Flags

_DIGITS = 6


class Bayes(msgspec.Struct, frozen=True, tag="bayes", tag_field="kind"):
    prior: float  # logarithm of the odds that a line is topical
    evidence: list[list[float]]  # for each feature and scope, the logarithm of what it multiplies the odds by


def fit(rows: Array, topical: Flags, weights: Array | None = None) -> Bayes:
    chosen = _scopes(rows)
    weights = np.ones(len(rows)) if weights is None else weights
    positive, negative = (_shares(chosen[lines], weights[lines]) for lines in (topical, ~topical))
    prior = np.log((weights[topical].sum() + 1) / (weights[~topical].sum() + 1))
    return Bayes(round(float(prior), _DIGITS), np.round(np.log(positive / negative), _DIGITS).tolist())


def decide(model: Bayes, rows: Array) -> Flags:
    evidence = np.array(model.evidence)
    odds = model.prior + evidence[np.arange(len(evidence)), _scopes(rows)].sum(axis=1)
    return np.asarray(odds > 0)


def _scopes(rows: Array) -> Codes:
    """(lines, features): the number of each feature's scope, the only one that is not 0."""
    return np.asarray(rows.reshape(len(rows), rows.shape[1] // len(SCOPES), len(SCOPES)).argmax(axis=2))


def _shares(chosen: Codes, weights: Array) -> Array:
    """(features, scopes), with one line more of each, so that none has never been seen."""
    counts = ((chosen[:, :, None] == np.arange(len(SCOPES))) * weights[:, None, None]).sum(axis=0) + 1.0
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
