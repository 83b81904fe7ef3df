"""What each tag means to the walk: where blocks split, what is dropped, and which words in class names are hints."""

import array
import dataclasses
import enum
import functools
import re
from typing import NamedTuple


class TagKind(enum.IntEnum):
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
    VOID_CLEAR = 9  # read as if it were not there
    CLEAR = 10  # its start tag and end tag are read as if they were not there, its content counts
    DROP = 11  # dropped with its content


class TagRole(enum.IntEnum):
    """What an element is in the structure of a page, see `structure`. The kernels have the same numbers."""

    NONE = 0
    LIST = 1
    ITEM = 2  # of a list
    TERMS = 3  # a list of terms and descriptions
    TERM = 4  # an item of such a list
    TABLE = 5
    ROW = 6
    CELL = 7
    CAPTION = 8  # of a table
    FIGURE = 9
    LEGEND = 10  # the caption of a figure
    QUOTE = 11
    CODE = 12  # text whose line ends and indents are meant
    HEADING = 13


FLAGS = tuple(
    "list table quote code nav header footer aside article main section form figure "
    "address details hidden link heading".split()
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

# A group is found if one of its words occurs anywhere in the lower-case value of class, id, role or itemprop.
# There is room for 31 groups.
HINTS = {
    "body": "articlebody article-body article_body post-content entry-content story-body post-body bodytext body-text "
    "main-content maincontent",
    "content": "article content entry post story main text blog",
    "nav": "nav menu breadcrumb crumb pagin pager tabs",
    "header": "header masthead topbar top-bar",
    "footer": "footer foot- copyright colophon",
    "side": "sidebar side- -side widget rail aside",
    "comment": "comment discuss disqus reply replies respond kommentar komentar comentari reactie diskus diskuz "
    "pinglun yorum",
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

_ROLES = {
    TagRole.LIST: "ul ol menu dir",
    TagRole.ITEM: "li",
    TagRole.TERMS: "dl",
    TagRole.TERM: "dt dd",
    TagRole.TABLE: "table",
    TagRole.ROW: "tr",
    TagRole.CELL: "td th",
    TagRole.CAPTION: "caption",
    TagRole.FIGURE: "figure",
    TagRole.LEGEND: "figcaption",
    TagRole.QUOTE: "blockquote",
    TagRole.CODE: "pre listing",
    TagRole.HEADING: "h1 h2 h3 h4 h5 h6",
}
ROLES = {tag: role for role, tags in _ROLES.items() for tag in tags.split()}

# The marks within a paragraph; the number of a mark is its index. A link is an `<a>` with an href.
MARKS = ("link", "strong", "em", "code")
_MARKED = {"b": 1, "strong": 1, "i": 2, "em": 2, "code": 3, "kbd": 3, "samp": 3, "tt": 3}

STOPS = ".!?…。！？｡।؟۔"
COMMAS = ",;:，、；：،"

_VOIDS = "area base basefont bgsound col embed frame hr input keygen link meta param source track wbr"
_BLOCKS = (
    "html body address article aside blockquote center details dialog dd div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hgroup legend li listing main menu dir nav ol p pre search section summary ul "
    "caption colgroup table tbody td tfoot th thead tr optgroup option frameset hr col"
)
_DROPPED = (
    "head title script style noscript iframe object applet svg canvas audio video select datalist button textarea "
    "noframes noembed xmp plaintext"
)
_PHRASES = (
    "a abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd label map mark marquee math meter "
    "nobr output picture progress q rb rp rt rtc ruby s samp small span strike strong sub sup time tt u var slot "
    "template layer br img"
)
TAGS = ("", *dict.fromkeys(f"{_BLOCKS} {_DROPPED} {_PHRASES} {_VOIDS}".split()))  # the number of a tag is its index

_STOCK_BLOCKS = (
    "blockquote body caption center colgroup dd div dl dt fieldset h1 h2 h3 h4 h5 h6 legend li optgroup option p pre "
    "table td tfoot th thead tr ul col"
)
_STOCK_DROPPED = "head applet button script select style textarea"
_RAW = "iframe noframes noembed xmp plaintext"  # the serialiser does not escape their content

_ATTRIBUTE = re.compile(r' (class|id|role|itemprop|href|hidden|aria-hidden|style)="([^"]*)"')
_DISPLAY_NONE = re.compile(r"display[ \t\n]*:[ \t\n]*none")
_COLSPAN = re.compile(r' colspan="([0-9]{1,9})')
_MAX_SPAN = 1000  # columns of a cell, as in HTML
_LONG = 128  # characters of a word; a longer one is not cached
_LETTERS = 40  # columns of the kernel's table


class Tag(NamedTuple):
    kind: TagKind
    name: str
    number: int = 0  # index in TAGS; 0: unknown
    flags: int = 0
    role: TagRole = TagRole.NONE
    mark: int = 0  # index in MARKS; 0: none, or a link


@dataclasses.dataclass(frozen=True, slots=True)
class TagRules:
    """What the walk does with each tag.

    `stock` does as jusText does: paths hold inline elements too, blanks alone between two tags are lost, and every
    `<a>` is a link. Otherwise inline tags other than links are transparent, and an `<a>` is a link if it has an href.
    """

    stock: bool
    known: dict[str, Tag]  # by the text after "<": the name of a tag, or "/" and the name
    dropped: tuple[str, ...]  # tags removed from the tree before it is written out

    def tag(self, name: str) -> Tag:
        """Return what a tag means, given the text after "<"."""
        known = self.known.get(name)
        if known is not None:
            return known
        if name[:1] in ("!", "?") or (name[:1] == "/" and not self.stock):
            return Tag(kind=TagKind.VOID_CLEAR, name=name.removeprefix("/"))
        return Tag(kind=TagKind.CLOSE if name[:1] == "/" else TagKind.INLINE, name=name.removeprefix("/"))


def attributes(text: str) -> tuple[int, int]:
    """Return flags and hints, given the text after the name in a tag."""
    flags = found = 0
    for name, value in _ATTRIBUTE.findall(text):
        if name == "href":
            flags |= _LINK
        elif (
            name == "hidden"
            or (name == "aria-hidden" and value == "true")
            or (name == "style" and _DISPLAY_NONE.search(value))
        ):
            flags |= _HIDDEN
        elif name in _HINTED:
            for word in value.split(" "):
                found |= hints(word) if len(word) <= _LONG else hints.__wrapped__(word)
    return flags, found


def columns(text: str) -> int:
    """Return how many columns a cell takes, given the text after the name in its tag."""
    found = _COLSPAN.search(text)
    return min(max(int(found[1]), 1), _MAX_SPAN) if found else 1


@functools.lru_cache(1 << 14)  # the elements of a site have the same class names
def hints(word: str) -> int:
    """Return the groups of HINTS that have a word inside this word, as bits."""
    lowered = word.encode("utf-8", "replace").lower()  # as bytes, so that only ASCII letters change, as in the kernel
    return sum(bit for bit, words in _GROUPS if any(word in lowered for word in words))


_HINTED = ("class", "id", "role", "itemprop")
_GROUPS = [(1 << index, tuple(words.encode().split())) for index, words in enumerate(HINTS.values())]


def automaton() -> tuple[bytes, bytes, bytes]:
    """Return the words of HINTS as an automaton for the kernel.

    The three tables: the letter number of each ASCII character; the next state by state and letter; the groups found
    by state.
    """
    letters = {byte: number for number, byte in enumerate(b"abcdefghijklmnopqrstuvwxyz0123456789-_", 1)}
    every = [word for _, words in _GROUPS for word in words]
    states = sorted({word[:length] for word in every for length in range(len(word) + 1)})
    numbers = {state: number for number, state in enumerate(states)}
    following, found = array.array("H"), array.array("i")
    for state in states:
        row = [0] * _LETTERS
        for byte, letter in letters.items():
            row[letter] = _longest_suffix(state + bytes([byte]), numbers)
        following.extend(row)
        found.append(sum(bit for bit, words in _GROUPS if state.endswith(words)))
    return bytes(letters.get(byte, 0) for byte in bytes(range(128)).lower()), following.tobytes(), found.tobytes()


def _longest_suffix(text: bytes, numbers: dict[bytes, int]) -> int:
    return next(numbers[suffix] for start in range(len(text) + 1) if (suffix := text[start:]) in numbers)


def _tags(stock: bool, blocks: str, dropped: str, clear: str) -> dict[str, Tag]:
    """Return the table of tags. A later line overrides an earlier one."""
    voids = _VOIDS.split()
    kinds = dict.fromkeys(TAGS[1:], TagKind.INLINE)
    kinds.update(dict.fromkeys(voids, TagKind.VOID))
    kinds.update({tag: TagKind.VOID_BLOCK if tag in voids else TagKind.BLOCK for tag in blocks.split()})
    kinds.update({tag: TagKind.VOID_CLEAR if tag in voids else TagKind.CLEAR for tag in clear.split()})
    kinds.update(dict.fromkeys(dropped.split(), TagKind.DROP))
    kinds.update({"br": TagKind.BREAK, "img": TagKind.IMAGE, "a": TagKind.LINK})
    closed = {tag for tag, kind in kinds.items() if stock or kind is TagKind.BLOCK}
    ends = {tag: TagKind.CLOSE if tag in closed else TagKind.VOID_CLEAR for tag in kinds} | {"a": TagKind.UNLINK}
    numbered = [(number, tag) for number, tag in enumerate(TAGS) if tag]
    roles = {} if stock else ROLES  # jusText knows no structure
    known = {
        tag: Tag(
            kind=kinds[tag],
            name=tag,
            number=number,
            flags=_FLAGS_OF.get(tag, 0),
            role=roles.get(tag, TagRole.NONE),
            mark=_MARKED.get(tag, 0),
        )
        for number, tag in numbered
    }
    closing = {f"/{tag}": known[tag]._replace(kind=ends[tag], flags=0, role=TagRole.NONE) for _, tag in numbered}
    return known | closing


_FLAGS_OF = {tag: FLAG[name] for name, tags in _FLAGGED.items() for tag in tags.split()}

# walk.strip looks into noscript elements before it drops them.
PLAIN = TagRules(
    stock=False,
    known=_tags(False, _BLOCKS, _DROPPED, ""),
    dropped=tuple(tag for tag in _DROPPED.split() if tag != "noscript"),
)
# jusText 3.0.2 lets lxml drop forms and embedded objects, and lxml keeps the text of some of them.
STOCK = TagRules(
    stock=True,
    known=_tags(True, _STOCK_BLOCKS, _STOCK_DROPPED, "form iframe embed layer object param base input"),
    dropped=(*_STOCK_DROPPED.split(), *_RAW.split()),
)
