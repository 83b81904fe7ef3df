"""`windrow.extract`: the main text of one page."""

import functools
from pathlib import Path

import msgspec

from windrow import config, extraction
from windrow.api.settings import Settings, overrides
from windrow.config import ConfigError
from windrow.corpus.render import html, markdown, subject, tei
from windrow.corpus.render.subject import PageText
from windrow.jobs.extract import choice as choice
from windrow.jobs.inputs import pages
from windrow.judge.language import codes, detect, settings
from windrow.judge.language.settings import LanguageSettings
from windrow.records import Paragraph


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
    doubtful: bool  # whether the page may have no main text: no paragraph is certain to belong to one
    paragraphs: tuple[Paragraph, ...]  # of the main text
    links: tuple[str, ...]  # canonical URLs, if they were wanted

    @property
    def text(self) -> str:
        """The paragraphs, one per line."""
        return "\n".join([paragraph.text for paragraph in self.paragraphs])

    def __str__(self) -> str:
        return self.text

    def markdown(self, *, title: bool = True) -> str:
        """Return the page in Markdown (CommonMark, and the tables of GFM). `title`: with its headline."""
        return markdown.markdown(self._shown(title))

    def html(self, *, title: bool = True) -> str:
        """Return the page as an HTML document of its own, with what is known of it in the head."""
        return html.document(self._shown(title))

    def tei(self, *, title: bool = True) -> str:
        """Return the page as a TEI P5 document."""
        return tei.document(self._shown(title))

    def _shown(self, title: bool) -> PageText:
        page = PageText(
            paragraphs=self.paragraphs,
            url=self.url,
            title=self.title,
            author=self.author,
            date=self.date,
            site=self.site,
            description=self.description,
            tags=self.tags,
            image=self.image,
            language=self.declared or codes.short(self.language),
            licence=self.licence,
        )
        return subject.headed(page) if title else subject.headless(page)


def extract(
    html: str | bytes,
    url: str = "",
    *,
    charset: str = "",
    language: str = "",
    extractor: str = "",
    links: bool = False,
    marks: bool = False,
    settings: Settings | None = None,
) -> ExtractedPage:
    """Return the main text of an HTML page.

    `url`: of the page, to make its links absolute. `charset`: as the server states it, for bytes; without it the page
    is decoded as a browser would. `language`: of the stop list, for the extractor `paragraphs`. `extractor`: blocks,
    paragraphs, lines, or "package.module:name". `links`: fill `page.links` with those of the whole page. `marks`: keep
    links and emphasis within paragraphs, which `page.markdown()` and its like then show. `settings`: further options,
    such as {"paragraphs.length_low": 50}.
    """
    if not isinstance(html, str | bytes):
        raise ConfigError(f"extract() takes a page as str or bytes, not {type(html).__name__}; pass its content")
    where = pages.parsed(url)
    if not all(character.isalnum() or character in "-_.:+" for character in charset):
        raise ConfigError(f"charset={charset!r} is not the name of an encoding; write a name such as utf-8")
    body = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
    wanted = pages.marks(marks)
    read = _extractor(extractor, language, links, (*wanted, *overrides(settings)))
    page = read(pages.of_html(where, body, "utf-8" if isinstance(html, str) else charset))
    page = page if where else pages.relative(page)
    paragraphs = subject.kept(page.paragraphs)
    found = detect.detect([paragraph.text for paragraph in paragraphs], _languages())
    return ExtractedPage(
        url=where.text if where else "",
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
        doubtful=page.doubtful,
        paragraphs=paragraphs,
        links=tuple(link.url.text for link in page.links) if links else (),
    )


@functools.lru_cache(16)  # a model is loaded once
def _extractor(name: str, language: str, links: bool, settings: tuple[str, ...]) -> extraction.Extractor:
    given = choice.overrides(language, "", "", "", settings)
    most = [] if links else ["extract.max_links=0"]
    options = config.make([*most, f"extract.extractor={choice.chosen(name, given)}", *given], Path())
    return extraction.extractor(options)


@functools.cache
def _languages() -> LanguageSettings:
    return settings.prepare(config.LanguageOptions())
