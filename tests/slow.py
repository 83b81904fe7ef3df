"""The tests that `make quick` leaves out: tests/slow.txt lists those that took more than `LIMIT` when last measured.

The list is measured (`make slow`), not written by hand. A name is that of a function: if one of its cases is slow, all
are. A case is measured with its fixtures, so the first test of a file pays for the servers that the file shares.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("slow.txt")
LIMIT = 1.0  # seconds for one case, or five times that for all cases of a function


def names() -> frozenset[str]:
    """Return the slow tests as "tests/crawler/test_kill.py::test_name"."""
    return frozenset(LIST.read_text("utf-8").split())


def name(nodeid: str) -> str:
    """Return the name of the function without the parameters of the case."""
    return nodeid.partition("[")[0]


def above_limit(seconds: Mapping[str, float]) -> list[str]:
    """Return the functions that are slow, from the seconds of each case."""
    cases: defaultdict[str, list[float]] = defaultdict(list)
    for nodeid, taken in seconds.items():
        cases[name(nodeid)].append(taken)
    return sorted(name for name, taken in cases.items() if max(taken) > LIMIT or sum(taken) > 5 * LIMIT)


def first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests with the files that have most slow ones first.

    Files are given to the processes in this order, so the last ones are short and no process waits long for another.
    """
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    return sorted(items, key=lambda item: -slow[item.path])


class Stopwatch:
    """A plugin of pytest that measures every test and writes the list at the end."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        LIST.write_text("".join(f"{name}\n" for name in above_limit(self._seconds)), "utf-8")
