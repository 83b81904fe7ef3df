"""The archive files that an index is made of: of a crawl, of a folder, or named one by one."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from windrow import storage
from windrow.archive import names
from windrow.batch import committed
from windrow.config import ConfigError

SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz")
INDEX = "index"  # the directory of the index in that of a crawl


class IndexSource(msgspec.Struct, frozen=True, kw_only=True):
    """An archive file, and what the index says about it."""

    path: str  # absolute
    name: str  # in the index: relative to the base
    length: int  # bytes that count: what is committed
    crawl: str
    subset: str  # in Common Crawl's words
    segment: str


class IndexInput(msgspec.Struct, frozen=True):
    """The archive files to index."""

    base: Path  # the names of the files are relative to it
    sources: tuple[IndexSource, ...]
    crawls: tuple[Path, ...]  # directories of crawls among the inputs: their takedown lists hold


def find(inputs: Sequence[Path], crawl: str = "") -> IndexInput:
    """Return the files of the inputs, in the order of their names. `crawl`: the name of the crawl in the index."""
    found: dict[Path, int] = {}
    crawls = []
    for path in inputs:
        if (path / "crawl.toml").is_file():
            crawls.append(path.absolute())
            found |= _committed(path)
        elif path.is_dir():
            found |= _below(path)
        elif path.is_file():
            found[path.absolute()] = path.stat().st_size
        else:
            raise ConfigError(f"{path}: there is no such file or directory; check the path")
    base = _base(inputs, found)
    if not found:
        place = inputs[0]
        fix = f"make it with: windrow crawl {place}" if crawls else f"WARC files end in {', '.join(SUFFIXES)}"
        raise ConfigError(f"{place} has no archive files; {fix}")
    sources = [_source(path, length, base, crawl) for path, length in sorted(found.items())]
    return IndexInput(base, tuple(sources), tuple(crawls))


def output(inputs: Sequence[Path]) -> Path:
    """Return the directory of the index, if none is named: that of a crawl or folder has room for it."""
    if len(inputs) == 1 and inputs[0].is_dir():
        return inputs[0] / INDEX
    for path in inputs:
        if not path.exists():
            raise ConfigError(f"{path}: there is no such file or directory; check the path")
    raise ConfigError("an index of files needs a directory of its own; name it with -o DIR")


def _committed(directory: Path) -> dict[Path, int]:
    lengths = committed.lengths(directory) or {}
    return {
        directory.absolute() / name: length
        for name, length in lengths.items()
        if length and name.partition("/")[0] in names.SUBSETS
    }


def _below(folder: Path) -> dict[Path, int]:
    return {path.absolute(): path.stat().st_size for path in storage.walk(folder, SUFFIXES)}


def _base(inputs: Sequence[Path], found: Iterable[Path]) -> Path:
    if len(inputs) == 1 and inputs[0].is_dir():
        return inputs[0].absolute()
    return Path(os.path.commonpath([path.parent for path in found] or [Path("/")]))


def _source(path: Path, length: int, base: Path, crawl: str) -> IndexSource:
    name = path.relative_to(base).as_posix()
    known, segment = names.layout(str(path))
    return IndexSource(
        path=str(path),
        name=name,
        length=length,
        crawl=crawl or known or base.name,
        subset=names.published_subset(str(path)),
        segment=segment or names.segment(name),
    )
