"""What a page says of itself: title, author, date, licence, site, description, tags and image.

Everything comes from metadata for machines first: linked data, then meta elements, then marked elements. All functions
work on strings that `html` took from the tree; none raises, whatever the strings hold.
"""

import html
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from windrow import urls
from windrow.extraction.page import byline, dates, linked
from windrow.extraction.page import title as titles
from windrow.extraction.page.linked import LinkedData


class MetadataSources(msgspec.Struct, frozen=True, gc=False):
    """The parts of a page that describe it."""

    metas: Sequence[tuple[str, str]] = ()  # name, property or itemprop in lower case, and content
    scripts: Sequence[str] = ()  # JSON-LD
    times: Sequence[str] = ()  # datetime of <time>; those marked as the publication date first
    authors: Sequence[str] = ()  # texts of rel=author
    licences: Sequence[str] = ()  # targets of rel=license
    url: str = ""
    latest: float = 0.0  # epoch seconds of the capture: nothing was published after it; 0: unknown
    title: str = ""  # of <title>
    headings: Sequence[str] = ()  # texts of h1, in all readings


class Metadata(msgspec.Struct, frozen=True, gc=False):
    title: str = ""  # without the name of the site
    author: str = ""
    date: str = ""  # YYYY-MM-DD
    licence: str = ""  # as written; it may be a relative URL
    site: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    image: str = ""  # as written; it may be a relative URL
    body: str = ""  # text that the linked data give, see `linked.lines`


_PUBLISHED = (  # best first
    *("article:published_time", "og:article:published_time", "og:published_time", "datepublished"),
    *("date_published", "datepublished-iso", "article:published", "article.published", "article:created"),
    *("parsely-pub-date", "sailthru.date", "publish_date", "publish-date", "publishdate", "publishtime"),
    *("published_time", "published_at", "publication_date", "publication-date", "pubdate", "pub_date"),
    *("originalpublicationdate", "article_date_original", "bytedance:published_time"),
    *("weibo: article:create_at", "ptime", "displaydate", "cxenseparse:recs:publishtime"),
    *("citation_publication_date", "citation_date", "citation_online_date", "dcterms.created"),
    *("dcterms.issued", "dcterms.date", "dc.date.issued", "dc.date.created", "dc.date.publication"),
    *("dc.date", "dc.created", "dc:date", "datecreated", "date", "date.created", "created", "timestamp"),
    *("release_date", "rnews:datepublished", "video:release_date"),
)
_WRITTEN = (  # best first
    *("author", "article:author", "og:article:author", "article:author_name", "parsely-author"),
    *("sailthru.author", "dc.creator", "dcterms.creator", "dc:creator", "citation_author", "byl", "byline"),
    *("creator", "rnews:author"),
)
_CATALOGUED = frozenset(("citation_author", "dc.creator", "dcterms.creator"))  # may be written "Doe, Jane"
_TITLED = ("og:title", "twitter:title", "dc.title", "dcterms.title", "citation_title")  # the first is taken
_SITES = ("og:site_name", "application-name", "al:ios:app_name", "apple-mobile-web-app-title")
_DESCRIBED = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
_PICTURED = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src", "image")
_TAGGED = frozenset(
    (
        *("keywords", "news_keywords", "article:tag", "og:article:tag", "article:section", "og:video:tag"),
        *("parsely-tags", "sailthru.tags", "citation_keywords", "dc.subject", "dcterms.subject"),
    )
)
_WRITTEN_BY = re.compile(  # labels of the author among the facts that social networks show
    r"written by|author|posted by|published by|verfasst von|geschrieben von|autor|écrit par|rédigé par|auteur|"
    r"escrito por|publicado por|scritto da|autore|geschreven door|skriven av|skrevet av|skrevet af|napsala?|"
    r"napisane przez|szerző|kirjoittanut|написано|автор|yazan|作者|投稿者|執筆者|글쓴이|tác giả|"
    r"ditulis oleh|penulis|συντάχθηκε",
    re.IGNORECASE,
)
_RIGHTS = ("dcterms.license", "dc.rights", "dcterms.rights", "dc.rights.license", "license", "copyright")
_LD_DATES = ("datePublished", "dateCreated", "uploadDate")
_LD_IMAGES = ("image", "primaryImageOfPage", "thumbnailUrl")
_LD_TAGS = ("keywords", "articleSection")

