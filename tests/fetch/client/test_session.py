"""The Client: one request after the other, and many at once."""

import asyncio
import time

import pytest

from tests import web
from tests.fetch.client.support import CRAWLER, captured, fetch, task, use
from windrow.fetch.client import Client
from windrow.records import Capture, Request


def test_a_page_becomes_a_capture(site: web.Site, log: list[web.Request]) -> None:
    site.page("a.test", "/page?x=1", b"hello", headers=[("X-One", "1")])
    before = time.time()
    answer = captured("http://a.test/page?x=1", site.address)
    assert answer.task == task("http://a.test/page?x=1")
    assert (answer.status, answer.body, answer.ip, answer.protocol) == (200, b"hello", "127.0.0.1", "http/1.1")
    assert answer.head == b"HTTP/1.1 200 Whatever\r\nX-One: 1\r\nContent-Length: 5\r\n\r\n"
    assert (answer.truncated, answer.encoded, answer.cipher) == ("", False, "")
    assert answer.downloaded == len(answer.head) + 5
    assert before - 0.001 <= answer.time <= time.time() + 0.001 and 0 <= answer.seconds <= time.time() - before
    assert round(answer.time, 3) == answer.time and round(answer.seconds, 3) == answer.seconds


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_capture_and_not_followed(site: web.Site, log: list[web.Request], code: int) -> None:
    answer = captured(f"http://a.test/bad/redirect?to=/elsewhere&code={code}", site.address)
    assert (answer.status, answer.header("location")) == (code, "/elsewhere")
    assert len(log) == 1


def test_the_client_connects_to_the_given_address_and_not_to_that_of_the_name(
    site: web.Site, log: list[web.Request]
) -> None:
    assert captured("http://no-such-name.invalid/", site.address).ip == "127.0.0.1"
    assert log[-1].raw.startswith(b"GET / HTTP/1.1\r\nHost: no-such-name.invalid\r\n")
    assert captured(f"http://no-such-name.invalid:{site.port}/", "127.0.0.1").ip == "127.0.0.1"
    assert f"\r\nHost: no-such-name.invalid:{site.port}\r\n".encode() in log[-1].raw


def test_the_client_connects_to_ipv6_addresses() -> None:
    try:
        served = web.serve(["::1"])
        site = served.__enter__()
    except OSError:
        pytest.skip("this machine has no IPv6")
    try:
        assert captured("http://a.test/", f"[::1]:{site.port}").ip == "::1"
        assert captured(f"http://[::1]:{site.port}/", "0:0:0:0:0:0:0:1").ip == "::1"
    finally:
        served.__exit__(None, None, None)


def test_a_cancelled_get_ends_its_exchange_and_the_client_still_works(site: web.Site, log: list[web.Request]) -> None:
    site.page("a.test", "/", b"still here")

    async def job(one: Client) -> None:
        for name in ("silent", "stall", "drip-header"):
            waiting = asyncio.create_task(one.get(Request(task(f"http://cancel.test/bad/{name}"), site.address)))
            while not any(request.path.endswith(name) for request in log):
                await asyncio.sleep(web.TICK)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        answer = await one.get(Request(task("http://a.test/"), site.address))
        assert isinstance(answer, Capture) and answer.body == b"still here"

    use(job)


def test_closing_the_client_cancels_the_waiting_calls(site: web.Site) -> None:
    async def run() -> None:
        one = Client(fetch(), CRAWLER)
        waiting = asyncio.create_task(one.get(Request(task("http://a.test/bad/silent"), site.address)))
        await asyncio.sleep(web.TICK)
        one.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        one.close()

    asyncio.run(run())


def test_many_hosts_are_requested_at_once(site: web.Site, log: list[web.Request]) -> None:
    for number in range(300):
        site.script(f"h{number}.test", "/", [web.Reply(b"page %d" % number, seconds=0.05)])

    async def job(one: Client) -> None:
        answers = await asyncio.gather(
            *(one.get(Request(task(f"http://h{number}.test/"), site.address)) for number in range(300))
        )
        assert [answer.body for answer in answers if isinstance(answer, Capture)] == [
            b"page %d" % number for number in range(300)
        ]

    use(job, fetch(connections=64))
    assert len({request.connection for request in log}) == 300
