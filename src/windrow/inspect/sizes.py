"""How much disk, memory and time a crawl needs: from what another crawl took, or from what docs/sizing.md measured."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow import log
from windrow.config import Config, ConfigError
from windrow.inspect import status

NGRAM = 6  # bytes in seen/ngrams.redo
_IN_TABLE = 8.0  # bytes of memory per n-gram, and of the copy of the table in seen/
_DRIVER = 140e6  # bytes of memory without URLs and n-grams
_WORKER = 130e6
_IN_MEMORY = 2.5  # bytes per URL; the store itself is on disk
_SECONDS = {False: (0.35e-3, 0.25e-3), True: (0.7e-3, 1.0e-3)}  # CPU per page of driver and workers, by text or not


class Ratios(msgspec.Struct, frozen=True):
    """What a crawl takes per page, that is per URL that is answered with a 2xx status."""

    pages: int  # of the crawl that was measured; 0: defaults
    requests: float
    urls: float  # admitted, most of which wait
    downloaded: float  # bytes
    ngrams: float  # of the text in the corpus; 0: no text is extracted
    disk: dict[str, float]  # bytes by directory, without seen/


class Needs(msgspec.Struct):
    """What a crawl of so many pages needs, in bytes and seconds."""

    pages: int
    urls: int
    downloaded: int
    disk: dict[str, int]  # by directory
    disk_total: int
    memory: dict[str, int]  # by its use
    memory_total: int
    table_bytes: int  # dedup.table_bytes with which no n-gram is forgotten
    cpu_seconds: int  # of all processes
    seconds: int  # at least: with so many hosts, their delay and these workers


def default(text: bool, urls: float) -> Ratios:
    """Return the ratios of docs/sizing.md: pages of the open web as large as in Common Crawl, all else as measured on
    a web of real pages. urls: admitted per page."""
    requests = 1.5
    entry, admitted, row = (100, 50, 500) if text else (63, 25, 200)
    disk = {"warc": 25e3, "diagnostics": 780.0, "robotstxt": 16.0, "log": entry * requests + admitted * urls}
    disk |= {"corpus": 1500.0} if text else {}
    return Ratios(
        pages=0,
        requests=requests,
        urls=urls,
        downloaded=25e3,
        ngrams=450.0 if text else 0.0,
        disk=disk | {"state": row * urls},
    )


def measured(directories: Sequence[Path]) -> Ratios:
    """Return the ratios of a crawl, from its log and its files; of all its shards together."""
    counts = status.total([status.status(directory) for directory in directories])
    if not counts.pages:
        raise ConfigError("no page of this crawl is committed yet; crawl some thousand pages, or give no directory")
    lengths = dict(counts.bytes)
    ngrams = lengths.pop("seen", 0) / NGRAM
    lengths["log"] = sum(map(log.length, directories))
    lengths["state"] = sum(file.stat().st_size for directory in directories for file in directory.glob("state/*"))
    return Ratios(
        pages=counts.pages,
        requests=counts.requests / counts.pages,
        urls=counts.seen / counts.pages,
        downloaded=counts.downloaded / counts.pages,
        ngrams=ngrams / counts.pages,
        disk={name: length / counts.pages for name, length in lengths.items()},
    )


def needs(ratios: Ratios, pages: int, hosts: int, options: Config) -> Needs:
    """Return what a crawl of so many pages needs. hosts: those that have URLs at the same time, on average."""
    ngrams, text = ratios.ngrams * pages, ratios.ngrams > 0
    table = min(_IN_TABLE * ngrams, options.dedup.table_bytes)
    disk = {name: per_page * pages for name, per_page in ratios.disk.items()}
    disk |= {"seen": NGRAM * ngrams + table} if text else {}
    memory = {"crawl": _DRIVER + _IN_MEMORY * ratios.urls * pages, "workers": _WORKER * options.workers.count}
    memory |= {"n-grams": table} if text else {}
    driver, workers = (seconds * pages for seconds in _SECONDS[text])
    polite = ratios.requests * pages * options.fetch.delay / hosts
    return Needs(
        pages=pages,
        urls=round(ratios.urls * pages),
        downloaded=round(ratios.downloaded * pages),
        disk=_rounded(disk),
        disk_total=round(sum(disk.values())),
        memory=_rounded(memory),
        memory_total=round(sum(memory.values())),
        table_bytes=round(_IN_TABLE * ngrams),
        cpu_seconds=round(driver + workers),
        seconds=round(max(polite, driver, workers / options.workers.count)),
    )


def _rounded(values: dict[str, float]) -> dict[str, int]:
    return {name: round(value) for name, value in values.items()}
