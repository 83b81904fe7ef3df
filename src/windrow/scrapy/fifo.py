"""Plain order, first in, first out, over Redis: several spiders in several processes share one job.

Redis owns the queue and the set of what is known (`nodes.redis.fifo`). A spider takes a few requests ahead, works on
them, and says with one call what it has finished, with the links that it found there, and what it still holds. The
spider ends when nothing waits and no process of the job holds anything.
"""

import asyncio
import collections
import logging
import time

import msgspec
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from windrow.config import ConfigError
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.fifo import FifoAnswer, FifoQueue, FifoRound, FinishedRequest, NewRequest
from windrow.scrapy import archives, engine, requests
from windrow.scrapy import settings as ours
from windrow.scrapy.requests import TOKEN
from windrow.shards.transport import Unavailable

log = logging.getLogger(__name__)

LEASE = 60.0  # seconds after which the requests of a dead spider come back
_POLL = 0.5  # seconds after which an idle spider looks again: others may have found something
_SOON = 0.02  # seconds in which calls are gathered into one
_SLOWEST = 5.0  # seconds between two attempts while Redis does not answer
_SETTLED = 20.0  # seconds that the archive gets for its last commits
_LATER = "windrow_later"  # in `Request.meta`: the answer came too late, and the request is no longer ours


class HeldRequest:
    """A request that this process has taken from the queue."""

    def __init__(self, number: int, request: Request, until: float) -> None:
        self.number, self.request = number, request
        request.meta[TOKEN] = number
        self.until = until  # monotonic seconds: the lease surely holds until then
        self.started = False  # Scrapy has it
        self.late = False  # its answer came after its lease, and the spider did not see it
        self.found: list[NewRequest] = []


