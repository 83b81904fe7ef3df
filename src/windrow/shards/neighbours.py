"""The other shards, as the crawl of one shard needs them: an exchange, and a courier between it and a transport."""

import asyncio
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from windrow import log
from windrow.crawler import recover
from windrow.crawler.neighbours import Addresses
from windrow.frontier import Gate, Territory
from windrow.records import Arrival, Capture, Counts, Exchanged, Failure, Frame, LimitCounts, Reason, Task
from windrow.shards import messages, pace
from windrow.shards.courier import Courier, LogReader
from windrow.shards.errands import ShardErrands
from windrow.shards.exchange import ShardExchange
from windrow.shards.gate import AddressGate, AddressSlots
from windrow.shards.messages import Standing
from windrow.shards.progress import JobProgress
from windrow.shards.tenure import Tenure
from windrow.shards.transport import Transport

BUSY = 0.5  # seconds between two calls while the shard has work; more with many shards, see `pace`
RESTING = (0.05, 0.5)  # the same while it has none: at first, and at most while nothing happens


class ShardNeighbours:
    """Implements `crawler.neighbours.Neighbours`. `directory` is the crawl directory of the shard.

    Only one process runs a shard: the lock of its directory and its tenure see to that. So a transport that knows a
    higher incarnation of this shard than ours remembers a directory that was lost, or a clock that was ahead, and we
    begin above that.
    """

    def __init__(
        self,
        shard: int,
        count: int,
        transport: Transport,
        directory: Path,
        slots: AddressSlots | None = None,
        run: str = "",
        tenure: Tenure | None = None,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`note` is called with what the operator must know."""
        self.count = count
        self.territory = Territory(shard, count)
        self._transport = transport
        self._directory = directory
        self._now = time.time  # for incarnations only: this clock may be set back
        self._clock = time.monotonic  # for every wait
        self._slots = slots  # None: no two shards have hosts at one address
        self._gate: AddressGate | None = None
        self._tenure = tenure  # None: no other machine sees this directory
        self.apart = False
        self.reached = False
        self._ended: tuple[int, ...] = ()
        self._slow = pace.factor(count)
        self._rest = RESTING[0]
        self._progress = JobProgress(shard, run)
        self._errands = ShardErrands(self.territory)
        self._answers: list[Capture | Failure] = []
        self._damaged = 0
        self._standing = Standing(0)
        self._pages, self._since = -1, 0.0  # and the time at which they were counted, for the rate
        self._note = note

    def begin(self, exchanged: Exchanged) -> None:
        """Make the exchange: `exchanged` is what the log says."""
        shard, count = self.territory.shard, self.territory.count
        self._exchange = ShardExchange(shard, count, exchanged, int(self._now() * 1000))
        self._exchange.watches = self._tenure is None or count <= pace.FEW  # on nodes, these see to the limits
        reader = LogReader(log.Outbox(self._directory / "log"), count)
        self._courier = Courier(self._exchange, self._transport, reader)

    @property
    def begins(self) -> int:
        return self._exchange.begins

    def committed(self, frame: Frame) -> None:
        """Publish the links of a durable frame with the next call, and acknowledge what it has got."""
        self._exchange.committed(frame)
        self._rest = RESTING[0]

    def arrived(self) -> Arrival | None:
        return self._exchange.arrived()

    async def call(self, idle: bool, counts: Counts, made: LimitCounts) -> float:
        """Talk once; return the seconds until the next call."""
        self._standing = self._stand(idle, counts, made)
        before = self._courier.failure
        self._exchange.asks, self._exchange.tells = self._errands.asks(), self._errands.tells()
        if await self._courier.call(self._clock(), self._standing):
            self._hear()
        self._tell(before)
        if self._exchange.damaged > self._damaged:
            self._damaged = self._exchange.damaged
            self._note(f"{self._damaged} messages of other shards could not be read; do all run the same Windrow?")
        if self._exchange.superseded:
            self._exchange.begin(int(self._now() * 1000))
        pause, self._rest = (self._rest, min(2 * self._rest, RESTING[1])) if idle else (BUSY, RESTING[0])
        return self._courier.pause or pause * self._slow

    def _hear(self) -> None:
        reply = self._courier.reply
        assert reply is not None
        self._progress.heard(reply.standings, self._exchange.incarnation)
        others = [standing for shard, standing in reply.standings.items() if shard != self.territory.shard]
        self.reached = self.reached or any(
            messages.by_name(standing.reasons).get(Reason.OK.value) for standing in others
        )
        self._errands.heard({sender: hello.errands for sender, hello in reply.hellos.items()})
        self._answers = self._errands.answered(told for ack in reply.acks.values() for told in ack.told)

    def errands(self) -> list[Task]:
        """Hand over the files that other shards need since the last time."""
        return self._errands.begin()

    def answers(self) -> list[Capture | Failure]:
        """Hand over the answers of other shards to what the territory has asked."""
        answers, self._answers = self._answers, []
        return answers

    def tell(self, answer: Capture | Failure) -> None:
        """Give the answer to a file to the shard that needs it."""
        self._errands.tell(answer)

    @property
    def elsewhere(self) -> LimitCounts:
        """What the other shards have made, as far as they have said so."""
        return self._progress.elsewhere

    async def ended(self) -> bool:
        """Return whether all shards are at their end. The others hear of it with one more call."""
        self._ended = self._ended or await self._courier.ended(self._standing)
        if self._ended:
            last = msgspec.structs.replace(self._standing, idle=True, ended=self._ended)
            await self._courier.call(self._clock(), last)
        return bool(self._ended)

    def start(self, now: Callable[[], float]) -> None:
        """Use the crawl's clock. Fence off the processes that had this directory before."""
        self._gate = AddressGate(self._slots, now) if self._slots is not None else None
        if self._tenure is None:
            return
        before = self._tenure.claim()
        if before is not None and before.may_be_alive:
            self.apart = True
            aside = recover.set_state_aside(self._directory)
            if aside is not None:  # the other machine may have it open, and a store has one writer
                shutil.rmtree(aside, ignore_errors=True)
            self._note(
                f"{before.holder or 'another node'} may not have ended its work here; "
                "the frontier is built again from the log, and new files are begun"
            )

    @property
    def may_work(self) -> bool:
        return self._tenure is None or self._tenure.valid

    async def regained(self) -> None:
        """Return when this process has its shard again; ShardTaken if it never will."""
        await (self._tenure.regained() if self._tenure is not None else asyncio.Event().wait())

    def may_commit(self) -> bool:
        return self._tenure is None or self._tenure.may_commit()

    async def hold(self) -> None:
        """Return when this process may commit."""
        if self._tenure is not None:
            await self._tenure.hold()

    def leave(self) -> None:
        """Do not wait for the lease any more."""
        if self._tenure is not None:
            self._tenure.leave()

    @property
    def gate(self) -> Gate | None:
        """The gate to addresses that shards share."""
        return self._gate

    def may_use(self, address: str) -> bool:
        """Return whether a request may be sent: this process has its shard, and its shard has the address."""
        if self._tenure is not None and not self._tenure.valid:
            return False
        return self._gate is None or self._gate.may_use(address)

    async def addresses(self) -> Addresses:
        """Return when an address was granted or lost."""
        if self._gate is None:
            await asyncio.Event().wait()
        assert self._gate is not None
        return await self._gate.news()

    def _stand(self, idle: bool, counts: Counts, made: LimitCounts) -> Standing:
        now, last = self._clock(), self._standing
        rate = last.rate
        if now - self._since >= 1.0:
            rate = max(0, counts.pages - self._pages) / (now - self._since) if self._pages >= 0 else 0.0
            self._pages, self._since = counts.pages, now
        # A job of nodes is one run, and its pages are those of the log, whichever process has made them.
        one_run = self._tenure is not None
        return Standing(
            0,
            idle=idle,
            waiting=counts.waiting,
            finished=sum(counts.finished.values()),
            rate=rate,
            made=msgspec.structs.replace(made, pages=counts.pages) if one_run else self._progress.own(made),
            run=self._progress.run,
            reasons=messages.by_position(counts.finished),
        )

    def _tell(self, before: str) -> None:
        failure = self._courier.failure
        if bool(failure) != bool(before):
            self._note(
                f"{failure}; links to other shards wait" if failure else "the exchange with other shards works again"
            )
