"""The registers of a job in Redis: a hello and an ack for each pair of shards, in slots of fixed size.

Their number is the square of that of the shards. A column is a string with all hellos to one shard, or all acks to it,
in a slot per shard that says them: 12 and 24 bytes. It is read as one value, and written slot by slot. What few
registers have is kept apart: the incarnations of a sender, once for all receivers; errands and their
answers in hashes, where a bit of the slot says that there are some.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from windrow.records import Watermark
from windrow.shards.messages import Ack, Errand, ErrandReply, Hello

HELLO = struct.Struct("<QI")  # incarnation; tail
ACK = struct.Struct("<QQII")  # incarnation; watermark: incarnation and frame; asks
_MORE = 1 << 31  # in the last number of a slot: errands or answers stand elsewhere

Lives = Mapping[int, tuple[Watermark, ...]]  # by sender: its incarnations
_T = TypeVar("_T", Hello, Ack)


def slot(register: Hello | Ack) -> bytes:
    """Return the slot of a register."""
    more = _MORE if has_more(register) else 0
    if isinstance(register, Hello):
        return HELLO.pack(register.incarnation, register.tail | more)
    mark = register.mark
    return ACK.pack(register.incarnation, mark.incarnation, mark.frame, register.asked | more)


def has_more(register: Hello | Ack) -> bool:
    """Return whether a register has more than fits into its slot."""
    return bool(register.errands if isinstance(register, Hello) else register.told)


def strangers(column: bytes, shards: int, lives: Lives) -> list[int]:
    """Return the senders in a column of hellos whose incarnations are not known, or not up to the latest."""
    slots = _slots(HELLO, column, shards)
    return [sender for sender, (inc, _) in slots if inc and _lived(inc, lives.get(sender, ())) is None]


def hellos(column: bytes, shards: int, lives: Lives, more: Mapping[int, Hello]) -> dict[int, Hello]:
    """Return the hellos of a column by sender."""
    hellos = [
        (sender, _hello(values, lives.get(sender, ()), more.get(sender)))
        for sender, values in _slots(HELLO, column, shards)
    ]
    return {sender: hello for sender, hello in hellos if hello is not None}


def acks(column: bytes, shards: int, more: Mapping[int, Ack]) -> dict[int, Ack]:
    """Return the acks of a column by receiver."""
    marks = [(receiver, _ack(values, more.get(receiver))) for receiver, values in _slots(ACK, column, shards)]
    return {receiver: ack for receiver, ack in marks if ack is not None}


class Pairs(Mapping[tuple[int, int], _T]):
    """All hellos or all acks of a job by sender and receiver, made when they are looked at: there may be millions."""

    def __init__(self, shards: int, look: Callable[[int, int], _T | None]) -> None:
        self._shards = shards
        self._look: Callable[[int, int], _T | None] = look

    def __getitem__(self, pair: tuple[int, int]) -> _T:
        value: _T | None = self._look(*pair)
        if value is None:
            raise KeyError(pair)
        return value

    def __iter__(self) -> Iterator[tuple[int, int]]:
        shards = range(self._shards)
        return (
            pair for sender in shards for receiver in shards if self._look(*(pair := (sender, receiver))) is not None
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


def all_hellos(columns: list[bytes], lives: Lives, more: list[dict[int, Hello]]) -> Pairs[Hello]:
    """Return all hellos. `columns`, `more`: by receiver."""

    def look(sender: int, receiver: int) -> Hello | None:
        values = _at(HELLO, columns[receiver], sender, len(columns))
        return _hello(values, lives.get(sender, ()), more[receiver].get(sender))

    return Pairs(len(columns), look)


def all_acks(columns: list[bytes], more: list[dict[int, Ack]]) -> Pairs[Ack]:
    """Return all acks. `columns`, `more`: by sender."""

    def look(sender: int, receiver: int) -> Ack | None:
        return _ack(_at(ACK, columns[sender], receiver, len(columns)), more[sender].get(receiver))

    return Pairs(len(columns), look)


def _hello(values: tuple[int, ...], lived: tuple[Watermark, ...], apart: Hello | None) -> Hello | None:
    """Return the hello of a slot; None if there is none, or if something that belongs to it is not there."""
    incarnation, tail = values
    errands: tuple[Errand, ...] = ()
    if tail & _MORE:
        if apart is None or apart.incarnation != incarnation:
            return None
        errands = apart.errands
    incarnations = _lived(incarnation, lived)
    return Hello(incarnation, tail & ~_MORE, incarnations, errands) if incarnation and incarnations else None


def _lived(incarnation: int, lived: tuple[Watermark, ...]) -> tuple[Watermark, ...] | None:
    """Return the incarnations of a shard if this is the latest of them."""
    return lived if lived and lived[-1].incarnation == incarnation else None


def _ack(values: tuple[int, ...], apart: Ack | None) -> Ack | None:
    incarnation, sender, frame, asked = values
    told: tuple[ErrandReply, ...] = ()
    if asked & _MORE:
        if apart is None or apart.incarnation != incarnation:
            return None
        told = apart.told
    return Ack(incarnation, Watermark(sender, frame), asked & ~_MORE, told) if incarnation else None


def _slots(form: struct.Struct, column: bytes, shards: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the slots of a column; none of one that is not ours."""
    return enumerate(form.iter_unpack(column) if len(column) == shards * form.size else ())


def _at(form: struct.Struct, column: bytes, shard: int, shards: int) -> tuple[int, ...]:
    return form.unpack_from(
        column if len(column) == shards * form.size else bytes(shards * form.size), shard * form.size
    )
