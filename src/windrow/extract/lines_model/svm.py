"""A support vector machine with a radial kernel, reduced to a small basis so that it trains in seconds and decides in microseconds.

The decision function is spanned by some of the training lines (the basis) instead of all; what is minimised is the same: the norm of the
function plus C times the squared hinge loss over every training line. The primal is solved by Newton's method, which is exact here after a
handful of steps because the loss is a quadratic with another set of active lines in each. No random numbers but a seeded choice of the basis.
"""

import msgspec
import numpy as np
import numpy.typing as npt

from windrow.extract.lines_model.source import Array

GAMMA = 1.0
COST = 10.0
BASIS = 160  # training lines that span the function
_STEPS = 50
_DIGITS = 6


class Svm(msgspec.Struct, frozen=True, tag="svm"):
    gamma: float
    bias: float
    weights: tuple[float, ...]
    basis: tuple[tuple[float, ...], ...]


def fit(rows: Array, topical: npt.NDArray[np.bool_]) -> Svm:
    distinct, signs, counts = _distinct(rows, topical)
    basis = _basis(distinct, signs, counts)
    kernel, own = _kernel(distinct, basis, GAMMA), _kernel(basis, basis, GAMMA)
    beta, bias = _solved(kernel, own, signs, counts)
    return Svm(GAMMA, round(bias, _DIGITS), tuple(np.round(beta, _DIGITS).tolist()), tuple(map(tuple, basis.tolist())))


def decide(machine: Svm, rows: Array) -> npt.NDArray[np.bool_]:
    if not len(rows):
        return np.zeros(0, dtype=bool)
    return _kernel(rows, np.array(machine.basis), machine.gamma) @ np.array(machine.weights) + machine.bias > 0


def _distinct(rows: Array, topical: npt.NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Equal lines of one class as one with a count; values to two digits, as many pages of a site differ in the third alone."""
    table = np.column_stack([np.round(rows, 2), np.where(topical, 1.0, -1.0)])
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    return distinct[:, :-1], distinct[:, -1], counts.astype(float)


def _basis(rows: Array, signs: Array, counts: Array) -> Array:
    """As many lines of either class, drawn by how often they occur."""
    generator = np.random.default_rng(0)
    chosen: list[int] = []
    for sign in (-1.0, 1.0):
        members = np.flatnonzero(signs == sign)
        if len(members):
            size = min(len(members), BASIS // 2)
            share = np.sqrt(counts[members])
            chosen += generator.choice(members, size, replace=False, p=share / share.sum()).tolist()
    return np.unique(rows[sorted(chosen)], axis=0)


def _kernel(rows: Array, basis: Array, gamma: float) -> Array:
    squares = (rows**2).sum(axis=1)[:, None] + (basis**2).sum(axis=1) - 2 * rows @ basis.T
    return np.exp(-gamma * np.maximum(squares, 0))


def _solved(kernel: Array, own: Array, signs: Array, counts: Array) -> tuple[Array, float]:
    """Weights of the basis and bias: each step solves for the lines that violate the margin, until they stay the same."""
    design = np.column_stack([kernel, np.ones(len(kernel))])
    penalty = np.zeros((design.shape[1], design.shape[1]))
    penalty[:-1, :-1] = own
    penalty[np.diag_indices(len(penalty))] += 1e-8
    beta = np.zeros(design.shape[1])
    value = _loss(beta, design, penalty, signs, counts)
    for _ in range(_STEPS):
        active = signs * (design @ beta) < 1
        weighed = design[active] * counts[active, None] * COST
        target = np.linalg.solve(penalty + weighed.T @ design[active], weighed.T @ signs[active])
        step, moved = 1.0, target
        while (lower := _loss(moved, design, penalty, signs, counts)) > value and step > 1e-3:
            step /= 2
            moved = beta + step * (target - beta)
        if value - lower <= 1e-9 * value:
            break
        beta, value = moved, lower
    return beta[:-1], float(beta[-1])


def _loss(beta: Array, design: Array, penalty: Array, signs: Array, counts: Array) -> float:
    slack = np.maximum(0, 1 - signs * (design @ beta))
    return float(beta @ penalty @ beta + COST * (counts * slack**2).sum())
