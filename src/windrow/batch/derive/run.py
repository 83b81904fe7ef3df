"""The whole command: which files are read, on which engine, and what became of them."""

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow.batch import committed, engine
from windrow.batch.derive import wet
from windrow.batch.engine import BadSource, MapProgress
from windrow.config import ConfigError

_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz")
_WORK = ".derive"  # unfinished work, in the output directory


class DeriveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants."""

    inputs: tuple[Path, ...]  # crawl directories, folders of archive files, archive files
    output: Path
    wat: bool = False
    wet: str = ""
    links: bool = False
    pages: bool = False
    takedown: Path | None = None
    settings: tuple[str, ...] = ()
    engine: str = "local"
    workers: int = 0  # 0: one per core


class DeriveSummary(msgspec.Struct):
    """What was made."""

    files: int = 0  # sources
    records: int = 0
    wat: int = 0
    wet: int = 0
    links: int = 0
    pages: int = 0
    left_out: int = 0
    failed: int = 0
    bytes: int = 0
    problems: list[BadSource] = []  # sources that could not be read, or only in part

    def add(self, row: dict[str, object]) -> None:
        self.files += 1
        for name in ("records", "wat", "wet", "links", "pages", "left_out", "failed", "bytes"):
            setattr(self, name, getattr(self, name) + row[name])
        if row["problem"]:
            self.problems.append(BadSource(str(row["source"]), str(row["problem"])))


class _Found(msgspec.Struct):
    sources: list[Path] = []
    ends: list[tuple[str, int]] = []
    crawl: str = ""
    missing: list[BadSource] = []


def check(request: DeriveRequest) -> None:
    """Raise ConfigError for everything that can be wrong before a record is read."""
    if not (request.wat or request.wet or request.links or request.pages):
        raise ConfigError("derive needs to know what to make; name at least one of --wat, --wet, --links and --pages")
    if request.wet and request.wet not in wet.FORMS:
        raise ConfigError(f"--text {request.wet!r} is unknown; choose one of {', '.join(wet.FORMS)}")
    if request.output.exists() and not request.output.is_dir():
        raise ConfigError(f"{request.output} is a file; name a directory with --output")


def run(request: DeriveRequest, watch: Callable[[MapProgress], None]) -> DeriveSummary:
    """Derive from every source; those with a problem are named in the summary."""
    check(request)
    found = _found(request.inputs)
    _check_names(found.sources)
    work = request.output / _WORK
    # The engine says what is missing before a job is imported that needs its libraries.
    with engine.open(request.engine, work=work, workers=request.workers, watch=watch) as opened:
        from windrow.batch.derive import job

        options = job.DeriveOptions(
            output=str(request.output),
            wat=request.wat,
            wet=request.wet,
            links=request.links,
            pages=request.pages,
            crawl=found.crawl,
            takedown=str(request.takedown) if request.takedown else "",
            settings=request.settings,
            ends=tuple(found.ends),
        )
        if request.wet == "main":
            wet.kept_text(options.crawl, options.settings)  # an error in the options appears once, before any work
        table = opened.map([str(path) for path in found.sources], functools.partial(job.derive, options), job.SCHEMA)
        summary = DeriveSummary(problems=[*found.missing, *table.bad])
        for batch in table.batches():
            for row in batch.to_pylist():
                summary.add(row)
    return summary


def _found(inputs: Sequence[Path]) -> _Found:
    found = _Found()
    for path in inputs:
        if (path / "crawl.toml").is_file():
            _add_crawl(found, path)
        elif path.is_dir():
            _add_folder(found, path)
        elif path.exists():
            found.sources.append(path)
        else:
            found.missing.append(BadSource(str(path), "there is no such file or directory; check the path"))
    found.sources = list(dict.fromkeys(found.sources))
    if not found.sources and not found.missing:
        raise ConfigError("no archive file is named; name a crawl's directory, or archive files")
    return found


def _add_crawl(found: _Found, directory: Path) -> None:
    """Add the pages of a crawl, as far as they are committed. Derived files are made of its subset `warc` alone, as
    Common Crawl's are."""
    if found.crawl:
        raise ConfigError(f"{found.crawl} and {directory} are two crawls; derive from one at a time")
    found.crawl = str(directory)
    lengths = committed.lengths(directory) or {}
    wanted = sorted(name for name, length in lengths.items() if name.startswith("warc/") and length)
    if not wanted:
        raise ConfigError(f"{directory} has no archive yet; make it with: windrow crawl {directory}")
    for name in wanted:
        path = directory / name
        found.sources.append(path)
        if path.exists() and path.stat().st_size > lengths[name]:
            found.ends.append((str(path), lengths[name]))


def _add_folder(found: _Found, folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.name.lower().endswith(_SUFFIXES) and path.is_file())
    if not files:
        raise ConfigError(f"{folder} has no archive file ({', '.join(_SUFFIXES)}); name the files themselves")
    found.sources += files


def _check_names(sources: Sequence[Path]) -> None:
    """Refuse sources whose outputs would have one name."""
    known: dict[str, Path] = {}
    for path in sources:
        other = known.setdefault(path.name.partition(".")[0], path)
        if other != path and _same(other, path):
            raise ConfigError(f"{other} and {path} would give files of one name; derive from them one after the other")


def _same(one: Path, other: Path) -> bool:
    from windrow.archive import names

    return names.derived(one.name, "links") == names.derived(other.name, "links")


def lines(summary: DeriveSummary) -> Iterator[str]:
    """Yield the account for people."""
    parts = [
        f"{number:,} {name}"
        for number, name in (
            (summary.wat, "WAT records"),
            (summary.wet, "WET records"),
            (summary.links, "links"),
            (summary.pages, "pages"),
        )
        if number
    ]
    yield f"{', '.join(parts) or 'nothing'} from {summary.records:,} records of {summary.files:,} files"
    if summary.left_out:
        yield f"{summary.left_out:,} records left out: purged, or on the takedown list"
    if summary.failed:
        yield f"{summary.failed:,} pages without text: extraction took longer than workers.seconds"
