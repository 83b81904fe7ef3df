"""`windrow store` as a process that is killed while a real server writes."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.jobs.store.conftest import Kind
from tests.jobs.store.crawls import growing, sample
from tests.jobs.store.test_storages import expected, store, texts

FRAMES, EACH, KILLS = 250, 3, 5
SMALL_BATCHES = """
import sys
from windrow.jobs.store import feed
from windrow.cli import main
feed.ROWS = 3
main()
"""
PATIENCE = 120  # seconds for a process to store something


@pytest.mark.long
def test_a_process_that_is_killed_again_and_again_stores_each_document_once(real: Kind, tmp_path: Path) -> None:
    chance = random.Random(3)
    with growing(tmp_path / "mycrawl", frames=FRAMES, each=EACH) as crawl:
        command = [sys.executable, "-c", SMALL_BATCHES, "store", str(crawl.directory), "--to", real.url]
        store_nothing(real, tmp_path)
        before = 0
        for _ in range(KILLS):
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            end = time.monotonic() + PATIENCE
            while child.poll() is None and len(texts(real)) <= before and time.monotonic() < end:
                time.sleep(0.001)
            time.sleep(chance.random() * 0.05)
            child.send_signal(signal.SIGKILL)
            child.wait()
            found = texts(real)
            assert found.items() <= expected(FRAMES * EACH).items()
            assert len(found) > before or len(found) == FRAMES * EACH
            before = len(found)
        crawl.commit([sample(FRAMES * EACH)])
        store(crawl.directory, real.url)
    assert texts(real) == expected(FRAMES * EACH + 1)


def store_nothing(kind: Kind, path: Path) -> None:
    """Make the tables, so that they can be read from the first moment on."""
    with growing(path / "empty") as crawl:
        store(crawl.directory, kind.url)
