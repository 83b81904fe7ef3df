"""Propose the boundaries of a topic from the scores of a short test crawl, from text on the topic, or from both.

Text on the topic says what a page on the topic scores; the crawl says which scores its pages have. Boundaries by odds
come from the text, and are moved only so far that each bucket gets pages of the crawl. A perplexity has no meaning of
its own, so without text its boundaries are quantiles of the crawl.
"""

import functools
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from windrow import log
from windrow.config import Config, ConfigError
from windrow.jobs.topic import samples as topics
from windrow.jobs.topic.samples import MODEL
from windrow.judge.focus import boundaries, relevance, topic
from windrow.judge.focus.boundaries import Boundaries, Interval
from windrow.judge.focus.relevance import Typical
from windrow.judge.focus.topic import TopicScorer

_MOST = 20000  # pages whose scores are looked at; of more, every second, third … one
_DRAWN = 2000  # of these, for the interval
_SEEN = 0.3  # of the typical perplexity; text with less is probably in the model
_LOWEST = 20.0  # perplexity; no new text of a natural language has less
_FEW = 100  # pages below which a quantile is hardly more than a guess
_QUANTILES = {"high": 0.25, "medium": 0.5, "cutoff": 0.95}
# By odds, the share of a crawl's pages that each boundary has below it, at least and at most.
_BETWEEN = {"high": (0.05, 0.5), "medium": (0.3, 0.8), "cutoff": (0.9, 1.0)}


class Boundary(msgspec.Struct, frozen=True):
    """A boundary that is proposed."""

    name: str
    now: float
    proposed: float
    share: float | None = None  # of the crawl's pages with a score up to it; None: there is no page
    low: float | None = None  # the interval of 90 % in which the same quantile of other such pages would lie
    high: float | None = None


class Proposal(msgspec.Struct, frozen=True):
    """What to write into crawl.toml, and how certain it is."""

    by: str
    pages: int  # of the crawl, with a score
    parts: int  # of the text
    boundaries: list[Boundary]
    typical: Typical | None  # if it was measured on text
    perplexity: Interval | None  # the same with its interval
    notes: list[str]

    def values(self) -> dict[str, Any]:
        """Return the options to write, by name."""
        options: dict[str, Any] = {"focus.by": self.by}
        options |= {f"focus.{boundary.name}": boundary.proposed for boundary in self.boundaries}
        if self.typical is not None:
            options["focus.typical_perplexity"] = self.typical.perplexity
            if self.typical.ratio:
                options |= {"focus.typical_ratio": self.typical.ratio, "focus.worst_ratio": self.typical.worst_ratio}
        return options


