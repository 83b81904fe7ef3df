"""The process of a shard on a machine of its own, whose locks others do not see; it stops itself at a chosen moment.

    python -m tests.nodes.zombie MACHINE PLACE COUNT shard DIR --redis URL …

PLACE is "append" (between the last look at the fence and the write of a frame), "flush" (between the wait for the lease
and the write of the other files) or "never"; COUNT: how many of these pass before.
"""

import contextlib
import os
import signal
import sys
from typing import Any

from windrow.cli.main import main
from windrow.crawler import recover
from windrow.crawler.recording.commit import GroupCommit
from windrow.log.writer import Log
from windrow.shards import fence


def stop_at(owner: Any, name: str, count: int) -> None:
    """Let the process stop itself before a method does its work for the last time of `count`."""
    real, passed = getattr(owner, name), 0

    def stopping(*arguments: Any) -> Any:
        nonlocal passed
        passed += 1
        if passed == count:
            os.kill(os.getpid(), signal.SIGSTOP)
        return real(*arguments)

    setattr(owner, name, stopping)


if __name__ == "__main__":
    machine, place, count = sys.argv[1:4]
    del sys.argv[1:4]
    fence.machine = lambda: machine
    recover.lock = contextlib.nullcontext  # type: ignore[assignment]
    if place == "append":
        stop_at(Log, "append", int(count))
    elif place == "flush":
        stop_at(GroupCommit, "_flush", int(count))
    main()
