"""The exchange of one shard with all others: a state machine without I/O.

The crawl hands in every committed frame and admits what has arrived; a courier moves `Outgoing` and `Incoming` between
this machine and a transport, and reads links again from the log where `wanted` says so. Time is passed in.
"""

import collections
import secrets
from collections.abc import Callable, Mapping, Sequence

import msgspec

from windrow import sharding
from windrow.records import Arrival, Exchanged, Frame, Task, Watermark
from windrow.shards import messages, pace
from windrow.shards.inbound import PATIENCE, Inbound, Offer, covers
from windrow.shards.messages import Ack, Batch, Errand, ErrandReply, Hello, MessageError, Standing
from windrow.shards.outbound import Outbound, Packet, window_of
from windrow.shards.transport import Incoming, Outgoing

REFRESH = 5.0  # seconds after which all registers are written again: a transport may have lost some of them
MOST_PENDING = 50_000  # links that have arrived and wait for the crawl; then the inbox is not read
MOST_MESSAGES = 256  # read in one call, or more if calls are further apart


def _jump() -> int:
    return 1 + secrets.randbits(20)  # milliseconds: up to 17 minutes


class Unsent(msgspec.Struct, frozen=True):
    """Links to a receiver that have to be read from the log."""

    receiver: int
    after: int  # this frame
    until: int  # up to and with this one
    room: int  # bytes, packed; reading may stop at the end of the frame that exceeds them


