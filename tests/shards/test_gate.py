"""The gate between a frontier and the address slots: times of two clocks, and nothing said twice."""

import asyncio
import math

import pytest

from windrow.crawler.neighbours import Addresses
from windrow.shards.gate import AddressGate
from windrow.shards.transport import Unavailable


class Round:
    def __init__(self, granted: list[str], lost: list[str]) -> None:
        self.granted, self.lost = granted, lost
        self.wanted: list[str] = []


class FakeSlots:
    """Grants what is wanted in the next round, to be used a moment later, and keeps what is given."""

    def __init__(self, failures: int = 0) -> None:
        self.awaited: list[str] = []
        self.given: dict[str, float | None] = {}
        self.starts: dict[str, float] = {}
        self.failures = failures
        self.woken = asyncio.Event()
        self.rounds = 0

    def set_delay(self, seconds: float) -> None:
        self.delay = seconds

    def want(self, address: str) -> float | None:
        if address in self.starts:
            return self.starts[address]
        self.awaited.append(address)
        self.woken.set()
        return None

    def give(self, address: str, last: float | None) -> None:
        self.given[address] = last

    def wanted(self, address: str) -> bool:
        return address in self.given

    def may_request(self, address: str) -> bool:
        return address in self.starts

    def start(self, address: str) -> float:
        return self.starts[address]

    @property
    def again(self) -> float:
        return -math.inf if self.awaited else math.inf

    async def round(self) -> Round:
        self.rounds += 1
        if self.failures:
            self.failures -= 1
            raise Unavailable("not now")
        granted, self.awaited = self.awaited, []
        self.starts |= dict.fromkeys(granted, 100.05)
        return Round(granted, [])


class Clocks:
    """A monotonic clock that moves at each look, and the crawl's clock, which is always as far ahead of it."""

    def __init__(self) -> None:
        self.moment = 100.0

    def monotonic(self) -> float:
        self.moment += 1e-6
        return self.moment

    def now(self) -> float:
        return self.monotonic() + 1e9


async def first_news(gate: AddressGate) -> Addresses:
    return await asyncio.wait_for(gate.news(), 10)


@pytest.mark.parametrize("failures", [0, 3])
def test_an_address_is_never_used_before_its_time(failures: int) -> None:
    async def main() -> Addresses:
        gate = AddressGate(slots, clocks.now, clocks.monotonic)
        gate.want("198.51.100.1")
        return await first_news(gate)

    clocks, slots = Clocks(), FakeSlots(failures)
    found = asyncio.run(main())
    start = found.granted["198.51.100.1"]
    assert 0 <= start - (100.05 + 1e9) < 1e-3, "a request before that would be refused again and again"
    assert found.lost == []


def test_the_end_of_the_last_request_is_never_too_early() -> None:
    async def main() -> None:
        gate = AddressGate(slots, clocks.now, clocks.monotonic)
        gate.give("198.51.100.1", 0.0)
        gate.give("198.51.100.2", 1e9 + 99.0)

    clocks, slots = Clocks(), FakeSlots()
    asyncio.run(main())
    assert slots.given["198.51.100.1"] is None
    assert slots.given["198.51.100.2"] == pytest.approx(99.0, abs=1e-3)


def test_addresses_of_leases_may_have_ports() -> None:
    async def main() -> list[bool]:
        gate = AddressGate(slots, clocks.now, clocks.monotonic)
        gate.want("198.51.100.1")
        await first_news(gate)
        return [gate.may_use(address) for address in ("198.51.100.1", "198.51.100.1:8080", "198.51.100.2")]

    clocks, slots = Clocks(), FakeSlots()
    assert asyncio.run(main()) == [True, True, False]


def test_a_round_is_made_as_soon_as_one_is_due() -> None:
    async def main() -> Addresses:
        gate = AddressGate(slots, clocks.now, clocks.monotonic)
        waiting = asyncio.create_task(first_news(gate))
        await asyncio.sleep(0)
        slots.woken.set()  # by something for which no round is due
        await asyncio.sleep(0)
        assert slots.rounds == 0
        assert gate.want("198.51.100.1") is None
        return await waiting

    clocks, slots = Clocks(), FakeSlots()
    assert list(asyncio.run(main()).granted) == ["198.51.100.1"] and slots.rounds == 1


def test_an_address_that_was_kept_may_be_used_at_once() -> None:
    async def main() -> float | None:
        gate = AddressGate(slots, clocks.now, clocks.monotonic)
        gate.want("198.51.100.1")
        await first_news(gate)
        gate.give("198.51.100.1", 1e9 + 100.0)
        return gate.want("198.51.100.1")

    clocks, slots = Clocks(), FakeSlots()
    start = asyncio.run(main())
    assert start is not None and 0 <= start - (100.05 + 1e9) < 1e-3 and slots.rounds == 1
