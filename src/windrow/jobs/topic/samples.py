"""Make a topic from sample text: the work of `windrow init --topic`. A text is all that is needed."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow import config, files, scripts, units
from windrow.config import Config, ConfigError, FocusOptions
from windrow.jobs.inputs import texts
from windrow.jobs.topic import background as backgrounds
from windrow.judge.focus import boundaries, layout, model, relevance, training, weights
from windrow.judge.focus.boundaries import Boundaries, Interval
from windrow.judge.focus.relevance import Typical
from windrow.judge.focus.tables import NgramTables
from windrow.judge.focus.tokens import Tokeniser
from windrow.judge.focus.topic import TopicScorer
from windrow.judge.focus.weights import TopicWords, Weigher
from windrow.judge.language import codes, detect, settings

TEXT, MODEL, WORDS = "topic.txt", "topic.bin", "topic.words"  # beside crawl.toml
LEAST = 300  # words without which nothing can be measured
ENOUGH = 3000  # words of an article; with fewer, topics are hardly separated
_MAIN = 0.8  # share of the text in its first language, below which the text is mixed
_PART = 0.1  # share of a text from which one of its languages counts
_UNSPACED = re.compile(f"[{scripts.UNSPACED}]")


class TopicSample(msgspec.Struct, frozen=True):
    """The text that says what the topic is."""

    texts: list[str]  # paragraphs
    languages: list[str]  # ISO 639-3; those of a good part of the text, the greatest first
    words: int  # sentences that occur again included
    pairs: bool  # its script has no spaces between words
    notes: list[str]  # what the user should know of it


class Topic(msgspec.Struct, frozen=True):
    """A topic, ready to be written into the directory of a crawl."""

    tables: NgramTables
    options: FocusOptions
    reasons: dict[str, str]  # of the options, by name: where each number comes from
    notes: list[str]
    others: dict[str, Boundaries] = {}  # boundaries by another score than that of the options, if the user wants it
    sample: TopicSample | None = None  # None: made from a model
    words: TopicWords | None = None


def make(names: Sequence[str], wanted: str, accepted: Sequence[str], order: int = training.ORDER) -> Topic:
    """Make a topic from files of text, or from one model. `wanted`: the background, see `background.choose`."""
    models = [name for name in names if name != "-" and _is_model(Path(name))]
    if models and len(names) > 1:
        raise ConfigError(f"{models[0]} is a language model; give one model and nothing else, or files of text only")
    if models:
        return _of_model(Path(models[0]))
    sample = read(names, accepted)
    background = backgrounds.choose(wanted, sample.languages, sample.texts, sample.pairs)
    counts = weights.count(sample.texts, sample.pairs)
    words = weights.make(counts, background, sample.pairs)
    tables = training.train(Tokeniser().sequences(sample.texts), order)
    held = boundaries.held_out(sample.texts, background, order, sample.pairs)
    perplexity = boundaries.median([score.perplexity for score in held.scores])
    ratios = [score.ratio for score in held.scores if score.ratio is not None]
    ratio = boundaries.median(ratios)
    worst = max(weights.worst(counts, words, background), 1.2 * ratio.value)
    typical = Typical(perplexity.value, ratio.value, worst)
    odds = [relevance.odds(score.perplexity, score.ratio, typical) for score in held.scores]
    scorer = TopicScorer(model.make(tables), Weigher(words), typical)
    proposed = boundaries.propose(odds, scorer, typical)
    others = [
        boundaries.propose_by("perplexity", [score.perplexity for score in held.scores], scorer.worst),
        boundaries.propose_by("ratio", ratios, 1 / weights.SHARE),
    ]
    options = FocusOptions(
        model=MODEL,
        words=WORDS,
        by="odds",
        high=proposed.high,
        medium=proposed.medium,
        cutoff=proposed.cutoff,
        typical_perplexity=_short(typical.perplexity),
        typical_ratio=_short(typical.ratio),
        worst_ratio=_short(worst),
    )
    reasons = _reasons(proposed, perplexity, ratio, held.words, background.source)
    languages = " and ".join(map(codes.name, sample.languages))
    said = f"The topic: {sample.words:,} words of {languages}, compared with {background.source}."
    return Topic(
        sample=sample,
        tables=tables,
        words=words,
        options=options,
        reasons=reasons,
        notes=[said, *sample.notes],
        others={scale.by: scale for scale in others},
    )


def _reasons(proposed: Boundaries, perplexity: Interval, ratio: Interval, size: int, source: str) -> dict[str, str]:
    parts = f"median of parts of {size} words of {TEXT}, each scored by the rest of it"
    return {
        "focus.model": f"trained on {TEXT}.",
        "focus.words": f"the words of {TEXT} against {source}; a text file that you may edit.",
        "focus.by": "it separates topics better than the perplexity alone.",
        "focus.high": "pages that are rather on the topic than not, and nine tenths of the parts of the sample.",
        "focus.medium": "four times these odds: one page in five is on the topic.",
        "focus.cutoff": f"odds {proposed.cutoff:g} to 1 against; text without any known word is beyond it.",
        "focus.typical_perplexity": f"{parts}: {perplexity}.",
        "focus.typical_ratio": f"{parts}: {ratio}.",
        "focus.worst_ratio": f"computed from the weights in {WORDS}.",
    }


def _reasons_alone(by: str) -> dict[str, str]:
    """Return the reasons of boundaries by the perplexity or the ratio alone."""
    return {
        "focus.high": f"nine tenths of the parts of the sample have this {by} or less.",
        "focus.medium": f"half way, by its logarithm, to the {by} of text without a known word.",
        "focus.cutoff": "text without any known word is beyond it.",
    }


def _of_model(path: Path) -> Topic:
    """Boundaries need text: a model alone only gives each page its perplexity."""
    note = (
        f"{path} is a model, and boundaries need text: no link goes first yet. Name text of the topic to "
        "windrow lm calibrate DIR --held-out TEXT --write, or set focus.high, medium and cutoff yourself."
    )
    return Topic(
        tables=model.tables(path),
        options=FocusOptions(model=MODEL),
        reasons={"focus.model": f"a copy of {path}."},
        notes=[note],
    )


def _is_model(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return False  # reading the text says what is wrong
    return model.is_arpa(path) or start.startswith(layout.MAGIC) or b"\\data\\" in start


def read(names: Sequence[str], accepted: Sequence[str] = ()) -> TopicSample:
    """Read sample text; ConfigError if it is too little, or in a language that the crawl does not accept."""
    notes: list[str] = []
    paragraphs = _paragraphs(names, notes)
    shown = ", ".join(names)
    words, new = _words(paragraphs)
    if words < LEAST:
        need = f"a topic needs at least {LEAST} words of running text, better {ENOUGH:,}: an article, or some pages"
        raise ConfigError(f"{shown} has {units.count(words, 'word')}; {need}")
    if new < ENOUGH:
        again = ", without sentences that occur again" if new < words else ""
        few = f"{shown} has only {new:,} words{again}: with fewer than {ENOUGH:,}, "
        notes.append(
            f"{few}pages on other topics score nearly as well. Add text, or a second file with another --topic."
        )
    languages = detect.detect(paragraphs, settings.prepare(Config().language))
    _check_language(languages, accepted, shown, notes)
    letters = "".join(paragraphs)
    pairs = len(_UNSPACED.findall(letters)) > 0.5 * sum(map(str.isalpha, letters))
    main = [code for code, share in languages.shares.items() if share >= _PART] or [languages.language]
    return TopicSample(paragraphs, main, words, pairs, notes)


def _words(paragraphs: Sequence[str]) -> tuple[int, int]:
    """Return the number of words, and that without sentences that occur again, which no model counts."""
    words = new = 0
    seen: set[int] = set()
    for sequence in Tokeniser(least=1).sequences(paragraphs):
        words += len(sequence)
        if (key := hash(tuple(sequence))) not in seen:
            seen.add(key)
            new += len(sequence)
    return words, new


def _check_language(finding: detect.Finding, accepted: Sequence[str], shown: str, notes: list[str]) -> None:
    language, shares = finding.language, finding.shares
    parts = ", ".join(f"{share:.0%} {codes.name(code)}" for code, share in shares.items() if share >= _PART)
    mixed = shares.get(language, 0.0) < _MAIN
    if mixed:
        several = f"{shown}: the text is in several languages ({parts})"
        notes.append(f"{several}: pages in each of them will be taken for the topic.")
    if accepted and not any(codes.covers(code, language) for code in accepted):
        wanted = f"the crawl accepts only {', '.join(accepted)}"
        if language == codes.UNKNOWN:
            raise ConfigError(
                f"{shown} is in no language that Windrow recognises, and {wanted}; give running text in it"
            )
        statement = f"{shown} is {'mostly ' if mixed else ''}{codes.name(language)} ({language})"
        shown_parts = f" ({parts})" if mixed else ""
        raise ConfigError(
            f"{statement}{shown_parts}, and {wanted}; give text in that language, or --language {language}"
        )


def _paragraphs(names: Sequence[str], notes: list[str]) -> list[str]:
    paragraphs: list[str] = []
    pages = 0
    for source in texts.sources(names, lambda read: None):
        pages += source.page
        paragraphs += [line.strip() for line in source.lines if line.strip()]
    if pages:
        notes.append(f"{pages:,} of the texts {'is' if pages == 1 else 'are'} HTML: the main text was extracted.")
    return paragraphs


def write(topic: Topic, directory: Path) -> None:
    """Write the files of a topic beside crawl.toml."""
    if topic.sample is not None:
        files.write(directory / TEXT, ("\n".join(topic.sample.texts) + "\n").encode("utf-8", "surrogatepass"))
    if topic.words is not None:
        weights.write(topic.words, directory / WORDS)
    model.write(topic.tables, directory / MODEL)


def applied(options: Config, topic: Topic, overrides: Sequence[str]) -> tuple[Config, dict[str, str]]:
    """Return the options of the crawl with those of its topic, and the reasons of these. What the user has set stays.

    `overrides`: what the user has set, such as "focus.high=0.5". It counts even where it is the default of the option.
    """
    if options.extract.extractor == "none":
        raise ConfigError('a topic needs text, and extract.extractor is "none"; choose an extractor, or no topic')
    names = {override.partition("=")[0].strip() for override in overrides}
    if own := sorted(names & {"focus.model", "focus.words"}):
        raise ConfigError(f"the topic has its own file for '{own[0]}'; leave out the option, or the topic")
    chosen = {name: value for name, value in dataclasses.asdict(options.focus).items() if f"focus.{name}" in names}
    focus, reasons = topic.options, topic.reasons
    if (proposed := topic.others.get(chosen.get("by", ""))) is not None:
        reasons = reasons | _reasons_alone(proposed.by)
        focus = dataclasses.replace(focus, high=proposed.high, medium=proposed.medium, cutoff=proposed.cutoff)
    made = dataclasses.replace(options, focus=dataclasses.replace(focus, **chosen))
    config.check_boundaries(made, "with what is set here and what fits the topic")
    return made, {name: reason for name, reason in reasons.items() if name not in names}


def _short(value: float) -> float:
    return float(f"{value:.4g}")
