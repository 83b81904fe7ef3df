"""The jobs that a node knows: what Redis says of them, the copies in its data directory, and what is to be run.

Redis may lose everything at any time, so a node keeps a copy of each job, its state and its orders, and puts it back.
"""

import random
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from windrow.config import ConfigError
from windrow.nodes import copies, limits
from windrow.nodes.copies import LocalJob
from windrow.nodes.events import Kind
from windrow.nodes.redis import job as records
from windrow.nodes.redis import watched
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.job import ClusterJob
from windrow.nodes.redis.registry import Registry
from windrow.nodes.redis.state import FORGET, JobState
from windrow.nodes.redis.wire import RedisTransport
from windrow.shards import end, fence, pace
from windrow.shards.messages import Standing
from windrow.shards.progress import NOBODY, JobProgress

Key = tuple[str, int]  # a job and one of its shards


class Note(Protocol):
    """Called with what happened, of which kind, and to which job and shard."""

    def __call__(self, kind: Kind, text: str, job: str = "", shard: int = -1) -> None: ...


class JobWatch:
    """How a node looks at a job. The standings of many shards change rarely, and it reads them as rarely."""

    def __init__(self, client: RedisClient, record: ClusterJob) -> None:
        self.id = record.id
        self._transport = RedisTransport(client, record.name, record.shards)
        self._homes, self._done = watched.homes(client, record.name), watched.done(client, record.name)
        self._every = round(pace.factor(record.shards))
        self._look = random.randrange(self._every)  # noqa: S311 - so that nodes do not all read in the same second
        self._standings: dict[int, Standing] | None = None

    async def view(self) -> "JobView":
        """Return what Redis says of the job now."""
        self._look += 1
        if self._standings is None or self._look % self._every == 0:
            await self.standings()
        assert self._standings is not None
        return JobView(self._standings, await self._homes.look(), await self._done.look())

    async def standings(self) -> dict[int, Standing]:
        """Return the standings of now."""
        self._standings = await self._transport.standings()
        return self._standings


class JobView(msgspec.Struct):
    """What Redis says of a job now."""

    standings: dict[int, Standing]
    homes: dict[int, str]  # by shard: the data directory that has it
    done: dict[int, int]  # by shard: the last order that it has carried out


