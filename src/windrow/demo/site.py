"""Make the pages of the demo web from the Declaration, and list which of them a crawl must and must not request."""

import functools
import gzip
import html
import re
from typing import NamedTuple

from windrow.demo import declaration
from windrow.demo.server import DemoRequest, Reply

LIBRARY = "library.demo.test"
CALENDAR = "calendar.demo.test"
ORIGINAL, MIRROR = "thuvien.demo.test", "mirror.demo.test"
HOME = {  # language -> host, one article per page
    "en": LIBRARY,
    "de": "bibliothek.demo.test",
    "ru": "bibliothek.demo.test",
    "fr": "bibliotheque.demo.test",
    "es": "bibliotheque.demo.test",
    "cs": "knihovna.demo.test",
    "pl": "knihovna.demo.test",
    "fi": "kirjasto.demo.test",
    "tr": "kirjasto.demo.test",
    "vi": ORIGINAL,
}
WHOLE = ("ja", "ar")  # the whole text on one page of the library
CHARSETS = {"de": "iso-8859-1", "ja": "shift_jis"}  # all others UTF-8
UNDECLARED = ("ja",)  # the charset is only in a meta element, not in the header
COMPRESSED = "bibliotheque.demo.test"
HOSTS = (*dict.fromkeys(HOME.values()), MIRROR, CALENDAR)

ROBOTS = {
    LIBRARY: f"User-agent: *\nDisallow: /private/\n\nSitemap: http://{LIBRARY}/sitemap.xml\n",
    COMPRESSED: "User-agent: *\nDisallow: /*/draft\n",
}  # the other hosts have none
REDIRECTS = {"/universal": "/old/declaration", "/old/declaration": "/en/"}  # in the library
FLAKY = f"http://{LIBRARY}/news.html"  # answers its first request with 503
_MONTH = re.compile(r"/(\d{4})/(\d{2})")
_SESSION = re.compile(r"[;?].*")


class Resource(NamedTuple):
    body: bytes
    content_type: str = "text/html; charset=utf-8"


class Site(NamedTuple):
    resources: dict[str, Resource]  # by URL
    pages: frozenset[str]  # URLs that a crawl from the seed must archive, each once
    disallowed: frozenset[str]  # URLs that exist and must not be requested


def build() -> Site:
    pages = _library()
    for language, host in HOME.items():
        pages |= _articles(language, host)
    pages |= {url.replace(ORIGINAL, MIRROR): resource for url, resource in pages.items() if f"//{ORIGINAL}/" in url}
    pages[f"http://{CALENDAR}/"] = _calendar("2026", "01")
    hidden = {
        f"http://{LIBRARY}/private/notes.html": _note("Notes"),
        f"http://{COMPRESSED}/fr/draft.html": _note("Brouillon"),
    }
    sitemap = {f"http://{LIBRARY}/sitemap.xml": _sitemap(sorted(url for url in pages if f"//{LIBRARY}/" in url))}
    return Site(pages | hidden | sitemap, frozenset(pages), frozenset(hidden))


def answer(site: Site, earlier: int, request: DemoRequest) -> Reply:
    """Return the reply to a request; `earlier` counts the earlier requests for the same path."""
    url = f"http://{request.host}{_SESSION.sub('', request.path)}"
    if request.path == "/robots.txt" and request.host in ROBOTS:
        return Reply(200, (("Content-Type", "text/plain"),), ROBOTS[request.host].encode())
    if url == FLAKY and not earlier:
        return _page(503, "Try again")
    if request.host == LIBRARY and request.path in REDIRECTS:
        return Reply(301, (("Location", REDIRECTS[request.path]),))
    resource = site.resources.get(url)
    if resource is None and request.host == CALENDAR and (month := _MONTH.fullmatch(request.path)):
        resource = _calendar(*month.groups())
    if resource is None:
        return _page(404, "Not found")
    return _send(resource, request.host == COMPRESSED and "gzip" in request.header("accept-encoding"))


