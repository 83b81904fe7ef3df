"""Language models from text, and what text is worth by them: the work of `windrow lm`."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow import units
from windrow.config import ConfigError
from windrow.io import streams
from windrow.jobs.inputs import texts
from windrow.jobs.inputs.pages import Watch
from windrow.judge.focus import counts, model, training
from windrow.judge.focus.model import NgramModel, Scored
from windrow.judge.focus.tables import ModelOrigin, NgramTables
from windrow.judge.focus.tokens import LEAST, Tokeniser

ENOUGH = 10_000  # words; measured, see docs/language-models.md: with fewer, topics are distinguished less well

Note = Callable[[str], None]


class TrainOptions(msgspec.Struct, frozen=True, kw_only=True):
    texts: Sequence[str]
    output: Path
    order: int | None = None  # None: 5, or that of the counts
    counts: bool = False  # the texts are counts of n-grams
    deduplicate: bool = True
    unknown: float | None = None  # log10
    lower: bool = True
    characters: bool | None = None


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a model file says of itself."""

    path: str
    bytes: int
    order: int
    ngrams: list[int]  # of each order
    vocabulary: int
    unknown_log10: float
    lower: bool
    characters: bool | None
    least: int
    sentences: int  # read; 0: not known
    duplicates: int
    words: int
    discounts: list[list[float]]
    fallback: list[int]  # orders with discounts of the fallback


class TextScore(msgspec.Struct, frozen=True, kw_only=True):
    """How well one text fits a model. A perplexity is infinite, in JSON null, for a text without any sequence."""

    path: str
    words: int
    unknown: float  # share of the words
    perplexity: float
    perplexity_known: float  # without unknown words
    perplexity_windows: float
    perplexity_ends: float
    sequences: int


def train(options: TrainOptions, watch: Watch, note: Note) -> ModelInfo:
    """Train a model and write it."""
    _check_output(options.output)
    _check(options)
    trained = _trained(options, watch)
    if not options.counts and trained.origin.words < ENOUGH:
        said = f"{units.count(trained.origin.words, 'word')} of text are few for a topic"
        note(f"{said}: the model tells languages apart, but topics less well than one of {ENOUGH:,} words or more")
    model.write(trained, options.output)
    return info(options.output, trained.origin)  # ARPA text does not hold it


def convert(path: Path, output: Path) -> ModelInfo:
    """Write a model as another file."""
    _check_output(output)
    model.write(model.tables(path), output)
    return info(output)


def _check_output(output: Path) -> None:
    if output.exists():
        raise ConfigError(f"{output} exists already; name another file, or remove it first")
    if not output.absolute().parent.is_dir():
        raise ConfigError(f"there is no folder {output.parent} for the model; create it, or name another file")
    streams.check_suffix(output)
    if streams.packer(output) and not model.is_arpa(output):
        raise ConfigError(f"{output}: only ARPA text is packed; end the name in .arpa{output.suffix}, or leave it out")


def _check(options: TrainOptions) -> None:
    if options.unknown is not None and not -99 <= options.unknown < 0:
        raise ConfigError(f"--unknown {options.unknown:g} is not a logarithm of a probability; give one from -99 to 0")
    if options.order is not None:
        training.check_order(options.order)


def _trained(options: TrainOptions, watch: Watch) -> NgramTables:
    tokeniser = Tokeniser(lower=options.lower, characters=options.characters)
    if options.counts:
        files = ((name, texts.raw_lines(name, watch)) for name in options.texts)
        return counts.train(files, options.order, tokeniser, options.unknown)
    sequences = tokeniser.sequences(texts.lines(options.texts, watch))
    try:
        order = options.order or training.ORDER
        return training.train(sequences, order, options.deduplicate, tokeniser, options.unknown)
    except training.NoTextError:
        need = f"a model needs sentences of at least {LEAST} words, and {ENOUGH:,} words or more to be good"
        raise ConfigError(f"{', '.join(options.texts)}: there is no running text; {need}") from None


def info(path: Path, made_of: ModelOrigin | None = None) -> ModelInfo:
    """Return what a model is. `known`: what it was made from, if the caller knows it."""
    loaded = model.read(path)
    origin, tokeniser = made_of or loaded.origin, loaded.tokeniser
    return ModelInfo(
        path=str(path),
        bytes=path.stat().st_size,
        order=loaded.order,
        ngrams=loaded.counts,
        vocabulary=loaded.words,
        unknown_log10=round(loaded.unknown_log10, 4),
        lower=tokeniser.lower,
        characters=tokeniser.characters,
        least=tokeniser.least,
        sentences=origin.sentences,
        duplicates=origin.duplicates,
        words=origin.words,
        discounts=origin.discounts,
        fallback=origin.fallback,
    )


def scores(path: Path, files: Sequence[str], watch: Watch) -> Iterator[TextScore]:
    """Read a model, and return an iterator that says how well each text fits it: each file of text, each page."""
    scorer = model.read(path)
    return (row(source.name, _sum(scorer, source.lines)) for source in texts.sources(files, watch))


def perplexity(path: Path, files: Sequence[str], watch: Watch) -> TextScore:
    """Return how well the text of all files together fits a model."""
    return row(", ".join(files), _sum(model.read(path), texts.lines(files, watch)))


def row(name: str, scored: Scored) -> TextScore:
    return TextScore(
        path=name,
        words=scored.words,
        sequences=scored.ends,
        unknown=round(scored.unknown, 4),
        perplexity=_rounded(scored.perplexity),
        perplexity_known=_rounded(scored.perplexity_known),
        perplexity_windows=_rounded(scored.perplexity_windows),
        perplexity_ends=_rounded(scored.perplexity_ends),
    )


def _rounded(value: float) -> float:
    return float(f"{value:.6g}") if math.isfinite(value) else math.inf


def _sum(scorer: NgramModel, lines: Iterable[str]) -> Scored:
    """Score lines some at a time: a file may be longer than the memory."""
    total = Scored()
    batch: list[str] = []
    for line in lines:
        batch.append(line)
        if len(batch) >= 1000:
            total, batch = total + scorer.score_texts(batch), []
    return total + scorer.score_texts(batch)
