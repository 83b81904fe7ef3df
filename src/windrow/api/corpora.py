"""`windrow.documents`, `export` and `captures`: read what crawls have written."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from windrow import archive, sharding
from windrow.archive import ArchiveError
from windrow.config import ConfigError
from windrow.jobs.export import write as exports
from windrow.jobs.export.write import ExportSummary as ExportSummary
from windrow.jobs.inputs import committed, selection, sources
from windrow.jobs.inputs.filters import Wanted
from windrow.jobs.inputs.selection import Selection
from windrow.judge.language import codes
from windrow.records import Capture, Document

PathText = str | os.PathLike[str]
_SUBSETS = ("warc", "robotstxt", "diagnostics")
_SUFFIXES = (".warc.gz", ".warc.zst", ".warc")


class Filters(TypedDict, total=False):
    """The filters of `windrow export`. A document passes all of them; of a list, one value is enough."""

    language: str | Sequence[str]  # codes or English names
    tld: str | Sequence[str]
    domain: str | Sequence[str]  # with all hosts below it
    since: str  # time of the request: "2026", "2026-11", "2026-11-15", "2026-11-15T10:44"
    until: str
    date_from: str  # date of publication
    date_to: str
    min_score: Mapping[str, float]
    max_score: Mapping[str, float]
    signal: str | Sequence[str]  # "license", "train-ai=n"
    without_signal: str | Sequence[str]
    profile: str  # of [signals]


def documents(
    source: PathText | Iterable[PathText], *, takedown: PathText | None = None, **filters: Unpack[Filters]
) -> Iterator[Document]:
    """Return the documents of a crawl directory, or of files of a corpus, that pass the filters.

    Filters: language, tld, domain, since, until, date_from, date_to, min_score, max_score, signal, without_signal and
    profile, as in `windrow export`. The takedown list of a crawl holds; `takedown` names another one. Of several
    crawls, each page is returned once: the first crawl wins. Only what the crawl has committed is read, so it may be
    running.
    """
    wanted = _wanted(filters)
    found = sources.find(_paths(source), [codes.parse(code) for code in wanted.languages])
    listed = selection.listed(found, Path(takedown) if takedown is not None else None)
    return _documents(Selection(found, wanted, listed))


def export(
    source: PathText | Iterable[PathText],
    output: PathText,
    format: str = "parquet",
    *,
    style: str = "both",
    by: str = "",
    takedown: PathText | None = None,
    force: bool = False,
    **filters: Unpack[Filters],
) -> ExportSummary:
    """Write the documents that pass the filters in a format of other programs, as `windrow export` does.

    `output`: a file, or a directory, which gets a dataset card. `format`: jsonl, prevertical, vertical, parquet, text,
    markdown, or your own as "package.module:name". `style`: the members of jsonl. `by`: one file per tld, language or
    domain. `force`: replace an earlier export. The filters are those of `documents`.
    """
    options = exports.ExportOptions(
        inputs=_paths(source),
        output=Path(output),
        format=format,
        wanted=_wanted(filters),
        style=style,
        by=by,
        takedown=Path(takedown) if takedown is not None else None,
        force=force,
    )
    exports.check(options)
    return exports.run(options, exports.find(options), lambda count: None)


def captures(source: PathText | Iterable[PathText], *, subset: str = "warc") -> Iterator[Capture]:
    """Return the captures of WARC files, in order: of one file, of several, or of a directory.

    `subset`: of a crawl directory: warc (pages), robotstxt, diagnostics (everything else), or "" for all. Of a crawl,
    only what it has committed is read. After damage in a file, Error is raised.
    """
    if subset not in ("", *_SUBSETS):
        raise ConfigError(f"subset={subset!r} is unknown; it must be one of {', '.join(_SUBSETS)}, or '' for all")
    files = [file for path in _paths(source) for file in _archives(path, subset)]
    return _captures(files)


def _wanted(filters: Filters) -> Wanted:
    unknown = next((name for name in filters if name not in Filters.__annotations__), "")
    if unknown:
        known = ", ".join(Filters.__annotations__)
        raise ConfigError(f"there is no filter {unknown!r}; the filters are {known}")
    return Wanted(
        languages=_several(filters.get("language", ())),
        tlds=_several(filters.get("tld", ())),
        domains=_several(filters.get("domain", ())),
        since=filters.get("since", ""),
        until=filters.get("until", ""),
        date_from=filters.get("date_from", ""),
        date_to=filters.get("date_to", ""),
        least=_scores(filters.get("min_score", {})),
        most=_scores(filters.get("max_score", {})),
        signals=_several(filters.get("signal", ())),
        without=_several(filters.get("without_signal", ())),
        profile=filters.get("profile", ""),
    )


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
    return [place for path in found for place in sharding.places(path)]


def _several(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _scores(given: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(f"{name}={value!r}" for name, value in given.items())
