"""The judge of the topic: scores each page, and rejects one only where [focus] max_perplexity asks for it.

Models need numpy, so a crawl without a topic does not import them: 0.1 s of CPU and 12 MB for every worker.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from windrow.config import Config, ConfigError, FocusOptions
from windrow.judge.focus import relevance
from windrow.judge.focus.relevance import Typical
from windrow.judge.ruling import KEPT, Facts, Judge, Ruling
from windrow.records import Page, Reason

if TYPE_CHECKING:
    from windrow.judge.focus.model import NgramModel
    from windrow.judge.focus.weights import Weigher


class TopicScores(msgspec.Struct, frozen=True):
    """The scores of a text by name."""

    perplexity: float
    perplexity_windows: float  # as Remus and Biemann's program computes it
    ratio: float | None = None
    odds: float | None = None
    relevance: float | None = None

    def named(self) -> dict[str, float]:
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


class TopicScorer:
    """A topic: its model, its words, and what is typical of it."""

    def __init__(self, ngrams: "NgramModel", weigher: "Weigher | None" = None, typical: Typical | None = None) -> None:
        self._model = ngrams
        self._weigher = weigher
        self._typical = typical
        self.worst = float(10 ** min(-ngrams.unknown_log10, 308.0))  # perplexity of text without a known word

    def score(self, texts: Sequence[str]) -> TopicScores:
        """Score a text. One without any sequence of words is as bad as one without a known word."""
        lower = self._model.tokeniser.lower
        if lower:  # once for both: it takes a fifth of the time
            texts = [self._model.tokeniser.prepare(text) for text in texts]
        scored = self._model.score_texts(texts, lower)
        perplexity = scored.perplexity if scored.words else self.worst
        windows = scored.perplexity_windows if scored.windows else self.worst
        ratio = self._weigher.ratio(texts, lower) if self._weigher is not None else None
        if self._typical is None:
            return TopicScores(perplexity, windows, ratio)
        against = relevance.odds(min(perplexity, self.worst), ratio, self._typical)
        return TopicScores(perplexity, windows, ratio, against, relevance.probability(against))


def build(config: Config, inner: Judge | None = None) -> Judge:
    options = config.focus
    if not options.model:
        return lambda page, facts: KEPT
    scorer = read(options)
    limit = options.max_perplexity

    def judge(page: Page, facts: Facts) -> Ruling:
        # A page whose language is not accepted has no text left, and still a topic: its links are followed or not.
        found = scorer.score(facts.kept or facts.texts)
        if limit and found.perplexity > limit:
            detail = f"perplexity {found.perplexity:,.0f}, focus.max_perplexity is {limit:,.0f}"
            return Ruling(scores=found.named(), reason=Reason.TOPIC, detail=detail)
        return Ruling(scores=found.named())

    return judge


def words_scorer(options: FocusOptions) -> Callable[[str], float] | None:
    """Return a function that says how well a few words fit the topic, from 0 to 1; None if the topic has no words."""
    known = typical(options)
    if not options.model or not options.words or known is None or not 0 < known.ratio < known.worst_ratio:
        return None
    weigher = _weigher(options.words)
    width = math.log(known.worst_ratio / known.ratio)

    def score(text: str) -> float:
        ratio = weigher.ratio([text])
        return 0.0 if ratio is None else min(1.0, max(0.0, math.log(known.worst_ratio / max(ratio, 1e-9)) / width))

    return score


def read(options: FocusOptions, check: bool = False) -> TopicScorer:
    """Return the topic of a crawl. `check`: read the whole model once, to see that it is not damaged."""
    from windrow.judge.focus import model

    weigher = _weigher(options.words) if options.words else None
    return TopicScorer(model.read(Path(options.model), check), weigher, typical(options))


def _weigher(words: str) -> "Weigher":
    from windrow.judge.focus import weights

    return weights.Weigher(weights.read(Path(words)))


def typical(options: FocusOptions) -> Typical | None:
    if not options.typical_perplexity:
        return None
    return Typical(options.typical_perplexity, options.typical_ratio, options.worst_ratio)


def check(options: FocusOptions) -> None:
    """Refuse a topic that cannot be used: files that are missing or damaged, scores that no page would get."""
    needed = {"ratio": (options.words, "words"), "odds": (options.typical_perplexity, "typical_perplexity")}
    if not options.model:
        if options.high or options.medium or options.cutoff or options.max_perplexity or options.words:
            raise ConfigError("[focus] has options and no model; name one: windrow init --topic TEXT makes it")
        return
    read(options, check=True)
    value, name = needed.get(options.by, (True, ""))
    if not value:
        fix = "set it, or choose another score; windrow lm calibrate DIR --held-out TEXT proposes one"
        raise ConfigError(f'focus.by is "{options.by}", and no page has this score without focus.{name}; {fix}')
