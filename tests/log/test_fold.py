"""A log folds into its counts, however it ends."""

import gzip
from pathlib import Path

import msgspec
import pytest

from tests.logs import entry, frame, ok, task, write
from windrow import log
from windrow.config import ConfigError
from windrow.log.fold import PAUSE
from windrow.records import Frame, Kind, Order, Place, Reason


def test_the_fold_counts_every_url_once(tmp_path: Path) -> None:
    seeds = (task("a"),)
    again = entry(task("b"), Reason.TIMEOUT, seconds=1.0, final=False)
    disallowed = entry(task("c"), Reason.ROBOTS, detail="disallow: /c")
    robots = entry(
        task("robots.txt", kind=Kind.FILE, file="robots"),
        seconds=0.1,
        status=200,
        downloaded=30,
        place=Place("robotstxt/x", 0, 1),
    )
    write(
        tmp_path / "log",
        frame(1, robots, seeds=seeds),
        frame(2, ok(1, "a", "b", "c", refused={"tld": 4}, clean=90, kept=70)),
        frame(3, again, disallowed),
    )
    hosts = log.Hosts()
    totals = log.fold(tmp_path, hosts)
    assert totals.tally == log.Tally(
        seen=3,
        finished={"ok": 1, "robots": 1},
        retried={"timeout": 1},
        refused={"tld": 4},
        requests=3,
        captures=2,
        pages=1,
        documents=1,
        downloaded=530,
        clean=90,
        kept=70,
    )
    assert (totals.frames, hosts.names, totals.lengths) == (3, {"a.example.org"}, {"warc/x": 30})


def test_the_running_tally_and_the_fold_agree(tmp_path: Path) -> None:
    ended = [
        ok(1, "a", "b"),
        entry(task("b"), Reason.TIMEOUT, seconds=1.0, final=False),
        entry(task("b"), Reason.CONNECT),
    ]
    write(tmp_path / "log", frame(1, *ended))
    tally = log.Tally()
    for each in ended:
        tally.add(each)
    assert log.fold(tmp_path).tally == tally


def test_a_crawl_does_not_age_while_it_is_stopped(tmp_path: Path) -> None:
    frames = [
        Frame(number, time, (ok(1, str(number)),), {}) for number, time in enumerate([100.0, 110.0, 9000.0, 9001.0], 1)
    ]
    write(tmp_path / "log", *frames)
    accounts = log.Accounts(lambda site, line: None)
    found = log.fold(tmp_path, accounts)
    assert found.seconds == 10.0 + PAUSE + 1.0
    assert [point.seconds for point in accounts.points] == [0.0, 10.0, 70.0, 71.0]


def test_a_frame_cut_short_is_left_out_with_a_note(tmp_path: Path) -> None:
    (first, second) = write(tmp_path / "log", frame(1, ok(1, "a")), frame(2, ok(1, "b")))
    path = tmp_path / "log" / first[0]
    path.write_bytes(path.read_bytes()[: second[1] - 1])
    found = log.fold(tmp_path)
    assert (found.frames, found.tally.finished["ok"]) == (1, 1)
    assert found.notes == [
        f"log/{path.name}: {second[1] - 1 - first[1]} bytes after the last whole frame were left out"
    ]


def test_frames_appended_while_the_log_is_read_are_not_damage(tmp_path: Path) -> None:
    write(tmp_path / "log", frame(1, ok(1, "a")), frame(2, ok(1, "b")))
    path = tmp_path / "log" / "00000.jsonl.gz"
    frames = iter([log.encode(frame(3, ok(1, "c"))), log.encode(frame(4, ok(1, "d")))[:-3]])
    (tmp_path / "log" / "00001.jsonl.gz").write_bytes(b"")

    def append(_: int) -> None:
        with path.open("ab") as file:
            file.write(next(frames, b""))

    found = log.fold(tmp_path, watch=append)
    assert (found.frames, found.notes) == (3, [])


def test_a_gap_in_the_log_is_noted_and_the_rest_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "log", frame(1, ok(1, "a")), frame(4, ok(1, "b")))
    found = log.fold(tmp_path)
    assert found.tally.finished["ok"] == 2
    assert found.notes == ["frame 4 follows frame 1: the frames between them are lost or damaged, and are not counted"]


