"""`windrow demo`, `init`, `crawl`, `status` and `why`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from windrow import config, seeds
from windrow import report as reports
from windrow.cli.run import run
from windrow.cli.terminal import Directory, Json, Settings, load, out, print_json
from windrow.config import ConfigError
from windrow.crawl import display, loop
from windrow.crawl import status as states
from windrow.demo import directory as demos
from windrow.demo import web
from windrow.judge.language import codes
from windrow.units import moment, size

_ENDINGS = {
    "done": "nothing is left to crawl",
    "stopped": "stopped",
    "pages": "the page limit is reached",
    "seconds": "the time limit is reached",
    "offline": "no host has ever answered: check the network and the seeds, then run the same command again; stopped",
}


def demo(
    directory: Annotated[Path, typer.Option("--dir", help="Directory for the crawl.")] = Path("windrow-demo"),
    as_json: Json = False,
) -> None:
    """Crawl a small web that Windrow serves on loopback. It needs no network and ends with a report."""
    demos.clear(directory)
    with web.serve() as site:
        demos.write(directory, site)
        out.print(f"a web of {len(site.hosts)} hosts is served on 127.0.0.1:{site.port}; crawling it into {directory}/")
        ending = run(directory, load(directory))
    if as_json:
        return print_json(ending)
    _show_ending(directory, ending)
    made = reports.write(reports.read([directory], "host"), reports.place([directory]))
    for name, content in demos.CONTENTS.items():
        out.print(f"  {directory / name}/  {content}")
    out.print(f"  {made.page}  the report: open it in a browser")


def init(
    directory: Directory,
    seed_file: Annotated[str, typer.Option("--seeds", help="File of seed URLs, one per line; - for standard input.")],
    contact: Annotated[str, typer.Option(help="URL or e-mail address for the webmasters whose sites you visit.")] = "",
    language: Annotated[
        list[str] | None,
        typer.Option(help="Keep only text in this language: ces, cs or Czech. Repeatable; the first one is primary."),
    ] = None,
    tld: Annotated[list[str] | None, typer.Option(help="Stay within this top-level domain. Repeatable.")] = None,
    settings: Settings = None,
) -> None:
    """Make a crawl directory with crawl.toml and seeds.txt."""
    if (directory / "crawl.toml").exists():
        raise ConfigError(f"{directory} already has a crawl.toml; edit it, or choose another directory")
    found = seeds.read(seed_file)
    options = config.make([*_overrides(contact, language or [], tld or []), *(settings or [])], directory)
    loop.check_language(options)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "seeds.txt").write_text("".join(url.text + "\n" for url in found))
    (directory / "crawl.toml").write_text(config.dump(options, changed=True))
    out.print(f"{directory / 'crawl.toml'} and {directory / 'seeds.txt'} ({len(found)} seeds) written.")
    if not contact:
        out.print("No contact is set, so only loopback addresses will be crawled: set contact under [identity].")
    out.print(f"Now: windrow crawl {directory}")


def _overrides(contact: str, wanted: list[str], tlds: list[str]) -> list[str]:
    chosen = [f"identity.contact={contact}"] if contact else []
    chosen += [f"language.accepted={[codes.parse(name) for name in wanted]!r}"] if wanted else []
    return chosen + ([f"scope.tlds={tlds!r}"] if tlds else [])


def crawl(
    directory: Directory,
    max_pages: Annotated[int, typer.Option(help="Stop after this many pages.")] = 0,
    max_seconds: Annotated[float, typer.Option(help="Stop after this many seconds.")] = 0.0,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Run a crawl, or continue one that was stopped or killed. Ctrl-C stops it cleanly."""
    limits = [f"crawl.max_pages={max_pages}"] if max_pages else []
    limits += [f"crawl.max_seconds={max_seconds}"] if max_seconds else []
    ending = run(directory, load(directory, [*(settings or []), *limits]))
    if as_json:
        print_json(ending)
    else:
        _show_ending(directory, ending)
    if ending.why == "offline":
        raise typer.Exit(1)


def _show_ending(directory: Path, ending: loop.Ending) -> None:
    tally, counts = ending.tally, ending.counts
    out.print(
        f"{_ENDINGS.get(ending.why, ending.why)} after {ending.seconds:,.1f} s: {tally.archived:,} captures archived, "
        f"{size(tally.downloaded)} downloaded, {counts.waiting:,} URLs waiting."
    )
    if tally.kept:
        out.print(
            f"{size(tally.kept)} of text kept, {tally.kept / max(1, tally.downloaded):.1%} of the downloaded bytes."
        )
    out.print(f"results of this run: {display.reasons(tally.finished)}")
    out.print(f"see: windrow status {directory}")


def status(directory: Directory, as_json: Json = False) -> None:
    """Show the state of a crawl. Every admitted URL is waiting, in flight, or finished with exactly one reason."""
    found = states.status(directory)
    if as_json:
        return print_json(found)
    table = Table.grid(padding=(0, 2))
    table.add_row("admitted", f"{found.seen:,}", "URLs, on", f"{found.hosts:,} hosts")
    table.add_row("waiting", f"{found.waiting:,}")
    table.add_row("in flight", f"{found.in_flight:,}", "" if found.running else "(not running)")
    table.add_row("finished", f"{sum(found.finished.values()):,}")
    for title, counts in (("", found.finished), ("retried", found.retried), ("links refused", found.refused)):
        for name, count in counts.items():
            table.add_row(title, f"{count:,}", name)
            title = ""
    table.add_row("requests", f"{found.requests:,}", size(found.downloaded), f"{found.archived:,} captures archived")
    if found.clean:
        share = f"{found.kept / max(1, found.downloaded):.2%} of the downloaded bytes, {size(found.clean)} extracted"
        table.add_row("text", "", size(found.kept), share)
    for name, length in found.bytes.items():
        table.add_row("", size(length), f"{name}/")
    table.add_row("last commit", moment(found.last), f"frame {found.frames}")
    out.print(table)
    if found.offline:
        out.print(f"no host has answered since {moment(found.offline)}: waiting for the network")


def why(directory: Directory, url: Annotated[str, typer.Argument(metavar="URL")], as_json: Json = False) -> None:
    """Show what happened to a URL, when, and which rule decided."""
    story = states.why(directory, url, load(directory))
    if as_json:
        return print_json(story)
    out.print(story.url)
    for event in story.events:
        out.print(f"  {moment(event.time)}  {event.what}")
    out.print(f"{story.state}{f': {story.reason}' if story.reason else ''}")
