"""A limit on the CPU time of one page, for code that need not be linear: the extractor and judges of the user.

The crawl's workers are killed by the kernel when a page takes too long. A batch job must not die of a page, so here an
exception is raised instead, as soon as Python code runs again.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class PageTooSlow(Exception):
    """A page took more CPU time than workers.seconds."""


@contextlib.contextmanager
def cpu(seconds: float) -> Iterator[None]:
    """Raise PageTooSlow in the block after so many seconds. Only in the main thread: others cannot be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _late(number: int, frame: FrameType | None) -> None:
    raise PageTooSlow
