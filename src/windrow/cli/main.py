"""The commands. No logic: each reads its arguments, calls one function, and shows what came back."""

import asyncio
import contextlib
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import windrow
from windrow import config, demo, seeds
from windrow import report as reporting
from windrow.batch import rebuild as rebuilding
from windrow.cli import extract, language
from windrow.config import ConfigError
from windrow.crawl import display, loop, recover
from windrow.crawl import status as state
from windrow.demo import web
from windrow.judge.language import codes

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Windrow builds text corpora from the web. Start with `windrow demo`.",
)
app.add_typer(extract.app, name="extract")
app.add_typer(language.app, name="language")
out = Console(highlight=False, soft_wrap=True, markup=False)

Directory = Annotated[Path, typer.Argument(help="The crawl's directory.", metavar="DIR")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override an option: --set fetch.delay=10", metavar="SECTION.OPTION=VALUE"),
]


@app.command("init")
def init(
    directory: Directory,
    seed_file: Annotated[str, typer.Option("--seeds", help="File of seed URLs, one a line; - for standard input.")],
    contact: Annotated[str, typer.Option(help="URL or e-mail address for the webmasters you visit.")] = "",
    language: Annotated[
        list[str] | None,
        typer.Option(help="Keep text in this language only: ces, cs or Czech; may be repeated, the first counts most."),
    ] = None,
    tld: Annotated[list[str] | None, typer.Option(help="Stay within this top-level domain; may be repeated.")] = None,
    settings: Settings = None,
) -> None:
    """Make a crawl directory: crawl.toml and seeds.txt."""
    if (directory / "crawl.toml").exists():
        raise ConfigError(f"{directory} has a crawl.toml already; edit that, or choose another directory")
    found = seeds.read(seed_file)
    options = config.make([*_settings(contact, language or [], tld or []), *(settings or [])], directory)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "seeds.txt").write_text("".join(url.text + "\n" for url in found))
    (directory / "crawl.toml").write_text(config.dump(options, changed=True))
    out.print(f"{directory / 'crawl.toml'} and {directory / 'seeds.txt'} ({len(found)} seeds) written.")
    if not contact:
        out.print("No contact is set, so only loopback addresses will be crawled: set contact under [identity].")
    out.print(f"Now: windrow crawl {directory}")


def _settings(contact: str, wanted: list[str], tlds: list[str]) -> list[str]:
    chosen = [f"identity.contact={contact}"] if contact else []
    chosen += [f"language.accepted={[codes.parse(name) for name in wanted]!r}"] if wanted else []
    return chosen + ([f"scope.tlds={tlds!r}"] if tlds else [])