class FifoBackend:
    """Implements `backend.Backend`."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        url, job = settings.get("WINDROW_REDIS"), settings.get("WINDROW_JOB")
        if not url or not job:
            raise ConfigError(
                "WINDROW_ORDER is 'fifo', which is a queue in Redis; set WINDROW_REDIS to redis://HOST:6379, and "
                "WINDROW_JOB to the name that all spiders of the job share"
            )
        self._crawler = crawler
        self._client = RedisClient(str(url))
        self._lease = ours.lease(settings, LEASE)
        self._queue = FifoQueue(self._client, str(job), self._lease)
        self._ahead = settings.getint("CONCURRENT_REQUESTS")
        self._ready: collections.deque[HeldRequest] = collections.deque()
        self._held: dict[int, HeldRequest] = {}  # by number, those in `_ready` too
        self._finished: list[FinishedRequest] = []
        self._new: list[tuple[NewRequest, Request | None]] = []
        self._taken: list[bytes] = []
        self._back: list[int] = []  # to be given back
        self._last: FifoAnswer | None = None
        self._calling = False
        self._wake = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    # For the scheduler

    async def open(self, spider: Spider) -> None:
        self._spider = spider
        await self._client.check()
        self._pump = asyncio.create_task(self._run())

    async def close(self, reason: str) -> None:
        """Say what was finished and give back what was not begun."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait((self._pump,))
        await self._settle()
        while self._ready:
            self._let_go(self._ready.pop())
        try:
            await self._say(msgspec.structs.replace(self._round(), wanted=0, urls=0))
        except Unavailable as error:
            log.error("%s; what this spider had comes back in %.0f s and is requested again", error, self._lease)
        await self._queue.close()

    def enqueue(self, request: Request) -> bool:
        if request.meta.pop(_LATER, False):
            return True
        held = self._held.get(request.meta.get(TOKEN, 0))
        try:
            new = self._written(request, held is not None)
        except requests.Unwritable as error:
            log.error("%s", error)
            return False
        if held is not None:
            held.found.append(new)
        else:
            self._new.append((new, request))
            self._wake.set()
        return True

    def next(self) -> Request | None:
        self._end()
        now = time.monotonic()
        while self._ready:
            held = self._ready.popleft()
            if now < held.until:
                held.started = True
                self._wake.set()
                return held.request
            self._let_go(held)  # the process stood still: another one may have it
        return None

    def pending(self) -> bool:
        self._end()
        local = self._held or self._finished or self._new or self._taken or self._back or self._calling
        return bool(local) or self._last is None or not self._last.empty

    def sent(self, request: Request) -> None:
        pass

    def answered(self, request: Request, response: Response) -> Request | None:
        return self._late(request)

    def failed(self, request: Request, error: Exception) -> Request | None:
        return self._late(request)

    def found(self, response: Response, request: Request) -> None:
        above = response.request
        if above is not None and above.meta.get(TOKEN):
            request.meta[TOKEN] = above.meta[TOKEN]

    def _late(self, request: Request) -> Request | None:
        """Return the request if its answer came after its lease: the spider of another process sees the page."""
        held = self._held.get(request.meta.get(TOKEN, 0))
        if held is None or time.monotonic() < held.until:
            return None
        held.late = True
        hidden: Request = request.replace(meta={**request.meta, _LATER: True})
        return hidden

    def _written(self, request: Request, below: bool) -> NewRequest:
        """Return a request as the queue keeps it. Start requests are never repeated, whatever `dont_filter` says."""
        again = below and request.dont_filter
        assert self._crawler.request_fingerprinter is not None
        fingerprint = b"" if again else self._crawler.request_fingerprinter.fingerprint(request)
        return NewRequest(fingerprint, requests.encode(request, self._spider))

    # The calls

    def _end(self) -> None:
        """Note which requests the engine is done with."""
        under_way = engine.under_way(self._crawler)
        for held in [held for held in self._held.values() if held.started and held.request not in under_way]:
            if held.late:
                self._let_go(held)
            elif self._archived(held.request):
                del self._held[held.number]
                self._finished.append(FinishedRequest(held.number, tuple(held.found)))
                self._wake.set()

    def _archived(self, request: Request) -> bool:
        """Return whether the page of a request is durable in the archive, if there is one."""
        archive = archives.of(self._crawler)
        return archive is None or archive.settled(request)

    async def _settle(self) -> None:
        """Wait until the pages of all requests are in the archive: only then they are finished."""
        self._end()
        end = time.monotonic() + _SETTLED
        while any(held.started for held in self._held.values()) and time.monotonic() < end:
            await asyncio.sleep(_SOON)
            self._end()

    def _let_go(self, held: HeldRequest) -> None:
        del self._held[held.number]
        self._back.append(held.number)
        self._wake.set()

    async def _run(self) -> None:
        pause = _SOON
        while True:
            try:
                await self._say(self._round())
                pause = _SOON
            except Unavailable as error:
                pause = min(_SLOWEST, 2 * pause)
                log.warning("%s; trying again", error)
                await asyncio.sleep(pause)
                continue
            engine.wake(self._crawler)
            try:
                async with asyncio.timeout(min(_POLL, self._lease / 4)):
                    await self._wake.wait()
                await asyncio.sleep(_SOON)
            except TimeoutError:
                pass
            self._wake.clear()

    def _round(self) -> FifoRound:
        return FifoRound(
            wanted=max(0, self._ahead - len(self._ready)),
            urls=self._ahead,
            finished=tuple(self._finished),
            new=tuple(new for new, _ in self._new),
            held=tuple(self._held),
            given_back=tuple(self._back),
            taken=tuple(self._taken),
        )

    async def _say(self, said: FifoRound) -> None:
        """Make a call; forget what it has said once it is answered."""
        start = time.monotonic()
        self._calling = True
        try:
            answer = await self._queue.round(said)
        finally:
            self._calling = False
        asked = [request for _, request in self._new[: len(said.new)]]
        del self._finished[: len(said.finished)], self._new[: len(said.new)], self._taken[: len(said.taken)]
        del self._back[: len(said.given_back)]
        for number in said.held:
            if number in self._held and number not in answer.lost:
                self._held[number].until = start + self._lease
        for request, admitted in zip(asked, answer.admitted, strict=True):
            if request is not None and not admitted:
                self._crawler.signals.send_catch_log(signals.request_dropped, request=request, spider=self._spider)
        self._take(answer, start + self._lease)
        self._look(answer.urls)
        self._last = answer

    def _take(self, answer: FifoAnswer, until: float) -> None:
        for number, data in answer.granted:
            if number in self._held:  # it was lost and nobody else took it: this process still works on it
                self._held[number].until = until
                continue
            try:
                held = HeldRequest(number, requests.decode(data, self._spider), until)
            except ValueError as error:
                log.error("request %d of the queue is dropped: %s", number, error)
                self._finished.append(FinishedRequest(number))
                continue
            self._held[number] = held
            self._ready.append(held)

    def _look(self, urls: tuple[bytes, ...]) -> None:
        """Make requests of the URLs that wait in the URL queue."""
        for text in urls:
            if text in self._taken:
                continue
            self._taken.append(text)
            try:
                self._new.append((self._written(Request(text.decode()), below=False), None))
            except (ValueError, UnicodeError) as error:
                log.error("%r in the URL queue is dropped: %s", text, error)
        if urls:
            self._wake.set()
