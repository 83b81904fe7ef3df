"""`windrow cluster`: jobs on many machines, seen and steered from one place."""

import asyncio
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import windrow
from windrow import sharding, signals, units
from windrow.cli.cluster import hosts, orders
from windrow.cli.cluster import show as cluster_show
from windrow.cli.crawl import limits
from windrow.cli.crawl.limits import MaxDocuments, MaxPages, MaxSeconds, MaxTokens
from windrow.cli.crawl.shards import load_nodes
from windrow.cli.inspect import why as whys
from windrow.cli.registry import Job, RedisUrl, within
from windrow.cli.terminal import Json, note, out, print_json, print_json_line
from windrow.config import ConfigError
from windrow.inspect import story as stories

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="See and steer crawls on many machines.")
_TICK = 0.5  # seconds from one look at the events to the next


def create(
    name: Job,
    options: Annotated[
        Path,
        typer.Option(
            "--config", help="The crawl.toml of the job, or its directory; windrow init writes it.", metavar="FILE"
        ),
    ],
    seeds: Annotated[
        str, typer.Option(help="File of seed URLs; default: the one that crawl.toml names.", metavar="FILE")
    ] = "",
    count: Annotated[
        int, typer.Option("--shards", help="Parts of the crawl; four per machine that you may ever use.", metavar="N")
    ] = 32,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override an option of crawl.toml. Repeatable.", metavar="NAME=VALUE"),
    ] = None,
    max_pages: MaxPages = 0,
    max_seconds: MaxSeconds = 0.0,
    max_tokens: MaxTokens = "",
    max_documents: MaxDocuments = "",
    redis: RedisUrl = "",
    as_json: Json = False,
) -> None:
    """Create a job, which nodes run at once. The number of its shards cannot change later.

    Options and seeds are checked as for any crawl. Files that options name must be on every node, under the same
    absolute path. Limits count all shards together, from the creation of the job to its end.
    """
    given = [*limits.plain(settings or []), *limits.settings(max_pages, max_seconds, max_tokens, max_documents)]
    made = load_nodes("controller.creation").make(name, options, given, seeds, count)
    within(redis, lambda registry: registry.create(made.record, made.spec, made.limits))
    if as_json:
        return print_json(made.record)
    for text in made.notes:
        note(text)
    parts = f"{units.count(made.seeds, 'seed')} and {units.count(count, 'shard')}"
    out.print(f"{name}: created with {parts}{cluster_show.until(made.limits)}; nodes take them within seconds.")


def jobs(redis: RedisUrl = "", as_json: Json = False) -> None:
    """List all jobs with their state, shards, URLs and rate."""
    every_job = within(redis, load_nodes("controller.overview").all_jobs)
    if as_json:
        return print_json([cluster_show.without_shards(job) for job in every_job])
    cluster_show.jobs(every_job)


def nodes(redis: RedisUrl = "", as_json: Json = False) -> None:
    """List the nodes: host, slots, shards, version, age. Warn about other versions and clocks that differ."""

    async def read(registry: Any) -> tuple[Any, Any, float]:
        return await registry.nodes(), await registry.nodes(gone=True), await registry.now()

    alive, records, now = within(redis, read)
    if as_json:
        return print_json(records)
    cluster_show.nodes(records, {node.name for node in alive}, now)
    for text in load_nodes("controller.overview").warnings(alive, windrow.__version__):
        note(f"warning: {text}")


def status(
    name: Job,
    each: Annotated[bool, typer.Option("--shards", help="Also show every shard.")] = False,
    redis: RedisUrl = "",
    as_json: Json = False,
) -> None:
    """Show the state of a job as its shards announced it last, and why shards run nowhere."""
    state = within(redis, lambda registry: load_nodes("controller.overview").job(registry, name))
    if as_json:
        return print_json(state)
    cluster_show.status(state, each)


def pause(name: Job, redis: RedisUrl = "", as_json: Json = False) -> None:
    """Let all shards of a job send no further request until it is resumed."""
    _change(redis, name, "pause", "paused", as_json)


def resume(name: Job, redis: RedisUrl = "", as_json: Json = False) -> None:
    """Let a paused or stopped job run again. One that has reached a limit needs a higher one: `windrow cluster set`."""
    steering = load_nodes("controller.steering")
    _changed(name, within(redis, lambda registry: steering.resume(registry, name)), "running", as_json)


def stop(
    name: Job,
    wait: Annotated[float, typer.Option(help="Wait so long until no shard runs.", metavar="SECONDS")] = 0.0,
    redis: RedisUrl = "",
    as_json: Json = False,
) -> None:
    """Stop all shards of a job cleanly: requests in progress get 20 s to finish. `resume` continues it."""
    _change(redis, name, "stop", "stopping", as_json)
    if wait:
        steering = load_nodes("controller.steering")
        running = within(redis, lambda registry: steering.still_running(registry, name, wait))
        if running:
            note(f"warning: these shards still run after {wait:g} seconds: {units.ranges(running)}")
            raise typer.Exit(1)
        if not as_json:
            out.print(f"{name}: stopped; no shard runs")


def _change(redis: str, name: str, wanted: str, word: str, as_json: bool) -> None:
    _changed(name, within(redis, lambda registry: registry.change(name, wanted)), word, as_json)


def _changed(name: str, state: Any, word: str, as_json: bool) -> None:
    if as_json:
        return print_json(state)
    out.print(f"{name}: {word}; nodes act on it within seconds, see: windrow cluster status {name}")


