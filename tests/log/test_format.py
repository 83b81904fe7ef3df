"""A frame comes back from the log as it was written, with every field of its records."""

import json
import zlib

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import frame, url
from windrow import log
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
