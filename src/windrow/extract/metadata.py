"""Title, author, date and licence of a page: from its metadata for machines, then from its URL, then from its text.

All functions work on strings that `html` took from the tree; none raises, whatever the strings hold.
"""

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from windrow import urls
from windrow.data import Paragraph
from windrow.extract import linked
from windrow.extract import title as titles
from windrow.extract.linked import Thing


class MetadataSources(msgspec.Struct, frozen=True, gc=False):
    """The parts of a page that describe it."""

    metas: Sequence[tuple[str, str]] = ()  # name, property or itemprop in lower case, and content
    scripts: Sequence[str] = ()  # JSON-LD
    times: Sequence[str] = ()  # datetime of <time>; those marked as the publication date first
    authors: Sequence[str] = ()  # texts of rel=author and itemprop=author
    licences: Sequence[str] = ()  # targets of rel=license
    url: str = ""
    latest: float = 0.0  # epoch seconds of the capture: nothing was published after it; 0: unknown
    title: str = ""  # of <title>
    headings: Sequence[str] = ()  # texts of h1


class Metadata(msgspec.Struct, frozen=True, gc=False):
    title: str = ""  # without the name of the site
    author: str = ""
    date: str = ""  # YYYY-MM-DD
    licence: str = ""  # as written; it may be a relative URL
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
_TITLED = ("og:title", "twitter:title", "dc.title", "dcterms.title", "citation_title")  # the first is taken
_SITES = ("og:site_name", "application-name", "al:ios:app_name", "apple-mobile-web-app-title")
_WRITTEN_BY = re.compile(  # labels of the author among the facts that social networks show
    r"written by|author|posted by|published by|verfasst von|geschrieben von|autor|écrit par|rédigé par|auteur|"
    r"escrito por|publicado por|scritto da|autore|geschreven door|skriven av|skrevet av|skrevet af|napsala?|"
    r"napisane przez|szerző|kirjoittanut|написано|автор|yazan|作者|投稿者|執筆者|글쓴이|tác giả|"
    r"ditulis oleh|penulis|συντάχθηκε",
    re.IGNORECASE,
)
_RIGHTS = ("dcterms.license", "dc.rights", "dcterms.rights", "dc.rights.license", "license", "copyright")
_LD_DATES = ("datePublished", "dateCreated", "uploadDate")

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = {month[:3]: number for number, month in enumerate(_MONTHS, 1)}
_NUMBERS = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:([-/.])|[ ]?年[ ]?)(\d{1,2})(?:\2|[ ]?月[ ]?)(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?:\d{6})?(?!\d)")
_DAY_FIRST = re.compile(r"(?<![\d.])(\d{1,2})\.[ ]?(\d{1,2})\.[ ]?((?:19|20)\d\d)(?!\d)")
_NAME = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[.,]?"
_SPOKEN = re.compile(rf"\b{_NAME}[ ]+(\d{{1,2}})(?:st|nd|rd|th)?,?[ ]+((?:19|20)\d\d)\b", re.IGNORECASE)
_SPOKEN_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?[ ]+(?:of[ ]+)?{_NAME}[ ]+((?:19|20)\d\d)\b", re.IGNORECASE
)
_IN_URL = re.compile(r"/((?:19|20)\d\d)[-/_]?(0[1-9]|1[0-2])[-/_]?(0[1-9]|[12]\d|3[01])(?!\d)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_EPOCH = re.compile(r"1[0-9]{9}(?:[0-9]{3})?")
_BY = re.compile(r"^(?:by|von|par|por|di|door|af|av|autor|author|written by)[ :]+", re.IGNORECASE)
_ADDRESS = re.compile(r"^(?:https?:)?//|@|^www\.", re.IGNORECASE)

_EARLIEST = datetime.date(1990, 1, 1)  # an earlier date is older than the web: a birthday, a war, an epoch of zero
_LINE = 120  # characters of a line that may be a dateline
_URL_LENGTH = 2048  # characters of a licence's URL
_NEAR = 15  # paragraphs above the text in which a dateline may stand
_LONGEST = 160  # characters of an author
_NAMES = 8  # authors
_DAY = 86400.0


def read(sources: MetadataSources) -> Metadata:
    metas: dict[str, str] = {}
    for name, content in sources.metas:
        if content.strip():
            metas.setdefault(name, content.strip())
    data = linked.read(sources.scripts)
    things = data.things
    return Metadata(
        title=_title(sources, metas, things),
        author=_author(sources, metas, things),
        date=_date(sources, metas, things),
        licence=_licence(sources, metas, things),
        body=data.body,
    )


def day(text: str, latest: float = 0.0) -> str:
    """Return the first plausible date in a text as YYYY-MM-DD; empty if there is none."""
    text = text.strip()[:_LINE]
    if _EPOCH.fullmatch(text):
        return _checked(*_utc(float(text[:10])), latest)
    for pattern, order in _FORMS:
        if match := pattern.search(text):
            year, month, date = (match[place] for place in order)
            number = _MONTH.get(month[:3].lower()) or (int(month) if month.isdigit() else 0)
            if found := _checked(int(year), number, int(date), latest):
                return found
    return ""


_FORMS = (
    (_NUMBERS, (1, 3, 4)),
    (_COMPACT, (1, 2, 3)),
    (_SPOKEN, (3, 1, 2)),
    (_SPOKEN_DAY_FIRST, (3, 2, 1)),
    (_DAY_FIRST, (3, 2, 1)),
)


def dateline(paragraphs: Sequence[Paragraph], latest: float = 0.0) -> str:
    """Return the date in a short line between the headline and the first paragraph of the text, or in that paragraph.

    It is empty if there is none. On 58 of 66 pages that have both it is the day that the page declares to machines.
    """
    start = 0
    for place, one in enumerate(paragraphs):
        if one.heading and one.path.endswith("h1"):
            start = place
        elif one.kind == "good" and not one.heading:
            break
    else:
        return ""
    near = paragraphs[max(start, place - _NEAR) : place + 1]
    short = (one.text for one in near if len(one.text) <= _LINE and _YEAR.search(one.text))
    return next((found for text in short if (found := day(text, latest))), "")


def _utc(seconds: float) -> tuple[int, int, int]:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.year, moment.month, moment.day


def _checked(year: int, month: int, date: int, latest: float) -> str:
    try:
        found = datetime.date(year, month, date)
    except ValueError:
        return ""
    if found < _EARLIEST or (latest and found > datetime.date(*_utc(latest + _DAY))):
        return ""
    return found.isoformat()


def _date(sources: MetadataSources, metas: dict[str, str], things: list[Thing]) -> str:
    for text in _dates(sources, metas, things):
        if found := day(text, sources.latest):
            return found
    if match := _IN_URL.search(sources.url):
        return _checked(int(match[1]), int(match[2]), int(match[3]), sources.latest)
    return ""


def _dates(sources: MetadataSources, metas: dict[str, str], things: list[Thing]) -> Iterator[str]:
    for key in _LD_DATES:
        for thing in things:
            if isinstance(value := thing.get(key), str):
                yield value
    yield from (metas[name] for name in _PUBLISHED if name in metas)
    yield from sources.times


def _title(sources: MetadataSources, metas: dict[str, str], things: list[Thing]) -> str:
    headlines = [found for thing in things[:1] if isinstance(found := thing.get("headline"), str)]
    shared = [metas[name] for name in _TITLED if name in metas][:1]
    return titles.choose(
        titles.Titles(
            declared=[sources.title, *headlines[:1], *shared],
            headings=sources.headings,
            sites=[metas[name] for name in _SITES if name in metas],
            host=urls.host_of(sources.url) if sources.url else "",
        )
    )


def author(names: Iterable[str]) -> str:
    """Join names into one line, without what is not a name: an address or a sentence."""
    return "; ".join(list(dict.fromkeys(name for name in map(_name, names) if name))[:_NAMES])


def _author(sources: MetadataSources, metas: dict[str, str], things: list[Thing]) -> str:
    candidates: Iterable[list[str]] = (
        *([name for thing in things[:1] for name in _names(thing.get("author"))],),
        *([name for thing in things for name in _names(thing.get("author") or thing.get("creator"))],),
        *([metas[name]] for name in _WRITTEN if name in metas),
        *([metas[f"twitter:data{n}"]] for n in "12" if _said_to_write(metas, n)),
        list(sources.authors),
    )
    for names in candidates:
        if found := author(names):
            return found
    return ""


def _said_to_write(metas: dict[str, str], number: str) -> bool:
    label = metas.get(f"twitter:label{number}", "")
    return f"twitter:data{number}" in metas and _WRITTEN_BY.search(label) is not None


def _name(text: str) -> str:
    name = _BY.sub("", " ".join(text[: 2 * _LONGEST].split())).strip(" ,;|·-")
    is_name = name.isprintable() and len(name) <= _LONGEST and any(map(str.isalpha, name)) and not _ADDRESS.search(name)
    return name if is_name else ""


def _names(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict) and isinstance(one.get("name"), str):
            yield one["name"]


def _licence(sources: MetadataSources, metas: dict[str, str], things: list[Thing]) -> str:
    said = [thing.get("license") for thing in things]
    for link in (*sources.licences, *said, *(metas[name] for name in _RIGHTS if name in metas)):
        if isinstance(link, dict):
            link = link.get("url") or link.get("@id")
        if not isinstance(link, str) or len(link) > _URL_LENGTH or not (link := link.strip()).isprintable():
            continue
        if link in sources.licences or link.startswith(("http://", "https://")):
            return link
    return ""
