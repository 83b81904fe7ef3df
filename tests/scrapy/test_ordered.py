"""A spider in Windrow's order: the same pages, politely, each once, also after a kill."""

import os
import signal
from collections import Counter
from itertools import pairwise

import pytest

from tests import web
from tests.scrapy.spiders import Spiders, ended, page, tree
from tests.waiting import until
from windrow import log
from windrow.crawler.orders import give
from windrow.inspect.status import status


def committed(spiders: Spiders) -> dict[str, str]:
    """Return the reason of every URL that the log says is finished."""
    found: dict[str, str] = {}
    for frame, _ in log.frames(spiders.crawl / "log", ("", 0), 0):
        for entry in frame.entries:
            if not entry.report.task.kind and entry.report.final:
                found[entry.report.task.url.text] = entry.report.reason.value
    return found


def test_the_spider_sees_the_same_pages_as_with_scrapys_own_scheduler(spiders: Spiders) -> None:
    paths = tree(spiders.site, 15)
    spiders.site.page("127.0.0.1", "/3", b"", 301, [("Location", "/moved")])
    spiders.site.page("127.0.0.1", "/moved", page(99))
    spiders.run([spiders.url("/0")], {})
    plain, asked = {item["url"]: item for item in reversed(spiders.items())}, set(spiders.requested())
    spiders.items_file.unlink()
    spiders.site.log.clear()
    spiders.run([spiders.url("/0")], spiders.settings())
    assert spiders.seen() == sorted({*paths, "/moved"} - {"/3", "/7", "/8"})
    assert sorted(spiders.requested()) == sorted(asked), "Scrapy itself requests a start page a second time"
    assert {item["url"]: item for item in spiders.items()} == plain, "the callbacks saw other requests or responses"


@pytest.mark.long
def test_delays_and_robots_txt_hold(spiders: Spiders) -> None:
    for host in ("127.0.0.1", "127.0.0.2"):
        tree(spiders.site, 7, host)
        spiders.site.robots(host, "User-agent: *\nDisallow: /4\n")
    urls = [spiders.url("/0"), spiders.url("/0", "127.0.0.2")]
    spiders.run(urls, {**spiders.settings(fetch__delay=0.15), "ROBOTSTXT_OBEY": True, "DOWNLOAD_DELAY": 3})
    for host in ("127.0.0.1", "127.0.0.2"):
        requests = spiders.site.requests(host)
        assert Counter(request.path for request in requests).most_common(1)[0][1] == 1
        assert {request.path for request in requests} >= {"/0", "/1", "/2", "/3", "/5", "/6"}
        assert "/4" not in {request.path for request in requests}
        # Logged before the answer: the end is stamped when the client may have had it for milliseconds.
        assert min(after.time - before.time for before, after in pairwise(requests)) >= 0.15
    assert committed(spiders)[spiders.url("/4")] == "robots"


def test_a_killed_crawl_continues_and_repeats_no_page_that_was_committed(spiders: Spiders) -> None:
    paths = tree(spiders.site, 40)
    process = spiders.start([spiders.url("/0")], spiders.settings(fetch__delay=0.05))
    until(lambda: len(spiders.requested()) >= 18)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    done = {url.partition(f":{spiders.site.port}")[2] for url in committed(spiders)}
    assert 3 <= len(done) < 40
    before = len(spiders.requested())
    spiders.run([spiders.url("/0")], spiders.settings())
    later = spiders.requested()[before:]
    assert done.isdisjoint(later)
    assert sorted({*done, *later}) == sorted(paths)
    assert set(Counter(later).values()) == {1}
    assert set(spiders.seen()) >= set(later), "a callback is missing after the start"
    assert status(spiders.crawl).waiting == 0


@pytest.mark.long
def test_a_finished_crawl_requests_nothing_more(spiders: Spiders) -> None:
    tree(spiders.site, 3)
    spiders.run([spiders.url("/0")], spiders.settings())
    before = len(spiders.requested())
    spiders.run([spiders.url("/0")], spiders.settings())
    assert before == len(spiders.requested()) == 3


