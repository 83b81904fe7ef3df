"""`windrow.extract`: the main text of one page."""

import functools
from pathlib import Path

import msgspec

import windrow.extract as stage
from windrow import config, urls
from windrow.api.settings import Settings, overrides
from windrow.batch import extract as choice
from windrow.config import ConfigError
from windrow.data import Capture, Paragraph, Task, Url
from windrow.judge.language import detect, settings
from windrow.judge.language.settings import LanguageSettings

_NOWHERE = "http://page.invalid/"


class ExtractedPage(msgspec.Struct, frozen=True, kw_only=True):
    """The main text of a page. `str(page)` is its text."""

    url: str
    title: str
    author: str
    date: str  # of publication: YYYY-MM-DD; "" if the page states none
    language: str  # of the text, as detected: ISO 639-3; "und" if it cannot be detected
    declared: str  # language, as the page declares it
    licence: str  # URL
    site: str  # name of the site
    description: str
    tags: tuple[str, ...]
    image: str  # URL
    charset: str  # with which the page was decoded
    paragraphs: tuple[Paragraph, ...]  # of the main text
    links: tuple[str, ...]  # canonical URLs, if they were wanted

    @property
    def text(self) -> str:
        """The paragraphs, one per line."""
        return "\n".join([paragraph.text for paragraph in self.paragraphs])

    def __str__(self) -> str:
        return self.text


def extract(
    html: str | bytes,
    url: str = "",
    *,
    charset: str = "",
    language: str = "",
    extractor: str = "",
    links: bool = False,
    settings: Settings | None = None,
) -> ExtractedPage:
    """Return the main text of an HTML page.

    `url`: of the page, to make its links absolute. `charset`: as the server states it, for bytes; without it the page
    is decoded as a browser would. `language`: of the stop list, for the extractor `paragraphs`. `extractor`: blocks,
    paragraphs, lines, or "package.module:name". `settings`: further options, such as {"paragraphs.length_low": 50}.
    """
    if not isinstance(html, str | bytes):
        raise ConfigError(f"extract() takes a page as str or bytes, not {type(html).__name__}; pass its content")
    where = urls.parse(url or _NOWHERE)
    if where is None:
        raise ConfigError(f"url={url!r} is not an http or https URL; write it as https://example.org/page")
    body = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
    read = _extractor(extractor, language, links, tuple(overrides(settings)))
    page = read(_capture(where, body, "utf-8" if isinstance(html, str) else charset))
    paragraphs = tuple(paragraph for paragraph in page.paragraphs if paragraph.kept)
    found = detect.detect([paragraph.text for paragraph in paragraphs], _languages())
    return ExtractedPage(
        url=url and where.text,
        title=page.title,
        author=page.author,
        date=page.date,
        language=found.language,
        declared=page.language,
        licence=page.licence,
        site=page.site,
        description=page.description,
        tags=page.tags,
        image=page.image,
        charset=page.charset,
        paragraphs=paragraphs,
        links=tuple(link.url.text for link in page.links) if links else (),
    )


@functools.lru_cache(16)  # a model is loaded once
def _extractor(name: str, language: str, links: bool, settings: tuple[str, ...]) -> stage.Extractor:
    given = choice.overrides(language, "", "", "", settings)
    most = [] if links else ["extract.max_links=0"]
    options = config.make([*most, f"extract.extractor={choice.chosen(name, given)}", *given], Path())
    return stage.extractor(options)


@functools.cache
def _languages() -> LanguageSettings:
    return settings.prepare(config.LanguageOptions())


def _capture(url: Url, body: bytes, charset: str) -> Capture:
    if not all(character.isalnum() or character in "-_.:+" for character in charset):
        raise ConfigError(f"charset={charset!r} is not the name of an encoding; write a name such as utf-8")
    kind = f"text/html; charset={charset}" if charset else "text/html"
    return Capture(
        task=Task(url),
        status=200,
        request=b"",
        head=f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode("ascii", "replace"),
        body=body,
        time=0.0,
        seconds=0.0,
        ip="",
        protocol="http/1.1",
    )
