"""The domains of one shard of a crawl on many machines. Links to all others are sent to their shards."""

from array import array
from collections.abc import Iterable

from windrow import sharding, urls
from windrow.records import Task

REMEMBERED = 20_000  # domains whose shard is remembered: links lead to few domains
KEYS = 1 << 20  # 8 MB; measured in a crawl: 4 of 10 links to other shards are left


class Territory:
    """Says which links are ours, and which of the others were not sent lately."""

    def __init__(self, shard: int, count: int, keys: int = KEYS) -> None:
        self.shard, self.count = shard, count
        self._known: dict[str, bool] = {}  # whether a domain is ours
        self._sent = SentKeys(keys)
        self.asked: dict[Task, None] = {}  # files on domains of other shards that origins here wait for, in order

    def foreign(self, task: Task) -> bool:
        """Return whether an origin of another shard needs a file."""
        needing = urls.parse(task.via + "/") if task.via else None
        return needing is not None and not self.owns(needing.domain)

    def owns(self, domain: str) -> bool:
        """Return whether a registered domain is ours."""
        known = self._known.get(domain)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[domain] = sharding.shard_of(domain, self.count) == self.shard
        return known

    def divide(self, links: Iterable[Task]) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
        """Return the links that are ours, and the others."""
        own: list[Task] = []
        others: list[Task] = []
        for task in links:
            (own if self.owns(task.url.domain) else others).append(task)
        return tuple(own), tuple(others)

    def fresh(self, others: Iterable[Task]) -> tuple[Task, ...]:
        """Return the links of other shards that were not sent lately, and remember them as sent."""
        return self._sent.fresh(others)


class SentKeys:
    """Remembers the keys of the latest links, each in the one place that its low bits name.

    It never says of a new link that it was sent: a place holds a whole key. A key that another one has replaced is sent
    once more, which does no harm. Nothing of it is durable: the log says what was sent.
    """

    def __init__(self, keys: int = KEYS) -> None:
        if keys < 2 or keys & (keys - 1):
            raise ValueError(f"{keys} is not a power of two")
        self._keys = array("Q", bytes(8 * keys))
        self._keys[0] = 1  # no key: 0 would be one, and 1 has another place
        self._mask = keys - 1

    def fresh(self, tasks: Iterable[Task]) -> tuple[Task, ...]:
        """Return the links that were not sent lately, and remember them."""
        keys, mask = self._keys, self._mask
        found = []
        for task in tasks:
            key = task.url.key
            place = key & mask
            if keys[place] != key:
                keys[place] = key
                found.append(task)
        return tuple(found)
