"""Read the files of a log: whole frames from a position, raw lines, frames behind damage, mentions of one URL."""

import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import msgspec
from isal import igzip_lib

from windrow.config import ConfigError
from windrow.log import format
from windrow.log.format import Head
from windrow.records import Entry, Frame, Kind, Order, Origin, Report

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
    return sum((directory / "log" / name).stat().st_size for name in names(directory / "log"))


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


def raw_frames(directory: Path, start: str = "") -> Iterator[tuple[Head, list[bytes], Position]]:
    """Yield every whole frame that can be read: its head, its reports as raw lines, and the position behind it.

    start: the name of the first file to read. Frames behind damage are left out until the next file. A caller that
    counts compares the frames' numbers.
    """
    for name in names(directory):
        if name < start:
            continue
        for text, end in _members(directory / name, 0, ends(directory, name)):
            first, *lines = text.splitlines()
            yield format.head(first), lines, (name, end)


def members(directory: Path, start: Position) -> Iterator[tuple[bytes, Position]]:
    """Yield the text of every whole frame from a position on, with the position behind it."""
    for name in names(directory):
        if name >= start[0]:
            offset = start[1] if name == start[0] else 0
            found = _members(directory / name, offset, ends(directory, name))
            yield from ((text, (name, end)) for text, end in found)


def ends(directory: Path, name: str) -> int | None:
    """Return where a file of the log ends if the next file says so; else it ends with its last whole frame.

    Bytes behind that place were written by a process that had lost the crawl and did not know it yet.
    """
    following = directory / f"{int(name[:5]) + 1:05d}.jsonl.gz"
    try:
        text = next((text for text, _ in _members(following, 0)), b"")
    except FileNotFoundError:
        return None
    last, end = format.head(text.partition(b"\n")[0]).follows if text else ("", 0)
    return end if last == name else None


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


def _members(path: Path, offset: int, until: int | None = None) -> Iterator[tuple[bytes, int]]:
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


class Mention(msgspec.Struct):
    """A place of the log that names a URL."""

    frame: int
    time: float  # of the commit
    via: str | None  # the URL was found there; empty: it is a seed; None: this is a report on the URL, or an order
    entry: Entry | None = None  # with a report on the URL
    order: Order | None = None  # that may be about the URL


def mentions(directory: Path, url: str) -> Iterator[Mention]:
    """Yield every order, and every line that found this URL or reports on it, in the order of the log.

    Only lines that contain its text are decoded.
    """
    needle = format.quoted(url)
    for head, lines, _ in raw_frames(directory):
        for order in head.orders:
            yield Mention(head.frame, head.time, None, order=order)
        for seed in head.seeds:
            if seed.url == url:
                yield Mention(head.frame, head.time, seed.via)
        for text in lines:
            if needle not in text:
                continue
            line = format.line(text)
            if line.url == url and line.kind != Kind.RESOLVE:
                yield Mention(head.frame, head.time, None, format.entry(line))
            if any(found.url == url for found in line.admitted):
                yield Mention(head.frame, head.time, line.url)


def rules(directory: Path, origin: str) -> Origin | None:
    """Return the latest rules that the crawl knew of an origin."""
    needle = format.quoted(origin)
    found = None
    for _, lines, _ in raw_frames(directory):
        for text in lines:
            if needle in text:
                line = format.line(text)
                found = line.origin if line.origin and line.origin.name == origin else found
    return found


def first_seen(directory: Path, copy: Report) -> str | None:
    """Return the URL of the first page with the payload or the clean text of this duplicate; None if the log has it no
    more. Pages whose text no judge accepted do not count, see `fingerprints`."""
    needles = [b'"text":%d' % copy.text, b'"digest":' + format.quoted(copy.digest)]
    for _, lines, _ in raw_frames(directory):
        for text in lines:
            if needles[0] not in text and needles[1] not in text:
                continue
            line = format.line(text)
            if line.url == copy.task.url.text or not line.text:
                continue
            if line.text == copy.text or line.digest == copy.digest:
                return str(line.url)
    return None
