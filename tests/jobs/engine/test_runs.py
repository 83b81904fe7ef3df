import random

import pytest

from windrow.jobs.engine.runs import SortedLines


@pytest.mark.parametrize("run", [1, 1000, 1 << 20])
def test_lines_are_sorted_by_their_bytes_however_many_runs_there_are(run: int) -> None:
    chance = random.Random(1)
    given = [f"{chance.choice('aZé,)')} {chance.randrange(300)}\n".encode() for _ in range(400)]
    with SortedLines(run) as lines:
        for line in given:
            lines.add(line)
        assert list(lines) == sorted(given)
        assert list(lines) == sorted(given)


def test_without_lines_there_are_none() -> None:
    with SortedLines() as lines:
        assert list(lines) == []
