"""A filter of links that were sent before: most links of a page to other shards are on many pages of its site."""

from array import array
from collections.abc import Iterable

from windrow.data import Task

KEYS = 1 << 20  # 8 MB; measured in a crawl: 4 of 10 links to other shards are left


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
