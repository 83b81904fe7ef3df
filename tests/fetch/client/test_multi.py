"""Connections: when they are used again and when not."""

import asyncio

import pytest

from tests import web
from tests.fetch.client.support import fetch, task, use
from windrow.fetch.client import Client
from windrow.records import Capture, Request


def test_a_connection_is_used_again(site: web.Site, log: list[web.Request]) -> None:
    async def job(one: Client) -> None:
        for path in ("one", "two", "three"):
            await one.get(Request(task(f"http://a.test/{path}"), site.address))
        await one.get(Request(task("http://b.test/"), site.address))

    use(job)
    first, second, third, other = (request.connection for request in log)
    assert first == second == third != other


def test_each_address_has_its_own_connection() -> None:
    with web.serve(["127.0.0.1", "127.0.0.2"]) as site:

        async def job(one: Client) -> None:
            for ip in ("127.0.0.1", "127.0.0.2", "127.0.0.1"):
                answer = await one.get(Request(task("http://a.test/"), f"{ip}:{site.port}"))
                assert isinstance(answer, Capture) and answer.ip == ip

        use(job)
        assert site.log[0].connection == site.log[2].connection != site.log[1].connection


@pytest.mark.parametrize("name", [name for name in web.BAD if name.startswith("poison")])
def test_unrequested_data_is_never_taken_for_the_next_answer(site: web.Site, log: list[web.Request], name: str) -> None:
    host = f"{name}.test"
    for number in range(4):
        site.page(host, f"/{number}", b"page %d" % number)

    async def job(one: Client) -> None:
        await one.get(Request(task(f"http://{host}/bad/{name}"), site.address))
        while not log[-1].ended:  # until the server has sent everything
            await asyncio.sleep(web.TICK)
        await asyncio.sleep(web.TICK)
        for number in range(4):
            answer = await one.get(Request(task(f"http://{host}/{number}"), site.address))
            assert isinstance(answer, Capture) and answer.body == b"page %d" % number

    use(job)
    assert [request.path for request in log] == [f"/bad/{name}", "/0", "/1", "/2", "/3"]
    assert log[1].connection != log[0].connection


def test_a_connection_that_the_server_closed_is_opened_again(site: web.Site, log: list[web.Request]) -> None:
    site.raw("gone.test", "/", web.whole(), keep=False)

    async def job(one: Client) -> None:
        for _ in range(3):
            answer = await one.get(Request(task("http://gone.test/"), site.address))
            assert isinstance(answer, Capture) and answer.body == web.PAGE

    use(job)
    assert len({request.connection for request in log}) == 3


def test_a_broken_exchange_closes_its_connection(site: web.Site, log: list[web.Request]) -> None:
    async def job(one: Client) -> None:
        await one.get(Request(task("http://cut.test/bad/endless"), site.address))
        await one.get(Request(task("http://cut.test/"), site.address))

    use(job, fetch(max_bytes=1000))
    assert log[0].connection != log[1].connection