def _send(resource: Resource, compress: bool) -> Reply:
    headers: tuple[tuple[str, str], ...] = (("Content-Type", resource.content_type),)
    if not compress:
        return Reply(200, headers, resource.body)
    return Reply(200, (*headers, ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")), _compress(resource.body))


@functools.cache
def _compress(body: bytes) -> bytes:
    return gzip.compress(body, 6, mtime=0)


def _page(status: int, title: str) -> Reply:
    resource = _note(title)
    return Reply(status, (("Content-Type", resource.content_type),), resource.body)


def _library() -> dict[str, Resource]:
    languages = "".join(
        f'<li><a href="{_home(code)}">{html.escape(declaration.load(code).title)}</a></li>' for code in HOME
    )
    whole = "".join(
        f'<li><a href="/whole/{code}.html">{html.escape(declaration.load(code).title)}</a></li>' for code in WHOLE
    )
    portal = f"""<h1>A library of rights</h1>
<p>One text, twelve languages: the Universal Declaration of Human Rights, article by article.</p>
<ul>{languages}</ul><p>On one page:</p><ul>{whole}</ul>
<p><a href="/about.html?PHPSESSID=0123456789abcdef0123456789abcdef">About</a> · <a href="news.html">News</a> ·
<a href="/universal">The Declaration</a> · <a href="/lost.html">A lost page</a> ·
<a href="/private/notes.html">Notes</a> · <a href="//{MIRROR}/vi/">A mirror</a> ·
<a href="http://{CALENDAR}/">Calendar</a> · <a href="mailto:reader@{LIBRARY}">Write to us</a></p>"""
    about = """<h1>About this library</h1>
<p>The General Assembly of the United Nations proclaimed the Declaration in Paris on 10 December 1948. This library is a
small web that is served on your own machine, for trying out a crawler.</p>
<p><a href="/about.html;jsessionid=7F000001">This page again</a></p>"""
    news = '<h1>News</h1><p>This page fails at its first request.</p><p><a href="./">Back</a></p>'
    pages = {"": portal, "about.html": about, "news.html": news}
    resources = {
        f"http://{LIBRARY}/{path}": _resource("en", "A library of rights", body) for path, body in pages.items()
    }
    return resources | {f"http://{LIBRARY}/whole/{code}.html": _whole(code) for code in WHOLE}


def _articles(language: str, host: str) -> dict[str, Resource]:
    """Make an index and one page per section of the Declaration."""
    text = declaration.load(language)
    entries = "".join(
        f'<li><a href="{_name(i)}">{html.escape(section.heading)}</a></li>' for i, section in enumerate(text.sections)
    )
    draft = '<p><a href="draft.html">…</a></p>' if language == "fr" else ""
    index = f"<h1>{html.escape(text.title)}</h1><ol>{entries}</ol>{draft}{_switch(language, '')}"
    resources = {f"http://{host}/{language}/": _resource(language, text.title, index)}
    for i, section in enumerate(text.sections):
        title = f"{section.heading} – {text.title}"
        resources[f"http://{host}/{language}/{_name(i)}"] = _resource(language, title, _article(text, i))
    return resources


def _article(text: declaration.Declaration, number: int) -> str:
    section = text.sections[number]
    beside = [
        (number + step, arrow) for step, arrow in ((-1, "←"), (1, "→")) if 0 <= number + step < len(text.sections)
    ]
    links = " ".join(
        f'<a href="{_name(i)}" rel="{"prev" if arrow == "←" else "next"}">{arrow}</a>' for i, arrow in beside
    )
    body = "".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in section.paragraphs)
    up = f'<a href="./">{html.escape(text.title)}</a>'
    return f"<h1>{html.escape(section.heading)}</h1>{body}<p>{links} {up}</p>{_switch(text.language, _name(number))}"


def _whole(language: str) -> Resource:
    text = declaration.load(language)
    sections = (
        f"<h2>{html.escape(heading)}</h2>" + "".join(f"<p>{html.escape(p)}</p>" for p in body)
        for heading, body in text.sections
    )
    return _resource(language, text.title, f"<h1>{html.escape(text.title)}</h1>" + "".join(sections))


def _switch(language: str, name: str) -> str:
    """Return links to the same page in the other languages."""
    links = " · ".join(
        f'<a href="{_home(code)}{name}" hreflang="{code}">{code}</a>' for code in HOME if code != language
    )
    return f'<nav class="languages">{links}</nav>'


def _home(language: str) -> str:
    return f"http://{HOME[language]}/{language}/"


def _name(number: int) -> str:
    return f"article-{number}.html" if number else "preamble.html"


def _calendar(year: str, month: str) -> Resource:
    """Make the page of a month, which always links to the next month: a crawler trap."""
    now = int(year) * 12 + int(month) - 1
    near = [(now + step, mark) for step, mark in ((-1, "←"), (1, "→"))]
    links = " ".join(f'<a href="/{then // 12:04}/{then % 12 + 1:02}">{mark}</a>' for then, mark in near)
    days = " ".join(str(day) for day in range(1, 29))
    return _resource(
        "en",
        "Calendar",
        f"<h1>Calendar {year}-{month}</h1><p>{days}</p><p>Nothing happens this month.</p><p>{links}</p>",
    )


def _note(title: str) -> Resource:
    return _resource("en", title, f"<h1>{title}</h1>")


def _resource(language: str, title: str, body: str) -> Resource:
    """Make a whole page around a body. Letters that its charset lacks become character references."""
    charset = CHARSETS.get(language, "utf-8")
    meta = f'<meta charset="{charset}">' if language in UNDECLARED else ""
    direction = ' dir="rtl"' if language == "ar" else ""
    text = f"""<!DOCTYPE html>
<html lang="{language}"{direction}><head>{meta}<title>{html.escape(title)}</title></head>
<body><header><a href="http://{LIBRARY}/">Library</a> <a href="http://{LIBRARY}/about.html">About</a></header>
<main>{body}</main>
<footer>Universal Declaration of Human Rights, United Nations, 1948</footer></body></html>
"""
    content_type = "text/html" if language in UNDECLARED else f"text/html; charset={charset}"
    return Resource(text.encode(charset, "xmlcharrefreplace"), content_type)


def _sitemap(urls: list[str]) -> Resource:
    rows = "".join(f"<url><loc>{html.escape(url)}</loc></url>\n" for url in urls)
    opening = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n{opening}\n{rows}</urlset>\n'
    return Resource(text.encode(), "application/xml")
