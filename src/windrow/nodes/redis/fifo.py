"""A queue of requests that several processes share: first in, first out, each request to one of them.

A process takes a request for a while and renews it as long as it works on it. If the process dies, the request goes
back to the head of the queue. A process that finishes a request after it lost it is refused, with the links it found:
the process that has it now will find them. Here Redis is the truth: run it with `appendonly yes`.
"""

import secrets
from collections.abc import Sequence
from typing import Any

import msgspec

from windrow.config import ConfigError
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.keys import Keys

_KEYS = ("urls", "requests", "bodies", "seen", "request-leases", "holders", "counts", "last")


class NewRequest(msgspec.Struct, frozen=True):
    fingerprint: bytes  # a request with one that is known is not admitted; empty: it is always
    data: bytes


class FinishedRequest(msgspec.Struct, frozen=True):
    number: int
    links: tuple[NewRequest, ...] = ()


class FifoRound(msgspec.Struct, frozen=True):
    """What a process says and wants in one call."""

    wanted: int = 0  # requests
    urls: int = 0  # the most URLs of the URL queue to look at
    finished: tuple[FinishedRequest, ...] = ()
    new: tuple[NewRequest, ...] = ()
    held: tuple[int, ...] = ()
    given_back: tuple[int, ...] = ()  # the last one will be the first of the queue
    taken: tuple[bytes, ...] = ()  # URLs of the URL queue that are among `new`, or no URLs


class FifoAnswer(msgspec.Struct, frozen=True):
    admitted: tuple[bool, ...]  # of `new`
    lost: tuple[int, ...]  # of `held`
    granted: tuple[tuple[int, bytes], ...]
    urls: tuple[bytes, ...]
    waiting: int
    held: int  # by all processes
    urls_waiting: int

    @property
    def empty(self) -> bool:
        """Whether nothing waits and no process has anything: the end of the job."""
        return not (self.waiting or self.held or self.urls_waiting)


class FifoQueue:
    """One process at the queue of a job."""

    def __init__(self, client: RedisClient, job: str, seconds: float) -> None:
        if not job or any(char in "{}" or char.isspace() for char in job):
            raise ConfigError(f"{job!r} is no name of a job; use letters, digits, - and _")
        self._client = client
        self._keys = [Keys(job)[name] for name in _KEYS]
        self._span = int(1000 * seconds)
        self._process = secrets.token_hex(8)

    async def round(self, said: FifoRound) -> FifoAnswer:
        """Say and learn everything in one call. After Unavailable it can be repeated as it is."""
        words: list[str | bytes | int] = [self._process, self._span, said.wanted, said.urls, len(said.finished)]
        for done in said.finished:
            words += [done.number, len(done.links)]
            words += [word for link in done.links for word in (link.fingerprint, link.data)]
        words += [len(said.new), *[word for new in said.new for word in (new.fingerprint, new.data)]]
        for numbers in (said.held, said.given_back, said.taken):
            words += [len(numbers), *numbers]
        answer = await self._client.call("fifo", self._keys, words)
        return _answer(answer)

    async def close(self) -> None:
        await self._client.close()


def _answer(answer: Sequence[Any]) -> FifoAnswer:
    admitted, lost, granted, urls, waiting, held, urls_waiting = answer
    return FifoAnswer(
        admitted=tuple(map(bool, admitted)),
        lost=tuple(map(int, lost)),
        granted=tuple((int(granted[at]), granted[at + 1]) for at in range(0, len(granted), 2)),
        urls=tuple(urls),
        waiting=waiting,
        held=held,
        urls_waiting=urls_waiting,
    )
