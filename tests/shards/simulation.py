"""A crawl on several shards without a network: pages are numbers, logs are lists, and the oracle knows every link.

A shard here does with its exchange what a crawl does: it admits, requests, cuts a frame, makes it durable, and calls
the transport, each as a step of its own, so that anything may happen between two steps.
"""

import random
from collections.abc import Callable, Sequence

from tests.logs import url
from windrow import sharding
from windrow.frontier.local.territory import SentKeys, Territory
from windrow.records import Entry, Exchanged, Failure, Frame, Kind, Reason, Report, Task, Url, Watermark
from windrow.shards import end, messages
from windrow.shards.courier import Courier
from windrow.shards.errands import ShardErrands
from windrow.shards.exchange import ShardExchange, Unsent
from windrow.shards.messages import Standing
from windrow.shards.outbound import Packet
from windrow.shards.transport import Incoming, Survey, Transport

Jump = Callable[[], int]


class Web:
    """Pages that link to each other, on a few domains."""

    def __init__(self, seed: int, pages: int = 40, domains: int = 9, seeds: int = 2) -> None:
        chance = random.Random(seed)
        self.urls = [url(str(page), f"www.d{page % domains}.org") for page in range(pages)]
        self.links = [chance.sample(range(pages), chance.choice([0, 1, 2, 3, 5])) for _ in range(pages)]
        self.seeds = chance.sample(range(pages), seeds)
        self.number = {found.text: page for page, found in enumerate(self.urls)}
        places = [(f"http://www.d{needing}.org", f"www.d{chance.randrange(domains)}.org") for needing in range(domains)]
        self.files = [Task(url("r", host), kind=Kind.FILE, via=via, file="robots") for via, host in places]

    def reachable(self) -> set[int]:
        found, stack = set(self.seeds), list(self.seeds)
        while stack:
            new = [page for page in self.links[stack.pop()] if page not in found]
            found.update(new)
            stack += new
        return found