def drain(
    node: Annotated[str, typer.Argument(help="The name of the node.", metavar="NODE")],
    undo: Annotated[bool, typer.Option("--undo", help="Let the node work again.")] = False,
    redis: RedisUrl = "",
    as_json: Json = False,
) -> None:
    """Let a node give its shards to other nodes and take no new ones, also after it starts again."""
    within(redis, lambda registry: registry.drain(node, not undo))
    if as_json:
        return print_json({"node": node, "drain": not undo})
    out.print(f"{node}: {'works again' if undo else 'drains; see: windrow cluster nodes'}")


def why(
    name: Job,
    url: Annotated[str, typer.Argument(help="The URL, as it stands in a page or in the log.", metavar="URL")],
    directory: Annotated[
        Path | None, typer.Option("--dir", help="A node's data directory that can be read here.", metavar="DIR")
    ] = None,
    wait: Annotated[float, typer.Option(help="Wait so long for the node's answer.", metavar="SECONDS")] = 30.0,
    redis: RedisUrl = "",
    as_json: Json = False,
) -> None:
    """Show what happened to a URL of a job, which shard owns it, and which node has that."""
    overview, answers = load_nodes("controller.overview"), load_nodes("answers")
    domain = stories.parsed(url).domain
    state = within(redis, lambda registry: overview.job(registry, name))
    number = sharding.shard_of(domain, state.shards)
    shard = state.each[number]
    path = cluster_show.shard_directory(directory, name, number)
    story, error = None, ""
    if path is not None:
        story = answers.why(path, url)
    else:
        answer = within(redis, lambda registry: answers.ask(registry, name, number, url, wait))
        story, error = (answer.story, answer.error) if answer else (None, _silence(shard, wait))
    if as_json:
        return print_json({"shard": number, "node": shard.node, "home": shard.home, "story": story, "error": error})
    where = f"runs on {shard.node}" if shard.node else f"does not run: {shard.why}"
    out.print(f"{domain} belongs to shard {number} of {state.shards}, which {where}.")
    if story is None:
        raise ConfigError(error)
    whys.show(story)


def _silence(shard: Any, wait: float) -> str:
    if shard.running:
        return f"node {shard.node} has not answered after {wait:g} seconds; try again with a longer --wait"
    return f"no node has answered after {wait:g} seconds; where a data directory can be read, give it with --dir DIR"


def logs(
    name: Job,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue until Ctrl-C.")] = False,
    node: Annotated[str, typer.Option(help="Only events of this node.", metavar="NODE")] = "",
    lines: Annotated[int, typer.Option("--lines", "-n", help="Events to begin with.", metavar="N", min=1)] = 100,
    redis: RedisUrl = "",
    as_json: Json = False,
) -> None:
    """Show the latest events of a job: starts, deaths and ends of shards, leases, orders. With --json, one per line."""
    events, records = load_nodes("events"), load_nodes("redis.job")
    from windrow.shards.transport import Unavailable

    def show(entries: list[tuple[str, dict[str, Any]]]) -> int:
        wanted = [event for event in (events.read(entry) for _, entry in entries) if node in ("", event.node)]
        for event in wanted:
            if as_json:
                print_json_line(event)
            else:
                out.print(events.describe(event))
        sys.stdout.flush()
        return len(wanted)

    async def read(registry: Any) -> None:
        await records.read(registry.client, name)  # refuses a job that does not exist
        entries, last = await registry.events(name, count=lines), "0-0"
        if not show(entries) and not follow and not as_json:
            note(cluster_show.no_events(name, node, len(entries)))
        if follow:  # also where a shell in the background has let Ctrl-C be ignored
            task = asyncio.current_task()
            assert task is not None
            signals.handle(asyncio.get_running_loop(), task.cancel)
        while follow:
            last = entries[-1][0] if entries else last
            entries = []
            await asyncio.sleep(_TICK)
            with contextlib.suppress(Unavailable):  # Redis may be started again
                entries = await registry.events(name, last)
            show(entries)

    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        within(redis, read)


def forget(
    name: Job,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Also a job that nodes run: they end it first.")] = False,
    redis: RedisUrl = "",
    as_json: Json = False,
) -> None:
    """Remove a job from Redis, with all its keys and nothing else. Directories on nodes stay as they are."""
    steering, records = load_nodes("controller.steering"), load_nodes("redis.job")
    within(redis, lambda registry: records.read(registry.client, name))
    if not yes:
        if not sys.stdin.isatty():
            raise ConfigError(f"{name} would be removed from Redis; add --yes")
        typer.confirm(f"Remove the job {name} from Redis?", abort=True)
    done = within(redis, lambda registry: steering.forget(registry, name, force, 60.0))
    if as_json:
        return print_json(done)
    out.print(f"{name}: {done.keys} keys removed; the directories of its shards stay on the nodes.")
    if done.nodes:
        note(f"warning: {', '.join(done.nodes)} ran it to the end; run the same command again if it comes back")


COMMANDS: dict[str, Callable[..., None]] = {
    "create": create,
    "jobs": jobs,
    "nodes": nodes,
    "status": status,
    "pause": pause,
    "resume": resume,
    "stop": stop,
    "drain": drain,
    "add": orders.add,
    "set": orders.change,
    "block": orders.block,
    "unblock": orders.unblock,
    "retry": orders.retry,
    "why": why,
    "logs": logs,
    "forget": forget,
    "up": hosts.up,
    "down": hosts.down,
}
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)
