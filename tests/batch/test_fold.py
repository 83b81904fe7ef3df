"""A log folds into the counts that it has, however it ends."""

import gzip
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import frame, task, url, write
from windrow import log
from windrow.batch import fold
from windrow.batch.fold import Part, Point
from windrow.config import ConfigError, Frontier
from windrow.data import Frame, Kind, Place, Reason, Report, Task
from windrow.frontier.policy import budget

HOSTS = ("a.example.org", "b.example.org:8080", "example.com", "[2001:db8::1]", "127.0.0.1")


def page(path: str, host: str = "a.example.org", reason: Reason = Reason.OK, **fields: object) -> Report:
    links = fields.pop("links", ())
    found = tuple(Task(url(link), depth=1, via=url(path, host).text) for link in links)  # type: ignore[attr-defined]
    given = {
        "seconds": 0.1,
        "status": 200,
        "downloaded": 1000,
        "place": Place("warc/x", 0, 9),
        "found": found,
        **fields,
    }
    return Report(1, Task(url(path, host)), reason, "", 1000.0, **given)  # type: ignore[arg-type]


def folded(directory: Path, *reports: Report, seeds: tuple[Task, ...] = (), **options: object) -> fold.Folded:
    write(directory / "log", frame(1, *reports, seeds=seeds))
    return fold.fold(directory, **options)  # type: ignore[arg-type]


@st.composite
def reports(draw: st.DrawFn) -> Report:
    kind = draw(st.sampled_from([Kind.PAGE, Kind.PAGE, Kind.PAGE, Kind.ROBOTS]))
    links = draw(st.lists(st.text('ab],["http://', min_size=1, max_size=12), max_size=4))
    clean = draw(st.integers(0, 900))
    return Report(
        1,
        Task(url(draw(st.text('xy],["', max_size=5)), draw(st.sampled_from(HOSTS))), kind),
        draw(st.sampled_from(list(Reason))),
        draw(st.sampled_from(["", '],["http', '"found":[["http'])),
        1000.0,
        seconds=draw(st.sampled_from([0.0, 0.5])),
        status=draw(st.sampled_from([0, 200, 404])),
        downloaded=draw(st.integers(0, 5000)),
        clean=clean,
        kept=draw(st.integers(0, clean)),
        language=draw(st.sampled_from(["", "deu", "ces"])),
        final=draw(st.booleans()),
        found=tuple(Task(url(link), via="x") for link in links),
        refused=draw(st.dictionaries(st.sampled_from(["tld", "],["]), st.integers(1, 9), max_size=2)),
    )


@given(st.lists(reports(), max_size=8))
def test_the_counts_are_those_of_status(tmp_path_factory: pytest.TempPathFactory, told: list[Report]) -> None:
    directory = tmp_path_factory.mktemp("fold")
    found = folded(directory, *told, seeds=(task("a"),))
    tally = log.fold(directory / "log").tally
    counts = {reason: part.urls for reason, part in found.finished.items()}
    assert (found.seen, counts, found.retried, found.refused) == (
        tally.seen,
        tally.finished,
        tally.retried,
        tally.refused,
    )
    assert (found.requests, found.downloaded) == (tally.requests, tally.downloaded)


@given(st.lists(reports(), max_size=8), st.sampled_from(["kept", "clean", "primary"]))
def test_an_account_is_what_the_budget_would_have_booked(
    tmp_path_factory: pytest.TempPathFactory, told: list[Report], text: str
) -> None:
    rule = budget.rule(Frontier(yield_text=text))
    found = folded(tmp_path_factory.mktemp("fold"), *told, rules=[rule])
    booked: dict[str, fold.Account] = {}
    for report in told:
        if report.task.kind is Kind.PAGE and report.status:
            budget.enter(report, rule, booked.setdefault(report.task.url.domain, fold.Account()))
    names = ("pages", "downloaded", "kept", "clean", "primary", "yields")
    assert {
        name: [getattr(account, field) for field in names] for name, account in found.accounts.items() if account.pages
    } == {name: [getattr(account, field) for field in names] for name, account in booked.items()}


def test_hosts_of_a_domain_share_an_account_unless_hosts_are_asked_for(tmp_path: Path) -> None:
    told = [page("x", "a.example.org"), page("y", "b.example.org:8080"), page("z", "127.0.0.1:8080")]
    assert {name: account.pages for name, account in folded(tmp_path, *told).accounts.items()} == {
        "example.org": 2,
        "127.0.0.1": 1,
    }
    by_host = fold.fold(tmp_path, unit="host").accounts
    assert sorted(by_host) == ["127.0.0.1", "a.example.org", "b.example.org"]


def test_languages_and_reasons_have_their_bytes_and_words(tmp_path: Path) -> None:
    told = [
        page("a", clean=300, kept=200, language="deu", scores={"words": 40.0, "near_duplicates": 0.25}),
        page("b", clean=100, language="ces", reason=Reason.LANGUAGE, scores={"words": 15.0}),
        page("c", reason=Reason.NO_TEXT),
    ]
    found = folded(tmp_path, *told)
    assert found.languages == {"deu": Part(1, 1, 1000, 300, 200, 30.0), "ces": Part(1, 0, 1000, 100)}
    assert found.finished == {
        "ok": Part(1, 1, 1000, 300, 200, 30.0),
        "language": Part(1, 0, 1000, 100),
        "no-text": Part(1, 0, 1000),
    }
    account = found.accounts["example.org"]
    assert (account.documents, account.words, account.clean, account.kept) == (1, 30.0, 400, 200)


