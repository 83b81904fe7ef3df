"""`windrow language`: train a model from samples, detect languages, list the languages that can be detected."""

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.terminal import Json, print_json_line
from windrow.jobs.lm import languages as job

app = typer.Typer(no_args_is_help=True, help="Train language models and detect languages.")

Models = Annotated[
    list[str] | None, typer.Option("--model", help="A model made by `train`. Repeatable.", metavar="FILE")
]


@app.command("train")
def train(
    name: Annotated[
        str, typer.Argument(help="The language, as code or English name; qaa to qtz for one that has no code.")
    ],
    samples: Annotated[
        list[str], typer.Argument(help="UTF-8 text in this language; - for standard input.", metavar="SAMPLE")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the model.", metavar="MODEL")],
) -> None:
    """Learn a language from samples of its text, so that it can be distinguished from similar languages."""
    typer.echo(job.train(name, samples, output))


@app.command("detect")
def detect(
    files: Annotated[
        list[str] | None, typer.Argument(help="UTF-8 text, one paragraph per line; none or -: standard input.")
    ] = None,
    models: Models = None,
    recognised: Annotated[
        list[str] | None,
        typer.Option("--recognised", help="Consider only these languages where a text is short. Repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the language of each file."""
    for result in job.detected(files or ["-"], models or (), recognised or ()):
        if as_json:
            print_json_line(result.fields())
        else:
            typer.echo(f"{result.path}\t{result.finding.language}\t{result.name}\t{result.finding.score:.2f}")


@app.command("list")
def show(models: Models = None, as_json: Json = False) -> None:
    """List the languages that can be detected, and by which tools."""
    rows = job.known(models or ())
    if as_json:
        return print_json_line(rows)
    for row in rows:
        typer.echo(f"{row.code}\t{row.short}\t{row.name}\t{' '.join(row.tools)}")
