"""A decision tree in the manner of C4.5: splits by gain ratio, pruned where the expected error says so.

Discretised lines have 18 columns with values of two digits, so that every threshold of a column can be tried at once from a histogram.
"""

import math
from typing import NamedTuple

import msgspec
import numpy as np

from windrow.extract.lines_model.source import Array, Codes, Flags

_LEVELS = 101  # values of two digits in [0, 1]
_SMALLEST = 8  # lines in a leaf
_DEEPEST = 16
_CONFIDENT = 0.6745  # deviations: C4.5 prunes by the upper quartile of the error


class Leaf(msgspec.Struct, frozen=True, tag="leaf", tag_field="kind"):
    topical: bool


class Split(msgspec.Struct, frozen=True, tag="split", tag_field="kind"):
    column: int
    threshold: float  # values up to it go below
    below: "Leaf | Split"
    above: "Leaf | Split"


class Tree(msgspec.Struct, frozen=True, tag="tree", tag_field="kind"):
    root: Leaf | Split


class _Lines(NamedTuple):
    codes: Codes
    topical: Flags
    weights: Array  # 1 in the mean

    def part(self, members: Flags) -> "_Lines":
        return _Lines(self.codes[members], self.topical[members], self.weights[members])


def fit(rows: Array, topical: Flags, weights: Array | None = None) -> Tree:
    codes = np.rint(rows * (_LEVELS - 1)).astype(np.intp)
    return Tree(_grown(_Lines(codes, topical, np.ones(len(rows)) if weights is None else weights), 0)[0])


def decide(tree: Tree, rows: Array) -> Flags:
    answer = np.zeros(len(rows), dtype=bool)
    _fill(tree.root, np.round(rows, 2), np.arange(len(rows)), answer)
    return answer


def _fill(node: Leaf | Split, rows: Array, members: Codes, answer: Flags) -> None:
    if isinstance(node, Leaf):
        answer[members] = node.topical
        return
    below = rows[members, node.column] <= node.threshold + 1e-9
    _fill(node.below, rows, members[below], answer)
    _fill(node.above, rows, members[~below], answer)


def _grown(lines: _Lines, depth: int) -> tuple[Leaf | Split, float]:
    """The tree for these lines and the errors to expect of it."""
    total, positive = float(lines.weights.sum()), float(lines.weights[lines.topical].sum())
    leaf = Leaf(2 * positive > total)
    errors = _expected(total, min(positive, total - positive))
    mixed = lines.topical.any() and not lines.topical.all()
    best = _best(lines) if mixed and total >= 2 * _SMALLEST and depth < _DEEPEST else None
    if best is None:
        return leaf, errors
    column, level = best
    low = lines.codes[:, column] <= level
    below, errors_below = _grown(lines.part(low), depth + 1)
    above, errors_above = _grown(lines.part(~low), depth + 1)
    if errors_below + errors_above >= errors:
        return leaf, errors
    return Split(column, level / (_LEVELS - 1), below, above), errors_below + errors_above


def _reached(lines: _Lines) -> Array:
    """(columns, levels): what the lines up to a level weigh."""
    columns = lines.codes.shape[1]
    places = lines.codes + np.arange(columns) * _LEVELS
    found = np.bincount(places.ravel(), weights=np.repeat(lines.weights, columns), minlength=columns * _LEVELS)
    return np.asarray(found.reshape(columns, _LEVELS).cumsum(axis=1))


def _best(lines: _Lines) -> tuple[int, int] | None:
    """Column and level of the split with the largest gain ratio, among those that gain at least as much as the mean split does."""
    everyone, positive = _reached(lines), _reached(lines.part(lines.topical))
    total, positives = float(everyone[0, -1]), float(positive[0, -1])
    share = everyone / total
    within = share * _entropy(positive, everyone) + (1 - share) * _entropy(positives - positive, total - everyone)
    gain = _entropy(np.array(positives), np.array(total)) - within
    allowed = (everyone >= _SMALLEST) & (total - everyone >= _SMALLEST) & (gain > 1e-6)
    if not allowed.any():
        return None
    ratio = np.where(
        allowed & (gain >= gain[allowed].mean() - 1e-9),
        gain / np.maximum(_entropy(everyone, np.array(total)), 1e-9),
        -1.0,
    )
    column, level = divmod(int(ratio.argmax()), _LEVELS)
    return column, level


def _entropy(part: Array, whole: Array) -> Array:
    share = np.clip(part / np.maximum(whole, 1e-9), 1e-12, 1 - 1e-12)
    return np.asarray(-share * np.log2(share) - (1 - share) * np.log2(1 - share))


def _expected(total: float, wrong: float) -> float:
    """Errors at the upper end of what these observed ones leave likely."""
    if not total:
        return 0.0
    share, z = wrong / total, _CONFIDENT
    spread = z * math.sqrt(share / total - share * share / total + z * z / (4 * total * total))
    return total * (share + z * z / (2 * total) + spread) / (1 + z * z / total)
