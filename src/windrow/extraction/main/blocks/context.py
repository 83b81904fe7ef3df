"""What both stages of the extractor `blocks` need to know about a page: sums over its blocks, and its containers."""

from typing import Any, NamedTuple

import numpy as np

from windrow.extraction.main.blocks.rules import LEVELS, NUMBER

Array = np.ndarray[Any, np.dtype[Any]]


class PageContext(NamedTuple):
    """What both stages need to know about a page."""

    lengths: Array  # of each block
    length_sums: Array  # running, from 0 to the total; the same holds for the other sums
    link_sums: Array  # of the text inside links
    prose_sums: Array
    path: Array  # of each block
    own: Array  # of each block its container
    first: Array  # of each container its first block
    end: Array  # of each container
    depth: Array  # of each container
    tag: Array  # of each container
    above: Array  # of each container the nearest container around it that holds more
    parent: Array  # of each container
    heading: Array  # of each block its level, 0 for none
    is_number: Array  # of each block, whether it is short and has many digits
    around: Array  # (LEVELS, blocks): the containers around each block that hold more than it, innermost first


def make_context(
    block: dict[str, Array], container: dict[str, Array], measures: tuple[Array, Array, Array]
) -> PageContext:
    own, start, end = block["container"], container["first"], container["end"]
    above = np.zeros_like(start)
    for number, parent in enumerate(container["parent"].tolist()):
        if number:
            same = start[number] == start[parent] and end[number] == end[parent]
            above[number] = above[parent] if same else parent
    around = [np.where((end - start)[own] < 2, above[own], own)]
    for _ in range(1, LEVELS):
        around.append(above[around[-1]])
    lengths, in_links, prose = measures
    return PageContext(
        lengths=lengths,
        length_sums=running(lengths),
        link_sums=running(in_links),
        prose_sums=running(prose),
        path=block["path"],
        own=own,
        first=start,
        end=end,
        depth=container["depth"],
        tag=container["tag"],
        above=above,
        parent=container["parent"],
        heading=block["heading"],
        is_number=(lengths <= NUMBER) & (block["digits"] * 5 > block["chars"]),
        around=np.array(around),
    )


def running(values: Array) -> Array:
    return np.concatenate(([0], np.cumsum(values)))
