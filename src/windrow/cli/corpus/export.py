"""`windrow export`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.archive.engines import EngineChoice, EngineName, Master, SparkConf, Workers, installed, opened
from windrow.cli.terminal import Json, TakedownList, out, print_json, progress, undivided
from windrow.config import ConfigError

if TYPE_CHECKING:
    from windrow.jobs.export.write import ExportOptions, ExportSummary

# Input, output and form

Inputs = Annotated[
    list[Path],
    typer.Argument(
        help="A crawl's directory, or files of a corpus. Several are merged: the first wins.", metavar="DIR"
    ),
]
FormatName = Annotated[
    str, typer.Option(help="jsonl, prevertical, vertical, parquet, text, markdown, or your own: package.module:name.")
]
OutputPlace = Annotated[
    Path,
    typer.Option(
        "--output", "-o", help="File (.gz, .zst: compressed), directory, or - for standard output.", metavar="OUT"
    ),
]
Style = Annotated[str, typer.Option(help="Members of jsonl: datatrove, dolma, both, or windrow (as in the corpus).")]
By = Annotated[str, typer.Option(help="Write one file per tld, language or domain.")]
Sort = Annotated[str, typer.Option(help="Best documents first, by a score: relevance, perplexity, …", metavar="NAME")]
Places = Annotated[bool, typer.Option(help="In <doc>: file, offset and length of the page in the archive.")]
Words = Annotated[str, typer.Option(help="Word segmenter for scripts without spaces (vertical only): builtin or icu.")]
Langdiff = Annotated[
    str, typer.Option(help="paragraph: measure langdiff of each <p>; document: use that of its document.")
]
Models = Annotated[
    list[Path] | None,
    typer.Option(help="Compute langdiff with a model made by `language train`. Repeatable.", metavar="FILE"),
]
ShardBytes = Annotated[int, typer.Option(help="Bytes per file if OUT is a directory.")]
Force = Annotated[bool, typer.Option(help="Replace an earlier export.")]

# Selection of documents

Languages = Annotated[list[str] | None, typer.Option(help="Only documents in this language. Repeatable.")]
Tlds = Annotated[list[str] | None, typer.Option(help="Only of this top-level domain. Repeatable.")]
Domains = Annotated[list[str] | None, typer.Option(help="Only of this domain or host and all below it. Repeatable.")]
Since = Annotated[str, typer.Option(help="Crawled at or after this time: 2026-11-15, 2026-11-15T10:44.")]
Until = Annotated[str, typer.Option(help="Crawled at or before this time.")]
DateFrom = Annotated[str, typer.Option(help="Published on this day or later, according to the page.")]
DateTo = Annotated[str, typer.Option(help="Published on this day or earlier.")]
MinScores = Annotated[
    list[str] | None, typer.Option(help="Only with at least this score. Repeatable.", metavar="NAME=VALUE")
]
MaxScores = Annotated[
    list[str] | None, typer.Option(help="Only with at most this score. Repeatable.", metavar="NAME=VALUE")
]
MaxPerplexity = Annotated[
    float, typer.Option(help="Only with at most this perplexity under the topic's model.", show_default=False)
]
Signals = Annotated[
    list[str] | None, typer.Option("--signal", help="Only with this signal: license, train-ai=n. Repeatable.")
]
WithoutSignals = Annotated[list[str] | None, typer.Option(help="Only without this signal. Repeatable.")]
Profile = Annotated[
    str, typer.Option(help="Leave out documents that this profile rejects: research, training or record-only.")
]


def export(
    inputs: Inputs,
    format: FormatName,
    output: OutputPlace,
    style: Style = "both",
    by: By = "",
    language: Languages = None,
    tld: Tlds = None,
    domain: Domains = None,
    since: Since = "",
    until: Until = "",
    date_from: DateFrom = "",
    date_to: DateTo = "",
    min_score: MinScores = None,
    max_score: MaxScores = None,
    max_perplexity: MaxPerplexity = 0.0,
    sort: Sort = "",
    signal_: Signals = None,
    without_signal: WithoutSignals = None,
    profile: Profile = "",
    takedown: TakedownList = None,
    places: Places = False,
    words: Words = "builtin",
    langdiff: Langdiff = "paragraph",
    model: Models = None,
    shard_bytes: ShardBytes = 1 << 30,
    force: Force = False,
    engine_name: EngineName = "local",
    workers: Workers = 0,
    master: Master = "",
    spark_conf: SparkConf = None,
    as_json: Json = False,
) -> None:
    """Write documents of a crawl in a format of other programs: all of them or a selection."""
    from windrow.jobs.export import write as job
    from windrow.jobs.inputs.filters import Wanted

    perplexity = [f"perplexity={max_perplexity}"] if max_perplexity else []
    wanted = Wanted(
        languages=tuple(language or ()),
        tlds=tuple(tld or ()),
        domains=tuple(domain or ()),
        since=since,
        until=until,
        date_from=date_from,
        date_to=date_to,
        least=tuple(min_score or ()),
        most=(*(max_score or ()), *perplexity),
        signals=tuple(signal_ or ()),
        without=tuple(without_signal or ()),
        profile=profile,
    )
    options = job.ExportOptions(
        inputs=undivided(inputs),
        output=output,
        format=format,
        wanted=wanted,
        style=style,
        by=by,
        sort=sort,
        places=places,
        words=words,
        langdiff=langdiff,
        models=model or (),
        takedown=takedown,
        shard_bytes=shard_bytes,
        force=force,
    )
    summary = _run(options, EngineChoice(engine_name, workers, master, spark_conf))
    if str(output) == "-":
        return
    if as_json:
        print_json(summary)
    else:
        out.print(job.describe(summary))


def _run(options: "ExportOptions", choice: EngineChoice) -> "ExportSummary":
    """Export in this process, or on an engine where one is chosen or saves time."""
    from windrow.jobs.export import write as job

    job.check(options)
    source = job.find(options)
    alone = job.serial(options)
    if alone and (choice.name != "local" or choice.workers > 1):
        raise ConfigError(f"--engine and --workers cannot be used here: {alone}; leave them out")
    several = choice.workers > 1 or (choice.workers == 0 and job.pays(options, job.size(source)) and installed())
    if choice.name == "local" and not several:
        with progress("export", job.size(source)) as watch:
            return job.run(options, source, watch)
    from windrow.jobs import engine

    engine.require()
    from windrow.jobs.export import rendering

    work = engine.beside(options.output)
    with opened(choice, work) as run:
        return rendering.run(options, source, run, work)
