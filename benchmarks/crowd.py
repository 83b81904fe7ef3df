"""Many shards of one job over a real Redis server, in virtual time: the calls of one period, one after the other.

Shard 0 is the exchange of a crawl as it is. The others say and read what such an exchange would, but keep only two
rows of numbers each: 4,096 exchanges have 16 million pairs. Every call is that of a crawl, through `RedisTransport`.
"""

import itertools
import random
import time
from collections.abc import Sequence

import msgspec
import numpy as np
from cluster import links, server_cpu

from tests.redisserver import Server
from windrow import sharding as shards
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.wire import RedisTransport
from windrow.records import Entry, Exchanged, Frame, LimitCounts, Reason, Report, Task, Url, Watermark
from windrow.shards import exchange, messages, neighbours, pace
from windrow.shards.exchange import ShardExchange
from windrow.shards.messages import Ack, Batch, Hello, Standing
from windrow.shards.transport import Incoming, Outgoing

INCARNATION = 1_790_000_000_000
REFRESH = round(exchange.REFRESH / neighbours.BUSY)  # calls from one refresh to the next
REASONS = dict.fromkeys(range(12), 10_000)  # URLs finished, by reason, as after some hours
STANDING = Standing(INCARNATION, waiting=10**6, finished=10**5, made=LimitCounts(10**5, 10**4, 10**7), reasons=REASONS)
PAGE = Report(seq=1, task=Task(Url("https://a.org/", "a.org", "a.org", b""), 0), reason=Reason.OK, detail="", time=1.0)


class Measured(msgspec.Struct):
    """What so many shards cost a real server."""

    shards: int
    seconds: float  # simulated
    links: int
    calls: int
    server: float  # seconds of CPU of the server
    client: float  # of the exchange of shard 0 per call
    wire: int  # bytes on the connections, both ways
    memory: int  # bytes, at the end
    peak: int  # at most, since the start of the server
    begin: float  # seconds of CPU of the server until all have heard of each other


def info(server: Server, section: str, name: str) -> float:
    found = server.command("INFO", section).decode()
    return float(next(line for line in found.split() if line.startswith(f"{name}:")).split(":")[1])


def wire_bytes(server: Server) -> int:
    return int(info(server, "stats", "total_net_input_bytes") + info(server, "stats", "total_net_output_bytes"))


class Whole:
    """The exchange of one shard, as a crawl has it."""

    def __init__(self, shard: int, count: int, wire: RedisTransport) -> None:
        self.wire = wire
        self.exchange = ShardExchange(shard, count, Exchanged(), INCARNATION)
        self.exchange.watches = count <= pace.FEW  # as on a node
        self.most = 0  # messages in a call
        self.frame = self.got = 0
        self.spent, self.calls = 0.0, 0

    def commit(self, found: Sequence[Task]) -> None:
        arrival = self.exchange.arrived()
        self.got += len(arrival.tasks) if arrival else 0
        self.frame += 1
        frame = Frame(
            self.frame,
            0.0,
            entries=(Entry(PAGE, sent=tuple(found)),) if found else (),
            lengths={},
            incarnation=self.exchange.begins,
            receivers=tuple(sorted(shards.split(found, self.exchange.count))),
            got=dict(arrival.got) if arrival else {},
        )
        self.exchange.committed(frame)

    async def call(self, now: float) -> None:
        began = time.process_time()
        said = self.exchange.outgoing(now, STANDING)
        self.most = said.most
        self.exchange.incoming(said, await self.wire.call(said), now)
        self.spent += time.process_time() - began
        self.calls += 1


