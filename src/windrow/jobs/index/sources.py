"""The archive files that an index is made of: of a crawl, of a folder, or named one by one."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from windrow import sharding
from windrow.archive import names
from windrow.config import ConfigError
from windrow.io import storage
from windrow.io.storage import AnyPath
from windrow.jobs.inputs import archives, committed

SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz")
INDEX = "index"  # the directory of the index in that of a crawl


class IndexSource(msgspec.Struct, frozen=True, kw_only=True):
    """An archive file, and what the index says about it."""

    path: str  # absolute, or an address
    name: str  # in the index: relative to the base
    length: int  # bytes that count: what is committed; -1: the address does not answer
    crawl: str
    subset: str  # in Common Crawl's words
    segment: str


class IndexInput(msgspec.Struct, frozen=True):
    """The archive files to index."""

    base: AnyPath  # the names of the files are relative to it
    sources: tuple[IndexSource, ...]
    crawls: tuple[Path, ...]  # directories of crawls among the inputs: their takedown lists hold


def find(inputs: Sequence[str | Path], crawl: str = "", start: str = "") -> IndexInput:
    """Return the files of the inputs, in the order of their names.

    `crawl`: the name of the crawl in the index. `start`: where the relative paths of lists begin.
    """
    sizes: dict[AnyPath, int] = {}
    crawls = []
    for given in inputs:
        path = storage.place(str(given))
        if isinstance(path, Path) and (path / "crawl.toml").is_file():
            for part in sharding.places(path):
                crawls.append(part.absolute())
                sizes |= _committed(part)
        elif isinstance(path, Path) and path.is_dir():
            sizes |= _below(path)
        else:
            sizes |= _named(path, start)
    base = _base(inputs, sizes)
    if not sizes:
        first = inputs[0]
        fix = f"make it with: windrow crawl {first}" if crawls else f"WARC files end in {', '.join(SUFFIXES)}"
        raise ConfigError(f"{first} has no archive files; {fix}")
    sources = [_source(path, sizes[path], base, crawl) for path in sorted(sizes, key=str)]
    return IndexInput(base, tuple(sources), tuple(crawls))


def output(inputs: Sequence[str | Path]) -> Path:
    """Return the directory of the index, if none is named: that of a crawl or folder has room for it."""
    if len(inputs) == 1 and Path(inputs[0]).is_dir():
        return Path(inputs[0]) / INDEX
    for given in inputs:
        if not storage.is_remote(str(given)) and not Path(given).exists():
            raise ConfigError(f"{given}: there is no such file or directory; check the path")
    raise ConfigError("an index of files needs a directory of its own; name it with -o DIR")


def _named(path: AnyPath, start: str) -> dict[AnyPath, int]:
    """Return a file, those of a list, or those of a remote folder."""
    if isinstance(path, Path) and not path.exists():
        raise ConfigError(f"{path}: there is no such file or directory; check the path")
    paths = [storage.place(name).absolute() for name in archives.find([str(path)], base=start)]
    return {file: storage.state(str(file))[0] for file in paths}


def _committed(directory: Path) -> dict[AnyPath, int]:
    lengths = committed.lengths(directory) or {}
    return {
        directory.absolute() / name: length
        for name, length in lengths.items()
        if length and name.partition("/")[0] in names.SUBSETS
    }


def _below(folder: Path) -> dict[AnyPath, int]:
    return {path.absolute(): path.stat().st_size for path in storage.walk(folder, SUFFIXES)}


def _base(inputs: Sequence[str | Path], paths: Iterable[AnyPath]) -> AnyPath:
    if len(inputs) == 1 and Path(inputs[0]).is_dir():
        return Path(inputs[0]).absolute()
    places = list(map(str, paths))
    kinds = {storage.scheme(path) for path in places}
    if len(kinds) > 1:
        first, other = (next(path for path in places if storage.scheme(path) == kind) for kind in sorted(kinds)[:2])
        raise ConfigError(f"{first} and {other} have no common beginning; index them into two directories")
    if kinds <= {""}:
        return Path(os.path.commonpath([Path(path).parent for path in places] or [Path("/")]))
    # Of files in the layout of Common Crawl, the names in the index are those that its own index has.
    bare = [path.partition("://")[2] for path in places]
    starts = [
        first.partition("/crawl-data/")[0] if "/crawl-data/" in first else first.rpartition("/")[0] for first in bare
    ]
    return storage.place(f"{kinds.pop()}://{os.path.commonpath(starts)}")


def _source(path: AnyPath, length: int, base: AnyPath, crawl: str) -> IndexSource:
    name = path.as_posix().removeprefix(base.as_posix()).lstrip("/")
    known, segment = names.layout(str(path))
    return IndexSource(
        path=str(path),
        name=name,
        length=length,
        crawl=crawl or known or base.name,
        subset=names.published_subset(str(path)),
        segment=segment or names.segment(name),
    )
