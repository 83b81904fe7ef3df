"""`windrow corpus`: a corpus on demand. Init, crawl, report and export in one command, which can be repeated.

Each step is made again or continued until its result is complete: `crawl.toml` and the export appear whole or not at
all, the crawl continues after its last commit. So the same command continues, whatever ended the last one.
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from windrow.cli import terminal
from windrow.cli.crawl import start
from windrow.cli.run import Voice, run
from windrow.cli.terminal import Json, Settings, command, out, print_json
from windrow.config import ConfigError
from windrow.crawler.ending import Ending
from windrow.crawler.setup import purpose
from windrow.frontier import seeds
from windrow.inspect import report as reports
from windrow.judge.language import codes
from windrow.units import count

EXPORT = "export"  # directory of the exports, one directory per format
_COMPLETE = ("tokens", "documents", "done")  # endings of a crawl after which its corpus is exported


class CorpusMade(msgspec.Struct):
    """What the command made."""

    directory: str
    why: str  # how the crawl ended, see Ending
    complete: bool  # the corpus has as many tokens as wanted
    tokens: int
    wanted: int  # tokens
    documents: int
    report: str = ""  # this and the next: "" if the crawl was stopped on the way
    export: str = ""  # directory


def corpus(
    seed_file: Annotated[
        str, typer.Option("--seeds", help="File of seed URLs, one per line; - for standard input.", metavar="FILE")
    ],
    tokens: Annotated[str, typer.Option(help="Size of the corpus: 300K, 10M.", metavar="N")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Directory for the crawl and everything made of it.", metavar="DIR")
    ],
    topic: Annotated[
        list[Path] | None,
        typer.Option(
            help="Text on the topic, or a model of it; without it: any topic. Repeatable.", metavar="TEXT-OR-MODEL"
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(help="Keep only text in these languages: ces, cs or Czech; several with commas.", metavar="L"),
    ] = None,
    background: start.Background = "",
    contact: Annotated[
        str, typer.Option(help="URL or e-mail address for the webmasters whose sites you visit.", metavar="CONTACT")
    ] = "",
    format: Annotated[
        str, typer.Option(help="Of the export: jsonl, prevertical, vertical, parquet, text or markdown.")
    ] = "jsonl",
    settings: Settings = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")] = False,
    as_json: Json = False,
) -> None:
    """Build a corpus in one command: init, crawl, report and export. The same command continues where it stopped."""
    if not tokens:
        raise ConfigError("--tokens has no number; write 300K, 10M or 1500000")
    wanted = terminal.number(tokens, "--tokens")
    given = [*([f"identity.contact={contact}"] if contact else []), *(settings or [])]
    job = _export(output, format)
    of_topic: dict[str, Any] = {"topic": [str(path) for path in topic], "background": background} if topic else {}
    if background and not topic:
        raise ConfigError(start.NO_TOPIC)
    _prepare(output, (seed_file, topic or [], start.words(language)), given, of_topic)
    limits = [*given, f"crawl.max_tokens={wanted}"]
    voice: Voice = "quiet" if quiet or as_json else "normal"
    ending = run(output, terminal.load(output, limits), limits, voice)
    made = CorpusMade(
        directory=str(output),
        why=ending.why,
        complete=ending.counts.tokens >= wanted,
        tokens=ending.counts.tokens,
        wanted=wanted,
        documents=ending.counts.documents,
    )
    if ending.why in _COMPLETE and made.documents:
        made.report = str(reports.write(reports.read([output]), reports.place([output])).page)
        made.export = str(job())
    if as_json:
        print_json(made)
    elif not quiet:
        _show(made, ending)
    if not (made.complete and made.export):
        raise typer.Exit(1)


def _prepare(
    directory: Path, wanted: tuple[str, list[Path], list[str]], given: list[str], of_topic: dict[str, Any]
) -> None:
    """Make the crawl directory, unless an earlier run of the same command has made it."""
    seed_file, topic, languages = wanted
    urls = seeds.read(seed_file)
    accepted = [codes.parse(name) for name in languages]
    purpose.claim(directory, purpose.of(urls, accepted, topic))
    if (directory / "crawl.toml").exists():
        return
    # Standard input is read by now: init reads the seeds from a file of the directory, which it then writes itself.
    (directory / "seeds.txt").write_text("".join(f"{url.text}\n" for url in urls))
    with out.capture() as said:
        start.init(directory, str(directory / "seeds.txt"), language=accepted, settings=given, **of_topic)
    for line in said.get().splitlines()[:-1]:  # the last one names the next command
        terminal.note(line)


def _export(directory: Path, format: str) -> Any:
    """Check the format now, not after days of crawling; return the function that exports and names the result."""
    from windrow.jobs.export import write as job

    target = directory / EXPORT / format.replace(":", ".")
    job.check(job.ExportOptions(inputs=[], output=target, format=format, force=True))

    def write() -> Path:
        options = job.ExportOptions(inputs=[directory], output=target, format=format, force=True)
        sources = job.find(options)
        with terminal.progress("export", job.size(sources)) as watch:
            job.run(options, sources, watch)
        return target

    return write


def _show(made: CorpusMade, ending: Ending) -> None:
    """Print what was made, where, and the next commands."""
    directory = Path(made.directory)
    start.show_ending(directory, ending)
    have = f"{count(made.tokens, 'token')} in {count(made.documents, 'document')}"
    if not made.export:
        if ending.why in _COMPLETE:
            fix = f"find out why with: {command('status', made.directory)}"
            out.print(f"The corpus is empty: no page gave text; {fix}")
        else:
            out.print(f"Not complete yet: {have}, of {made.wanted:,} wanted. Run the same command again to continue.")
        return
    if not made.complete:
        more = command("add", made.directory, "URL")
        out.print(f"The web around the seeds has no more: {have}, of {made.wanted:,} wanted. Add seeds: {more}")
    else:
        out.print(f"The corpus is complete: {have}.")
    out.print(f"  {made.export}/  the documents, with a description of them in README.md")
    out.print(f"  {made.report}  the report: open it in a browser")
    out.print(f"  {directory / 'warc'}/  the pages as they were downloaded")
    out.print("next:")
    vertical = directory / EXPORT / "vertical"
    for line in (
        command("status", made.directory),
        command("export", made.directory, "--format", "vertical", "-o", vertical),
    ):
        out.print(f"  {line}")
