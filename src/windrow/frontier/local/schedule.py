"""Which open host is next: due times per host and per address, kept in memory for the open hosts.

A host with work is in one of two heaps. Until it is due it is in the heap of times. A host that is due is in the heap
of ready entries, ordered by its key and then by its arrival. If its address is known, it is in the heap of its address
slot instead, and the slot is in the heap of ready entries for all its hosts. So an address that many hosts share costs
no more than any other, and none of its hosts is passed over.

If the crawl has several shards, an address is used only while it is ours: the first ready host makes the schedule ask
the gate for it, and it is given back when no host is ready there, or after a lease if another shard waits for it.

Lazy deletion: a heap entry is live only while its number equals the current `entry` of its host or slot.
After a restart every host and every address waits for its delay once more.
"""

import heapq
import itertools
import math
from collections.abc import Callable

from windrow.frontier.local.gate import Gate
from windrow.frontier.local.hosts import AddressSlot, OpenHost

ADDRESSES = 50_000  # slots kept before those that are due and free are dropped


def ip(address: str) -> str:
    """Return an address without the port that a hosts file may have given it."""
    if address.startswith("["):
        return address[1 : address.index("]")]
    return address.partition(":")[0] if address.count(":") == 1 else address


class Schedule:
    """The heaps. `key` orders the hosts that are ready, least first. `gate`: other shards may use the same address."""

    def __init__(self, ip_delay: float, key: Callable[[OpenHost], float], gate: Gate | None = None) -> None:
        self._gate = gate
        self.start = 0.0  # epoch seconds of a restart: any address may have got a request just before
        self.ip_delay = ip_delay
        self._key = key
        self._now = 0.0
        self._times: list[tuple[float, int, OpenHost | AddressSlot]] = []
        self._ready: list[tuple[float, int, OpenHost | AddressSlot]] = []
        self._slots: dict[str, AddressSlot] = {}
        self._limit = ADDRESSES
        self._numbers = itertools.count(1)

    def set_delay(self, ip_delay: float) -> None:
        """Use this delay of addresses from now on, here and in what is said to other shards."""
        self.ip_delay = ip_delay
        if self._gate is not None:
            self._gate.set_delay(ip_delay)

    def put(self, host: OpenHost, due: float) -> None:
        """Schedule a host that has work from this time on."""
        if due <= self._now:
            self._arrive(host)
        else:
            host.state = "waiting"
            self._wait(host, due)

    def pop(self, now: float) -> OpenHost | None:
        """Return the best host that may be leased now: host and address are both due and unheld.

        It holds both until `free`.
        """
        self._wake(now)
        while self._ready:
            _, number, entry = heapq.heappop(self._ready)
            if entry.entry != number:
                continue
            entry.entry = 0
            host = self._first(entry) if isinstance(entry, AddressSlot) else entry
            if host is not None:
                host.state = "leased"
                return host
        return None

    def free(self, host: OpenHost, last: float) -> None:
        """End the lease of a host; `last` is the end of its last request, 0 if there was none."""
        host.state = "idle"
        slot, host.slot = host.slot, None
        if slot is not None:
            slot.held = False
            if last:
                slot.due = max(slot.due, last + self.ip_delay)
                slot.last = last
            if self._gate is not None and slot.ours and self._gate.wanted(slot.address):
                self._give(slot)
            self._offer(slot)

    def drop(self, host: OpenHost) -> None:
        """Forget a host that is being closed: its entry is no longer live."""
        host.state = "gone"
        host.entry = 0

    def next(self, now: float, held: bool = False) -> float:
        """Return when the next host may be leased; infinity if none waits for time.

        `held`: the ready hosts are held back, so only the waiting ones count.
        """
        while self._ready and not held:
            _, number, entry = self._ready[0]
            if entry.entry == number:
                return now
            heapq.heappop(self._ready)
        while self._times:
            time, number, entry = self._times[0]
            if entry.entry == number:
                return time
            heapq.heappop(self._times)
        return math.inf

    def is_held_up(self, host: OpenHost) -> bool:
        """Return whether a ready host has to wait for its address."""
        slot = self._slots.get(ip(host.address)) if host.address else None
        if slot is None:
            return False
        return slot.held or slot.due > self._now or (self._gate is not None and not slot.ours)

    # Several shards

    def grant(self, address: str, start: float) -> None:
        """An address is ours; no request before `start`."""
        slot = self._slot(address)
        _own(slot, start)
        self._offer(slot)

    def lose(self, address: str) -> None:
        """An address is no longer ours. Whoever has a lease there finds out before its next request."""
        slot = self._slots.get(address)
        if slot is not None and slot.ours:
            slot.ours, slot.entry = False, 0
            self._offer(slot)

    def pass_on(self, address: str) -> None:
        """Give an address for which other shards wait, unless a host has a lease there: that gives it at its end.

        Its hosts may wait for long although they are ready: a crawl pauses, or has no room for further pages.
        """
        slot = self._slots.get(address)
        if slot is not None and slot.ours and not slot.held:
            slot.entry = 0
            self._give(slot)
            self._offer(slot)

    def _ask(self, gate: Gate, slot: AddressSlot) -> bool:
        """Ask for an address; return whether no other shard has got it since it was ours."""
        start = gate.want(slot.address)
        if start is not None:
            _own(slot, start)
        return slot.ours

    def _give(self, slot: AddressSlot) -> None:
        assert self._gate is not None
        slot.ours = False
        self._gate.give(slot.address, slot.last)

    # Heaps

    def _wake(self, now: float) -> None:
        self._now = now
        times = self._times
        while times and times[0][0] <= now:
            _, number, entry = heapq.heappop(times)
            if entry.entry != number:
                continue
            entry.entry = 0
            if isinstance(entry, AddressSlot):
                self._offer(entry)
            else:
                self._arrive(entry)

    def _arrive(self, host: OpenHost) -> None:
        """Make a host ready, in the heap of its address if it needs one: pages that end without a request do not."""
        host.state = "ready"
        host.key = self._key(host)
        host.entry = number = next(self._numbers)
        if not host.address or host.ending:
            heapq.heappush(self._ready, (host.key, number, host))
            return
        slot = self._slot(ip(host.address))
        heapq.heappush(slot.hosts, (host.key, number, host))
        if not slot.entry or slot.hosts[0][1] == number:
            self._offer(slot)

    def _offer(self, slot: AddressSlot) -> None:
        """Put a free slot that has ready hosts where its first host would be, or let it wait until it is due."""
        if slot.held:
            return
        if not slot.hosts:
            if slot.ours:
                self._give(slot)
            return
        if self._gate is not None and not slot.ours and not self._ask(self._gate, slot):
            slot.entry = 0
        elif slot.due > self._now:
            self._wait(slot, slot.due)
        else:
            slot.entry = next(self._numbers)
            heapq.heappush(self._ready, (slot.hosts[0][0], slot.entry, slot))

    def _first(self, slot: AddressSlot) -> OpenHost | None:
        """Take the first host of a free slot, and the slot with it."""
        while slot.hosts:
            _, number, host = heapq.heappop(slot.hosts)
            if host.entry == number:
                host.entry = 0
                host.slot = slot
                slot.held = True
                return host
        if slot.ours:
            self._give(slot)
        return None

    def _wait(self, entry: OpenHost | AddressSlot, due: float) -> None:
        entry.entry = next(self._numbers)
        heapq.heappush(self._times, (due, entry.entry, entry))

    def _slot(self, key: str) -> AddressSlot:
        slot = self._slots.get(key)
        if slot is None:
            if len(self._slots) >= self._limit:
                self._drop_slots()
            slot = self._slots[key] = AddressSlot(key, self.start + self.ip_delay if self.start else 0.0)
        return slot

    def _drop_slots(self) -> None:
        self._slots = {
            key: slot
            for key, slot in self._slots.items()
            if slot.held or slot.hosts or slot.entry or slot.ours or slot.due > self._now
        }
        self._limit = max(ADDRESSES, 2 * len(self._slots))


def _own(slot: AddressSlot, start: float) -> None:
    if not slot.ours:
        slot.ours, slot.last = True, 0.0
    slot.due = max(slot.due, start)
