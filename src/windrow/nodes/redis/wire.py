"""The transport over Redis: one script, and one round trip, per call."""

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from windrow.nodes.redis import registers as columns
from windrow.nodes.redis.client import Command, RedisClient
from windrow.nodes.redis.keys import Keys
from windrow.records import Watermark
from windrow.shards import messages
from windrow.shards.messages import Ack, Hello, MessageError, Standing
from windrow.shards.transport import Incoming, Outgoing, Survey

AT_ONCE = 64  # shards whose registers are read with one command
Said = tuple[str, int, Hello | Ack]  # kind of a register, the other shard, and its value
Register = tuple[int, str, int]  # the shard that says it, its kind, the other shard
_T = TypeVar("_T")


class SurveyPart(NamedTuple):
    """A part of a survey."""

    standings: dict[int, Standing]
    lives: dict[int, tuple[Watermark, ...]]
    registers: list[list[Any]]  # of each shard: hellos, errands, acks, answers


class RedisTransport:
    """Implements `Transport` for one shard, or for an observer of the job."""

    def __init__(self, client: RedisClient, job: str, shards: int) -> None:
        self._client = client
        self._keys = Keys(job)
        self._shards = shards
        self._lives: dict[int, tuple[Watermark, ...]] = {}  # by shard: its incarnations, as read last
        self._more: set[Register] = set()  # registers that have errands or answers in a hash
        self.trouble = ""  # why the server refused to write in the last call; empty: it did not

    async def call(self, outgoing: Outgoing) -> Incoming:
        registers = _registers(outgoing)
        words = _words(outgoing, self._shards, self._keys[""]) + self._register_words(outgoing.shard, registers)
        answers = await self._client.call("exchange", self._names(outgoing), words)
        server = self._client.server
        epoch, inbox, hellos, errands, acks, tells, unpublished, announced, refusal, board = answers
        self.trouble = refusal.decode("utf-8", "replace")
        if announced == 0:
            self._more -= {
                (outgoing.shard, kind, other) for kind, other, register in registers if not columns.has_more(register)
            }
        return Incoming(
            epoch=await self._epoch(epoch, server),
            messages=tuple([(name.decode(), fields[1]) for name, fields in inbox]),
            hellos=await self._hellos(hellos, dict(_decoded(errands, messages.hello))),
            acks=columns.acks(acks, self._shards, dict(_decoded(tells, messages.ack))),
            unpublished=tuple(unpublished),
            announced=announced == 0,
            superseded=max(0, announced),
            standings=dict(_decoded(board, messages.standing)),
        )

    def _names(self, outgoing: Outgoing) -> list[str]:
        keys, shard = self._keys, outgoing.shard
        names = [keys["epoch"], *[keys.of(name, shard) for name in ("in", "hellos", "errands", "marks", "tells")]]
        names += [keys[name] for name in ("owners", "board", "lives", "resting")]
        return names + [keys.of("in", receiver) for receiver, _ in outgoing.batches]

    def _register_words(self, shard: int, registers: list[Said]) -> list[str | bytes | int]:
        words: list[str | bytes | int] = []
        for kind, other, register in registers:
            more = messages.encode(register) if columns.has_more(register) else b""
            if more:
                self._more.add((shard, kind, other))
            elif (shard, kind, other) in self._more:
                more = b"-"
            words += [kind, other, columns.slot(register), more]
        return words

    async def _hellos(self, column: bytes, errands: dict[int, Hello]) -> dict[int, Hello]:
        """Return the hellos of a column; read the incarnations of senders that have started since."""
        fresh = columns.strangers(column, self._shards, self._lives)
        if fresh:
            (answers,) = await self._client.run(("HMGET", self._keys["lives"], *fresh))
            values = zip(fresh, self._client.checked(answers), strict=True)
            lives = [word for sender, value in values if value is not None for word in (b"%d" % sender, value)]
            self._lives.update(_decoded(lives, messages.incarnations))
        return columns.hellos(column, self._shards, self._lives, errands)

    async def _epoch(self, epoch: bytes | None, server: str) -> str:
        """Return the epoch; begin one if there is none, or only that of another server process.

        A server may start with an old copy of its data, and a replica may take over without the latest of them.
        """
        if epoch is None or not epoch.startswith(server.encode()):
            fresh = f"{server}:{secrets.token_hex(8)}"
            (answer,) = await self._client.run(("SET", self._keys["epoch"], fresh))
            return fresh if not isinstance(answer, Exception) else f"{server}:unwritten"
        return epoch.decode()

    async def standings(self) -> dict[int, Standing]:
        (standings,) = await self._client.run(("HGETALL", self._keys["board"]))
        return dict(_decoded(self._client.checked(standings), messages.standing))

    async def survey(self) -> Survey:
        """Read everything in parts, because all columns together may need more memory than the server has.

        A shard that announces other hellos or acks has written a frame meanwhile. So if the parts have the same
        standings, all that was read is of one moment.
        """
        parts = [range(first, self._shards)[:AT_ONCE] for first in range(0, self._shards, AT_ONCE)]
        parts_read = [await self._part(part) for part in parts]
        standings, lives = parts_read[-1].standings, parts_read[-1].lives
        if any(_moment(part.standings) != _moment(standings) for part in parts_read):
            return Survey({})
        hellos, errands, marks, tells = [
            [value for part in parts_read for value in part.registers[at]] for at in range(4)
        ]
        return Survey(
            standings,
            columns.all_hellos(hellos, lives, [dict(_decoded(value, messages.hello)) for value in errands]),
            columns.all_acks(marks, [dict(_decoded(value, messages.ack)) for value in tells]),
        )

    async def _part(self, shards: range) -> SurveyPart:
        reads: list[Command] = [("HGETALL", self._keys["board"]), ("HGETALL", self._keys["lives"])]
        kinds = (("GET", "hellos"), ("HGETALL", "errands"), ("GET", "marks"), ("HGETALL", "tells"))
        reads += [(verb, self._keys.of(name, shard)) for verb, name in kinds for shard in shards]
        answers = await self._client.run(("MULTI",), *reads, ("EXEC",))
        board, lives, *others = self._client.checked(answers[-1])
        registers = [[value or b"" for value in others[at * len(shards) : (at + 1) * len(shards)]] for at in range(4)]
        return SurveyPart(
            dict(_decoded(board, messages.standing)), dict(_decoded(lives, messages.incarnations)), registers
        )


