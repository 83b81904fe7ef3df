"""Waiting for what other processes do."""

import time
from collections.abc import Callable


def until(reached: Callable[[], object], seconds: float = 100.0, told: Callable[[], str] = str) -> None:
    """Return once `reached` is true; `told` says what was seen instead."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, f"it did not happen: {told()}"
        time.sleep(0.02)
