"""`windrow crawl --shards` and `windrow shard`: a crawl in several processes."""

import asyncio
import contextlib
import functools
import gc
import importlib
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NamedTuple

import typer

from windrow import signals
from windrow.cli.corpus.storing import StoreTarget, note_rest
from windrow.cli.run import run
from windrow.cli.terminal import Directory, Json, Metrics, Settings, command, load, note, out, print_json
from windrow.cli.text import lines
from windrow.config import Config, ConfigError
from windrow.crawler.display import live
from windrow.crawler.display.notes import LogLine
from windrow.crawler.setup import start
from windrow.inspect import status
from windrow.metrics import endpoint
from windrow.units import count, share, size, span

REDIS = "WINDROW_REDIS"  # a variable of the environment: only the user of a process sees what is in there
Redis = Annotated[
    str,
    typer.Option(
        "--redis",
        help="A Redis or Valkey server; without one a crawl starts its own.",
        metavar="URL",
        envvar=REDIS,
    ),
]
# What a shard imports and this command does not.
_LATE = ("windrow.nodes.process.shard", "windrow.frontier.local.frontier", "windrow.frontier.store.lmdb")
ENDINGS = {
    "done": "nothing is left to crawl",
    "stopped": "stopped",
    "pages": "the page limit is reached",
    "seconds": "the time limit is reached",
    "tokens": "the corpus has as many tokens as crawl.max_tokens wants",
    "documents": "the corpus has as many documents as crawl.max_documents wants",
    "offline": "no host has ever answered: check the network and the seeds, then run the same command again; stopped",
}


class Service(NamedTuple):
    """Where a crawl with shards talks to other programs."""

    redis: str  # "": to a server that it starts itself
    metrics: str  # "": nowhere
    store: StoreTarget = StoreTarget()


def shard(
    directory: Directory,
    redis: Redis = "",
    patience: Annotated[
        float, typer.Option(help="Wait so long for a Redis server that does not answer yet.", metavar="SECONDS")
    ] = 0.0,
    run_name: Annotated[
        str,
        typer.Option("--run", help="Name of this run, the same for all shards: pages count in a run.", metavar="NAME"),
    ] = "",
    lease: Annotated[
        str, typer.Option(help="The lease that a node has taken for this process.", metavar="NODE:NUMBER")
    ] = "",
    settings: Settings = None,
    metrics: Metrics = "",
    log_json: lines.LogJson = False,
    as_json: Json = False,
) -> None:
    """Run one shard of a crawl. `windrow crawl --shards` and `windrow node` do this for their shards."""
    if log_json:
        lines.use_json(directory)
    module = load_nodes("process.shard")
    from windrow.shards import fence, transport

    options = load(directory, settings)
    if not redis:
        raise ConfigError(f"say where the Redis server of the crawl is: --redis redis://HOST:6379, or {REDIS}")
    os.environ.pop(REDIS, None)  # not for the workers, which parse the pages of strangers
    holder, number = _lease(lease)
    access = module.ShardAccess(redis, patience, run=run_name, holder=holder, fence=number)
    others = functools.partial(module.neighbours, directory, options, access)
    try:
        ending = run(directory, options, settings or (), "quiet", others, metrics=metrics)
    except fence.ShardTaken as error:
        note(f"windrow: {error}")
        raise typer.Exit(load_nodes("process.child").TAKEN) from None
    except transport.Unavailable as error:  # at its start; another start may succeed
        note(f"windrow: {error}")
        raise typer.Exit(load_nodes("process.child").AWAY) from None
    if as_json:
        print_json(ending)


def _lease(text: str) -> tuple[str, int]:
    holder, _, number = text.rpartition(":")
    if text and not (holder and number.isdecimal()):
        raise ConfigError(f"--lease {text} cannot be used; write NODE:NUMBER, as windrow node does")
    return holder, int(number or 0)


def crawl_all(directory: Path, number: int, given: list[str], service: Service, as_json: bool) -> None:
    """Crawl with all shards of a directory and print how that ended."""
    ending, stored = crawl(directory, load(directory, given), number, given, service)
    if as_json:
        print_json(ending)
    elif lines.are_json():
        figures = {"why": ending.why, "seconds": round(ending.seconds, 3), "shards": len(ending.shards)}
        lines.write(LogLine("info", "end", f"all shards have ended ({ending.why})", figures))
    else:
        show_ending(directory, ending, ENDINGS)
    if ending.why == "offline":
        raise typer.Exit(1)
    if not stored:
        note_rest(directory, service.store)
        raise typer.Exit(2)


