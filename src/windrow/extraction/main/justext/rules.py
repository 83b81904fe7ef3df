"""jusText's rules: classify paragraphs by length, link density and stop words, then by their neighbours.

J. Pomikálek, Removing Boilerplate and Duplicate Content from Web Corpora, 2011, in the form of jusText 3.0.2.
"""

import bisect
import itertools
from collections.abc import Sequence

import msgspec

from windrow.extraction.main.justext import stoplists
from windrow.extraction.main.justext.stoplists import Stoplist
from windrow.extraction.walk import Walk
from windrow.extraction.walk.elements import FLAG
from windrow.records import Paragraph


class Thresholds(msgspec.Struct, frozen=True):
    """The numbers of the rules; config.ParagraphsOptions explains them."""

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
    "stock": Thresholds(
        max_link_density=0.2,
        length_low=70,
        length_high=200,
        stopwords_low=0.30,
        stopwords_high=0.32,
        max_heading_distance=200,
        headings=True,
        landmarks=False,
        unspaced=1.0,
        mixed=False,
    ),
    "tuned": Thresholds(
        max_link_density=0.3,
        length_low=70,
        length_high=120,
        stopwords_low=0.15,
        stopwords_high=0.20,
        max_heading_distance=200,
        headings=True,
        landmarks=True,
        unspaced=0.3,
        mixed=True,
    ),
}
_LANDMARKS = FLAG["nav"] | FLAG["footer"] | FLAG["aside"]


def classified(page: Walk, stoplist: Stoplist | None, given: Thresholds) -> tuple[Paragraph, ...]:
    """Return the blocks of a page as paragraphs, good and bad. Without a stop list every text has enough stop words."""
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
    return tuple(
        Paragraph(text, kind, heading=heading, path=paths[path], own=own) for text, kind, heading, path, own in rows
    )


def _alone(page: Walk, stoplist: Stoplist | None, given: Thresholds) -> list[str]:
    """Return the class of each paragraph, without its neighbours."""
    unwanted = _LANDMARKS if given.landmarks else 0
    columns = page.column("chars"), page.column("link_chars"), page.column("flags")
    found = []
    for text, length, linked, flags in zip(page.texts, *columns, strict=True):
        if linked / length > given.max_link_density or flags & unwanted or "©" in text or "&copy" in text:
            kind = "bad"
        elif length < given.length_low:
            kind = "bad" if linked else "short"
        else:
            density = stoplist.density(text) if stoplist else 1.0
            if density < given.stopwords_low and given.mixed:
                density = _foreign_density(text)
            if density >= given.stopwords_high:
                kind = "good" if length > given.length_high else "neargood"
            else:
                kind = "neargood" if density >= given.stopwords_low else "bad"
        found.append(kind)
    return found


def _foreign_density(text: str) -> float:
    """Return the density by the stop list of the paragraph's own language, if that is clear.

    Pages in two languages are not rare.
    """
    language = stoplists.clear_language(text)
    return stoplists.load(language).density(text) if language else 0.0


def in_context(alone: Sequence[str], lengths: Sequence[int], headings: Sequence[bool], max_distance: int) -> list[str]:
    """Decide good or bad for all: short and nearly good paragraphs follow their neighbours, headings the text below."""
    kinds = _decide_short(alone)
    _decide_near_good(kinds)
    if "good" in kinds and True in headings:
        indexes = [index for index, heading in enumerate(headings) if heading]
        _keep_headings(kinds, alone, indexes, (lengths, max_distance))
    return kinds


def _decide_short(alone: Sequence[str]) -> list[str]:
    """Decide each run of short paragraphs by its nearest good or bad paragraphs above and below.

    Two good ones make the run good, two bad ones bad. Between a good and a bad one, the run is good if the paragraph
    next to it on the bad side is nearly good. Nearly good paragraphs count nowhere else. The edges of the page are bad.
    """
    places = [-1, *(index for index, kind in enumerate(alone) if kind != "short"), len(alone)]
    nearest = ["bad", *(alone[place] for place in places[1:-1]), "bad"]
    above, below = _last_decided(nearest), _last_decided(nearest[::-1])[::-1]
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


def _last_decided(kinds: Sequence[str]) -> list[str]:
    """Return for each position the last class up to it that is good or bad."""
    last = "bad"
    return [last := kind if kind != "neargood" else last for kind in kinds]


def _decide_near_good(kinds: list[str]) -> None:
    """Make a nearly good paragraph bad between two bad ones, otherwise good. Decisions above it count."""
    near = [index for index, kind in enumerate(kinds) if kind == "neargood"]
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
    """Make a heading good, unless it is bad alone, if a good paragraph begins within so many characters below it."""
    lengths, max_distance = distance
    starts = [0, *itertools.accumulate(lengths)]
    good = [index for index, kind in enumerate(kinds) if kind == "good"]
    for place in places:
        if kinds[place] == "bad" and alone[place] != "bad":
            following = bisect.bisect_right(good, place)
            if following < len(good) and starts[good[following]] - starts[place + 1] <= max_distance:
                kinds[place] = "good"
