"""Bring a crawl directory to its last commit before the crawl continues.

The log is the truth. The store is opened as its last checkpoint left it, and later frames of the log are replayed;
without a store, all frames are. Every other file is cut to the length that the last whole frame names. Bytes behind
that length were never committed: they are moved to `torn/` and not read. Every step may be repeated, so a crash in
here is like any other.
"""

import fcntl
import os
import platform
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from windrow import files, frontier, log, origin
from windrow.config import Config, ConfigError
from windrow.crawler.machine.clock import Clock
from windrow.crawler.neighbours import Neighbours
from windrow.frontier import DurableFrontier
from windrow.judge.language import codes
from windrow.records import Exchanged

# Files that only ever grow, whose committed lengths are in the log.
GROWING = ("warc/*.warc.gz", "robotstxt/*.warc.gz", "diagnostics/*.warc.gz", "corpus/*/*.jsonl.gz", "seen/*.redo")
_VERSION = "1"


class Resumed(msgspec.Struct):
    """Where a crawl continues."""

    frontier: DurableFrontier
    position: log.Position
    frames: int  # the last frame's number
    seq: int
    files: dict[str, int]  # committed length of every file of the archive and the corpus
    exchanged: Exchanged  # with other shards
    apart: bool  # another process may still write to these files: begin others
    replayed: int  # frames of the log
    torn: list[str]  # what was moved aside, one sentence each


class Opened(msgspec.Struct, frozen=True):
    """A crawl directory that this process holds, brought to its last commit; see `session.opened`."""

    directory: Path
    start: Config  # of crawl.toml and the command line
    given: Collection[str]  # the names that the command line sets
    options: Config  # in force: `start` with what orders have set
    clock: Clock
    resumed: Resumed
    neighbours: Neighbours | None = None  # the other shards, if it is the directory of a shard


@contextmanager
def lock(directory: Path) -> Iterator[None]:
    """Hold the crawl directory. The kernel releases the lock when the process ends, however it ends."""
    handle = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not _take(handle):
            written = os.pread(handle, 300, 0).decode(errors="replace").strip()
            holder = written.removesuffix(f" on {platform.node()}") or "unknown"
            raise ConfigError(
                f"{directory} is being crawled by process {holder}; stop it first, or use another directory"
            )
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()} on {platform.node()}".encode(), 0)
        yield
    finally:
        os.close(handle)


def _take(handle: int) -> bool:
    """Take the lock. `status` holds it for a moment to see whether a crawl runs, so one refusal does not count."""
    for _ in range(10):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.05)
    return False


def check_version(directory: Path) -> None:
    """Refuse a directory that a newer Windrow wrote; mark a new one."""
    path = directory / "version"
    written = path.read_text(errors="replace").strip() if path.exists() else ""
    if not written:
        files.write(path, f"{_VERSION}\n".encode())
    elif written != _VERSION:
        raise ConfigError(
            f"{path} says {written!r}, but this Windrow writes crawl directories of version {_VERSION}; "
            "use a newer Windrow"
        )


async def resume(directory: Path, options: Config, now: float, neighbours: Neighbours | None = None) -> Resumed:
    """Open the frontier and bring it, and all files, to the last commit. `neighbours`: of a shard."""
    check_version(directory)
    (directory / "log").mkdir(exist_ok=True)
    accepted = [codes.parse(name) for name in options.language.accepted]
    store = frontier.open(
        directory / "state",
        options,
        now,
        files=origin.before_pages(options),
        languages=[*accepted, *map(codes.short, accepted)],
        territory=neighbours.territory if neighbours is not None else None,
        gate=neighbours.gate if neighbours is not None else None,
    )
    try:
        resumed = await _catch_up(directory, store, now)
        if neighbours is not None:
            resumed.apart = neighbours.apart
            neighbours.begin(resumed.exchanged)
        return resumed
    except BaseException:
        await store.close()
        raise


