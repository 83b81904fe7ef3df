"""Read a log in pieces: folds get what follows a position, and the position behind it says where to continue.

A fold counts. It has `add`, which gets one frame at a time, and `reads`, the fields of a line that it wants: the others
are skipped as they are decoded. A fold that is a msgspec Struct can be kept between commands, see `views`.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Protocol

import msgspec

from windrow.config import ConfigError
from windrow.log import format, reader
from windrow.log.format import AdmittedUrl, Head, Line

TAIL = 8  # bytes at the end of a gzip member: the checksum and the length of its text

Watch = Callable[[int], None]  # gets the bytes of the log that were read since the last call


class Fold(Protocol):
    """Counts what a log says."""

    @property
    def reads(self) -> Sequence[str]: ...  # fields of a line; a fold that reads no lines has none

    def add(self, head: Head, lines: Sequence[Line]) -> None: ...


class Bookmark(msgspec.Struct, frozen=True):
    """A position in a log: behind a whole frame. It is data, and can be stored."""

    file: Annotated[str, msgspec.Meta(pattern=r"^([0-9]{5}\.jsonl\.gz)?\Z")] = ""  # "": before the first frame
    offset: Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)] = 0
    frame: int = 0  # its number
    tail: bytes = b""  # the last bytes of the frame: another log, or one that was cut, has others there
    before: int = 0  # bytes of the files before this one
    notes: tuple[str, ...] = ()  # parts of the log before the position that could not be read


START = Bookmark()


def follow(directory: Path, position: Bookmark, *folds: Fold, watch: Watch | None = None) -> Bookmark | None:
    """Give the folds every whole frame behind a position of a crawl's log, and return the position behind the last one.

    None: the log has this position no more, because it was replaced or recovery has cut it. The folds have counted
    frames that do not exist: begin again with others, at START. A crawl may write meanwhile.
    """
    home = reader.home(directory)
    try:
        return _follow(home, position, folds, watch) if has(home, position) else None
    except (msgspec.MsgspecError, ValueError, IndexError) as error:  # also: not UTF-8; a URL without a host
        raise ConfigError(f"{home} cannot be read ({error}); it is damaged, or a newer Windrow wrote it") from None


def _follow(home: Path, position: Bookmark, folds: Sequence[Fold], watch: Watch | None) -> Bookmark:
    sizes = reader.sizes(home)  # before the first byte is read: frames that a crawl appends meanwhile are no damage
    ends = {position.file: position.offset}
    decode = _decoder(frozenset(name for fold in folds for name in fold.reads))
    number, notes = position.frame, list(position.notes)
    for head, texts, (name, end) in reader.raw_frames(home, (position.file, position.offset)):
        if number and head.frame != number + 1:
            gap = f"frame {head.frame} follows frame {number}"
            notes.append(f"{gap}: the frames between them are lost or damaged, and are not counted")
        number = head.frame
        lines = [decode(text) for text in texts]
        for fold in folds:
            fold.add(head, lines)
        if watch is not None:
            watch(end - ends.get(name, 0))
        ends[name] = end
    last = max(ends)
    if (last, ends[last]) == (position.file, position.offset):
        return position
    notes += left_out({name: size - ends.get(name, 0) for name, size in sizes.items() if position.file <= name < last})
    before = sum((home / name).stat().st_size for name in reader.names(home) if name < last)
    octets = tail(home / last, ends[last])
    return Bookmark(file=last, offset=ends[last], frame=number, tail=octets, before=before, notes=tuple(notes))


def has(home: Path, position: Bookmark) -> bool:
    """Return whether a log still has the frame before a position, and as many bytes before it as it had."""
    if not position.file:
        return True
    before = sum(size for name, size in reader.sizes(home).items() if name < position.file)
    return before == position.before and ends_at(home, position.file, position.offset, position.tail)


def ends_at(home: Path, name: str, offset: int, octets: bytes) -> bool:
    """Return whether a frame with these last bytes ends at this offset of a file, and counts."""
    if len(octets) != TAIL or tail(home / name, offset) != octets:
        return False
    end = reader.ends(home, name)
    return end is None or end >= offset


def tail(path: Path, offset: int) -> bytes:
    """Return the last bytes of the frame that ends at this offset."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, offset - TAIL))
            return file.read(TAIL)
    except FileNotFoundError:
        return b""


def left_out(rests: Mapping[str, int]) -> list[str]:
    """Return a note per file with so many bytes behind its last whole frame: a frame cut short, or damage."""
    return [
        f"log/{name}: {rest:,} bytes after the last whole frame were left out"
        for name, rest in rests.items()
        if rest > 0
    ]


@functools.lru_cache
def _decoder(names: frozenset[str]) -> Callable[[bytes], Line]:
    # `reason` stays text: a log with a reason that this version does not know is counted all the same.
    types = {"reason": str, "admitted": list[AdmittedUrl]}
    return format.view(*names, **{name: types[name] for name in names & types.keys()})
