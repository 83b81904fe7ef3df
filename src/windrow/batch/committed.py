"""What a crawl has committed, by its log: how much of a corpus counts, and the frames themselves. The rest may be half a page, or be
written just now; but a log that is damaged in the middle is refused, for what lies behind would be left out without a word."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from windrow import log
from windrow.config import ConfigError
from windrow.corpus import reader, shards
from windrow.data import Frame


class Lengths:
    """Bytes of a file that count; None: all, because it is no shard of a crawl. Each log is read once."""

    def __init__(self) -> None:
        self._known: dict[Path, Mapping[str, int] | None] = {}

    def __call__(self, path: Path) -> int | None:
        home = reader.home(path)
        if home is None or home.resolve() / shards.DIRECTORY not in path.resolve().parents:
            return None
        if home not in self._known:
            self._known[home] = _committed(home)
        known = self._known[home]
        return None if known is None else known.get("/".join(path.resolve().parts[-3:]), 0)


def frames(directory: Path) -> Iterator[Frame]:
    """Every frame of a log, in order."""
    ends: dict[str, int] = {}
    found = log.frames(directory)
    while True:
        try:
            frame, (name, end) = next(found)
        except StopIteration:
            break
        except (
            msgspec.MsgspecError,
            ValueError,
        ) as error:  # ValueError: not UTF-8, or a reason that this version does not know
            raise ConfigError(_unreadable(directory, error)) from None
        ends[name] = end
        yield frame
    check(directory, ends)


def check(directory: Path, ends: Mapping[str, int]) -> None:
    """Refuses a log with whole frames behind one that is not. `ends`: how far each of its files was read."""
    for name in log.names(directory):
        end = ends.get(name, 0)
        lost = log.lost_frame(directory / name, end)
        if lost is not None and lost > end:  # at the very place: a running crawl has just written it
            raise ConfigError(
                f"{directory / name}, byte {end}: damaged, and whole frames lie behind it; restore the file from a copy"
            )


def _committed(home: Path) -> dict[str, int] | None:
    """The lengths of a crawl's files, by path relative to its directory; None where there is no log to ask."""
    directory = home / "log"
    if not log.names(directory):
        return None
    found: dict[str, int] = {}
    ends: dict[str, int] = {}
    number = 0
    try:
        for head, _, (name, end) in log.raw_frames(directory):
            if number and head.frame != number + 1:
                raise ConfigError(
                    f"{directory / name}: frame {head.frame} follows frame {number}; a file of the log is damaged or missing"
                )
            number, ends[name] = head.frame, end
            found.update(head.lengths)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ConfigError(_unreadable(directory, error)) from None
    check(directory, ends)
    return found


def _unreadable(directory: Path, error: Exception) -> str:
    return f"{directory} cannot be read ({error}); it is damaged, or a newer Windrow wrote it"
