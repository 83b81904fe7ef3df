"""`windrow extract`: the main text of HTML files; extractors measured, trained, and given stop lists."""

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from windrow import config
from windrow.config import ConfigError
from windrow.extract import EXTRACTORS

if TYPE_CHECKING:
    from windrow.extract.gold import Sample

_DEFAULT = "files"
_MODELLED = ("blocks", "lines")  # extractors that have a model
_MEASURED = ("blocks", "paragraphs", "lines")


class _Group(TyperGroup):
    """What is no command is the first argument of `files`: `windrow extract page.html` works, and its options stand in the help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [f"{' '.join(self.commands[_DEFAULT].collect_usage_pieces(ctx))} | COMMAND [ARGS]..."]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.commands[_DEFAULT].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


app = typer.Typer(cls=_Group, rich_markup_mode=None, help="Print the main text of HTML files.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Pages = Annotated[
    Path,
    typer.Argument(help="A folder or tar file of html/ID.html with gold/ID.txt, or a folder of such.", metavar="PAGES"),
]
Preset = Annotated[str, typer.Option(help="Of paragraphs: tuned, or stock for jusText's own figures.")]
Language = Annotated[
    str, typer.Option(help="Of paragraphs: language of the stop list; told from each page unless given.")
]
Stoplist = Annotated[str, typer.Option(help="Of paragraphs: a stop list of your own.", metavar="FILE")]
Model = Annotated[str, typer.Option(help="A model made by `windrow extract train`.", metavar="FILE")]
Classifier = Annotated[str, typer.Option(help="Of lines: svm, bayes or tree.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any other option: --set paragraphs.length_low=50", metavar="SECTION.OPTION=VALUE"),
]


@app.command(_DEFAULT, hidden=True)
def files(
    paths: Annotated[
        list[str] | None, typer.Argument(help="HTML files; - or none for standard input.", metavar="FILE")
    ] = None,
    extractor: Annotated[
        str,
        typer.Option(
            help="blocks (a learned classifier), paragraphs (jusText's rules) or lines (a classifier of source lines); "
            f"{config.Extract().extractor} if not given, or paragraphs where an option of it is."
        ),
    ] = "",
    language: Language = "",
    preset: Preset = "",
    stoplist: Stoplist = "",
    model: Model = "",
    form: Annotated[
        str, typer.Option("--format", help="text or jsonl: path, title, author, date, language, licence, text.")
    ] = "text",
    settings: Settings = None,
) -> None:
    """Print the main text of HTML files."""
    from windrow import extract
    from windrow.extract import files

    if form not in ("text", "jsonl"):
        raise ConfigError(f"--format {form!r} is neither 'text' nor 'jsonl'")
    given = _settings(language, preset, stoplist, model, settings)
    chosen = extract.extractor(files.options(_chosen(extractor, given), given))
    for name in paths or ["-"]:
        found = files.row(name, _bytes(name), chosen)
        line = msgspec.json.encode(found) if form == "jsonl" else found.text.encode()
        sys.stdout.buffer.write(line + b"\n")


@app.command("evaluate")
def evaluate(
    pages: Pages,
    extractor: Annotated[
        str,
        typer.Option(
            help=f"Extractors to measure, with commas between them; else {', '.join(_MEASURED)}, or with --folds lines."
        ),
    ] = "",
    peers: Annotated[str, typer.Option(help="Others beside them: trafilatura, resiliparse, justext.")] = "",
    folds: Annotated[
        int, typer.Option(help="Of lines alone: trained and tested by cross-validation within each site.", min=0)
    ] = 0,
    classifier: Classifier = "svm",
    preset: Preset = "",
    model: Model = "",
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Measure extractors on pages with gold text, beside others."""
    from windrow.extract import files

    names, others = _names(extractor) or (["lines"] if folds else [*_MEASURED]), _names(peers)
    if folds:
        from windrow.extract.lines_model import training

        if model or others or preset or settings:
            raise ConfigError(
                "--folds trains lines on the pages and tries it on them; leave --model, --peers, --preset and --set out"
            )
        with _counted(pages) as samples:
            found = files.cross_validated(samples, ",".join(names), folds, classifier)
        typer.echo(_json(found) if as_json else training.table(found))
        return
    if model and len([name for name in names if name in _MODELLED]) > 1:
        raise ConfigError(
            f"--model {model} is of one extractor; measure it alone: --extractor lines, or --extractor blocks"
        )
    given = _settings("", preset, "", model, settings)
    chosen = {name: files.options(_known(name), given) for name in names}
    with _counted(pages) as samples:
        rows = files.evaluated(samples, chosen, others)
    typer.echo(_json(rows) if as_json else files.table(rows))


