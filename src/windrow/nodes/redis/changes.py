"""Hashes of which readers fetch only what has changed since their last look.

Every node looks each second at all nodes, and at the home of every shard: with 1,000 nodes that is the square of their
number. So the writer of a field notes it in a sorted set next to the hash, under a rising number, and a reader asks for
the fields above the number that it knows.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from windrow.nodes.redis.client import RedisClient

_K = TypeVar("_K")
_V = TypeVar("_V")


def names(key: str) -> list[str]:
    """Return the keys of such a hash: itself, and its changes."""
    return [key, f"{key}-changes"]


async def write(client: RedisClient, key: str, *words: str | bytes | int) -> None:
    """Write fields of a hash, name and value in turn; an empty value removes a field."""
    await client.call("note", names(key), words)


class ChangingHash(Generic[_K, _V]):
    """What a reader knows of a hash. `decode` returns a key and its value, or None for what no Windrow wrote."""

    def __init__(self, client: RedisClient, key: str, decode: Callable[[bytes, bytes], tuple[_K, _V] | None]) -> None:
        self._client = client
        self._key = key
        self._decode = decode
        self._server = ""
        self._first = self._last = b""  # numbers of changes; empty: everything is to be read
        self._fields: dict[bytes, tuple[_K, _V] | None] = {}
        self.entries: dict[_K, _V] = {}  # as of the last look

    async def look(self) -> dict[_K, _V]:
        """Return what the hash holds now."""
        same_server = self._client.server == self._server
        words = (self._first, self._last) if same_server else (b"", b"")
        first, last, is_all, length, values = await self._client.call("changes", names(self._key), words)
        self._server = self._client.server  # another one may have an old copy
        if is_all:
            self._fields.clear()
        for field, value in zip(values[::2], values[1::2], strict=True):
            self._fields.pop(field, None)
            if value:
                self._fields[field] = self._decode(field, value)
        if is_all or values:
            self.entries = dict(entry for entry in self._fields.values() if entry is not None)
        whole = len(self._fields) == length  # else somebody has changed it without a note
        self._first, self._last = (first, last) if whole else (b"", b"")
        return self.entries
