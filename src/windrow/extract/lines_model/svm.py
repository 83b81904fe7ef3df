"""A support vector machine with a radial kernel, on a basis so small that it trains in a second and decides in microseconds.

The decision function is spanned by some of the training lines, the basis, instead of all of them; what is minimised is the usual: the norm
of the function plus C times the squared hinge loss over every training line. Newton's method on the primal is exact after a handful of
steps, for the loss is a quadratic wherever the lines inside the margin stay the same. The one thing drawn is the basis, from a seeded
generator.
"""

from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from windrow.extract.lines_model.source import Array, Flags

GAMMA = 1.0  # of the kernel exp(-γ |x - y|²)
COST = 3.0  # C
BASIS = 160  # lines
_AT_ONCE = 48  # lines: so few that BLAS does not wake its other threads, which spin for longer than they work
_STEPS = 50
_DIGITS = 6  # of weights in the model

_Real = TypeVar("_Real", npt.NDArray[np.float32], npt.NDArray[np.float64])


class Svm(msgspec.Struct, frozen=True, tag="svm", tag_field="kind"):
    gamma: float
    bias: float
    weights: list[float]  # one for each line of the basis
    basis: list[list[float]]  # discretised lines


def fit(rows: Array, topical: Flags) -> Svm:
    distinct, signs, counts = _distinct(rows, topical)
    basis = _basis(distinct, signs, counts)
    problem = _Problem(_kernel(distinct, basis, GAMMA), _kernel(basis, basis, GAMMA), signs, counts)
    solution = np.round(problem.solved(), _DIGITS).tolist()
    return Svm(GAMMA, solution[-1], solution[:-1], basis.tolist())


def decide(machine: Svm, rows: Array) -> Flags:
    """In single precision, whose exponential is ten times as fast."""
    basis = np.array(machine.basis, dtype=np.float32).reshape(-1, rows.shape[1])
    weights, short = np.array(machine.weights, dtype=np.float32), rows.astype(np.float32)
    parts = [short[start : start + _AT_ONCE] for start in range(0, max(len(rows), 1), _AT_ONCE)]
    return np.concatenate([_kernel(part, basis, machine.gamma) @ weights + machine.bias > 0 for part in parts])


def _distinct(rows: Array, topical: Flags) -> tuple[Array, Array, Array]:
    """Lines, signs and counts: lines equal to two digits are taken as one, of which a site has a tenth as many."""
    table = np.column_stack([np.round(rows, 2), np.where(topical, 1.0, -1.0)])
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    return distinct[:, :-1], distinct[:, -1], counts.astype(float)


def _basis(rows: Array, signs: Array, counts: Array) -> Array:
    """As many lines of either class, frequent ones rather than rare ones."""
    generator = np.random.default_rng(0)
    chosen: list[int] = []
    for sign in (-1.0, 1.0):
        members = np.flatnonzero(signs == sign)
        if len(members):
            share = np.sqrt(counts[members])
            chosen += generator.choice(members, min(len(members), BASIS // 2), replace=False, p=share / share.sum()).tolist()
    return np.unique(rows[chosen], axis=0)


def _kernel(rows: _Real, basis: _Real, gamma: float) -> _Real:
    squares = (rows**2).sum(axis=1)[:, None] + (basis**2).sum(axis=1) - 2 * (rows @ basis.T)
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0)))


class _Problem:
    """minimise βᵀKβ + C Σ count · max(0, 1 - sign · f)², where f is the function that the weights β of the basis, and a bias, give."""

    def __init__(self, kernel: Array, own: Array, signs: Array, counts: Array) -> None:
        self._design = np.column_stack([kernel, np.ones(len(kernel))])
        self._norm = np.zeros((len(own) + 1, len(own) + 1))
        self._norm[:-1, :-1] = own
        self._norm[np.diag_indices_from(self._norm)] += 1e-6  # a basis of lines close together is next to singular
        self._signs = signs
        self._costs = COST * counts

    def solved(self) -> Array:
        beta = np.zeros(len(self._norm))
        value = self._value(beta)
        for _ in range(_STEPS):
            target, step = self._target(beta), 1.0
            lower = self._value(target)
            while lower > value and step > 1e-3:
                step /= 2
                lower = self._value(beta + step * (target - beta))
            if value - lower <= 1e-7 * value:
                break
            beta, value = beta + step * (target - beta), lower
        return beta

    def _target(self, beta: Array) -> Array:
        """The minimum if the lines now inside the margin were all that cost anything."""
        inside = self._signs * (self._design @ beta) < 1
        design = self._design[inside]
        weighed = (design * self._costs[inside, None]).T
        return np.asarray(np.linalg.solve(self._norm + weighed @ design, weighed @ self._signs[inside]), dtype=np.float64)

    def _value(self, beta: Array) -> float:
        slack = np.maximum(0, 1 - self._signs * (self._design @ beta))
        return float(beta @ self._norm @ beta + (self._costs * slack**2).sum())
