"""`windrow list`: URLs by reason, host and time, and those that wait."""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from windrow import rules
from windrow.cli import completion
from windrow.cli.terminal import Directory, load, print_json_line, undivided
from windrow.config import ConfigError
from windrow.crawler.setup import seedlist
from windrow.frontier import seeds
from windrow.frontier.policy.scope import Scope
from windrow.inspect import listing
from windrow.inspect.listing import Listed, Wish
from windrow.units import moment, printable

_WHICH = "Which URLs"  # heading of the help


def listed(
    directory: Directory,
    reason: Annotated[
        list[str] | None,
        typer.Option(
            help="Only URLs that ended with this reason. Repeatable.",
            metavar="REASON",
            autocompletion=completion.reasons,
            rich_help_panel=_WHICH,
        ),
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option(help="Only of this host. Repeatable.", metavar="HOST", rich_help_panel=_WHICH)
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(help="Only of this name and all below it. Repeatable.", metavar="NAME", rich_help_panel=_WHICH),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            help="page, file (well-known files), resolve, session-redirect or all.",
            metavar="KIND",
            rich_help_panel=_WHICH,
        ),
    ] = "page",
    since: Annotated[
        str, typer.Option(help="At this time or later: 2026-11-15T10:44.", metavar="TIME", rich_help_panel=_WHICH)
    ] = "",
    until: Annotated[str, typer.Option(help="At this time or earlier.", metavar="TIME", rich_help_panel=_WHICH)] = "",
    attempts: Annotated[
        bool, typer.Option("--attempts", help="Also list attempts that were repeated.", rich_help_panel=_WHICH)
    ] = False,
    waiting: Annotated[
        bool, typer.Option("--waiting", help="List the URLs that wait instead.", rich_help_panel=_WHICH)
    ] = False,
    refused_seeds: Annotated[
        bool,
        typer.Option("--refused-seeds", help="List the seeds that [scope] refuses instead.", rich_help_panel=_WHICH),
    ] = False,
    limit: Annotated[int, typer.Option(help="List at most so many; 0: all.", metavar="N", show_default=False)] = 0,
    only_urls: Annotated[bool, typer.Option("--urls", help="Print only the URLs, one per line.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List URLs with their reason, from the log: when, how they ended, status and detail."""
    wish = Wish(
        reasons=tuple(reason or ()),
        hosts=tuple(name.lower() for name in host or ()),
        domains=tuple(name.lower() for name in domain or ()),
        kind=kind,
        since=listing.moment(since, "--since"),
        until=listing.moment(until, "--until"),
        attempts=attempts,
    )
    listing.check(wish)
    if limit < 0:
        raise ConfigError(f"--limit must be at least 0, not {limit}")
    rows = _rows(directory, wish, waiting, refused_seeds)
    for row in itertools.islice(rows, limit) if limit else rows:
        if as_json:
            print_json_line(row)
        elif only_urls:
            typer.echo(row.url)
        else:
            typer.echo(_line(row))


def _rows(directory: Path, wish: Wish, waiting: bool, refused_seeds: bool) -> Iterable[Listed]:
    if (waiting or refused_seeds) and (wish.reasons or wish.attempts or (waiting and refused_seeds)):
        raise ConfigError("--waiting, --refused-seeds and --reason list different things; choose one of them")
    if refused_seeds:
        return _refused(directory)
    rows = listing.waiting if waiting else listing.outcomes
    return itertools.chain.from_iterable(rows(crawl, wish) for crawl in undivided([directory]))


def _refused(directory: Path) -> Iterable[Listed]:
    options = load(directory)
    tasks = seeds.tasks(seeds.read(directory / options.crawl.seeds))
    for task, rule in seedlist.refused(tasks, Scope(options.scope)):
        detail = str(rules.refusal(rule, options))
        yield Listed(0.0, task.url.text, state="refused", reason=rule, detail=detail)


def _line(row: Listed) -> str:
    what = row.reason or row.state
    if row.state == "again":
        what = f"{what} (again)"
    time = moment(row.time) if row.time else "-"
    via = f"  found on {row.via}" if row.state == "waiting" and row.via else ""
    detail = f"  {row.detail}" if row.detail else via
    return printable(f"{time:<19}  {what:<20} {row.status or '-':>3}  {row.url}{detail}")