@app.command("train")
def train(
    pages: Pages,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the model goes; else lines.json.", metavar="MODEL")
    ] = None,
    extractor: Annotated[str, typer.Option(help="Only lines is trained.")] = "lines",
    classifier: Classifier = "svm",
    as_json: Json = False,
) -> None:
    """Train an extractor on pages with gold text."""
    from windrow.extract import files

    output = output or Path(f"{extractor}.json")
    with _counted(pages) as samples:
        trained = files.train(samples, extractor, classifier, output)
    if as_json:
        typer.echo(
            _json({"model": str(output), "extractor": extractor, "classifier": classifier, "pages": trained.pages})
        )
        return
    typer.echo(
        f"{output} written, from {trained.pages:,} pages; use it with: windrow extract --extractor {extractor} --model {output}"
    )


@app.command("stoplist")
def stoplist(
    sample: Annotated[
        str,
        typer.Argument(help="UTF-8 text in the language, the more the better; - for standard input.", metavar="SAMPLE"),
    ],
    size: Annotated[int, typer.Option(help="Words in the list; 0: as many as make half of a text.", min=0)] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the list goes, not to the screen.", metavar="FILE")
    ] = None,
) -> None:
    """Make a stop list from a sample of text."""
    from windrow.extract import gold, stoplists

    words = stoplists.of_sample(gold.text(_bytes(sample), sample, "the sample"), sample, size)
    lines = "".join(f"{word}\n" for word in words).encode()
    if output is None:
        sys.stdout.buffer.write(lines)
        return
    output.write_bytes(lines)
    typer.echo(f"{output} written, {len(words):,} words; use it with: windrow extract --stoplist {output}")


def _settings(language: str, preset: str, stoplist: str, model: str, others: Sequence[str] | None) -> list[str]:
    """As overrides, which are checked like any option; what stands after --set goes before its shorthand."""
    named = {
        "paragraphs.language": language,
        "paragraphs.preset": preset,
        "paragraphs.stoplist": stoplist,
        "extract.model": model,
    }
    return [
        *(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in named.items() if value),
        *(others or []),
    ]


@contextlib.contextmanager
def _counted(path: Path) -> "Iterator[Iterator[Sample]]":
    """The pages of a data set, counted on a terminal while they are read."""
    from windrow.extract import gold

    notes = Console(stderr=True)
    columns = (TextColumn("{task.completed:,.0f} pages read,"), TimeElapsedColumn())
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        yield bar.track(gold.samples(path), total=None)  # type: ignore[misc]


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _known(extractor: str) -> str:
    if extractor not in EXTRACTORS:
        raise ConfigError(f"there is no extractor {extractor!r}; choose one of {', '.join(EXTRACTORS)}")
    return extractor


def _chosen(extractor: str, given: Sequence[str]) -> str:
    """Options of `paragraphs` choose it; with another extractor they would be in vain, as a model is where none is used."""
    if extractor:
        _known(extractor)
    if extractor and extractor not in _MODELLED and any(one.startswith("extract.model=") for one in given):
        raise ConfigError(f"the extractor {extractor} has no model; --model is for {' and '.join(_MODELLED)}")
    theirs = next((one.strip() for one in given if one.strip().startswith("paragraphs.")), "")
    if theirs and extractor not in ("", "paragraphs"):
        raise ConfigError(
            f"{theirs.partition('=')[0]} is an option of the extractor paragraphs, not of {extractor}; leave one of them out"
        )
    return extractor or ("paragraphs" if theirs else config.Extract().extractor)


def _bytes(name: str) -> bytes:
    if name == "-":
        if sys.stdin is None:
            raise ConfigError("standard input is closed; name a file")
        return sys.stdin.buffer.read()
    if not name:
        raise ConfigError("the name of a file is empty; name a file, or - for standard input")
    if Path(name).is_dir():
        raise ConfigError(f"{name} is a folder; name its files, such as {Path(name) / '*.html'}")
    return Path(name).read_bytes()


def _json(record: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(record)).decode()
