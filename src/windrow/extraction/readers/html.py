"""Capture -> Page without text: links, the author's directives, metadata, language and shape of an HTML page."""

import itertools
import re
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

import msgspec
import turbohtml
import xxhash

from windrow import urls
from windrow.extraction import walk
from windrow.extraction.main import marked
from windrow.extraction.page import anchors, links, metadata
from windrow.extraction.page.links import Found, PageAddress, clean
from windrow.extraction.page.metadata import Metadata, MetadataSources
from windrow.extraction.readers import decode, header, sniff
from windrow.records import Capture, Page

_WORDS = re.compile(r"[,\s]+")
_EMPTY = re.compile(r"<(script|style|title|textarea|iframe|noscript|noframes|xmp)\b([^<>]*)/>", re.IGNORECASE)
_UNCLOSED = re.compile(r"<title\b[^>]*>[^<]*", re.IGNORECASE)
_HEAD = re.compile(
    r"</head|<(?:meta|link|script|body|div|p)\b", re.IGNORECASE
)  # markup inside a title: it was not closed
_LANGUAGE = re.compile(r"\s*([A-Za-z0-9_-]{1,35})\s*")
_KEPT_METAS = frozenset(
    "robots tdm-reservation tdm-policy generator x-translated-by translated-by translation-tool".split()
)
# Names and values of the attributes that translators leave.
_TRANSLATION_NAME = re.compile(r"transl|^data-(?:gt|wg)-")
_TRANSLATION_VALUE = re.compile(r"\btranslated-|-x-mtfrom\b|-t-", re.IGNORECASE)
_LINKED_DATA = "application/ld+json"

_ATTRIBUTE = 256  # characters of an attribute of <html>
_TITLE = 512  # characters
_READ = 1 << 24  # characters of a page; a longer text is not a page, and each character takes some 35 bytes of memory
_CONTENT = 4096  # characters read of a meta element
_MAX_METAS = 64
_MAX_HEADINGS = 8  # of the first level
_BEHIND = 150  # elements behind the headline that may be marked as the author's
_BEFORE = 60  # and before it
_END = 4096  # characters at each end of a text that make its shape
_UNPRINTABLE = dict.fromkeys([*range(32), *range(127, 160)])
# Digits and white space in UTF-8. Of digits beyond ASCII the last byte is removed: some letters lose half of their
# bytes by this, but every text still has a hash of its own.
_VARYING = bytes([*b"0123456789 \t\n\r\f\v", *range(0x90, 0x9A), *range(0xA0, 0xBA)])


class ReadPage(NamedTuple):
    """What one reading of the source gives to an extractor."""

    page: Page  # without text
    tree: turbohtml.Document | None  # stripped for the walk; None if the capture is not HTML
    markup: str = ""  # the tree written out for the walk, if it was done already
    body: str = ""  # main text as the linked data give it, for a page that shows none; see `linked.lines`


def extract(capture: Capture, max_links: int, agent: str = "", known: Container[int] | None = None) -> Page:
    """Return the page without text; an empty Page if it is not HTML.

    `agent` is the name by which an author may address our robot alone. `known` is that of `read`.
    """
    return read(capture, max_links, agent, known, details=False).page


