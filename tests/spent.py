"""The CPU time of a call, for tests that compare two of them: hostile input must take linear time."""

import gc
import time
from collections.abc import Callable


def cpu_seconds(act: Callable[[], object]) -> float:
    """Return the CPU time of a call without collections of garbage, which look at all that other tests have left."""
    gc.disable()
    try:
        start = time.process_time()
        act()
        return time.process_time() - start
    finally:
        gc.enable()
