"""The main text of every page of a crawl, kept or not, in the order in which the crawl committed them."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from windrow import log, takedown
from windrow.config import Config, ConfigError
from windrow.dedup import ngrams
from windrow.extraction import readers
from windrow.jobs.inputs import committed
from windrow.jobs.rebuild import captured
from windrow.records import KEPT_KINDS, Report


class CrawledText(msgspec.Struct, frozen=True):
    """The main text of a page."""

    texts: list[str]  # paragraphs
    language: str  # of the page, as the crawl detected it
    tokens: int
    kept: int  # tokens of it in the corpus


def read(directory: Path, options: Config) -> Iterator[CrawledText]:
    """Yield the pages with text. Pages on the takedown list, and those purged, are left out."""
    if not log.names(directory / "log"):
        raise ConfigError(f"{directory} holds no crawl: there is no log in it; check the path")
    if options.extract.extractor == "none":
        raise ConfigError(f'{directory} extracts no text: extract.extractor is "none"; evaluate a crawl with text')
    table = readers.table(options)
    listed, purged = takedown.of(directory), log.purged(directory / "log")
    for frame in committed.frames(directory / "log"):
        for report in [entry.report for entry in frame.entries]:
            if report.place is None or not captured.is_page(report):
                continue
            if captured.is_purged(report, frame.number, purged) or listed.covers(report.task.url.text):
                continue
            page = table.page(captured.read(directory, report.place).capture)
            texts = [paragraph.text for paragraph in page.paragraphs if paragraph.kind in KEPT_KINDS]
            if texts:
                yield CrawledText(texts, _language(report), ngrams.words(texts), report.tokens)


def _language(report: Report) -> str:
    return report.page_language or report.language
