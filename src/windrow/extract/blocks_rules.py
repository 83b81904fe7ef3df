"""The figures that the extractor `blocks` takes of each block, and the constants they are made with: for the kernel and its twin."""

import math

from windrow.extract.rules import COMMAS, FLAGS, STOPS, TAGS

_GROUPS = (
    *(
        "p",
        "li",
        "dd dt",
        "td th",
        "div",
        "h1",
        "h2",
        "h3",
        "h4 h5 h6",
        "pre listing",
        "blockquote",
        "article section main body",
    ),
    *("figcaption caption figure", "ul ol dl"),
)
GROUP = {tag: number for number, tags in enumerate(_GROUPS, 1) for tag in tags.split()}
GROUP_OF = bytes(GROUP.get(tag, 0) for tag in TAGS)  # of each tag by its number; 0: any other
BITS = tuple(
    place for place, name in enumerate(FLAGS) if name not in ("link", "heading")
)  # flags that say more than other columns
ENDINGS = {**dict.fromkeys(STOPS, 2), **dict.fromkeys(COMMAS, 1)}
CLOSING = "\"”»)'"  # may stand behind the full stop of a sentence

PROSE = 100  # tenths of a word in a block that can be prose
CORES = (40, 80)  # per cent of a page's prose in the smallest element that has so much of it
LIKELY_CORES = (50, 80, 95)  # the same of what the first stage thinks is text
LEVELS = 5  # elements around a block that are looked at
NEAR = 3  # of them with tag and place
WINDOWS = (3, 8)  # blocks on either side
FAR = 100  # blocks counted from the headline
AWAY = 61  # blocks to the next prose, at most
SLIGHT = 3  # tenths of a word that a block weighs beyond its words
COMMENT = 40  # characters of a comment that is prose

STEPS = 64  # buckets of a probability for each unit of its logarithm of odds
BUCKETS = 1024  # from -8 to 8
EVEN = BUCKETS // 2
RAISE = 32  # buckets by which the second stage may be surer than the first: on small pages, which it has seen few of, it takes all for text
SCALE = 20  # bits of a probability
LIKELY = tuple(round((1 << SCALE) / (1 + math.exp((EVEN - 0.5 - bucket) / STEPS))) for bucket in range(BUCKETS))

_LEVEL = ("blocks", "share", "prose share", "links", "mean", "prose")
_BRANCH = ("blocks", "share", "prose share", "links", "mean", "tag")
_CORE = ("outside", "offset", "place", "depth", "share", *(f"branch {name}" for name in _BRANCH))
FIRST = (
    *(
        "stops",
        "breaks",
        "images",
        "depth",
        "heading",
        "length",
        "tag",
        "ending",
        "links",
        "digits",
        "comma density",
        "tag density",
    ),
    *(f"in {FLAGS[place]}" for place in BITS),
    *(f"around {level} {name}" for name in _LEVEL for level in range(1, LEVELS + 1)),
    *(f"around {level} {name}" for name in ("tag", "place") for level in range(1, NEAR + 1)),
    *(f"core {core} {name}" for core in CORES for name in _CORE),
    *(f"path {name}" for name in ("blocks", "share", "prose share", "links", "mean")),
    *("place", "text before", "prose before", "since prose", "until prose", "since h1"),
    *("length above", "length below", "links above", "tag above"),
    *(
        "page blocks",
        "page length",
        "page prose",
        "page links",
        "page prose share",
        "page longest",
        "page p",
        "page li",
        "page mean prose",
    ),
    *("page prose blocks", "page headings", "page stops", "page depth"),
)
SECOND = (
    *(
        "likely",
        "likely above",
        "likely below",
        "likely above 2",
        "likely below 2",
        *(f"likely within {reach}" for reach in WINDOWS),
    ),
    *("likely before", "likely share"),
    *(f"likely around {level} {name}" for name in ("density", "share") for level in range(1, LEVELS + 1)),
    *(f"likely core {core} {name}" for name in ("offset", "depth", "density") for core in LIKELY_CORES),
    *("likely path density", "likely path share"),
    *("likely total", "likely density", "likely sure", "likely decided"),
)
