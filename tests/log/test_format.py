"""A frame comes back from the log as it was written, with every field of its records."""

import json
import zlib

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import frame, url
from windrow import log
from windrow.records import (
    Access,
    Entry,
    FileState,
    Frame,
    History,
    Kind,
    Order,
    Origin,
    OriginFile,
    Place,
    Reason,
    Report,
    Task,
    Url,
    Watermark,
)

NUMBERS = st.integers(0, 2**40)
TIMES = st.floats(0, 4e9, allow_nan=False)
WORDS = st.text("abcxyzäß%20&=-", max_size=12)


URLS = st.builds(
    url, WORDS, st.sampled_from(["a.example.org", "b.example.org:8080", "xn--bcher-kva.example", "[2001:db8::1]"])
)
TASKS = st.builds(
    Task,
    URLS,
    kind=st.sampled_from(Kind),
    priority=st.integers(0, 255),
    depth=st.integers(0, 99),
    distance=st.integers(0, 9),
    redirects=st.integers(0, 9),
    via=WORDS,
    attempt=st.integers(0, 20),
    file=WORDS,
    embed=st.integers(0, 3),
    hints=st.binary(max_size=24),
    request=st.binary(max_size=24),
    history=st.none() | st.builds(History, visits=st.integers(1, 99), reason=st.sampled_from(Reason)),
)
FILES = st.builds(OriginFile, st.sampled_from(FileState), WORDS)
ORIGINS = st.builds(
    Origin,
    name=WORDS,
    stamp=TIMES,
    fetched=TIMES,
    expires=TIMES,
    access=st.sampled_from(Access),
    delay=TIMES,
    rules=WORDS,
    files=st.dictionaries(WORDS, FILES, max_size=2),
)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    own = draw(TASKS)
    admitted = [
        Task(
            link,
            depth=own.depth + 1,
            via=own.url.text,
            embed=draw(st.integers(0, 3)),
            hints=draw(st.binary(max_size=24)),
            request=draw(st.binary(max_size=24)),
        )
        for link in draw(st.lists(URLS, max_size=3))
    ]
    report = Report(
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
        origin=draw(st.none() | ORIGINS),
        rules=draw(TIMES),
        moved=draw(st.none() | URLS),
    )
    kept = draw(st.integers(0, len(admitted)))
    refused = draw(st.dictionaries(WORDS, NUMBERS, max_size=3))
    return Entry(report, tuple(admitted[:kept]), refused, sent=tuple(admitted[kept:]))


ORDERS = st.builds(
    Order,
    id=WORDS,
    time=TIMES,
    verb=WORDS,
    values=st.lists(WORDS, max_size=2).map(tuple),
    hosts=st.lists(WORDS, max_size=2).map(tuple),
)
FRAMES = st.builds(
    Frame,
    NUMBERS,
    TIMES,
    st.lists(entries(), max_size=3).map(tuple),
    st.dictionaries(WORDS, NUMBERS, max_size=3),
    st.lists(
        st.builds(
            Task,
            URLS,
            via=WORDS,
            embed=st.integers(0, 3),
            hints=st.binary(max_size=24),
            request=st.binary(max_size=24),
        ),
        max_size=3,
    ).map(tuple),
    NUMBERS,
    st.lists(ORDERS, max_size=2).map(tuple),
    incarnation=NUMBERS,
    receivers=st.lists(st.integers(0, 99), max_size=3).map(tuple),
    got=st.dictionaries(st.integers(0, 99), st.builds(Watermark, NUMBERS, NUMBERS), max_size=3),
)


@given(FRAMES)
def test_a_frame_comes_back_as_it_was_written(written: Frame) -> None:
    member = log.encode(written)
    assert log.decode(zlib.decompress(member, 31)) == written


def test_every_field_of_a_report_and_of_its_task_is_in_the_log() -> None:
    """The line is derived from the records: a field added to one of them needs no edit in the format."""
    own = Task(
        url("a"),
        Kind.FILE,
        priority=1,
        depth=2,
        distance=3,
        redirects=4,
        via="via",
        attempt=5,
        file="robots",
        embed=6,
        hints=b"\0\xff",
        request=b"\xff\0",
        history=History(visits=1, reason=Reason.NOT_FOUND),
    )
    fields = {field.name: _other_than(field.default, field.type) for field in msgspec.structs.fields(Report)}
    report = Report(**{**fields, "task": own, "links": (), "refused": {}})
    links = [(Task(url(path), via=own.url.text),) for path in ("b", "c")]
    full = Entry(report, admitted=links[0], refused={"x": 1}, sent=links[1], due=7)
    text = zlib.decompress(log.encode(frame(1, full)), 31)
    written = set(json.loads(text.splitlines()[1]))
    named = {field.name for record in (Entry, Report, Task) for field in msgspec.structs.fields(record)}
    assert written == named - {"report", "task", "links"}
    assert log.decode(text).entries == (full,)


def test_a_log_from_before_the_exchange_is_read_and_a_crawl_without_shards_writes_the_same_log() -> None:
    old = b'{"frame":3,"time":1.5,"lengths":{},"seeds":[["http://a.example.org/",128,0,0,0,""]]}\n'
    found = log.decode(old)
    assert (found.incarnation, found.receivers, found.got) == (0, (), {})
    assert zlib.decompress(log.encode(found), 31) == old


def test_a_log_from_before_moved_files_had_a_field_is_read_and_written_as_it_was() -> None:
    """Such a log has the redirect of a well-known file without its target, and links as they are now."""
    old = (
        b'{"frame":3,"time":1.5,"lengths":{}}\n'
        b'{"url":"http://a.example.org/robots.txt","reason":"redirect","time":1.25,"detail":"http://b.example.org/r",'
        b'"status":301,"kind":1,"priority":0,"file":"robots"}\n'
        b'{"url":"http://a.example.org/","reason":"ok","time":1.5,"seq":1,"status":200,'
        b'"admitted":[["http://a.example.org/b",128,1,0,0]]}\n'
    )
    file, page = log.decode(old).entries
    assert (file.report.moved, file.report.links, file.report.task.file) == (None, (), "robots")
    assert [task.url for task in page.admitted] == [url("b")]
    again = zlib.decompress(log.encode(log.decode(old)), 31)
    assert list(map(json.loads, again.splitlines())) == list(map(json.loads, old.splitlines()))


def test_the_place_to_which_a_file_was_moved_is_in_the_log() -> None:
    own = Task(url("robots.txt"), Kind.FILE, file="robots")
    report = Report(seq=1, task=own, reason=Reason.REDIRECT, detail="", time=1.0, moved=url("elsewhere"))
    text = zlib.decompress(log.encode(frame(1, Entry(report))), 31)
    assert json.loads(text.splitlines()[1])["moved"] == "http://a.example.org/elsewhere"
    assert log.decode(text).entries == (Entry(report),)


def test_links_that_were_not_admitted_are_not_in_the_log() -> None:
    report = Report(seq=1, task=Task(url("a")), reason=Reason.OK, detail="", time=1.0, links=(Task(url("b")),))
    text = zlib.decompress(log.encode(frame(1, Entry(report))), 31)
    assert log.decode(text).entries == (Entry(msgspec.structs.replace(report, links=())),)


def _other_than(default: object, kind: object) -> object:
    """Return a value of a type that is not the default of its field."""
    if kind == Place | None:
        return Place("warc/x", 1, 2)
    if kind == Origin | None:
        return Origin(name="http://a.example.org", stamp=1.0, fetched=1.0, expires=2.0)
    if kind == Url | None:
        return url("elsewhere")
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
