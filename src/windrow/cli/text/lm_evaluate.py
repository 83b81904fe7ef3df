"""`windrow lm evaluate`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from windrow import files
from windrow.cli.terminal import Directory, Json, counter, number, out, print_json
from windrow.config import ConfigError
from windrow.inspect import report


def evaluate(
    directory: Directory,
    held_out: Annotated[
        str,
        typer.Option(
            help="Text of the topic that no model has seen, to test on: a file as for `train`.", metavar="TEXT"
        ),
    ],
    train: Annotated[
        str, typer.Option(help="Text of the topic, the start of each model: a file as for `train`.", metavar="TEXT")
    ] = "",
    against: Annotated[
        Path | None, typer.Option(help="Another crawl, such as one without the topic, to compare.", metavar="DIR")
    ] = None,
    language: Annotated[
        str, typer.Option(help="The wanted language; default: the first one that the crawl accepts.", metavar="L")
    ] = "",
    sizes: Annotated[
        str, typer.Option(help="Tokens of the steps: 100K,300K,1M; default: these and so on.", metavar="N,…")
    ] = "",
    memory: Annotated[
        str, typer.Option(help="Memory for a model, such as 8G; default: half of the machine's.", metavar="BYTES")
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File; default: DIR/evaluation.json.", metavar="FILE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how well the text of a crawl predicts held-out text, at 100K, 300K, 1M … tokens of the crawl."""
    from windrow.jobs.lm.heldout import evaluate as job
    from windrow.jobs.lm.heldout import steps as table

    steps = [number(step.strip(), "--sizes") for step in sizes.split(",") if step.strip()]
    options = job.EvaluateOptions(
        held_out=held_out, train=train, language=language, sizes=steps, memory=number(memory, "--memory")
    )
    if held_out == "-" and (train == "-" or against is not None):
        raise ConfigError("standard input can be read once; write the held-out text into a file")
    evaluations = []
    for crawl in (directory, *([against] if against is not None else [])):
        with counter(f"pages of {crawl}") as watch:
            evaluations.append(job.run(crawl, options, watch))
        options = job.with_language(options, evaluations[0].language)
    target = output or directory / report.EVALUATION
    files.write(target, msgspec.json.format(msgspec.json.encode(evaluations)) + b"\n")
    if as_json:
        return print_json(evaluations)
    out.print(table.text(evaluations))
    shown = "" if output else f"; `windrow report {directory}` shows it"
    out.print(f"\n{target} written{shown}")
