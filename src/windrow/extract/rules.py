"""What each element means to the walk: where blocks split, what is dropped, and which words in class names tell something."""

import array
import dataclasses
import enum
import functools
import itertools
import operator
import re
from collections.abc import Iterable


class Kind(enum.IntEnum):
    """What a tag does. The kernel has the same numbers, in this order."""

    INLINE = 0
    LINK = 1  # `<a>`
    BLOCK = 2  # a boundary before and after it
    VOID = 3  # inline, without an end tag
    IMAGE = 4
    BREAK = 5
    VOID_BLOCK = 6
    UNLINK = 7  # `</a>`
    CLOSE = 8  # an end tag
    VOID_CLEAR = 9  # as if it were not there
    CLEAR = 10  # as if its tags were not there
    DROP = 11  # gone with all that is in it


FLAGS = (
    *(
        "list",
        "table",
        "quote",
        "code",
        "nav",
        "header",
        "footer",
        "aside",
        "article",
        "main",
        "section",
        "form",
        "figure",
    ),
    *("address", "details", "hidden", "link", "heading"),
)
FLAG = {name: 1 << place for place, name in enumerate(FLAGS)}
_HIDDEN, _LINK = FLAG["hidden"], FLAG["link"]
_FLAGGED = {
    "list": "li dd dt",
    "table": "td th caption",
    "quote": "blockquote",
    "code": "pre listing",
    "nav": "nav menu",
    "form": "form fieldset legend",
    "figure": "figure figcaption",
    "details": "details summary",
    "heading": "h1 h2 h3 h4 h5 h6",
    **{name: name for name in ("header", "footer", "aside", "article", "main", "section", "address")},
}

# A group is found where one of its words stands anywhere in the lower-cased value of a class, id, role or itemprop. At most 31 groups.
HINTS = {
    "body": "articlebody article-body article_body post-content entry-content story-body post-body bodytext body-text main-content "
    "maincontent",
    "content": "article content entry post story main text blog",
    "nav": "nav menu breadcrumb crumb pagin pager tabs",
    "header": "header masthead topbar top-bar",
    "footer": "footer foot- copyright colophon",
    "side": "sidebar side- -side widget rail aside",
    "comment": "comment discuss disqus reply replies respond",
    "related": "related recommend popular trending latest similar more- read-more also most-",
    "share": "share sharing social facebook twitter follow",
    "advert": "advert sponsor promo -ad ad- ads banner taboola outbrain",
    "meta": "meta byline author date time info tags categor posted dateline",
    "legal": "cookie consent gdpr privacy legal disclaimer terms",
    "subscribe": "newsletter subscri signup sign-up login paywall register",
    "popup": "modal popup overlay dialog tooltip dropdown",
    "unseen": "hidden d-none sr-only visually screen-reader invisible collapse",
    "media": "caption gallery image photo video player figure thumb media",
    "card": "list item card teaser grid",
    "product": "product price cart shop",
    "forum": "thread forum topic message",
    "code": "code highlight syntax",
    "quote": "quote",
    "search": "search filter sort",
    "title": "title headline heading",
}

STOPS = ".!?…。！？｡।؟۔"
COMMAS = ",;:，、；：،"

_VOIDS = "area base basefont bgsound col embed frame hr input keygen link meta param source track wbr"
_BLOCKS = (
    "html body address article aside blockquote center details dialog dd div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup legend li listing main menu dir nav ol p pre search section summary ul "
    "caption colgroup table tbody td tfoot th thead tr optgroup option frameset hr col"
)
_DROPPED = (
    "head title script style noscript iframe object applet svg canvas audio video select datalist button textarea "
    "noframes noembed xmp plaintext"
)
_PHRASES = (
    "a abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd label map mark marquee math meter nobr output picture "
    "progress q rb rp rt rtc ruby s samp small span strike strong sub sup time tt u var slot template layer br img"
)
TAGS = ("", *dict.fromkeys(f"{_BLOCKS} {_DROPPED} {_PHRASES} {_VOIDS}".split()))  # the place of a tag is its number

_STOCK_BLOCKS = (
    "blockquote body caption center colgroup dd div dl dt fieldset h1 h2 h3 h4 h5 h6 legend li optgroup option p pre table td "
    "tfoot th thead tr ul col"
)
_STOCK_DROPPED = "head applet button script select style textarea"
_RAW = "iframe noframes noembed xmp plaintext"  # written out as it came: could be taken for tags

_ATTRIBUTE = re.compile(r' (class|id|role|itemprop|href|hidden|aria-hidden|style)="([^"]*)"')
_UNSEEN = re.compile(r"display[ \t\n]*:[ \t\n]*none")
_MEMORY = 16384  # names of unknown tags, attributes and words of class names remembered, of each
_LENGTH = 128  # characters of one worth remembering
_LETTERS = 40  # columns of the kernel's table

Info = tuple[int, str, int, int]  # kind, tag, its number, flags


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """What the walk does. As jusText does (`stock`): inline elements have a place in paths, blanks alone between two tags are lost, every
    `<a>` is a link. Else inline tags are seen through, but for links, and an `<a>` is a link if it has an href."""

    stock: bool
    known: dict[str, Info]  # by what follows "<": a tag, or "/" and a tag; of other tags some
    dropped: tuple[str, ...]  # tags removed from the tree before it is written out

    def read(self, tag: str) -> Info:
        """What a tag means that is not in the table."""
        kind = Kind.INLINE
        if tag[:1] in ("!", "?") or (tag[:1] == "/" and not self.stock):
            kind = Kind.VOID_CLEAR
        elif tag[:1] == "/":
            kind = Kind.CLOSE
        info = (int(kind), tag.removeprefix("/"), 0, 0)
        if len(self.known) < _MEMORY and len(tag) <= _LENGTH:
            self.known[tag] = info
        return info


