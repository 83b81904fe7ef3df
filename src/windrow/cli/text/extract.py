"""`windrow extract`: the main text of HTML and WARC files; measure and train extractors, make stop lists."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from windrow import config, units
from windrow.cli.help import Group
from windrow.cli.terminal import Json, counted, note, print_json, progress
from windrow.config import ConfigError
from windrow.extraction.evaluation import PEERS
from windrow.jobs.extract import choice as job
from windrow.jobs.inputs import arguments

_DEFAULT = "files"


class _Group(Group):
    """Treat arguments that name no command as arguments of `files`, so that `windrow extract page.html` works."""

    default = _DEFAULT

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [f"{' '.join(self.commands[_DEFAULT].collect_usage_pieces(ctx))} | COMMAND [ARGS]..."]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.commands[_DEFAULT].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


app = typer.Typer(cls=_Group, rich_markup_mode=None, help="Print the main text of HTML and WARC files.")

Pages = Annotated[
    Path,
    typer.Argument(
        help="Directory or tar file with html/ID.html and gold/ID.txt, or a directory of these.", metavar="PAGES"
    ),
]
Preset = Annotated[str, typer.Option(help="For paragraphs: tuned, or stock for jusText's own values.")]
Language = Annotated[str, typer.Option(help="For paragraphs: language of the stop list; guessed per page by default.")]
Stoplist = Annotated[str, typer.Option(help="For paragraphs: your own stop list.", metavar="FILE")]
Model = Annotated[str, typer.Option(help="A model made by `windrow extract train`.", metavar="FILE")]
Classifier = Annotated[str, typer.Option(help="For lines: svm, bayes or tree.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any other option: --set paragraphs.length_low=50", metavar="SECTION.OPTION=VALUE"),
]


@app.command(_DEFAULT, hidden=True)
def files(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="HTML files, also compressed, and WARC files, whose pages are all read; - or none for standard input.",
            metavar="FILE",
        ),
    ] = None,
    extractor: Annotated[
        str,
        typer.Option(
            help="blocks (a learned classifier), paragraphs (jusText's rules), lines (a classifier of source lines) or "
            f"package.module:name; default: {config.ExtractOptions().extractor}, or paragraphs if one of its options "
            "is given."
        ),
    ] = "",
    language: Language = "",
    preset: Preset = "",
    stoplist: Stoplist = "",
    model: Model = "",
    form: Annotated[
        str, typer.Option("--format", help="text (one paragraph per line), markdown, html, tei, or jsonl.")
    ] = "text",
    url: Annotated[
        str, typer.Option(help="URL of the page, for one HTML file: links become absolute, and it may hold the date.")
    ] = "",
    links: Annotated[
        bool, typer.Option("--links", help="Keep the links of the text; --format text lists them below it.")
    ] = False,
    title: Annotated[bool, typer.Option("--title/--no-title", help="With or without the headline of the page.")] = True,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File (.gz, .zst: compressed); default: standard output.", metavar="OUT"),
    ] = None,
    settings: Settings = None,
) -> None:
    """Print the main text of HTML and WARC files."""
    from windrow.extraction import readers
    from windrow.jobs.extract import drawing

    options = drawing.DrawOptions(files=paths or ["-"], form=form, url=url, links=links, title=title, output=output)
    drawing.check(options)
    given = job.overrides(language, preset, stoplist, model, settings)
    table = readers.table(drawing.configured(options, extractor, given))
    # On a screen that shows the text, a bar would be between its lines.
    hidden = output is None and sys.stdout.isatty()
    with progress("extract", drawing.size(options), hidden) as watch:
        done = drawing.run(options, table, watch, note)
    if done.failed:
        raise typer.Exit(2)


@app.command("evaluate")
def evaluate(
    pages: Pages,
    extractor: Annotated[
        str,
        typer.Option(
            help=f"Extractors to measure, separated by commas; default: {', '.join(job.MEASURED)}; with --folds lines."
        ),
    ] = "",
    peers: Annotated[
        str,
        typer.Option(help=f"Other programs to compare, separated by commas, or all: {', '.join(PEERS)}."),
    ] = "",
    only: Annotated[str, typer.Option(help="Data sets to read, separated by commas; default: all.")] = "",
    every: Annotated[int, typer.Option(help="Take every Nth page of a data set.", metavar="N", min=1)] = 1,
    jobs: Annotated[int, typer.Option(help="Processes; the result does not depend on it.", metavar="N", min=1)] = 1,
    losses: Annotated[
        Path | None,
        typer.Option(help="Write a site that shows the pages with the greatest losses.", metavar="DIR"),
    ] = None,
    limit: Annotated[int, typer.Option(help="With --losses: pages of the site.", metavar="N", min=1)] = 100,
    folds: Annotated[
        int, typer.Option(help="Only for lines: train and test by cross-validation within each site.", min=0)
    ] = 0,
    classifier: Classifier = "svm",
    preset: Preset = "",
    model: Model = "",
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Measure extractors on pages with gold text, and compare them with other programs."""
    from windrow.extraction.evaluation import files, results
    from windrow.extraction.evaluation import losses as site
    from windrow.extraction.evaluation.measure import Choice

    if folds:
        from windrow.extraction.main.lines import training

        if model or peers or preset or settings or losses:
            fix = "leave out --model, --peers, --preset, --set and --losses"
            raise ConfigError(f"--folds trains lines on these pages and tests it on them; {fix}")
        with counted(job.pages(pages, only, every), "pages read,") as samples:
            folded = files.cross_validated(samples, ",".join(job.names(extractor)) or "lines", folds, classifier)
        return print_json(folded) if as_json else typer.echo(training.table(folded))
    given = job.overrides("", preset, "", model, settings)
    own = tuple((name, files.options(name, given)) for name in job.measured(extractor, model))
    choice = Choice(own, job.peers(peers))
    if losses:
        site.check(losses)
    with counted(job.pages(pages, only, every), "pages evaluated,") as samples:
        evaluation, scores = files.evaluated(samples, choice, jobs)
    if losses:
        with counted(job.pages(pages, only, every), "pages read for the losses,") as samples:
            site.write(losses, site.choose(scores, len(own), limit), samples, choice)
    if as_json:
        print_json(evaluation)
    else:
        typer.echo(results.text(evaluation))
        if losses:
            typer.echo(f"\n{losses / 'index.html'} shows the pages with the greatest losses")


