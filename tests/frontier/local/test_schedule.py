"""Address slots of the schedule, alone and shared with other shards."""

import pytest

from windrow.frontier.local import schedule
from windrow.frontier.local.hosts import OpenDomain, OpenHost
from windrow.frontier.local.schedule import Schedule
from windrow.frontier.store.rows import HostRow


def by_rank(host: OpenHost) -> float:
    return host.rank


@pytest.mark.parametrize(
    ("address", "ip"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("10.0.0.1:80", "10.0.0.1"),
        ("[::1]:80", "::1"),
        ("::1", "::1"),
        ("[2001:db8::1]", "2001:db8::1"),
    ],
)
def test_the_port_is_no_part_of_an_address(address: str, ip: str) -> None:
    assert schedule.ip(address) == ip


def test_only_address_slots_that_are_due_and_free_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "ADDRESSES", 4)
    times = Schedule(10.0, by_rank)
    for number in range(100):
        host = OpenHost(HostRow(number, f"h{number}.org", "h.org"), OpenDomain("h.org", leaving=False), 0.0)
        host.address = f"10.0.0.{number % 7}"
        times.put(host, 0.0)
    requested: dict[str, float] = {}
    now, count = 1000.0, 0
    while (now := max(now, times.next(now))) < float("inf"):
        while (host := times.pop(now)) is not None:
            assert now - requested.get(host.address, -100.0) >= 10.0
            requested[host.address] = now
            count += 1
            times.free(host, now)
    assert count == 100


class FakeGate:
    """An address is granted by the test. What was given is kept until another shard waits."""

    def __init__(self) -> None:
        self.kept: dict[str, float] = {}
        self.asked: list[str] = []
        self.others: set[str] = set()
        self.delay = 10.0

    def set_delay(self, seconds: float) -> None:
        self.delay = seconds

    def want(self, address: str) -> float | None:
        if address in self.kept:
            return self.kept.pop(address)
        self.asked.append(address)
        return None

    def give(self, address: str, last: float) -> None:
        if address not in self.others:
            self.kept[address] = last + self.delay

    def wanted(self, address: str) -> bool:
        return address in self.others


def open_host(number: int, address: str) -> OpenHost:
    host = OpenHost(HostRow(number, f"h{number}.org", "h.org"), OpenDomain("h.org", leaving=False), 0.0)
    host.address = address
    return host


def test_an_address_that_no_other_shard_got_meanwhile_is_used_again_after_its_delay() -> None:
    gate, host = FakeGate(), open_host(1, "10.0.0.1")
    times = Schedule(10.0, by_rank, gate)
    times.put(host, 0.0)
    assert times.pop(1000.0) is None and gate.asked == ["10.0.0.1"]
    times.grant("10.0.0.1", 1000.0)
    assert times.pop(1000.0) is host
    times.free(host, 1001.0)
    assert gate.kept == {"10.0.0.1": 1011.0}, "no host is ready there"
    times.put(host, 1005.0)
    assert times.pop(1006.0) is None and times.next(1006.0) == 1011.0
    assert times.pop(1011.0) is host and gate.asked == ["10.0.0.1"]


def test_an_address_that_other_shards_want_is_given_after_a_lease_and_asked_for_again() -> None:
    gate, hosts = FakeGate(), [open_host(number, "10.0.0.1") for number in range(2)]
    times = Schedule(10.0, by_rank, gate)
    for host in hosts:
        times.put(host, 0.0)
    times.grant("10.0.0.1", 1000.0)
    first = times.pop(1000.0)
    assert first is not None
    gate.others.add("10.0.0.1")
    gate.asked.clear()
    times.free(first, 1001.0)
    assert times.pop(2000.0) is None and gate.asked == ["10.0.0.1"]
    times.grant("10.0.0.1", 2000.0)
    assert times.pop(2000.0) in hosts


def test_a_grant_that_is_repeated_does_not_forget_the_last_request() -> None:
    gate, host = FakeGate(), open_host(1, "10.0.0.1")
    times = Schedule(10.0, by_rank, gate)
    times.put(host, 0.0)
    times.grant("10.0.0.1", 1000.0)
    assert times.pop(1000.0) is host
    times.put(open_host(2, "10.0.0.1"), 0.0)
    times.free(host, 1001.0)
    times.grant("10.0.0.1", 1000.0)
    gate.others.add("10.0.0.1")
    last = []
    gate.give = lambda address, ended: last.append(ended)  # type: ignore[method-assign]
    second = times.pop(1011.0)
    assert second is not None
    times.free(second, 0.0)
    assert last == [1001.0]


def test_an_address_that_other_shards_want_is_given_although_its_hosts_are_held_back() -> None:
    gate, hosts = FakeGate(), [open_host(number, "10.0.0.1") for number in range(2)]
    times = Schedule(10.0, by_rank, gate)
    for host in hosts:
        times.put(host, 0.0)
    times.grant("10.0.0.1", 1000.0)
    leased = times.pop(1000.0)
    assert leased is not None
    times.pass_on("10.0.0.1")
    gate.asked.clear()
    times.free(leased, 1001.0)
    assert gate.asked == [], "it was not given during the lease"
    gate.others.add("10.0.0.1")
    times.pass_on("10.0.0.1")
    assert gate.asked == ["10.0.0.1"] and times.pop(2000.0) is None
    times.grant("10.0.0.1", 2000.0)
    assert times.pop(2000.0) is not None


def test_a_delay_of_addresses_that_an_order_changes_holds_for_other_shards_too() -> None:
    gate, host = FakeGate(), open_host(1, "10.0.0.1")
    times = Schedule(10.0, by_rank, gate)
    times.put(host, 0.0)
    times.grant("10.0.0.1", 1000.0)
    assert times.pop(1000.0) is host
    times.set_delay(20.0)
    times.free(host, 1001.0)
    assert gate.kept == {"10.0.0.1": 1021.0}
