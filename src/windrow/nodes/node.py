"""A node: runs shards of all jobs of a Redis server, as many as its part of them, and gives them back when it leaves.

Nobody assigns shards to nodes. Each node sees which nodes are alive, computes its quota, and takes free shards by lease
or gives some back, one at a time. A node that dies is missing after seconds, its leases expire, and others take them.
"""

import asyncio
import contextlib
import os
import platform
import random
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

import windrow
from windrow import machine
from windrow.config import ConfigError
from windrow.inspect import status
from windrow.nodes import copies, events, quota, sharing
from windrow.nodes.answers import Answerer
from windrow.nodes.events import ClusterEvent, Kind
from windrow.nodes.held import Holdings
from windrow.nodes.quota import Capacity
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.living import LivingNodes
from windrow.nodes.redis.registry import ALIVE, BEAT, NodeRecord, Registry
from windrow.nodes.roster import Key, Roster
from windrow.nodes.silence import SilentHomes
from windrow.shards import pace
from windrow.shards.transport import Unavailable

SETTLE = 5.0  # seconds for which a node holds too many shards before it gives one back, and from one to the next
GREETING = 4.0  # seconds before a node takes shards that nobody has had: others may start at the same time
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class NodeOptions(msgspec.Struct, frozen=True):
    """What `windrow node` was given."""

    url: str
    directory: Path
    name: str
    capacity: Capacity  # processes at once
    lost_after: float  # seconds without a sign of life after which a data directory counts as lost
    until_done: bool = False
    metrics: str = ""  # the URL of the node's metrics; "": it serves none
    arguments: tuple[str, ...] = ()  # of each process of a shard, besides those that it needs


class NodeEnding(msgspec.Struct):
    """How a node ended."""

    why: str  # "done" or "stopped"
    seconds: float


class NodeShare(NamedTuple):
    """How many shards a node may hold."""

    here: int  # of those that its data directory has: its part among the nodes that use that directory
    all: int  # of all, as long as they can still begin anywhere: its part among all nodes


