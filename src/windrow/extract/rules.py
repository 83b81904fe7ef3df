"""What each element means to the walk: where blocks split, what is dropped, and which words in class names tell something."""

import dataclasses
import enum
import functools
import itertools
import re


class Kind(enum.IntEnum):
    """What a tag does. The kernel has the same numbers, in this order."""

    INLINE = 0
    LINK = 1  # inline; it links if it has an href, or in any case where Rules.any_link
    BLOCK = 2  # a boundary before and after it
    VOID = 3  # inline, without an end tag
    IMAGE = 4
    BREAK = 5
    VOID_BLOCK = 6
    CLOSE = 7  # an end tag
    VOID_CLEAR = 8  # as if it were not there
    CLEAR = 9  # as if its tags were not there
    DROP = 10  # gone with all that is in it


FLAGS = (
    *("list", "table", "quote", "code", "nav", "header", "footer", "aside", "article", "main", "section", "form", "figure"),
    *("address", "details", "hidden", "link", "heading"),
)
FLAG = {name: 1 << place for place, name in enumerate(FLAGS)}
_LINK, _HIDDEN = FLAG["link"], FLAG["hidden"]
_HIDING = ("hidden", "aria-hidden", "style")
_FLAGGED = {
    "list": "li dd dt",
    "table": "td th caption",
    "quote": "blockquote q",
    "code": "pre code samp kbd listing",
    "nav": "nav menu",
    "form": "form fieldset legend label",
    "figure": "figure figcaption",
    "details": "details summary",
    "heading": "h1 h2 h3 h4 h5 h6",
    **{name: name for name in ("header", "footer", "aside", "article", "main", "section", "address")},
}

