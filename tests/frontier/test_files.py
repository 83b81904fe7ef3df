"""Well-known files: they are requested between robots.txt and the first page, and from the place they moved to."""

import msgspec
import pytest

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import needed_by, task
from windrow.records import Access, FileState, Kind, Lease, OriginFile, Reason

FILES = {"licence": "/.well-known/licence.json"}
UNANSWERED = OriginFile(FileState.UNANSWERED)
ABSENT = OriginFile(FileState.ABSENT)


@pytest.fixture
def wanting(hand: Opener) -> Opener:
    """Open a frontier that wants a file of each origin."""

    def opened(files: dict[str, str] = FILES, **options: object) -> Hand:
        return hand(files=files, **options)

    return opened


def present(text: str) -> OriginFile:
    return OriginFile(FileState.PRESENT, text)


def answer(crawl: Hand, lease: Lease, file: OriginFile = ABSENT, reason: Reason = Reason.OK) -> None:
    """Acknowledge the files of a lease: each becomes this one in the record of the origin that needs it."""
    known = {origin.name: origin for origin in lease.origins}
    for each in lease.tasks:
        assert each.kind is Kind.FILE and each.file != "robots"
        origin = known[needed_by(each)]
        changed = msgspec.structs.replace(origin, files={**origin.files, each.file: file}, stamp=crawl.now)
        crawl.ack(each, reason, origin=changed)
    crawl.release(lease)


def next_lease(crawl: Hand, name: str, host: str = "") -> Lease:
    """Return the next lease of this file ("" for pages) at this host. Until then every robots.txt allows everything."""
    while True:
        lease = crawl.lease_next()
        first = lease.tasks[0]
        if first.kind is not Kind.RESOLVE and first.file == name and host in ("", lease.host):
            return lease
        if first.kind is Kind.RESOLVE:
            crawl.resolve(lease)
        else:
            assert first.file == "robots", lease
            crawl.allow(lease)


def serve_all(crawl: Hand) -> list[str]:
    """Serve every page and every file; return the URLs in the order of their requests."""
    requested = []
    while crawl.again is not None:
        for lease in crawl.lease():
            first = lease.tasks[0]
            if first.kind is Kind.RESOLVE:
                crawl.resolve(lease)
                continue
            requested += texts(lease)
            if first.kind is Kind.PAGE:
                crawl.serve(lease)
            elif first.file == "robots":
                crawl.allow(lease)
            else:
                answer(crawl, lease, present("all"))
        if crawl.again is not None:
            crawl.wait()
    return requested


def test_a_file_is_requested_after_robots_txt_and_before_the_first_page(wanting: Opener) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2", "https://a.org/1")
    assert serve_all(crawl) == [
        "http://a.org/robots.txt",
        "http://a.org/.well-known/licence.json",
        "http://a.org/1",
        "http://a.org/2",
        "https://a.org/robots.txt",
        "https://a.org/.well-known/licence.json",
        "https://a.org/1",
    ]


def test_several_files_are_requested_in_the_order_in_which_they_were_given(wanting: Opener) -> None:
    crawl = wanting({"second": "/b", "first": "/a"}, delay=1.0)
    crawl.add("http://a.org/1")
    assert [text[12:] for text in serve_all(crawl)] == ["/robots.txt", "/b", "/a", "/1"]


def test_a_lease_holds_what_its_origin_says(wanting: Opener) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1")
    answer(crawl, next_lease(crawl, "licence"), present("/news/"))
    lease = crawl.lease_next()
    assert [(origin.name, origin.files) for origin in lease.origins] == [
        ("http://a.org", {"licence": present("/news/")})
    ]


