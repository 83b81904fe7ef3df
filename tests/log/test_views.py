"""Folds are kept between commands, and never believed where the log says something else."""

import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from tests.logs import frame, ok, page, write
from windrow import log, takedown
from windrow.log import Hosts, Removals, Totals, View, purges, views
from windrow.records import Kind


class PagesPerHour(msgspec.Struct):
    """A fold of one's own: all that a new number needs."""

    reads: ClassVar = ("kind", "time", "status")

    hours: dict[int, int] = {}

    def add(self, head: log.Head, lines: Sequence[log.Line]) -> None:
        for line in lines:
            if line.kind is Kind.PAGE and line.status:
                hour = int(line.time // 3600)
                self.hours[hour] = self.hours.get(hour, 0) + 1


@pytest.fixture(autouse=True)
def always_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "KEEP", 1)


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl whose log is longer than its views."""
    pages = [page(f"{number}", time=3600.0 * number, detail=os.urandom(400).hex(), kept=5) for number in range(4)]
    write(tmp_path / "log", frame(1, *pages[:2]), frame(2, *pages[2:]))
    return tmp_path


def hours(directory: Path) -> tuple[dict[int, int], int]:
    """Return the numbers of the fold, and how many bytes were read for them."""
    read: list[int] = []
    view = View(directory, "hours", PagesPerHour())
    (fold,) = view.read(read.append)
    return fold.hours, sum(read[1:])


def test_a_new_fold_is_resumed_by_the_next_command(crawl: Path) -> None:
    counts = {0: 1, 1: 1, 2: 1, 3: 1}
    assert hours(crawl) == (counts, log.length(crawl))
    assert hours(crawl) == (counts, 0)
    before = log.length(crawl)
    write(crawl / "log", frame(3, page("x", time=3 * 3600.0 + 1)))
    counts[3] += 1
    assert hours(crawl) == (counts, log.length(crawl) - before)
    assert hours(crawl) == (counts, 0)


def test_a_view_in_memory_gets_what_is_new(crawl: Path) -> None:
    view = View(crawl, "hours", PagesPerHour())
    assert sum(view.read()[0].hours.values()) == 4
    write(crawl / "log", frame(3, page("x")))
    assert sum(view.read()[0].hours.values()) == 5
    assert sum(view.read()[0].hours.values()) == 5


def test_a_short_log_has_no_views(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "KEEP", log.length(crawl) + 1)
    assert hours(crawl) == hours(crawl)
    assert not (crawl / "views").exists()


def test_every_damaged_byte_is_noticed(crawl: Path) -> None:
    expected = hours(crawl)
    path = crawl / "views" / "hours"
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        assert hours(crawl) == expected, at
        assert path.read_bytes() == whole, "it was made again"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert hours(crawl) == expected, length


@pytest.mark.parametrize(
    "content",
    [
        b"",
        views.sealed(b""),
        views.sealed(b"\x93"),
        views.sealed(msgspec.msgpack.encode(["hours", {"file": "../x", "offset": 9}, []])),
        views.sealed(b"\x91" * 100_000),
        bytes(1 << 20),
    ],
)
def test_bytes_of_a_stranger_are_no_view(crawl: Path, content: bytes) -> None:
    expected = hours(crawl)
    (crawl / "views" / "hours").write_bytes(content)
    assert hours(crawl) == expected


def test_a_view_of_another_log_or_of_another_question_begins_again(crawl: Path, tmp_path: Path) -> None:
    expected = hours(crawl)
    other = tmp_path / "other"
    other.mkdir()
    write(other / "log", frame(1, page("a", time=9 * 3600.0, detail="x" * 3000)))
    (other / "views").mkdir()
    (other / "views" / "hours").write_bytes((crawl / "views" / "hours").read_bytes())
    assert hours(other)[0] == {9: 1}
    (crawl / "views" / "hours").write_bytes((other / "views" / "hours").read_bytes())
    assert hours(crawl) == expected
    View(crawl, "hours", Hosts()).read()
    assert hours(crawl) == expected


def test_a_view_of_another_version_begins_again(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = hours(crawl)
    monkeypatch.setattr("windrow.__version__", "0.0.0")
    assert hours(crawl) == expected


def test_another_takedown_list_is_another_question(crawl: Path) -> None:
    def listed() -> set[str]:
        (removals,) = View(crawl, "listed", Removals(takedown.of(crawl))).read()
        return set(removals.listed)

    assert listed() == listed() == set()
    (crawl / "takedown.txt").write_text("http://a.example.org/2\n")
    assert listed() == listed() == {"http://a.example.org/2"}


def test_a_purge_counts_with_the_frame_that_says_so(crawl: Path) -> None:
    (crawl / "takedown.txt").write_text("http://a.example.org/2\n")
    view = View(crawl, "listed", Removals(takedown.of(crawl)))
    assert view.read()[0].listed == {"http://a.example.org/2"}
    order = purges.order("takedown.txt, line 1", ("http://a.example.org/2",), "p", 1.0)
    write(crawl / "log", frame(3, orders=(order,)))
    for again in (view, View(crawl, "listed", Removals(takedown.of(crawl)))):
        (removals,) = again.read()
        assert (removals.listed, removals.purged) == (set(), {"http://a.example.org/2"})


def test_a_log_that_recovery_has_cut_is_counted_again(crawl: Path) -> None:
    content = (crawl / "log" / "00000.jsonl.gz").read_bytes()
    write(crawl / "log", frame(3, page("x", time=0.0)))
    view = View(crawl, "hours", PagesPerHour())
    assert view.read()[0].hours[0] == 2 and hours(crawl)[0][0] == 2
    (crawl / "log" / "00000.jsonl.gz").write_bytes(content)
    assert view.read()[0].hours[0] == 1 and hours(crawl)[0][0] == 1


def test_a_log_with_damage_is_read_each_time(tmp_path: Path) -> None:
    write(tmp_path / "log", frame(1, ok(1, "a", detail="x" * 5000)), frame(3, ok(3, "b")))
    for _ in range(2):
        view = View(tmp_path, "totals", Totals())
        view.read()
        assert view.position.notes
    assert not (tmp_path / "views").exists()


def unwritable(views: Path) -> Iterator[Path]:
    views.write_text("a file")
    yield views
    views.unlink()
    views.symlink_to(views.parent / "elsewhere", target_is_directory=True)
    (views.parent / "elsewhere").mkdir()
    yield views.parent / "elsewhere"
    views.unlink()
    views.mkdir()
    for name in ("hours", "hours.new", "lock"):
        (views / name).mkdir()
    yield views / "hours"


def test_where_views_cannot_be_written_the_log_is_read(crawl: Path) -> None:
    expected = hours(crawl)[0], log.length(crawl)
    (crawl / "views" / "hours").unlink()
    (crawl / "views" / "lock").unlink()
    (crawl / "views").rmdir()
    for place in unwritable(crawl / "views"):
        before = place.read_bytes() if place.is_file() else list(place.iterdir())
        assert hours(crawl) == hours(crawl) == expected
        assert before == (place.read_bytes() if place.is_file() else list(place.iterdir()))


def test_a_directory_that_may_not_be_written_is_read(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (crawl / "views").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    assert hours(crawl) == hours(crawl) == ({0: 1, 1: 1, 2: 1, 3: 1}, log.length(crawl))
    assert not list((crawl / "views").iterdir())


def test_links_and_pipes_are_not_followed(crawl: Path) -> None:
    expected = hours(crawl)
    precious = crawl / "precious"
    precious.write_text("mine")
    for name in ("hours", "hours.new", "lock"):
        for make in (lambda path: path.symlink_to(precious), os.mkfifo):
            for path in (crawl / "views").iterdir():
                path.unlink()
            make(crawl / "views" / name)
            assert hours(crawl) == expected
            assert precious.read_text() == "mine"


def test_one_command_writes_and_the_others_do_without(crawl: Path) -> None:
    expected = hours(crawl)
    path = crawl / "views" / "hours"
    whole = path.read_bytes()
    path.write_bytes(b"damaged")
    with (crawl / "views" / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert hours(crawl) == expected
        assert path.read_bytes() == b"damaged"
    assert hours(crawl) == expected
    assert path.read_bytes() == whole


def test_commands_at_the_same_time_give_the_same(crawl: Path) -> None:
    results: list[dict[int, int]] = []
    threads = [threading.Thread(target=lambda: results.append(hours(crawl)[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [{0: 1, 1: 1, 2: 1, 3: 1}] * 8
    assert hours(crawl)[1] == 0
    assert sorted(path.name for path in (crawl / "views").iterdir()) == ["hours", "lock"]
