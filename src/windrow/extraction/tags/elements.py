"""What each tag means to the reader of tags: where lines end, and which attributes lead to another URL.

The tables follow what Common Crawl's WAT and WET files contain (docs/derive.md has the differences), so that programs
which read those find the same paths and attributes here.
"""

import enum
import re
from typing import NamedTuple

ANCHOR = 128  # characters of an anchor, as in WAT files
TITLE = 512  # characters
LONGEST = 8192  # bytes of an attribute; a longer URL is left out, any other value is cut
STYLE = 100_000  # characters of a style sheet that are searched for URLs

GLOBAL = ("background", "data-href", "data-uri")  # attributes that lead to a URL on every tag


class TagFlag(enum.IntFlag):
    """What a tag does. The kernel has the same numbers."""

    BLOCK = 1  # ends the line
    SPACE = 2  # a blank
    PRE = 4  # white space is kept
    HEAD = 8
    BODY = 16
    TITLE = 32
    SVG = 64
    RAW = 128  # its content is not text
    STYLE = 256
    PLAIN = 512  # its content is text without tags
    ANCHOR = 1024
    CLICK = 2048  # its onclick may lead to a URL


class Where(enum.IntEnum):
    """Which list a record is added to. The kernel has the same numbers."""

    LINKS = 0
    RELATIONS = 1
    SCRIPTS = 2
    BASE = 3
    METAS = 4
    HTML = 5


class TagRule(NamedTuple):
    flags: TagFlag = TagFlag(0)
    where: Where = Where.LINKS
    urls: tuple[tuple[str, tuple[str, ...]], ...] = ()  # attribute with a URL, and the attributes that go with it


_BLOCKS = (
    "address article aside blockquote body br button canvas caption col colgroup dd div dl dt embed fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li map noscript object ol output p pre progress "
    "section table tbody textarea tfoot th thead title tr ul video"
)
_SPACES = "cite details datalist iframe img input label legend optgroup q select summary td time"
_FLAGS = {
    "pre": TagFlag.PRE,
    "head": TagFlag.HEAD,
    "body": TagFlag.BODY,
    "title": TagFlag.TITLE | TagFlag.PLAIN,
    "textarea": TagFlag.PLAIN,
    "svg": TagFlag.SVG,
    "script": TagFlag.RAW,
    "style": TagFlag.RAW | TagFlag.STYLE,
    "a": TagFlag.ANCHOR,
    "div": TagFlag.CLICK,
    "input": TagFlag.CLICK,
}
_WHERE = {
    "link": Where.RELATIONS,
    "script": Where.SCRIPTS,
    "base": Where.BASE,
    "meta": Where.METAS,
    "html": Where.HTML,
}
METAS = ("name", "rel", "content", "http-equiv", "property")
NAMED = ("name", "rel", "http-equiv", "property")  # a meta element without any of these is left out
LANGUAGES = (("lang", "HTML@/lang"), ("xml:lang", "HTML@/xml:lang"))
_URLS = {
    "a": (("href", ("target", "alt", "title", "rel", "hreflang", "type")),),
    "applet": (("codebase", ()), ("cdata", ())),
    "area": (("href", ("rel",)),),
    "audio": (("src", ()),),
    "base": (("href", ()),),
    "blockquote": (("cite", ()),),
    "button": (("formaction", ()),),
    "del": (("cite", ()),),
    "embed": (("src", ()),),
    "form": (("action", ("target", "method")),),
    "frame": (("src", ()),),
    "iframe": (("src", ()),),
    "img": (("src", ("alt", "title")), ("longdesc", ())),
    "input": (("src", ()), ("formaction", ())),
    "ins": (("cite", ()),),
    "link": (("href", ("rel", "type", "hreflang")),),
    "menuitem": (("icon", ()),),
    "object": (("codebase", ()), ("cdata", ()), ("data", ())),
    "q": (("cite", ()),),
    "script": (("src", ("type",)),),
    "source": (("src", ()),),
    "track": (("src", ()),),
    "video": (("src", ()), ("poster", ())),
}


def _table() -> dict[str, TagRule]:
    blocks, spaces = _BLOCKS.split(), _SPACES.split()
    found = {}
    for tag in sorted({*blocks, *spaces, *_FLAGS, *_WHERE, *_URLS}):
        flags = TagFlag.BLOCK if tag in blocks else TagFlag.SPACE if tag in spaces else TagFlag(0)
        found[tag] = TagRule(flags | _FLAGS.get(tag, 0), _WHERE.get(tag, Where.LINKS), _URLS.get(tag, ()))
    return found


TAGS = _table()
# The number of an attribute is its index.
ATTRIBUTES = tuple(
    dict.fromkeys(
        [*GLOBAL, *METAS, *(name for name, _ in LANGUAGES), "onclick"]
        + [name for rule in TAGS.values() for url, others in rule.urls for name in (url, *others)]
    )
)

# Two patterns, because each begins with letters that are searched fast; one with both would take four times as long.
_CSS = (
    re.compile(r"url\s*\(\s*('[^'\n]{1,8000}'|\"[^\"\n]{1,8000}\"|[^()\s]{1,8000})\s*\)"),
    re.compile(r"@import\s+('[^'\n]{1,8000}'|\"[^\"\n]{1,8000}\")"),
)
_QUOTES = "\"'\\"
_CLICKS = (
    re.compile(
        r"(?i)^(?:javascript:)?(?:(?:window|top|document|self|parent)\.)?location(?:\.href)?\s*=\s*'([^'\"]{3,256})'$"
    ),
    re.compile(r"(?i)^(?:javascript:)?(?:window|parent)\.open\((['\"])([^\"']{3,256}?)\1[,)]"),
)


def of_style(text: str) -> list[dict[str, str]]:
    """Return the records of the URLs in a style sheet."""
    found = sorted((match.start(), match[1]) for pattern in _CSS for match in pattern.finditer(text[:STYLE]))
    trimmed = [url.strip(_QUOTES) for _, url in found]
    return [{"path": "STYLE/#text", "href": url} for url in trimmed if url]


def of_click(script: str) -> str:
    """Return the URL that an onclick attribute leads to, if it does nothing else; else an empty text."""
    for pattern in _CLICKS:
        if match := pattern.search(script):
            return match[match.lastindex or 1]
    return ""
