"""Address slots of the schedule."""

import pytest

from windrow.frontier.local import schedule
from windrow.frontier.local.hosts import OpenDomain, OpenHost
from windrow.frontier.local.schedule import Schedule
from windrow.frontier.store.rows import HostRow


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
    times = Schedule(ip_delay=10.0)
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