@app.command("crawl")
def crawl(
    directory: Directory,
    max_pages: Annotated[int, typer.Option(help="Stop after this many pages.")] = 0,
    max_seconds: Annotated[float, typer.Option(help="Stop after this many seconds.")] = 0.0,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Run a crawl, or go on with one that was stopped or killed. Ctrl-C stops it cleanly."""
    limits = [f"crawl.max_pages={max_pages}"] if max_pages else []
    limits += [f"crawl.max_seconds={max_seconds}"] if max_seconds else []
    options = _load(directory, [*(settings or []), *limits])
    ending = run(directory, options)
    if as_json:
        _print_json(ending)
    else:
        _show_ending(directory, ending)


def run(directory: Path, options: config.Config) -> loop.Ending:
    """The crawl with signals and, on a terminal, the display."""
    notes = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)

    async def main() -> loop.Ending:
        shown: list[asyncio.Task[None]] = []
        stops: list[Callable[[], None]] = []
        early: list[int] = []  # signals that came while the crawl was being set up

        def stop(number: int) -> None:
            if stops:
                stops[0]()
            else:
                early.append(number)

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop, number)

        def watch(running: loop.Crawl, resumed: recover.Resumed) -> None:
            for line in resumed.torn:
                notes.print(f"recovered: {line}")
            if resumed.frames:
                notes.print(f"going on after frame {resumed.frames} of the log ({resumed.replayed} replayed)")
            stops.append(running.stop)
            for _ in early:
                running.stop()
            if notes.is_terminal:
                shown.append(asyncio.create_task(display.show(running, notes)))

        try:
            return await loop.run(directory, options, watch)
        finally:
            for task in shown:
                task.cancel()

    return loop.execute(main())


def _show_ending(directory: Path, ending: loop.Ending) -> None:
    why = {
        "done": "nothing is left to crawl",
        "stopped": "stopped",
        "pages": "the page limit is reached",
        "seconds": "the time limit is reached",
    }
    tally, counts = ending.tally, ending.counts
    out.print(
        f"{why.get(ending.why, ending.why)} after {ending.seconds:,.1f} s: {tally.archived:,} captures archived, ",
        end="",
    )
    out.print(f"{display.size(tally.downloaded)} downloaded, {counts.waiting:,} URLs waiting.")
    if tally.kept:
        out.print(
            f"{display.size(tally.kept)} of text kept, {tally.kept / max(1, tally.downloaded):.1%} of what was downloaded."
        )
    out.print(f"this run ended {display.reasons(tally.finished)}")
    out.print(f"see: windrow status {directory}")


@app.command("status")
def status(directory: Directory, as_json: Json = False) -> None:
    """Show where a crawl stands. Every URL ever admitted is waiting, in hand, or finished with one reason."""
    found = state.status(directory)
    if as_json:
        _print_json(found)
        return
    table = Table.grid(padding=(0, 2))
    table.add_row("seen", f"{found.seen:,}", "URLs admitted, on", f"{found.hosts:,} hosts")
    table.add_row("waiting", f"{found.waiting:,}")
    table.add_row("in hand", f"{found.in_hand:,}", "" if found.running else "(not running)")
    table.add_row("finished", f"{sum(found.finished.values()):,}")
    for title, counts in (("", found.finished), ("tried again", found.retried), ("links refused", found.refused)):
        for name, count in counts.items():
            table.add_row(title, f"{count:,}", name)
            title = ""
    table.add_row(
        "requests", f"{found.requests:,}", display.size(found.downloaded), f"{found.archived:,} captures archived"
    )
    if found.clean:
        share = f"{found.kept / max(1, found.downloaded):.2%} of what was downloaded, {display.size(found.clean)} found"
        table.add_row("text", "", display.size(found.kept), share)
    for name, length in found.bytes.items():
        table.add_row("", display.size(length), f"{name}/")
    table.add_row("last commit", _moment(found.last), f"frame {found.frames}")
    out.print(table)


@app.command("why")
def why(directory: Directory, url: Annotated[str, typer.Argument(metavar="URL")], as_json: Json = False) -> None:
    """Tell what happened to a URL, when, and the rule that decided."""
    story = state.why(directory, url, _load(directory, []))
    if as_json:
        _print_json(story)
        return
    out.print(story.url)
    for event in story.events:
        out.print(f"  {_moment(event.time)}  {event.what}")
    out.print(f"{story.state}{f': {story.reason}' if story.reason else ''}")


@app.command("rebuild")
def rebuild(
    directory: Directory,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="Make the corpus anew, from the archive, in OUT/corpus; by crawl.toml and --set.", metavar="OUT"
        ),
    ] = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Make state/ anew from the log alone, the old one is moved aside; or, with --corpus, the corpus from the archive."""
    options = _load(directory, settings or [])
    if corpus is not None:
        with _counter("pages") as watch:
            done = rebuilding.corpus(directory, options, corpus, lambda so_far: watch(so_far.pages))
        if as_json:
            return _print_json(done)
        out.print(
            f"{done.pages:,} pages read, {done.documents:,} documents with {display.size(done.kept)} of text in {corpus / 'corpus'}"
        )
        return out.print(display.reasons(done.reasons))

    async def main() -> tuple[recover.Resumed, Path | None]:
        with recover.lock(directory):
            aside = recover.set_state_aside(directory)
            resumed = await recover.resume(directory, options, time.time())
            await resumed.frontier.close()
            return resumed, aside

    resumed, aside = asyncio.run(main())
    if as_json:
        return _print_json({"frames": resumed.replayed, "aside": str(aside or "")})
    if aside:
        out.print(f"the old state is in {aside}")
    out.print(f"{directory / 'state'} rebuilt from {resumed.replayed:,} frames of the log")


@contextlib.contextmanager
def _counter(what: str) -> Iterator[Callable[[int], None]]:
    """Shows on a terminal how far a long job has come."""
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.completed:,.0f} " + what), console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(what, total=None)
        yield lambda count: progress.update(task, completed=count)