def attributes(text: str) -> tuple[int, int]:
    """Flags and hints, given what follows the name in a tag."""
    flags = found = 0
    for name, value in _ATTRIBUTE.findall(text):
        if name == "href":
            flags |= _LINK
        elif name == "style":
            flags |= _HIDDEN if _UNSEEN.search(value) else 0
        elif name == "hidden" or name == "aria-hidden":
            flags |= _HIDDEN if name == "hidden" or value == "true" else 0
        else:
            for word in value.split(" "):
                known = _HINTS_OF.get(word)
                found |= hints(word) if known is None else known
    if len(text) <= _LENGTH:
        if len(SEEN) >= _MEMORY:
            SEEN.clear()
        SEEN[text] = flags, found
    return flags, found


def hints(word: str) -> int:
    """The groups of HINTS that are found in it."""
    found = 0
    lowered = word.encode("utf-8", "replace").lower()  # bytes: only ASCII letters change, as in the kernel
    if _WORD.search(lowered):
        for part in _WORDS.findall(lowered):
            found |= _MASKS[part]
    if len(word) <= _LENGTH:
        if len(_HINTS_OF) >= _MEMORY:
            _HINTS_OF.clear()
        _HINTS_OF[word] = found
    return found


def _masks() -> dict[bytes, int]:
    """Of each word the groups that have it or a part of it."""
    groups = [(1 << place, words.encode().split()) for place, words in enumerate(HINTS.values())]
    every = {word for _, words in groups for word in words}
    return {word: sum(bit for bit, words in groups if any(part in word for part in words)) for word in every}


def pattern(words: Iterable[str]) -> str:
    """A regular expression for the longest of the words at a place, branching by letter: a third of the time of a plain alternation."""
    letters = itertools.groupby(sorted(filter(None, words := list(words))), lambda word: word[0])
    branches = [re.escape(letter) + pattern(word[1:] for word in rest) for letter, rest in letters]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)})" + ("?" if "" in words else "")


_HINTS_OF: dict[str, int] = {}
SEEN: dict[str, tuple[int, int]] = {}  # what `attributes` said before: the elements of a page are much alike
_MASKS = _masks()
_WORD = re.compile(pattern(word.decode() for word in _MASKS).encode())
_WORDS = re.compile(b"(?=(" + _WORD.pattern + b"))")  # those that overlap too


def automaton() -> tuple[bytes, bytes, bytes]:
    """The words of HINTS for the kernel: the letter of each ASCII character, next states by state and letter, groups found by state."""
    letters = {byte: number for number, byte in enumerate(b"abcdefghijklmnopqrstuvwxyz0123456789-_", 1)}
    states = sorted(
        {word[:length] for word in _MASKS for length in range(len(word) + 1)}, key=lambda state: (len(state), state)
    )
    numbers = {state: number for number, state in enumerate(states)}
    following, found = array.array("H"), array.array("i")
    for state in states:
        row = [0] * _LETTERS
        for byte, letter in letters.items():
            row[letter] = next(
                numbers[suffix]
                for start in range(len(state) + 2)
                if (suffix := (state + bytes([byte]))[start:]) in numbers
            )
        following.extend(row)
        found.append(functools.reduce(operator.or_, (_MASKS.get(state[start:], 0) for start in range(len(state))), 0))
    return bytes(letters.get(byte, 0) for byte in bytes(range(128)).lower()), following.tobytes(), found.tobytes()


def _known(stock: bool, blocks: str, dropped: str, clear: str) -> dict[str, Info]:
    """The table of tags. Later lines go before earlier ones."""
    voids = _VOIDS.split()
    kinds = dict.fromkeys(TAGS[1:], Kind.INLINE)
    kinds.update(dict.fromkeys(voids, Kind.VOID))
    kinds.update({tag: Kind.VOID_BLOCK if tag in voids else Kind.BLOCK for tag in blocks.split()})
    kinds.update({tag: Kind.VOID_CLEAR if tag in voids else Kind.CLEAR for tag in clear.split()})
    kinds.update(dict.fromkeys(dropped.split(), Kind.DROP))
    kinds.update({"br": Kind.BREAK, "img": Kind.IMAGE, "a": Kind.LINK})
    ends = {tag: Kind.CLOSE if stock or kind is Kind.BLOCK else Kind.VOID_CLEAR for tag, kind in kinds.items()} | {
        "a": Kind.UNLINK
    }
    numbered = [(number, tag) for number, tag in enumerate(TAGS) if tag]
    known = {tag: (int(kinds[tag]), tag, number, _FLAGS_OF.get(tag, 0)) for number, tag in numbered}
    return known | {f"/{tag}": (int(ends[tag]), tag, number, 0) for number, tag in numbered}


_FLAGS_OF = {tag: FLAG[name] for name, tags in _FLAGGED.items() for tag in tags.split()}

# Of noscript elements walk.strip asks first what is in them.
PLAIN = Rules(
    False, _known(False, _BLOCKS, _DROPPED, ""), dropped=tuple(tag for tag in _DROPPED.split() if tag != "noscript")
)
# jusText 3.0.2 has lxml drop forms and embedded things, which keeps the text of some of them.
STOCK = Rules(
    True,
    _known(True, _STOCK_BLOCKS, _STOCK_DROPPED, "form iframe embed layer object param base input"),
    dropped=(*_STOCK_DROPPED.split(), *_RAW.split()),
)