def _moment(standings: Mapping[int, Standing]) -> dict[int, tuple[int, int, bool]]:
    return {shard: (standing.incarnation, standing.frame, standing.idle) for shard, standing in standings.items()}


def _registers(outgoing: Outgoing) -> list[Said]:
    if outgoing.standing is None:
        return []
    said: list[Said] = [("hellos", receiver, hello) for receiver, hello in outgoing.hellos.items()]
    return said + [("marks", sender, ack) for sender, ack in outgoing.acks.items()]


def _words(outgoing: Outgoing, shards: int, start: str) -> list[str | bytes | int]:
    words: list[str | bytes | int] = [outgoing.shard, outgoing.incarnation, outgoing.number]
    words += [f"({outgoing.after}" if outgoing.after else "-", outgoing.most, _behind(outgoing.done)]
    words += [shards, int(outgoing.watches), start]
    words += [len(outgoing.batches), *[data for _, data in outgoing.batches]]
    standing = outgoing.standing
    if standing is None:
        return [*words, "", "", ""]
    rests = "ended" if standing.ended else "rests" if standing.idle else ""
    lives = next((messages.encode(hello.incarnations) for hello in outgoing.hellos.values()), b"")
    return [*words, messages.encode(standing), rests, lives]


def _behind(name: str) -> str:
    """Return the lowest name behind that of a message; with an empty name, the lowest of all."""
    milliseconds, _, number = name.partition("-")
    return f"{milliseconds}-{int(number) + 1}" if name else "0-0"


def _decoded(answer: list[bytes], read: Callable[[bytes], _T]) -> Iterator[tuple[int, _T]]:
    """Yield the fields of a hash; those that are not ours are left out."""
    for name, value in zip(answer[::2], answer[1::2], strict=True):
        with contextlib.suppress(MessageError, ValueError):
            yield int(name), read(value)
