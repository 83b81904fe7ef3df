"""`windrow pause`, `resume`, `stop`, `block`, `unblock`, `add`, `set` and `retry`: orders to a crawl."""

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli import limits
from windrow.cli.terminal import Directory, Json, load, notes, out, print_json
from windrow.config import ConfigError
from windrow.crawl import give
from windrow.crawl.give import PATIENCE, Given

Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help=f"Wait up to {PATIENCE:g} s until a running crawl took it.")
]
Names = Annotated[list[str], typer.Argument(help="Hosts or domains, with all hosts below them.", metavar="NAME")]
_SHOWN = 20  # refused seeds that are named


def pause(directory: Directory, wait: Wait = True, as_json: Json = False) -> None:
    """Let a crawl send no further request until it is resumed. A pause holds over restarts."""
    _show(directory, give.pause(directory, _patience(wait)), "paused", as_json)


def resume(directory: Directory, wait: Wait = True, as_json: Json = False) -> None:
    """Let a paused crawl continue."""
    _show(directory, give.resume(directory, _patience(wait)), "resumed", as_json)


def stop(directory: Directory, wait: Wait = True, as_json: Json = False) -> None:
    """Stop a running crawl cleanly, like Ctrl-C: requests in progress get 20 s to finish."""
    _show(directory, give.stop(directory, _patience(wait)), "stopping; requests in progress get 20 s", as_json)


def block(directory: Directory, names: Names, wait: Wait = True, as_json: Json = False) -> None:
    """Request nothing more from hosts or domains. Their waiting URLs end as `blocked`; links to them are refused."""
    _show(directory, give.block(directory, names, _patience(wait)), f"blocked: {', '.join(names)}", as_json)


def unblock(directory: Directory, names: Names, wait: Wait = True, as_json: Json = False) -> None:
    """Let blocked hosts or domains in again. Their URLs that ended as `blocked` wait again."""
    _show(directory, give.unblock(directory, names, _patience(wait)), f"unblocked: {', '.join(names)}", as_json)


def add(
    directory: Directory,
    sources: Annotated[list[str], typer.Argument(help="URLs, or files of URLs; - for stdin.", metavar="URL-OR-FILE")],
    wait: Wait = True,
    as_json: Json = False,
) -> None:
    """Add seeds to a crawl. Those that the crawl refuses are named with the rule."""
    found = give.read_seeds(sources, load(directory))
    for text, rule in list(found.refused.items())[:_SHOWN]:
        notes().print(f"not added: the rule '{rule}' of [scope] refuses {text}")
    if len(found.refused) > _SHOWN:
        notes().print(f"not added: {len(found.refused) - _SHOWN:,} more, which [scope] refuses")
    if not found.tasks:
        raise ConfigError("[scope] refuses every URL; widen it in crawl.toml, or add others")
    _show(directory, give.add(directory, found.tasks, _patience(wait)), f"seeds: {len(found.tasks):,}", as_json)


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
    _show(directory, give.change(directory, values, _patience(wait)), ", ".join(values), as_json)


def retry(
    directory: Directory,
    reason: Annotated[list[str], typer.Option(help="A reason, or several with commas: host-dead,timeout. Repeatable.")],
    host: Annotated[list[str] | None, typer.Option(help="Only this host or domain and all below. Repeatable.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many URLs would wait again.")] = False,
    wait: Wait = True,
    as_json: Json = False,
) -> None:
    """Let URLs that ended with these reasons wait again, as if never tried, and open hosts closed for them."""
    if not dry_run:
        given = give.retry(directory, reason, host or [], _patience(wait))
        return _show(directory, given, f"retry of {', '.join(given.order.values)}", as_json)
    counts = give.count(directory, reason, host or [])
    if as_json:
        return print_json(counts)
    out.print(f"{sum(counts.values()):,} URLs would wait again: {_listed(counts)}")


def _patience(wait: bool) -> float:
    return PATIENCE if wait else 0.0


def _show(directory: Path, given: Given, done: str, as_json: bool) -> None:
    if as_json:
        return print_json(given)
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