def test_a_crawl_that_has_not_begun_is_empty_and_another_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no crawl"):
        log.fold(tmp_path)
    (tmp_path / "crawl.toml").write_text("")
    found = log.fold(tmp_path)
    assert (found.tally, found.frames, found.notes) == (log.Tally(), 0, [])


def test_a_progress_bar_gets_every_byte(tmp_path: Path) -> None:
    write(tmp_path / "log", frame(1, ok(1, "a")), frame(2, ok(1, "b")))
    seen: list[int] = []
    log.fold(tmp_path, watch=seen.append)
    assert len(seen) == 2
    assert sum(seen) == log.length(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        b'{"another":"kind"}\n',
        b'{"\xff":1}\n',
        b"",
        b'{"frame":1,"time":1.0,"lengths":{}}\n{"url":5}\n',
        b'{"frame":1,"time":1.0,"lengths":{}}\n{"url":"x","reason":"ok","status":200}\n',
    ],
)
def test_a_log_in_another_format_is_refused_with_one_sentence(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "00000.jsonl.gz").write_bytes(gzip.compress(text))
    with pytest.raises(ConfigError, match="it is damaged, or a newer Windrow wrote it"):
        log.fold(tmp_path, log.Accounts(lambda site, line: None))


def test_urls_that_an_order_reopened_are_no_longer_finished(tmp_path: Path) -> None:
    dead = [entry(task(name), Reason.HOST_DEAD) for name in "bcd"]
    retry = Order("1", 2.0, "retry", ("host-dead",), reopened={"host-dead": 2})
    block = Order("2", 3.0, "block", ("b.org",))
    write(
        tmp_path / "log",
        frame(1, ok(1, "a", "b", "c", "d"), *dead, seeds=(task("a"),)),
        frame(2, entry(task("b"), Reason.NOT_FOUND), orders=(retry,)),
        frame(3, orders=(block,)),
    )
    accounts = log.Accounts(lambda site, line: None)
    totals = log.fold(tmp_path, accounts)
    assert totals.tally.seen == 4
    assert totals.tally.finished == {"ok": 1, "host-dead": 1, "not-found": 1}
    assert {name: part.urls for name, part in accounts.reasons.items()} == totals.tally.finished
    assert totals.controls.blocked == ("b.org",)


def test_an_order_survives_the_log(tmp_path: Path) -> None:
    whole = Order(
        id="1",
        time=2.0,
        verb="retry",
        values=("host-dead",),
        hosts=("a.org",),
        start=("a.org", 2**64 - 1),
        end=("b.org", 0),
        reopened={"host-dead": 2},
        admitted=1,
        refused={"length": 1},
    )
    write(tmp_path / "log", frame(1, orders=(whole, Order("2", 3.0, "pause"))))
    [(read, _)] = log.frames(tmp_path / "log")
    assert read.orders == (whole, Order("2", 3.0, "pause"))


def test_the_last_frame_says_whether_the_crawl_waits_for_the_network(tmp_path: Path) -> None:
    offline = msgspec.structs.replace(frame(2), offline=1001.5)
    write(tmp_path / "log", frame(1, ok(1, "a"), seeds=(task("a"),)), offline)
    assert log.fold(tmp_path).offline == 1001.5
    other = tmp_path / "other"
    other.mkdir()
    write(other / "log", frame(1, seeds=(task("a"),)), offline, frame(3))
    assert log.fold(other).offline == 0.0


def test_the_tallies_of_two_shards_join_to_that_of_all_their_entries(tmp_path: Path) -> None:
    timed_out = entry(task("b"), Reason.TIMEOUT, seconds=1.0, final=False, truncated="time")
    frames = [
        frame(1, ok(1, "a", "b", refused={"tld": 4}, clean=90, kept=70), seeds=(task("a"),)),
        frame(2, timed_out, ok(2, "c", refused={"tld": 1, "trap": 2}, kept=5)),
    ]
    write(tmp_path / "log", *frames)
    whole = log.fold(tmp_path).tally
    joined = log.Tally()
    for number, one in enumerate(frames):
        (tmp_path / str(number)).mkdir()
        write(tmp_path / str(number) / "log", msgspec.structs.replace(one, number=1))
        joined.join(log.fold(tmp_path / str(number)).tally)
    assert joined == whole
    assert whole.refused == {"tld": 5, "trap": 2}