_BY = re.compile(r"^(?:by|von|par|por|di|door|af|av|autor|author|written by)[ :]+", re.IGNORECASE)
_ADDRESS = re.compile(r"^(?:https?:)?//|@|^www\.", re.IGNORECASE)
_SEPARATOR = re.compile(r"[,;|、，；]")
_TAG_END = " \t\n\"'#.·-"

_URL_LENGTH = 2048  # characters of a licence's URL
_LONGEST = 160  # characters of an author
_AUTHORS = 8
_SITE = 100  # characters
_DESCRIPTION = 2000  # characters
_TAGS = 32
_TAG = 64  # characters


def read(sources: MetadataSources) -> Metadata:
    metas: dict[str, str] = {}
    for name, content in sources.metas:
        if content := content.strip():
            metas.setdefault(name, content)
    data = linked.read(sources.scripts)
    site = _site(metas, data)
    return Metadata(
        title=_title(sources, metas, data, site),
        author=_author(sources, metas, data),
        date=_date(sources, metas, data),
        licence=_licence(sources, metas, data),
        site=site,
        description=_description(metas, data),
        tags=_tags(sources, data),
        image=_image(metas, data),
        body=data.body,
    )


def author(names: Iterable[str]) -> str:
    """Join names into one line, without what is not a name: an address or a sentence."""
    found = (one for name in map(_name, names) if name for one in byline.people(name))
    return "; ".join(list(dict.fromkeys(found))[:_AUTHORS])


def _first(metas: dict[str, str], names: Iterable[str]) -> str:
    return next((metas[name] for name in names if name in metas), "")


def _line(text: str, longest: int) -> str:
    """Return a text on one line and without entities, which many a page escapes twice; empty if it is too long."""
    text = " ".join((html.unescape(text) if "&" in text else text).split())
    return text if len(text) <= longest else ""


def _title(sources: MetadataSources, metas: dict[str, str], data: LinkedData, site: str) -> str:
    headlines = [found for thing in data.things[:1] if (found := linked.text(thing.get("headline")))]
    shared = [metas[name] for name in _TITLED if name in metas][:1]
    return titles.choose(
        titles.Titles(
            declared=[sources.title, *headlines, *shared],
            headings=sources.headings,
            sites=list(dict.fromkeys([*(metas[name] for name in _SITES if name in metas), *([site] if site else [])])),
            host=urls.host_of(sources.url) if sources.url else "",
        )
    )


def _author(sources: MetadataSources, metas: dict[str, str], data: LinkedData) -> str:
    for names in _authors(sources, metas, data):
        if found := author(names):
            return found
    return ""


def _authors(sources: MetadataSources, metas: dict[str, str], data: LinkedData) -> Iterator[Iterable[str]]:
    """Yield groups of names, the most trusted first."""
    for thing in data.things:
        yield linked.names(thing.get("author") or thing.get("creator"), data)
    for name in _WRITTEN:
        if name in _CATALOGUED and name in metas:
            yield [_turned(content) for key, content in sources.metas if key == name]
        elif name in metas:
            yield [metas[name]]
    yield from ([metas[f"twitter:data{n}"]] for n in "12" if _said_to_write(metas, n))
    yield sources.authors


def _turned(name: str) -> str:
    """Return "Jane Doe" for "Doe, Jane"."""
    family, comma, given = name.partition(",")
    return f"{given.strip()} {family.strip()}" if comma and "," not in given else name


