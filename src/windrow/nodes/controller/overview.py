"""The state of a job for an operator: what its shards said last, which node runs each, why others run nowhere.

Everything is read from Redis. Figures of a shard are those that it announced last; `windrow status` on its directory
has the exact ones.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from windrow.nodes import limits
from windrow.nodes.redis import job as jobs
from windrow.nodes.redis.job import ClusterJob
from windrow.nodes.redis.keys import Keys
from windrow.nodes.redis.leases import SECONDS
from windrow.nodes.redis.registry import NodeRecord, Registry
from windrow.nodes.redis.state import FORGET, PAUSE, STOP, JobState
from windrow.nodes.redis.wire import RedisTransport
from windrow.shards import end, messages
from windrow.shards.messages import Standing
from windrow.units import span

DRIFT = 5.0  # seconds by which clocks may differ without a warning


class ShardState(msgspec.Struct, frozen=True):
    """One shard as Redis shows it."""

    shard: int
    running: bool
    idle: bool  # it said that it has nothing to do
    waiting: int  # URLs
    finished: int  # URLs
    rate: float  # pages per second; 0 if it does not run
    documents: int = 0  # in the corpus
    tokens: int = 0  # of these documents
    node: str = ""  # that runs it
    home: str = ""  # id of the data directory that has it
    seen: float | None = None  # seconds since its last sign of life; None: it does not run
    order: int = 0  # the last one that it has carried out
    why: str = ""  # it does not run


class JobOverview(msgspec.Struct, frozen=True):
    """A whole job as Redis shows it."""

    name: str
    state: str  # see `_state`
    wanted: str  # by the operator; empty: no node runs this job
    shards: int
    running: int  # shards
    begun: int  # shards that were ever announced
    waiting: int  # URLs
    finished: int  # URLs
    rate: float  # pages per second
    created: float  # epoch seconds
    nodes: list[str]  # that run its shards
    pages: int = 0  # URLs answered with a 2xx status
    documents: int = 0  # in the corpora of all shards
    tokens: int = 0  # of these documents
    reasons: dict[str, int] = {}  # URLs finished, by reason, most first
    seconds: float = 0.0  # for which the job was not stopped
    limits: dict[str, int | float] = {}  # "pages", "documents", "tokens", "seconds"
    limit: str = ""  # the one that was reached
    each: list[ShardState] = []


class JobFacts(msgspec.Struct):
    """What Redis says about one job."""

    record: ClusterJob
    state: JobState | None
    nodes: Sequence[NodeRecord]  # alive
    gone: Sequence[NodeRecord]  # vanished, or left
    now: float  # of Redis's clock
    standings: Mapping[int, Standing]
    leases: Mapping[int, tuple[str, float]]  # by shard: holder, and seconds since it was renewed
    homes: Mapping[int, str]
    done: Mapping[int, int]


async def all_jobs(registry: Registry) -> list[JobOverview]:
    """Return all jobs of a server, by name."""
    return [await job(registry, name) for name in await jobs.names(registry.client) if await _exists(registry, name)]


async def _exists(registry: Registry, name: str) -> bool:
    (exists,) = await registry.client.run(("EXISTS", Keys(name)["job"]))
    return bool(registry.client.checked(exists))


async def job(registry: Registry, name: str) -> JobOverview:
    """Return the state of one job; ConfigError if there is none."""
    facts = await _facts(registry, name)
    each = [_shard(facts, shard) for shard in range(facts.record.shards)]
    made = limits.sum_of(facts.standings.values())
    return JobOverview(
        name=name,
        state=_state(facts, each),
        wanted=facts.state.wanted if facts.state else "",
        shards=len(each),
        running=sum(shard.running for shard in each),
        begun=len(facts.standings),
        waiting=sum(shard.waiting for shard in each),
        finished=sum(shard.finished for shard in each),
        rate=sum(shard.rate for shard in each),
        created=facts.record.created,
        nodes=sorted({shard.node for shard in each if shard.node}),
        pages=made.pages,
        documents=made.documents,
        tokens=made.tokens,
        reasons=_reasons(facts.standings.values()),
        seconds=round(facts.state.seconds(facts.now), 1) if facts.state else 0.0,
        limits=facts.state.limits if facts.state else {},
        limit=facts.state.limit if facts.state else "",
        each=each,
    )


def _reasons(standings: Iterable[Standing]) -> dict[str, int]:
    reasons = sum((Counter(messages.by_name(standing.reasons)) for standing in standings), Counter[str]())
    return dict(reasons.most_common())


async def _facts(registry: Registry, name: str) -> JobFacts:
    record = await jobs.read(registry.client, name)
    nodes = await registry.nodes(gone=True, left=True)
    alive = {node.name for node in await registry.nodes()}
    return JobFacts(
        record=record,
        state=(await registry.jobs()).get(name),
        nodes=[node for node in nodes if node.name in alive],
        gone=[node for node in nodes if node.name not in alive],
        now=await registry.now(),
        standings=await RedisTransport(registry.client, name, record.shards).standings(),
        leases=await _leases(registry, name, record.shards),
        homes=await registry.homes(name),
        done=await registry.done(name),
    )


async def _leases(registry: Registry, name: str, shards: int) -> dict[int, tuple[str, float]]:
    keys = [Keys(name).of("lease", shard) for shard in range(shards)]
    answers = await registry.client.run(*[(verb, key) for key in keys for verb in ("GET", "PTTL")])
    leases = {}
    for shard, (value, left) in enumerate(zip(answers[::2], answers[1::2], strict=True)):
        if registry.client.checked(value) is not None and left > 0:
            leases[shard] = (value.decode("utf-8", "replace").partition(" ")[2], max(0.0, SECONDS - left / 1000))
    return leases


def _shard(facts: JobFacts, shard: int) -> ShardState:
    standing = facts.standings.get(shard, Standing(0))
    holder = next((node for node in facts.nodes if shard in node.running.get(facts.record.name, ())), None)
    leased = facts.leases.get(shard)
    running = holder is not None or leased is not None
    seen = leased[1] if leased else facts.now - holder.seen if holder else None
    return ShardState(
        shard=shard,
        running=running,
        idle=standing.idle,
        waiting=standing.waiting,
        finished=standing.finished,
        rate=standing.rate if running and not standing.ended else 0.0,
        documents=standing.made.documents,
        tokens=standing.made.tokens,
        node=holder.name if holder else leased[0] if leased else "",
        home=facts.homes.get(shard, ""),
        seen=None if seen is None else round(max(0.0, seen), 1),
        order=facts.done.get(shard, 0),
        why="" if running else _why(facts, shard),
    )


def _why(facts: JobFacts, shard: int) -> str:
    """Return why a shard runs nowhere."""
    if facts.state is None:
        return "its process has ended; windrow crawl runs this job"
    if end.seen(facts.standings, facts.record.shards):
        return "the job is done"
    if facts.state.limit:
        return f"the job has reached its limit of {_goal(facts.state)}"
    if facts.state.wanted in (STOP, FORGET):
        return "the job is stopped"
    if not facts.nodes:
        return "no node is alive; start one with: windrow node --dir DIR"
    home = facts.homes.get(shard)
    able = [node for node in facts.nodes if home is None or node.home == home]
    if not able:
        return _lost(facts, str(home))
    if all(node.draining for node in able):
        return f"drained: {', '.join(node.name for node in able)}"
    refused = {node.name: node.refused[facts.record.name] for node in able if facts.record.name in node.refused}
    if len(refused) == len(able):
        return "; ".join(f"node {name} says: {why}" for name, why in refused.items())
    if all(_busy(node) >= node.most for node in able if not node.draining):
        return "the nodes that may run it have no room for more shards"
    return "a node takes it soon"


def _goal(state: JobState) -> str:
    return limits.describe(state.limit, state.limits.get(state.limit, 0))


def _busy(node: NodeRecord) -> int:
    return sum(map(len, node.running.values()))


def _lost(facts: JobFacts, home: str) -> str:
    last = max((node for node in facts.gone if node.home == home), key=lambda node: node.seen, default=None)
    if last is None:
        return f"no node alive has its data directory (id {home}); start the node that has it"
    since = span(max(0.0, facts.now - last.seen))
    whose = f"its data directory is that of node {last.name} on {last.host}"
    return f"{whose}, which left {since} ago; start it again" if last.left else f"{whose}, silent for {since}"


def _state(facts: JobFacts, each: Sequence[ShardState]) -> str:
    """Return "running", "paused", "stopping", "stopped", "limit" (one was reached), "done", "waiting" (for a node),
    "forgotten" or "crawl"."""
    if facts.state is None:
        return "crawl"  # windrow crawl --shards runs it, not nodes
    if facts.state.wanted == FORGET:
        return "forgotten"
    if end.seen(facts.standings, facts.record.shards):
        return "done"
    running = any(shard.running for shard in each)
    if facts.state.wanted == PAUSE:
        return "paused"
    if facts.state.wanted == STOP:
        return "stopping" if running else "limit" if facts.state.limit else "stopped"
    return "running" if running else "waiting"


def warnings(nodes: Sequence[NodeRecord], version: str) -> list[str]:
    """Return what is wrong with nodes that are alive: other versions of Windrow, clocks that differ."""
    texts = []
    for node in nodes:
        if node.version != version:
            texts.append(f"node {node.name} runs Windrow {node.version}, and this is {version}; use one version")
        if abs(node.drift) > DRIFT:
            side = "ahead of" if node.drift > 0 else "behind"
            texts.append(
                f"the clock of node {node.name} is {span(abs(node.drift))} {side} that of Redis; set it, "
                "or the times in its logs and archives are wrong"
            )
    return texts