async def _catch_up(directory: Path, store: DurableFrontier, now: float) -> Resumed:
    saved = store.position()
    _check_ahead(directory, saved.log)
    replayed = 0
    for frame, position in log.frames(directory / "log", saved.log, saved.frame):
        await store.replay(frame, position)
        replayed += 1
    reached = store.position()
    _check_archive(directory, reached.files)
    torn = _cut_log(directory, reached.log)
    torn += [entry for pattern in GROWING for entry in _cut_files(directory, pattern, reached.files)]
    if replayed or torn:
        await store.checkpoint(now)
    return Resumed(
        frontier=store,
        position=reached.log,
        frames=reached.frame,
        seq=reached.seq,
        files=dict(reached.files),
        exchanged=reached.exchanged,
        apart=False,
        replayed=replayed,
        torn=torn,
    )


def last_commit(directory: Path) -> float:
    """Return when the log was last written to, by the system clock at that time; 0 if there is no log."""
    return max((path.stat().st_mtime for path in (directory / "log").glob("*.jsonl.gz")), default=0.0)


def set_state_aside(directory: Path) -> Path | None:
    """Make room for a state built from the log; the old one is kept under another name."""
    state = directory / "state"
    if not state.exists():
        return None
    aside = next(path for number in range(1, 10000) if not (path := directory / f"state.old{number}").exists())
    state.rename(aside)
    return aside


def _check_ahead(directory: Path, position: log.Position) -> None:
    name, offset = position
    path = directory / "log" / name
    if name and (not path.exists() or path.stat().st_size < offset):
        raise ConfigError(
            f"{directory / 'state'} is newer than the log: {path} is missing or cut short; "
            f"restore it, or move {directory / 'state'} away to continue from what the log has"
        )


def _cut_log(directory: Path, position: log.Position) -> list[str]:
    """Move aside what follows the last whole frame: a frame cut short does not exist."""
    name, offset = position
    torn = []
    for file in log.names(directory / "log"):
        path = directory / "log" / file
        end = log.ends(directory / "log", file) if file < name else None
        keep = offset if file == name else 0 if file > name else path.stat().st_size if end is None else end
        lost = log.lost_frame(path, keep) if end is None else None
        if lost is not None:
            raise ConfigError(
                f"{path} is damaged at byte {keep}, and committed frames follow at byte {lost}; restore the file from "
                f"a copy, or give up what follows with: truncate -s {keep} {path}"
            )
        torn += _cut(directory, path, keep)
        if not keep and file != name:
            path.unlink(missing_ok=True)
    return torn


def _cut_files(directory: Path, pattern: str, files: dict[str, int]) -> list[str]:
    torn = []
    for path in sorted(directory.glob(pattern)):
        committed = files.get(path.relative_to(directory).as_posix(), 0)
        torn += _cut(directory, path, committed)
        if not committed:
            path.unlink()
    return torn


def _check_archive(directory: Path, files: dict[str, int]) -> None:
    """Refuse a directory whose files are shorter than committed, before anything is cut."""
    missing = [name for name, length in files.items() if _length(directory / name) < length]
    if missing:
        raise ConfigError(
            f"{directory / missing[0]} is missing or shorter than its {files[missing[0]]} committed bytes; restore the "
            "file from a copy, or start a new crawl in another directory"
        )


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _cut(directory: Path, path: Path, keep: int) -> list[str]:
    """Copy what lies behind `keep` to torn/, then cut the file. After a crash between the two, both are repeated."""
    size = path.stat().st_size
    if size <= keep:
        return []
    aside = (
        directory / "torn" / f"{'-'.join(path.relative_to(directory).parts)}.{keep}"
    )  # shards of two languages bear one name
    aside.parent.mkdir(exist_ok=True)
    with path.open("rb") as source, aside.open("wb") as copy:
        source.seek(keep)
        while chunk := source.read(1 << 20):
            copy.write(chunk)
    os.truncate(path, keep)
    return [
        f"{path.relative_to(directory)}: moved {size - keep} bytes behind the last commit to "
        f"{aside.relative_to(directory)}"
    ]
