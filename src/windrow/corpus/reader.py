"""A corpus read back: the shards of a crawl, of a directory, or one file, as lines or as records."""

import contextlib
import heapq
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.corpus import document, formats, shards
from windrow.data import Document

_SUFFIXES = (shards.SUFFIX, ".jsonl")

Length = Callable[[Path], int | None]  # bytes of a file that count, because its crawl has committed them; None: all


class Shard(msgspec.Struct, frozen=True):
    path: Path
    length: int  # bytes that count
    name: str  # relative to the corpus


def home(path: Path) -> Path | None:
    """The crawl's directory that a path is, or lies in."""
    return next((folder for folder in (path, *path.resolve().parents) if (folder / "crawl.toml").is_file()), None)


def find(path: Path, length: Length | None = None) -> list[Shard]:
    """The shards of a crawl's directory, of any other, or a single file, in order. Without `length` all bytes of all files count."""
    root = path / shards.DIRECTORY if (path / "crawl.toml").is_file() else path
    if not path.exists():
        raise ConfigError(f"{path} does not exist; name a crawl's directory or a file of its corpus")
    if path.is_file():
        return _counted([path], path.parent, length)
    files = sorted(
        file
        for suffix in _SUFFIXES
        for file in root.rglob(f"*{suffix}")
        if file.is_file() and not file.name.startswith(".")
    )
    if not files and root != path:
        raise ConfigError(f"{path} has no corpus yet; make it with: windrow crawl {path}")
    if not files:
        raise ConfigError(
            f"{path} is no crawl's directory, and there are no documents ({' or '.join(_SUFFIXES)}) in it; name another"
        )
    return _counted(files, root, length)


def lines(shard: Shard) -> Iterator[tuple[bytes, str, int]]:
    """Each line, its place in words, and how many bytes of the file were read before the next."""
    with contextlib.closing(formats.Stream(shard.path, shard.length)) as stream:
        for number, line in enumerate(stream.parts(b""), 1):
            if not line.isspace():
                yield line, f"{shard.path}, line {number}", stream.position


def documents(path: Path, ordered: bool = False, length: Length | None = None) -> Iterator[Document]:
    """Every document, shard by shard; `ordered`: across languages in the order in which a node committed them."""
    found = find(path, length)
    if not ordered:
        yield from _read(found)
        return
    groups = [list(group) for _, group in itertools.groupby(found, lambda shard: shard.path.parent)]
    yield from heapq.merge(*map(_read, groups), key=_order)


def _read(found: Sequence[Shard]) -> Iterator[Document]:
    for shard in found:
        for line, place, _ in lines(shard):
            yield document.read(line, place)


def _order(found: Document) -> tuple[str, int, int]:
    """Archive files have a node's name and a number that rises; within one, a later record lies further behind."""
    match = re.fullmatch(r"(?:.*/)?(.*)-\d{14}-(\d+)\.warc\.gz", found.place.file)
    return (match[1], int(match[2]), found.place.offset) if match else (found.place.file, 0, found.place.offset)


def _counted(files: Sequence[Path], root: Path, length: Length | None) -> list[Shard]:
    found = []
    for file in files:
        size = file.stat().st_size
        counted = length(file) if length else None
        if counted is not None and size < counted:
            raise ConfigError(
                f"{file} is shorter than the {counted} bytes that its crawl committed; restore it from a copy"
            )
        if counted != 0:
            found.append(Shard(file, size if counted is None else counted, file.relative_to(root).as_posix()))
    return found
