"""A corpus read back: the shards of a crawl, of a directory, or one file, as lines or as records."""

import contextlib
import heapq
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.corpus import document, formats, shards
from windrow.data import Document

_SUFFIXES = (shards.SUFFIX, ".jsonl")


class Shard(msgspec.Struct, frozen=True):
    path: Path
    length: int  # bytes that count
    name: str  # relative to the corpus


def home(path: Path) -> Path | None:
    """The crawl's directory that a path is, or lies in."""
    return next((folder for folder in (path, *path.resolve().parents) if (folder / "crawl.toml").is_file()), None)


def find(path: Path, lengths: Mapping[str, int] | None = None) -> list[Shard]:
    """The shards of a crawl's directory, of any other, or a single file, in order.

    `lengths`: what a crawl has committed, by path relative to its directory; whatever it does not name is not yet there.
    """
    root = path / shards.DIRECTORY if (path / "crawl.toml").is_file() else path
    if not path.exists():
        raise ConfigError(f"{path} does not exist; name a crawl's directory or a file of its corpus")
    if path.is_file():
        return _counted([path], path.parent, lengths)
    files = sorted(file for suffix in _SUFFIXES for file in root.rglob(f"*{suffix}") if file.is_file() and not file.name.startswith("."))
    if not files and root != path:
        raise ConfigError(f"{path} has no corpus yet; make it with: windrow crawl {path}")
    if not files:
        raise ConfigError(f"{path} is no crawl's directory, and there are no documents ({' or '.join(_SUFFIXES)}) in it; name another")
    return _counted(files, root, lengths)


def lines(shard: Shard) -> Iterator[tuple[bytes, str, int]]:
    """Each line, its place in words, and how many bytes of the file were read before the next."""
    with contextlib.closing(formats.Stream(shard.path, shard.length)) as stream:
        for number, line in enumerate(stream.parts(b""), 1):
            if not line.isspace():
                yield line, f"{shard.path}, line {number}", stream.position


def documents(path: Path, lengths: Mapping[str, int] | None = None, ordered: bool = False) -> Iterator[Document]:
    """Every document, shard by shard; `ordered`: across languages in the order in which a node committed them."""
    found = find(path, lengths)
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


def _counted(files: Sequence[Path], root: Path, lengths: Mapping[str, int] | None) -> list[Shard]:
    found = [Shard(file, file.stat().st_size, file.relative_to(root).as_posix()) for file in files]
    if lengths is None:
        return found
    counted = [msgspec.structs.replace(shard, length=lengths.get(_committed(shard.path), 0)) for shard in found]
    for shard, whole in zip(counted, found, strict=True):
        if whole.length < shard.length:
            raise ConfigError(f"{shard.path} is shorter than the {shard.length} bytes that its crawl committed; restore it from a copy")
    return [shard for shard in counted if shard.length]


def _committed(path: Path) -> str:
    """The name that a shard has in its crawl's log."""
    return "/".join(path.resolve().parts[-3:])
