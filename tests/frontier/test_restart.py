"""What a frontier knows after a restart: from its last checkpoint, and from the log."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import START, options, task
from tests.frontier.suspending import suspending
from windrow import frontier, orders
from windrow.frontier import Position
from windrow.records import Entry, Frame, Place, Reason, Report


class Directory:
    """A state directory that a test opens several times."""

    def __init__(self, path: Path, suspend: bool = False, **fields: object) -> None:
        self._path = path
        self._suspend = suspend
        self._options = options(**{"delay": 5.0, "ip_delay": 0.0, **fields})
        self.hand: Hand | None = None

    def open(self, now: float = START) -> Hand:
        self.close()
        before = self.hand
        store = frontier.open(self._path, self._options, now)
        self.hand = Hand(suspending(store) if self._suspend else store, now)
        self.hand.frame = before.frame if before else 0
        return self.hand

    def close(self) -> None:
        if self.hand is not None:
            do(self.hand.store.close())
            self.hand.store = None  # type: ignore[assignment]


@pytest.fixture(params=["lmdb", "suspending"])
def suspend(request: pytest.FixtureRequest) -> bool:
    """Run a test over a frontier as it is, and over one that suspends at every call."""
    return bool(request.param == "suspending")


@pytest.fixture
def state(tmp_path: Path, suspend: bool) -> Iterator[Directory]:
    made = Directory(tmp_path / "state", suspend)
    yield made
    if made.hand is not None and made.hand.store is not None:
        made.close()


def test_a_new_crawl_starts_at_once(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1")
    assert len(crawl.pages()) == 1


def test_after_a_restart_every_host_waits_for_its_delay(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1", "http://b.org/1")
    crawl.checkpoint()
    crawl = state.open(START + 100.0)
    assert crawl.lease() == []
    assert crawl.wait() == 5.0
    assert len(crawl.pages()) == 2


def test_a_crawl_killed_before_its_first_checkpoint_waits_too(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1")
    crawl.pages()
    crawl = state.open(START + 0.5)
    crawl.add("http://a.org/1")
    assert crawl.lease() == []
    assert crawl.wait() == 5.0


def test_a_crawl_rebuilt_from_its_log_waits_too(state: Directory) -> None:
    frame = Frame(1, START, (), {}, seeds=(task("http://a.org/1"),))
    crawl = state.open(START + 10.0)
    do(crawl.store.replay(frame, ("log", 1)))
    assert crawl.lease() == []
    assert crawl.wait() == 5.0


def test_the_hints_of_a_link_outlive_the_process(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1")
    lease = crawl.page()
    link = task("http://a.org/" + "long" * 100, via="http://a.org/1", hints=bytes(range(24)))
    entry = crawl.ack(lease.tasks[0], links=[link])
    crawl.release(lease, last=crawl.now)
    [hints] = [one.hints for one in entry.admitted]
    assert bytes(range(24)) in hints
    crawl.checkpoint(entry)
    crawl = state.open(crawl.now + 100.0)
    assert [(one.url.text, one.hints, one.via) for one in crawl.page().tasks] == [(link.url.text, hints, link.via)]


def test_the_request_of_a_link_outlives_the_process_and_a_retry(state: Directory) -> None:
    data = b"a\nb\0" + bytes(range(256)) * 180
    crawl = state.open()
    crawl.add("http://a.org/1")
    lease = crawl.page()
    link = task("http://a.org/2", via="http://a.org/1", request=data)
    entry = crawl.ack(lease.tasks[0], links=[link])
    crawl.release(lease, last=crawl.now)
    assert [one.request for one in entry.admitted] == [data]
    crawl.checkpoint(entry)
    crawl = state.open(crawl.now + 100.0)
    [found] = crawl.page().tasks
    assert (found.url, found.request, found.via) == (link.url, data, link.via)
    again = Report(seq=0, task=found, reason=Reason.TIMEOUT, detail="", time=crawl.now, final=False)
    do(crawl.store.ack([again]))
    fate = do(crawl.store.find(link.url))
    assert fate is not None and (fate.task.request, fate.task.attempt) == (data, 1)


def test_the_page_above_a_link_is_named_without_its_request(state: Directory) -> None:
    crawl = state.open()
    do(crawl.store.add([task("http://a.org/1", request=b"x" * 400)]))
    lease = crawl.page()
    entry = crawl.ack(lease.tasks[0], links=[task("http://a.org/2", via="http://a.org/1")])
    crawl.release(lease, last=crawl.now)
    crawl.checkpoint(entry)
    crawl = state.open(crawl.now + 100.0)
    assert [one.via for one in crawl.page().tasks] == ["http://a.org/1"]


def test_the_hints_of_a_link_come_back_from_the_log(state: Directory) -> None:
    page, link = task("http://a.org/1"), task("http://a.org/2", via="http://a.org/1", hints=b"\0\7")
    report = Report(seq=1, task=page, reason=Reason.OK, detail="", time=START, links=(link,))
    frame = Frame(1, START, (Entry(report, admitted=(link,)),), {}, seeds=(page,))
    crawl = state.open(START + 10.0)
    do(crawl.store.replay(frame, ("log", 1)))
    assert [one.hints for one in crawl.page().tasks] == [b"\0\7"]


def test_after_a_restart_every_address_waits_for_its_delay(tmp_path: Path, suspend: bool) -> None:
    state = Directory(tmp_path, suspend, delay=0.0, ip_delay=2.0)
    crawl = state.open()
    crawl.add("http://a.org/1")
    crawl.checkpoint()
    crawl = state.open(START + 100.0)
    crawl.resolve(crawl.only())
    assert crawl.lease() == []
    assert crawl.wait() == 2.0
    state.close()


def test_a_crawl_delay_outlives_the_process(state: Directory) -> None:
    crawl = state.open()
    crawl.delays = {"http://a.org": 20.0}
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.serve(crawl.page())
    crawl.checkpoint()
    crawl = state.open(crawl.now + 1.0)
    assert crawl.lease() == []
    assert crawl.wait() == 20.0


def test_a_crawl_delay_found_after_a_restart_counts_from_the_restart(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1")
    crawl.checkpoint()
    crawl = state.open(START + 1.0)
    crawl.delays = {"http://a.org": 30.0}
    crawl.wait()
    assert crawl.pages() == []
    assert crawl.now + crawl.wait() >= START + 31.0


def test_a_retry_after_time_outlives_the_process(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1")
    crawl.serve(crawl.page(), Reason.THROTTLED, until=START + 900.0)
    crawl.checkpoint()
    crawl = state.open(START + 100.0)
    assert crawl.lease() == []
    assert crawl.wait() == 800.0


def test_rules_outlive_the_process(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.serve(crawl.page())
    crawl.checkpoint()
    crawl = state.open(START + 100.0)
    crawl.wait()
    crawl.resolve(crawl.only())
    assert texts(crawl.only()) == ["http://a.org/2"]


def test_a_closed_host_stays_closed_and_is_drained_at_once(tmp_path: Path, suspend: bool) -> None:
    state = Directory(tmp_path, suspend, host_failures=1)
    crawl = state.open()
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.serve(crawl.page(), Reason.CONNECT)
    crawl.checkpoint()
    crawl = state.open(START + 1.0)
    lease = crawl.only()
    assert (lease.closed, sorted(texts(lease))) == (Reason.HOST_DEAD, ["http://a.org/1", "http://a.org/2"])
    state.close()


def test_pages_that_were_in_flight_wait_again(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1", "http://b.org/1")
    assert len(crawl.pages()) == 2
    crawl.checkpoint()
    crawl = state.open(START + 1.0)
    counts = do(crawl.store.counts())
    assert (counts.waiting, counts.in_flight) == (2, 0)


def test_a_retried_page_keeps_its_attempts_and_its_place_in_the_queue(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.serve(crawl.page(), Reason.TIMEOUT)
    crawl.checkpoint()
    crawl = state.open(START + 1000.0)
    requested = []
    while crawl.again is not None:
        for lease in crawl.pages():
            requested += [(each.url.text[-1], each.attempt) for each in lease.tasks]
            crawl.serve(lease)
        if crawl.again is not None:
            crawl.wait()
    assert requested == [("2", 0), ("1", 1)]


def test_fingerprints_outlive_the_process(state: Directory) -> None:
    crawl = state.open()
    assert do(crawl.store.first_seen([(5, 100)])) == [100]
    crawl.checkpoint()
    assert do(state.open().store.first_seen([(5, 200)])) == [100]


def test_the_position_is_that_of_the_last_checkpoint(state: Directory) -> None:
    crawl = state.open()
    place = Place("warc/x", 0, 1)
    reports = [Report(seq, task("http://a.org/1"), Reason.OK, "", START, place=place) for seq in (7, 9, 8)]
    entries = tuple(map(Entry, reports))
    do(crawl.store.committed(Frame(1, START, entries, {"warc/x": 100, "warc/y": 5}), ("00000.jsonl.gz", 77)))
    do(crawl.store.committed(Frame(2, START, (), {"warc/x": 200}), ("00000.jsonl.gz", 99)))
    do(crawl.store.checkpoint(START))
    do(crawl.store.committed(Frame(3, START, (), {"warc/x": 300}), ("00001.jsonl.gz", 5)))
    files = {"warc/x": 200, "warc/y": 5}
    assert state.open().store.position() == Position(frame=2, seq=9, log=("00000.jsonl.gz", 99), files=files)


def test_a_checkpoint_is_due_after_its_interval(tmp_path: Path, suspend: bool) -> None:
    state = Directory(tmp_path, suspend, checkpoint=20.0)
    crawl = state.open()
    assert [crawl.store.checkpoint_due(START + seconds) for seconds in (0.0, 15.0, 19.0, 20.0)] == [
        False,
        False,
        False,
        True,
    ]
    do(crawl.store.checkpoint(START + 21.0))
    assert [crawl.store.checkpoint_due(START + seconds) for seconds in (21.0, 40.0, 41.0)] == [False, False, True]
    state.close()


def test_a_replay_admits_what_the_log_admitted_whatever_the_caps_say_now(tmp_path: Path, suspend: bool) -> None:
    state = Directory(tmp_path, suspend, max_host_urls=1, max_domain_hosts=1, same_pages=1)
    crawl = state.open()
    found = tuple([task(f"http://{host}.a.org/{page}", via="http://a.org/1") for host in "xy" for page in (1, 2)])
    page = Report(1, task("http://a.org/1"), Reason.OK, "", START, status=200, shape=5)
    again = msgspec.structs.replace(page, task=found[0])
    entries = Entry(page, found), Entry(again, (task("http://z.a.org/1", via=found[0].url.text),))
    do(crawl.store.replay(Frame(1, START, entries, {}, seeds=(task("http://a.org/1"),)), ("log", 1)))
    counts = do(crawl.store.counts())
    assert (counts.seen, counts.finished, counts.refused) == (6, {Reason.OK: 2}, {})
    state.close()


def test_after_a_restart_a_moved_robots_txt_is_requested_from_its_origin_again(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "http://b.net/robots.txt")
    crawl.checkpoint()
    crawl = state.open(START + 1.0)
    crawl.wait()
    crawl.resolve(crawl.only())
    assert texts(crawl.only()) == ["http://a.org/robots.txt"]


@pytest.mark.parametrize("jump", [-400 * 86400.0, -3600.0, 3600.0, 400 * 86400.0])
def test_a_wrong_clock_before_the_restart_stops_no_host(state: Directory, jump: float) -> None:
    crawl = state.open(START + jump)
    crawl.add(*[f"http://{name}.org/{page}" for name in "ab" for page in (1, 2)])
    first, second = crawl.pages()
    crawl.serve(first, Reason.THROTTLED, until=crawl.now + 7200.0)
    crawl.serve(second)
    crawl.checkpoint()
    crawl = state.open(START)
    ended = set()
    while crawl.again is not None:
        for lease in crawl.pages():
            ended |= set(texts(lease))
            crawl.serve(lease)
        if crawl.again is not None:
            crawl.wait()
    assert len(ended) == 3
    assert crawl.now - START < 86400.0


def test_rules_with_an_expiry_from_a_wrong_clock_are_fetched_again(state: Directory) -> None:
    crawl = state.open(START + 400 * 86400.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.serve(crawl.page())
    crawl.checkpoint()
    crawl = state.open(START)
    while not (leases := crawl.lease()):
        crawl.wait()
    crawl.resolve(leases[0])
    assert crawl.only().tasks[0].file == "robots"


def test_rules_stay_valid_if_the_clock_is_set_back_a_little(state: Directory) -> None:
    crawl = state.open(START)
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.resolve(crawl.only())
    lease = crawl.only()
    crawl.ack(lease.tasks[0], origin=crawl.origin("http://a.org"))
    crawl.release(lease, last=crawl.now)
    crawl.checkpoint()
    crawl = state.open(START - 3600.0)
    while not (leases := crawl.lease()):
        crawl.wait()
    crawl.resolve(leases[0])
    assert texts(crawl.only()) == ["http://a.org/1"]


def test_what_orders_have_changed_outlives_a_restart(state: Directory) -> None:
    crawl = state.open()
    crawl.add("http://a.org/1")
    for order in (orders.make("block", ["a.org"]), orders.make("pause"), orders.make("set", ["fetch.delay=3"])):
        do(crawl.store.carry_out(order, crawl.now))
    crawl.checkpoint()
    controls = crawl.store.controls()
    assert controls.blocked == ("a.org",) and controls.paused and controls.options == {"fetch.delay": "3"}
    again = state.open()
    assert again.store.controls() == controls
    assert again.page().closed is Reason.BLOCKED
