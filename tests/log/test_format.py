"""The log keeps what it is given, and a frame cut short does not exist."""

import json
import zlib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import frame, ok, task, url, write
from windrow import log
from windrow.config import ConfigError
from windrow.data import Frame, Kind, Place, Reason, Report, Robots, Task

NUMBERS = st.integers(0, 2**40)
TIMES = st.floats(0, 4e9, allow_nan=False)
WORDS = st.text("abcxyzäß%20&=-", max_size=12)


URLS = st.builds(
    url, WORDS, st.sampled_from(["a.example.org", "b.example.org:8080", "xn--bcher-kva.example", "[2001:db8::1]"])
)
TASKS = st.builds(
    Task,
    URLS,
    st.just(Kind.PAGE),
    priority=st.integers(0, 255),
    depth=st.integers(0, 99),
    distance=st.integers(0, 9),
    redirects=st.integers(0, 9),
    via=WORDS,
    attempt=st.integers(0, 20),
)
ROBOTS = st.builds(Robots, WORDS, WORDS, TIMES, TIMES, st.booleans(), TIMES)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    own = draw(TASKS)
    found = [Task(link, depth=own.depth + 1, via=own.url.text) for link in draw(st.lists(URLS, max_size=3))]
    return Report(
        seq=draw(NUMBERS),
        task=own,
        reason=draw(st.sampled_from(list(Reason))),
        detail=draw(st.text(max_size=20)),
        time=draw(TIMES),
        seconds=draw(TIMES),
        status=draw(st.integers(0, 599)),
        downloaded=draw(NUMBERS),
        clean=draw(NUMBERS),
        primary=draw(NUMBERS),
        kept=draw(NUMBERS),
        language=draw(st.sampled_from(["", "deu", "ces"])),
        scores=draw(st.dictionaries(WORDS, TIMES, max_size=2)),
        text=draw(st.integers(0, 2**64 - 1)),
        place=draw(st.none() | st.builds(Place, WORDS, NUMBERS, NUMBERS)),
        digest=draw(WORDS),
        shape=draw(st.integers(0, 2**32 - 1)),
        final=draw(st.booleans()),
        until=draw(TIMES),
        address=draw(WORDS),
        robots=draw(st.none() | ROBOTS),
        found=tuple(found),
        refused=draw(st.dictionaries(WORDS, NUMBERS, max_size=3)),
    )


FRAMES = st.builds(
    Frame,
    NUMBERS,
    TIMES,
    st.lists(reports(), max_size=3).map(tuple),
    st.dictionaries(WORDS, NUMBERS, max_size=3),
    st.lists(st.builds(Task, URLS, via=WORDS), max_size=3).map(tuple),
    NUMBERS,
)


@given(FRAMES)
def test_a_frame_comes_back_as_it_was_written(written: Frame) -> None:
    member = log.encode(written)
    assert log.decode(zlib.decompress(member, 31)) == written


def test_every_field_of_a_report_and_of_its_task_is_in_the_log() -> None:
    """The line is derived from the records: a field added to one of them needs no edit in the format."""
    own = Task(url("a"), Kind.PROBE, 1, 2, 3, 4, "via", 5)
    fields = {field.name: _other_than(field.default, field.type) for field in msgspec.structs.fields(Report)}
    full = Report(**{**fields, "task": own, "found": (Task(url("b"), via=own.url.text),)})
    text = zlib.decompress(log.encode(frame(1, full)), 31)
    written = set(json.loads(text.splitlines()[1]))
    assert written == {field.name for record in (Report, Task) for field in msgspec.structs.fields(record)} - {"task"}
    assert log.decode(text).reports == (full,)


