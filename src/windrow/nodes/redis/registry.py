"""What operators and nodes share in Redis: jobs with what is wanted of them, orders, homes of shards, nodes, events.

All of it may vanish at any time. A node keeps a copy of each job in its files and puts it back (`Registry.put_back`);
nodes announce themselves every few seconds anyway.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from windrow.config import ConfigError
from windrow.nodes.redis import changes, leases, watched
from windrow.nodes.redis import job as jobs
from windrow.nodes.redis import state as states
from windrow.nodes.redis.client import Command, RedisClient
from windrow.nodes.redis.job import ClusterJob
from windrow.nodes.redis.keys import BEATS, DRAINS, FORGOTTEN, JOBS, NODES, Keys
from windrow.nodes.redis.order import ClusterOrder, decode, encode
from windrow.nodes.redis.state import FORGET, RUN, JobState

BEAT = 2.5  # seconds from one sign of life of a node to the next
ALIVE = 10.0  # seconds after its last sign of life for which a node counts as alive
REMEMBERED = 86_400.0  # seconds after which a node that has vanished is not listed any more
SAME = 0.25  # seconds by which the drift of a clock may differ from the one that a node has announced
HUSH = 10.0  # seconds without new orders after a job was put back: other nodes may know more of its orders
EVENTS = 10_000  # that are kept per job, about
_MISSING, _EARLY, _CHANGED = -1, -2, -3  # answers of steer.lua


class JobSpec(msgspec.Struct, frozen=True):
    """What a node needs to run a job: it writes these texts to DIR/JOB/crawl.toml and seeds.txt."""

    options: str  # crawl.toml, only the options that were changed
    seeds: str  # lines of the seeds file


class NodeRecord(msgspec.Struct, frozen=True):
    """What a node says of itself."""

    name: str
    host: str
    pid: int
    version: str  # of Windrow
    home: str  # id of its data directory
    slots: int  # shards that it runs at once
    most: int  # shards that it runs at once if all nodes together have too few slots
    running: dict[str, list[int]] = {}  # by job: shards
    draining: bool = False
    started: float = 0.0  # epoch seconds
    metrics: str = ""  # URL of its /metrics
    refused: dict[str, str] = {}  # by job: why it cannot be run there
    left: bool = False  # it has ended and given its shards back
    drift: float = 0.0  # seconds by which its clock is ahead of that of Redis; `beat` measures it
    seen: float = 0.0  # epoch seconds of Redis's clock, at its last sign of life; `nodes` reads it


class Registry:
    """All jobs and nodes of one Redis server. Every method may raise Unavailable: call it again later."""

    def __init__(self, client: RedisClient) -> None:
        self.client = client
        self._drift: float | None = None
        self._announced: float | None = None  # the drift that others know
        self._drains = False  # the last answer to `beat`

    async def create(self, record: ClusterJob, spec: JobSpec, limits: Mapping[str, int | float] | None = None) -> None:
        """Write a new job, which runs at once; ConfigError if there is one of this name."""
        state = JobState(RUN, int(1000 * await self.now()), limits=dict(limits or {}))
        created, _ = await self._restore(record, spec, state, (), 0.0)
        if created != record:
            raise ConfigError(f"there is a job {record.name!r} at {self.client.place} already; choose another name")
        await leases.begin(self.client, record.name)

    async def jobs(self) -> dict[str, JobState]:
        """Return what is wanted of each job that nodes run, by name."""
        names = await jobs.names(self.client)
        answers = await self._run(*[("HGETALL", Keys(name)["state"]) for name in names])
        states_by_name = {name: states.decoded(answer) for name, answer in zip(names, answers, strict=True)}
        return {name: state for name, state in states_by_name.items() if state is not None}

    async def job(self, name: str) -> tuple[ClusterJob, JobSpec, JobState]:
        """Return a job; ConfigError if there is none."""
        record = await jobs.read(self.client, name)
        keys = Keys(name)
        spec, fields = await self._run(("GET", keys["spec"]), ("HGETALL", keys["state"]))
        state = states.decoded(fields)
        if spec is None or state is None:
            raise ConfigError(
                f"the job {name!r} at {self.client.place} is not one of nodes: windrow crawl --shards runs it, "
                "or Redis has lost a part of it, which a node puts back within seconds"
            )
        try:
            return record, msgspec.json.decode(spec, type=JobSpec), state
        except ValueError as error:
            raise ConfigError(
                f"the options of the job {name!r} at {self.client.place} cannot be read ({error}); "
                "another program or a newer Windrow wrote them"
            ) from None

    async def put_back(
        self, record: ClusterJob, spec: JobSpec, state: JobState, orders: Iterable[ClusterOrder] = ()
    ) -> JobState:
        """Write what Redis does not have of a job, or has only in an older form; return what is wanted of it now.

        "forget" is wanted of a job that an operator has removed: nothing is written then. ConfigError if another crawl
        has the name now.
        """
        (forgotten,) = await self._run(("SISMEMBER", FORGOTTEN, record.id))
        if forgotten:
            return JobState(FORGET, state.version + 1)
        restored, held = await self._restore(record, spec, state, orders, HUSH)
        if restored.id != record.id:
            jobs.check(restored, record, self.client.place)
        if held is None:
            raise self._unreadable(record.name)
        return held

    async def _restore(
        self, record: ClusterJob, spec: JobSpec, state: JobState, orders: Iterable[ClusterOrder], hush: float
    ) -> tuple[ClusterJob, JobState | None]:
        keys = Keys(record.name)
        await self._run(("SADD", JOBS, record.name))  # first: a name without a record is left out of every list
        words: list[str | bytes | int] = [msgspec.json.encode(record), record.id, msgspec.json.encode(spec)]
        fields = states.words(state)
        words += [int(1000 * hush), state.version, len(fields), *fields]
        words += [word for order in orders for word in (order.number, encode(order))]
        names = [keys[name] for name in ("job", "spec", "state", "orders", "order-hush")]
        created, held = await self.client.call("restore", names, words)
        return jobs.decoded(self.client.place, record.name, created), states.decoded(held)

    async def change(self, name: str, wanted: str) -> JobState:
        """Say what is wanted of a job from now on."""
        return await self._change(name, "state", wanted)

    async def limit(self, name: str, limits: Mapping[str, int | float]) -> JobState:
        """Change limits of a job; 0: none. A job that has reached one of them runs again."""
        words = [word for key, value in limits.items() for word in (key, repr(value) if value else "")]
        return await self._change(name, "limits", *words)

    async def reached(self, name: str, limit: str, version: int) -> JobState | None:
        """Stop a job that has reached a limit; None if its state is not of this version any more, or is gone."""
        number, state = await self._steered(name, "reached", limit, version)
        return states.decoded(state) if number not in (_CHANGED, _MISSING) else None

    async def _change(self, name: str, *words: str) -> JobState:
        _, data = await self._steer(name, *words)
        state = states.decoded(data)
        if state is None:
            raise self._unreadable(name)
        return state

    def _unreadable(self, name: str) -> ConfigError:
        return ConfigError(
            f"the state of the job {name!r} at {self.client.place} cannot be read; "
            "another program or a newer Windrow wrote it, or a node has just put it back: try again"
        )

    async def order(self, name: str, kind: str, content: str, hosts: tuple[str, ...] = ()) -> ClusterOrder:
        """Give an order to all shards of a job; ConfigError shortly after Redis was emptied, see `HUSH`."""
        order = ClusterOrder(0, kind, content, hosts)
        number, _ = await self._steer(name, "order", encode(order))
        return msgspec.structs.replace(order, number=number)

    async def _steer(self, name: str, *words: str | bytes | int) -> tuple[int, list[bytes]]:
        """Return the version or the number that was given, and the state of the job; ConfigError if there is none."""
        answer, data = await self._steered(name, *words)
        if answer == _MISSING:
            await self.job(name)  # says what is wrong
            raise self._unreadable(name)
        if answer == _EARLY:
            raise ConfigError(
                f"Redis at {self.client.place} was emptied a moment ago, and nodes are putting their orders back; "
                f"try again in {HUSH:g} seconds"
            )
        return answer, data

    async def _steered(self, name: str, *words: str | bytes | int) -> tuple[int, list[bytes]]:
        keys = Keys(name)
        names = [keys[key] for key in ("job", "state", "orders", "order-hush")]
        answer, state = await self.client.call("steer", names, words)
        return int(answer), state

    async def orders(self, name: str, after: int = 0) -> list[ClusterOrder]:
        """Return the orders with higher numbers, lowest first."""
        key = Keys(name)["orders"]
        (names,) = await self._run(("HKEYS", key))
        numbers = sorted(int(number) for number in names if number.isdigit() and int(number) > after)
        if not numbers:
            return []
        (texts,) = await self._run(("HMGET", key, *numbers))
        made = [decode(number, text) for number, text in zip(numbers, texts, strict=True)]
        return [order for order in made if order is not None]

    async def carried_out(self, name: str, shard: int, number: int) -> None:
        """Note that a shard has carried out all orders up to and with this number."""
        await changes.write(self.client, Keys(name)[watched.DONE], shard, number)

    async def done(self, name: str) -> dict[int, int]:
        """Return by shard the number of the last order that it has carried out."""
        return await watched.done(self.client, name).look()

    async def homes(self, name: str) -> dict[int, str]:
        """Return by shard the id of the data directory that has it."""
        return await watched.homes(self.client, name).look()

    async def settle(self, name: str, shard: int, home: str, fence: int = 0) -> None:
        """Note that a data directory has a shard. `fence`: of its last lease; the note of an earlier one is ignored."""
        await self.client.call("home", changes.names(Keys(name)[watched.HOMES]), [shard, fence, home])

    async def beat(self, node: NodeRecord) -> bool:
        """Announce a node; return whether it shall drain."""
        if self._drift is None:
            self._drift = time.time() - await self.now()
        if self._announced is None or abs(self._drift - self._announced) > SAME:
            self._announced = round(self._drift, 3)
        record = msgspec.structs.replace(node, drift=self._announced)
        sent = time.time()
        fresh, drains, *clock = await self.client.call("beat", [BEATS, DRAINS], [node.name])
        self._drift = (sent + time.time()) / 2 - _seconds(clock)
        await changes.write(self.client, NODES, node.name, msgspec.json.encode(record))
        if fresh and self._drains and not drains:  # Redis has lost it
            await self.drain(node.name)
            drains = 1
        self._drains = bool(drains)
        return self._drains

    async def leave(self, name: str) -> None:
        """Note that a node ends: its record still says whose data directory it was. It stays drained if it was."""
        (data,) = await self._run(("HGET", NODES, name))
        record = node_of(data) if data is not None else None
        if record is not None:
            left = msgspec.structs.replace(record, left=True)
            await changes.write(self.client, NODES, name, msgspec.json.encode(left))

    async def remove(self, name: str) -> None:
        """Remove a node that was seen last long ago."""
        await self._run(("ZREM", BEATS, name))
        await changes.write(self.client, NODES, name, "")

    async def silent(self) -> dict[str, float]:
        """Return the nodes that have vanished or left, with the seconds since their last sign of life."""
        silent = await self.client.call("silent", [BEATS], [int(1000 * ALIVE)])
        return {
            name.decode("utf-8", "replace"): age / 1000 for name, age in zip(silent[::2], silent[1::2], strict=True)
        }

    async def nodes(self, gone: bool = False, left: bool = False) -> list[NodeRecord]:
        """Return the nodes that are alive, by name; `gone`: also those that have vanished; `left`: that have ended."""
        values, beats, clock = await self._run(("HGETALL", NODES), ("ZRANGE", BEATS, 0, -1, "WITHSCORES"), ("TIME",))
        now = _seconds(clock)
        seen = {name: float(beat) / 1000 for name, beat in _pairs(beats)}
        records = []
        for name, data in sorted(_pairs(values)):
            record, last = node_of(data), seen.get(name, 0.0)
            if last < now - REMEMBERED:
                await self.remove(name.decode("utf-8", "replace"))
            elif record is not None and (left if record.left else gone or last >= now - ALIVE):
                records.append(msgspec.structs.replace(record, seen=last))
        return records

    async def drain(self, name: str, on: bool = True) -> None:
        """Let a node give its shards back and take no others, or let it work again; ConfigError if there is none."""
        (drained,) = await self._run(("SISMEMBER", DRAINS, name))
        existing = {node.name for node in await self.nodes(gone=True)}
        if name not in existing and not (drained and not on):
            names = ", ".join(node.name for node in await self.nodes()) or "none"
            raise ConfigError(f"there is no node {name!r} at {self.client.place}; the nodes there are: {names}")
        await self._run(("SADD" if on else "SREM", DRAINS, name))

    async def now(self) -> float:
        """Return the time of Redis's clock, in epoch seconds."""
        (time,) = await self._run(("TIME",))
        return _seconds(time)

    async def event(self, job: str, event: Mapping[str, Any]) -> None:
        """Append an event to the log of a job; old ones are dropped."""
        data = msgspec.json.encode(event)
        await self._run(("XADD", Keys(job)["events"], "MAXLEN", "~", EVENTS, "*", "event", data))

    async def events(self, job: str, after: str = "", count: int = 1000) -> list[tuple[str, dict[str, Any]]]:
        """Return events after the one of this name, oldest first; with an empty name, the latest ones."""
        key = Keys(job)["events"]
        command: Command = ("XRANGE", key, f"({after}", "+", "COUNT", count)
        if not after:
            command = ("XREVRANGE", key, "+", "-", "COUNT", count)
        (entries,) = await self._run(command)
        return [(name.decode(), _event(fields[1])) for name, fields in (entries if after else reversed(entries))]

    async def forget(self, name: str) -> int:
        """Remove all keys of a job, and let nodes know that it is not to be put back; return how many keys it had."""
        record = await jobs.read(self.client, name)
        await self._run(("SADD", FORGOTTEN, record.id))
        return await jobs.forget(self.client, name)

    async def _run(self, *commands: Command) -> list[Any]:
        if not commands:
            return []
        return [self.client.checked(answer) for answer in await self.client.run(*commands)]


def _seconds(answer: Sequence[bytes]) -> float:
    return int(answer[0]) + int(answer[1]) / 1e6


def _pairs(fields: Sequence[bytes]) -> Iterable[tuple[bytes, bytes]]:
    """Return the fields of a hash with their values. Those that no Windrow wrote are left out by who reads them."""
    return zip(fields[::2], fields[1::2], strict=True)


def node_of(data: bytes) -> NodeRecord | None:
    """Return the record of a node; None if another version of Windrow wrote one that cannot be read."""
    try:
        return msgspec.json.decode(data, type=NodeRecord)
    except ValueError:
        return None


def _event(data: bytes) -> dict[str, Any]:
    try:
        content = msgspec.json.decode(data)
    except ValueError:
        content = data.decode("utf-8", "replace")
    return content if isinstance(content, dict) else {"event": content}
