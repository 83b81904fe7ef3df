"""Helpers of the client tests: tasks, options, and single requests."""

import asyncio
import re
from collections.abc import Awaitable, Callable

from windrow import config, urls
from windrow.fetch.client import Client
from windrow.records import Capture, Failure, Kind, Request, Task

CRAWLER = config.IdentityOptions(name="testbot", contact="https://example.org/bot")


# Short timeouts, but much longer than an honest answer takes.
QUICK: dict[str, object] = {"allow_private": True, "header_timeout": 2.0, "timeout": 3.0}


WELL_FORMED = re.compile(rb"HTTP/1\.[01] [1-9][0-9][0-9]( [^\0\r\n]*)?\r\n([!-9;-~]+:[^\0\r\n]*\r\n)*\r\n")


def task(url: str, kind: Kind = Kind.PAGE) -> Task:
    parsed = urls.parse(url)
    assert parsed is not None
    return Task(parsed, kind)


def fetch(**options: object) -> config.FetchOptions:
    return config.FetchOptions(**{"allow_private": True, **options})  # type: ignore[arg-type]


def use(
    job: Callable[[Client], Awaitable[None]],
    options: config.FetchOptions | None = None,
    identity: config.IdentityOptions = CRAWLER,
) -> None:
    async def run() -> None:
        one = Client(options or fetch(), identity)
        try:
            await job(one)
        finally:
            one.close()

    asyncio.run(run())


def get(
    url: str, address: str, options: config.FetchOptions | None = None, identity: config.IdentityOptions = CRAWLER
) -> Capture | Failure:
    found: list[Capture | Failure] = []

    async def job(one: Client) -> None:
        found.append(await one.get(Request(task(url), address)))

    use(job, options, identity)
    return found[0]


def captured(url: str, address: str, options: config.FetchOptions | None = None) -> Capture:
    answer = get(url, address, options)
    assert isinstance(answer, Capture), answer
    return answer


def failed(
    url: str, address: str, options: config.FetchOptions | None = None, identity: config.IdentityOptions = CRAWLER
) -> Failure:
    answer = get(url, address, options, identity)
    assert isinstance(answer, Failure), answer
    return answer
