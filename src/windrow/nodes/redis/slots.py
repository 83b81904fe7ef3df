"""Address slots: of all shards, only the holder of an address sends requests to it, and not before its delay is over.

No two machines need clocks that agree, and Redis needs none. Every wait is measured by one process on its monotonic
clock, from the moment at which it saw the reason to wait:

- A holder calls every `RENEW` seconds, and may use its slots for `VALID` seconds after it sent its last call that was
  answered. The call names none of them: whatever others did with them since the last answer is news in this one. After
  a call without an answer, the next one names them all.
- The holder that gives a slot says how long its successor has to wait; the successor waits that long from the answer.
- A process that waits takes the slot of a holder that has been silent for `VALID` and one delay, as it saw it.
- After Redis has lost everything (another era), a process takes nothing for `VALID` and one delay, as it saw it.
  Holders put theirs back meanwhile.

So two requests are never closer than the delay, whatever is killed, paused, emptied or set to another time.

A process that waits is in the queue of the address, and the script hands a slot over when it is given. `listen` waits
in Redis until there is news, so a process that waits does not ask. News that wake nobody are found `RENEW` later. To
hold an address costs nothing, and a hand-over three calls. So a holder keeps an address that it does not need while no
other waits for it, and uses one that others want for `USE`.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.keys import Keys
from windrow.shards.transport import Unavailable

VALID = 2.0  # seconds
RENEW = 0.5  # seconds from one call to the next while anything is held or awaited
CLOSEST, FARTHEST = 0.01, 0.05  # seconds from one call to the next if there is much to say; it is said together
RETRY = 0.1  # seconds after a call without an answer
USE = 1.0  # seconds for which a holder uses an address that others want: they wait so long for each before them
KEPT = 10.0  # seconds for which an address that is not needed is kept: the next page of a host comes after its delay
LISTEN = 3  # seconds of one wait in Redis; a connection that is silent for longer is broken


class HeldSlot(msgspec.Struct):
    """A slot that this process holds."""

    free: float  # no request before
    until: float  # when it should be given, if others wait
    wanted: bool  # others wait for it
    idle: bool = False  # it is not needed here
    giving: bool = False  # a call that gives it was sent: it may be another's already


class AwaitedSlot(msgspec.Struct):
    """A slot that this process waits for."""

    sign: str = ""  # of life of the holder, as seen last
    since: float = 0.0  # it has been seen


class Round(msgspec.Struct, frozen=True):
    """What a round has changed."""

    granted: list[str]  # addresses that are held from now on; `start` says when the first request may be sent
    lost: list[str]  # addresses that are not held any more: another process has them
    wanted: list[str]  # addresses that should be given if no request is under way there, see `wanted`


class Slots:
    """The address slots of one shard process. `process` is unique: shard and incarnation."""

    def __init__(self, client: RedisClient, job: str, process: str, delay: float, clock: Callable[[], float]) -> None:
        keys = Keys(job)
        self._client = client
        self._process = process
        self._delay = delay
        self._clock = clock  # monotonic seconds
        self._news = keys.of("news", process)
        self._keys = [*(keys[name] for name in ("slots", "calls", "era")), self._news]
        self._all_news = keys["news:"]
        self._held: dict[str, HeldSlot] = {}
        self._idle: dict[str, float] = {}  # since when; the first is the oldest
        self._leaving: set[str] = set()  # idle, and others wait
        self._sought: set[str] = set()  # not idle, and others wait
        self._awaited: dict[str, AwaitedSlot] = {}
        self._new: list[str] = []  # awaited, and not said yet
        self._calls = 0
        self._era = ""
        self._quiet = float("inf")  # nothing is taken before
        self._valid = float("-inf")  # nothing that is held is used after
        self._sure = False  # Redis and this process agree on what is held
        self._asserted = float("-inf")  # when all that is awaited was said last
        self._last = self._soonest = float("-inf")  # when the last call was sent, and when the next one may be
        self._urgent = True
        self._heard = asyncio.Event()  # a call has got all news
        self.woken = asyncio.Event()  # set when `again` has become earlier

    def set_delay(self, seconds: float) -> None:
        """Use this delay from now on, as an order has changed it."""
        self._delay = seconds

    def want(self, address: str) -> float | None:
        """Return when a request to an address may be sent; None: wait for it, `round` says when it is granted."""
        held = self._held.get(address)
        if held is not None and not held.giving and address not in self._leaving:
            held.idle = False
            self._sort(address, held)
            return held.free
        if address not in self._awaited:
            self._awaited[address] = AwaitedSlot()
            self._new.append(address)
            self._hurry()
        return None

    def give(self, address: str, last: float | None) -> None:
        """Release an address; `last`: the end of the last request to it, None if there was none."""
        held = self._held.get(address)
        if held is None or held.idle:
            return
        if last is not None:
            held.free = last + self._delay
        held.idle = True
        self._sort(address, held)

    def may_request(self, address: str) -> bool:
        """Return whether a request may be sent now. Ask before every request."""
        held = self._held.get(address)
        return held is not None and not held.idle and held.free <= self._clock() < self._valid

    def wanted(self, address: str) -> bool:
        """Return whether an address should be given now: others wait, and this process has used it for `USE`."""
        held = self._held.get(address)
        return held is not None and held.wanted and self._clock() >= held.until

    def start(self, address: str) -> float:
        """Return when the first request to an address that is held may be sent."""
        return self._held[address].free

    @property
    def again(self) -> float:
        """Return when `round` has to be called again at the latest; infinity while nothing is held or awaited."""
        if self._urgent:
            return self._soonest
        if not self._held and not self._awaited:
            return float("inf")
        regular = self._last + RENEW
        return max(self._soonest, min(regular, self._quiet)) if self._last < self._quiet else regular

    async def round(self) -> Round:
        """Say and learn everything in one call. Unavailable: nothing is lost; call it again."""
        self._last = sent = self._clock()
        self._soonest = sent + min(max(CLOSEST, self._delay / 4), FARTHEST)
        steps = [word for step in self._steps(sent) for word in step]
        self._urgent, self._sure, self._new = False, False, []
        self._calls += 1
        try:
            era, answers = await self._call(steps)
        except Unavailable:
            self._urgent, self._soonest = True, self._clock() + RETRY
            raise
        seen = self._clock()
        self._heard.set()
        result = Round([], [], [])
        for address, word, number, text in answers:
            self._take_in(result, str(address, "utf-8"), str(word, "utf-8"), (int(number), str(text, "utf-8")), seen)
        if era == self._era:
            self._valid, self._sure = sent + VALID, True
        else:
            self._begin(era, seen)
        result.wanted.extend(filter(self.wanted, self._sought))
        return result

    async def end(self) -> None:
        """Give what is not needed, as far as it has cooled or others wait. A holder that is gone would delay them."""
        with contextlib.suppress(Unavailable):
            if not self._sure:
                await self.round()
            self._leaving |= self._idle.keys()
            self._idle.clear()
            await self.round()

    async def listen(self, client: RedisClient) -> None:
        """Wake the process when there is news. `client`: a connection of its own, which waits in Redis.

        The list is moved onto itself, so that the round that follows finds everything in it.
        """
        while True:
            try:
                (news,) = await client.run(("BLMOVE", self._news, self._news, "LEFT", "LEFT", LISTEN))
                client.checked(news)
            except Unavailable:
                await asyncio.sleep(RENEW)
                continue
            if news is not None:
                self._heard.clear()
                self._hurry()
                await self._heard.wait()

    def _hurry(self) -> None:
        if not self._urgent:
            self._urgent = True
            self.woken.set()

    async def _call(self, steps: list[str | int]) -> tuple[str, Sequence[Any]]:
        if not self._client.server:
            await self._client.run(("PING",))
        server = self._client.server
        words: list[str | int] = [self._process, self._calls, server, secrets.token_hex(8)]
        words += [_milliseconds(VALID + self._delay), self._all_news, self._era]
        era, *answers = await self._client.call("slots", self._keys, words + steps, server)
        return era.decode(), answers

    # The steps of a call

    def _steps(self, now: float) -> Iterator[tuple[str, str, int, str]]:
        valid = now < self._valid
        if self._sure and valid:
            for address in self._given(now):
                held = self._held[address]
                held.giving = True
                yield "give", address, _milliseconds(held.free - now), ""
        else:
            yield from (("hold" if valid else "keep", address, 0, "") for address in self._held)
        new = [address for address in self._new if address in self._awaited]  # the last answer may have granted some
        if not self._sure or now - self._asserted >= RENEW or self._asserted < self._quiet <= now:
            self._asserted, new = now, list(self._awaited)
        verb = "watch" if now < self._quiet else "take"
        for address in new:
            awaited = self._awaited[address]
            yield verb, address, int(1000 * (now - awaited.since)), awaited.sign

    def _given(self, now: float) -> list[str]:
        """Return what is to be given: addresses for which others wait, and those that were not needed for long."""
        long = max(KEPT, self._delay)
        given = list(self._leaving)
        for address, since in self._idle.items():
            if now - since < long:
                break
            given.append(address)
        return given

    # The answers to a call

    def _begin(self, era: str, seen: float) -> None:
        """Redis knows nothing, or we do not know what it knew: put back what is held, and take nothing for a while."""
        self._era = era
        self._quiet = seen + VALID + self._delay
        self._urgent |= bool(self._held)
        for awaited in self._awaited.values():
            awaited.sign = ""

    def _take_in(self, result: Round, address: str, word: str, said: tuple[int, str], seen: float) -> None:
        """Note one answer. Answers to a call come in the order of its steps, and news last."""
        held, awaited = self._held.get(address), self._awaited.get(address)
        number, text = said
        if word == "queued":
            if awaited is not None and awaited.sign != text:
                awaited.sign, awaited.since = text, seen
        elif word in ("lost", "given"):
            self._drop(result, address)
        elif held is not None:
            self._confirm(result, address, held, wanted=bool(text))
        else:
            free = seen + number / 1000
            held = self._held[address] = HeldSlot(free, free + USE, wanted=bool(text), idle=awaited is None)
            self._sort(address, held)
            if self._awaited.pop(address, None) is not None:  # else it is not needed any more
                result.granted.append(address)

    def _confirm(self, result: Round, address: str, held: HeldSlot, wanted: bool) -> None:
        """A slot is still held. If it is needed again, use it, unless others wait."""
        held.wanted, held.giving = wanted, False
        if held.idle and not wanted and self._awaited.pop(address, None) is not None:
            held.idle = False
            result.granted.append(address)
        self._sort(address, held)

    def _sort(self, address: str, held: HeldSlot) -> None:
        """Note an address where it belongs by its state."""
        self._unsort(address)
        if not held.idle:
            if held.wanted:
                self._sought.add(address)
        elif held.wanted:
            self._leaving.add(address)
            self._hurry()
        else:
            self._idle[address] = self._clock()

    def _unsort(self, address: str) -> None:
        self._idle.pop(address, None)
        self._leaving.discard(address)
        self._sought.discard(address)

    def _drop(self, result: Round, address: str) -> None:
        held = self._held.pop(address, None)
        self._unsort(address)
        if held is not None and not held.idle:
            result.lost.append(address)


def _milliseconds(seconds: float) -> int:
    """Return milliseconds, rounded up: a wait is never too short."""
    return int(1000 * seconds) + 1 if seconds > 0 else 0