class Process:
    """One run of a shard, over a log that outlives it."""

    def __init__(
        self, disk: list[Frame], shard: int, count: int, web: Web, transport: Transport, clock: int, jump: Jump
    ) -> None:
        self.disk, self.shard, self.count, self.web, self.clock = disk, shard, count, web, clock
        exchanged = Exchanged()
        self.seen: set[str] = set()
        done: set[str] = set()
        learnt: set[Task] = set()
        for frame in disk:
            exchanged = sharding.apply(exchanged, frame)
            self.seen.update(task.url.text for task in frame.seeds)
            for entry in frame.entries:
                learnt.add(entry.report.task)
                done.add(entry.report.task.url.text)
                self.seen.update(task.url.text for task in entry.admitted)
        self.waiting = sorted(self.seen - done, key=web.number.__getitem__)
        self.exchange = ShardExchange(shard, count, exchanged, clock, jump)
        self.courier = Courier(self.exchange, transport, self._read)
        self.sent_keys = SentKeys(16)
        self.territory = Territory(shard, count, keys=16)
        self.errands = ShardErrands(self.territory)
        self.running: list[Task] = []  # files for other shards
        for task in web.files:
            if not self.territory.foreign(task) and not self.territory.owns(task.url.domain) and task not in learnt:
                self.territory.asked[task] = None
        self.entries: list[Entry] = []
        self.seeds: list[Task] = []
        self.got: dict[int, Watermark] = {}
        self.frame: Frame | None = None  # cut, not durable
        self.ended: tuple[int, ...] = ()
        own = [web.urls[page] for page in web.seeds if self._owner(web.urls[page]) == shard]
        self.seeds += self._admit([Task(found) for found in own])

    def _owner(self, found: Url) -> int:
        return sharding.shard_of(found.domain, self.count)

    def _admit(self, tasks: Sequence[Task]) -> list[Task]:
        new = []
        for task in tasks:
            assert self._owner(task.url) == self.shard
            if task.url.text not in self.seen:
                self.seen.add(task.url.text)
                self.waiting.append(task.url.text)
                new.append(task)
        return new

    def take(self) -> None:
        arrival = self.exchange.arrived()
        if arrival is not None:
            self.seeds += self._admit(arrival.tasks)
            self.got.update(arrival.got)

    def fetch(self) -> None:
        if self.running:
            self.errands.tell(Failure(self.running.pop(0), Reason.TIMEOUT, detail="", time=1.0))
        if not self.waiting:
            return
        text = self.waiting.pop(0)
        task = Task(self.web.urls[self.web.number[text]])
        links = [Task(self.web.urls[page], depth=1, via=text) for page in self.web.links[self.web.number[text]]]
        own = [link for link in links if self._owner(link.url) == self.shard]
        foreign = self.sent_keys.fresh(link for link in links if self._owner(link.url) != self.shard)
        report = Report(seq=1, task=task, reason=Reason.OK, detail="", time=1.0)
        self.entries.append(Entry(report, tuple(self._admit(own)), sent=foreign))

    def cut(self) -> None:
        if self.frame is not None or not (self.entries or self.seeds or self.got or self.exchange.begins):
            return
        entries, self.entries = self.entries, []
        seeds, self.seeds = self.seeds, []
        got, self.got = self.got, {}
        sent = sharding.split([task for entry in entries for task in entry.sent], self.count)
        self.frame = Frame(
            number=len(self.disk) + 1,
            time=1.0,
            entries=tuple(entries),
            lengths={},
            seeds=tuple(seeds),
            incarnation=self.exchange.begins,
            receivers=tuple(sorted(sent)),
            got=got,
        )

    def write(self) -> None:
        """Make the frame durable."""
        if self.frame is not None:
            frame, self.frame = self.frame, None
            self.disk.append(frame)
            self.exchange.committed(frame)

    def standing(self) -> Standing:
        work = self.waiting or self.entries or self.seeds or self.got or self.frame or self.territory.asked
        return Standing(self.exchange.incarnation, idle=not work, waiting=len(self.waiting), ended=self.ended)

    async def call(self, now: float) -> bool:
        self.exchange.asks, self.exchange.tells = self.errands.asks(), self.errands.tells()
        answered = await self.courier.call(now, self.standing())
        if answered and self.courier.reply is not None:
            self._serve(self.courier.reply)
        if self.exchange.superseded:
            self.exchange.begin(self.clock)
        self.ended = self.ended or await self.courier.ended(self.standing())
        return answered

    def _serve(self, reply: Incoming) -> None:
        self.errands.heard({sender: hello.errands for sender, hello in reply.hellos.items()})
        self.running += self.errands.begin()
        assert all(self.territory.owns(task.url.domain) for task in self.running)
        for answer in self.errands.answered(told for ack in reply.acks.values() for told in ack.told):
            del self.territory.asked[answer.task]
            report = Report(seq=1, task=answer.task, reason=Reason.TIMEOUT, detail="", time=1.0)
            self.entries.append(Entry(report))

    async def _read(self, wanted: Unsent) -> list[Packet]:
        frames = [frame for frame in self.disk if wanted.after < frame.number <= wanted.until]
        packets = []
        for frame in frames:
            if wanted.receiver in frame.receivers:
                tasks = [task for entry in frame.entries for task in entry.sent]
                links = sharding.split(tasks, self.count)[wanted.receiver]
                packets.append(Packet(frame.number, messages.pack(links)))
        return packets


