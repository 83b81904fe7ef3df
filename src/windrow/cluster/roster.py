"""The jobs that a node knows: what Redis says of them, the copies in its data directory, and what is to be run.

Redis may lose everything at any time, so a node keeps a copy of each job, its state and its orders, and puts it back.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from windrow.cluster import copies, end, fence, limits
from windrow.cluster.copies import LocalJob
from windrow.cluster.events import Kind
from windrow.cluster.messages import Standing
from windrow.cluster.progress import NOBODY, JobProgress
from windrow.cluster.redis import job as records
from windrow.cluster.redis.registry import Registry
from windrow.cluster.redis.state import FORGET
from windrow.cluster.redis.wire import RedisTransport
from windrow.config import ConfigError

Key = tuple[str, int]  # a job and one of its shards


class Note(Protocol):
    """Called with what happened, of which kind, and to which job and shard."""

    def __call__(self, kind: Kind, text: str, job: str = "", shard: int = -1) -> None: ...


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
        self.jobs: dict[str, LocalJob] = copies.read(directory)
        self.views: dict[str, JobView] = {}  # of the jobs that can be run

    async def refresh(self, held: Collection[Key]) -> None:
        """Learn what is wanted now; put back what Redis does not have. `held`: shards that run here."""
        states = await self._registry.jobs()
        server = self._registry.client.server
        self._present = states.keys()
        for name, local in self.jobs.items():
            found = states.get(name)
            behind = found is None or found.version < local.state.version or server != self._server
            if behind and local.state.wanted != FORGET:
                await self._attempt(name, self._put_back)
        self._server = server
        views: dict[str, JobView] = {}

        async def see(name: str) -> None:
            try:
                await self._learn(name)
                views[name] = await self._look(name, held)
                await self._check_limits(name, views[name].standings)
            except OSError:  # a full disk: what runs continues
                if name in self.views:
                    views.setdefault(name, self.views[name])
                raise

        for name in await self._registry.jobs():
            await self._attempt(name, see)
        self.views = views

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

    async def _learn(self, name: str) -> None:
        """Bring the copy of a job up to date; make one of a new job."""
        record = await records.read(self._registry.client, name)
        local = self.jobs.get(name)
        if local is None or local.record.id != record.id:
            records.check(record, record, self._registry.client.place)
            local = self.jobs[name] = copies.write(self._directory, *await self._registry.job(name))
        state = (await self._registry.jobs()).get(name)
        if state is not None and state.version > local.state.version:
            local.change(state)
        orders = await self._registry.orders(name, local.last)
        if orders:
            local.extend(orders)

    async def _look(self, name: str, held: Collection[Key]) -> JobView:
        local = self.jobs[name]
        standings = await RedisTransport(self._registry.client, name, local.record.shards).standings()
        view = JobView(standings, await self._registry.homes(name), await self._registry.done(name))
        for shard in local.shards():
            owner = view.homes.get(shard)
            if owner is None:
                known = fence.read(local.place(shard))
                await self._registry.settle(name, shard, self._home, known.number if known is not None else 0)
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
