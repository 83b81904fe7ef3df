"""Spiders that share one job over Redis: no page twice, none lost, also if one of them is killed."""

import os
import signal
from collections import Counter
from typing import Any

import pytest

from tests import redisserver, web
from tests.redisserver import Server, needs_redis
from tests.scrapy.spiders import ADDON, Spiders, ended, page, tree
from tests.waiting import until

pytestmark = [needs_redis, pytest.mark.long]


def settings(server: Server, **changes: Any) -> dict[str, Any]:
    shared = {"ADDONS": ADDON, "WINDROW_ORDER": "fifo", "WINDROW_REDIS": server.url, "WINDROW_JOB": "test"}
    return {**shared, "CONCURRENT_REQUESTS": 4, "DOWNLOAD_DELAY": 0, **changes}


def slow_tree(spiders: Spiders, pages: int, seconds: float) -> list[str]:
    paths = tree(spiders.site, pages)
    for number in range(pages):
        below = "".join(f'<a href="/{n}">n</a>' for n in (2 * number + 1, 2 * number + 2, 0) if n < pages)
        spiders.site.script("127.0.0.1", f"/{number}", [web.Reply(page(number, below), seconds=seconds)])
    return paths


def counts(server: Server) -> dict[str, int]:
    words = server.command("HGETALL", "windrow:{test}:counts").decode().split("\r\n")[2::2]
    return {name: int(count) for name, count in zip(words[::2], words[1::2], strict=True)}


def test_pages_are_requested_in_the_order_in_which_they_were_found(spiders: Spiders, server: Server) -> None:
    tree(spiders.site, 12)
    spiders.run([spiders.url("/0")], settings(server, CONCURRENT_REQUESTS=1))
    assert spiders.requested() == [f"/{number}" for number in range(12)]
    spiders.run([spiders.url("/0")], settings(server))
    assert len(spiders.requested()) == 12, "the job is finished"
    spiders.run([spiders.url("/0")], settings(server, WINDROW_JOB="other"))
    assert len(spiders.requested()) == 24, "another job has a queue of its own"


def test_two_spiders_share_a_job_and_no_page_is_requested_twice(spiders: Spiders, server: Server) -> None:
    paths = slow_tree(spiders, 60, 0.1)
    processes = [spiders.start([spiders.url("/0")], settings(server)) for _ in range(2)]
    for process in processes:
        ended(process)
    assert sorted(spiders.requested()) == sorted(paths)
    assert spiders.seen() == sorted(paths)
    assert len({request.connection for request in spiders.site.log}) > 4, "one spider did all the work"
    assert counts(server)["finished"] == 60


def test_the_requests_of_a_killed_spider_come_back_to_another(spiders: Spiders, server: Server) -> None:
    paths = slow_tree(spiders, 40, 0.15)
    chosen = settings(server, WINDROW_LEASE_SECONDS=3)
    victim, other = [spiders.start([spiders.url("/0")], chosen) for _ in range(2)]
    until(lambda: len(spiders.requested()) >= 12)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.communicate()
    ended(other)
    requested = Counter(spiders.requested())
    assert sorted(requested) == sorted(paths)
    assert requested.total() - 40 <= 8, "at most what the killed one had taken is requested again"
    assert counts(server)["finished"] == 40


def test_a_spider_that_stood_still_does_not_count_its_late_answers(spiders: Spiders, server: Server) -> None:
    paths = slow_tree(spiders, 20, 0.3)
    chosen = settings(server, WINDROW_LEASE_SECONDS=2)
    zombie, other = [spiders.start([spiders.url("/0")], chosen) for _ in range(2)]
    until(lambda: len(spiders.requested()) >= 6)
    zombie.send_signal(signal.SIGSTOP)
    ended(other)
    zombie.send_signal(signal.SIGCONT)
    ended(zombie)
    assert spiders.seen() == sorted(paths), "each page reached a callback once"
    assert counts(server)["finished"] == 20


def test_a_killed_job_continues_where_it_was(spiders: Spiders, server: Server) -> None:
    paths = slow_tree(spiders, 30, 0.1)
    chosen = settings(server, WINDROW_LEASE_SECONDS=2)
    process = spiders.start([spiders.url("/0")], chosen)
    until(lambda: len(spiders.requested()) >= 12)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    finished, before = counts(server)["finished"], len(spiders.requested())
    assert finished >= 4
    spiders.run([spiders.url("/0")], chosen)
    assert sorted(set(spiders.requested())) == sorted(paths)
    assert len(spiders.requested()) - before == 30 - finished
    assert counts(server)["finished"] == 30


def test_urls_can_be_added_from_outside(spiders: Spiders, server: Server) -> None:
    tree(spiders.site, 3)
    for url in (spiders.url("/0"), spiders.url("/0"), "no url"):
        server.command("RPUSH", "windrow:{test}:urls", url)
    errors = spiders.run([], settings(server))
    assert sorted(spiders.requested()) == ["/0", "/1", "/2"]
    assert "'no url' in the URL queue is dropped" in errors


def test_a_spider_waits_while_redis_is_away(spiders: Spiders) -> None:
    with redisserver.serve("--appendonly", "yes", "--appendfsync", "always") as server:
        paths = slow_tree(spiders, 20, 0.1)
        process = spiders.start([spiders.url("/0")], settings(server))
        until(lambda: len(spiders.requested()) >= 6)
        server.restart()
        ended(process)
        assert sorted(set(spiders.requested())) == sorted(paths)
        assert counts(server)["finished"] == 20


def test_without_a_server_the_spider_does_not_start(spiders: Spiders) -> None:
    chosen = {"ADDONS": ADDON, "WINDROW_ORDER": "fifo", "WINDROW_JOB": "test"}
    assert "set WINDROW_REDIS" in spiders.run([spiders.url("/0")], chosen)
    away = {**chosen, "WINDROW_REDIS": "unix:///nowhere/s"}
    assert "start one with: redis-server" in spiders.run([spiders.url("/0")], away)
    assert spiders.requested() == []