class Cluster:
    """All shards of a crawl."""

    def __init__(self, web: Web, transport: Transport, count: int = 3) -> None:
        self.web, self.transport, self.count = web, transport, count
        self.disks: list[list[Frame]] = [[] for _ in range(count)]
        self.clock = 1000
        self._chance = random.Random(count)
        self.now = 0.0
        self.processes = [self.process(shard) for shard in range(count)]
        self.zombies: list[Process] = []

    def process(self, shard: int) -> Process:
        return Process(self.disks[shard], shard, self.count, self.web, self.transport, self.clock, self._jump)

    def _jump(self) -> int:
        return self._chance.randrange(1, 1 << 20)

    def crash(self, shard: int, lose: bool = False) -> None:
        if lose:
            self.disks[shard] = []
        self.processes[shard] = self.process(shard)

    def replace(self, shard: int) -> None:
        """Start another process for a shard whose process is only paused. The lock keeps the old one from writing."""
        self.zombies.append(self.processes[shard])
        self.processes[shard] = self.process(shard)

    async def call(self, shard: int) -> None:
        await self.processes[shard].call(self.now)

    def finished(self) -> list[int]:
        tasks = [entry.report.task for disk in self.disks for frame in disk for entry in frame.entries]
        return [self.web.number[task.url.text] for task in tasks if task.kind is Kind.PAGE]

    def check_files(self) -> None:
        """Every origin whose file lies at another shard has got the answer, in its own log."""
        for task in self.web.files:
            needing = sharding.shard_of(task.via.removeprefix("http://www."), self.count)
            if sharding.shard_of(task.url.domain, self.count) != needing:
                logged = [entry.report.task for frame in self.disks[needing] for entry in frame.entries]
                assert logged.count(task) == 1, f"{task.via} has not got its file once"

    def check(self) -> None:
        """Check everything that must hold at any moment, from the logs alone."""
        finished = self.finished()
        assert len(finished) == len(set(finished)), "a page is in a log twice"
        for receiver, disk in enumerate(self.disks):
            self._all_sent(receiver, disk)
            admitted = {task.url.text for frame in disk for task in frame.seeds}
            admitted |= {task.url.text for frame in disk for entry in frame.entries for task in entry.admitted}
            for sender, mark in _folded(disk).got.items():
                self._covered(sender, receiver, mark, admitted)

    def _all_sent(self, shard: int, disk: list[Frame]) -> None:
        """A page's links to other shards are in its frame, or were sent before."""
        sent: set[str] = set()
        for frame in disk:
            sent.update(task.url.text for entry in frame.entries for task in entry.sent)
            for entry in frame.entries:
                if entry.report.task.kind is Kind.FILE:
                    continue
                found = [self.web.urls[page] for page in self.web.links[self.web.number[entry.report.task.url.text]]]
                foreign = {link.text for link in found if sharding.shard_of(link.domain, self.count) != shard}
                assert foreign <= sent, f"{entry.report.task.url.text} is finished without its links"

    def _covered(self, sender: int, receiver: int, mark: Watermark, admitted: set[str]) -> None:
        """A watermark is in the frame that admitted what it covers, or in a later one."""
        disk = self.disks[sender]
        lived = _folded(disk).incarnations
        if not lived:
            return
        for frame in disk[: sharding.translated(mark, lived).frame]:
            tasks = [task for entry in frame.entries for task in entry.sent]
            for task in sharding.split(tasks, self.count).get(receiver, []):
                assert task.url.text in admitted, f"{receiver} has {mark} of {sender}, but not {task.url.text}"

    def check_end(self, survey: Survey) -> None:
        """The end is never seen too early.

        What a shard said before it lost its directory was true of a log that is gone. No protocol can prevent that the
        end is seen by these words before the shard says others.
        """
        if not end.reached(survey, self.count):
            return
        lived = [{begun.incarnation for begun in _folded(disk).incarnations} for disk in self.disks]
        if all(survey.standings[shard].incarnation in lived[shard] for shard in range(self.count)):
            assert set(self.finished()) == self.web.reachable(), "the end was seen too early"
            assert not any(process.waiting or process.entries for process in self.processes)

    async def run_to_end(self, rounds: int = 400) -> int:
        """Work without further faults until every shard has seen the end; return how many rounds it took."""
        for number in range(rounds):
            if all(process.ended for process in self.processes):
                return number
            self.now += 0.5
            for shard, process in enumerate(self.processes):
                process.take()
                for _ in range(5):
                    process.fetch()
                process.cut()
                process.write()
                await self.call(shard)
            self.check_end(await self.transport.survey())
        raise AssertionError(f"the crawl has not ended: {[process.standing() for process in self.processes]}")

    def check_result(self) -> None:
        self.check()
        self.check_files()
        assert set(self.finished()) == self.web.reachable()


def _folded(disk: list[Frame]) -> Exchanged:
    found = Exchanged()
    for frame in disk:
        found = sharding.apply(found, frame)
    return found