# A group is found where one of its words stands anywhere in the lower-cased value of a class, id, role or itemprop. At most 31 groups.
HINTS = {
    "body": "articlebody article-body article_body post-content entry-content story-body post-body bodytext body-text main-content maincontent",
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

_VOIDS = "area base basefont bgsound embed frame input keygen link meta param source track wbr"
_ELEMENTS = (
    "html head body title address article aside blockquote center details dialog dd div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup legend li listing main menu dir nav ol p pre search section summary ul caption colgroup table tbody td "
    "tfoot th thead tr optgroup option hr col "
    "a abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd label map mark marquee meter nobr output picture progress q "
    "rb rp rt rtc ruby s samp small span strike strong sub sup time tt u var slot br img "
    "script style template noscript iframe object applet svg math canvas audio video select datalist button textarea noframes noembed xmp "
    "plaintext frameset layer " + _VOIDS
)
TAGS = ("", *_ELEMENTS.split())  # the place of a tag is its number

_BLOCKS = (
    "html body address article aside blockquote center details dialog dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hgroup legend li listing main menu dir nav ol p pre search section summary ul caption colgroup table tbody td tfoot th thead tr "
    "optgroup option frameset"
)
_DROPPED = (
    "head script style noscript iframe object applet svg canvas audio video select datalist button textarea noframes noembed xmp plaintext"
)
_STOCK_BLOCKS = (
    "blockquote body caption center colgroup dd div dl dt fieldset h1 h2 h3 h4 h5 h6 legend li optgroup option p pre table td tfoot th thead "
    "tr ul"
)
_STOCK_DROPPED = "head applet button script select style textarea"
_RAW = "iframe noframes noembed xmp plaintext"  # written out as it came: could be taken for tags

_ATTRIBUTE = re.compile(r' (class|id|role|itemprop|href|hidden|aria-hidden|style)="([^"]*)"')
_UNSEEN = re.compile(r"display[ \t\n]*:[ \t\n]*none")
_LENGTH = 160  # characters of a tag worth remembering
_MEMORY = 8192  # tags remembered

Info = tuple[int, str, int, int, int]  # kind, tag, its number, flags, hints


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    kinds: dict[str, Kind]  # of every known tag; any other is inline
    any_link: bool  # an `<a>` without href is a link too
    keep_blanks: bool  # white space alone between two tags separates words
    selector: str  # what is removed from the tree before it is written out
    known: dict[str, Info] = dataclasses.field(default_factory=dict)  # tags read before, with their attributes

    def read(self, tag: str) -> Info:
        """What a tag says, given what stands between its angle brackets."""
        if tag[:1] == "/":
            info = (int(Kind.CLOSE), tag[1:], 0, 0, 0)
        elif tag[:1] in ("!", "?"):
            info = (int(Kind.VOID_CLEAR), "", 0, 0, 0)
        else:
            info = self._start(tag)
        if len(tag) <= _LENGTH and info[0] != Kind.LINK:
            if len(self.known) >= _MEMORY:
                self.known.clear()
            self.known[tag] = info
        return info

    def _start(self, tag: str) -> Info:
        name, blank, _ = tag.partition(" ")
        kind = self.kinds.get(name, Kind.INLINE)
        flags = _OWN.get(name, 0)
        found = 0
        if kind is Kind.LINK and self.any_link:
            flags |= _LINK
        if blank and kind <= Kind.BLOCK:
            for attribute, value in _ATTRIBUTE.findall(tag):
                if attribute == "href":
                    flags |= _LINK if kind is Kind.LINK else 0
                elif attribute in _HIDING:
                    flags |= _HIDDEN if _hides(attribute, value) else 0
                else:
                    found |= hints(value)
        return int(kind), name, _NUMBERS.get(name, 0), flags, found


def _hides(attribute: str, value: str) -> bool:
    if attribute == "style":
        return _UNSEEN.search(value) is not None
    return attribute == "hidden" or value == "true"


@functools.lru_cache(4096)
def hints(value: str) -> int:
    """The groups of HINTS that have a word in it."""
    found = 0
    for word in _WORD.findall(value.encode("utf-8", "replace").lower()):  # bytes: only ASCII letters change, as in the kernel
        found |= _MASKS[word]
    return found


def _masks() -> dict[bytes, int]:
    """Of each word the groups that have it or a part of it."""
    groups = [(1 << place, words.encode().split()) for place, words in enumerate(HINTS.values())]
    every = {word for _, words in groups for word in words}
    return {word: sum(bit for bit, words in groups if any(part in word for part in words)) for word in every}


def _pattern(words: list[bytes]) -> bytes:
    """A regular expression for the longest of the words at a place, branching by letter: a third of the time of a plain alternation."""
    branches = [
        re.escape(bytes([letter])) + _pattern([word[1:] for word in rest])
        for letter, rest in itertools.groupby(sorted(filter(None, words)), lambda word: word[0])
        for rest in [list(rest)]
    ]
    if not branches:
        return b""
    inside = branches[0] if len(branches) == 1 else b"(?:" + b"|".join(branches) + b")"
    return b"(?:" + inside + b")?" if b"" in words else inside


_MASKS = _masks()
_WORD = re.compile(b"(?=(" + _pattern(list(_MASKS)) + b"))")


def _kinds(blocks: str, dropped: str, clear: str, void_blocks: str) -> dict[str, Kind]:
    """Later lines go before earlier ones."""
    kinds = dict.fromkeys(TAGS[1:], Kind.INLINE)
    kinds.update(dict.fromkeys(blocks.split(), Kind.BLOCK))
    kinds.update(dict.fromkeys(_VOIDS.split(), Kind.VOID))
    kinds.update(dict.fromkeys(void_blocks.split(), Kind.VOID_BLOCK))
    kinds.update({name: Kind.VOID_CLEAR if name in _VOIDS.split() else Kind.CLEAR for name in clear.split()})
    kinds.update(dict.fromkeys(dropped.split(), Kind.DROP))
    return {**kinds, "br": Kind.BREAK, "img": Kind.IMAGE, "a": Kind.LINK}


_NUMBERS = {name: number for number, name in enumerate(TAGS) if number}
_OWN = {tag: FLAG[name] for name, tags in _FLAGGED.items() for tag in tags.split()}

PLAIN = Rules(
    _kinds(_BLOCKS, _DROPPED, "", "hr col"),
    any_link=False,
    keep_blanks=True,
    selector=", ".join([*_DROPPED.split(), "template:not([shadowrootmode])"]),
)
# jusText 3.0.2 asks lxml to drop forms and embedded things, which keeps the text of some of them.
STOCK = Rules(
    _kinds(_STOCK_BLOCKS, _STOCK_DROPPED, "form iframe embed layer object param base input", "col"),
    any_link=True,
    keep_blanks=False,
    selector=", ".join([*_STOCK_DROPPED.split(), *_RAW.split()]),
)
