"""The shards that a node runs. It holds a lease of each, and starts, watches and ends its process."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from windrow import units
from windrow.config import ConfigError
from windrow.crawler.ending import Ending
from windrow.nodes import copies, directories, forward
from windrow.nodes.copies import LocalJob
from windrow.nodes.directories import ShardRecord
from windrow.nodes.events import Kind
from windrow.nodes.process import child as process
from windrow.nodes.process.child import ShardProcess
from windrow.nodes.redis.leases import ShardLeases
from windrow.nodes.redis.order import ClusterOrder
from windrow.nodes.redis.registry import Registry
from windrow.nodes.roster import Key, Note
from windrow.shards import fence
from windrow.shards.transport import Unavailable

YOUNG = 60.0  # seconds for which the node renews the lease too: on a busy machine a process takes long to start
OUSTED = 5.0  # seconds that a process has to notice that another node has its shard
HURRY, KILL = 30.0, 60.0  # seconds after which a process that was asked to end is asked again, and killed
REFUSAL = (5.0, 60.0)  # seconds before a shard that refused to start is tried again: at first, at most
WARY = 600.0  # seconds after a refusal for which other nodes may take what this one cannot start


class HeldShard(msgspec.Struct):
    """A shard with a lease, and the process that runs it."""

    local: LocalJob
    shard: int
    fence: int
    process: ShardProcess
    started: float  # monotonic seconds
    asked: float = 0.0  # monotonic seconds when it was asked to end; 0: never
    hurried: bool = False
    ousted: float = 0.0  # monotonic seconds since when another node has the lease; 0: this node has it
    problem: str = ""  # why orders cannot be passed on to it


class Holdings:
    """All shards that this node runs. `note` is called with events; `changed` when a process has ended."""

    def __init__(
        self,
        registry: Registry,
        url: str,
        name: str,
        note: Note,
        changed: Callable[[], None] = lambda: None,
        arguments: Sequence[str] = (),
    ) -> None:
        """`arguments`: further ones of every process."""
        self._registry = registry
        self._url = url
        self._name = name
        self._note = note
        self._leases: dict[str, ShardLeases] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._deaths: dict[Key, int] = {}
        self._again: dict[Key, float] = {}  # not to be started before
        self._refused: dict[Key, float] = {}  # when a shard could not be started here, until it could
        self.shards: dict[Key, HeldShard] = {}
        self._changed = changed
        self._arguments = arguments

    @property
    def working(self) -> list[Key]:
        """Those that were not asked to end."""
        return [key for key, held in self.shards.items() if not held.asked]

    @property
    def places(self) -> list[Path]:
        """Their directories."""
        return [held.local.place(held.shard) for held in self.shards.values()]

    @property
    def is_refused(self) -> bool:
        """Whether a shard could not be started here lately, because of its disk or of what is installed."""
        return any(time.monotonic() - at < WARY for at in self._refused.values())

    def may_start(self, key: Key) -> bool:
        return key not in self.shards and self._again.get(key, 0.0) <= time.monotonic()

    async def take(self, local: LocalJob, shards: Sequence[int], home: str, beside: int) -> None:
        """Take the leases of some shards, as far as nobody else has them, and start their processes."""
        name = local.record.name
        leases = self._leases.setdefault(name, ShardLeases(self._registry.client, name, self._name))
        fences = self._known(local, shards, home)
        for shard in await leases.take(fences, fences):
            try:
                await self._registry.settle(name, shard, home, leases.held[shard].fence)
                await self._start(local, shard, leases.held[shard].fence, beside)
            except (ConfigError, OSError, Unavailable) as error:
                self._refuse(name, shard, error)
                await self._give(name, shard)

    def _known(self, local: LocalJob, shards: Sequence[int], home: str) -> dict[int, int]:
        """Return by shard the last number in its directory, 0 if there is none; without those that cannot be read.

        A directory whose disk is not mounted any more is empty: its shards would begin again there.
        """
        fences = {}
        for shard in shards:
            try:
                copies.check_home(local.directory.parent, home)
                before = fence.read(local.place(shard))
            except (ConfigError, OSError) as error:
                self._refuse(local.record.name, shard, error)
            else:
                fences[shard] = before.number if before is not None else 0
        return fences

    def _refuse(self, name: str, shard: int, error: Exception) -> None:
        self._note("note", f"it cannot be started: {error}", name, shard)
        self._again[name, shard] = time.monotonic() + REFUSAL[1]
        self._refused[name, shard] = time.monotonic()

    async def _start(self, local: LocalJob, shard: int, number: int, beside: int) -> None:
        name, record = local.record.name, ShardRecord(local.record, shard)
        directory = directories.prepare_shard(local.directory, record, local.options(), beside)
        self._forward(local, shard)

        def note(text: str) -> None:
            self._note("note", text, name, shard)

        arguments = ["--lease", f"{self._name}:{number}", *self._arguments]
        started = await process.start(directory, self._url, arguments, note)
        held = HeldShard(local, shard, fence=number, process=started, started=time.monotonic())
        self.shards[name, shard] = held
        again = self._deaths.get((name, shard), 0)
        self._note("restarted" if again else "started", f"it runs here as process {started.pid}", name, shard)
        task = asyncio.create_task(self._follow((name, shard), held))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _forward(self, local: LocalJob, shard: int) -> int:
        record = ShardRecord(local.record, shard)
        passed = forward.forward(local.place(shard), record, local.state, local.orders)
        for text in passed.refused:
            self._note("note", text, local.record.name, shard)
        return passed.done

    async def forward(self, last_order: Callable[[Key], int]) -> None:
        """Pass on pauses and orders to the shards that run; say which they have carried out, if Redis does not know."""
        for key, held in list(self.shards.items()):
            try:
                done = self._forward(held.local, held.shard)
            except OSError as error:  # a full disk: it is tried again
                if held.problem != str(error):
                    held.problem = str(error)
                    self._note("note", f"orders cannot be passed on to it: {error}", *key)
                continue
            held.problem = ""
            before = last_order(key)
            if done != before:
                await self._registry.carried_out(*key, done)
                taken = [order for order in held.local.orders if before < order.number <= done]
                if taken:  # `done` also rises to just below an order that waits
                    self._note("order", _carried_out(taken), *key)

    def stop(self, key: Key) -> None:
        """Ask the process of a shard for a clean end; its lease is given back then."""
        held = self.shards[key]
        if not held.asked:
            held.asked = time.monotonic()
            held.process.stop()

    def stop_all(self) -> None:
        """Ask all of them; asked twice, they give up the requests in flight."""
        for key, held in self.shards.items():
            if held.asked:
                held.process.stop()
            else:
                self.stop(key)

    def press(self, now: float) -> None:
        """Ask processes that do not end again, and kill them in the end: their logs are whole."""
        for (name, shard), held in self.shards.items():
            if held.asked and now - held.asked > KILL:
                self._note("note", f"it does not end within {KILL:g} seconds and is killed", name, shard)
                held.process.kill()
            elif held.asked and now - held.asked > HURRY and not held.hurried:
                held.hurried = True
                held.process.stop()

    async def guard(self, now: float) -> None:
        """Renew the leases of young processes; kill those that do not notice that another node has their shard."""
        for name, leases in self._leases.items():
            mine = {key[1]: held for key, held in self.shards.items() if key[0] == name}
            await leases.renew([shard for shard, held in mine.items() if now - held.started < YOUNG])
            for shard in [shard for shard, held in mine.items() if now - held.started > YOUNG]:
                self._refused.pop((name, shard), None)
            for shard, number in (await leases.latest(list(mine))).items():
                held = mine[shard]
                if number <= held.fence:
                    held.ousted = 0.0
                elif not held.ousted:
                    held.ousted = now
                elif now - held.ousted > OUSTED:
                    self._note("note", "it does not notice that another node has its lease and is killed", name, shard)
                    held.process.kill()

    async def _follow(self, key: Key, held: HeldShard) -> None:
        """Wait for the end of a process; give the lease back, and say when the shard may be started again."""
        code, ending = await held.process.wait()
        await self._give(*key)
        del self.shards[key]
        now = time.monotonic()
        kind, text = self._verdict(held, code, ending)
        if code == process.REFUSED and kind != "ended":
            self._refused[key] = now
        else:
            self._refused.pop(key, None)
        if kind == "ended":
            self._deaths.pop(key, None)
            self._note(kind, text, *key)
        else:
            deaths = self._deaths.get(key, 0) + 1 if now - held.started < YOUNG else 1
            self._deaths[key] = deaths
            first, most = REFUSAL
            pause = min(first * 2.0 ** (deaths - 1), most) if code == process.REFUSED else process.pause(deaths)
            self._again[key] = now + pause
            self._note(kind, f"{text}; it may be started again in {pause:g} seconds", *key)
        self._changed()

    @staticmethod
    def _verdict(held: HeldShard, code: int, ending: Ending | None) -> tuple[Kind, str]:
        """Return how a process ended; "ended" if it was meant to."""
        if ending is not None and (held.asked or ending.why == "done"):
            return "ended", f"it has ended ({ending.why})"
        if held.asked:
            return "ended", f"it has ended with exit code {code}; everything committed is safe"
        if ending is not None:
            return "died", f"it has ended ({ending.why}) before the job"
        if code == process.TAKEN:
            return "lease-lost", "it has lost its lease"
        return "died", "Redis did not answer at its start" if code == process.AWAY else f"exit code {code}"

    async def _give(self, name: str, shard: int) -> None:
        with contextlib.suppress(Unavailable):  # then it expires
            await self._leases[name].give([shard])

    async def ended(self) -> None:
        """Return when no process is left."""
        while self._tasks:
            await asyncio.wait(self._tasks)


def _carried_out(taken: Sequence[ClusterOrder]) -> str:
    """Return which orders a shard has carried out. All of them may be old, if Redis was emptied."""
    last, lines = taken[-1], taken[-1].content.split()
    what = units.count(len(lines), "URL") if last.kind == "add" else ", ".join(lines)
    more = f", and {units.count(len(taken) - 1, 'earlier order')}" if len(taken) > 1 else ""
    return f"it has carried out {last.kind} {what}{more}"
