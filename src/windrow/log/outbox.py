"""The log of a shard as its outbox: links to other shards are read again from any frame on."""

import bisect
from collections.abc import Iterator
from pathlib import Path

import msgspec

from windrow import sharding
from windrow.log import format, reader
from windrow.log.reader import Position
from windrow.records import Task

SPACING = 64  # frames from one remembered position to the next


class SentLinks(msgspec.Struct, frozen=True):
    """The links of one frame to one shard."""

    frame: int
    tasks: tuple[Task, ...]
    position: Position  # behind the frame


class Outbox:
    """Where the frames of a log begin, so that reading from a frame on does not inflate everything before it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._frames: list[int] = []
        self._positions: list[Position] = []  # behind these frames

    def note(self, frame: int, position: Position) -> None:
        """Remember where a frame ends; most are left out."""
        at = bisect.bisect_left(self._frames, frame)
        near = self._frames[at - 1] if at else -SPACING
        if frame - near >= SPACING and self._frames[at : at + 1] != [frame]:
            self._frames.insert(at, frame)
            self._positions.insert(at, position)

    def start(self, after: int) -> Position:
        """Return a position from which the frames after this one can be read."""
        at = bisect.bisect_right(self._frames, after)
        names = reader.names(self.directory)
        file = bisect.bisect_right(names, after + 1, key=self._first) - 1
        begin = (names[file], 0) if file >= 0 else ("", 0)
        return max(begin, self._positions[at - 1]) if at else begin

    def _first(self, name: str) -> int:
        """Return the number of the first frame of a file; of a file without one, a number above all."""
        for text, _ in reader.members(self.directory, (name, 0)):
            return int(format.head(text.partition(b"\n")[0]).frame)
        return 1 << 62


def sent(directory: Path, start: Position, span: tuple[int, int], receiver: int, count: int) -> Iterator[SentLinks]:
    """Yield the links to one of `count` shards, frame by frame; `span`: after this frame, up to and with that one.

    Frames after the span may not be durable yet.
    """
    after, until = span
    for text, position in reader.members(directory, start):
        first, _, rest = text.partition(b"\n")
        head = format.head(first)
        if head.frame > until:
            return
        if head.frame > after and receiver in head.receivers:
            lines = [line for line in rest.splitlines() if format.SENT in line]
            tasks = [task for line in lines for task in format.sent(line)]
            yield SentLinks(head.frame, tuple(sharding.split(tasks, count).get(receiver, ())), position)