def read(
    capture: Capture,
    max_links: int,
    agent: str = "",
    known: Container[int] | None = None,
    stock: bool = False,
    articles: bool = False,
    absolute: bool = False,
    details: bool = True,
    shaped: bool = True,
) -> ReadPage:
    """Return the page without text, and its tree.

    `known` adds to the links their anchors, the words around them and their languages (see `anchors`), except to those
    whose URLs have these keys; on a page without others this costs nothing. None adds nothing. `stock` and `articles`
    strip the tree as walk.strip says. `absolute` makes the links in it absolute. `details` adds author, date
    and licence. `shaped` adds the shape, which costs 27 µs: a caller that has the text anyway computes
    the shape from it.
    """
    agent = agent.lower()
    content_type, directives = header.read(capture.head, agent)
    if capture.encoded or not sniff.is_html(content_type, capture.body):
        return ReadPage(Page(nofollow=header.nofollow(directives), noindex=header.noindex(directives)), None)
    text, charset = decode.decode(capture.body, content_type)
    document = parse(text[:_READ], sniff.media_type(content_type) != "text/html")
    metas = document.find_all("meta")
    declared = _kept_metas(metas, agent)
    directives.update(
        word for name, content in declared if name in ("robots", agent) for word in _WORDS.split(content.lower())
    )
    base = links.base(document, capture.task.url.text, charset)
    rels = links.of_anchors(document)
    canonical, hrefs = links.add_relations(document, rels)
    licences = tuple(url.text for url in urls.join(base, hrefs) if url) if hrefs else ()
    links.add_others(document, metas, rels)
    about = Metadata()
    if details:
        about = _metadata(document, metas, capture, (marked.linked_authors(document, rels), licences))
        about = _from_marks(document, text, about, (rels, capture.time))
    title = _printable(about.title) if details else _title(document)  # before the tree is stripped of its head
    kept, targets = links.links(rels, PageAddress(base, charset, capture.task.url.key), max_links)
    new = known is not None and not all(map(known.__contains__, kept))
    described = links.labels(document, rels) if new else {}
    if absolute:
        links.make_absolute(document, base, charset)
    walk.strip(document, stock, articles)
    markup = walk.markup(document) if new else ""
    if known is not None and new:
        described |= anchors.describe(markup, max_links)
        links.describe(kept, zip(rels, targets, strict=False), described, known)
    page = Page(
        title=title,
        author=about.author,
        date=about.date,
        licence=about.licence,
        site=clean(about.site),
        description=clean(about.description),
        tags=tuple(map(clean, about.tags)),
        image=links.joined(base, about.image, charset) if about.image else "",
        language=_language(document, metas),
        charset=charset,
        canonical=links.joined(base, canonical, charset),
        links=tuple(kept.values()),
        nofollow=header.nofollow(directives),
        noindex=header.noindex(directives),
        shape=shape(document.text) if shaped else 0,
        metas=(*declared, *_translation_marks(document)),
        licences=licences,
    )
    return ReadPage(page, document, markup, about.body)


def parse(text: str, xhtml: bool) -> turbohtml.Document:
    """Parse a page, with the faults of XHTML and of titles corrected.

    XHTML may close a script or a frame in its own tag; the HTML parser would then put the rest of the page inside it.
    Pages that do so and are served as HTML are broken in a browser, but their links are meant: if links were
    swallowed, the page is parsed again as XHTML. A title that is not closed swallows the page in the same way. A
    shadow root stays in the tree as the template it is, because its text belongs to the page.
    """
    if xhtml:
        text = _EMPTY.sub(r"<\1\2></\1>", text)
    document = turbohtml.parse(text, positions=False, allow_declarative_shadow_roots=False)
    if not xhtml and _swallowed(document):
        return parse(text, xhtml=True)
    title = document.find("title")
    if title is not None and len(title.text) > _TITLE and _HEAD.search(title.text):
        closed = _UNCLOSED.sub(r"\g<0></title>", text, count=1)
        return turbohtml.parse(closed, positions=False, allow_declarative_shadow_roots=False)
    return document


def _swallowed(document: turbohtml.Document) -> bool:
    return any("<a " in frame.text for frame in document.find_all("iframe")) or any(
        script.attr("src") is not None and "<a " in script.text for script in document.find_all("script")
    )


def _kept_metas(metas: Sequence[turbohtml.Element], agent: str) -> tuple[tuple[str, str], ...]:
    """Return the meta elements for robots, for us alone, and about a machine translation, as (name, content)."""
    kept = []
    for meta in metas:
        name = meta.attr("name")
        if name and ((name := name.strip().lower()) in _KEPT_METAS or name == agent):
            content = (meta.attr("content") or "")[:_CONTENT]
            if name != "generator" or "translat" in content.lower():
                kept.append((name, clean(content)))
    return tuple(kept[:_MAX_METAS])


def _translation_marks(document: turbohtml.Document) -> Iterable[tuple[str, str]]:
    """Yield the attributes of <html> that show a translation, as (name, value)."""
    root = document.root
    if root is None:
        return
    for name in root.attrs:
        value = root.attr(name) or ""
        if _TRANSLATION_NAME.search(name) or _TRANSLATION_VALUE.search(value):
            yield f"html {clean(name[:_ATTRIBUTE])}", clean(value[:_ATTRIBUTE])


