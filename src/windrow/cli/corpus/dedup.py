"""`windrow dedup`."""

from pathlib import Path
from typing import Annotated

import typer

from windrow import config
from windrow.cli.archive.engines import EngineChoice, EngineName, Master, SparkConf, Workers, opened
from windrow.cli.terminal import Json, Settings, TakedownList, out, print_json, progress, undivided
from windrow.io import storage


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
    from windrow.jobs import dedup as job  # with numpy: 85 ms and 25 MB that a crawl does not need

    rules = config.make([job.PURE, *(settings or [])], Path()).dedup
    places = map(storage.place, inputs)
    paths = [part for path in places for part in (undivided([path]) if isinstance(path, Path) else [path])]
    options = job.options(level, format, rules, job.listed(paths, takedown))
    job.check_rule(rule, engine_name, workers)
    plans = job.plan(paths, output, format, force)
    if rule == job.PARALLEL:
        from windrow.jobs import engine

        engine.require()
        from windrow.jobs.dedup import earlier

        work = engine.beside(output)
        with opened(EngineChoice(engine_name, workers, master, spark_conf), work) as run:
            summary = earlier.run(plans, options, run, work / "ngrams")
    else:
        with progress("dedup", job.size(plans)) as watch:
            summary = job.run(plans, options, watch)
    if as_json:
        print_json(summary)
    else:
        out.print(job.describe(summary, options))
