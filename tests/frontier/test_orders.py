"""Orders: blocked names, and URLs that wait again."""

from tests.frontier import ledger
from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import options, task
from windrow import orders
from windrow.records import Access, OrderReply, Reason


def obey(crawl: Hand, verb: str, *values: str, hosts: tuple[str, ...] = ()) -> OrderReply:
    carried = do(crawl.store.carry_out(orders.make(verb, values, hosts), crawl.now))
    crawl._note(carried.closings)
    return carried


def fate(crawl: Hand, text: str) -> tuple[str, Reason | None] | None:
    found = do(crawl.store.find(task(text).url))
    return (found.state, found.reason) if found is not None else None


def test_urls_of_a_blocked_domain_end_without_a_request_and_new_ones_are_refused(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://x.a.org/1", "http://x.a.org/2", "http://b.org/1")
    obey(crawl, "block", "a.org")
    leases = {lease.host: lease for lease in crawl.pages()}
    assert (leases["x.a.org"].closed, leases["b.org"].closed) == (Reason.BLOCKED, None)
    [entry] = crawl.serve(leases["b.org"], links=["http://x.a.org/3", "http://new.a.org/1", "http://b.org/2"])
    assert [each.url.text for each in entry.admitted] == ["http://b.org/2"]
    assert entry.refused == {"blocked": 2}
    crawl.serve(leases["x.a.org"])
    crawl.finish()
    assert do(crawl.store.counts()).finished == {Reason.BLOCKED: 2, Reason.OK: 2}
    assert crawl.add("http://a.org/") == []


def test_a_lease_that_is_out_learns_of_a_block_at_once(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    lease = crawl.page()
    obey(crawl, "block", "a.org")
    assert crawl.closed("http://a.org/2") is Reason.BLOCKED
    crawl.release(lease, unused=lease.tasks)
    assert crawl.page().closed is Reason.BLOCKED


def test_urls_that_ended_by_a_block_wait_again_when_it_ends(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://x.a.org/1", "http://b.org/1")
    obey(crawl, "block", "a.org")
    crawl.finish()
    carried = obey(crawl, "unblock", "a.org")
    assert (carried.order.reopened, carried.order.end) == ({"blocked": 2}, None)
    crawl.again = 0.0
    crawl.finish()
    assert do(crawl.store.counts()).finished == {Reason.OK: 3}


def test_a_block_does_not_let_errands_through(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "http://b.org/robots.txt")
    obey(crawl, "block", "b.org")
    lease = crawl.lease_next()
    assert (lease.host, lease.closed) == ("b.org", Reason.BLOCKED)


def test_a_dead_host_is_opened_again_without_failures_but_with_its_delay(hand: Opener) -> None:
    crawl = hand(delay=5.0, host_failures=1)
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.serve(crawl.page(), Reason.CONNECT)
    while crawl.again is not None:
        for lease in crawl.pages():
            assert lease.closed is Reason.HOST_DEAD
            crawl.serve(lease)
        crawl.lease(0)
    assert do(crawl.store.counts()).finished == {Reason.HOST_DEAD: 2}
    assert obey(crawl, "retry", "host-dead").order.reopened == {"host-dead": 2}
    assert fate(crawl, "http://a.org/1") == ("waiting", None)
    assert crawl.pages() == [], "the last request ended just now"
    assert crawl.wait() == 5.0
    [lease] = crawl.pages()
    assert lease.closed is None
    assert {each.attempt for each in lease.tasks} == {0}, "as if never tried"


def test_a_retry_is_limited_to_its_reasons_and_hosts(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://x.a.org/1", "http://b.org/1")
    for lease in crawl.pages():
        crawl.serve(lease, Reason.NOT_FOUND if lease.host == "x.a.org" else Reason.FORBIDDEN)
    assert obey(crawl, "retry", "forbidden", hosts=("a.org",)).order.reopened == {"forbidden": 1}
    assert [fate(crawl, f"http://{host}/1") for host in ("a.org", "x.a.org", "b.org")] == [
        ("waiting", None),
        ("finished", Reason.NOT_FOUND),
        ("finished", Reason.FORBIDDEN),
    ]
    assert obey(crawl, "retry", "forbidden", hosts=("a.org",)).order.reopened == {}


def test_a_retry_after_robots_txt_requests_that_file_again(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    crawl.allow(crawl.only(), rules="disallow: /")
    crawl.serve(crawl.page(), Reason.ROBOTS)
    obey(crawl, "retry", "robots")
    lease = crawl.lease_next()
    if lease.tasks[0].url.text != "http://a.org/robots.txt":  # the address was forgotten with the open host
        crawl.resolve(lease)
        lease = crawl.lease_next()
    assert texts(lease) == ["http://a.org/robots.txt"]
    crawl.allow(lease)
    assert texts(crawl.page()) == ["http://a.org/1"]


def test_a_retry_after_an_unavailable_robots_txt_requests_it_again(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    for _ in range(6):
        lease = crawl.lease_next()
        if lease.tasks[0].file != "robots":
            break
        crawl.unreachable(lease)
    assert lease.origins[0].access is Access.CLOSED
    crawl.serve(lease, Reason.ROBOTS_UNREACHABLE, final=True)
    assert obey(crawl, "retry", "robots-unreachable").order.reopened == {"robots-unreachable": 1}
    lease = crawl.lease_next()
    if not lease.address:
        crawl.resolve(lease)
        lease = crawl.lease_next()
    assert texts(lease) == ["http://a.org/robots.txt"]


def test_a_retired_domain_gets_a_new_account(hand: Opener) -> None:
    crawl = hand(delay=0.0, yield_threshold="0.1,0", grace_pages=2, grace_bytes=0, order="breadth")
    crawl.add(*[f"http://a.org/{page}" for page in range(30)])
    while crawl.again is not None:
        for lease in crawl.pages():
            crawl.serve(lease, downloaded=1000)
        crawl.lease(0)
    ended = do(crawl.store.counts()).finished
    assert ended[Reason.LOW_YIELD] > 5
    assert obey(crawl, "retry", "low-yield").order.reopened == {"low-yield": ended[Reason.LOW_YIELD]}
    [lease] = crawl.pages()
    assert lease.closed is None
    crawl.serve(lease, downloaded=1000, kept=900)
    account = ledger.of(crawl.store, "a.org")
    assert account is not None and account.closed is None and account.pages == len(lease.tasks)


def test_options_can_change_while_a_crawl_runs(hand: Opener) -> None:
    crawl = hand(delay=60.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.serve(crawl.page())
    crawl.lease(0)
    assert crawl.again == crawl.now + 60.0
    do(crawl.store.configure(options(delay=3.0, ip_delay=0.0, max_host_urls=2)))
    crawl.lease(0)
    assert crawl.again == crawl.now + 3.0, "also for hosts that wait already"
    assert crawl.add("http://a.org/3") == []
    crawl.wait()
    do(crawl.store.configure(options(delay=9.0, ip_delay=0.0)))
    assert crawl.pages() == []
    assert crawl.wait() == 6.0


def test_an_order_of_another_command_changes_nothing(hand: Opener) -> None:
    crawl = hand()
    crawl.add("http://a.org/1")
    before = do(crawl.store.counts()), crawl.store.controls()
    foreign = orders.Order("x", 1.0, "purge", ("a.org",))
    assert do(crawl.store.carry_out(foreign, crawl.now)).order == foreign
    assert (do(crawl.store.counts()), crawl.store.controls()) == before