class Crowd:
    """All shards of a job. `load`: the share of the links that each of them gets."""

    def __init__(self, wire: RedisTransport, load: Sequence[float]) -> None:
        self.wire, self.count = wire, len(load)
        self.first = Whole(0, self.count, wire)
        self._sums = list(itertools.accumulate(load))
        self._chance = random.Random(self.count)
        self._pool: dict[int, list[Task]] = {}
        for task in links(20_000 + 40 * self.count, sites=20 * self.count):
            self._pool.setdefault(shards.shard_of(task.url.domain, self.count), []).append(task)
        self._packed: dict[tuple[int, int], list[bytes]] = {}
        self.frame = 0
        self.tail = np.zeros((self.count, self.count), np.int32)  # by sender, by receiver: the last frame with links
        self.mark = np.zeros((self.count, self.count), np.int32)  # by receiver, by sender: its watermark
        self._names = [("", "")] * self.count  # of messages: read up to there, durable up to there
        self._news: list[set[int]] = [set() for _ in range(self.count)]  # senders whose watermark is not said yet
        self._numbers = [0] * self.count
        self.links = self.calls = 0
        self._lives = (Watermark(INCARNATION, 1),)

    def drawn(self, amount: int) -> dict[int, int]:
        """Return how many links each receiver gets from one shard."""
        found: dict[int, int] = {}
        for receiver in self._chance.choices(range(self.count), cum_weights=self._sums, k=amount):
            found[receiver] = found.get(receiver, 0) + 1
        return found

    def _links(self, receiver: int, amount: int) -> bytes:
        """Return links to a receiver, packed: one of a few variants, because the server does not read them."""
        known = self._packed.setdefault((receiver if receiver == 0 else -1, amount), [])
        if len(known) < 8:
            pool = self._pool[receiver]
            known.append(messages.pack(self._chance.choices(pool, k=amount)))
        return self._chance.choice(known)

    async def begin(self) -> None:
        """Let all hear of each other."""
        for step in range(3):
            self.first.commit([])
            await self.first.call(step / 10)
        for shard in range(1, self.count):
            self.mark[shard, 0] = self.first.frame
            await self._call(shard, {}, everything=True)
        self.first.commit([])
        await self.first.call(0.4)
        self.first.commit([])
        await self.first.call(0.5)
        for names in self._news:
            names.clear()

    async def period(self, now: float, amount: int) -> None:
        """Let each shard commit so many links, and call."""
        self.frame += 1
        for shard in range(self.count):
            found = self.drawn(amount)
            found.pop(shard, None)
            self.links += sum(found.values())
            self.calls += 1
            if shard == 0:
                self.first.commit(
                    [task for one, n in found.items() for task in self._chance.choices(self._pool[one], k=n)]
                )
                await self.first.call(now)
            else:
                await self._call(shard, found, (self._numbers[shard] + shard) % REFRESH == 0)

    async def _call(self, shard: int, found: dict[int, int], everything: bool) -> None:
        self._numbers[shard] += 1
        said = self._said(shard, found, everything)
        reply = await self.wire.call(said)
        assert reply.announced and not reply.unpublished
        self._hear(shard, said, reply)

    def _said(self, shard: int, found: dict[int, int], everything: bool) -> Outgoing:
        frame, tail = self.frame, self.tail[shard]
        batches = [
            (receiver, messages.encode(Batch(shard, INCARNATION, int(tail[receiver]), frame, self._links(receiver, n))))
            for receiver, n in found.items()
        ]
        tail[list(found)] = frame
        others = [other for other in range(self.count) if other != shard]
        acks = others if everything else self._news[shard]
        tails, marks = tail.tolist(), self.mark[shard].tolist()
        read, durable = self._names[shard]
        return Outgoing(
            shard=shard,
            incarnation=INCARNATION,
            number=self._numbers[shard],
            batches=tuple(batches),
            hellos={
                other: Hello(INCARNATION, tails[other], self._lives) for other in (others if everything else found)
            },
            acks={other: Ack(INCARNATION, Watermark(self._incarnation(other), marks[other])) for other in acks},
            standing=STANDING,
            after=read,
            most=self.first.most,
            done=durable,
            watches=self.first.exchange.watches,
        )

    def _incarnation(self, shard: int) -> int:
        return self.first.exchange.incarnation if shard == 0 else INCARNATION

    def _hear(self, shard: int, said: Outgoing, reply: Incoming) -> None:
        news = self._news[shard] = set()
        for _, data in reply.messages:
            batch = messages.batch(data)
            if batch.previous <= self.mark[shard, batch.sender] < batch.frame:
                self.mark[shard, batch.sender] = batch.frame
                news.add(batch.sender)
        read = reply.messages[-1][0] if reply.messages else said.after
        self._names[shard] = (read, said.after)


async def measure(server: Server, load: Sequence[float], seconds: float, rate: float) -> Measured:
    """Let the shards of a job exchange links. `load`: which share of them each gets; `rate`: per second of a shard."""
    count = len(load)
    step = neighbours.BUSY * pace.factor(count)
    client = RedisClient(server.url)
    crowd = Crowd(RedisTransport(client, "bench", count), load)
    start = server_cpu(server)
    await crowd.begin()
    begin = server_cpu(server) - start
    for number in range(2):  # to fill the inboxes and the pools
        await crowd.period((number + 1) * step, round(step * rate))
    crowd.links = crowd.calls = crowd.first.calls = 0
    crowd.first.spent = 0.0
    start, sent = server_cpu(server), wire_bytes(server)
    periods = max(1, round(seconds / step))
    for number in range(periods):
        await crowd.period((number + 3) * step, round(step * rate))
    assert crowd.first.got > 0
    found = Measured(
        shards=count,
        seconds=periods * step,
        links=crowd.links,
        calls=crowd.calls,
        server=server_cpu(server) - start,
        client=crowd.first.spent / crowd.first.calls,
        wire=wire_bytes(server) - sent,
        memory=int(info(server, "memory", "used_memory")),
        peak=int(info(server, "memory", "used_memory_peak")),
        begin=begin,
    )
    await client.close()
    return found
