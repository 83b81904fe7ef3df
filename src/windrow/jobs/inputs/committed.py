"""The committed part of a crawl, according to its log: the length of each corpus shard, and the frames themselves.

Bytes after a committed length may be half a page, or a running crawl writes them now: they are not read. But a log
that is damaged in the middle is refused, because the frames after the damage would be left out silently.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from windrow import log, takedown
from windrow.config import ConfigError
from windrow.corpus import reader, shards
from windrow.io import storage
from windrow.records import Frame


class Lengths:
    """Returns the committed bytes of a file; None for a file that is not a shard of a crawl. Reads each log once."""

    def __init__(self) -> None:
        self._known: dict[Path, Mapping[str, int] | None] = {}

    def __call__(self, path: Path) -> int | None:
        crawl = reader.crawl_of(path)
        if crawl is None or crawl.resolve() / shards.DIRECTORY not in path.resolve().parents:
            return None
        if crawl not in self._known:
            self._known[crawl] = lengths(crawl)
        committed = self._known[crawl]
        return None if committed is None else committed.get("/".join(path.resolve().parts[-3:]), 0)


def ends(sources: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return the committed bytes of those files that have more: a running crawl writes them, or a killed one did."""
    lengths_of: dict[Path, Mapping[str, int]] = {}
    ends = []
    for source in sources:
        path = storage.place(source)
        crawl = reader.crawl_of(path) if isinstance(path, Path) else None
        if crawl is None or not isinstance(path, Path):
            continue
        if crawl not in lengths_of:
            lengths_of[crawl] = lengths(crawl) or {}
        end = lengths_of[crawl].get(path.resolve().relative_to(crawl.resolve()).as_posix())
        if end is not None and path.exists() and path.stat().st_size > end:
            ends.append((source, end))
    return tuple(ends)


def frames(directory: Path) -> Iterator[Frame]:
    """Yield every frame of a log, in order."""
    takedown.check_purged(directory.parent)
    ends: dict[str, int] = {}
    frames = log.frames(directory)
    while True:
        try:
            frame, (name, end) = next(frames)
        except StopIteration:
            break
        except (
            msgspec.MsgspecError,
            ValueError,
        ) as error:  # ValueError: not UTF-8, or a Reason unknown to this version
            raise ConfigError(_unreadable(directory, error)) from None
        ends[name] = end
        yield frame
    check(directory, ends)


def check(directory: Path, ends: Mapping[str, int]) -> None:
    """Refuse a log that has whole frames after a damaged one. `ends`: how far each of its files was read."""
    for name in log.names(directory):
        end = ends.get(name, 0)
        lost = log.lost_frame(directory / name, end)
        if lost is not None and lost > end:  # a frame exactly at `end` is new: a running crawl has just written it
            raise ConfigError(
                f"{directory / name}, byte {end}: damaged, and whole frames follow; restore the file from a copy"
            )


def lengths(crawl: Path) -> dict[str, int] | None:
    """Return the lengths of a crawl's files by their path relative to its directory; None if it has no log."""
    takedown.check_purged(crawl)
    directory = crawl / "log"
    if not log.names(directory):
        return None
    lengths: dict[str, int] = {}
    ends: dict[str, int] = {}
    number = 0
    try:
        for head, _, (name, end) in log.raw_frames(directory):
            if number and head.frame != number + 1:
                gap = f"frame {head.frame} follows frame {number}"
                raise ConfigError(f"{directory / name}: {gap}; a file of the log is damaged or missing")
            number, ends[name] = head.frame, end
            lengths.update(head.lengths)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ConfigError(_unreadable(directory, error)) from None
    check(directory, ends)
    return lengths


def _unreadable(directory: Path, error: Exception) -> str:
    return f"{directory} cannot be read ({error}); it is damaged, or a newer Windrow wrote it"