def test_without_files_none_is_requested(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1")
    assert texts(next_lease(crawl, "")) == ["http://a.org/1"]


def test_no_file_of_a_closed_origin_is_requested(wanting: Opener) -> None:
    crawl = wanting(delay=1.0, host_failures=100)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    for _ in range(5):
        crawl.unreachable(crawl.lease_next())
    lease = crawl.lease_next()
    assert (lease.tasks[0].kind, lease.origins[0].access) == (Kind.PAGE, Access.CLOSED)


def test_a_file_without_a_response_is_requested_once_more(wanting: Opener) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1")
    answer(crawl, next_lease(crawl, "licence"), UNANSWERED)
    lease = crawl.lease_next()
    assert (lease.tasks[0].file, lease.origins[0].files) == ("licence", {"licence": UNANSWERED})
    answer(crawl, lease)
    assert crawl.lease_next().tasks[0].kind is Kind.PAGE


def test_a_file_is_requested_again_when_robots_txt_is(wanting: Opener) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    answer(crawl, next_lease(crawl, "licence"), present("all"))
    crawl.serve(crawl.lease_next())
    crawl.now += 86400.0
    crawl.resolve(crawl.lease_next())
    robots = crawl.lease_next()
    assert texts(robots) == ["http://a.org/robots.txt"]
    crawl.allow(robots)
    again = crawl.lease_next()
    assert (texts(again), again.origins[0].files) == (["http://a.org/.well-known/licence.json"], {})


def test_the_lease_of_an_expired_robots_txt_holds_the_expired_record(wanting: Opener) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    answer(crawl, next_lease(crawl, "licence"), present("all"))
    crawl.serve(crawl.lease_next())
    crawl.now += 86400.0
    crawl.resolve(crawl.lease_next())
    robots = crawl.lease_next()
    assert [(origin.name, origin.files) for origin in robots.origins] == [("http://a.org", {"licence": present("all")})]
    crawl.move(robots, "http://b.net/robots.txt")
    crawl.resolve(crawl.lease_next())
    errand = crawl.lease_next()
    assert (errand.host, errand.origins) == ("b.net", robots.origins)


def test_a_stale_record_keeps_its_files(wanting: Opener) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    answer(crawl, next_lease(crawl, "licence"), present("all"))
    crawl.serve(crawl.lease_next())
    crawl.now += 86400.0
    crawl.resolve(crawl.lease_next(), ttl=1e6)
    for _ in range(5):
        crawl.unreachable(crawl.lease_next())
    lease = crawl.lease_next()
    [origin] = lease.origins
    assert (texts(lease), origin.access, origin.files) == (
        ["http://a.org/2"],
        Access.STALE,
        {"licence": present("all")},
    )


@pytest.mark.parametrize("life", [0.0, 0.5])
def test_rules_that_expire_at_once_serve_for_the_file_and_a_page(wanting: Opener, life: float) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    crawl.allow(crawl.lease_next(), life)
    answer(crawl, crawl.lease_next())
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


def test_a_moved_file_is_fetched_under_the_rules_of_its_new_place(wanting: Opener) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.move(next_lease(crawl, "licence"), "http://b.net/policy")
    crawl.resolve(crawl.only())
    robots = crawl.lease_next()
    assert texts(robots) == ["http://b.net/robots.txt"]
    crawl.allow(robots, rules="disallow: /x")
    errand = crawl.lease_next()
    assert (errand.host, texts(errand), errand.tasks[0].via) == ("b.net", ["http://b.net/policy"], "http://a.org")
    assert {origin.name: origin.rules for origin in errand.origins} == {
        "http://a.org": "",
        "http://b.net": "disallow: /x",
    }
    answer(crawl, errand, present("all"))
    lease = crawl.lease_next()
    assert (texts(lease), lease.origins[0].files) == (["http://a.org/1"], {"licence": present("all")})


def test_a_file_moved_within_its_origin_needs_no_other_rules(wanting: Opener) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.move(next_lease(crawl, "licence"), "http://a.org/policy")
    errand = crawl.lease_next()
    assert texts(errand) == ["http://a.org/policy"]
    answer(crawl, errand, present("none"))
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


def test_a_file_moved_to_another_scheme_waits_for_the_rules_there_even_if_they_moved_too(wanting: Opener) -> None:
    """The robots.txt that decides was moved to the same host: its errand is behind the one that waits for it."""
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.move(next_lease(crawl, "licence"), "https://a.org/policy")
    robots = crawl.lease_next()
    assert texts(robots) == ["https://a.org/robots.txt"]
    crawl.move(robots, "http://a.org/other-robots.txt")
    errand = crawl.lease_next()
    assert texts(errand) == ["http://a.org/other-robots.txt"]
    crawl.allow(errand)
    errand = crawl.lease_next()
    assert texts(errand) == ["https://a.org/policy"]
    answer(crawl, errand, present("all"))
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


@pytest.mark.parametrize("first", ["a.org", "b.net"])
def test_two_origins_whose_files_moved_to_each_other_do_not_wait_for_ever(wanting: Opener, first: str) -> None:
    other = {"a.org": "b.net", "b.net": "a.org"}
    crawl = wanting(delay=1.0)
    crawl.add(f"http://{first}/1", f"http://{other[first]}/1")
    pages = []
    while crawl.again is not None:
        for lease in crawl.lease():
            each = lease.tasks[0]
            if each.kind is Kind.RESOLVE:
                crawl.resolve(lease)
            elif each.file == "robots":
                crawl.allow(lease)
            elif each.kind is Kind.FILE and each.redirects < 3:
                crawl.move(lease, f"http://{other[lease.host]}/{each.redirects}")
            elif each.kind is Kind.FILE:
                answer(crawl, lease)
            else:
                pages += texts(lease)
                crawl.serve(lease)
        if crawl.again is not None:
            crawl.wait()
    assert sorted(pages) == ["http://a.org/1", "http://b.net/1"]


@pytest.mark.parametrize("reason", [Reason.NO_SUCH_HOST, Reason.BLOCKED_ADDRESS])
def test_an_errand_to_a_dead_host_comes_back_with_the_record_of_the_origin(wanting: Opener, reason: Reason) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.move(next_lease(crawl, "licence"), "http://b.net/policy")
    while (errand := crawl.lease_next()).closed is None:
        crawl.resolve(errand, reason)
    assert (errand.host, errand.closed) == ("b.net", reason)
    assert [origin.name for origin in errand.origins] == ["http://a.org"]
    answer(crawl, errand, reason=reason)
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


def test_an_errand_to_an_origin_without_robots_txt_ends_when_that_origin_is_closed(wanting: Opener) -> None:
    crawl = wanting(delay=1.0, host_failures=100)
    crawl.add("http://a.org/1")
    crawl.move(next_lease(crawl, "licence"), "http://b.net/policy")
    crawl.resolve(crawl.only())
    for _ in range(5):
        crawl.unreachable(crawl.lease_next())
    errand = crawl.lease_next()
    assert (texts(errand), {origin.name: origin.access for origin in errand.origins}) == (
        ["http://b.net/policy"],
        {"http://a.org": Access.OPEN, "http://b.net": Access.CLOSED},
    )
    answer(crawl, errand, reason=Reason.ROBOTS_UNREACHABLE)
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


def test_files_count_neither_as_pages_of_a_domain_nor_as_urls(wanting: Opener) -> None:
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1")
    answer(crawl, next_lease(crawl, "licence"), present("all"))
    counts = do(crawl.store.counts())
    assert (counts.seen, counts.waiting, counts.in_flight, counts.finished) == (1, 1, 0, {})


def test_a_file_that_the_driver_requested_on_its_own_is_saved_too(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    lease = crawl.page()
    extra = msgspec.structs.replace(lease.origins[0], files={"extra": present("x")}, stamp=crawl.now)
    crawl.ack(task("http://a.org/no-such-page", kind=Kind.FILE, file="extra"), origin=extra)
    crawl.release(lease, lease.tasks)
    assert crawl.page().origins == (extra,)


def test_a_file_that_arrives_after_a_newer_robots_txt_does_not_restore_the_older_rules(wanting: Opener) -> None:
    """An errand of another origin to this one needs its robots.txt, which expired while its own file was on the way."""
    crawl = wanting(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.move(next_lease(crawl, "licence"), "http://b.net/policy")
    errand = next_lease(crawl, "licence", "b.net")
    crawl.now += 1.0
    fresh = crawl.origin("http://a.org", rules="disallow: /new")
    crawl.ack(task("http://a.org/robots.txt", kind=Kind.FILE, file="robots"), origin=fresh)
    answer(crawl, errand, present("all"))
    lease = crawl.lease_next()
    assert (texts(lease), lease.origins) == (["http://a.org/.well-known/licence.json"], (fresh,))
