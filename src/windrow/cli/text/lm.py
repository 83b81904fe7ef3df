"""`windrow lm`: train language models of words, score text with them, and show what they are."""

import math
import sys
from pathlib import Path
from typing import Annotated

import typer

from windrow import units
from windrow.cli.terminal import Json, note, out, print_json, print_json_line, progress
from windrow.cli.text import lm_evaluate
from windrow.cli.text.lm_calibrate import calibrate
from windrow.jobs.inputs import texts
from windrow.jobs.lm import models as job

app = typer.Typer(no_args_is_help=True, help="Train language models of a topic and score text with them.")
app.command("evaluate")(lm_evaluate.evaluate)

Model = Annotated[Path, typer.Argument(help="A model made by `train` or `convert`, or an ARPA file.", metavar="MODEL")]
Files = Annotated[
    list[str],
    typer.Argument(
        help="UTF-8 text, HTML or WARC files, also compressed; - for standard input. A line of text is a paragraph.",
        metavar="FILE",
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output", "-o", help="File for the model; .arpa, .arpa.gz and .arpa.zst: as ARPA text.", metavar="MODEL"
    ),
]


@app.command("train")
def train(
    files: Files,
    output: Output,
    order: Annotated[
        int | None,
        typer.Option(help="Words of the longest n-gram, 1 to 6; default: 5, with --counts that of the counts."),
    ] = None,
    counts: Annotated[
        bool, typer.Option("--counts", help="The files hold n-grams with their counts: “word word word<TAB>count”.")
    ] = False,
    deduplicate: Annotated[
        bool, typer.Option("--dedup/--no-dedup", help="Count a sentence once, or as often as it occurs.")
    ] = True,
    unknown: Annotated[
        float | None,
        typer.Option(help="log10 of the probability of an unknown word, such as -7; default: what the counts leave."),
    ] = None,
    lower: Annotated[bool, typer.Option("--lower/--keep-case", help="Write words in lower case, or keep case.")] = True,
    characters: Annotated[
        bool | None,
        typer.Option(
            "--characters/--words",
            help="Take each letter as a word, or never; default: only in scripts without spaces between words.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Learn a topic from text about it. No other text and no word list are needed."""
    options = job.TrainOptions(
        texts=files,
        output=output,
        order=order,
        counts=counts,
        deduplicate=deduplicate,
        unknown=unknown,
        lower=lower,
        characters=characters,
    )
    with progress("train", texts.size(files)) as watch:
        info = job.train(options, watch, note)
    if as_json:
        return print_json(info)
    out.print(f"{output} written: {_sentence(info)}")


@app.command("convert")
def convert(model: Model, output: Output) -> None:
    """Write a model in another form: an ARPA file as a file that is mapped into memory, or the other way round."""
    info = job.convert(model, output)
    out.print(f"{output} written: order {info.order}, {sum(info.ngrams):,} n-grams, {units.size(info.bytes)}")


@app.command("score")
def score(model: Model, files: Files, as_json: Json = False) -> None:
    """Print how well each file, and each page of a WARC file, fits a model: the lower the perplexity, the better."""
    # On a screen that shows the rows, a bar would be between them.
    with progress("score", texts.size(files), hidden=sys.stdout.isatty()) as watch:
        rows = job.scores(model, files, watch)  # a model that cannot be read leaves no table without rows
        if not as_json:
            typer.echo("perplexity\twords\tunknown\tpath")
        for row in rows:
            if as_json:
                print_json_line(row)
            else:
                typer.echo(f"{_figure(row.perplexity)}\t{row.words}\t{row.unknown:.1%}\t{units.printable(row.path)}")


@app.command("perplexity")
def perplexity(model: Model, files: Files, as_json: Json = False) -> None:
    """Print the perplexity of the text of all files together, with and without unknown words."""
    with progress("score", texts.size(files)) as watch:
        result = job.perplexity(model, files, watch)
    if as_json:
        return print_json(result)
    unknown = f"{result.unknown:.2%} unknown"
    out.print(f"words       {result.words:,} in {units.count(result.sequences, 'sequence')}, {unknown}")
    out.print(f"perplexity  {_figure(result.perplexity)}  over all words")
    out.print(f"            {_figure(result.perplexity_known)}  without unknown words")
    out.print(f"            {_figure(result.perplexity_ends)}  over words and sentence ends, as kenlm and SRILM count")
    out.print(f"            {_figure(result.perplexity_windows)}  over windows, as Remus and Biemann's program counts")


@app.command("info")
def info(model: Model, as_json: Json = False) -> None:
    """Print what a model is: its order, n-grams, discounts and vocabulary, and the text it was made from."""
    result = job.info(model)
    if as_json:
        return print_json(result)
    case = "lower case" if result.lower else "case kept"
    kinds = {True: "each letter", False: "words", None: "words; each letter in scripts without spaces"}
    out.print(f"model       {model}, {units.size(result.bytes)}")
    out.print(f"order       {result.order}")
    for order, number in enumerate(result.ngrams, 1):
        taken = result.discounts[order - 1] if result.discounts else []
        shown = " ".join(f"{share:.3f}" for share in taken)
        source = " (fallback: too few counts)" if order in result.fallback else ""
        out.print(f"  {order}-grams   {number:,}" + (f", discounts {shown}{source}" if shown else ""))
    out.print(f"vocabulary  {result.vocabulary:,}, an unknown word has log10 {result.unknown_log10:.2f}")
    out.print(f"words are   {kinds[result.characters]}; {case}; sequences of at least {result.least}")
    read = units.count(result.words, "word") if result.words else "not known"
    more = f" in {units.count(result.sentences - result.duplicates, 'sentence')}" if result.sentences else ""
    left = f"; {result.duplicates:,} that occur again left out" if result.duplicates else ""
    out.print(f"made from   {read}{more}{left}")


def _sentence(info: job.ModelInfo) -> str:
    kept = units.count(info.sentences - info.duplicates, "sentence")
    text = f"{units.count(info.words, 'word')} in {kept}" if info.sentences else "counts"
    left = f" ({info.duplicates:,} that occur again left out)" if info.duplicates else ""
    small = ", ".join(map(str, info.fallback))
    fixed = f"; too few counts to estimate the discounts of order {small}: fixed ones are used" if small else ""
    return f"order {info.order}, {info.vocabulary:,} words in the vocabulary, from {text}{left}{fixed}"


def _figure(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "inf"


app.command("calibrate")(calibrate)
