"""The features that the extractor `blocks` computes, and their constants, for the kernel and its reference."""

import math

from windrow.extraction.walk.elements import COMMAS, FLAGS, HINTS, STOPS, TAGS

_GROUPS = (
    *("p", "li", "dd dt", "td th", "div", "h1", "h2", "h3", "h4 h5 h6", "pre listing", "blockquote"),
    *("article section main body", "figcaption caption figure", "ul ol dl"),
)
GROUP = {tag: number for number, tags in enumerate(_GROUPS, 1) for tag in tags.split()}
GROUP_OF = bytes(GROUP.get(tag, 0) for tag in TAGS)  # group of each tag by its number; 0: any other tag
# The flags that no other column shows.
BITS = tuple(index for index, name in enumerate(FLAGS) if name not in ("link", "heading"))
COMMENT_HINT, FORUM_HINT = (1 << list(HINTS).index(name) for name in ("comment", "forum"))
TABLE = TAGS.index("table")
ENDINGS = {**dict.fromkeys(STOPS, 2), **dict.fromkeys(COMMAS, 1)}
CLOSING = "\"”»)'"  # may follow the full stop of a sentence

TENTHS = 10  # of a word: the kernel counts lengths in tenths, so that they are whole numbers
PROSE = 10 * TENTHS  # words: a shorter block is not prose
CORES = (40, 80)  # per cent of a page's prose; a core is the smallest element that holds so much
LIKELY_CORES = (50, 80, 95)  # the same for the text that the first stage expects
LEVELS = 5  # elements around a block that are examined
NEAR = 3  # the innermost of them, of which tag and place are features too
WINDOWS = (3, 8)  # blocks on either side
FAR = 100  # blocks: the greatest distance from the headline
AWAY = 61  # blocks: the greatest distance to the next prose
SLIGHT = 3  # tenths: added to the weight of each block
MOST_COMMENTS = 50  # elements with comments that are counted
COMMENT = 40  # characters: a shorter comment is not prose
# A table of short cells is kept or dropped as a whole. Tables that make a layout have few cells, or long ones.
CELLS = 4  # blocks: a table with fewer is judged block by block
CELL = 15 * TENTHS  # words: the greatest mean length of its blocks
# A card is one of CARDS or more elements with one parent, of 2 to CARD blocks each, and of CELL or less in the mean: an
# article for sale, an event, an office. Its prices, dates and hours are kept if its name is.
CARDS, CARD = 4, 8
NUMBER = 5 * TENTHS  # words: the greatest length of a price or a date; more than a fifth of it is digits

STEPS = 64  # buckets of a probability per unit of its log-odds
BUCKETS = 1024  # log-odds from -8 to 8
EVEN = BUCKETS // 2
# Buckets by which the second stage may raise a block above the first: on small pages, of which there were few in the
# training, the second stage takes everything for text.
RAISE = 32
SCALE = 20  # bits of a probability
GRADE = 16  # buckets that count as one when the blocks to keep are chosen
# A page has no main text if it has WORDS or more, fewer than FEW of them are expected to be text, and no block is as
# probable as SURE. A shorter page may be a fragment.
WORDS, FEW = 50 * TENTHS, 20 * TENTHS
SURE = 5 * (1 << SCALE) // 8
LIKELY = tuple(round((1 << SCALE) / (1 + math.exp((EVEN - 0.5 - bucket) / STEPS))) for bucket in range(BUCKETS))
GRADES = LIKELY[GRADE // 2 :: GRADE]  # the probability of each grade

_LEVEL = ("blocks", "share", "prose share", "links", "mean", "prose")
_BRANCH = ("blocks", "share", "prose share", "links", "mean", "tag")
_CORE = ("outside", "offset", "place", "depth", "share", *(f"branch {name}" for name in _BRANCH))
FIRST = (
    *("stops", "breaks", "images", "depth", "heading", "length", "tag", "ending", "links", "digits"),
    *("comma density", "tag density"),
    *(f"in {FLAGS[place]}" for place in BITS),
    *(f"around {level} {name}" for name in _LEVEL for level in range(1, LEVELS + 1)),
    *(f"around {level} {name}" for name in ("tag", "place") for level in range(1, NEAR + 1)),
    *(f"core {core} {name}" for core in CORES for name in _CORE),
    *(f"path {name}" for name in ("blocks", "share", "prose share", "links", "mean")),
    *("place", "text before", "prose before", "since prose", "until prose", "since h1"),
    *("length above", "length below", "links above", "tag above"),
    *("in comments", "page comments", "page comment share", "prose before comments", "prose outside comments"),
    *("named comment", "named forum"),
    *("page blocks", "page length", "page prose", "page links", "page prose share", "page longest"),
    *("page p", "page li", "page mean prose", "page prose blocks", "page headings", "page stops", "page depth"),
)
SECOND = (
    *("likely", "likely above", "likely below", "likely above 2", "likely below 2"),
    *(f"likely within {reach}" for reach in WINDOWS),
    *("likely before", "likely share"),
    *(f"likely around {level} {name}" for name in ("density", "share") for level in range(1, LEVELS + 1)),
    *(f"likely core {core} {name}" for name in ("offset", "depth", "density") for core in LIKELY_CORES),
    *("likely path density", "likely path share"),
    *("likely total", "likely density", "likely sure", "likely decided"),
)
