"""The whole command: which files are read, and what became of them."""

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from windrow import sharding
from windrow.archive import names
from windrow.config import ConfigError
from windrow.io import storage
from windrow.jobs.derive import job, wet
from windrow.jobs.engine import BadSource, Engine
from windrow.jobs.inputs import archives, committed

_COUNTS = ("records", "wat", "wet", "links", "pages", "left_out", "failed", "bytes")


class DeriveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The wishes of the user."""

    inputs: Sequence[str | Path]  # crawls, directories of archive files, archive files, addresses, lists of these
    output: Path
    wat: bool = False
    wet: str = ""  # "", or one of wet.FORMS
    links: bool = False
    pages: bool = False
    languages: bool = False
    base: str = ""  # where the relative paths of lists begin
    takedown: Path | None = None
    settings: Sequence[str] = ()


class DeriveSummary(msgspec.Struct):
    """The account of all sources."""

    files: int = 0  # sources that were read
    records: int = 0
    wat: int = 0  # records of WAT files
    wet: int = 0
    links: int = 0  # rows
    pages: int = 0
    left_out: int = 0  # records on the takedown list, or purged
    failed: int = 0  # pages whose text could not be extracted, or not in time
    bytes: int = 0  # of all outputs
    damaged: list[BadSource] = []  # sources of which only the intact records were read
    bad: list[BadSource] = []  # sources that could not be read

    def add(self, row: dict[str, Any]) -> None:
        self.files += 1
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + row[name])
        if row["problem"]:
            self.damaged.append(BadSource(row["source"], row["problem"]))


class _Sources(msgspec.Struct):
    paths: list[str] = []
    ends: list[tuple[str, int]] = []  # see DeriveOptions
    crawl: str = ""
    missing: list[BadSource] = []


def check(request: DeriveRequest) -> None:
    """Raise ConfigError for everything that can be wrong before a record is read."""
    if not (request.wat or request.wet or request.links or request.pages):
        raise ConfigError("derive needs to know what to make; name at least one of --wat, --wet, --links and --pages")
    if request.wet and request.wet not in wet.FORMS:
        raise ConfigError(f"there is no text {request.wet!r}; choose one of {', '.join(wet.FORMS)} with --text")
    if request.output.exists() and not request.output.is_dir():
        raise ConfigError(f"{request.output} is a file; name a directory with --output")


def run(request: DeriveRequest, engine: Engine) -> DeriveSummary:
    """Derive from every source; those with a problem are named in the summary."""
    sources = _sources(request.inputs, request.base)
    _check_names(sources.paths)
    options = job.DeriveOptions(
        output=str(request.output),
        wat=request.wat,
        wet=request.wet,
        links=request.links,
        pages=request.pages,
        languages=request.languages,
        crawl=sources.crawl,
        takedown=str(request.takedown) if request.takedown else "",
        settings=tuple(request.settings),
        ends=tuple(sources.ends),
    )
    job.prepare(options)  # an error in the options appears once, before any work
    request.output.mkdir(parents=True, exist_ok=True)
    table = engine.map(sources.paths, functools.partial(job.derive, options), job.SCHEMA)
    summary = DeriveSummary(bad=[*sources.missing, *table.bad])
    for batch in table.batches():
        for row in batch.to_pylist():
            summary.add(row)
    return summary


def _sources(inputs: Sequence[str | Path], base: str) -> _Sources:
    sources = _Sources()
    for given in inputs:
        path = storage.place(str(given))
        if not isinstance(path, Path):
            sources.paths += archives.find([given], base=base)
        elif (path / "crawl.toml").is_file():
            _add_crawl(sources, path)
        elif path.is_dir():
            # Files that were derived before may be in the same directory.
            sources.paths += [one for one in archives.find([path]) if not _is_derived(one)]
        elif path.exists():
            sources.paths += archives.find([path], base=base)
        else:
            sources.missing.append(BadSource(str(path), "there is no such file or directory; check the path"))
    sources.paths = list(dict.fromkeys(sources.paths))
    return sources


def _add_crawl(sources: _Sources, directory: Path) -> None:
    """Add the pages of a crawl, as far as they are committed. As Common Crawl's, derived files are made of the subset
    `warc` alone."""
    if sources.crawl:
        raise ConfigError(f"{sources.crawl} and {directory} are two crawls; derive from one at a time")
    sources.crawl = str(directory)
    before = len(sources.paths)
    for shard in sharding.places(directory):
        lengths = committed.lengths(shard) or {}
        for name in sorted(name for name, length in lengths.items() if name.startswith("warc/") and length):
            path = shard / name
            sources.paths.append(str(path))
            if path.exists() and path.stat().st_size > lengths[name]:
                sources.ends.append((str(path), lengths[name]))
    if len(sources.paths) == before:
        raise ConfigError(f"{directory} has no archive yet; make it with: windrow crawl {directory}")


def _is_derived(path: str) -> bool:
    return not {".wat", ".wet"}.isdisjoint(Path(path).suffixes)


def _check_names(sources: Sequence[str]) -> None:
    """Refuse sources whose outputs would have one name."""
    owners: dict[str, str] = {}
    for path in sources:
        other = owners.setdefault(names.derived(Path(path).name, "links"), path)
        if other != path:
            raise ConfigError(f"{other} and {path} would give files of one name; derive from them one after the other")


def lines(summary: DeriveSummary) -> Iterator[str]:
    """Yield the account for people."""
    made = {"WAT records": summary.wat, "WET records": summary.wet, "links": summary.links, "pages": summary.pages}
    parts = [f"{number:,} {name}" for name, number in made.items() if number]
    yield f"{', '.join(parts) or 'nothing'} from {summary.records:,} records of {summary.files:,} files"
    if summary.left_out:
        yield f"{summary.left_out:,} records left out: purged, or on the takedown list"
    if summary.failed:
        yield f"{summary.failed:,} pages without text: extraction failed, or took longer than workers.seconds"
