"""What carries messages between shards, as the exchange sees it."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from windrow.shards.messages import Ack, Hello, Standing


class Unavailable(Exception):
    """The transport does not answer, or refuses to work now. Nothing is lost: try again later."""


class Outgoing(msgspec.Struct, frozen=True):
    """What a shard has to say in one call."""

    shard: int
    incarnation: int
    number: int  # of the call; a call may be carried out after a later one, if the shard did not wait for it
    batches: tuple[tuple[int, bytes], ...]  # for the inboxes of other shards
    hellos: dict[int, Hello]  # by receiver; only those that have changed
    acks: dict[int, Ack]  # by sender; only those that have changed
    standing: Standing | None  # None: nothing is announced yet
    after: str  # read the inbox after this message; empty: from its beginning
    most: int  # messages to read
    done: str  # everything up to and with this message may be removed from the inbox; empty: nothing
    watches: bool = True  # it needs the standings of all in any case, not only when the end may be near


class Incoming(msgspec.Struct, frozen=True):
    """What a shard gets back."""

    epoch: str  # changes when the transport has lost everything
    messages: tuple[tuple[str, bytes], ...] = ()  # of the inbox, in order, each with its name
    hellos: dict[int, Hello] = {}  # all to this shard, by sender
    acks: dict[int, Ack] = {}  # all to this shard, by receiver
    unpublished: tuple[int, ...] = ()  # indexes of batches that were refused
    announced: bool = False  # hellos, acks and standing were written
    superseded: int = 0  # the incarnation of another process that has taken this shard; 0: there is none
    standings: dict[int, Standing] = {}  # of all shards, as they were before this call; or none, see `watches`


class Survey(msgspec.Struct, frozen=True):
    """Everything that the shards of a job have announced, as of one moment; nothing if there was no such moment."""

    standings: dict[int, Standing]
    hellos: Mapping[tuple[int, int], Hello] = {}  # by sender and receiver
    acks: Mapping[tuple[int, int], Ack] = {}  # by sender and receiver


class Transport(Protocol):
    """Inboxes and registers.

    Batches may be lost, repeated, delayed and reordered. Hellos, acks and the standing of one call are written
    together or not at all, and never over those of a later call or of a later incarnation: a survey then shows each
    shard as it was at some moment.
    """

    async def call(self, outgoing: Outgoing) -> Incoming: ...  # Unavailable: it may have been carried out, or not
    async def standings(self) -> dict[int, Standing]: ...
    async def survey(self) -> Survey: ...