def crawl(directory: Path, options: Config, shards: int, settings: list[str], service: Service) -> tuple[Any, bool]:
    """Crawl with all shards of a directory; return how that ended, and whether everything is stored."""
    if (directory / "state.json").exists():
        raise ConfigError(f"{directory} is of a job that nodes run; start one with: windrow node")
    directories, supervisors = load_nodes("directories"), load_nodes("process.supervisor")
    if any(status.is_running(path) for path in directories.shards(directory)):
        raise ConfigError(f"{directory} is being crawled already; stop it first with: {command('stop', directory)}")
    if service.redis:  # before the number of shards is fixed
        asyncio.run(load_nodes("redis.client").check(service.redis))
    else:
        supervisors.redis_program()
    start.check(directory, options)  # the same, and one message in place of one per shard
    directories.prepare(directory, options, shards)
    arguments = [word for setting in settings for word in ("--set", setting)]
    arguments += ["--log-json"] if lines.are_json() else []

    async def run(more: Sequence[str]) -> tuple[Any, bool]:
        supervisor = supervisors.Supervisor(directory, service.redis, [*arguments, *more], note, copies)
        signals.handle(asyncio.get_running_loop(), supervisor.stop)
        signals.release()  # before the first child, which would have them blocked
        async with stored(service.store, note) as storing:
            if storing is not None:
                storing.hold(directories.shards(directory))
            ending = await supervisor.run()
        return ending, storing is None or not storing.failed

    async def main() -> tuple[Any, bool]:
        async with joint_metrics(service.metrics) as served:
            return await run(served.arguments)

    with _copies(len(directories.shards(directory))) as copies:
        return asyncio.run(main())


@contextlib.contextmanager
def _copies(number: int) -> Iterator[list[Any]]:
    """Make copies of this process for the first process of each shard; none where that cannot be done."""
    forked = load_nodes("process.forked")
    for module in _LATE:
        importlib.import_module(module)  # once for all of them
    gc.freeze()  # a collection would copy the memory that they share
    with contextlib.ExitStack() as stack:
        copies: list[Any] = []
        for _ in range(number if forked.possible() else 0):
            copies.append(forked.fork(_run_command))
            stack.callback(copies[-1].abandon)
        yield copies


def _run_command(words: Sequence[str]) -> None:
    """Run a command in a copy of this process, as a new process would."""
    from windrow.cli.main import main

    sys.argv[1:] = words
    main()


@contextlib.asynccontextmanager
async def joint_metrics(address: str) -> AsyncIterator[endpoint.Joint]:
    """Serve the metrics of the processes that a block starts, and say where; without an address, nothing."""
    if not address:
        yield endpoint.Joint()
        return
    async with endpoint.joint(address) as served:
        note(f"metrics are served at {served.url}")
        yield served


def stored(where: StoreTarget, tell: Callable[[str], None]) -> AbstractAsyncContextManager[Any]:
    """Store the documents of shards during a block, if there is an address; None otherwise."""
    if not where.url:
        return contextlib.nullcontext()
    process: AbstractAsyncContextManager[Any] = load_nodes("process.storing").storing(where.url, where.captures, tell)
    return process


def show_ending(directory: Path, ending: Any, words: dict[str, str]) -> None:
    """Print how a run of all shards ended."""
    tallies = [shard.tally for shard in ending.shards]

    def total(name: str) -> int:
        return sum(getattr(tally, name) for tally in tallies)

    sent = ", ".join(count(total(f"{thing}s"), thing) for thing in ("request", "capture", "page"))
    waiting = sum(shard.counts.waiting for shard in ending.shards)
    out.print(f"{words.get(ending.why, ending.why)} after {span(ending.seconds)}: {sent}, ", end="")
    out.print(f"{size(total('downloaded'))} downloaded, {count(waiting, 'URL')} waiting, {len(tallies)} shards.")
    if total("clean"):
        kept = f"{size(total('kept'))} of text kept, a yield of {share(total('kept'), total('downloaded'))}"
        out.print(f"{count(total('documents'), 'document')} with {kept}.")
    finished = sum((Counter(tally.finished) for tally in tallies), Counter[str]())
    out.print(f"Finished in this run: {live.reasons(finished)}")
    out.print(f"More: {command('status', directory)}")


def load_nodes(name: str) -> ModuleType:
    """Import a module of `windrow.nodes`, which needs the library of Redis."""
    try:
        return importlib.import_module(f"windrow.nodes.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("windrow"):
            raise
        fix = "install it with: pip install 'windrow-corpus[cluster]'"
        raise ConfigError(f"shards need the library redis ({error}); {fix}") from None
