"""A support vector machine with a radial kernel, on a basis so small that it trains in seconds and decides in microseconds.

The decision function is spanned by some of the training lines, the basis, instead of all of them; what is minimised is the usual: the norm
of the function plus C times the squared hinge loss over every training line. Newton's method on the primal ends exactly: the loss is a
quadratic as long as the same lines are inside the margin. Nothing is drawn at random. The basis has a line of every combination of scopes
that is not very rare, for the kernel is local: of a line that the basis has nothing near to, the machine can say little but its bias.
"""

import functools
from collections.abc import Iterator
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from windrow.extract.lines_model.source import Array, Codes, Flags

GAMMA = 1.0  # of the kernel exp(-γ |x - y|²)
COST = 3.0  # C
BASIS = 160  # lines shared out among the combinations of scopes; rare ones get one besides
_RARE = 1 / 20_000  # of all lines: a combination that fewer have needs no line of the basis
_SCOPES = 3
_AT_ONCE = 48  # lines: so few that BLAS does not wake its other threads, which spin for longer than they work
_PART = 4096  # lines of a training set whose kernel is held at once
_STEPS = 100
_DIGITS = 4  # of weights in the model: more than a decision needs, fewer than the order of a machine's sums can change

_Real = TypeVar("_Real", npt.NDArray[np.float32], npt.NDArray[np.float64])
_Singles = npt.NDArray[np.float32]


class Svm(msgspec.Struct, frozen=True, dict=True, tag="svm", tag_field="kind"):
    gamma: float
    bias: float
    weights: list[float]  # one for each line of the basis
    basis: list[list[float]]  # discretised lines

    @functools.cached_property
    def arrays(self) -> tuple[_Singles, _Singles]:
        """Basis and weights in single precision, whose exponential is ten times as fast."""
        return np.array(self.basis, dtype=np.float32), np.array(self.weights, dtype=np.float32)


def fit(rows: Array, topical: Flags, weights: Array | None = None) -> Svm:
    distinct, signs, counts = _distinct(rows, topical, np.ones(len(rows)) if weights is None else weights)
    basis = _basis(distinct, counts)
    solution = np.round(_Problem(distinct, basis, signs, COST * counts).solved(), _DIGITS).tolist()
    return Svm(GAMMA, solution[-1], solution[:-1], basis.tolist())


def decide(machine: Svm, rows: Array) -> Flags:
    basis, weights = machine.arrays
    if not len(basis):
        return np.full(len(rows), machine.bias > 0)
    short = rows.astype(np.float32)
    parts = [short[start : start + _AT_ONCE] for start in range(0, max(len(rows), 1), _AT_ONCE)]
    return np.concatenate([_kernel(part, basis, machine.gamma) @ weights + machine.bias > 0 for part in parts])


def _distinct(rows: Array, topical: Flags, weights: Array) -> tuple[Array, Array, Array]:
    """Lines, signs and what they weigh: lines equal to two digits are taken as one, of which a site has a tenth as many."""
    table = np.column_stack([np.round(rows, 2), np.where(topical, 1.0, -1.0)])
    distinct, place = np.unique(table, axis=0, return_inverse=True)
    return distinct[:, :-1], distinct[:, -1], np.asarray(np.bincount(place.ravel(), weights=weights), dtype=np.float64)


def _basis(rows: Array, counts: Array) -> Array:
    """Of each combination of scopes as many lines as the root of its frequency asks for, spread evenly over them in their order."""
    scopes = rows.reshape(len(rows), -1, _SCOPES).argmax(axis=2)
    _, member = np.unique(scopes, axis=0, return_inverse=True)
    frequency = np.bincount(member.ravel(), weights=counts)
    share = np.sqrt(frequency)
    wanted = np.maximum(np.rint(BASIS * share / share.sum()), frequency >= _RARE * counts.sum()).astype(int)
    chosen = [
        _spread(np.flatnonzero(member.ravel() == kind), counts, number) for kind, number in enumerate(wanted) if number
    ]
    return np.unique(rows[np.concatenate(chosen)], axis=0)


def _spread(members: Codes, counts: Array, number: int) -> Codes:
    """So many of the members, at even distances by their counts."""
    reached = np.cumsum(counts[members])
    return np.asarray(members[np.searchsorted(reached, (np.arange(number) + 0.5) / number * reached[-1])])


def _kernel(rows: _Real, basis: _Real, gamma: float) -> _Real:
    squares = (rows**2).sum(axis=1)[:, None] + (basis**2).sum(axis=1) - 2 * (rows @ basis.T)
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0)))


class _Problem:
    """minimise βᵀKβ + Σ cost · max(0, 1 - sign · f)², where f is the function that the weights β of the basis, and a bias, give."""

    def __init__(self, rows: Array, basis: Array, signs: Array, costs: Array) -> None:
        self._rows, self._basis, self._signs, self._costs = rows, basis, signs, costs
        self._norm = np.zeros((len(basis) + 1, len(basis) + 1))
        self._norm[:-1, :-1] = _kernel(basis, basis, GAMMA)
        self._norm[np.diag_indices_from(self._norm)] += 1e-6  # a basis of lines close together is next to singular

    def solved(self) -> Array:
        """Newton's steps, halved where a whole one would go up, until the lines inside the margin stay the same."""
        beta, decision = np.zeros(len(self._norm)), np.zeros(len(self._rows))
        for _ in range(_STEPS):
            inside = self._signs * decision < 1
            target = self._target(inside)
            reached = np.concatenate([part @ target for _, part in self._parts()])
            step = self._step(beta, target, decision, reached)
            beta, decision = beta + step * (target - beta), decision + step * (reached - decision)
            if step == 1 and np.array_equal(self._signs * decision < 1, inside):
                break
        return beta

    def _parts(self) -> Iterator[tuple[slice, Array]]:
        """The training lines as functions of the basis, and one column for the bias; recomputed, for all of them together are gigabytes."""
        for start in range(0, len(self._rows), _PART):
            part = slice(start, min(start + _PART, len(self._rows)))
            kernel = _kernel(self._rows[part], self._basis, GAMMA)
            yield part, np.column_stack([kernel, np.ones(len(kernel))])

    def _target(self, inside: Flags) -> Array:
        """The minimum if the lines now inside the margin were all that cost anything."""
        left, right = self._norm.copy(), np.zeros(len(self._norm))
        for part, design in self._parts():
            held = design[inside[part]]
            weighed = (held * self._costs[part][inside[part], None]).T
            left += weighed @ held
            right += weighed @ self._signs[part][inside[part]]
        return np.asarray(np.linalg.solve(left, right), dtype=np.float64)

    def _step(self, beta: Array, target: Array, decision: Array, reached: Array) -> float:
        """At the minimum a whole step changes nothing but the last digits, upwards too."""
        step, highest = 1.0, self._value(beta, decision) * (1 + 1e-12)
        while (
            step > 1e-3 and self._value(beta + step * (target - beta), decision + step * (reached - decision)) > highest
        ):
            step /= 2
        return step

    def _value(self, beta: Array, decision: Array) -> float:
        slack = np.maximum(0, 1 - self._signs * decision)
        return float(beta @ self._norm @ beta + (self._costs * slack**2).sum())
