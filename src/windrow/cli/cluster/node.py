"""`windrow node`: run shards of the jobs of a Redis server on this machine."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from windrow import signals
from windrow.cli.corpus import storing
from windrow.cli.corpus.storing import NodeStoreTo, StoreCaptures, StoreTarget
from windrow.cli.crawl.shards import REDIS, joint_metrics, load_nodes, stored
from windrow.cli.registry import RedisUrl
from windrow.cli.terminal import Json, Metrics, note, print_json_line
from windrow.cli.text import lines
from windrow.config import ConfigError
from windrow.crawler.display.notes import LogLine
from windrow.units import printable


def node(
    redis: RedisUrl = "",
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Where the shards are kept: DIR/JOB/shards.", metavar="DIR")
    ] = None,
    slots: Annotated[
        int | None,
        typer.Option(
            help="Run at most so many shards at once; by default four per core, and more if all nodes have too few.",
            metavar="N",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="The name of this node; by default host and process id.")] = "",
    lost_after: Annotated[
        float,
        typer.Option(
            help="Begin a shard again, empty, when its data directory has had no node for so long.", metavar="SECONDS"
        ),
    ] = 600.0,
    until_done: Annotated[bool, typer.Option("--until-done", help="End when all jobs are done or stopped.")] = False,
    store_to: NodeStoreTo = "",
    store_captures: StoreCaptures = False,
    metrics: Metrics = "",
    log_json: lines.LogJson = False,
    as_json: Json = False,
) -> None:
    """Run shards of the jobs of a Redis server. Ctrl-C gives them back and ends."""
    if log_json:
        lines.use_json()
    if not redis:
        raise ConfigError(f"say where the Redis server of the cluster is: --redis redis://HOST:6379, or {REDIS}")
    if directory is None:
        raise ConfigError("say where the shards are kept: --dir DIR")
    if slots is not None and slots < 1:
        raise ConfigError(f"--slots {slots} cannot be used; give 1 or more, or leave it out: four per core")
    if lost_after < 0:
        raise ConfigError(f"--lost-after {lost_after:g} cannot be used; give 0 seconds or more")
    nodes = load_nodes("node")
    options = nodes.NodeOptions(
        url=redis,
        directory=directory,
        name=name or nodes.default_name(),
        capacity=nodes.Capacity(slots, slots) if slots else nodes.own_capacity(),
        lost_after=lost_after,
        until_done=until_done,
    )
    show = _print if as_json else _write if log_json else _show
    where = storing.target(store_to, store_captures)

    async def main() -> tuple[Any, bool]:
        async with joint_metrics(metrics) as served:
            given = msgspec.structs.replace(options, metrics=served.url, arguments=tuple(served.arguments))
            return await _run(given, show, where)

    ending, is_stored = asyncio.run(main())
    if as_json:
        _print(ending)
    if not is_stored:
        note("windrow: some documents are not stored; the next start of this node continues")
        raise typer.Exit(2)


async def _run(options: Any, show: Callable[[Any], None], where: StoreTarget) -> tuple[Any, bool]:
    """Run a node; return how it ended, and whether everything is stored."""

    def tell(text: str) -> None:
        show(load_nodes("events").make(options.name, "note", text))

    await load_nodes("redis.client").check(options.url)  # before the directory is made
    made = load_nodes("node").ClusterNode(options, show)
    signals.handle(asyncio.get_running_loop(), made.stop)
    signals.release()  # before the first child, which would have them blocked
    async with stored(where, tell) as child:
        if child is not None:
            child.know(sorted(options.directory.glob("*/shards/[0-9]*")))
        ending = await (made.run(child.hold) if child is not None else made.run())
    return ending, child is None or not child.failed


def _print(record: Any) -> None:
    print_json_line(record)
    sys.stdout.flush()  # a program reads it while the node runs


def _show(event: Any) -> None:
    note(f"{load_nodes('events').describe(event)}{f' ({event.job})' if event.job else ''}")


def _write(event: Any) -> None:
    """Print an event for programs."""
    whose = {"node": event.node, "crawl": event.job, "shard": f"{event.shard:03}" if event.shard >= 0 else ""}
    level = "warning" if event.kind in ("died", "lease-lost", "shard-lost") else "info"
    fields = {name: value for name, value in whose.items() if value}
    lines.write(LogLine(level, event.kind, printable(event.text), fields))
