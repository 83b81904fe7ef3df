"""A decision tree, as the record of a model; `fit` trains it."""

import msgspec
import numpy as np

from windrow.extraction.main.lines.source import Array, Codes, Flags


class Leaf(msgspec.Struct, frozen=True, tag="leaf", tag_field="kind"):
    topical: bool


class Split(msgspec.Struct, frozen=True, tag="split", tag_field="kind"):
    column: int
    threshold: float  # a greater value goes above
    below: "Leaf | Split"
    above: "Leaf | Split"


class DecisionTree(msgspec.Struct, frozen=True, tag="tree", tag_field="kind"):
    root: Leaf | Split


def decide(tree: DecisionTree, rows: Array) -> Flags:
    """Return which discretised lines are topical. Values have two digits, as in training."""
    topical = np.zeros(len(rows), dtype=bool)
    _fill(tree.root, np.round(rows, 2), np.arange(len(rows)), topical)
    return topical


def _fill(node: Leaf | Split, rows: Array, members: Codes, topical: Flags) -> None:
    if isinstance(node, Leaf):
        topical[members] = node.topical
        return
    below = rows[members, node.column] <= node.threshold + 1e-9
    _fill(node.below, rows, members[below], topical)
    _fill(node.above, rows, members[~below], topical)
