"""What this machine gives to a process: cores and memory, also inside a container."""

import os
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of control groups, version 2 and 1


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS


def memory(groups: Path = _CGROUPS) -> int:
    """Return the bytes of memory of this machine, or of the container if that has less."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in _LIMITS:
        try:
            text = (groups / name).read_text().strip()
        except OSError:
            continue
        if text.isdecimal():  # else "max": no limit
            found.append(int(text))
    return min(found)
