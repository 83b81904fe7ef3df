"""The transport over Redis: one script, and one round trip, per call."""

import contextlib
import secrets
from collections.abc import Callable, Iterator
from typing import TypeVar

from windrow.cluster import messages
from windrow.cluster.messages import MessageError, Standing
from windrow.cluster.redis.client import Command, RedisClient
from windrow.cluster.redis.keys import Keys
from windrow.cluster.transport import Incoming, Outgoing, Survey

_T = TypeVar("_T")


class RedisTransport:
    """Implements `Transport` for one shard, or for an observer of the job."""

    def __init__(self, client: RedisClient, job: str, shards: int) -> None:
        self._client = client
        self._keys = Keys(job)
        self._shards = shards
        self.trouble = ""  # why the server refused to write in the last call; empty: it did not

    async def call(self, outgoing: Outgoing) -> Incoming:
        answers = await self._client.call("exchange", self._names(outgoing), _words(outgoing))
        server = self._client.server
        epoch, inbox, hellos, acks, unpublished, announced, refusal, board = answers
        self.trouble = refusal.decode("utf-8", "replace")
        return Incoming(
            epoch=await self._epoch(epoch, server),
            messages=tuple([(name.decode(), fields[1]) for name, fields in inbox]),
            hellos=dict(_decoded(hellos, messages.hello)),
            acks=dict(_decoded(acks, messages.ack)),
            unpublished=tuple(unpublished),
            announced=announced == 0,
            superseded=max(0, announced),
            standings=dict(_decoded(board, messages.standing)),
        )

    def _names(self, outgoing: Outgoing) -> list[str]:
        keys, shard = self._keys, outgoing.shard
        names = [keys["epoch"], keys.of("in", shard), keys.of("hello", shard), keys.of("acks", shard)]
        names += [keys["owners"], keys["board"]]
        names += [keys.of("in", receiver) for receiver, _ in outgoing.batches]
        names += [keys.of("hello", receiver) for receiver in outgoing.hellos]
        return names + [keys.of("acks", sender) for sender in outgoing.acks]

    async def _epoch(self, found: bytes | None, server: str) -> str:
        """Return the epoch; begin one if there is none, or only that of another server process.

        A server may start with an old copy of its data, and a replica may take over without the latest of them.
        """
        if found is None or not found.startswith(server.encode()):
            fresh = f"{server}:{secrets.token_hex(8)}"
            (answer,) = await self._client.run(("SET", self._keys["epoch"], fresh))
            return fresh if not isinstance(answer, Exception) else f"{server}:unwritten"
        return found.decode()

    async def standings(self) -> dict[int, Standing]:
        (found,) = await self._client.run(("HGETALL", self._keys["board"]))
        return dict(_decoded(self._client.checked(found), messages.standing))

    async def survey(self) -> Survey:
        shards = range(self._shards)
        reads: list[Command] = [("HGETALL", self._keys["board"])]
        reads += [("HGETALL", self._keys.of("hello", shard)) for shard in shards]
        reads += [("HGETALL", self._keys.of("acks", shard)) for shard in shards]
        answers = await self._client.run(("MULTI",), *reads, ("EXEC",))
        board, *others = self._client.checked(answers[-1])
        hellos, acks = others[: self._shards], others[self._shards :]
        return Survey(
            dict(_decoded(board, messages.standing)),
            {(sender, r): hello for r in shards for sender, hello in _decoded(hellos[r], messages.hello)},
            {(s, receiver): ack for s in shards for receiver, ack in _decoded(acks[s], messages.ack)},
        )


def _words(outgoing: Outgoing) -> list[str | bytes | int]:
    words: list[str | bytes | int] = [outgoing.shard, outgoing.incarnation, outgoing.number]
    words += [f"({outgoing.after}" if outgoing.after else "-", outgoing.most, _behind(outgoing.done)]
    words += [len(outgoing.batches), *[data for _, data in outgoing.batches]]
    if outgoing.standing is None:
        return [*words, ""]
    registers = (outgoing.standing, *outgoing.hellos.values(), *outgoing.acks.values())
    return words + [messages.encode(register) for register in registers]


def _behind(name: str) -> str:
    """Return the lowest name behind that of a message; with an empty name, the lowest of all."""
    milliseconds, _, number = name.partition("-")
    return f"{milliseconds}-{int(number) + 1}" if name else "0-0"


def _decoded(answer: list[bytes], read: Callable[[bytes], _T]) -> Iterator[tuple[int, _T]]:
    """Yield the fields of a hash; those that are not ours are left out."""
    for name, value in zip(answer[::2], answer[1::2], strict=True):
        with contextlib.suppress(MessageError, ValueError):
            yield int(name), read(value)
