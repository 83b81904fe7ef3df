"""A support vector machine with a radial kernel, as the record of a model; `fit` trains it.

Its decision function is a weighted sum over some lines, the basis, so few that it decides in microseconds.
"""

import functools

import msgspec
import numpy as np
import numpy.typing as npt

from windrow.extraction.main.lines.source import Array, Flags

_AT_ONCE = 48  # lines: so few that BLAS does not wake its other threads, which spin for longer than they work
_Singles = npt.NDArray[np.float32]


class Svm(msgspec.Struct, frozen=True, dict=True, tag="svm", tag_field="kind"):
    gamma: float  # of the kernel exp(-γ |x - y|²)
    bias: float
    weights: list[float]  # one per line of the basis
    basis: list[list[float]]  # discretised lines

    @functools.cached_property
    def arrays(self) -> tuple[_Singles, _Singles]:
        """Return basis and weights in single precision, whose exponential is ten times as fast."""
        return np.array(self.basis, dtype=np.float32), np.array(self.weights, dtype=np.float32)


def decide(machine: Svm, rows: Array) -> Flags:
    """Return which discretised lines are topical."""
    basis, weights = machine.arrays
    if not len(basis):
        return np.full(len(rows), machine.bias > 0)
    short = rows.astype(np.float32)
    parts = [short[start : start + _AT_ONCE] for start in range(0, max(len(rows), 1), _AT_ONCE)]
    return np.concatenate([_kernel(part, basis, machine.gamma) @ weights + machine.bias > 0 for part in parts])


def _kernel(rows: _Singles, basis: _Singles, gamma: float) -> _Singles:
    squares = (rows**2).sum(axis=1)[:, None] + (basis**2).sum(axis=1) - 2 * (rows @ basis.T)
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0)))
