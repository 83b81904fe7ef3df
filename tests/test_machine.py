import os
from pathlib import Path

import pytest

from windrow import machine

WHOLE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_cores_are_those_that_this_process_may_use() -> None:
    assert machine.cores() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
def test_memory_is_at_most_what_the_container_has(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("268435456\n")
    assert machine.memory(tmp_path) == 256 << 20


@pytest.mark.parametrize("text", ["max\n", "9223372036854771712\n"])
def test_a_container_without_a_limit_has_the_memory_of_the_machine(tmp_path: Path, text: str) -> None:
    (tmp_path / "memory.max").write_text(text)
    assert machine.memory(tmp_path) == WHOLE


def test_a_machine_without_control_groups_has_its_own_memory(tmp_path: Path) -> None:
    assert machine.memory(tmp_path / "none") == WHOLE
