"""Read a corpus back: the shards of a crawl or of a directory, or one file, as lines or as records."""

import contextlib
import heapq
import itertools
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.corpus import document, shards
from windrow.io.storage import AnyPath
from windrow.io.streams import ByteStream
from windrow.records import Document

SUFFIXES = (shards.SUFFIX, ".jsonl", ".jsonl.zst")

Length = Callable[[Path], int | None]  # bytes of a file that its crawl has committed; None: the whole file counts


_MEMBER = b"\x1f\x8b\x08"
_BORDER = re.compile(re.escape(_MEMBER))
_WINDOW = 4 << 20  # bytes in which a whole member is looked for; a commit writes at most some hundred documents


class ShardFile(msgspec.Struct, frozen=True):
    path: Path
    length: int  # bytes to read
    name: str  # relative to the corpus


def crawl_of(path: Path) -> Path | None:
    """Return the crawl directory that a path is, or lies in."""
    return next((folder for folder in (path, *path.resolve().parents) if (folder / "crawl.toml").is_file()), None)


def find(path: Path, length: Length | None = None, may_be_empty: bool = False) -> list[ShardFile]:
    """Return the shards of a crawl directory or of any other directory, or a single file, in order.

    Without `length`, all bytes of all files count. A crawl without documents is refused, unless it may be empty.
    """
    root = path / shards.DIRECTORY if (path / "crawl.toml").is_file() else path
    if not path.exists():
        raise ConfigError(f"{path} does not exist; name a crawl's directory or a file of its corpus")
    if path.is_file():
        return measured([path], path.parent, length)
    files = sorted(
        file
        for suffix in SUFFIXES
        for file in root.rglob(f"*{suffix}")
        if file.is_file() and not file.name.startswith(".")
    )
    if not files and root != path and not may_be_empty:
        raise ConfigError(f"{path} has no corpus yet; make it with: windrow crawl {path}")
    if not files and root == path:
        expected = " or ".join(SUFFIXES)
        raise ConfigError(f"{path} is not a crawl's directory and holds no documents ({expected}); name another")
    return measured(files, root, length)


def lines(shard: ShardFile) -> Iterator[tuple[bytes, str, int]]:
    """Yield each line, its place for error messages, and how many bytes of the file were read so far."""
    return lines_of(shard.path, shard.length)


def lines_of(path: AnyPath, length: int | None = None, start: int = 0) -> Iterator[tuple[bytes, str, int]]:
    """Yield the lines of a file here or elsewhere as `lines` does. `length`: bytes to read; None: all of them.

    `start`: one of the offsets that `cuts` returns.
    """
    location = f"{path}, behind byte {start}" if start else str(path)
    with contextlib.closing(ByteStream(path, length, start)) as stream:
        for number, line in enumerate(stream.parts(b""), 1):
            if not line.isspace():
                yield line, f"{location}, line {number}", stream.position


def cuts(shard: ShardFile, size: int) -> list[int]:
    """Return offsets that cut a shard into parts of about this size, or more: each begins a gzip member and a line.

    A crawl writes one member per commit. A file that is one member, or not gzip, is not cut.
    """
    ends: list[int] = []
    with shard.path.open("rb") as file:
        if file.read(len(_MEMBER)) != _MEMBER:
            return []
        at = size
        while at < shard.length - size // 2:
            file.seek(at)
            window = file.read(min(_WINDOW, shard.length - at))
            starts = (at + match.start() for match in _BORDER.finditer(window) if _begins(window[match.start() :]))
            start = next(starts, 0)
            ends += [start] if start else []
            at = start + size if start else at + max(len(window) // 2, 1)
    return ends


def _begins(data: bytes) -> bool:
    """Return whether bytes begin with a whole gzip member of whole lines; its checksum is verified."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(data)
    except zlib.error:
        return False
    return unpacker.eof and text.startswith(b"{") and text.endswith(b"\n")


def documents(path: Path, ordered: bool = False, length: Length | None = None) -> Iterator[Document]:
    """Yield every document, shard by shard; `ordered`: in the order of the commits, across languages."""
    shards = find(path, length)
    if not ordered:
        yield from _read(shards)
        return
    groups = [list(group) for _, group in itertools.groupby(shards, lambda shard: shard.path.parent)]
    yield from heapq.merge(*map(_read, groups), key=_order)


def _read(shards: Sequence[ShardFile]) -> Iterator[Document]:
    for shard in shards:
        for line, location, _ in lines(shard):
            yield document.read(line, location)


def _order(document: Document) -> tuple[str, int, int]:
    """Sort by the archive file's node and number, which rises, then by the offset of the record in it."""
    match = re.fullmatch(r"(?:.*/)?(.*)-\d{14}-(\d+)\.warc\.gz", document.place.file)
    return (
        (match[1], int(match[2]), document.place.offset) if match else (document.place.file, 0, document.place.offset)
    )


def measured(files: Sequence[Path], root: Path, length: Length | None) -> list[ShardFile]:
    """Return files with the bytes that count, without those that have none; refuse one that is too short."""
    sizes = []
    for file in files:
        size = file.stat().st_size
        counted = length(file) if length else None
        if counted is not None and size < counted:
            raise ConfigError(
                f"{file} is shorter than the {counted} bytes that its crawl committed; restore it from a copy"
            )
        if counted != 0:
            sizes.append(ShardFile(file, size if counted is None else counted, file.relative_to(root).as_posix()))
    return sizes
