"""`windrow.documents` and `windrow.captures`: read what crawls have written."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from windrow import archive
from windrow.archive import ArchiveError
from windrow.batch import committed, selection, sources
from windrow.batch.filters import Wanted
from windrow.batch.selection import Selection
from windrow.config import ConfigError
from windrow.data import Capture, Document
from windrow.judge.language import codes

PathText = str | os.PathLike[str]
_SUBSETS = ("warc", "robotstxt", "diagnostics")
_SUFFIXES = (".warc.gz", ".warc")


def documents(
    source: PathText | Iterable[PathText],
    *,
    language: str | Sequence[str] = (),
    tld: str | Sequence[str] = (),
    domain: str | Sequence[str] = (),
    since: str = "",
    until: str = "",
    date_from: str = "",
    date_to: str = "",
    min_score: Mapping[str, float] | None = None,
    max_score: Mapping[str, float] | None = None,
    signal: str | Sequence[str] = (),
    without_signal: str | Sequence[str] = (),
    profile: str = "",
    takedown: PathText | None = None,
) -> Iterator[Document]:
    """Return the documents of a crawl directory, or of files of a corpus, that pass the filters.

    The filters are those of `windrow export`. The takedown list of a crawl holds. Of several crawls, each page is
    returned once: the first crawl wins. Only what the crawl has committed is read, so it may be running.
    """
    wanted = Wanted(
        languages=_several(language),
        tlds=_several(tld),
        domains=_several(domain),
        since=since,
        until=until,
        date_from=date_from,
        date_to=date_to,
        least=_scores(min_score),
        most=_scores(max_score),
        signals=_several(signal),
        without=_several(without_signal),
        profile=profile,
    )
    found = sources.find(_paths(source), [codes.parse(code) for code in wanted.languages])
    listed = selection.listed(found, Path(takedown) if takedown is not None else None)
    return _documents(Selection(found, wanted, listed))


def captures(source: PathText | Iterable[PathText], *, subset: str = "warc") -> Iterator[Capture]:
    """Return the captures of WARC files, in order: of one file, of several, or of a directory.

    `subset`: of a crawl directory: warc (pages), robotstxt, diagnostics (everything else), or "" for all. Of a crawl,
    only what it has committed is read. After damage in a file, Error is raised.
    """
    if subset not in ("", *_SUBSETS):
        raise ConfigError(f"subset={subset!r} is unknown; it must be one of {', '.join(_SUBSETS)}, or '' for all")
    files = [file for path in _paths(source) for file in _archives(path, subset)]
    return _captures(files)


def _documents(found: Selection) -> Iterator[Document]:
    for selected in found.read(lambda count: None):
        yield selected.document
    name = found.filter.unknown()
    if found.documents_in and name:
        known = ", ".join(sorted(found.filter.scores)) or "none"
        raise ConfigError(f"no document has a score {name!r}; the scores are: {known}")


def _captures(files: Sequence[tuple[Path, int | None]]) -> Iterator[Capture]:
    for path, end in files:
        try:
            for stored in archive.read(path, end):
                yield stored.capture
        except ArchiveError as error:
            raise ConfigError(f"{error}; the captures before it are intact") from error


def _archives(path: Path, subset: str) -> list[tuple[Path, int | None]]:
    """Return archive files, each with the length that counts; None: all of it."""
    if path.is_file():
        return [(path, None)]
    if not path.is_dir():
        raise ConfigError(f"{path} does not exist; name a WARC file or a directory")
    if not (path / "crawl.toml").is_file():
        files = sorted(file for file in path.rglob("*") if file.name.endswith(_SUFFIXES))
        if not files:
            raise ConfigError(f"{path} holds no WARC files ({' or '.join(_SUFFIXES)}); name another directory")
        return [(file, None) for file in files]
    lengths = committed.lengths(path)
    if lengths is None:
        raise ConfigError(f"{path} has no log, so nothing is committed yet; run the crawl first: windrow crawl {path}")
    folders = (subset,) if subset else _SUBSETS
    return [
        (path / name, lengths[name]) for folder in folders for name in sorted(lengths) if name.startswith(f"{folder}/")
    ]


def _paths(source: PathText | Iterable[PathText]) -> list[Path]:
    found = [Path(source)] if isinstance(source, str | os.PathLike) else [Path(path) for path in source]
    if not found:
        raise ConfigError("there is nothing to read; name a crawl directory or files")
    return found


def _several(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _scores(given: Mapping[str, float] | None) -> tuple[str, ...]:
    return tuple(f"{name}={value!r}" for name, value in (given or {}).items())
