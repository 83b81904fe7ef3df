"""The store on disk: a full disk, a damaged file, long URLs, a large map."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest

from tests.frontier.hand import Hand, do
from tests.frontier.simulation import START, options, task
from windrow import frontier
from windrow.config import ConfigError
from windrow.frontier import DurableFrontier
from windrow.frontier.store import lmdb
from windrow.frontier.store.lmdb import LmdbStore
from windrow.frontier.store.rows import HostRow, Meta
from windrow.records import Origin

ROOT = Path(__file__).resolve().parents[3]


def opened(path: Path, **fields: object) -> DurableFrontier:
    return frontier.open(path, options(**{"max_domain_hosts": 0, **fields}), START)


def used(path: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in path.iterdir())


def test_a_large_map_takes_little_disk(tmp_path: Path) -> None:
    crawl = Hand(opened(tmp_path))
    crawl.add(*[f"http://h{number % 50}.org/{number}" for number in range(2000)])
    crawl.checkpoint()
    assert (tmp_path / "data.mdb").stat().st_size > lmdb.ROOM
    assert used(tmp_path) < 8 << 20
    do(crawl.store.close())
    assert (tmp_path / "data.mdb").stat().st_size < 8 << 20


def test_kills_do_not_make_the_map_grow(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import os, signal
        from pathlib import Path
        from tests.frontier.hand import Hand
        from tests.frontier.store.test_lmdb import opened
        crawl = Hand(opened(Path({str(tmp_path)!r})))
        crawl.frame = crawl.store.position().frame
        crawl.add(*[f"http://h{{number % 50}}.org/{{crawl.frame}}/{{number}}" for number in range(500)])
        crawl.checkpoint()
        crawl.add(*[f"http://h{{number % 50}}.org/lost/{{number}}" for number in range(500)])
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    sizes = []
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"}
        )
        assert ended.returncode == -signal.SIGKILL
        sizes.append((tmp_path / "data.mdb").stat().st_size)
    assert sizes[2] < sizes[0] * 1.5
    store = opened(tmp_path)
    assert do(store.counts()).seen == 1500
    assert do(store.find(task("http://h7.org/lost/7").url)) is None
    do(store.close())


def test_the_map_grows_with_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lmdb, "ROOM", 4 << 20)
    monkeypatch.setattr(lmdb, "MANY", 1 << 19)
    crawl = Hand(opened(tmp_path))
    early = 0
    for start in range(0, 30_000, 1000):
        crawl.add(*[f"http://h{number % 700}.org/{number}" for number in range(start, start + 1000)])
        if crawl.store.checkpoint_due(START):
            early += 1
            crawl.checkpoint()
    crawl.checkpoint()
    do(crawl.store.close())
    assert early > 3
    store = opened(tmp_path)
    assert do(store.counts()).seen == 30_000
    assert do(store.find(task("http://h1.org/1").url)) is not None
    do(store.close())


def test_every_page_of_the_tree_may_change_between_two_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lmdb, "ROOM", 1 << 20)
    store = LmdbStore(tmp_path)
    for number in range(20_000):
        store.save_host(HostRow(number, f"host{number * 7919 % 20_000}.example.org", "example.org"))
        if number % 2000 == 1999:
            store.checkpoint(Meta())
    for lease in range(1, 4):
        for number in range(20_000):
            store.save_host(HostRow(number, f"host{number}.example.org", "example.org", errors=lease))
        store.checkpoint(Meta())
    row = store.load_host("host5.example.org")
    assert row is not None
    assert row.errors == 3
    store.close()


def test_large_robots_rules_fit(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path)
    for number in range(40):
        store.save_origin(Origin(f"http://h{number}.org", START, START, START, rules="x" * 500_000))
    store.checkpoint(Meta())
    for number in range(40):
        store.save_origin(Origin(f"http://h{number}.org", START, START, START, rules="y" * 500_000))
    rules = store.origin("http://h39.org")
    assert rules is not None
    assert rules.rules == "y" * 500_000
    store.close()


@pytest.mark.parametrize("length", [300, 320, 5000, 65_535])
def test_long_urls_are_kept_whole(tmp_path: Path, length: int) -> None:
    text = "http://a.org/".ljust(length, "x")
    for when in ("in the buffer", "on disk"):
        crawl = Hand(opened(tmp_path / when, delay=0.0))
        crawl.add(text)
        if when == "on disk":
            crawl.checkpoint()
        [entry] = crawl.serve(crawl.page(), links=["http://a.org/short"])
        assert entry.report.task.url.text == text
        assert crawl.page().tasks[0].via == text
        do(crawl.store.close())


def test_a_url_too_long_to_keep_is_refused(tmp_path: Path) -> None:
    crawl = Hand(opened(tmp_path))
    assert crawl.add("http://a.org/".ljust(65_536, "x")) == []
    assert do(crawl.store.counts()).refused == {"length": 1}
    do(crawl.store.close())


def test_counts_too_large_for_a_record_are_stored_as_the_largest(tmp_path: Path) -> None:
    crawl = Hand(opened(tmp_path))
    crawl.add("http://a.org/1", depth=100_000, distance=1000, redirects=300, attempt=256, embed=2)
    kept = crawl.page().tasks[0]
    assert (kept.depth, kept.distance, kept.redirects, kept.attempt, kept.embed) == (65_535, 255, 255, 63, 2)
    do(crawl.store.close())


def full(file: int, offset: int, length: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_an_error_and_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Hand(opened(tmp_path))
    crawl.add("http://a.org/1")
    crawl.checkpoint()
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match=r"No space left on device.*data\.mdb"):
        for start in range(0, 1_000_000, 1000):
            crawl.add(*[f"http://h{number}.org/" for number in range(start, start + 1000)])
    monkeypatch.undo()
    do(crawl.store.close())
    store = opened(tmp_path)
    assert do(store.counts()).seen == 1
    do(store.close())


def test_after_a_full_disk_the_same_report_can_be_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Hand(opened(tmp_path, delay=0.0))
    crawl.add("http://a.org/1")
    lease = crawl.page()
    links = [task(f"http://h{number}.org/") for number in range(5000)]
    before = do(crawl.store.counts())
    monkeypatch.setattr(os, "posix_fallocate", full)
    for _ in range(2):
        with pytest.raises(OSError, match="No space left on device"):
            crawl.ack(lease.tasks[0], links=links)
        assert do(crawl.store.counts()) == before
    crawl.release(lease, last=crawl.now)
    monkeypatch.undo()
    assert len(crawl.ack(lease.tasks[0], links=links).admitted) == 5000
    assert do(crawl.store.counts()).seen == 5001
    do(crawl.store.close())


def test_a_store_can_be_opened_when_there_is_room_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match=r"No space left on device.*data\.mdb"):
        opened(tmp_path)
    monkeypatch.undo()
    do(opened(tmp_path).close())


def test_no_leases_are_granted_while_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Hand(opened(tmp_path, delay=0.0))
    crawl.add("http://a.org/1")
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left on device"):
        for start in range(0, 1_000_000, 10):
            crawl.add(*[f"http://h{number}.org/" for number in range(start, start + 10)])
    assert crawl.lease() == []
    assert crawl.again == crawl.now + 1.0
    monkeypatch.undo()
    assert len(crawl.lease(1)) == 1
    do(crawl.store.close())


def test_blocks_are_allocated_before_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The map is never written beyond the allocated blocks: every page behind them is still empty."""
    allocated = [0]
    allocate = os.posix_fallocate

    def note(file: int, offset: int, length: int) -> None:
        allocated[0] = max(allocated[0], offset + length)
        allocate(file, offset, length)

    monkeypatch.setattr(os, "posix_fallocate", note)
    crawl = Hand(opened(tmp_path))
    for start in range(0, 30_000, 1000):
        crawl.add(*[f"http://h{number * 7919 % 10_000}.org/{number}" for number in range(start, start + 1000)])
        with (tmp_path / "data.mdb").open("rb") as file:
            file.seek(allocated[0])
            assert not any(file.read(1 << 20))
        if start % 10_000 == 9_000:
            crawl.checkpoint()
    do(crawl.store.close())


