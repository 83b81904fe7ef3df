"""Moves messages between the exchange of a shard and a transport, and links from the log to the exchange."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from windrow import log
from windrow.records import Task
from windrow.shards import end, messages, pace
from windrow.shards.exchange import ShardExchange, Unsent
from windrow.shards.messages import Standing
from windrow.shards.outbound import Packet
from windrow.shards.transport import Incoming, Transport, Unavailable

LINKS = 1000  # in a packet that is read from the log, about
LOOK = 20  # with many shards the first of them reads the survey, and the others, in case it cannot, rarely
BACKOFF = (0.1, 5.0)  # seconds until the next call while the transport does not answer: at first, at most

Reader = Callable[[Unsent], Awaitable[Sequence[Packet]]]


class Courier:
    """Calls the transport again and again. It keeps no state that matters: a call that fails is made again."""

    def __init__(self, exchange: ShardExchange, transport: Transport, read: Reader) -> None:
        self._exchange = exchange
        self._transport = transport
        self._read = read
        self._looks = 0  # at a job that is idle in all its shards
        self.pause = 0.0  # seconds to wait before the next call, while the transport does not answer
        self.failure = ""  # why it does not answer; empty: it does
        self.reply: Incoming | None = None  # the last one

    async def call(self, now: float, standing: Standing) -> bool:
        """Make one call; return whether the transport has answered."""
        exchange = self._exchange
        for wanted in exchange.wanted():
            exchange.resend(wanted, await self._read(wanted))
        said = exchange.outgoing(now, standing)
        try:
            reply = await self._transport.call(said)
        except Unavailable as error:
            self._failed(error)
            return False
        self.pause, self.failure = 0.0, ""
        exchange.incoming(said, reply, now)
        self.reply = reply
        return True

    async def ended(self, standing: Standing) -> tuple[int, ...]:
        """Return the incarnations of all shards if the whole crawl is at its end; nothing while any shard has work.

        The end is stable, so a shard that has seen it is believed: others may have left already, and with them what
        they had announced. The incarnations show whether the same end is meant: a shard that started since has not
        been idle then.
        """
        exchange = self._exchange
        if not standing.idle or not exchange.at_rest:
            return ()
        for other in exchange.board.values():
            if len(other.ended) == exchange.count and other.ended[exchange.shard] == exchange.incarnation:
                return other.ended
        if not end.all_idle({**exchange.board, exchange.shard: standing}, exchange.count):
            return ()
        self._looks += 1
        if exchange.count > pace.FEW and exchange.shard and self._looks % LOOK:
            return ()
        try:
            survey = await self._transport.survey()
        except Unavailable as error:
            self._failed(error)
            return ()
        if exchange.count > pace.FEW:  # with 1,024 shards it looks at a million pairs
            over = await asyncio.to_thread(end.reached, survey, exchange.count)
        else:
            over = end.reached(survey, exchange.count)
        return end.incarnations(survey, exchange.count) if over else ()

    def _failed(self, error: Unavailable) -> None:
        first, most = BACKOFF
        self.pause = min(max(first, 2 * self.pause), most)
        self.failure = str(error)


class LogReader:
    """Reads links again from the log of a shard, in a thread: a file of 64 MB takes a while to inflate."""

    def __init__(self, outbox: log.Outbox, count: int) -> None:
        self._outbox = outbox
        self._count = count

    async def __call__(self, wanted: Unsent) -> Sequence[Packet]:
        start = self._outbox.start(wanted.after)
        packets, ends = await asyncio.to_thread(self._packets, wanted, start)
        for frame, position in ends:
            self._outbox.note(frame, position)
        return packets

    def _packets(self, wanted: Unsent, start: log.Position) -> tuple[list[Packet], list[tuple[int, log.Position]]]:
        span = (wanted.after, wanted.until)
        sent_links = log.sent(self._outbox.directory, start, span, wanted.receiver, self._count)
        packets: list[Packet] = []
        ends: list[tuple[int, log.Position]] = []
        tasks: list[Task] = []
        size = 0
        for links in sent_links:
            tasks += links.tasks
            ends.append((links.frame, links.position))
            if len(tasks) >= LINKS:
                packets.append(Packet(links.frame, messages.pack(tasks)))
                size += len(packets[-1].links)
                tasks = []
                if size >= wanted.room:
                    return packets, ends
        if tasks:
            packets.append(Packet(ends[-1][0], messages.pack(tasks)))
        return packets, ends
