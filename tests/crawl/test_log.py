"""The log keeps what it is given, and a frame cut short does not exist."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import urls
from windrow.config import ConfigError
from windrow.crawl import log
from windrow.data import Frame, Kind, Place, Reason, Report, Robots, Task, Url

NUMBERS = st.integers(0, 2**40)
TIMES = st.floats(0, 4e9, allow_nan=False)
WORDS = st.text("abcxyzäß%20&=-", max_size=12)


def url(path: str, host: str = "a.example.org") -> Url:
    found = urls.parse(f"http://{host}/{path}")
    assert found is not None
    return found


def task(path: str, **fields: object) -> Task:
    return Task(url(path), **fields)  # type: ignore[arg-type]


URLS = st.builds(url, WORDS, st.sampled_from(["a.example.org", "b.example.org:8080", "xn--bcher-kva.example", "[2001:db8::1]"]))
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


def ok(number: int, path: str, *links: str, **fields: object) -> Report:
    own = task(path)
    found = tuple(Task(url(link), depth=1, via=own.url.text) for link in links)
    return Report(number, own, Reason.OK, "", 1000.0 + number, 0.1, 200, 500, place=Place("warc/x", 0, 9), found=found, **fields)  # type: ignore[arg-type]


def write(directory: Path, *frames: Frame) -> list[log.Position]:
    file = log.Log(directory, ("", 0))
    positions = [file.append(log.encode(frame)) for frame in frames]
    file.close()
    return positions


def frame(number: int, *told: Report, seeds: tuple[Task, ...] = ()) -> Frame:
    return Frame(number, 1000.0 + number, told, {"warc/x": 10 * number}, seeds)


@given(FRAMES)
def test_a_frame_comes_back_as_it_was_written(written: Frame) -> None:
    member = log.encode(written)
    assert log.decode(log.zlib.decompress(member, 31)) == written


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


def test_a_long_log_goes_on_in_the_next_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LONGEST", 100)
    frames = [frame(number, ok(number, str(number))) for number in range(1, 6)]
    positions = write(tmp_path, *frames)
    assert len({name for name, _ in positions}) == 5
    assert [found for found, _ in log.frames(tmp_path)] == frames
    assert [found for found, _ in log.frames(tmp_path, positions[2])] == frames[3:]


def test_the_fold_over_the_log_counts_every_url_once(tmp_path: Path) -> None:
    seeds = (task("a"),)
    again = Report(0, task("b"), Reason.TIMEOUT, "", 5.0, 1.0, final=False)
    disallowed = Report(0, task("c"), Reason.ROBOTS, "disallow: /c", 5.0)
    asked = Report(3, task("robots.txt", kind=Kind.ROBOTS), Reason.OK, "", 5.0, 0.1, 200, 30, place=Place("robotstxt/x", 0, 1))
    write(tmp_path, frame(1, asked, seeds=seeds), frame(2, ok(1, "a", "b", "c", refused={"tld": 4})), frame(3, again, disallowed))
    totals = log.fold(tmp_path)
    assert totals.tally == log.Tally(
        seen=3, finished={"ok": 1, "robots": 1}, retried={"timeout": 1}, refused={"tld": 4}, requests=3, archived=2, downloaded=530
    )
    assert (totals.frames, totals.hosts, totals.lengths) == (3, 1, {"warc/x": 30})


def test_the_running_tally_and_the_fold_agree(tmp_path: Path) -> None:
    told = [ok(1, "a", "b"), Report(0, task("b"), Reason.TIMEOUT, "", 5.0, 1.0, final=False), Report(0, task("b"), Reason.CONNECT, "", 6.0)]
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


def test_a_failed_write_leaves_the_log_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = log.Log(tmp_path, ("", 0))
    first = file.append(log.encode(frame(1)))
    written = log.os.write

    def fails(handle: int, data: bytes) -> int:
        written(handle, bytes(data[:5]))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log.os, "write", fails)
    with pytest.raises(OSError, match="No space"):
        file.append(log.encode(frame(2)))
    monkeypatch.undo()
    assert (tmp_path / first[0]).stat().st_size == first[1]
    file.append(log.encode(frame(2)))
    file.close()
    assert [found.number for found, _ in log.frames(tmp_path)] == [1, 2]
