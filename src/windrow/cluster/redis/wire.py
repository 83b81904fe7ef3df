"""The transport over Redis: one round trip per call.

Every command of a call is answered on its own. A server without free memory refuses to write, and still reads and
trims, so that a receiver frees the memory that a sender needs.
"""

import contextlib
import secrets
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import redis.exceptions

from windrow.cluster import messages
from windrow.cluster.messages import MessageError, Standing
from windrow.cluster.redis.client import Command, RedisClient, evalsha, script
from windrow.cluster.redis.keys import Keys
from windrow.cluster.transport import Incoming, Outgoing, Survey

_T = TypeVar("_T")
_READS = 5  # answers before those of the batches: epoch, trim, inbox, hellos, acks


class RedisTransport:
    """Implements `Transport` for one shard, or for an observer of the job."""

    def __init__(self, client: RedisClient, job: str, shards: int) -> None:
        self._client = client
        self._keys = Keys(job)
        self._shards = shards
        self.trouble = ""  # why the server refused to write in the last call; empty: it did not

    async def call(self, outgoing: Outgoing) -> Incoming:
        shard = outgoing.shard
        keys = self._keys
        commands: list[Command] = [
            ("GET", keys["epoch"]),
            ("XTRIM", keys.of("in", shard), "MINID", _behind(outgoing.done)),
            (
                "XRANGE",
                keys.of("in", shard),
                f"({outgoing.after}" if outgoing.after else "-",
                "+",
                "COUNT",
                outgoing.most,
            ),
            ("HGETALL", keys.of("hello", shard)),
            ("HGETALL", keys.of("acks", shard)),
        ]
        commands += [("XADD", keys.of("in", receiver), "*", "b", data) for receiver, data in outgoing.batches]
        announcement = self._announcement(outgoing)
        if announcement is not None:
            commands.append(evalsha("announce", *announcement))
        answers = await self._client.run(*commands)
        server = self._client.server
        epoch, _, inbox, hellos, acks = [
            self._client.checked(answer) if number != 1 else answer for number, answer in enumerate(answers[:_READS])
        ]
        added = answers[_READS : _READS + len(outgoing.batches)]
        unpublished = tuple([number for number, answer in enumerate(added) if isinstance(answer, Exception)])
        written = await self._announced(answers[-1], announcement) if announcement is not None else None
        refusals = [str(answer) for answer in (*added, written) if isinstance(answer, Exception)]
        self.trouble = refusals[0] if refusals else ""
        return Incoming(
            epoch=await self._epoch(epoch, server),
            messages=tuple([(name.decode(), fields[1]) for name, fields in inbox]),
            hellos=dict(_decoded(hellos, messages.hello)),
            acks=dict(_decoded(acks, messages.ack)),
            unpublished=unpublished,
            announced=written == 0,
            superseded=written if isinstance(written, int) and written > 0 else 0,
        )

    def _announcement(self, outgoing: Outgoing) -> tuple[list[str], list[str | bytes | int]] | None:
        if outgoing.standing is None:
            return None
        keys = [self._keys["owners"], self._keys["board"]]
        keys += [self._keys.of("hello", receiver) for receiver in outgoing.hellos]
        keys += [self._keys.of("acks", sender) for sender in outgoing.acks]
        values: list[str | bytes | int] = [outgoing.shard, outgoing.incarnation, outgoing.number]
        values += [messages.encode(outgoing.standing)]
        values += [messages.encode(record) for record in (*outgoing.hellos.values(), *outgoing.acks.values())]
        return keys, values

    async def _announced(self, answer: Any, announcement: tuple[list[str], list[str | bytes | int]]) -> Any:
        """Return the answer to an announcement. A server that has started again gets the text of the script."""
        if not isinstance(answer, redis.exceptions.NoScriptError):
            return answer
        keys, values = announcement
        (answer,) = await self._client.run(("EVAL", script("announce").text, len(keys), *keys, *values))
        return answer

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


def _behind(name: str) -> str:
    """Return the lowest name behind that of a message; with an empty name, the lowest of all."""
    milliseconds, _, number = name.partition("-")
    return f"{milliseconds}-{int(number) + 1}" if name else "0-0"


def _decoded(answer: list[bytes], read: Callable[[bytes], _T]) -> Iterator[tuple[int, _T]]:
    """Yield the fields of a hash; those that are not ours are left out."""
    for name, value in zip(answer[::2], answer[1::2], strict=True):
        with contextlib.suppress(MessageError, ValueError):
            yield int(name), read(value)
