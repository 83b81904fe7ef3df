"""jusText's rules: a paragraph is judged by its length, its links and its stop words, and then by the company it keeps.

J. Pomikálek, Removing Boilerplate and Duplicate Content from Web Corpora, 2011; in the form that jusText 3.0.2 gives them. The preset
`stock` decides as that program does, `tuned` has other figures, knows HTML 5 and counts languages without blanks by character.
"""

import bisect
import functools
import itertools
from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow import config
from windrow.data import Capture, Page, Paragraph
from windrow.extract import html, rules, stoplists, walk
from windrow.extract.stoplists import Stoplist
from windrow.extract.walk import Tree, Walk


class Limits(msgspec.Struct, frozen=True):
    """The figures of the rules; what they mean is said in config.Paragraphs."""

    max_link_density: float
    length_low: int
    length_high: int
    stopwords_low: float
    stopwords_high: float
    max_heading_distance: int
    headings: bool
    landmarks: bool
    unspaced: float
    mixed: bool


PRESETS = {
    "stock": Limits(0.2, 70, 200, 0.30, 0.32, 200, headings=True, landmarks=False, unspaced=1.0, mixed=False),
    "tuned": Limits(0.3, 70, 120, 0.15, 0.20, 200, headings=True, landmarks=True, unspaced=0.3, mixed=True),
}
_DEFAULT = config.Paragraphs()
make_stoplist = stoplists.make  # for a language that has no list
_LANDMARKS = rules.FLAG["nav"] | rules.FLAG["footer"] | rules.FLAG["aside"]


def extract(capture: Capture, max_links: int, agent: str = "", options: config.Paragraphs = _DEFAULT) -> Page:
    """As html.extract, with all paragraphs of the page, each called good or bad."""
    page, tree = html.read(capture, max_links, agent, stock=options.preset == "stock")
    if tree is None:
        return page
    return msgspec.structs.replace(page, paragraphs=paragraphs(tree, page.language, options))


def check(options: config.Paragraphs) -> None:
    """Raises where there is no stop list of the language or file that was asked for."""
    if options.stoplist:
        _own(options.stoplist)
    elif options.language:
        stoplists.load(options.language)


def paragraphs(tree: Tree, declared: str, options: config.Paragraphs) -> tuple[Paragraph, ...]:
    """All paragraphs of a page, good and bad, from its stripped tree. `declared` is the language that the page claims."""
    stock = options.preset == "stock"
    page = walk.walk(walk.markup(tree), stock)
    return classified(page, _stoplist(page, declared, options), limits(options))


@functools.lru_cache(16)
def limits(options: config.Paragraphs) -> Limits:
    """Those of the preset, changed by the options that were given. Who names a language or a list means it for every paragraph."""
    given = {name: getattr(options, name) for name in Limits.__struct_fields__}
    if options.language or options.stoplist:
        given["mixed"] = given["mixed"] or False
    return msgspec.structs.replace(
        PRESETS[options.preset], **{name: value for name, value in given.items() if value is not None}
    )


def classified(page: Walk, stoplist: Stoplist | None, given: Limits) -> tuple[Paragraph, ...]:
    """Without a stop list every text has stop words enough."""
    if stoplist is None:
        given = msgspec.structs.replace(given, stopwords_low=0.0, stopwords_high=0.0)
    elif stoplist.by_character:
        scaled = {
            name: round(getattr(given, name) * given.unspaced)
            for name in ("length_low", "length_high", "max_heading_distance")
        }
        given = msgspec.structs.replace(given, **scaled)
    lengths, headings = page.column("chars"), [given.headings and level > 0 for level in page.column("heading")]
    alone = _alone(page, stoplist, given)
    kinds = in_context(alone, lengths, headings, given.max_heading_distance)
    paths = page.paths()
    rows = zip(page.texts, kinds, headings, page.column("path"), alone, strict=True)
    return tuple(Paragraph(text, kind, heading, paths[path], own) for text, kind, heading, path, own in rows)


def _stoplist(page: Walk, declared: str, options: config.Paragraphs) -> Stoplist | None:
    if options.stoplist:
        return _own(options.stoplist)
    language = options.language or stoplists.guess(page.texts, declared)
    known = stoplists.code(language)
    if not known or (options.preset == "stock" and known not in _justext()):
        return None
    return stoplists.load(known)