def test_urls_of_a_retired_domain_are_its_own_and_no_page_of_it(tmp_path: Path) -> None:
    closed = Report(0, task("b"), Reason.LOW_YIELD, "", 5.0)
    account = folded(tmp_path, page("a"), closed, closed).accounts["example.org"]
    assert (account.pages, account.closed) == (1, 2)


def test_a_stopped_crawl_does_not_get_older(tmp_path: Path) -> None:
    frames = [
        Frame(number, time, (page(str(number)),), {}) for number, time in enumerate([100.0, 110.0, 9000.0, 9001.0], 1)
    ]
    write(tmp_path / "log", *frames)
    found = fold.fold(tmp_path)
    assert found.seconds == 10.0 + fold.PAUSE + 1.0
    assert [point.seconds for point in found.points] == [0.0, 10.0, 70.0, 71.0]


def test_a_long_timeline_keeps_its_sums(tmp_path: Path) -> None:
    told = [page(str(number), downloaded=number, clean=3, kept=number % 2) for number in range(3 * fold.POINTS + 5)]
    points = folded(tmp_path, *told).points
    assert len(points) <= fold.POINTS
    assert len({point.pages for point in points[:-1]}) == 1
    sums = [sum(getattr(point, name) for point in points) for name in ("pages", "downloaded", "clean", "kept")]
    assert sums == [
        len(told),
        *(sum(getattr(report, name) for report in told) for name in ("downloaded", "clean", "kept")),
    ]


def test_stretches_are_joined_in_order() -> None:
    points = [Point(1, 10, 5, 2, seconds) for seconds in (1.0, 2.0, 3.0)]
    assert fold.joined(points, 2) == [Point(2, 20, 10, 4, 2.0), Point(1, 10, 5, 2, 3.0)]


def test_a_frame_cut_short_is_left_out_and_said(tmp_path: Path) -> None:
    (first, second) = write(tmp_path / "log", frame(1, page("a")), frame(2, page("b")))
    path = tmp_path / "log" / first[0]
    path.write_bytes(path.read_bytes()[: second[1] - 1])
    found = fold.fold(tmp_path)
    assert (found.frames, found.finished["ok"].urls) == (1, 1)
    assert found.notes == [
        f"log/{path.name}: {second[1] - 1 - first[1]} bytes behind the last whole frame were left out"
    ]


def test_what_a_running_crawl_adds_meanwhile_is_not_a_frame_cut_short(tmp_path: Path) -> None:
    write(tmp_path / "log", frame(1, page("a")), frame(2, page("b")))
    path = tmp_path / "log" / "00000.jsonl.gz"
    frames = iter([log.encode(frame(3, page("c"))), log.encode(frame(4, page("d")))[:-3]])
    (tmp_path / "log" / "00001.jsonl.gz").write_bytes(b"")

    def goes_on(_: int) -> None:
        with path.open("ab") as file:
            file.write(next(frames, b""))

    found = fold.fold(tmp_path, watch=goes_on)
    assert (found.frames, found.notes) == (3, [])


def test_a_log_with_a_hole_is_counted_without_it_and_that_is_said(tmp_path: Path) -> None:
    write(tmp_path / "log", frame(1, page("a")), frame(4, page("b")))
    found = fold.fold(tmp_path)
    assert found.finished["ok"].urls == 2
    assert found.notes == ["frame 4 follows frame 1: what lies between is lost or damaged, and not counted"]


def test_a_crawl_not_begun_is_empty_and_what_is_no_crawl_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no crawl"):
        fold.fold(tmp_path)
    (tmp_path / "crawl.toml").write_text("")
    found = fold.fold(tmp_path)
    assert (found.accounts, found.seen, found.points, found.notes) == ({}, 0, [], [])


def test_who_watches_is_told_of_every_byte(tmp_path: Path) -> None:
    write(tmp_path / "log", frame(1, page("a")), frame(2, page("b")))
    told: list[int] = []
    fold.fold(tmp_path, watch=told.append)
    assert len(told) == 2
    assert sum(told) == fold.length(tmp_path)


def test_a_replay_loses_what_comes_after_a_domain_was_retired(tmp_path: Path) -> None:
    rule = msgspec.structs.replace(budget.rule(Frontier(yield_threshold="0.1,0")), grace_pages=3, grace_bytes=2000)
    never = budget.rule(Frontier(yield_threshold="off"))
    poor = [page(str(number), kept=10, clean=10) for number in range(5)]
    rich = [page(str(number), "example.com", kept=900, clean=900) for number in range(5)]
    loose, strict = folded(tmp_path, *poor, *rich, rules=[never, rule]).outcomes
    assert (loose.retired, loose.pages, loose.downloaded, loose.kept) == (0, 0, 0, 0)
    # t(3) = 0.048 > 0.01, so the third page is the last; the grace of bytes was over after the second
    assert (strict.retired, strict.pages, strict.downloaded, strict.kept) == (1, 2, 2000, 20)


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
def test_a_log_of_another_kind_is_refused_in_a_sentence(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "00000.jsonl.gz").write_bytes(gzip.compress(text))
    with pytest.raises(ConfigError, match="it is damaged, or a newer Windrow wrote it"):
        fold.fold(tmp_path)
