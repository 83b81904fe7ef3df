"""The fence of a shard's directory: the number of the lease under which one process may commit there.

The lock of a crawl directory keeps two processes apart on one machine. Machines that share a disk may not see each
other's locks. So a new process writes its number here, durably, before it reads the log, and every commit reads the
file again: a process that finds another number was replaced, and ends without a commit.

A process that is stopped between that look and its write can still append to the files that it has open. Then the
new process has begun files of its own (`Fence.may_be_alive`), and its first frame says where the old log ends.
"""

import platform
from pathlib import Path

import msgspec

from windrow import files

FILE = "fence.json"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class ShardTaken(Exception):
    """This process may not commit to its shard any more, and must end. Everything committed is safe."""


class Fence(msgspec.Struct, frozen=True):
    """The last process that has begun to work in a directory."""

    number: int
    holder: str  # name of its node
    machine: str
    ended: bool = False  # it has ended cleanly

    @property
    def may_be_alive(self) -> bool:
        """Whether the process may still run although the directory could be locked: on another machine."""
        return not self.ended and self.machine != machine()


def machine() -> str:
    """Return what identifies a running system: processes that share it see each other's locks."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return platform.node()


def read(directory: Path) -> Fence | None:
    """Return the fence of a directory; None if it never had one. A damaged one is that of an unknown process."""
    try:
        return msgspec.json.decode((directory / FILE).read_bytes(), type=Fence)
    except FileNotFoundError:
        return None
    except ValueError:
        return Fence(0, "", "")


def claim(directory: Path, number: int, holder: str) -> Fence | None:
    """Write a number, and return the fence before it. ShardTaken: a later process was here."""
    before = read(directory)
    if before is not None and before.number > number:
        raise ShardTaken(f"{directory} was taken by {before.holder or 'another node'}, with a later lease")
    _write(directory, Fence(number, holder, machine()))
    return before


def check(directory: Path, number: int) -> None:
    """Raise ShardTaken if another process has written its number since."""
    fence = read(directory)
    if fence is None or fence.number != number:
        holder = fence.holder if fence is not None and fence.holder else "another node"
        raise ShardTaken(f"{directory} was taken by {holder} meanwhile; nothing more is committed here")


def end(directory: Path, number: int) -> None:
    """Note that the process with this number has ended cleanly: the next one may continue its files."""
    fence = read(directory)
    if fence is not None and fence.number == number:
        _write(directory, msgspec.structs.replace(fence, ended=True))


def _write(directory: Path, fence: Fence) -> None:
    files.write(directory / FILE, msgspec.json.encode(fence) + b"\n")
