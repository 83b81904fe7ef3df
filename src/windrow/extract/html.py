"""Capture -> Page without text: links, the author's directives, metadata, language and shape of an HTML page."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

import turbohtml
import xxhash

from windrow import urls
from windrow.data import Capture, Page
from windrow.extract import byline, decode, links, metadata, sniff, walk
from windrow.extract.links import Found, clean
from windrow.extract.metadata import Metadata, MetadataSources

_FIELDS = re.compile(rb"\r\n(content-type|x-robots-tag)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
_AGENT = re.compile(r"[ \t]*([a-z0-9_*.-]+)[ \t]*:(.*)", re.DOTALL)
# Directives with a value, which look like the name of an agent.
_VALUED = {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
_NOFOLLOW = {"nofollow", "none"}
_NOINDEX = {"noindex", "none"}
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
_AUTHOR_WORDS = ("author", "Author", "byline", "Byline")  # in the names of classes
_BEFORE = re.compile(r"[\w-]*$")
_BEHIND = re.compile(r"[\w-]*")
_OTHER_AUTHOR = re.compile(  # those of comments and other articles, their lives, and names of fields
    r"comment|bio|about|avatar|image|img|pic|photo|form|desc|title|role|box|card|related|social|icon|prep|reply|quote|^data-",
    re.IGNORECASE,
)
_LINKED_DATA = "application/ld+json"

_TYPE = 256  # characters of a content type
_TITLE = 512  # characters
_READ = 1 << 24  # characters of a page; a longer text is not a page, and each character takes some 35 bytes of memory
_CONTENT = 4096  # characters read of a meta element
_MAX_METAS = 64
_MAX_HEADINGS = 8  # of the first level
_MAX_TIMES = 20  # time elements
_MAX_AUTHORS = 8  # links to authors
_MAX_CLASSES = 32  # occurrences of a word in the names of classes
_NEAR = 1 << 13  # characters of source before a headline, and half of those behind it, that may hold the author
_CLASS = 64  # characters of the name of a class
_END = 4096  # characters at each end of a text that make its shape
_UNPRINTABLE = dict.fromkeys([*range(32), *range(127, 160)])
# Digits and white space in UTF-8. Of digits beyond ASCII the last byte is removed: some letters lose half of their
# bytes by this, but every text still has a hash of its own.
_VARYING = bytes([*b"0123456789 \t\n\r\f\v", *range(0x90, 0x9A), *range(0xA0, 0xBA)])


def extract(capture: Capture, max_links: int, agent: str = "", anchors: bool = False) -> Page:
    """Return the page without text; an empty Page if it is not HTML.

    `agent` is the name by which an author may address our robot alone. A crawl does not use anchor texts, and they cost
    20 µs more: they are read only on request.
    """
    return read(capture, max_links, agent, anchors, details=False)[0]


def read(
    capture: Capture,
    max_links: int,
    agent: str = "",
    anchors: bool = False,
    stock: bool = False,
    absolute: bool = False,
    details: bool = True,
    shaped: bool = True,
) -> tuple[Page, turbohtml.Document | None]:
    """Return the page without text, and its tree, stripped for the walk; None instead of the tree if it is not HTML.

    `absolute` makes the links in the tree absolute. `details` adds author, date and licence. `shaped` adds the shape,
    which costs 27 µs: a caller that has the text anyway computes the shape from it.
    """
    agent = agent.lower()
    content_type, directives = _header(capture.head, agent)
    if capture.encoded or not sniff.is_html(content_type, capture.body):
        return Page(nofollow=not directives.isdisjoint(_NOFOLLOW), noindex=not directives.isdisjoint(_NOINDEX)), None
    text, charset = decode.decode(capture.body, content_type)
    document = parse(text[:_READ], sniff.media_type(content_type) != "text/html")
    metas = document.find_all("meta")
    kept = _kept_metas(metas, agent)
    directives.update(
        word for name, content in kept if name in ("robots", agent) for word in _WORDS.split(content.lower())
    )
    base = links.base(document, capture.task.url.text, charset)
    found = links.of_anchors(document, anchors)
    canonical, hrefs = links.add_relations(document, found)
    licences = tuple(url.text for url in urls.join(base, hrefs) if url) if hrefs else ()
    links.add_others(document, metas, found)
    if absolute:
        links.make_absolute(document, base, charset)
    about = _metadata(document, metas, capture, (_authors(document, found), licences)) if details else Metadata()
    author = about.author or (metadata.author(_marked_authors(document, text)) if details else "")
    page = Page(
        title=_printable(about.title) if details else _title(document),
        author=author,
        date=about.date,
        licence=about.licence,
        language=_language(document, metas),
        charset=charset,
        canonical=links.joined(base, canonical, charset),
        links=links.links(found, (base, charset), capture.task.url.key, max_links),
        nofollow=not directives.isdisjoint(_NOFOLLOW),
        noindex=not directives.isdisjoint(_NOINDEX),
        shape=_strip_and_shape(document, stock, shaped),
        metas=(*kept, *_translation_marks(document)),
        licences=licences,
    )
    return page, document


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


def _header(head: bytes, agent: str) -> tuple[str, set[str]]:
    """Return the content type and the X-Robots-Tag directives that apply to us."""
    content_type = ""
    directives: set[str] = set()
    for name, value in _FIELDS.findall(head):
        if name[0] in b"Cc":
            content_type = content_type or value[:_TYPE].decode("latin-1").rstrip()
        else:
            directives.update(_header_directives(value.decode("latin-1").lower(), agent))
    return content_type, directives


def _header_directives(value: str, agent: str) -> Iterable[str]:
    """Yield the directives for us: `noindex, nofollow` applies to all robots; after `name:` all apply to that robot."""
    ours = True
    for part in value.split(","):
        match = _AGENT.fullmatch(part)
        if match and match[1] not in _VALUED:
            ours, part = match[1] in ("*", agent), match[2]
        if ours:
            yield from part.split()


def _kept_metas(metas: Sequence[turbohtml.Element], agent: str) -> tuple[tuple[str, str], ...]:
    """Return the meta elements for robots, for us alone, and about a machine translation, as (name, content)."""
    found = []
    for meta in metas:
        name = meta.attr("name")
        if name and ((name := name.strip().lower()) in _KEPT_METAS or name == agent):
            content = (meta.attr("content") or "")[:_CONTENT]
            if name != "generator" or "translat" in content.lower():
                found.append((name, clean(content)))
    return tuple(found[:_MAX_METAS])


def _translation_marks(document: turbohtml.Document) -> Iterable[tuple[str, str]]:
    """Yield the attributes of <html> that show a translation, as (name, value)."""
    root = document.root
    if root is None:
        return
    for name in root.attrs:
        value = root.attr(name) or ""
        if _TRANSLATION_NAME.search(name) or _TRANSLATION_VALUE.search(value):
            yield f"html {clean(name[:_TYPE])}", clean(value[:_TYPE])


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
    linked_data = [one.text for one in scripts if (one.attr("type") or "").strip().lower() == _LINKED_DATA]
    sources = MetadataSources(
        title=_title(document),
        headings=[heading.text[:_TITLE] for heading in document.find_all("h1")[:_MAX_HEADINGS]],
        metas=[(name.strip().lower(), content[:_CONTENT]) for name, content in pairs if name and content],
        scripts=linked_data,
        times=_times(document),
        authors=linked[0],
        licences=linked[1],
        url=capture.task.url.text,
        latest=capture.time,
    )
    return metadata.read(sources)


def _times(document: turbohtml.Document) -> list[str]:
    """Return the dates of time elements; those marked as the publication date come first."""
    times = document.find_all("time")[:_MAX_TIMES]
    marked = [time for time in times if time.attr("itemprop") == "datePublished" or time.attr("pubdate") is not None]
    return [time.attr("datetime") or time.text[:_TYPE] for time in (*marked, *times)]


def _authors(document: turbohtml.Document, found: Found) -> list[str]:
    """Return the texts of links to authors. The links already found show whether a page has any; few do."""
    if not any(rel and "author" in rel for _, rel in found.values()):
        return []
    elements = (
        element for element in document.find_all("a") if "author" in (element.attr("rel") or "").lower().split()
    )
    return [element.text[:_TYPE] for element in itertools.islice(elements, _MAX_AUTHORS)]


def _marked_authors(document: turbohtml.Document, text: str) -> list[str]:
    """Return the names in elements whose class says that they hold the author.

    A search over the whole tree would cost a tenth of the extraction, so the classes are taken from the source near the
    headline, and only pages that have one are searched.
    """
    if document.find("h1") is None:
        return []
    for name in list(dict.fromkeys(_author_classes(text)))[:_MAX_AUTHORS]:
        element = document.find(class_=name)
        if element is not None and (names := byline.marked(itertools.islice(element.stripped_strings, _MAX_AUTHORS))):
            return names
    return []


def _author_classes(text: str) -> Iterator[str]:
    """Yield the words in the source of a page that may be the class of its author."""
    headline = text.find("<h1")
    if headline < 0:
        headline = max(0, text.find("<H1"))
    text = text[max(0, headline - _NEAR) : headline + 2 * _NEAR]
    for word in _AUTHOR_WORDS:
        place = -1
        for _ in range(_MAX_CLASSES):
            if (place := text.find(word, place + 1)) < 0:
                break
            start = place - len(_BEFORE.search(text[max(0, place - _CLASS) : place])[0])  # type: ignore[index]
            end = _BEHIND.match(text, place)
            name = text[start : end.end() if end else place]
            if len(name) <= _CLASS and not _OTHER_AUTHOR.search(name):
                yield name


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


def _strip_and_shape(document: turbohtml.Document, stock: bool, wanted: bool) -> int:
    walk.strip(document, stock)
    return shape(document.text) if wanted else 0


def shape(text: str) -> int:
    """Return a hash of the visible text without digits and blanks: the pages of an endless calendar have one shape.

    Of a long text both ends are hashed, and enough of each that the menu of a site does not fill it.
    """
    if len(text) > 2 * _END:
        text = text[:_END] + text[-_END:]
    return xxhash.xxh32_intdigest(text.encode("utf-8", "replace").translate(None, _VARYING))