@app.command("train")
def train(
    pages: Pages,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the model; default: lines.json.", metavar="MODEL")
    ] = None,
    extractor: Annotated[str, typer.Option(help="Only lines can be trained.")] = "lines",
    classifier: Classifier = "svm",
    as_json: Json = False,
) -> None:
    """Train an extractor on pages with gold text."""
    from windrow.extraction.evaluation import files, gold

    output = output or Path(f"{extractor}.json")
    with counted(gold.samples(pages), "pages read,") as samples:
        trained = files.train(samples, extractor, classifier, output)
    if as_json:
        made = {"model": str(output), "extractor": extractor, "classifier": classifier, "pages": trained.pages}
        return print_json(made)
    usage = f"use it with: windrow extract --extractor {extractor} --model {output}"
    typer.echo(f"{output} written, from {units.count(trained.pages, 'page')}; {usage}")


@app.command("stoplist")
def stoplist(
    sample: Annotated[
        str,
        typer.Argument(help="UTF-8 text in the language, the more the better; - for standard input.", metavar="SAMPLE"),
    ],
    size: Annotated[int, typer.Option(help="Words in the list; 0: as many as make up half of a text.", min=0)] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the list; default: the screen.", metavar="FILE")
    ] = None,
) -> None:
    """Make a stop list from a sample of text."""
    from windrow.extraction.evaluation import gold
    from windrow.extraction.main.justext import stoplists

    words = stoplists.of_sample(gold.text(arguments.read(sample), sample, "the sample"), sample, size)
    lines = "".join(f"{word}\n" for word in words).encode()
    if output is None:
        sys.stdout.buffer.write(lines)
        return
    output.write_bytes(lines)
    typer.echo(f"{output} written, {units.count(len(words), 'word')}; use it with: windrow extract --stoplist {output}")