def test_a_newer_state_is_refused_with_a_fix(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path)
    store.checkpoint(msgspec.structs.replace(Meta(), version=99))
    store.close()
    for _ in range(2):
        with pytest.raises(
            ConfigError, match=r"version 99, but this Windrow reads versions 4 to 5; use the Windrow that .* move"
        ):
            LmdbStore(tmp_path)


def test_a_file_that_is_no_store_is_refused_with_a_fix(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(b"something else" * 1000)
    with pytest.raises(
        ConfigError, match=r"cannot open the store: .*; if it is damaged, move .* away to have it rebuilt from log/"
    ):
        LmdbStore(tmp_path)


def test_url_texts_cut_short_are_refused_with_a_fix(tmp_path: Path) -> None:
    crawl = Hand(opened(tmp_path))
    crawl.add("http://a.org/1")
    crawl.checkpoint()
    do(crawl.store.close())
    os.truncate(tmp_path / "urls.dat", 20)
    with pytest.raises(
        ConfigError, match=r"urls\.dat is shorter than data\.mdb .* says; move .* away to have it rebuilt from log/"
    ):
        LmdbStore(tmp_path)


def test_a_directory_that_cannot_be_written_is_refused_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the directory should be")
    with pytest.raises((ConfigError, OSError)):
        LmdbStore(tmp_path / "state")
