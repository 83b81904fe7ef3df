"""`windrow merge`."""

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.archive.engines import EngineChoice, EngineName, Master, SparkConf, Workers, opened
from windrow.cli.terminal import Json, Settings, out, print_json, undivided
from windrow.config import ConfigError
from windrow.inspect import status
from windrow.sharding import command


def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(
            help="Crawl directories: the shards of one job, or any crawls. Earlier ones win.", metavar="SHARD"
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="New directory for the corpus and merge.json.", metavar="OUT")
    ],
    takedown: Annotated[
        Path | None,
        typer.Option(
            help="File of URLs, hosts and domains to leave out, besides the takedown.txt of the shards.", metavar="FILE"
        ),
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Merge also if shards of a job are not here.")] = False,
    settings: Settings = None,
    engine_name: EngineName = "local",
    workers: Workers = 0,
    master: Master = "",
    spark_conf: SparkConf = None,
    as_json: Json = False,
) -> None:
    """Make one corpus from several crawls, without text that an earlier one has. The archives stay where they are.

    --set changes options of [dedup]; all shards must have the same.
    """
    from windrow.jobs import engine

    engine.require()
    from windrow.jobs import merge as job

    shards = undivided(shards, "" if partial else "name the directories of all nodes, or add --partial")
    for path in shards:
        if status.is_running(path):
            raise ConfigError(f"{path} is being crawled; wait for its end, or stop it with: {command('stop', path)}")
    sources = job.find(shards)
    options = job.MergeOptions(output=output, dedup=job.dedup_options(sources, settings or ()), takedown=takedown)
    work = engine.beside(output)
    with opened(EngineChoice(engine_name, workers, master, spark_conf), work) as run:
        summary = job.run(options, sources, run, work / "merge")
    if as_json:
        print_json(summary)
    else:
        out.print(job.describe(summary, options))
