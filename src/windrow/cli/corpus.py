"""`windrow export` and `dedup`."""

from pathlib import Path
from typing import Annotated

import typer

from windrow import config, storage
from windrow.cli.engines import EngineName, Master, SparkConf, Workers, installed, opened
from windrow.cli.terminal import Json, Settings, TakedownList, out, print_json, progress, undivided
from windrow.config import ConfigError


def export(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            help="A crawl's directory, or files of a corpus. Several are merged: the first wins.", metavar="DIR"
        ),
    ],
    format: Annotated[
        str,
        typer.Option(help="jsonl, prevertical, vertical, parquet, text, markdown, or your own: package.module:name."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="File (.gz, .zst: compressed), directory, or - for standard output.", metavar="OUT"
        ),
    ],
    style: Annotated[
        str, typer.Option(help="Members of jsonl: datatrove, dolma, both, or windrow (as in the corpus).")
    ] = "both",
    by: Annotated[str, typer.Option(help="Write one file per tld, language or domain.")] = "",
    language: Annotated[list[str] | None, typer.Option(help="Only documents in this language. Repeatable.")] = None,
    tld: Annotated[list[str] | None, typer.Option(help="Only of this top-level domain. Repeatable.")] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="Only of this domain or host and all below it. Repeatable.")
    ] = None,
    since: Annotated[str, typer.Option(help="Crawled at or after this time: 2026-11-15, 2026-11-15T10:44.")] = "",
    until: Annotated[str, typer.Option(help="Crawled at or before this time.")] = "",
    date_from: Annotated[str, typer.Option(help="Published on this day or later, according to the page.")] = "",
    date_to: Annotated[str, typer.Option(help="Published on this day or earlier.")] = "",
    min_score: Annotated[
        list[str] | None, typer.Option(help="Only with at least this score. Repeatable.", metavar="NAME=VALUE")
    ] = None,
    max_score: Annotated[
        list[str] | None, typer.Option(help="Only with at most this score. Repeatable.", metavar="NAME=VALUE")
    ] = None,
    max_perplexity: Annotated[
        float, typer.Option(help="Only with at most this perplexity under the topic's model.", show_default=False)
    ] = 0.0,
    sort: Annotated[
        str, typer.Option(help="Best documents first, by a score: relevance, perplexity, …", metavar="NAME")
    ] = "",
    signal_: Annotated[
        list[str] | None, typer.Option("--signal", help="Only with this signal: license, train-ai=n. Repeatable.")
    ] = None,
    without_signal: Annotated[list[str] | None, typer.Option(help="Only without this signal. Repeatable.")] = None,
    profile: Annotated[
        str, typer.Option(help="Leave out documents that this profile rejects: research, training or record-only.")
    ] = "",
    takedown: TakedownList = None,
    places: Annotated[bool, typer.Option(help="In <doc>: file, offset and length of the page in the archive.")] = False,
    words: Annotated[
        str, typer.Option(help="Word segmenter for scripts without spaces (vertical only): builtin or icu.")
    ] = "builtin",
    langdiff: Annotated[
        str, typer.Option(help="paragraph: measure langdiff of each <p>; document: use that of its document.")
    ] = "paragraph",
    model: Annotated[
        list[Path] | None,
        typer.Option(help="Compute langdiff with a model made by `language train`. Repeatable.", metavar="FILE"),
    ] = None,
    shard_bytes: Annotated[int, typer.Option(help="Bytes per file if OUT is a directory.")] = 1 << 30,
    force: Annotated[bool, typer.Option(help="Replace an earlier export.")] = False,
    engine_name: EngineName = "local",
    workers: Workers = 0,
    master: Master = "",
    spark_conf: SparkConf = None,
    as_json: Json = False,
) -> None:
    """Write documents of a crawl in a format of other programs: all of them or a selection."""
    from windrow.batch import export as job
    from windrow.batch.filters import Wanted

    several = (language, tld, domain, min_score, max_score, signal_, without_signal)
    languages, tlds, domains, least, most, signals, without = (tuple(given or ()) for given in several)
    most += (f"perplexity={max_perplexity}",) if max_perplexity else ()
    wanted = Wanted(
        languages=languages,
        tlds=tlds,
        domains=domains,
        since=since,
        until=until,
        date_from=date_from,
        date_to=date_to,
        least=least,
        most=most,
        signals=signals,
        without=without,
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
    job.check(options)
    found = job.find(options)
    alone = job.serial(options)
    if alone and (engine_name != "local" or workers > 1):
        raise ConfigError(f"--engine and --workers cannot be used here: {alone}; leave them out")
    chosen = workers > 1 or (workers == 0 and job.pays(options, job.size(found)) and installed())
    if engine_name == "local" and not chosen:
        with progress("export", job.size(found)) as watch:
            summary = job.run(options, found, watch)
    else:
        from windrow.batch import engine

        engine.require()
        from windrow.batch import rendering

        work = engine.beside(output)
        with opened(engine_name, work, workers, master, spark_conf) as run:
            summary = rendering.run(options, found, run, work)
    if str(output) == "-":
        return
    if as_json:
        print_json(summary)
    else:
        out.print(job.describe(summary))


def dedup(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Files of documents, directories of them, crawls, or addresses (s3://, https://).", metavar="INPUT"
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File, or directory in which each file keeps its name.", metavar="OUT"),
    ],
    level: Annotated[
        str, typer.Option(help="Remove duplicate paragraphs or whole documents: paragraph or document.")
    ] = "paragraph",
    format: Annotated[
        str, typer.Option(help="jsonl, prevertical, vertical or text; detected per file by default.")
    ] = "",
    rule: Annotated[
        str,
        typer.Option(
            help="onion (text that was removed is not remembered: one document after another) or all-earlier (it is: "
            "files in parallel, with --engine and --workers)."
        ),
    ] = "onion",
    takedown: TakedownList = None,
    force: Annotated[bool, typer.Option(help="Replace existing files.")] = False,
    settings: Settings = None,
    engine_name: EngineName = "local",
    workers: Workers = 0,
    master: Master = "",
    spark_conf: SparkConf = None,
    as_json: Json = False,
) -> None:
    """Remove near-duplicate text from files of documents. --set changes options of [dedup]."""
    from windrow.batch import dedup as job  # with numpy: 85 ms and 25 MB that a crawl does not need

    rules = config.make([job.PURE, *(settings or [])], Path()).dedup
    places = map(storage.place, inputs)
    paths = [part for place in places for part in (undivided([place]) if isinstance(place, Path) else [place])]
    options = job.options(level, format, rules, job.listed(paths, takedown))
    job.check_rule(rule, engine_name, workers)
    plans = job.plan(paths, output, format, force)
    if rule == job.PARALLEL:
        from windrow.batch import engine

        engine.require()
        from windrow.batch.dedup import earlier

        work = engine.beside(output)
        with opened(engine_name, work, workers, master, spark_conf) as run:
            summary = earlier.run(plans, options, run, work / "ngrams")
    else:
        with progress("dedup", job.size(plans)) as watch:
            summary = job.run(plans, options, watch)
    if as_json:
        print_json(summary)
    else:
        out.print(job.describe(summary, options))