@app.command("dedup")
def deduplicate(
    inputs: Annotated[
        list[Path], typer.Argument(help="Document files, directories of them, or crawls.", metavar="INPUT")
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File, or directory in which each file keeps its name.", metavar="OUT"),
    ],
    level: Annotated[
        str, typer.Option(help="Remove duplicate paragraphs, or whole documents: paragraph or document.")
    ] = "paragraph",
    form: Annotated[
        str, typer.Option("--format", help="jsonl, prevertical, vertical or text; told from each file unless given.")
    ] = "",
    force: Annotated[bool, typer.Option(help="Replace files that are there.")] = False,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Remove near-duplicate paragraphs from files of documents, by onion's rule. Options of [dedup] are changed with --set."""
    from windrow.batch import dedup  # with numpy: 85 ms and 25 MB that a crawl does not need

    options = dedup.options(level, form, config.make([dedup.PURE, *(settings or [])], Path()).dedup)
    jobs = dedup.plan(inputs, output, form, force)
    with _progress("dedup", dedup.size(jobs)) as watch:
        summary = dedup.run(jobs, options, watch)
    if as_json:
        _print_json(summary)
    else:
        out.print(dedup.told(summary, options))


@app.command("report")
def report(
    directories: Annotated[
        list[Path], typer.Argument(help="A crawl's directory; several are compared.", metavar="DIR")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Page, or directory for it; DIR/report unless given.", metavar="OUT"),
    ] = None,
    unit: Annotated[str, typer.Option("--by", help="What yield is shown of: domain or host.")] = "domain",
    as_json: Json = False,
) -> None:
    """Show what a crawl did as a page with pictures, from its log alone. With --json, print the numbers instead."""
    from windrow.batch import fold

    with _progress("report", sum(map(fold.length, directories))) as watch:
        found = reporting.read(directories, unit, watch)
    if as_json:
        _print_json(found[0] if len(found) == 1 else found)
    for note in [f"{numbers.name}: {note}" for numbers in found for note in numbers.notes]:
        typer.echo(note, err=True)
    if output is not None or not as_json:
        made = reporting.write(found, output or reporting.place(directories))
        if not as_json:
            out.print(f"{made.page} written, with {len(made.pictures)} pictures beside it")


@app.command("replay")
def replay(
    directory: Directory,
    thresholds: Annotated[
        list[str] | None,
        typer.Option("--threshold", help="strict, normal, permissive, off, or a,b; may be repeated.", metavar="T"),
    ] = None,
    ladder: Annotated[str, typer.Option(help="Yields with commas between them; SpiderLing's unless given.")] = "",
    unit: Annotated[str, typer.Option("--by", help="What is judged: domain or host.")] = "domain",
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Tell what other yield thresholds would have made of a crawl, from its log alone. Options of [frontier] are changed with --set."""
    from windrow.batch import fold
    from windrow.batch import replay as job

    asked = job.question(directory, thresholds or [], ladder, unit, settings or [])
    with _progress("replay", fold.length(directory)) as watch:
        found = job.run(directory, asked, watch)
    if as_json:
        _print_json(found)
    else:
        out.print(job.told(found))


@app.command("export")
def export(
    inputs: Annotated[list[Path], typer.Argument(help="A crawl's directory, or files of a corpus.", metavar="DIR")],
    form: Annotated[str, typer.Option("--format", help="jsonl, prevertical, vertical, parquet or text.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File (.gz: gzipped), directory, or - for standard output.", metavar="OUT"),
    ],
    style: Annotated[
        str, typer.Option(help="Members of jsonl: datatrove, dolma, both, or windrow (as in the corpus).")
    ] = "both",
    by: Annotated[str, typer.Option(help="One file for each tld, language or domain.")] = "",
    language: Annotated[list[str] | None, typer.Option(help="Documents in this language; may be repeated.")] = None,
    tld: Annotated[list[str] | None, typer.Option(help="Of this top-level domain; may be repeated.")] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="Of this domain or host and all below it; may be repeated.")
    ] = None,
    since: Annotated[str, typer.Option(help="Crawled at or after this time: 2026-11-15, 2026-11-15T10:44.")] = "",
    until: Annotated[str, typer.Option(help="Crawled at or before it.")] = "",
    date_from: Annotated[str, typer.Option(help="Published on this day or later, as the page tells it.")] = "",
    date_to: Annotated[str, typer.Option(help="Published on this day or earlier.")] = "",
    min_score: Annotated[
        list[str] | None, typer.Option(help="With at least this score; may be repeated.", metavar="NAME=VALUE")
    ] = None,
    max_score: Annotated[
        list[str] | None, typer.Option(help="With at most this score; may be repeated.", metavar="NAME=VALUE")
    ] = None,
    signal_: Annotated[
        list[str] | None, typer.Option("--signal", help="With this signal: license, train-ai=n; may be repeated.")
    ] = None,
    without_signal: Annotated[list[str] | None, typer.Option(help="Without this signal; may be repeated.")] = None,
    profile: Annotated[str, typer.Option(help="Leave out what research, training or record-only refuses.")] = "",
    takedown: Annotated[
        Path | None, typer.Option(help="URLs, hosts and domains to leave out; DIR/takedown.txt always is.")
    ] = None,
    places: Annotated[bool, typer.Option(help="In <doc>: where the bytes of the page are.")] = False,
    words: Annotated[
        str, typer.Option(help="In vertical, who finds words where there are no blanks: own or icu.")
    ] = "own",
    langdiff: Annotated[
        str, typer.Option(help="Whose difference from its language <p> has: paragraph or document.")
    ] = "paragraph",
    model: Annotated[
        list[Path] | None,
        typer.Option(help="Tell that difference by a model made by `language train`; may be repeated.", metavar="FILE"),
    ] = None,
    shard_bytes: Annotated[int, typer.Option(help="Bytes of a file where OUT is a directory.")] = 1 << 30,
    force: Annotated[bool, typer.Option(help="Replace an earlier export.")] = False,
    as_json: Json = False,
) -> None:
    """Write the documents of a crawl in the form that other programs read, all or those that are wanted."""
    from windrow.batch import export as job
    from windrow.batch.filters import Wanted

    several = (language, tld, domain, min_score, max_score, signal_, without_signal)
    languages, tlds, domains, least, most, signals, without = (tuple(given or ()) for given in several)
    wanted = Wanted(languages, tlds, domains, since, until, date_from, date_to, least, most, signals, without, profile)
    options = job.Options(
        inputs, output, form, wanted, style, by, places, words, langdiff, model or (), takedown, shard_bytes, force
    )
    job.check(options)
    found = job.find(options)
    with _progress("export", job.size(found)) as watch:
        summary = job.run(options, found, watch)
    if str(output) == "-":
        return
    if as_json:
        _print_json(summary)
    else:
        out.print(job.told(summary))


@contextlib.contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, if that is a terminal."""
    notes = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda count: bar.advance(task, count)


@app.command("demo")
def show_demo(
    directory: Annotated[Path, typer.Option("--dir", help="Where the crawl goes.")] = Path("windrow-demo"),
    as_json: Json = False,
) -> None:
    """Crawl a small web served on loopback by Windrow itself: no network needed."""
    _make_room(directory)
    with web.serve() as site:
        directory.mkdir(parents=True)
        (directory / "seeds.txt").write_text("\n".join(site.seeds) + "\n")
        (directory / "hosts").write_text("".join(f"{host}\t{place}\n" for host, place in site.hosts.items()))
        (directory / "crawl.toml").write_text(demo.OPTIONS)
        out.print(f"a web of {len(site.hosts)} hosts is served on 127.0.0.1:{site.port}; crawling it into {directory}/")
        ending = run(directory, config.load(directory / "crawl.toml"))
    if as_json:
        _print_json(ending)
        return
    _show_ending(directory, ending)
    made = reporting.write(reporting.read([directory], "host"), reporting.place([directory]))
    for name, what in (
        ("corpus", "the documents, one a line, by language"),
        ("warc", "the pages"),
        ("robotstxt", "robots.txt files"),
        ("diagnostics", "redirects and errors"),
        ("log", "what happened"),
    ):
        out.print(f"  {directory / name}/  {what}")
    out.print(f"  {made.page}  the report: open it in a browser")


def _make_room(directory: Path) -> None:
    """An earlier demo makes way for the new one; anything else stays."""
    options = directory / "crawl.toml"
    if options.exists() and options.read_text() == demo.OPTIONS:
        shutil.rmtree(directory)
    elif directory.exists() and any(directory.iterdir()):
        raise ConfigError(f"{directory} holds something else; name another place: windrow demo --dir PLACE")
    elif directory.exists():
        directory.rmdir()


def _load(directory: Path, overrides: list[str]) -> config.Config:
    if not (directory / "crawl.toml").exists():
        raise ConfigError(
            f"{directory} has no crawl.toml; make one with: windrow init {directory} --seeds FILE --contact URL"
        )
    return config.load(directory / "crawl.toml", overrides)


def _print_json(record: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(record)).decode() + "\n")


def _moment(epoch: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(epoch)) if epoch else "never"


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if show:
        out.print(f"windrow {windrow.__version__}")
        raise typer.Exit()


def main() -> None:
    """Runs a command; what the user can mend is one sentence and exit code 2."""
    try:
        app(prog_name="windrow")
    except ConfigError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or 'the system'}: {error.strerror or error}; mend that and run the same command again")


def fail(message: str) -> None:
    sys.stderr.write(f"windrow: {message}\n")
    sys.exit(2)