class PageScores:
    """A fold over the log: perplexity and ratio of each page that has them."""

    reads = ("scores",)

    def __init__(self) -> None:
        self.perplexities = array("d")
        self.ratios = array("d")  # 0: none

    def add(self, head: log.Head, lines: Sequence[log.Line]) -> None:
        for line in lines:
            if line.scores and relevance.PERPLEXITY in line.scores:
                self.perplexities.append(line.scores[relevance.PERPLEXITY])
                self.ratios.append(line.scores.get("ratio", 0.0))

    def rows(self) -> list[tuple[float, float | None]]:
        step = -(-len(self.perplexities) // _MOST) or 1
        pairs = zip(self.perplexities[::step], self.ratios[::step], strict=True)
        return [(perplexity, ratio or None) for perplexity, ratio in pairs]


def propose(directory: Path, options: Config, held_out: Sequence[str]) -> Proposal:
    """Propose boundaries for a crawl. `held_out`: files of text on the topic that is not in its model."""
    focus = options.focus
    if not focus.model:
        raise ConfigError(f"{directory} has no topic: focus.model is not set; make one with windrow init --topic TEXT")
    scorer = topic.read(focus)
    pages = _pages(directory)
    if not pages and not held_out:
        fix = f"run a short one with windrow crawl {directory} --max-pages 500, or name text with --held-out TEXT"
        raise ConfigError(f"{directory} has no page with a score yet; {fix}")
    typical = topic.typical(focus)
    scores: list[topic.TopicScores] = []
    notes: list[str] = []
    if held_out:
        sample = topics.read(held_out)
        notes += sample.notes
        scores = [scorer.score([part]) for part in boundaries.parts(sample.texts)]
        typical = _typical(scores, scorer, options)
        notes += _doubts(", ".join(held_out), typical, topic.typical(focus))
    worse = functools.partial(_score, by="odds" if typical else "perplexity", scorer=scorer, typical=typical)
    values = [worse(perplexity, ratio) for perplexity, ratio in pages]
    held = [worse(score.perplexity, score.ratio) for score in scores]
    proposed = _boundaries(values, held, scorer, typical, options)
    if 0 < len(values) < _FEW:
        notes.append(f"only {len(values)} pages have a score: crawl a few hundred for narrower intervals")
    now = {name: getattr(focus, name) if focus.by == proposed.by else 0.0 for name in _QUANTILES}
    return Proposal(
        by=proposed.by,
        pages=len(pages),
        parts=len(scores),
        boundaries=[_boundary(name, now[name], getattr(proposed, name), values) for name in _QUANTILES],
        typical=typical if scores else None,
        perplexity=boundaries.median([score.perplexity for score in scores]) if scores else None,
        notes=notes,
    )


def _doubts(shown: str, typical: Typical, before: Typical | None) -> list[str]:
    """Return what looks wrong with held-out text, by what was typical of the topic before."""
    if typical.perplexity < max(_SEEN * before.perplexity if before else 0.0, _LOWEST):
        return [f"{shown} looks like text of the model itself: name text that it has not seen"]
    if before and relevance.odds(typical.perplexity, typical.ratio or None, before) > 1:
        return [f"{shown} does not look like text on the topic of {MODEL}: name other text, or make the topic again"]
    return []


def _pages(directory: Path) -> list[tuple[float, float | None]]:
    scores = PageScores()
    if (directory / "log").is_dir():
        log.follow(directory, log.START, scores)
    return scores.rows()


def _typical(scores: Sequence[topic.TopicScores], scorer: TopicScorer, options: Config) -> Typical:
    perplexity = boundaries.median([score.perplexity for score in scores]).value
    ratios = [score.ratio for score in scores if score.ratio is not None]
    ratio = boundaries.median(ratios).value if ratios else 0.0
    worst = max(options.focus.worst_ratio, 1.2 * ratio) if ratio else 0.0
    return Typical(*(float(f"{value:.4g}") for value in (perplexity, ratio, worst)))


def _score(perplexity: float, ratio: float | None, by: str, scorer: TopicScorer, typical: Typical | None) -> float:
    if by == "perplexity" or typical is None:
        return perplexity
    return relevance.odds(min(perplexity, scorer.worst), ratio, typical)


def _boundaries(
    values: Sequence[float], held: Sequence[float], scorer: TopicScorer, typical: Typical | None, options: Config
) -> Boundaries:
    if typical is None:
        limits = {name: boundaries.quantile(values, share) for name, share in _QUANTILES.items()}
        return _ordered("perplexity", limits)
    focus = options.focus
    if held or focus.by != "odds" or not focus.high:
        start = boundaries.propose(held or [0.0], scorer, typical)
        limits = {name: getattr(start, name) for name in _QUANTILES}
    else:
        limits = {name: getattr(focus, name) for name in _QUANTILES}
    if values:
        for name, (least, most) in _BETWEEN.items():
            low, high = boundaries.quantile(values, least), boundaries.quantile(values, most)
            limits[name] = max(limits[name], low) if name == "cutoff" else min(max(limits[name], low), high)
    return _ordered("odds", limits)


def _ordered(by: str, limits: dict[str, float]) -> Boundaries:
    high = limits["high"]
    medium = max(high, limits["medium"])
    cutoff = max(medium, limits["cutoff"])
    return Boundaries(by, *(float(f"{value:.3g}") for value in (high, medium, cutoff)))


def _boundary(name: str, now: float, proposed: float, values: Sequence[float]) -> Boundary:
    """Add how certain a boundary is: the interval of the quantile that it is, over pages drawn again."""
    if not values:
        return Boundary(name, now=now, proposed=proposed)
    share = sum(value <= proposed for value in values) / len(values)
    drawn = values[:: -(-len(values) // _DRAWN)]
    estimate = boundaries.estimate(drawn, functools.partial(boundaries.quantile, share=share))
    low, high = _short(estimate.low), _short(estimate.high)
    return Boundary(name, now=now, proposed=proposed, share=share, low=low, high=high)


def _short(value: float) -> float:
    return float(f"{value:.3g}")
