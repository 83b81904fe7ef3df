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
        found = job.train(options, watch, note)
    if as_json:
        return print_json(found)
    out.print(f"{output} written: {_sentence(found)}")


@app.command("convert")
def convert(model: Model, output: Output) -> None:
    """Write a model in another form: an ARPA file as a file that is mapped into memory, or the other way round."""
    found = job.convert(model, output)
    out.print(f"{output} written: order {found.order}, {sum(found.ngrams):,} n-grams, {units.size(found.bytes)}")


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
        found = job.perplexity(model, files, watch)
    if as_json:
        return print_json(found)
    unknown = f"{found.unknown:.2%} unknown"
    out.print(f"words       {found.words:,} in {units.count(found.sequences, 'sequence')}, {unknown}")
    out.print(f"perplexity  {_figure(found.perplexity)}  over all words")
    out.print(f"            {_figure(found.perplexity_known)}  without unknown words")
    out.print(f"            {_figure(found.perplexity_ends)}  over words and sentence ends, as kenlm and SRILM count")
    out.print(f"            {_figure(found.perplexity_windows)}  over windows, as Remus and Biemann's program counts")


@app.command("info")
def info(model: Model, as_json: Json = False) -> None:
    """Print what a model is: its order, n-grams, discounts and vocabulary, and the text it was made from."""
    found = job.info(model)
    if as_json:
        return print_json(found)
    case = "lower case" if found.lower else "case kept"
    kinds = {True: "each letter", False: "words", None: "words; each letter in scripts without spaces"}
    out.print(f"model       {model}, {units.size(found.bytes)}")
    out.print(f"order       {found.order}")
    for order, number in enumerate(found.ngrams, 1):
        taken = found.discounts[order - 1] if found.discounts else []
        shown = " ".join(f"{one:.3f}" for one in taken)
        source = " (fallback: too few counts)" if order in found.fallback else ""
        out.print(f"  {order}-grams   {number:,}" + (f", discounts {shown}{source}" if shown else ""))
    out.print(f"vocabulary  {found.vocabulary:,}, an unknown word has log10 {found.unknown_log10:.2f}")
    out.print(f"words are   {kinds[found.characters]}; {case}; sequences of at least {found.least}")
    read = units.count(found.words, "word") if found.words else "not known"
    more = f" in {units.count(found.sentences - found.duplicates, 'sentence')}" if found.sentences else ""
    left = f"; {found.duplicates:,} that occur again left out" if found.duplicates else ""
    out.print(f"made from   {read}{more}{left}")


def _sentence(found: job.ModelInfo) -> str:
    kept = units.count(found.sentences - found.duplicates, "sentence")
    text = f"{units.count(found.words, 'word')} in {kept}" if found.sentences else "counts"
    left = f" ({found.duplicates:,} that occur again left out)" if found.duplicates else ""
    small = ", ".join(map(str, found.fallback))
    fixed = f"; too few counts to estimate the discounts of order {small}: fixed ones are used" if small else ""
    return f"order {found.order}, {found.vocabulary:,} words in the vocabulary, from {text}{left}{fixed}"


def _figure(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "inf"


app.command("calibrate")(calibrate)
