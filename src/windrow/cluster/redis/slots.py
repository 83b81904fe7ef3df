"""Address slots: of all shards, only the holder of an address sends requests to it, and not before its delay is over.

No two machines need clocks that agree, and Redis needs none. Every wait is measured by one process on its monotonic
clock, from the moment at which it saw the reason to wait:

- A holder renews its slots, and may use one for `VALID` seconds after it sent its last successful renewal.
- The holder that gives a slot says how long its successor has to wait; the successor waits that long from the answer.
- A process that waits takes the slot of a holder that has been silent for `VALID` and one delay, as it saw it.
- After Redis has lost everything (another era), a process takes nothing for `VALID` and one delay, as it saw it.
  Holders put theirs back meanwhile.

So two requests are never closer than the delay, whatever is killed, paused, emptied or set to another time. A process
that waits is in the queue of the address, and the script hands a slot over when it is given. A process that waits for
any address asks every 0.01 to 0.1 seconds, once for all of them, whether it was handed one.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from windrow.cluster.redis.client import RedisClient
from windrow.cluster.redis.keys import Keys
from windrow.cluster.transport import Unavailable

VALID = 2.0  # seconds
RENEW = 0.5  # seconds from one renewal to the next, and from one assertion of a wait to the next
CLOSEST, FARTHEST = 0.01, 0.1  # seconds from one round to the next while addresses are waited for


class Held(msgspec.Struct):
    """A slot that this process holds."""

    start: float  # no request before
    valid: float  # no request after, unless it is renewed
    renewed: float
    wanted: bool = False  # another process waits for it


class Awaited(msgspec.Struct):
    """A slot that this process waits for."""

    version: int = -1  # of the slot, as seen last
    since: float = 0.0  # it has been seen with this version
    asserted: float = float("-inf")


class Round(msgspec.Struct, frozen=True):
    """What a round has changed."""

    granted: list[str]  # addresses that are held from now on; `start` says when the first request may be sent
    lost: list[str]  # addresses that are not held any more: another process has them


class Slots:
    """The address slots of one shard process. `process` is unique: shard and incarnation."""

    def __init__(self, client: RedisClient, job: str, process: str, delay: float, clock: Callable[[], float]) -> None:
        self._client = client
        self._keys = Keys(job)
        self._process = process
        self._delay = delay
        self._clock = clock  # monotonic seconds
        self._held: dict[str, Held] = {}
        self._awaited: dict[str, Awaited] = {}
        self._given: dict[str, float | None] = {}  # to be said: end of the last request, None if there was none
        self._left: set[str] = set()  # to be said: no longer awaited
        self._cooling: dict[str, float] = {}  # given by us: when a request may follow
        self._calls = 0
        self._era = ""
        self._quiet = float("inf")  # nothing is taken before
        self._next = float("-inf")  # when the next round has something to do

    def want(self, address: str) -> None:
        """Wait for an address; `round` says when it is granted."""
        if address not in self._held and address not in self._awaited:
            self._awaited[address] = Awaited()
            self._left.discard(address)
            self._next = float("-inf")

    def unwant(self, address: str) -> None:
        if self._awaited.pop(address, None) is not None:
            self._left.add(address)
            self._next = float("-inf")

    def give(self, address: str, last: float | None) -> None:
        """Release an address; `last`: the end of the last request to it, None if there was none."""
        held = self._held.pop(address, None)
        if held is None:
            return
        self._given[address] = last
        self._cooling[address] = held.start if last is None else last + self._delay
        self._next = float("-inf")

    def may_request(self, address: str) -> bool:
        """Return whether a request may be sent now. Ask before every request."""
        held = self._held.get(address)
        return held is not None and held.start <= self._clock() < held.valid

    def wanted(self, address: str) -> bool:
        """Return whether other processes wait for an address that this one holds."""
        held = self._held.get(address)
        return held is not None and held.wanted

    def start(self, address: str) -> float:
        """Return when the first request to an address that is held may be sent."""
        return self._held[address].start

    @property
    def again(self) -> float:
        """Return when `round` has to be called again at the latest; infinity while nothing is held or awaited."""
        return self._next

    async def round(self) -> Round:
        """Say and learn everything in one call. Unavailable: nothing is lost; call it again."""
        now = self._clock()
        steps = list(self._steps(now))
        said = [address for verb, address, _, _ in steps if verb == "forget"]
        given, left = dict(self._given), set(self._left)
        self._calls += 1
        try:
            era, answers = await self._call([word for step in steps for word in step])
        except Unavailable:
            self._next = self._clock() + FARTHEST
            raise
        seen = self._clock()
        self._confirm(said, given, left)
        if era != self._era:
            self._begin(era, seen)
        before = set(self._held)
        granted = [address for answer in answers if (address := self._take_in(answer, now, seen))]
        self._next = self._due(seen)
        return Round(granted, [address for address in before if address not in self._held])

    async def _call(self, steps: list[str | int]) -> tuple[str, Sequence[Any]]:
        keys = [self._keys[name] for name in ("slots", "calls", "era")] + [self._keys.of("grants", self._process)]
        if not self._client.server:
            await self._client.run(("PING",))
        server = self._client.server
        words: list[str | int] = [self._process, self._calls, server, secrets.token_hex(8)]
        words += [_milliseconds(VALID + self._delay), self._keys["grants:"], self._era]
        era, *answers = await self._client.call("slots", keys, words + steps, server)
        return era.decode(), answers

    def _steps(self, now: float) -> Iterator[tuple[str, str, int, int]]:
        for address, last in self._given.items():
            cool = 0.0 if last is None else max(0.0, last + self._delay - now)
            yield "give", address, _milliseconds(cool), int(last is not None)
        yield from (("leave", address, 0, 0) for address in self._left)
        for address, until in self._cooling.items():
            if until <= now and address not in self._held and address not in self._given:
                yield "forget", address, 0, 0
        # Slots that will be due soon are renewed with one that is: else each would need a round of its own.
        due = any(now - held.renewed >= RENEW for held in self._held.values())
        for address, held in self._held.items():
            if due and now - held.renewed >= RENEW / 2:
                yield "hold" if now < held.valid else "keep", address, 0, 0
        for address, awaited in self._awaited.items():
            if now >= self._quiet and now - awaited.asserted >= RENEW:
                awaited.asserted = now
                yield "take", address, int(1000 * (now - awaited.since)), awaited.version

    def _confirm(self, said: Sequence[str], given: dict[str, float | None], left: set[str]) -> None:
        """Forget what was said. More may have been given and left since."""
        for address, last in given.items():
            if address in self._given and self._given[address] == last:
                del self._given[address]
        self._left -= left
        for address in said:
            self._cooling.pop(address, None)

    def _begin(self, era: str, seen: float) -> None:
        """Redis knows nothing, or we do not know what it knew: put back what is held, and take nothing for a while."""
        self._era = era
        self._quiet = seen + VALID + self._delay
        for held in self._held.values():
            held.renewed = float("-inf")
        for awaited in self._awaited.values():
            awaited.version, awaited.asserted = -1, float("-inf")

    def _take_in(self, answer: Sequence[Any], sent: float, seen: float) -> str:
        address, word = str(answer[0], "utf-8"), str(answer[1], "utf-8")
        cool, version = int(answer[2]), int(answer[3])
        held = self._held.get(address)
        if word in ("granted", "again"):
            if address not in self._awaited:
                if held is None:  # not wanted any more
                    self._left.add(address)
                return ""
            start, own = seen + cool / 1000, self._cooling.pop(address, None)
            if word == "again" and own is not None:  # we made the last requests, and our clock knows when they ended
                start = own
            del self._awaited[address]
            self._held[address] = Held(start, sent + VALID, sent)
            return address
        if word == "queued" and (awaited := self._awaited.get(address)) is not None:
            if awaited.version != version:
                awaited.version, awaited.since = version, seen
        elif held is not None:
            self._renewed(address, held, word, sent)
        return ""

    def _renewed(self, address: str, held: Held, word: str, sent: float) -> None:
        if word == "lost":
            del self._held[address]
        else:
            held.renewed, held.valid, held.wanted = sent, sent + VALID, word == "wanted"

    def _due(self, now: float) -> float:
        """Return when the next round is due: never infinity while anything is awaited, held or still to be said."""
        moments = [held.renewed + RENEW for held in self._held.values()]
        if self._awaited:
            moments.append(now + min(max(CLOSEST, self._delay / 4), FARTHEST))
            if now < self._quiet:
                moments[-1] = max(moments[-1], min(self._quiet, now + RENEW))
        if self._given or self._left:
            moments.append(now)
        moments += self._cooling.values()
        return min(moments, default=float("inf"))


def _milliseconds(seconds: float) -> int:
    """Return milliseconds, rounded up: a wait is never too short."""
    return int(1000 * seconds) + 1 if seconds > 0 else 0
