"""Read the files of a log: whole frames from a position, raw lines, frames behind damage."""

import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from isal import igzip_lib

from windrow.config import ConfigError
from windrow.log import format
from windrow.log.format import Head
from windrow.records import Frame

_MERGED = "merge.json"  # of the output of `windrow merge`
_MAGIC = b"\x1f\x8b\x08"  # of a gzip member
_Damage = cast(type[Exception], igzip_lib.IsalError)  # its stub says it is an exception, not a class of them

Position = tuple[str, int]  # file name, offset


def home(directory: Path) -> Path:
    """Return where a crawl has its log. A crawl that has not begun, or died before its first commit, has none yet."""
    if (directory / _MERGED).is_file():
        problem = f"{directory} is a merged corpus, which has no log"
        raise ConfigError(f"{problem}; name one of its shards, which its {_MERGED} lists")
    if not (directory / "log").is_dir() and not (directory / "crawl.toml").exists():
        raise ConfigError(f"{directory} holds no crawl: there is neither a log/ nor a crawl.toml in it; check the path")
    return directory / "log"


def length(directory: Path) -> int:
    """Return the bytes of a crawl's log, for a progress bar."""
    return sum(sizes(directory / "log").values())


def sizes(directory: Path) -> dict[str, int]:
    """Return the bytes of each file of the log."""
    return {name: (directory / name).stat().st_size for name in names(directory)}


def names(directory: Path) -> list[str]:
    """Return the names of the log's files, in order."""
    return sorted(path.name for path in directory.glob("[0-9][0-9][0-9][0-9][0-9].jsonl.gz"))


def frames(directory: Path, start: Position = ("", 0), number: int | None = None) -> Iterator[tuple[Frame, Position]]:
    """Yield every whole frame from a position on, with the position behind it; end at the first that is not whole.

    number: of the frame before, where it is known.
    """
    for text, position in members(directory, start):
        frame = format.decode(text)
        if number is not None and frame.number != number + 1:
            raise ConfigError(
                f"{directory / position[0]}: frame {frame.number} follows frame {number}; "
                "a log file is missing or was changed"
            )
        number = frame.number
        yield frame, position


def raw_frames(directory: Path, start: Position = ("", 0)) -> Iterator[tuple[Head, list[bytes], Position]]:
    """Yield every whole frame that can be read, from a position on: its head, its reports as raw lines, and the
    position behind it.

    Frames behind damage are left out until the next file. A caller that counts compares the frames' numbers.
    """
    for text, position in members(directory, start):
        first, *lines = text.splitlines()
        yield format.head(first), lines, position


def members(directory: Path, start: Position) -> Iterator[tuple[bytes, Position]]:
    """Yield the text of every whole frame from a position on, with the position behind it."""
    for name in names(directory):
        if name >= start[0]:
            offset = start[1] if name == start[0] else 0
            for text, end in members_of(directory / name, offset, ends(directory, name)):
                yield text, (name, end)


def ends(directory: Path, name: str) -> int | None:
    """Return where a file of the log ends if the next file says so; else it ends with its last whole frame.

    Bytes behind that place were written by a process that had lost the crawl and did not know it yet.
    """
    head = successor(directory, name)
    last, end = head.follows if head is not None else ("", 0)
    return end if last == name else None


def successor(directory: Path, name: str) -> Head | None:
    """Return the head of the first frame in the next file; None if there is no such frame yet."""
    following = directory / f"{int(name[:5]) + 1:05d}.jsonl.gz"
    try:
        text = next((text for text, _ in members_of(following, 0)), b"")
    except FileNotFoundError:
        return None
    return format.head(text.partition(b"\n")[0]) if text else None


def lost_frame(path: Path, offset: int) -> int | None:
    """Return where a whole frame begins behind a place that cannot be read; None where there is none.

    There is none behind a frame that was cut short by a crash, and there is one behind damage in the middle of a file.
    """
    with path.open("rb") as file:
        file.seek(offset)
        tail = file.read()
    at = tail.find(_MAGIC)
    while at >= 0:
        inflate = zlib.decompressobj(31)
        with contextlib.suppress(zlib.error):
            if inflate.decompress(tail[at:]).startswith(format.START) and inflate.eof:
                return offset + at
        at = tail.find(_MAGIC, at + 1)
    return None


def members_of(path: Path, offset: int, until: int | None = None) -> Iterator[tuple[bytes, int]]:
    """Yield the text of every whole frame of one file from an offset on, with the offset behind it."""
    with path.open("rb") as file:
        file.seek(offset)
        pending = b""
        while until is None or offset < until:
            inflate = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)  # takes a third of zlib's time
            text: list[bytes] = []
            used = 0
            while not inflate.eof:
                chunk = pending or file.read(1 << 16)
                pending = b""
                if not chunk:
                    return
                try:
                    text.append(inflate.decompress(chunk))
                except _Damage:
                    return
                used += len(chunk) - len(inflate.unused_data)
            pending = inflate.unused_data
            offset += used
            yield b"".join(text), offset