def _said_to_write(metas: dict[str, str], number: str) -> bool:
    label = metas.get(f"twitter:label{number}", "")
    return f"twitter:data{number}" in metas and _WRITTEN_BY.search(label) is not None


def _name(text: str) -> str:
    name = _BY.sub("", _line(text[: 2 * _LONGEST], _LONGEST)).strip(" ,;|·-")
    return name if name.isprintable() and any(map(str.isalpha, name)) and not _ADDRESS.search(name) else ""


def _date(sources: MetadataSources, metas: dict[str, str], data: LinkedData) -> str:
    said = (linked.text(thing[key]) for key in _LD_DATES for thing in data.things if key in thing)
    written = (metas[name] for name in _PUBLISHED if name in metas)
    for text in itertools.chain(said, written, sources.times):
        if found := dates.day(text, sources.latest):
            return found
    return dates.in_url(sources.url, sources.latest)


def _licence(sources: MetadataSources, metas: dict[str, str], data: LinkedData) -> str:
    said = (_address(thing["license"]) for thing in data.things if "license" in thing)
    for link in (*sources.licences, *said, *(metas[name] for name in _RIGHTS if name in metas)):
        link = link.strip()
        if len(link) > _URL_LENGTH or not link.isprintable():
            continue
        if link in sources.licences or link.startswith(("http://", "https://")):
            return link
    return ""


def _site(metas: dict[str, str], data: LinkedData) -> str:
    publishers = (name for thing in data.things for name in linked.names(thing.get("publisher"), data)[:1])
    found = (metas.get("og:site_name", ""), linked.named(data, "website"), next(publishers, ""))
    for name in (*found, metas.get("application-name", "")):
        if (name := _line(name, _SITE).strip(" |-–—·»")) and not _ADDRESS.search(name):
            return name
    return ""


def _description(metas: dict[str, str], data: LinkedData) -> str:
    said = next((found for thing in data.things[:1] if (found := linked.text(thing.get("description")))), "")
    return _line((_first(metas, _DESCRIBED) or said)[: 2 * _DESCRIPTION], 2 * _DESCRIPTION)[:_DESCRIPTION].strip()


def _tags(sources: MetadataSources, data: LinkedData) -> tuple[str, ...]:
    """Return the keywords and sections that a page declares, each once, whatever its case."""
    found: dict[str, str] = {}
    for text in itertools.islice(_labels(sources, data), 8 * _TAGS):
        tag = _line(text, _TAG).strip(_TAG_END)
        if tag and not _ADDRESS.search(tag):
            found.setdefault(tag.casefold(), tag)
    return tuple(itertools.islice(found.values(), _TAGS))


def _labels(sources: MetadataSources, data: LinkedData) -> Iterator[str]:
    for name, content in sources.metas:
        if name in _TAGGED:
            yield from _SEPARATOR.split(content)
    for value in (thing[key] for thing in data.things[:1] for key in _LD_TAGS if key in thing):
        for one in value[:_TAGS] if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield linked.text(one.get("name"))
            else:
                yield from _SEPARATOR.split(linked.text(one))


def _image(metas: dict[str, str], data: LinkedData) -> str:
    said = (
        _address(linked.resolved(_one(thing[key]), data))
        for thing in data.things[:2]
        for key in _LD_IMAGES
        if key in thing
    )
    for link in (_first(metas, _PICTURED), *said):
        if link and len(link) <= _URL_LENGTH and link.isprintable() and not link.startswith("data:"):
            return link
    return ""


def _one(value: Any) -> Any:
    return next(iter(value), None) if isinstance(value, list) else value


def _address(value: Any) -> str:
    """Return the URL in a value of linked data: a text, or a thing with one."""
    if isinstance(value, dict):
        value = value.get("url") or value.get("contentUrl") or value.get("@id")
    value = _one(value)
    return value.strip() if isinstance(value, str) else ""
