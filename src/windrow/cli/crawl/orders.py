"""`windrow pause`, `resume`, `stop`, `block`, `unblock`, `add`, `set` and `retry`: orders to a crawl.

A crawl with shards gets the order once for each of them.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from windrow import sharding
from windrow.cli.crawl import limits
from windrow.cli.terminal import Directory, Json, load, notes, out, print_json
from windrow.config import ConfigError
from windrow.crawler.orders import give
from windrow.crawler.orders.give import PATIENCE, Given

Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help=f"Wait up to {PATIENCE:g} s until a running crawl took it.")
]
Names = Annotated[list[str], typer.Argument(help="Hosts or domains, with all hosts below them.", metavar="NAME")]
Reasons = Annotated[
    list[str], typer.Option("--reason", help="A reason, or several with commas: host-dead,timeout. Repeatable.")
]
Hosts = Annotated[list[str] | None, typer.Option("--host", help="Only this host or domain and all below. Repeatable.")]
_SHOWN = 20  # refused seeds that are named


def pause(directory: Directory, wait: Wait = True, as_json: Json = False) -> None:
    """Let a crawl send no further request until it is resumed. A pause holds over restarts."""
    _order(directory, lambda shard: give.pause(shard, _patience(wait)), "paused", as_json)


def resume(directory: Directory, wait: Wait = True, as_json: Json = False) -> None:
    """Let a paused crawl continue."""
    _order(directory, lambda shard: give.resume(shard, _patience(wait)), "resumed", as_json)


def stop(directory: Directory, wait: Wait = True, as_json: Json = False) -> None:
    """Stop a running crawl cleanly, like Ctrl-C: requests in progress get 20 s to finish."""
    done = "stopping; requests in progress get 20 s"
    _order(directory, lambda shard: give.stop(shard, _patience(wait)), done, as_json)


def block(directory: Directory, names: Names, wait: Wait = True, as_json: Json = False) -> None:
    """Request nothing more from hosts or domains. Their waiting URLs end as `blocked`; links to them are refused."""
    done = f"blocked: {', '.join(names)}"
    _order(directory, lambda shard: give.block(shard, names, _patience(wait)), done, as_json)


def unblock(directory: Directory, names: Names, wait: Wait = True, as_json: Json = False) -> None:
    """Let blocked hosts or domains in again. Their URLs that ended as `blocked` wait again."""
    done = f"unblocked: {', '.join(names)}"
    _order(directory, lambda shard: give.unblock(shard, names, _patience(wait)), done, as_json)


def add(
    directory: Directory,
    sources: Annotated[list[str], typer.Argument(help="URLs, or files of URLs; - for stdin.", metavar="URL-OR-FILE")],
    wait: Wait = True,
    as_json: Json = False,
) -> None:
    """Add seeds to a crawl. Those that the crawl refuses are named with the rule."""
    urls = give.read_seeds(sources, load(directory))
    name_refused(urls.refused)
    if not urls.tasks:
        raise ConfigError("[scope] refuses every URL; widen it in crawl.toml, or add others")
    identity = sharding.identity(directory) if sharding.is_divided(directory) else None
    parts = sharding.split(urls.tasks, identity.job.shards) if identity is not None else {-1: urls.tasks}

    def act(shard: Path) -> Given | None:
        tasks = parts.get(int(shard.name) if identity is not None else -1)
        return give.add(shard, tasks, _patience(wait)) if tasks else None

    _order(directory, act, lambda given: f"seeds: {len(given.order.values):,}", as_json)


def name_refused(refused: dict[str, str]) -> None:
    """Name seeds that were not added, each with the rule that refuses it."""
    for text, rule in list(refused.items())[:_SHOWN]:
        notes().print(f"not added: the rule '{rule}' of [scope] refuses {text}")
    if len(refused) > _SHOWN:
        notes().print(f"not added: {len(refused) - _SHOWN:,} more, which [scope] refuses")


def change(
    directory: Directory,
    settings: Annotated[
        list[str],
        typer.Argument(help="fetch.delay=10; fetch.delay= for the value of crawl.toml.", metavar="NAME=VALUE"),
    ],
    wait: Wait = True,
    as_json: Json = False,
) -> None:
    """Change options while the crawl runs. They hold over restarts, until they are set again or given back."""
    values = limits.plain(settings)
    _order(directory, lambda shard: give.change(shard, values, _patience(wait)), ", ".join(values), as_json)


def retry(
    directory: Directory,
    reason: Reasons,
    host: Hosts = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many URLs would wait again.")] = False,
    wait: Wait = True,
    as_json: Json = False,
) -> None:
    """Let URLs that ended with these reasons wait again, as if never tried, and open hosts closed for them."""
    if not dry_run:

        def act(shard: Path) -> Given:
            return give.retry(shard, reason, host or [], _patience(wait))

        return _order(directory, act, lambda given: f"retry of {', '.join(given.order.values)}", as_json)
    counts: Counter[str] = Counter()
    for path in sharding.places(directory):
        counts.update(give.count(path, reason, host or []))
    if as_json:
        return print_json(counts)
    out.print(f"{sum(counts.values()):,} URLs would wait again: {_listed(counts)}")


def _patience(wait: bool) -> float:
    return PATIENCE if wait else 0.0


def _order(
    directory: Path, act: Callable[[Path], Given | None], done: str | Callable[[Given], str], as_json: bool
) -> None:
    """Give an order to a crawl, or to each of its shards that it is for, and show what became of it."""
    divided = sharding.is_divided(directory)
    if divided and (directory / "state.json").exists():
        raise ConfigError(f"{directory} is of a job that nodes run; give orders to it with: windrow cluster")
    results = {shard: given for shard in sharding.places(directory) if (given := act(shard)) is not None}
    if as_json:
        return print_json({shard.name: given for shard, given in results.items()} if divided else results[directory])
    for path, given in results.items():
        _show(path, given, done if isinstance(done, str) else done(given))


def _show(directory: Path, given: Given, done: str) -> None:
    match given.state:
        case "taken":
            out.print(f"{directory}: {done}{_effect(given)}.")
        case "begun":
            out.print(f"{directory}: {done}{_effect(given)} so far; the crawl continues with it.")
        case "waiting":
            out.print(f"{directory}: {done}; the crawl takes this order at its next commit.")
        case "next-start":
            out.print(f"{directory}: {done}; the crawl is not running and takes this order at its next start.")
        case _:
            out.print(f"{directory} is not running: there is nothing to stop.")


def _effect(given: Given) -> str:
    """Return what an order did, in numbers."""
    if given.order.verb == "add":
        rest = len(given.order.values) - given.admitted - sum(given.refused.values())
        parts = [f"; {given.admitted:,} added"]
        parts += [f"{rest:,} known before"] if rest and given.state == "taken" else []
        parts += [f"refused: {_listed(given.refused)}"] if given.refused else []
        return ", ".join(parts)
    if given.order.verb in ("retry", "unblock"):
        return f"; {sum(given.reopened.values()):,} URLs wait again{_in_brackets(given.reopened)}"
    return ""


def _in_brackets(counts: dict[str, int]) -> str:
    return f" ({_listed(counts)})" if counts else ""


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
