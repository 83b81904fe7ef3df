"""`windrow crawl --shards` and `windrow shard`: a crawl in several processes."""

import asyncio
import functools
import importlib
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from windrow.cli.run import run
from windrow.cli.terminal import Directory, Json, Settings, command, load, note, notes, out, print_json
from windrow.config import Config, ConfigError
from windrow.crawl import display
from windrow.crawl.ending import STOPS
from windrow.units import count, share, size, span

Redis = Annotated[
    str, typer.Option("--redis", help="A Redis or Valkey server; without one a crawl starts its own.", metavar="URL")
]


def shard(
    directory: Directory,
    redis: Redis = "",
    patience: Annotated[
        float, typer.Option(help="Wait so long for a Redis server that does not answer yet.", metavar="SECONDS")
    ] = 0.0,
    lease: Annotated[
        str, typer.Option(help="The lease that a node has taken for this process.", metavar="NODE:NUMBER")
    ] = "",
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Run one shard of a crawl. `windrow crawl --shards` and `windrow node` do this for their shards."""
    module = load_cluster("shard")
    options = load(directory, settings)
    if not redis:
        raise ConfigError("say where the Redis server of the crawl is: --redis redis://HOST:6379")
    holder, fence = _lease(lease)
    access = module.ShardAccess(redis, patience, holder=holder, fence=fence)
    others = functools.partial(module.neighbours, directory, options, access)
    try:
        ending = run(directory, options, settings or (), "quiet", others)
    except load_cluster("fence").ShardTaken as error:
        notes().print(f"windrow: {error}")
        raise typer.Exit(load_cluster("process").TAKEN) from None
    if as_json:
        print_json(ending)


def _lease(text: str) -> tuple[str, int]:
    holder, _, number = text.rpartition(":")
    if text and not (holder and number.isdecimal()):
        raise ConfigError(f"--lease {text} cannot be used; write NODE:NUMBER, as windrow node does")
    return holder, int(number or 0)


def crawl(directory: Path, options: Config, shards: int, settings: list[str], redis: str) -> Any:
    """Crawl with all shards of a directory; return how that ended."""
    if (directory / "orders.jsonl").exists() or (directory / "state.json").exists():
        raise ConfigError(
            f"{directory} is of a job that nodes run; start a node with: windrow node, or see windrow cluster"
        )
    load_cluster("creation").check_limits(options)
    directories, supervisors = load_cluster("directories"), load_cluster("supervisor")
    directories.prepare(directory, options, shards)
    arguments = [word for setting in settings for word in ("--set", setting)]
    supervisor = supervisors.Supervisor(directory, redis, arguments, note)

    async def main() -> Any:
        for number in STOPS:
            asyncio.get_running_loop().add_signal_handler(number, supervisor.stop)
        return await supervisor.run()

    return asyncio.run(main())


def show_ending(directory: Path, ending: Any, words: dict[str, str]) -> None:
    """Print how a run of all shards ended."""
    tallies = [one.tally for one in ending.shards]

    def total(name: str) -> int:
        return sum(getattr(tally, name) for tally in tallies)

    sent = ", ".join(count(total(f"{thing}s"), thing) for thing in ("request", "capture", "page"))
    waiting = sum(one.counts.waiting for one in ending.shards)
    out.print(f"{words.get(ending.why, ending.why)} after {span(ending.seconds)}: {sent}, ", end="")
    out.print(f"{size(total('downloaded'))} downloaded, {count(waiting, 'URL')} waiting, {len(tallies)} shards.")
    if total("clean"):
        kept = f"{size(total('kept'))} of text kept, a yield of {share(total('kept'), total('downloaded'))}"
        out.print(f"{count(total('documents'), 'document')} with {kept}.")
    finished = sum((Counter(tally.finished) for tally in tallies), Counter[str]())
    out.print(f"Finished in this run: {display.reasons(finished)}")
    out.print(f"More: {command('status', directory)}")


def load_cluster(name: str) -> ModuleType:
    """Import what needs the library of Redis."""
    try:
        return importlib.import_module(f"windrow.cluster.{name}")
    except ImportError as error:
        fix = "install it with: pip install 'windrow-corpus[cluster]'"
        raise ConfigError(f"shards need the library redis ({error}); {fix}") from None
