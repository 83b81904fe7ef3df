"""The features of each block, in numpy: half of the reference implementation of the kernel `_blocks`.

All sums are sums of whole numbers and each feature is one division of two of them, so that the kernel computes the
same bits in any order. Lengths are in tenths of a word; in scripts without blanks a character beyond the fifteenth of
a word counts six tenths of a word. A long word in ASCII is no text without blanks: it is an address or data.

A table has a row for each feature, in the order of rules.FIRST or rules.SECOND, and a column for each block.
"""

from collections.abc import Mapping

import numpy as np

from windrow.extraction.main.blocks.context import Array, PageContext, make_context, running
from windrow.extraction.main.blocks.rules import (
    AWAY,
    BITS,
    CLOSING,
    COMMENT_HINT,
    CORES,
    ENDINGS,
    EVEN,
    FAR,
    FIRST,
    FORUM_HINT,
    GROUP,
    GROUP_OF,
    LIKELY,
    LIKELY_CORES,
    MOST_COMMENTS,
    NEAR,
    PROSE,
    SCALE,
    SECOND,
    WINDOWS,
)
from windrow.extraction.walk import BLOCK, CONTAINER, FLAGS, Walk

_LIKELY = np.array(LIKELY)
_GROUPS = np.frombuffer(GROUP_OF, np.uint8)


def first(page: Walk) -> tuple[Array, PageContext]:
    """Return the table of the first stage for a page that has blocks."""
    block, container = _columns(page.blocks, BLOCK), _columns(page.containers, CONTAINER)
    chars, words, link_chars = block["chars"], block["words"], block["link_chars"]
    spaced = np.array([text.isascii() for text in page.texts])
    lengths = np.where(spaced, words * 10, np.maximum(words * 10, (chars - 15 * words) * 6))
    in_links = lengths * link_chars // chars
    prose = np.where((lengths >= PROSE) & (3 * link_chars < chars), lengths - in_links, 0)
    context = make_context(block, container, (lengths, in_links, prose))
    groups, links = _GROUPS[block["tag"]], link_chars / chars
    rows = {
        **{name: block[name] for name in ("stops", "breaks", "images", "depth", "heading")},
        "length": lengths,
        "tag": groups,
        "ending": np.array([_ending(text) for text in page.texts]),
        "links": links,
        "digits": block["digits"] / chars,
        "comma density": block["commas"] / lengths,
        "tag density": block["tags"] / lengths,
        **{f"in {FLAGS[bit]}": block["flags"] >> bit & 1 for bit in BITS},
        **_of_elements(context, _GROUPS[container["tag"]]),
        **_of_path(context, in_links, prose),
        **_of_position(context, prose, block["heading"]),
        "length above": _shifted(lengths, 1),
        "length below": _shifted(lengths, -1),
        "links above": _shifted(links, 1),
        "tag above": _shifted(groups, 1),
        **_of_comments(context, container["hints"]),
        "named comment": block["hints"] & COMMENT_HINT > 0,
        "named forum": block["hints"] & FORUM_HINT > 0,
        **_of_page(context, block, groups),
    }
    return _table(FIRST, rows, len(lengths)), context


def second(context: PageContext, buckets: Array) -> Array:
    """Return the rows that the second stage adds to those of the first, given the buckets of the first."""
    likely, lengths = _LIKELY[buckets], context.lengths
    mass = lengths * likely  # expected length of main text, in units of 2**-SCALE
    sums, masses = context.length_sums, running(mass)
    every, length = int(masses[-1]), int(sums[-1])
    total = max(every, 1)
    index, count = np.arange(len(buckets)), len(buckets)
    windows = [(reach, np.maximum(index - reach, 0), np.minimum(index + reach + 1, count)) for reach in WINDOWS]
    by_path, length_by_path = np.bincount(context.path, mass), np.bincount(context.path, lengths)
    rows = {
        "likely": buckets,
        "likely above": _shifted(buckets, 1),
        "likely below": _shifted(buckets, -1),
        "likely above 2": _shifted(buckets, 2),
        "likely below 2": _shifted(buckets, -2),
        **{f"likely within {reach}": (masses[b] - masses[a]) / (sums[b] - sums[a]) for reach, a, b in windows},
        "likely before": masses[:-1] / total,
        "likely share": mass / total,
        **_of_likely_elements(context, masses, total),
        "likely path density": (by_path / np.maximum(length_by_path, 1))[context.path],
        "likely path share": (by_path / total)[context.path],
        "likely total": every,
        "likely density": every / length,
        "likely sure": int(mass[buckets >= EVEN].sum()) / total,
        "likely decided": int((lengths * np.abs(likely - (1 << SCALE - 1))).sum()) / length,
    }
    return _table(SECOND, rows, count)


