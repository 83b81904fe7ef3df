"""Gives a process a clock of its own: wrong from the start, and set again after some seconds.

Python imports this file at its start where its directory is in PYTHONPATH. WINDROW_SKEW is the seed.
"""

import os
import random
import time

_chance = random.Random(f"{os.environ['WINDROW_SKEW']} {os.getpid()}")
_before, _after = _chance.uniform(-7200, 7200), _chance.uniform(-7200, 7200)  # seconds
_set = time.monotonic() + _chance.uniform(1.0, 6.0)
_time = time.time


def _skewed() -> float:
    return _time() + (_before if time.monotonic() < _set else _after)


time.time = _skewed