class ClusterNode:
    """One run of a node. `show` is called with every event."""

    def __init__(self, options: NodeOptions, show: Callable[[ClusterEvent], None]) -> None:
        if not _NAME.fullmatch(options.name):
            raise ConfigError(f"{options.name!r} is no name of a node; use letters, digits, '.', '-' and '_'")
        self._options = options
        self._show = show
        self._registry = Registry(RedisClient(options.url))
        self._living = LivingNodes(self._registry)
        self._home = copies.home(options.directory)
        self._roster = Roster(self._registry, options.directory, self._home, self._note)
        self._wake = asyncio.Event()
        wake, arguments = self._wake.set, options.arguments
        self._holdings = Holdings(self._registry, options.url, options.name, self._note, wake, arguments)
        self._answerer = Answerer(self._registry, options.directory, options.name)
        self._events: deque[ClusterEvent] = deque(maxlen=1000)  # that Redis does not have yet
        self._began = time.monotonic()
        self._started = time.time()
        self._beaten = float("-inf")
        self._pause = pace.between_looks(1)  # seconds from one look to the next
        self._drained = False
        self._why = ""  # it leaves
        self._over = 0.0  # since when it holds more than its quota; 0: it does not
        self._silent = SilentHomes()
        self._short = 0  # slots that were missing at the last look
        self._failure = ""
        self._shares = False  # all nodes with the id of this data directory see this directory

    def stop(self, why: str = "stopped") -> None:
        """Give all shards back and end; asked twice, their processes give up the requests in flight."""
        self._why = self._why or why
        self._holdings.stop_all()
        self._wake.set()

    async def run(self, holds: Callable[[list[Path]], None] = lambda places: None) -> NodeEnding:
        """Run until `stop`. `holds` is called with the directories of the shards that it holds."""
        try:
            await self._registry.client.check()
            await self._own_the_name()
            sharing.sign(self._options.directory, self._record())
            self._note("joined", f"{self._options.capacity.slots} slots, data in {self._options.directory}")
            while not self._why or self._holdings.shards:
                await self._try_round()
                holds(self._holdings.places)
                self._wake.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pause):
                        await self._wake.wait()
            with contextlib.suppress(Unavailable):
                await self._registry.leave(self._options.name)
            self._note("left", "all shards are given back")
        finally:
            self._holdings.stop_all()
            await self._holdings.ended()
            sharing.remove(self._options.directory, self._record())
            holds([])
            await self._answerer.close()
            await self._registry.client.close()
        return NodeEnding(self._why, time.monotonic() - self._began)

    async def _own_the_name(self) -> None:
        """Refuse a name that a living node has. One that was killed is still announced for some seconds."""
        end = time.monotonic() + ALIVE + 1.0
        while namesakes := [node for node in await self._nodes() if node.name == self._options.name]:
            if namesakes[0].host == platform.node() and not status.process_exists(namesakes[0].pid):
                return
            if time.monotonic() > end or self._why:
                where = f"process {namesakes[0].pid} on {namesakes[0].host}"
                raise ConfigError(
                    f"there is a node {self._options.name!r} already ({where}); give this one another --name"
                )
            await asyncio.sleep(0.2)

    async def _nodes(self) -> list[NodeRecord]:
        try:
            return await self._registry.nodes()
        except Unavailable as error:
            raise ConfigError(str(error)) from None

    async def _try_round(self) -> None:
        self._holdings.press(time.monotonic())
        try:
            await self._round()
        except Unavailable as error:
            if not self._failure:
                self._note("note", f"{error}; shards that run here continue until their leases end, then they wait")
            self._failure = str(error)
            return
        if self._failure:
            self._failure = ""
            self._note("note", "Redis answers again")

    async def _round(self) -> None:
        now = time.monotonic()
        if now - self._beaten >= BEAT:
            self._drained = await self._registry.beat(self._record())
            self._beaten = now
            self._answerer.look(self._roster.jobs)
        await self._roster.refresh(self._holdings.shards)
        await self._holdings.guard(now)
        await self._holdings.forward(self._roster.carried_out)
        nodes = await self._living.look()
        self._pause = pace.between_looks(len(nodes))
        self._look_around(nodes, now)
        if self._sees_the_same(nodes, now):
            await self._balance(nodes, now)
        while self._events:
            await self._registry.event(self._events[0].job, msgspec.to_builtins(self._events[0]))
            self._events.popleft()
        if self._options.until_done and self._roster.finished and not self._holdings.shards and not self._why:
            self.stop("done")

    def _sees_the_same(self, nodes: Sequence[NodeRecord], now: float) -> bool:
        """Return whether this node may take shards. It is asked until it may once; then the others have to look."""
        if not self._shares:
            directory = self._options.directory
            strangers = sharing.strangers(directory, self._record(), nodes)
            if strangers and now - self._began > sharing.SEEN:
                raise sharing.refusal(directory, strangers[0])
            self._shares = not strangers
        return self._shares

    def _record(self) -> NodeRecord:
        running: dict[str, list[int]] = {}
        for name, shard in sorted(self._holdings.shards):
            running.setdefault(name, []).append(shard)
        slots, most = self._offered()
        return NodeRecord(
            name=self._options.name,
            host=platform.node(),
            pid=os.getpid(),
            version=windrow.__version__,
            home=self._home,
            slots=slots,
            most=most,
            running=running,
            draining=self._drained or bool(self._why),
            started=self._started,
            metrics=self._options.metrics,
            refused=dict(self._roster.problems),
        )

    def _offered(self) -> Capacity:
        """Return what other nodes can count on. A node at which shards could not be started lately tries again, but
        the others take them meanwhile: without those shards the job would not end."""
        own, held = self._options.capacity, len(self._holdings.shards)
        return Capacity(min(own.slots, held), min(own.most, held)) if self._holdings.is_refused else own

    def _look_around(self, nodes: Sequence[NodeRecord], now: float) -> None:
        """Note which data directories of others have no node."""
        alive = {node.home for node in nodes} | {self._home}
        homes = {home for view in self._roster.views.values() for home in view.homes.values()}
        self._silent.look(homes - alive, now)

    async def _balance(self, nodes: Sequence[NodeRecord], now: float) -> None:
        """Give back what is too much; take what is missing."""
        leaves = self._drained or bool(self._why)
        for key in self._holdings.working:
            if leaves or not self._roster.runs(key[0]):
                self._holdings.stop(key)
        if leaves:
            return
        others = [node for node in nodes if node.name != self._options.name]
        share = self._share([node for node in others if not node.draining])
        most = max(share)
        if self._is_over(most, now):
            self._holdings.stop(self._holdings.working[-1])
            return
        taken = {(name, shard) for node in others for name, shards in node.running.items() for shard in shards}
        free = [key for key in self._roster.wanted() if key not in taken and self._holdings.may_start(key)]
        here = [key for key in free if self._owner(key) == self._home]
        await self._take(here, share.here, most)
        if now - self._began >= GREETING:
            new = [key for key in free if self._is_new(key)]
            await self._take(new, share.all, most)

    def _share(self, others: Sequence[NodeRecord]) -> NodeShare:
        """Return how many shards this node may hold. `others`: all other nodes that may hold some."""
        wanted = self._roster.wanted()
        own = self._options.capacity
        everybody = [own, *(_capacity(node) for node in others)]
        beside = [own, *(_capacity(node) for node in others if node.home == self._home)]
        here = sum(self._owner(key) == self._home for key in wanted)
        self._tell_of_slots(len(wanted), everybody)
        return NodeShare(quota.of(own, beside, here), quota.of(own, everybody, len(wanted)))

    def _owner(self, key: Key) -> str:
        """Return the data directory that has a shard; empty if nobody has had it."""
        return self._roster.views[key[0]].homes.get(key[1], "")

    def _is_new(self, key: Key) -> bool:
        """Return whether a shard may begin here: nobody has had it, or its data directory is lost."""
        owner = self._owner(key)
        return not owner or self._silent.are_over(owner, self._options.lost_after)

    def _is_over(self, most: int, now: float) -> bool:
        """Return whether to give a shard back now: never two at once, and not for a node that comes and goes."""
        working = len(self._holdings.working)
        if working <= most or working < len(self._holdings.shards):
            self._over = 0.0
            return False
        self._over = self._over or now
        return now - self._over >= SETTLE

    async def _take(self, free: list[Key], most: int, beside: int) -> None:
        room = most - len(self._holdings.shards)
        random.shuffle(free)  # two nodes that want the same ones rarely ask in the same order
        chosen: dict[str, list[int]] = {}
        for name, shard in free[: max(0, room)]:
            chosen.setdefault(name, []).append(shard)
            if self._owner((name, shard)) not in ("", self._home):
                lost = f"{self._options.lost_after:g} seconds"
                text = f"its data directory has had no node for {lost}; it begins again here"
                self._note("shard-lost", text, name, shard)
        for name, shards in chosen.items():
            wanted = await self._roster.wanted_now(name)
            taken = [shard for shard in shards if shard in wanted]
            await self._holdings.take(self._roster.jobs[name], taken, self._home, beside)

    def _tell_of_slots(self, shards: int, everybody: Sequence[Capacity]) -> None:
        slots, most = (sum(numbers) for numbers in zip(*everybody, strict=True))
        short = max(0, shards - slots)
        if short and short != self._short:
            text = f"{shards} shards are to be run, and all nodes together have {slots} slots"
            if shards > most:
                text += (
                    f": {shards - most} shards wait, and a job ends only when all its shards run; "
                    "start more nodes, or some with more --slots"
                )
            else:
                text += "; nodes with free memory run more than that, which is slower"
            self._note("note", text)
        self._short = short

    def _note(self, kind: Kind, text: str, job: str = "", shard: int = -1) -> None:
        made = events.make(self._options.name, kind, text, job, shard)
        with contextlib.suppress(OSError):  # its reader has ended, or has a full disk: the shards continue
            self._show(made)
        if job:
            self._events.append(made)


def _capacity(node: NodeRecord) -> Capacity:
    return Capacity(node.slots, node.most)


def own_capacity() -> Capacity:
    """Return what this machine can run."""
    return quota.capacity(machine.cores(), machine.memory())


def default_name() -> str:
    """Return a name that no other node on any machine has."""
    host = re.sub(r"[^A-Za-z0-9._-]+", "-", platform.node()).strip("-._") or "node"
    return f"{host[:50]}-{os.getpid()}"
