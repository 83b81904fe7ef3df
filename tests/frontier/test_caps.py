"""Caps on hosts and domains, and links that are refused."""

from tests.frontier.conftest import Opener
from tests.frontier.hand import do
from tests.frontier.simulation import task


def test_a_host_has_no_more_urls_than_its_cap(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_host_urls=3)
    crawl.add("http://a.org/1")
    [entry] = crawl.serve(crawl.page(), links=[f"http://a.org/{page}" for page in range(1, 7)] + ["http://b.org/1"])
    assert [link.url.text for link in entry.admitted] == ["http://a.org/2", "http://a.org/3", "http://b.org/1"]
    assert entry.refused == {"host-urls": 3}


def test_a_domain_has_no_more_urls_than_its_cap(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_domain_urls=3)
    assert (
        len(crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in (1, 2, 3)], "http://b.org/1")) == 4
    )
    counts = do(crawl.store.counts())
    assert (counts.seen, counts.refused, counts.hosts) == (4, {"domain-urls": 3}, 2)


def test_a_domain_has_no_more_hosts_than_its_cap(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_domain_hosts=2)
    new = crawl.add(*[f"http://{host}.a.org/{page}" for page in (1, 2) for host in "wxyz"])
    assert new == ["http://w.a.org/1", "http://x.a.org/1", "http://w.a.org/2", "http://x.a.org/2"]
    counts = do(crawl.store.counts())
    assert (counts.refused, counts.hosts, counts.domains) == ({"domain-hosts": 4}, 2, 1)


def test_a_known_url_does_not_count_as_refused(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_host_urls=1)
    crawl.add("http://a.org/1")
    [entry] = crawl.serve(crawl.page(), links=["http://a.org/1"])
    assert (entry.admitted, entry.refused) == ((), {})


def test_every_refusal_of_a_link_is_counted(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_host_urls=1)
    crawl.add("http://a.org/1", "http://b.org/1")
    for lease in crawl.pages():
        crawl.serve(lease, links=["http://a.org/2", "http://a.org/2"])
    assert do(crawl.store.counts()).refused == {"host-urls": 4}


def test_links_refused_by_the_driver_are_counted_too(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_host_urls=1)
    crawl.add("http://a.org/1")
    [entry] = crawl.serve(crawl.page(), links=["http://a.org/2"], refused={"suffix": 3})
    assert entry.refused == {"suffix": 3, "host-urls": 1}
    assert do(crawl.store.counts()).refused == {"suffix": 3, "host-urls": 1}


def test_links_of_repeated_pages_are_refused(hand: Opener) -> None:
    crawl = hand(delay=1.0, same_pages=3)
    crawl.add(*[f"http://a.org/{page}" for page in range(5)], "http://b.org/1")
    found = {}
    while crawl.again is not None:
        for lease in crawl.pages():
            page = lease.tasks[0].url.text
            [entry] = crawl.serve(lease, links=[page + "/next"] if page[-1] != "t" else [], shape=77)
            found[page] = (len(entry.admitted), entry.refused)
        if crawl.again is not None:
            crawl.wait()
    kept = [page for page, (links, _) in found.items() if links]
    assert kept == ["http://a.org/0", "http://b.org/1", "http://a.org/1", "http://a.org/2"]
    assert found["http://a.org/4"] == (0, {"same-pages": 1})


def test_repeated_pages_are_found_among_many_others(hand: Opener) -> None:
    crawl = hand(delay=0.0, same_pages=10)
    crawl.add(*[f"http://a.org/{page}" for page in range(300)])
    refused = 0
    other = 1000
    while leases := crawl.pages():
        for each in leases[0].tasks:
            other += 1
            shape = 77 if other % 3 else other
            refused += crawl.ack(each, links=[task("http://a.org/0")], shape=shape).refused.get("same-pages", 0)
        crawl.release(leases[0], last=crawl.now)
    assert refused > 100
