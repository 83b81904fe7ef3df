"""Answers that libcurl refuses and browsers show: the next request to that host gets the page."""

import asyncio
from pathlib import Path

import pytest

from tests import web
from tests.fetch.client.support import QUICK, WELL_FORMED, task, use
from tests.fetch.client.test_outcome import KEPT, LOST
from windrow import config
from windrow.fetch.client import Client
from windrow.records import Capture, Failure, Reason, Request

SHOWN = ["header-no-colon", "length-empty", "length-junk", "length-negative", "blank-first", "blank-lf-first"]
SHOWN += ["no-colon-kept", "no-colon-chunks"]
SLOW = {"silent", "drip-header", "stall", "stall-empty", "drip-body", "slow-close"}


@pytest.mark.parametrize("name", SHOWN)
def test_the_second_request_reads_what_browsers_show(site: web.Site, log: list[web.Request], name: str) -> None:
    async def job(one: Client) -> None:
        asked = task(f"http://{name}.test/bad/{name}")
        first = await one.get(Request(asked, site.address))
        assert isinstance(first, Failure), first
        for _ in range(2):
            answer = await one.get(Request(asked, site.address))
            assert isinstance(answer, Capture), answer
            assert (answer.status, answer.body, answer.truncated) == (200, web.PAGE, "")
            assert WELL_FORMED.fullmatch(answer.head)
            assert answer.request == log[-1].raw
            assert b"\r\nConnection: close\r\n" in answer.request

    use(job, config.FetchOptions(**QUICK))  # type: ignore[arg-type]
    assert len({request.connection for request in log}) == 3  # a connection that was read leniently is not used again


@pytest.fixture(scope="module")
def lenient(site: web.Site) -> dict[str, Capture | Failure]:
    """The outcome of every misbehaviour, read by the lenient reader."""
    found: dict[str, Capture | Failure] = {}

    async def job(one: Client) -> None:
        async def ask(name: str) -> None:
            host = f"{name}.lenient.test"
            first = await one.get(Request(task(f"http://{host}/bad/header-no-colon"), site.address))
            assert isinstance(first, Failure)
            found[name] = await one.get(Request(task(f"http://{host}/bad/{name}"), site.address))

        await asyncio.gather(*map(ask, [*web.RAW, *web.BAD]))

    use(job, config.FetchOptions(**QUICK))  # type: ignore[arg-type]
    return found


# "length-huge" is too long a number for libcurl, which then reads to the end; for us it is a length.
OTHERWISE = {
    "length-huge": (200, "disconnect"),
    "chunk-huge": (200, "disconnect"),
    **dict.fromkeys(SHOWN, (200, "")),
}


@pytest.mark.parametrize("name", [*KEPT, *SHOWN])
def test_the_lenient_reader_keeps_whatever_libcurl_keeps(lenient: dict[str, Capture | Failure], name: str) -> None:
    answer = lenient[name]
    assert isinstance(answer, Capture), answer
    assert (answer.status, answer.truncated) == (OTHERWISE.get(name) or KEPT[name])
    assert WELL_FORMED.fullmatch(answer.head)
    assert answer.headers("content-length") == [str(len(answer.body))]


@pytest.mark.parametrize(
    "name", ["garbage", "http09", "icy", "length-conflict", "header-long", "close", "silent", "reset"]
)
def test_an_answer_that_no_browser_shows_is_lost_for_the_same_reason(
    lenient: dict[str, Capture | Failure], name: str
) -> None:
    answer = lenient[name]
    assert isinstance(answer, Failure), answer
    assert answer.reason is LOST[name]


def test_the_time_is_that_of_the_own_exchange_and_not_of_an_earlier_one(site: web.Site) -> None:
    async def job(one: Client) -> None:
        await one.get(Request(task("http://a.test/bad/header-no-colon"), site.address))
        (exchange,) = one._free
        exchange.connected = 1000.0  # as if an earlier exchange of this handle had waited long for its connection
        answer = await one.get(Request(task("http://a.test/bad/header-no-colon"), site.address))
        assert isinstance(answer, Capture)
        assert 0.0 <= exchange.before() < 100.0
        assert answer.seconds >= 0.0

    use(job, config.FetchOptions(**QUICK))  # type: ignore[arg-type]


def test_broken_headers_are_read_over_tls_too(secure: tuple[web.Site, Path]) -> None:
    async def job(one: Client) -> None:
        asked = task("https://a.site.test/bad/header-no-colon")
        await one.get(Request(asked, secure[0].address))
        answer = await one.get(Request(asked, secure[0].address))
        assert isinstance(answer, Capture) and answer.body == web.PAGE, answer
        assert answer.cipher.startswith("tls/1.3 TLS_")

    use(job, config.FetchOptions(allow_private=True, verify_tls=False))


def test_a_certificate_is_checked_when_headers_are_read_leniently(secure: tuple[web.Site, Path]) -> None:
    async def job(one: Client) -> None:
        one._peers.read_leniently("a.site.test")
        answer = await one.get(Request(task("https://a.site.test/bad/header-no-colon"), secure[0].address))
        assert isinstance(answer, Failure) and answer.reason is Reason.TLS, answer

    use(job, config.FetchOptions(allow_private=True))


def test_a_private_address_is_not_connected_to(site: web.Site) -> None:
    async def job(one: Client) -> None:
        asked = task("http://header-no-colon.test/bad/header-no-colon")
        await one.get(Request(asked, site.address))
        answer = await one.get(Request(asked, "10.0.0.1:80"))
        assert isinstance(answer, Failure) and "not allowed" in answer.detail

    use(job, config.FetchOptions(allow_private=True), config.IdentityOptions())