@functools.lru_cache(4)
def _own(path: str) -> Stoplist:
    return stoplists.read(Path(path))


@functools.cache
def _justext() -> frozenset[str]:
    """The languages that jusText has a list for."""
    return frozenset(code for code, _, _ in stoplists.languages())


def _alone(page: Walk, stoplist: Stoplist | None, given: Limits) -> list[str]:
    """The class of each paragraph by itself."""
    unwanted = _LANDMARKS if given.landmarks else 0
    found = []
    for text, length, linked, flags in zip(
        page.texts, page.column("chars"), page.column("link_chars"), page.column("flags"), strict=True
    ):
        if linked / length > given.max_link_density or flags & unwanted or "©" in text or "&copy" in text:
            kind = "bad"
        elif length < given.length_low:
            kind = "bad" if linked else "short"
        else:
            density = stoplist.density(text) if stoplist else 1.0
            if density < given.stopwords_low and given.mixed:
                density = _foreign(text)
            if density >= given.stopwords_high:
                kind = "good" if length > given.length_high else "neargood"
            else:
                kind = "neargood" if density >= given.stopwords_low else "bad"
        found.append(kind)
    return found


def _foreign(text: str) -> float:
    """Stop words by the list of a paragraph's own language, where that is plain: pages in two languages are not rare."""
    language = stoplists.plain(text)
    return stoplists.load(language).density(text) if language else 0.0


def in_context(alone: Sequence[str], lengths: Sequence[int], headings: Sequence[bool], max_distance: int) -> list[str]:
    """Good or bad: the short and the nearly good ones take after their neighbours, and headings belong to the text below them."""
    kinds = _without_short(alone)
    _settle_near(kinds)
    if "good" in kinds and True in headings:
        _keep_headings(
            kinds, alone, [place for place, heading in enumerate(headings) if heading], (lengths, max_distance)
        )
    return kinds


def _without_short(alone: Sequence[str]) -> list[str]:
    """Short ones in a row are good between two good ones, bad between two bad ones, and else good if a nearly good one is next to them
    on the bad side. A nearly good one is no neighbour otherwise; the edges of the page are bad."""
    places = [-1, *(place for place, kind in enumerate(alone) if kind != "short"), len(alone)]
    nearest = ["bad", *(alone[place] for place in places[1:-1]), "bad"]
    above, below = _sure(nearest), _sure(nearest[::-1])[::-1]
    kinds = list(alone)
    for number in range(1, len(places)):
        start, end = places[number - 1] + 1, places[number]
        if start < end:
            sides = above[number - 1], below[number]
            good = sides == ("good", "good") or (
                sides[0] != sides[1] and nearest[number - 1 if sides[0] == "bad" else number] == "neargood"
            )
            kinds[start:end] = ["good" if good else "bad"] * (end - start)
    return kinds


def _sure(kinds: Sequence[str]) -> list[str]:
    """Of each the last class up to it that is good or bad."""
    last = "bad"
    return [last := kind if kind != "neargood" else last for kind in kinds]


def _settle_near(kinds: list[str]) -> None:
    """A nearly good one is bad between two bad ones, else good. What was decided above it counts."""
    near = [place for place, kind in enumerate(kinds) if kind == "neargood"]
    below: dict[int, str] = {}
    for place in reversed(near):
        following = kinds[place + 1] if place + 1 < len(kinds) else "bad"
        below[place] = below[place + 1] if following == "neargood" else following
    for place in near:
        above = kinds[place - 1] if place else "bad"
        kinds[place] = "bad" if above == "bad" and below[place] == "bad" else "good"


def _keep_headings(
    kinds: list[str], alone: Sequence[str], places: list[int], distance: tuple[Sequence[int], int]
) -> None:
    """A heading that is not bad by itself is good if a good paragraph begins within so many characters below it."""
    lengths, max_distance = distance
    starts = [0, *itertools.accumulate(lengths)]
    good = [place for place, kind in enumerate(kinds) if kind == "good"]
    for place in places:
        if kinds[place] == "bad" and alone[place] != "bad":
            following = bisect.bisect_right(good, place)
            if following < len(good) and starts[good[following]] - starts[place + 1] <= max_distance:
                kinds[place] = "good"