def test_everything_of_a_request_outlives_the_process(spiders: Spiders) -> None:
    spiders.site.page("127.0.0.1", "/0", page(0, "<a class=post href=/form>form</a><a href=/1>1</a>"))
    spiders.site.page("127.0.0.1", "/form", page(1))
    spiders.site.page("127.0.0.1", "/1", page(2))
    first = {**spiders.settings(crawl__max_pages=1), "CONCURRENT_REQUESTS": 1}
    spiders.run([spiders.url("/0")], first)
    assert spiders.requested() == ["/0"]
    spiders.run([], spiders.settings(crawl__max_pages=0))
    posts = [request for request in spiders.site.log if request.method == "POST"]
    assert len(posts) == 2, "the body is a part of what makes a request another one"
    assert all(b"X-Test: a\r\nX-Test: b\r\n" in post.raw and b"Cookie: cookie=value" in post.raw for post in posts)
    found = [item for item in spiders.items() if item["method"] == "POST"]
    assert sorted(item["body"] for item in found) == ["one", "two"]
    assert all(item["priority"] == 7 and item["meta"] == {"kind": "post", "depth": 1} for item in found)
    assert all(item["above"] == {"above": spiders.url("/0")} for item in found)
    assert spiders.requested()[1:3] == ["/form", "/form"], "a higher priority comes first"


@pytest.mark.long
def test_a_page_is_requested_again_if_the_spider_says_dont_filter(spiders: Spiders) -> None:
    spiders.site.page("127.0.0.1", "/0", page(0, "<a class=again href=/0>again</a>"))
    spiders.run([spiders.url("/0")], spiders.settings())
    assert spiders.requested() == ["/0", "/0"]
    assert spiders.seen() == ["/0", "/0"]


@pytest.mark.long
def test_a_redirect_to_the_same_page_is_followed_once(spiders: Spiders) -> None:
    moved = web.Reply(b"", 302, [("Location", "/0"), ("Set-Cookie", "a=b")])
    spiders.site.script("127.0.0.1", "/0", [moved, web.Reply(page(0))])
    spiders.run([spiders.url("/0")], spiders.settings())
    assert spiders.seen() == ["/0"]
    assert b"Cookie: a=b" in spiders.site.requests(path="/0")[1].raw


@pytest.mark.long
def test_windrow_repeats_a_failed_request_and_the_spider_sees_only_the_page(spiders: Spiders) -> None:
    spiders.site.script("127.0.0.1", "/0", [web.Reply(status=500), web.Reply(status=500), web.Reply(page(0))])
    spiders.run([spiders.url("/0")], {**spiders.settings(), "RETRY_ENABLED": True})
    assert [item["status"] for item in spiders.items()] == [200]
    assert len(spiders.requested()) == 3


@pytest.mark.long
def test_the_errback_gets_a_failure_that_is_final_and_the_crawl_ends(spiders: Spiders) -> None:
    spiders.site.page("127.0.0.1", "/0", page(0, "<a class=bad href=/gone>g</a><a class=bad href=/bad/garbage>b</a>"))
    spiders.run([spiders.url("/0")], spiders.settings())
    failed = {item["url"]: item["failed"] for item in spiders.items() if "failed" in item}
    assert failed[spiders.url("/gone")] == "HttpError"
    assert len(failed) == 2
    assert committed(spiders)[spiders.url("/gone")] == "not-found"


@pytest.mark.long
def test_a_request_that_a_middleware_drops_ends_in_the_log(spiders: Spiders) -> None:
    spiders.site.page("127.0.0.1", "/0", page(0, "<a href=/dropped>x</a><a href=/1>1</a>"))
    spiders.site.page("127.0.0.1", "/1", page(1))
    drop = {"DOWNLOADER_MIDDLEWARES": {"tests.scrapy.spider.DropMiddleware": 100}}
    spiders.run([spiders.url("/0")], {**spiders.settings(), **drop})
    assert spiders.requested() == ["/0", "/1"]
    assert committed(spiders)[spiders.url("/dropped")] == "out-of-scope"


@pytest.mark.long
def test_a_request_that_cannot_be_stored_is_named_and_left_out(spiders: Spiders) -> None:
    spiders.site.page("127.0.0.1", "/0", page(0, "<a class=object href=/1>1</a><a href=/2>2</a>"))
    spiders.site.page("127.0.0.1", "/2", page(2))
    errors = spiders.run([spiders.url("/0")], spiders.settings())
    assert f"<GET {spiders.url('/1')}> cannot be stored" in errors
    assert spiders.requested() == ["/0", "/2"]


