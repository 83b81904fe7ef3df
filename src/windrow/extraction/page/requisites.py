"""What a page needs to be shown: images, styles, scripts, fonts, media and frames, and what its styles import.

Only a crawl with `scope.requisites` looks for them, so the page is parsed once more here: 0.2 ms, and no other crawl
pays for it.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from html import unescape

from windrow import urls
from windrow.extraction.page import links
from windrow.extraction.readers import decode, encode, header, html, sniff
from windrow.extraction.walk import ElementTree
from windrow.records import Capture, Url

_READ = 1 << 24  # characters of a page or style sheet
_CSS = "text/css"
_SOURCES = {  # attributes that name one file, by element
    "img": ("src", "data-src", "data-original", "longdesc"),
    "script": ("src",),
    "iframe": ("src", "data-src"),
    "frame": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "audio": ("src",),
    "video": ("src", "poster"),
    "source": ("src",),
    "track": ("src",),
    "input": ("src",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
    "applet": ("code", "archive"),
    "body": ("background",),
    "table": ("background",),
    "td": ("background",),
    "th": ("background",),
}
_SETS = {"img": ("srcset", "data-srcset"), "source": ("srcset", "data-srcset"), "link": ("imagesrcset",)}
_RELATIONS = frozenset(
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed mask-icon preload modulepreload manifest".split()
)
# Each pattern takes linear time: what it repeats, it never gives back.
_REFERENCE = re.compile(
    r"""url\(\s*+(?:"([^"]*+)"\s*+\)|'([^']*+)'\s*+\)|([^"'()\s][^()]*+)\))|@import\s*+(?:"([^"]*+)"|'([^']*+)')""",
    re.IGNORECASE,
)
_STYLE = re.compile(r"""\sstyle\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([0-9a-fA-F]{1,6}\s?|.)", re.DOTALL)


def find(capture: Capture, most: int) -> tuple[Url, ...]:
    """Return the requisites of an HTML page or a style sheet, each once, at most so many."""
    content_type = header.content_type(capture.head)
    base = capture.task.url.text
    if capture.encoded:
        return ()
    if sniff.media_type(content_type) == _CSS:
        text, charset = decode.decode(capture.body, content_type)
        hrefs = _in_style(text[:_READ])
    elif sniff.is_html(content_type, capture.body):
        text, charset = decode.decode(capture.body, content_type)
        document = html.parse(text[:_READ], sniff.media_type(content_type) != "text/html")
        base = links.base(document, base, charset)
        hrefs = itertools.chain(_in_document(document), _in_attributes(text[:_READ]))
    else:
        return ()
    requisites: dict[int, Url] = {}
    unique = dict.fromkeys(href for href in hrefs if href and not href.startswith(("data:", "#")))
    for url in urls.join(base, [encode.href(href, charset) for href in unique]):
        if url is not None and url.key != capture.task.url.key and len(requisites) < most:
            requisites.setdefault(url.key, url)
    return tuple(requisites.values())


def _in_document(document: ElementTree) -> Iterator[str]:
    for tag, attributes in _SOURCES.items():
        for element in document.find_all(tag):
            yield from (value for name in attributes if (value := element.attr(name)))
    for tag, attributes in _SETS.items():
        for element in document.find_all(tag):
            for name in attributes:
                yield from _in_set(element.attr(name) or "")
    for element in document.find_all("link"):
        if not _RELATIONS.isdisjoint((element.attr("rel") or "").lower().split()):
            yield element.attr("href") or ""
    for element in document.find_all("style"):
        yield from _in_style(element.text)


def _in_set(text: str) -> Iterator[str]:
    """Yield the URLs of a srcset: each may have a description behind a blank, and commas are part of a URL but at its
    end."""
    described = False  # whether the description of the last URL may continue
    for word in text.split():
        if described:
            _, comma, word = word.rpartition(",")
            described = not comma
        word = word.lstrip(",") if not described else ""
        if word:
            described = not word.endswith(",")
            yield word.rstrip(",")


def _in_attributes(text: str) -> Iterator[str]:
    """Yield the URLs in style attributes. They may stand at any element, so the source is searched, not the tree."""
    for groups in _STYLE.findall(text):
        if "url(" in "".join(groups).lower():
            yield from _in_style(unescape("".join(groups)))


def _in_style(text: str) -> Iterable[str]:
    """Return the URLs of url(…) and @import in a style."""
    first, *rest = text.split("/*")
    text = first + "".join(part.partition("*/")[2] for part in rest)
    hrefs = ["".join(groups).strip() for groups in _REFERENCE.findall(text)]
    return [_ESCAPED.sub(_unescaped, href) if "\\" in href else href for href in hrefs]


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1].strip()
    if re.fullmatch("[0-9a-fA-F]{1,6}", code):
        return chr(int(code, 16)) if 0 < int(code, 16) < 0x110000 else "\ufffd"
    return escape[1].strip("\n")