class ShardExchange:
    """A shard's side of the protocol. `exchanged` is what its log says; `incarnation` is new at each start.

    `jump` draws how far above a known incarnation a new one is, where the clock is behind that. A directory that was
    lost may have had any of the next ones, so the next one is not safe to take.
    """

    def __init__(
        self, shard: int, count: int, exchanged: Exchanged, incarnation: int, jump: Callable[[], int] = _jump
    ) -> None:
        self._jump = jump
        self.shard, self.count = shard, count
        others = [other for other in range(count) if other != shard]
        self._exchanged = exchanged
        slow = pace.factor(count)
        self._inbound = {other: Inbound(exchanged.got.get(other, Watermark()), PATIENCE * slow) for other in others}
        self._refresh_seconds = REFRESH * slow
        self._most = round(MOST_MESSAGES * slow)
        window = window_of(count)
        self._outbound = {other: Outbound(exchanged.tails.get(other, 0), window) for other in others}
        self._frame = 0  # the last one that was committed in this run
        self._number = 0  # of calls
        self._queue: dict[int, list[bytes]] = {}  # by receiver: batches that the transport has not confirmed
        self._hellos: dict[int, Hello] = {}  # as announced last
        self._acks: dict[int, Ack] = {}
        self._refreshed = float("-inf")
        self._epoch = ""
        self._position = self._done = ""  # of the inbox: read up to there; removable up to there
        self._rounds: collections.deque[tuple[str, dict[int, Watermark]]] = collections.deque()  # read, not yet durable
        self._pending: list[Task] = []
        self._changed: set[int] = set()  # senders whose watermark the crawl does not know yet
        self.watches = True  # the standings of all are needed in any case
        self.asks: Mapping[int, tuple[Errand, ...]] = {}  # said with the hellos
        self.tells: Mapping[int, tuple[ErrandReply, ...]] = {}  # said with the acks
        self.board: dict[
            int, Standing
        ] = {}  # what the shards said of themselves, as of the last call, if it brought that
        self.damaged = 0  # messages that could not be read
        self.superseded = 0  # an incarnation of this shard above ours: another process has it, or our clock is behind
        self.begin(incarnation)

    # The crawl

    def begin(self, incarnation: int) -> None:
        """Become a new incarnation. It counts once a frame says so; until then nothing is sent."""
        lived = self._exchanged.incarnations
        highest = max(lived[-1].incarnation if lived else 0, self.superseded)
        self.incarnation = incarnation if incarnation > highest else highest + self._jump()
        self.superseded = 0
        for outbound in self._outbound.values():
            outbound.reset()
        self._queue.clear()

    @property
    def begins(self) -> int:
        """The incarnation that the next frame must name; 0: the log has it."""
        lived = self._exchanged.incarnations
        return 0 if lived and lived[-1].incarnation == self.incarnation else self.incarnation

    def arrived(self) -> Arrival | None:
        """Hand over what has arrived. All of it must be admitted, and its `got` noted, in one frame."""
        if not self._changed:
            return None
        got = {sender: self._inbound[sender].taken for sender in self._changed}
        arrival = Arrival(tuple(self._pending), got)
        self._pending, self._changed = [], set()
        return arrival

    def committed(self, frame: Frame) -> None:
        """Take note of a frame that is durable: publish its links, acknowledge what it has got."""
        self._exchanged = sharding.apply(self._exchanged, frame)
        self._frame = frame.number
        for sender, mark in frame.got.items():
            self._inbound[sender].durable = mark
        self._trim()
        if not frame.receivers:
            return
        links = sharding.split([task for entry in frame.entries for task in entry.sent], self.count)
        for receiver in frame.receivers:
            if self._outbound[receiver].append(frame.number):
                self._publish(receiver, Packet(frame.number, messages.pack(links[receiver])))

    @property
    def at_rest(self) -> bool:
        """Whether everything that was read is durable."""
        level = all(inbound.durable == inbound.taken for inbound in self._inbound.values())
        return level and not self._changed and not self.begins

    # The log

    def wanted(self) -> list[Unsent]:
        """Return what has to be read from the log and handed to `resend`."""
        return [
            Unsent(receiver, outbound.behind, outbound.tail, outbound.room)
            for receiver, outbound in self._outbound.items()
            if outbound.behind is not None
        ]

    def resend(self, wanted: Unsent, packets: Sequence[Packet]) -> None:
        """Publish links from the log, unless the receiver has requested others meanwhile."""
        outbound = self._outbound[wanted.receiver]
        if outbound.behind == wanted.after:
            for packet in packets:
                self._publish(wanted.receiver, packet)

    def _publish(self, receiver: int, packet: Packet) -> None:
        previous = self._outbound[receiver].publish(packet)
        batch = Batch(self.shard, self.incarnation, previous, packet.frame, packet.links)
        self._queue.setdefault(receiver, []).append(messages.encode(batch))

    # The transport

    def outgoing(self, now: float, standing: Standing) -> Outgoing:
        """Return what to say now. `standing`: what the crawl says of itself."""
        self._number += 1
        if now - self._refreshed >= self._refresh_seconds:
            self._refresh(now)
        for inbound in self._inbound.values():
            if inbound.asks(now) and inbound.in_vain:
                self._reread()  # an inbox that was deleted may give lower names to later messages
        announces = not self.begins
        return Outgoing(
            shard=self.shard,
            incarnation=self.incarnation,
            number=self._number,
            batches=tuple([(receiver, data) for receiver, queue in self._queue.items() for data in queue]),
            hellos=self._new_hellos() if announces else {},
            acks=self._new_acks() if announces else {},
            standing=self._standing(standing) if announces else None,
            after=self._position,
            most=self._most if len(self._pending) < MOST_PENDING else 0,
            done=self._done,
            watches=self.watches,
        )

    def _refresh(self, now: float) -> None:
        self._hellos, self._acks, self._refreshed = {}, {}, now

    def _standing(self, standing: Standing) -> Standing:
        idle = standing.idle and self.at_rest
        return msgspec.structs.replace(standing, incarnation=self.incarnation, frame=self._frame, idle=idle)

    def _new_hellos(self) -> dict[int, Hello]:
        lived = self._exchanged.incarnations
        hellos = {
            other: Hello(self.incarnation, outbound.tail, lived, self.asks.get(other, ()))
            for other, outbound in self._outbound.items()
        }
        return {other: hello for other, hello in hellos.items() if hello != self._hellos.get(other)}

    def _new_acks(self) -> dict[int, Ack]:
        tells = self.tells
        acks = {other: inbound.ack(self.incarnation, tells.get(other, ())) for other, inbound in self._inbound.items()}
        return {other: ack for other, ack in acks.items() if ack != self._acks.get(other)}

    def incoming(self, said: Outgoing, reply: Incoming, now: float) -> None:
        """Take in the reply to a call."""
        self.board = reply.standings
        if reply.superseded > self.incarnation:
            self.superseded = max(self.superseded, reply.superseded)
        if reply.announced:
            self._hellos.update(said.hellos)
            self._acks.update(said.acks)
        self._confirm(said, reply.unpublished)
        for sender, hello in reply.hellos.items():
            inbound = self._inbound.get(sender)
            if inbound is not None and inbound.heard(hello, now):
                self._changed.add(sender)
        self._read(reply.messages, now)
        for receiver, ack in reply.acks.items():
            self._acknowledged(receiver, ack)
        if reply.epoch != self._epoch:
            self._restart(reply.epoch, now)
        self._trim()

    def _confirm(self, said: Outgoing, unpublished: Sequence[int]) -> None:
        """Forget the batches that the transport has. Others may have been added since, and some been given up."""
        refused = set(unpublished)
        for number, (receiver, data) in enumerate(said.batches):
            queue = self._queue.get(receiver, [])
            if number not in refused and data in queue:
                queue.remove(data)
            if not queue:
                self._queue.pop(receiver, None)

    def _read(self, named: Sequence[tuple[str, bytes]], now: float) -> None:
        if not named:
            return
        marks: dict[int, Watermark] = {}
        for _, data in named:
            try:
                sender = self._take(messages.batch(data), now)
            except MessageError:
                self.damaged += 1
                continue
            if sender is not None:
                marks[sender] = self._inbound[sender].taken
        self._position = named[-1][0]
        self._rounds.append((self._position, marks))

    def _take(self, batch: Batch, now: float) -> int | None:
        """Take in a batch, if it follows what is here; return its sender then."""
        inbound = self._inbound.get(batch.sender)
        if inbound is None or inbound.offered(batch) is not Offer.TAKE:
            return None
        tasks = messages.unpack(batch.links)
        own = sharding.split(tasks, self.count).get(self.shard, [])
        if len(own) != len(tasks):  # another list of public suffixes: the links would belong to nobody
            raise MessageError(f"shard {batch.sender} sent links of domains that are not ours")
        inbound.take(batch, now)
        self._pending += own
        self._changed.add(batch.sender)
        return batch.sender

    def _acknowledged(self, receiver: int, ack: Ack) -> None:
        if ack.mark.incarnation > self.incarnation:
            self.superseded = max(self.superseded, ack.mark.incarnation)
            return
        outbound = self._outbound.get(receiver)
        if outbound is None or self.begins:
            return
        before = outbound.cursor
        outbound.acknowledged(ack, self.incarnation)
        if outbound.cursor is None or (before is not None and outbound.cursor < before):
            self._queue.pop(receiver, None)  # it will be read from the log

    def _restart(self, epoch: str, now: float) -> None:
        """The transport is new, or has lost everything: say all again, and read its inbox from the beginning."""
        if self._epoch:
            for receiver, outbound in self._outbound.items():
                outbound.lost()
                self._queue.pop(receiver, None)
        self._epoch = epoch
        self._reread()
        self._refresh(now)

    def _reread(self) -> None:
        """Read the inbox from its beginning; what is known there is ignored. Nothing is removed until then."""
        self._position = self._done = ""
        self._rounds.clear()

    def _trim(self) -> None:
        while self._rounds and self._durable(self._rounds[0][1]):
            self._done = self._rounds.popleft()[0]

    def _durable(self, marks: dict[int, Watermark]) -> bool:
        return all(covers(self._inbound[sender].durable, mark) for sender, mark in marks.items())