@pytest.mark.long
def test_ctrl_c_ends_cleanly_and_nothing_is_requested_twice(spiders: Spiders) -> None:
    paths = tree(spiders.site, 25)
    process = spiders.start([spiders.url("/0")], spiders.settings(fetch__delay=0.05))
    until(lambda: len(spiders.requested()) >= 8)
    process.send_signal(signal.SIGINT)
    ended(process)
    spiders.run([spiders.url("/0")], spiders.settings())
    assert sorted(spiders.requested()) == sorted(paths)
    assert spiders.seen() == sorted(paths)


@pytest.mark.long
def test_a_second_spider_in_the_same_directory_is_refused_and_harms_nothing(spiders: Spiders) -> None:
    tree(spiders.site, 20)
    first = spiders.start([spiders.url("/0")], spiders.settings(fetch__delay=10.0))
    until(lambda: len(spiders.requested()) >= 1)
    second = spiders.start([spiders.url("/0")], spiders.settings())
    _, errors = second.communicate(timeout=60)
    assert "is being crawled by process" in errors
    first.send_signal(signal.SIGINT)
    ended(first)
    assert spiders.requested().count("/0") == 1


@pytest.mark.long
def test_the_order_to_pause_and_to_stop_holds_for_a_spider(spiders: Spiders) -> None:
    tree(spiders.site, 30)
    process = spiders.start([spiders.url("/0")], spiders.settings(fetch__delay=0.1))
    until(lambda: len(spiders.requested()) >= 4)
    assert give.pause(spiders.crawl, 30.0).state == "taken"
    until(lambda: status(spiders.crawl).in_flight == 0)
    asked = len(spiders.requested())
    assert give.resume(spiders.crawl, 30.0).state == "taken"
    until(lambda: len(spiders.requested()) > asked)
    assert give.stop(spiders.crawl, 30.0).state in ("taken", "not-running")
    ended(process)
    assert len(spiders.requested()) < 30


@pytest.mark.long
def test_without_its_middlewares_the_scheduler_refuses_to_start(spiders: Spiders) -> None:
    settings = {"SCHEDULER": "windrow.scrapy.Scheduler", "WINDROW_DIR": str(spiders.crawl)}
    errors = spiders.run([spiders.url("/0")], settings)
    assert 'ADDONS = {"windrow.scrapy.Addon": 0}' in errors
    assert spiders.requested() == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"WINDROW_DIR": ""}, "WINDROW_DIR is not set"),
        ({"WINDROW_ORDER": "lifo"}, "write 'windrow' or 'fifo'"),
        ({"WINDROW_OPTIONS": {"fetch.dely": 1}}, "did you mean"),
    ],
)
def test_a_setting_that_is_wrong_is_named(spiders: Spiders, changes: dict[str, object], message: str) -> None:
    process = spiders.start([spiders.url("/0")], {**spiders.settings(), **changes})
    _, errors = process.communicate(timeout=60)
    assert message in errors
    assert spiders.requested() == []


def test_scrapy_connects_to_the_address_that_windrow_has_found(spiders: Spiders) -> None:
    spiders.site.page("named.test", "/0", page(0, '<a href="/1">1</a>'))
    spiders.site.page("named.test", "/1", page(1))
    hosts = spiders.directory / "hosts"
    hosts.write_text("named.test\t127.0.0.1\n")
    err = spiders.run([spiders.url("/0", "named.test")], spiders.settings(fetch__hosts_file=str(hosts)))
    assert spiders.seen() == ["/0", "/1"], err


def test_a_start_request_that_the_scope_refuses_is_named_with_its_rule(spiders: Spiders) -> None:
    err = spiders.run([spiders.url("/0"), spiders.url("/1")], spiders.settings(scope__tlds=["cz"]))
    assert f"{spiders.url('/0')} is not requested: its top-level domain is not among those admitted" in err
    assert 'scope.tlds = ["cz"]' in err and spiders.url("/1") not in err, "once per rule"
    assert spiders.requested() == []