def _other_than(default: object, kind: object) -> object:
    """Return a value of a type that is not the default of its field."""
    if kind == Place | None:
        return Place("warc/x", 1, 2)
    if kind == Robots | None:
        return Robots("http://a.example.org", "", 1.0, 2.0)
    if kind is Reason:
        return Reason.TIMEOUT
    return {
        bool: not default,
        int: 7,
        float: 7.5,
        str: "x",
        dict[str, int]: {"x": 1},
        dict[str, float]: {"x": 0.5},
    }.get(
        kind  # type: ignore[call-overload]
    )


def test_frames_are_read_from_any_position(tmp_path: Path) -> None:
    frames = [frame(number, ok(number, str(number))) for number in (1, 2, 3)]
    positions = write(tmp_path, *frames)
    assert list(log.frames(tmp_path)) == list(zip(frames, positions, strict=True))
    assert list(log.frames(tmp_path, positions[0])) == list(zip(frames[1:], positions[1:], strict=True))
    assert list(log.frames(tmp_path, positions[2])) == []


def test_a_frame_cut_at_any_byte_does_not_exist(tmp_path: Path) -> None:
    frames = [frame(1, ok(1, "a", "b")), frame(2, ok(2, "b"))]
    positions = write(tmp_path, *frames)
    path = tmp_path / positions[0][0]
    whole = path.read_bytes()
    for length in range(positions[0][1], len(whole)):
        path.write_bytes(whole[:length])
        assert [found.number for found, _ in log.frames(tmp_path)] == [1], length
    path.write_bytes(whole + b"\0" * 100)
    assert [found.number for found, _ in log.frames(tmp_path)] == [1, 2]


def test_a_gap_between_frames_is_refused(tmp_path: Path) -> None:
    write(tmp_path, frame(1), frame(3))
    with pytest.raises(ConfigError, match="frame 3 follows frame 1"):
        list(log.frames(tmp_path))


def test_the_fold_over_the_log_counts_every_url_once(tmp_path: Path) -> None:
    seeds = (task("a"),)
    again = Report(0, task("b"), Reason.TIMEOUT, "", 5.0, 1.0, final=False)
    disallowed = Report(0, task("c"), Reason.ROBOTS, "disallow: /c", 5.0)
    asked = Report(
        3, task("robots.txt", kind=Kind.ROBOTS), Reason.OK, "", 5.0, 0.1, 200, 30, place=Place("robotstxt/x", 0, 1)
    )
    write(
        tmp_path,
        frame(1, asked, seeds=seeds),
        frame(2, ok(1, "a", "b", "c", refused={"tld": 4}, clean=90, kept=70)),
        frame(3, again, disallowed),
    )
    totals = log.fold(tmp_path)
    assert totals.tally == log.Tally(
        seen=3,
        finished={"ok": 1, "robots": 1},
        retried={"timeout": 1},
        refused={"tld": 4},
        requests=3,
        archived=2,
        downloaded=530,
        clean=90,
        kept=70,
    )
    assert (totals.frames, totals.hosts, totals.lengths) == (3, 1, {"warc/x": 30})


def test_the_running_tally_and_the_fold_agree(tmp_path: Path) -> None:
    told = [
        ok(1, "a", "b"),
        Report(0, task("b"), Reason.TIMEOUT, "", 5.0, 1.0, final=False),
        Report(0, task("b"), Reason.CONNECT, "", 6.0),
    ]
    write(tmp_path, frame(1, *told))
    tally = log.Tally()
    for report in told:
        tally.add(report)
    assert log.fold(tmp_path).tally == tally


def test_mentions_tell_where_a_url_was_found_and_what_became_of_it(tmp_path: Path) -> None:
    page = ok(1, "a", "b")
    end = ok(2, "b")
    write(tmp_path, frame(1, seeds=(task("a"),)), frame(2, page), frame(3, end))
    assert [(found.frame, found.via, found.report) for found in log.mentions(tmp_path, url("b").text)] == [
        (2, url("a").text, None),
        (3, None, end),
    ]
    assert [found.via for found in log.mentions(tmp_path, url("a").text)] == ["", None]
    assert list(log.mentions(tmp_path, url("ab").text)) == []
