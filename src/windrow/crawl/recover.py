"""What happens before a crawl goes on: the lock, the log's last whole frame, and every other file cut back to what it says.

The log is the truth. The store is opened as its last checkpoint left it and later frames are replayed; without a store all
frames are. Bytes behind a committed length were never there: they are moved to `torn/`, not read. Every step may be repeated,
so a crash in here is like any other.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from windrow import files, frontier, log
from windrow.config import Config, ConfigError
from windrow.frontier.local.frontier import LocalFrontier
from windrow.judge.language import codes

# Files that only ever grow, whose committed lengths are in the log.
GROWING = ("warc/*.warc.gz", "robotstxt/*.warc.gz", "diagnostics/*.warc.gz", "corpus/*/*.jsonl.gz", "seen/*.redo")
_VERSION = "1"


class Resumed(msgspec.Struct):
    """Where a crawl goes on."""

    frontier: LocalFrontier
    position: log.Position
    frames: int  # the last frame's number
    seq: int
    files: dict[str, int]  # committed length of every file of the archive and the corpus
    replayed: int  # frames taken in from the log
    torn: list[str]  # what was moved aside


@contextmanager
def lock(directory: Path) -> Iterator[None]:
    """Holds the crawl directory. The kernel lets go of the lock when the process ends, however it ends."""
    handle = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not _take(handle):
            holder = os.pread(handle, 100, 0).decode(errors="replace").strip() or "unknown"
            raise ConfigError(
                f"{directory} is being crawled by process {holder}; stop it first, or use another directory"
            )
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


def _take(handle: int) -> bool:
    """`status` holds the lock too, for an instant, to see whether it is held: so one refusal is none."""
    for _ in range(10):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.05)
    return False


def check_version(directory: Path) -> None:
    """Refuses a directory that a newer Windrow wrote; marks a new one."""
    path = directory / "version"
    found = path.read_text(errors="replace").strip() if path.exists() else ""
    if not found:
        _write(path, _VERSION + "\n")
    elif found != _VERSION:
        raise ConfigError(
            f"{path} says {found!r}, this Windrow writes crawl directories of version {_VERSION}; use a newer Windrow"
        )


async def resume(directory: Path, options: Config, now: float) -> Resumed:
    """Opens the frontier and brings it, and all files, to the last commit."""
    check_version(directory)
    (directory / "log").mkdir(exist_ok=True)
    store = frontier.open(directory / "state", options, now)
    try:
        accepted = [codes.parse(name) for name in options.language.accepted]
        store.prefer([*accepted, *map(codes.short, accepted)])
        store.ask_tdmrep(options.signals.tdmrep and options.extract.extractor != "none")
        return await _catch_up(directory, store, now)
    except BaseException:
        await store.close()
        raise


async def _catch_up(directory: Path, store: LocalFrontier, now: float) -> Resumed:
    meta = store.meta
    _check_ahead(directory, meta.log)
    position, replayed = meta.log, 0
    for frame, position in log.frames(directory / "log", meta.log, meta.frame):
        await store.replay(frame, position)
        replayed += 1
    _check_archive(directory, meta.files)
    torn = _cut_log(directory, position)
    torn += [entry for pattern in GROWING for entry in _cut_files(directory, pattern, meta.files)]
    if replayed or torn:
        await store.checkpoint(now)
    return Resumed(store, position, meta.frame, meta.seq, dict(meta.files), replayed, torn)


def _write(path: Path, text: str) -> None:
    """All of it or nothing, and on the disk."""
    new = path.with_name(path.name + ".new")
    with new.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    files.sync_directory(path.parent)


def last_commit(directory: Path) -> float:
    """When the log was last written to, by the system's clock of then; 0 where there is none."""
    return max((path.stat().st_mtime for path in (directory / "log").glob("*.jsonl.gz")), default=0.0)


def set_state_aside(directory: Path) -> Path | None:
    """Makes room for a state built anew; the old one is kept under another name."""
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
            f"{directory / 'state'} knows more than the log: {path} is missing or cut short; "
            f"restore it, or move {directory / 'state'} away to go on from what the log has"
        )


def _cut_log(directory: Path, position: log.Position) -> list[str]:
    """Moves aside what follows the last whole frame: a frame cut short does not exist."""
    name, offset = position
    torn = []
    for found in log.names(directory / "log"):
        path = directory / "log" / found
        keep = offset if found == name else 0 if found > name else path.stat().st_size
        lost = log.lost_frame(path, keep)
        if lost is not None:
            raise ConfigError(
                f"{path} is damaged at byte {keep}, and frames that were committed follow at byte {lost}; restore the file from a copy, "
                f"or give up what follows with: truncate -s {keep} {path}"
            )
        torn += _cut(directory, path, keep)
        if not keep and found != name:
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
    """Before anything is cut."""
    missing = [name for name, length in files.items() if _length(directory / name) < length]
    if missing:
        raise ConfigError(
            f"{directory / missing[0]} is missing or shorter than its {files[missing[0]]} committed bytes; restore the file "
            f"from a copy, or begin a new crawl in another directory"
        )


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _cut(directory: Path, path: Path, keep: int) -> list[str]:
    """Copies what lies behind `keep` to torn/ and cuts the file. The copy comes first: a crash between repeats it."""
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
        f"{path.relative_to(directory)}: {size - keep} bytes behind the last commit moved to {aside.relative_to(directory)}"
    ]