def _metadata(
    document: turbohtml.Document,
    metas: Sequence[turbohtml.Element],
    capture: Capture,
    linked: tuple[Sequence[str], Sequence[str]],
) -> Metadata:
    """Return author, date and licence, given the linked authors and licences. A stripped tree has lost its scripts."""
    pairs = [
        (meta.attr("property") or meta.attr("name") or meta.attr("itemprop"), meta.attr("content")) for meta in metas
    ]
    scripts = document.find_all("script")
    linked_data = [script.text for script in scripts if (script.attr("type") or "").strip().lower() == _LINKED_DATA]
    sources = MetadataSources(
        title=_title(document),
        headings=[text for heading in document.find_all("h1")[:_MAX_HEADINGS] for text in _readings(heading)],
        metas=[(name.strip().lower(), content[:_CONTENT]) for name, content in pairs if name and content],
        scripts=linked_data,
        times=marked.times(document),
        authors=linked[0],
        licences=linked[1],
        url=capture.task.url.text,
        latest=capture.time,
    )
    return metadata.read(sources)


def _readings(heading: turbohtml.Element) -> list[str]:
    """Return the text of a heading; if it has parts, also with blanks between them, and the longest part alone.

    Only the declared title can show which is meant: a part may be a label, a number of comments, or half of a word.
    """
    parts = [part[:_TITLE] for part in itertools.islice(heading.stripped_strings, _MAX_HEADINGS)]
    if len(parts) < 2:
        return parts
    return [heading.text[:_TITLE], " ".join(parts)[:_TITLE], max(parts, key=len)]


def _from_marks(document: turbohtml.Document, text: str, about: Metadata, known: tuple[Found, float]) -> Metadata:
    """Look at marked elements for what a page does not declare to machines, given its links and the time of capture."""
    names: list[str] = []
    date = ""
    if not (about.author and about.date):
        names, date = marked.near(_near_headline(document, about.title), known[1])
    return msgspec.structs.replace(
        about,
        author=about.author or metadata.author(names),
        date=about.date or date,
        licence=about.licence or marked.footer_licence(text, known[0]),
    )


def _near_headline(document: turbohtml.Document, title: str) -> list[turbohtml.Element]:
    """Return the elements behind and before the heading that has the title; none if the page has no heading."""
    headings = document.find_all("h1")[:_MAX_HEADINGS]
    chosen = next((heading for heading in headings if title in " ".join(heading.text[:_TITLE].split())), None)
    headline = chosen or next(iter(headings), None)
    if headline is None:
        return []
    behind = headline.find_all(axis=turbohtml.Axis.FOLLOWING, limit=_BEHIND)
    return [*behind, *headline.find_all(axis=turbohtml.Axis.PRECEDING, limit=_BEFORE)]


def _title(document: turbohtml.Document) -> str:
    element = document.find("title")
    if element is None or element.namespace is not turbohtml.Namespace.HTML:
        return ""
    return _printable(" ".join(element.text.split())[:_TITLE])


def _printable(title: str) -> str:
    return title if title.isprintable() else title.translate(_UNPRINTABLE)


def _language(document: turbohtml.Document, metas: Sequence[turbohtml.Element]) -> str:
    """Return the language that a page declares: of <html>, else of its content-language, else for social networks."""
    root = document.root
    match = _LANGUAGE.fullmatch(root.attr("lang") or root.attr("xml:lang") or "") if root is not None else None
    if match:
        return match[1]
    for attribute, wanted in (("http-equiv", "content-language"), ("property", "og:locale")):
        for meta in metas:
            if (meta.attr(attribute) or "").strip().lower() == wanted:
                match = _LANGUAGE.fullmatch(meta.attr("content") or "")
                if match:
                    return match[1]
    return ""


def shape(text: str) -> int:
    """Return a hash of the visible text without digits and blanks: the pages of an endless calendar have one shape.

    Of a long text both ends are hashed, and enough of each that the menu of a site does not fill it.
    """
    if len(text) > 2 * _END:
        text = text[:_END] + text[-_END:]
    return xxhash.xxh32_intdigest(text.encode("utf-8", "replace").translate(None, _VARYING))