def _columns(data: bytes, names: tuple[str, ...]) -> dict[str, Array]:
    columns = np.frombuffer(data, np.int32).reshape(len(names), -1).astype(np.int64)
    return dict(zip(names, columns, strict=True))


def _table(names: tuple[str, ...], rows: Mapping[str, Array | float], blocks: int) -> Array:
    """Return the rows in the order of the names; a number holds for all blocks."""
    table = np.empty((len(names), blocks), np.float32)
    for number, name in enumerate(names):
        table[number] = rows[name]
    return table


def _shifted(values: Array, by: int) -> Array:
    """Return for each block the value of the block `by` places above it (below it if negative); 0 beyond the page."""
    found = np.zeros_like(values)
    if by > 0:
        found[by:] = values[:-by]
    else:
        found[:by] = values[-by:]
    return found


def _ending(text: str) -> int:
    """Return 2 if a sentence ends with the text, 1 if it continues, 0 if the text shows neither."""
    last = text[-2:-1] if text[-1] in CLOSING else text[-1]
    return ENDINGS.get(last, 0)


def _of_elements(context: PageContext, groups: Array) -> dict[str, Array]:
    """Return the features of the elements around each block, and of the cores of the page."""
    start, end = context.first, context.end
    length, in_links, prose = (
        sums[end] - sums[start] for sums in (context.length_sums, context.link_sums, context.prose_sums)
    )
    blocks = np.maximum(end - start, 1)
    figures = {
        "blocks": blocks,
        "share": length / max(int(context.length_sums[-1]), 1),
        "prose share": prose / max(int(context.prose_sums[-1]), 1),
        "links": in_links / np.maximum(length, 1),
        "mean": length / blocks,
        "prose": prose / np.maximum(length, 1),
    }
    index = np.arange(len(context.own))
    rows: dict[str, Array] = {}
    for level, around in enumerate(context.around, 1):
        rows |= {f"around {level} {name}": values[around] for name, values in figures.items()}
        if level <= NEAR:
            rows[f"around {level} tag"] = groups[around]
            rows[f"around {level} place"] = (index - start[around]) / blocks[around]
    figures["tag"] = groups
    for share in CORES:
        core = _core(prose, share, int(context.prose_sums[-1]))
        rows |= {f"core {share} {name}": values for name, values in _of_core(context, core, figures).items()}
    return rows


def _core(held: Array, share: int, total: int) -> int:
    """Return the smallest element with this percentage of the total: the last one in the order of the page."""
    enough = (held * 100 >= share * max(total, 1)).nonzero()[0]
    return int(enough[-1]) if len(enough) else 0


def _of_core(context: PageContext, core: int, figures: dict[str, Array]) -> dict[str, Array]:
    """Return where each block stands relative to a core.

    `outside` counts the elements on the way from the core to the root that do not hold the block; the branch is the
    container in which the block's own way to the root departs from that way.
    """
    outside, branch = _departures(context, core)
    start, end = int(context.first[core]), int(context.end[core])
    own = branch[context.own]
    return {
        "outside": outside[context.own],
        "offset": _offset(len(context.own), start, end),
        "place": (np.arange(len(context.own)) - start) / max(end - start, 1),
        "depth": context.depth[context.own] - context.depth[core],
        "share": np.full(len(own), figures["share"][core]),
        **{f"branch {name}": values[own] for name, values in figures.items()},
    }


def _departures(context: PageContext, core: int) -> tuple[Array, Array]:
    """Return for each container `outside` and the branch, as described in `_of_core`."""
    outside, branch = np.zeros_like(context.first), np.arange(len(context.first))
    to_root = [core]
    while to_root[-1]:
        to_root.append(int(context.above[to_root[-1]]))
    outside[to_root] = np.arange(len(to_root))
    on_the_way = set(to_root)
    for number, above in enumerate(context.above.tolist()):  # the container above has a smaller number
        if number not in on_the_way:
            outside[number] = outside[above]
            branch[number] = number if above in on_the_way else branch[above]
    return outside, branch


def _offset(blocks: int, start: int, end: int) -> Array:
    """Return the distance of each block from an element, in blocks: negative above it, 0 inside."""
    index = np.arange(blocks)
    found: Array = np.minimum(index - start, 0) + np.maximum(index - end + 1, 0)
    return found