class Roster:
    """All jobs of one Redis server, as one data directory knows them. `note` is called with events of a job."""

    def __init__(self, registry: Registry, directory: Path, home: str, note: Note) -> None:
        self._registry = registry
        self._directory = directory
        self._home = home
        self._note = note
        self._server = ""  # the server process that was put back to
        self._present: Collection[str] = ()  # the jobs that Redis had at the last look
        self.problems: dict[str, str] = {}  # jobs that cannot be run here, and why
        self._progress: dict[str, JobProgress] = {}  # by id of a job: what its shards have made
        self._watches: dict[str, JobWatch] = {}
        self.jobs: dict[str, LocalJob] = copies.read(directory)
        self.views: dict[str, JobView] = {}  # of the jobs that can be run

    async def refresh(self, held: Collection[Key]) -> None:
        """Learn what is wanted now; put back what Redis does not have. `held`: shards that run here."""
        states = await self._registry.jobs()
        server = self._registry.client.server
        self._present = states.keys()
        lacking = [name for name, local in self.jobs.items() if self._is_ahead(local, states.get(name), server)]
        for name in lacking:
            await self._attempt(name, self._put_back)
        if lacking:
            states = await self._registry.jobs()
        self._server = server
        views: dict[str, JobView] = {}

        async def see(name: str) -> None:
            try:
                await self._learn(name, states[name])
                views[name] = await self._look(name, held)
                await self._check_limits(name, views[name].standings)
            except OSError:  # a full disk: what runs continues
                if name in self.views:
                    views.setdefault(name, self.views[name])
                raise

        for name in states:
            await self._attempt(name, see)
        self.views = views

    def _is_ahead(self, local: LocalJob, state: JobState | None, server: str) -> bool:
        """Return whether the copy of a job here may have what Redis does not have."""
        behind = state is None or state.version < local.state.version or server != self._server
        return behind and local.state.wanted != FORGET

    async def _attempt(self, name: str, act: Callable[[str], Awaitable[None]]) -> None:
        """Do something for a job; if it does not fit this machine, say so once and leave it to others."""
        try:
            await act(name)
        except ConfigError as error:
            self._tell(name, f"it cannot be run here: {error}")
        except (OSError, UnicodeDecodeError) as error:
            self._tell(name, f"its files here cannot be used: {error}")
        else:
            self.problems.pop(name, None)

    def _tell(self, name: str, problem: str) -> None:
        if self.problems.get(name) != problem:
            self.problems[name] = problem
            self._note("note", problem, name)

    async def _put_back(self, name: str) -> None:
        local = self.jobs[name]
        state = await self._registry.put_back(local.record, local.spec, local.state, local.orders)
        if state.version > local.state.version:
            local.change(state)
        if state.wanted == FORGET:
            self._note("note", "an operator has removed the job; its directories stay", name)
        elif name not in self._present:
            self._note("put-back", "Redis had lost the job; it was put back from this data directory", name)

    async def _learn(self, name: str, state: JobState) -> None:
        """Bring the copy of a job up to date; make one of a new job. `state`: what Redis says."""
        record = await records.read(self._registry.client, name)
        local = self.jobs.get(name)
        if local is None or local.record.id != record.id:
            records.check(record, record, self._registry.client.place)
            local = self.jobs[name] = copies.write(self._directory, *await self._registry.job(name))
        if state.version > local.state.version:
            local.change(state)
        orders = await self._registry.orders(name, local.last)
        if orders:
            local.extend(orders)

    async def _look(self, name: str, held: Collection[Key]) -> JobView:
        local = self.jobs[name]
        watch = self._watches.get(name)
        if watch is None or watch.id != local.record.id:
            watch = self._watches[name] = JobWatch(self._registry.client, local.record)
        view = await watch.view()
        for shard in local.shards():
            owner = view.homes.get(shard)
            if owner is None:
                fenced = fence.read(local.place(shard))
                await self._registry.settle(name, shard, self._home, fenced.number if fenced is not None else 0)
            elif owner != self._home and (name, shard) not in held:
                text = f"it was begun again in another data directory; the old one is kept in {local.set_aside(shard)}"
                self._note("shard-lost", text, name, shard)
        return view

    async def _check_limits(self, name: str, standings: Mapping[int, Standing]) -> None:
        """Stop a job that has reached a limit, unless an operator has changed its state meanwhile."""
        local = self.jobs[name]
        state = local.state
        progress = self._progress.setdefault(local.record.id, JobProgress(NOBODY, ""))
        progress.heard(standings, 0)
        if not state.limits or not state.runs:
            return
        seconds = state.seconds(await self._registry.now()) if "seconds" in state.limits else 0.0
        limit = limits.reached(state.limits, progress.elsewhere, seconds)
        stopped = await self._registry.reached(name, limit, state.version) if limit else None
        if stopped is not None:
            local.change(stopped)
            made = limits.progress(limit, progress.elsewhere, seconds)
            goal = limits.describe(limit, state.limits[limit])
            self._note("limit", f"the job has reached its limit of {goal} ({made}) and is stopped", name)

    def wanted(self) -> list[Key]:
        """Return the shards that somebody should run."""
        return [(name, shard) for name in self.views for shard in self._wanted(name)]

    async def wanted_now(self, name: str) -> list[int]:
        """Return the shards of a job that somebody should run, by the standings of now. Ask before a shard is taken: if
        one that has ended were started again, the whole job would not be at its end any more."""
        self.views[name].standings = await self._watches[name].standings()
        return self._wanted(name)

    def carried_out(self, key: Key) -> int:
        """Return the number of the last order that a shard has carried out, as far as Redis knows."""
        view = self.views.get(key[0])
        return view.done.get(key[1], 0) if view is not None else 0

    def runs(self, name: str) -> bool:
        """Return whether processes of this job are wanted at all."""
        return name in self.views and self.jobs[name].state.runs

    def _wanted(self, name: str) -> list[int]:
        local, view = self.jobs[name], self.views[name]
        if not self.runs(name):
            return []
        shards = range(local.record.shards)
        if end.seen(view.standings, local.record.shards):  # but an order may have come after the end
            return [shard for shard in shards if view.done.get(shard, 0) < local.last]
        return list(shards)

    @property
    def finished(self) -> bool:
        """Whether there are jobs, and nothing is left to do for any of them."""
        return bool(self.views) and not self.wanted()
