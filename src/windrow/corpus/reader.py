"""Read a corpus back: the shards of a crawl or of a directory, or one file, as lines or as records."""

import contextlib
import heapq
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.corpus import document, shards
from windrow.data import Document
from windrow.streams import ByteStream

_SUFFIXES = (shards.SUFFIX, ".jsonl", ".jsonl.zst")

Length = Callable[[Path], int | None]  # bytes of a file that its crawl has committed; None: the whole file counts


class ShardFile(msgspec.Struct, frozen=True):
    path: Path
    length: int  # bytes to read
    name: str  # relative to the corpus


def crawl_of(path: Path) -> Path | None:
    """Return the crawl directory that a path is, or lies in."""
    return next((folder for folder in (path, *path.resolve().parents) if (folder / "crawl.toml").is_file()), None)


def find(path: Path, length: Length | None = None) -> list[ShardFile]:
    """Return the shards of a crawl directory or of any other directory, or a single file, in order.

    Without `length`, all bytes of all files count.
    """
    root = path / shards.DIRECTORY if (path / "crawl.toml").is_file() else path
    if not path.exists():
        raise ConfigError(f"{path} does not exist; name a crawl's directory or a file of its corpus")
    if path.is_file():
        return measured([path], path.parent, length)
    files = sorted(
        file
        for suffix in _SUFFIXES
        for file in root.rglob(f"*{suffix}")
        if file.is_file() and not file.name.startswith(".")
    )
    if not files and root != path:
        raise ConfigError(f"{path} has no corpus yet; make it with: windrow crawl {path}")
    if not files:
        expected = " or ".join(_SUFFIXES)
        raise ConfigError(f"{path} is not a crawl's directory and holds no documents ({expected}); name another")
    return measured(files, root, length)


def lines(shard: ShardFile) -> Iterator[tuple[bytes, str, int]]:
    """Yield each line, its place for error messages, and how many bytes of the file were read so far."""
    with contextlib.closing(ByteStream(shard.path, shard.length)) as stream:
        for number, line in enumerate(stream.parts(b""), 1):
            if not line.isspace():
                yield line, f"{shard.path}, line {number}", stream.position


def documents(path: Path, ordered: bool = False, length: Length | None = None) -> Iterator[Document]:
    """Yield every document, shard by shard; `ordered`: in the order of the commits, across languages."""
    found = find(path, length)
    if not ordered:
        yield from _read(found)
        return
    groups = [list(group) for _, group in itertools.groupby(found, lambda shard: shard.path.parent)]
    yield from heapq.merge(*map(_read, groups), key=_order)


def _read(found: Sequence[ShardFile]) -> Iterator[Document]:
    for shard in found:
        for line, place, _ in lines(shard):
            yield document.read(line, place)


def _order(found: Document) -> tuple[str, int, int]:
    """Sort by the archive file's node and number, which rises, then by the offset of the record in it."""
    match = re.fullmatch(r"(?:.*/)?(.*)-\d{14}-(\d+)\.warc\.gz", found.place.file)
    return (match[1], int(match[2]), found.place.offset) if match else (found.place.file, 0, found.place.offset)


def measured(files: Sequence[Path], root: Path, length: Length | None) -> list[ShardFile]:
    """Return files with the bytes that count, without those that have none; refuse one that is too short."""
    found = []
    for file in files:
        size = file.stat().st_size
        counted = length(file) if length else None
        if counted is not None and size < counted:
            raise ConfigError(
                f"{file} is shorter than the {counted} bytes that its crawl committed; restore it from a copy"
            )
        if counted != 0:
            found.append(ShardFile(file, size if counted is None else counted, file.relative_to(root).as_posix()))
    return found
