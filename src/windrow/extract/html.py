"""Capture -> Page: links, wishes of the author, language and shape of an HTML page."""

import functools
import itertools
import re
from collections.abc import Iterable, Sequence

import turbohtml
import xxhash

from windrow import urls
from windrow.data import Capture, Link, Page
from windrow.extract import decode, metadata, walk
from windrow.extract.metadata import Facts, Metadata

_HTML = {"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"}
_UNSURE = {
    "",
    "text/xml",
    "application/xml",
    "unknown/unknown",
    "application/unknown",
    "*/*",
}  # types that say too little
_SNIFFED = 1024  # bytes looked into
_MARKUP = re.compile(
    rb"\A[\xef\xbb\xbf\t\n\f\r ]*<(?:h1|div|font|table|a|style|b|br|p|title|script|iframe|meta|link|center)[\t\n\f\r />]"
    rb"|<(?:!doctype[\t\n\f\r ]+html|html|head|body)[\t\n\f\r />]",
    re.IGNORECASE,
)
_MAGIC = (
    *(
        b"%PDF-",
        b"%!PS",
        b"{\\rtf",
        b"\x89PNG",
        b"GIF8",
        b"\xff\xd8\xff",
        b"RIFF",
        b"OggS",
        b"ID3",
        b"wOF",
        b"\0\0\1\0",
        b"\x7fELF",
    ),
    *(b"PK\3\4", b"\x1f\x8b", b"BZh", b"Rar!", b"7z\xbc\xaf", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0"),
)
_CONTROLS = bytes(
    [*range(9), 11, *range(14, 27), *range(28, 32)]
)  # the "binary data bytes" of the MIME Sniffing Standard

_FIELDS = re.compile(rb"\r\n(content-type|x-robots-tag)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
_AGENT = re.compile(r"[ \t]*([a-z0-9_*.-]+)[ \t]*:(.*)", re.DOTALL)
_VALUED = {
    "unavailable_after",
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
}  # directives written like an agent
_NOFOLLOW = {"nofollow", "none"}
_NOINDEX = {"noindex", "none"}
_WORDS = re.compile(r"[,\s]+")
_EMPTY = re.compile(r"<(script|style|title|textarea|iframe|noscript|noframes|xmp)\b([^<>]*)/>", re.IGNORECASE)
_UNCLOSED = re.compile(r"<title\b[^>]*>[^<]*", re.IGNORECASE)
_HEAD = re.compile(
    r"</head|<(?:meta|link|script|body|div|p)\b", re.IGNORECASE
)  # what a title that was not closed goes on with
_REFRESH = re.compile(
    r"\s*[\d.]+(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(\S.*))", re.IGNORECASE | re.DOTALL
)
_LANGUAGE = re.compile(r"\s*([A-Za-z0-9_-]{1,35})\s*")
_HEARD = {
    "robots",
    "tdm-reservation",
    "tdm-policy",
    "generator",
    "x-translated-by",
    "translated-by",
    "translation-tool",
}
_MARK = re.compile(r"transl|^data-(?:gt|wg)-")  # names and values of attributes that translators leave
_MARKS = re.compile(r"\btranslated-|-x-mtfrom\b|-t-", re.IGNORECASE)
_LINKED_DATA = "application/ld+json"
_RELATIONS = {"canonical", "alternate", "next", "prev"}

_ANCHOR = 128  # characters of an anchor text, as in WAT files
_TYPE = 256  # characters of a content type
_TITLE = 512  # characters
_READ = 1 << 24  # characters of a page: what is longer is no page, and each takes some 35 bytes of memory
_CONTENT = 4096  # characters read of a meta element
_HEARD_OF = 64  # meta elements
_LICENCES = 8
_TIMES = 20  # time elements
_AUTHORS = 8  # links to authors
_END = 4096  # characters of either end of a text that make its shape
_UNPRINTABLE = dict.fromkeys([*range(32), *range(127, 160)])
# Digits and white space in UTF-8; of digits beyond ASCII the last byte, which costs some letters half of their bytes but no text its hash.
_VARYING = bytes([*b"0123456789 \t\n\r\f\v", *range(0x90, 0x9A), *range(0xA0, 0xBA)])

# Elements are asked for by tag alone: the parser lists them once, where a selector or an XPath passes over the whole tree each time.
_Pair = tuple[str, str]  # name, value
_Linked = tuple[Sequence[str], Sequence[str]]  # authors, licences
_Found = dict[str, tuple[str, str]]  # href -> anchor, rel


def extract(capture: Capture, max_links: int, agent: str = "", anchors: bool = False) -> Page:
    """What the page says; an empty Page where it is not HTML. `agent` is the name by which an author may address us alone.

    Nothing in a crawl reads anchor texts and they cost 20 µs more: they are taken on request.
    """
    return read(capture, max_links, agent, anchors, details=False)[0]


def read(
    capture: Capture,
    max_links: int,
    agent: str = "",
    anchors: bool = False,
    stock: bool = False,
    details: bool = True,
    shaped: bool = True,
) -> tuple[Page, turbohtml.Document | None]:
    """The page as `extract` has it, with author, date and licence (`details`), and its tree for those who want the text, stripped for the
    walk; None where it is not HTML. Who has the text anyway makes the shape of that, and asks for none here (`shaped`): it costs 27 µs."""
    content_type, wishes = _fields(capture.head, agent.lower())
    if capture.encoded or not is_html(content_type, capture.body):
        return Page(nofollow=not wishes.isdisjoint(_NOFOLLOW), noindex=not wishes.isdisjoint(_NOINDEX)), None
    text, charset = decode.decode(capture.body, content_type)
    document = _parsed(text[:_READ], _kind(content_type) != "text/html")
    metas = document.find_all("meta")
    heard = _heard(metas, agent.lower())
    wishes.update(
        word for name, content in heard if name in ("robots", agent.lower()) for word in _WORDS.split(content.lower())
    )
    base = _base(document, capture.task.url.text)
    found = _found(document, anchors)
    canonical, hrefs = _find_relations(document, found)
    licences = tuple(url.text for url in urls.join(base, hrefs) if url) if hrefs else ()
    _find_elsewhere(document, metas, found)
    about = _described(document, metas, capture, (_authors(document, found), licences)) if details else Metadata()
    page = Page(
        title=_title(document),
        author=about.author,
        date=about.date,
        licence=about.licence,
        language=_language(document),
        charset=charset,
        canonical=_joined(base, canonical),
        links=_links(found, base, capture.task.url.key, max_links),
        nofollow=not wishes.isdisjoint(_NOFOLLOW),
        noindex=not wishes.isdisjoint(_NOINDEX),
        shape=_shape(document, stock, shaped),
        metas=(*heard, *_marks(document)),
        licences=licences,
    )
    return page, document


def is_html(content_type: str, body: bytes) -> bool:
    """Whether to parse it: by type, by a look inside where the type says too little, and never what is plainly something else."""
    kind = _kind(content_type)
    if kind not in _HTML and kind not in _UNSURE:
        return False
    start = body[:_SNIFFED]
    if start.startswith(_MAGIC):
        return False
    if b"\0" in start:
        if start[:2] in (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<"):  # UTF-16
            start = start.replace(b"\0", b"")
        elif len(start) - len(start.translate(None, _CONTROLS)) > len(start) // 10:
            return False
    return bool(start) if kind in _HTML else _MARKUP.search(start) is not None


@functools.lru_cache(1024)
def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _fields(head: bytes, agent: str) -> tuple[str, set[str]]:
    """Content type and the X-Robots-Tag directives that are for us."""
    content_type = ""
    wishes: set[str] = set()
    for name, value in _FIELDS.findall(head):
        if name[0] in b"Cc":
            content_type = content_type or value[:_TYPE].decode("latin-1").rstrip()
        else:
            wishes.update(_header_wishes(value.decode("latin-1").lower(), agent))
    return content_type, wishes


def _header_wishes(value: str, agent: str) -> Iterable[str]:
    """`noindex, nofollow` is for all; behind `name:` everything is for that agent."""
    ours = True
    for part in value.split(","):
        match = _AGENT.fullmatch(part)
        if match and match[1] not in _VALUED:
            ours, part = match[1] in ("*", agent), match[2]
        if ours:
            yield from part.split()


def _heard(metas: Sequence[turbohtml.Element], agent: str) -> tuple[_Pair, ...]:
    """What meta elements say to robots, to us alone, and of a machine that translated the page."""
    found = []
    for meta in metas:
        name = meta.attr("name")
        if name and ((name := name.strip().lower()) in _HEARD or name == agent):
            content = (meta.attr("content") or "")[:_CONTENT]
            if name != "generator" or "translat" in content.lower():
                found.append((name, _clean(content)))
    return tuple(found[:_HEARD_OF])


def _marks(document: turbohtml.Document) -> Iterable[_Pair]:
    """Attributes of <html> that speak of a translation."""
    root = document.root
    if root is None:
        return
    for name in root.attrs:
        value = root.attr(name) or ""
        if _MARK.search(name) or _MARKS.search(value):
            yield f"html {_clean(name[:_TYPE])}", _clean(value[:_TYPE])


def _clean(text: str) -> str:
    return text if text.isprintable() else text.translate(_UNPRINTABLE).encode("utf-8", "replace").decode()


def _described(
    document: turbohtml.Document, metas: Sequence[turbohtml.Element], capture: Capture, linked: _Linked
) -> Metadata:
    """Who wrote the page, when and under which licence. A tree that was stripped has lost what its scripts say."""
    pairs = [
        (meta.attr("property") or meta.attr("name") or meta.attr("itemprop"), meta.attr("content")) for meta in metas
    ]
    scripts = [
        script.text
        for script in document.find_all("script")
        if (script.attr("type") or "").strip().lower() == _LINKED_DATA
    ]
    facts = Facts(
        [(name.strip().lower(), content[:_CONTENT]) for name, content in pairs if name and content],
        scripts,
        _times(document),
        *linked,
        capture.task.url.text,
        capture.time,
    )
    return metadata.read(facts)


def _times(document: turbohtml.Document) -> list[str]:
    """The moments that time elements give, those marked as the publication's first."""
    times = document.find_all("time")[:_TIMES]
    marked = [time for time in times if time.attr("itemprop") == "datePublished" or time.attr("pubdate") is not None]
    return [time.attr("datetime") or time.text[:_TYPE] for time in (*marked, *times)]


def _authors(document: turbohtml.Document, found: _Found) -> list[str]:
    """The texts of links to authors. Few pages have any, and what is known of links tells which."""
    if not any(rel and "author" in rel for _, rel in found.values()):
        return []
    links = (element for element in document.find_all("a") if "author" in (element.attr("rel") or "").lower().split())
    return [element.text[:_TYPE] for element in itertools.islice(links, _AUTHORS)]


def _parsed(text: str, xhtml: bool) -> turbohtml.Document:
    """XHTML may close a script or a frame in its own tag; to the HTML parser all the rest of the page would then be inside.

    Pages that do so and are served as HTML are broken in a browser, but their links are meant: where links were swallowed, we read again.
    The same holds of a title that is not closed. A shadow root stays in the tree as the template it is, for its text is the page's.
    """
    if xhtml:
        text = _EMPTY.sub(r"<\1\2></\1>", text)
    document = turbohtml.parse(text, positions=False, allow_declarative_shadow_roots=False)
    if not xhtml and _swallowed(document):
        return _parsed(text, xhtml=True)
    title = document.find("title")
    if title is not None and len(title.text) > _TITLE and _HEAD.search(title.text):
        closed = _UNCLOSED.sub(r"\g<0></title>", text, count=1)
        return turbohtml.parse(closed, positions=False, allow_declarative_shadow_roots=False)
    return document


def _base(document: turbohtml.Document, own: str) -> str:
    if document.find("base") is not None:
        for element in document.find_all("base"):
            href = element.attr("href")
            if href is not None:
                return _joined(own, href) or own
    return own


def _joined(base: str, href: str) -> str:
    url = urls.join(base, [href])[0] if href else None
    return url.text if url else ""


def _found(document: turbohtml.Document, anchors: bool) -> _Found:
    """The hrefs of anchors without their fragments, each once: in documentation three of five differ in nothing else."""
    found: _Found = {}
    for element in document.find_all("a"):
        href = element.attr("href")
        if href is None:
            continue
        href = href.partition("#")[0] if "#" in href else href
        rel = element.attr("rel") or ""
        known = found.get(href)
        if known is None or ("nofollow" in known[1] and "nofollow" not in rel.lower()):
            found[href] = (_clean(" ".join(element.text.split())[:_ANCHOR]) if anchors else "", rel.lower())
    return found


def _swallowed(document: turbohtml.Document) -> bool:
    return any("<a " in frame.text for frame in document.find_all("iframe")) or any(
        script.attr("src") is not None and "<a " in script.text for script in document.find_all("script")
    )


def _note(found: _Found, href: str, anchor: str, rel: str) -> None:
    """The first of each href, but a link to follow before one not to follow: one author's consent is enough."""
    href = href.partition("#")[0]
    known = found.get(href)
    if known is None:
        found[href] = (anchor, rel)
    elif "nofollow" in known[1] and "nofollow" not in rel:
        found[href] = (anchor or known[0], rel)


def _find_relations(document: turbohtml.Document, found: _Found) -> tuple[str, list[str]]:
    """Adds what link elements say of related pages (not of feeds and styles); returns the canonical one, and licences, of anchors too."""
    canonical = ""
    licences = [href for href, (_, rel) in found.items() if rel and "license" in rel]
    for element in document.find_all("link"):
        rel = (element.attr("rel") or "").lower()
        relations = _RELATIONS.intersection(rel.split())
        if "license" in rel:
            licences.append(element.attr("href") or "")
        if not relations or "stylesheet" in rel or _kind((element.attr("type") or "text/html")[:_TYPE]) not in _HTML:
            continue
        href = element.attr("href")
        if href:
            _note(found, href, "", rel)
            canonical = canonical or (href if "canonical" in relations else "")
    return canonical, licences[:_LICENCES]


def _find_elsewhere(document: turbohtml.Document, metas: Sequence[turbohtml.Element], found: _Found) -> None:
    for tag, attribute in (("area", "href"), ("iframe", "src"), ("frame", "src")):
        if document.find(tag) is None:
            continue
        for element in document.find_all(tag):
            href = element.attr(attribute)
            if href:
                _note(found, href, "", (element.attr("rel") or "").lower())
    for meta in metas:
        if (meta.attr("http-equiv") or "").lower() == "refresh":
            match = _REFRESH.match((meta.attr("content") or "")[:_CONTENT])
            if match:
                _note(found, match[1] or match[2] or match[3] or "", "", "refresh")


def _links(found: _Found, base: str, own: int, max_links: int) -> tuple[Link, ...]:
    hrefs = list(itertools.islice(found, max_links))
    links: dict[int, Link] = {}
    for url, (anchor, rel) in zip(urls.join(base, hrefs), found.values(), strict=False):
        if url is None:
            continue
        known = links.get(url.key)
        if known is None or ("nofollow" in known.rel and "nofollow" not in rel):
            links[url.key] = Link(url, anchor, _clean(rel) if rel else "")
    links.pop(own, None)
    return tuple(links.values())


def _title(document: turbohtml.Document) -> str:
    element = document.find("title")
    if element is None or element.namespace is not turbohtml.Namespace.HTML:
        return ""
    title = " ".join(element.text.split())[:_TITLE]
    return title if title.isprintable() else title.translate(_UNPRINTABLE)


def _language(document: turbohtml.Document) -> str:
    root = document.root
    match = _LANGUAGE.fullmatch(root.attr("lang") or root.attr("xml:lang") or "") if root is not None else None
    return match[1] if match else ""


def _shape(document: turbohtml.Document, stock: bool, wanted: bool) -> int:
    """It strips the tree."""
    walk.strip(document, stock)
    return shape(document.text) if wanted else 0


def shape(text: str) -> int:
    """A hash of the visible text: of a long one both ends, so far that the menu of a site fills neither."""
    if len(text) > 2 * _END:
        text = text[:_END] + text[-_END:]
    return xxhash.xxh32_intdigest(text.encode("utf-8", "replace").translate(None, _VARYING))
