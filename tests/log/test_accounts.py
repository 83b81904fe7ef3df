"""The accounts of a log: by domain and host, by language and reason, and over time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import entry, frame, page, task, url, write
from windrow import log
from windrow.config import FrontierOptions
from windrow.frontier.policy import budget
from windrow.frontier.policy.whatif import Question, WhatIf
from windrow.log import Accounts, SiteAccount, Totals, accounts
from windrow.log.accounts import Part, Point
from windrow.records import Entry, Kind, Reason, Task

HOSTS = ("a.example.org", "b.example.org:8080", "example.com", "[2001:db8::1]", "127.0.0.1")


def folded(directory: Path, *entries: Entry, seeds: tuple[Task, ...] = ()) -> Accounts:
    write(directory / "log", frame(1, *entries, seeds=seeds))
    return read(directory)[1]


def read(directory: Path, unit: str = "domain", options: FrontierOptions | None = None) -> tuple[Totals, Accounts]:
    book = Accounts(WhatIf(Question(options or FrontierOptions(), ())).book, unit)
    return log.fold(directory, book), book


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    kind = draw(st.sampled_from([Kind.PAGE, Kind.PAGE, Kind.PAGE, Kind.FILE]))
    links = draw(st.lists(st.text('ab],["http://', min_size=1, max_size=12), max_size=4))
    clean = draw(st.integers(0, 900))
    return entry(
        Task(url(draw(st.text('xy],["', max_size=5)), draw(st.sampled_from(HOSTS))), kind=kind),
        draw(st.sampled_from(list(Reason))),
        [url(link) for link in links],
        detail=draw(st.sampled_from(["", '],["http', '"admitted":[["http'])),
        seconds=draw(st.sampled_from([0.0, 0.5])),
        status=draw(st.sampled_from([0, 200, 404])),
        downloaded=draw(st.integers(0, 5000)),
        clean=clean,
        kept=draw(st.integers(0, clean)),
        language=draw(st.sampled_from(["", "deu", "ces"])),
        final=draw(st.booleans()),
        refused=draw(st.dictionaries(st.sampled_from(["tld", "],["]), st.integers(1, 9), max_size=2)),
    )


@given(st.lists(entries(), max_size=8))
def test_the_accounts_add_up_to_the_tally(tmp_path_factory: pytest.TempPathFactory, entries_: list[Entry]) -> None:
    directory = tmp_path_factory.mktemp("fold")
    write(directory / "log", frame(1, *entries_, seeds=(task("a"),)))
    totals, book = read(directory)
    running = log.Tally(seen=1)
    for each in entries_:
        running.add(each)
    assert totals.tally == running
    assert {reason: part.urls for reason, part in book.reasons.items()} == running.finished
    pages = sum(site.downloaded for site in book.sites.values())
    assert pages + book.other + book.broken == running.downloaded


@given(st.lists(entries(), max_size=8), st.sampled_from(["kept", "clean", "primary"]))
def test_an_account_is_what_the_frontier_would_have_booked(
    tmp_path_factory: pytest.TempPathFactory, ended: list[Entry], text: str
) -> None:
    options = FrontierOptions(yield_text=text)
    rule = budget.rule(options)
    directory = tmp_path_factory.mktemp("fold")
    write(directory / "log", frame(1, *ended))
    _, found = read(directory, options=options)
    booked: dict[str, SiteAccount] = {}
    for report in [each.report for each in ended]:
        if report.task.kind is Kind.PAGE and report.status:
            budget.enter(report, rule, booked.setdefault(report.task.url.domain, SiteAccount()))
    names = ("pages", "downloaded", "kept", "clean", "primary", "yields")
    assert {
        name: [getattr(account, field) for field in names] for name, account in found.sites.items() if account.pages
    } == {name: [getattr(account, field) for field in names] for name, account in booked.items()}


def test_hosts_of_a_domain_share_an_account_unless_the_unit_is_the_host(tmp_path: Path) -> None:
    ended = [page("x", "a.example.org"), page("y", "b.example.org:8080"), page("z", "127.0.0.1:8080")]
    assert {name: account.pages for name, account in folded(tmp_path, *ended).sites.items()} == {
        "example.org": 2,
        "127.0.0.1": 1,
    }
    by_host = read(tmp_path, "host")[1].sites
    assert sorted(by_host) == ["127.0.0.1", "a.example.org", "b.example.org"]


def test_languages_and_reasons_have_their_bytes_and_tokens(tmp_path: Path) -> None:
    ended = [
        page("a", clean=300, kept=200, tokens=30, language="deu", scores={"words": 40.0}),
        page("b", clean=100, language="ces", reason=Reason.LANGUAGE, scores={"words": 15.0}),
        page("c", reason=Reason.NO_TEXT),
    ]
    found = folded(tmp_path, *ended)
    assert found.languages == {"deu": Part(1, 1, 1000, 300, 200, 30), "ces": Part(1, 0, 1000, 100)}
    assert found.reasons == {
        "ok": Part(1, 1, 1000, 300, 200, 30),
        "language": Part(1, 0, 1000, 100),
        "no-text": Part(1, 0, 1000),
    }
    account = found.sites["example.org"]
    assert (account.documents, account.tokens, account.clean, account.kept) == (1, 30, 400, 200)


def test_urls_dropped_for_low_yield_belong_to_their_domain_and_are_no_pages(tmp_path: Path) -> None:
    closed = entry(task("b"), Reason.LOW_YIELD)
    account = folded(tmp_path, page("a"), closed, closed).sites["example.org"]
    assert (account.pages, account.closed) == (1, 2)


def test_a_long_timeline_keeps_its_sums(tmp_path: Path) -> None:
    ended = [
        page(str(number), downloaded=number, clean=3, kept=number % 2) for number in range(3 * accounts.POINTS + 5)
    ]
    points = folded(tmp_path, *ended).points
    assert len(points) <= accounts.POINTS
    assert len({point.pages for point in points[:-1]}) == 1
    sums = [sum(getattr(point, name) for point in points) for name in ("pages", "downloaded", "clean", "kept")]
    assert sums == [
        len(ended),
        *(sum(getattr(each.report, name) for each in ended) for name in ("downloaded", "clean", "kept")),
    ]


def test_stretches_are_joined_in_order() -> None:
    points = [Point(1, 10, 5, 2, seconds) for seconds in (1.0, 2.0, 3.0)]
    assert accounts.joined(points, 2) == [Point(2, 20, 10, 4, 2.0), Point(1, 10, 5, 2, 3.0)]


def test_a_requisite_is_booked_to_no_site(tmp_path: Path) -> None:
    image = Task(url("i", "a.example.org"), embed=1)
    book = folded(
        tmp_path,
        page("p", downloaded=100),
        entry(image, Reason.OK, [], status=200, downloaded=5000),
    )
    assert sum(site.downloaded for site in book.sites.values()) == 100
    assert book.other == 5000