def _of_path(context: PageContext, in_links: Array, prose: Array) -> dict[str, Array]:
    """Return the features of all blocks with the same path together."""
    path = context.path
    blocks = np.maximum(np.bincount(path), 1)
    length, linked, prosaic = (np.bincount(path, values) for values in (context.lengths, in_links, prose))
    figures = {
        "blocks": blocks,
        "share": length / max(int(context.length_sums[-1]), 1),
        "prose share": prosaic / max(int(context.prose_sums[-1]), 1),
        "links": linked / np.maximum(length, 1),
        "mean": length / blocks,
    }
    return {f"path {name}": values[path] for name, values in figures.items()}


def _of_position(context: PageContext, prose: Array, headings: Array) -> dict[str, Array]:
    count = len(prose)
    index = np.arange(count)
    is_prose = prose > 0
    last = np.maximum.accumulate(np.where(is_prose, index, -AWAY))
    following = np.minimum.accumulate(np.where(is_prose, index, count + AWAY)[::-1])[::-1]
    since, until = np.full(count, AWAY), np.full(count, AWAY)
    since[1:] = np.minimum(index[1:] - last[:-1], AWAY)
    until[:-1] = np.minimum(following[1:] - index[:-1], AWAY)
    h1 = (headings == 1).nonzero()[0]
    return {
        "place": index / count,
        "text before": context.length_sums[:-1] / max(int(context.length_sums[-1]), 1),
        "prose before": context.prose_sums[:-1] / max(int(context.prose_sums[-1]), 1),
        "since prose": since,
        "until prose": until,
        "since h1": np.clip(index - h1[0], -FAR, FAR) if len(h1) else np.zeros(count),
    }


def _of_comments(context: PageContext, hints: Array) -> dict[str, Array | float]:
    """Return the features of the comments of a page.

    An element with a name for comments holds some if it is not most of the page, or if much of the page is above it:
    many pages name their body after its comments.
    """
    sums = context.prose_sums
    total = max(int(sums[-1]), 1)
    inside = np.zeros(len(context.own))
    elements = reached = prose = 0
    start = len(context.own)  # of the first comments
    for number in (hints & COMMENT_HINT).nonzero()[0].tolist():
        first, end = int(context.first[number]), int(context.end[number])
        held, before = int(sums[end] - sums[first]), int(sums[first])
        if end > reached and (2 * held < total or 10 * before >= 3 * total):
            elements += first >= reached
            start = min(start, first)
            prose += int(sums[end] - sums[max(first, reached)])
            inside[max(first, reached) : end] = 1
            reached = end
    return {
        "in comments": inside,
        "page comments": min(elements, MOST_COMMENTS),
        "page comment share": prose / total,
        "prose before comments": int(sums[start]) / total,
        "prose outside comments": total - prose,
    }


def _of_page(context: PageContext, block: dict[str, Array], groups: Array) -> dict[str, float]:
    length, linked, prose = (int(sums[-1]) for sums in (context.length_sums, context.link_sums, context.prose_sums))
    by_group = np.bincount(groups, context.lengths, len(GROUP) + 1)
    prose_blocks = int(np.count_nonzero(np.diff(context.prose_sums)))
    some = max(length, 1)
    return {
        "page blocks": len(groups),
        "page length": some,
        "page prose": prose,
        "page links": linked / some,
        "page prose share": prose / some,
        "page longest": int(context.lengths.max()),
        "page p": by_group[GROUP["p"]] / some,
        "page li": by_group[GROUP["li"]] / some,
        "page mean prose": prose / max(prose_blocks, 1),
        "page prose blocks": prose_blocks,
        "page headings": int(np.count_nonzero(block["heading"])),
        "page stops": int(block["stops"].sum()) / some,
        "page depth": int(block["depth"].max()),
    }


def _of_likely_elements(context: PageContext, masses: Array, total: int) -> dict[str, Array]:
    start, end = context.first, context.end
    mass = masses[end] - masses[start]
    density = mass / np.maximum(context.length_sums[end] - context.length_sums[start], 1)
    share = mass / total
    rows = {}
    for level, around in enumerate(context.around, 1):
        rows[f"likely around {level} density"] = density[around]
        rows[f"likely around {level} share"] = share[around]
    for percent in LIKELY_CORES:
        core = _core(mass, percent, total)
        rows[f"likely core {percent} offset"] = _offset(len(context.own), int(start[core]), int(end[core]))
        rows[f"likely core {percent} depth"] = context.depth[context.own] - context.depth[core]
        rows[f"likely core {percent} density"] = np.full(len(context.own), density[core])
    return rows
