"""Run every judge over a page: the first rejection is the reason, the scores of all are kept."""

import itertools
import math
from collections.abc import Sequence

import msgspec

from windrow import plugins
from windrow.config import Config, ConfigError
from windrow.judge import JUDGES, shape, spans
from windrow.judge.language import codes
from windrow.judge.ruling import KEPT, Facts, Headers, Judge, Ruling
from windrow.plugins import OpenTable, WrongResult
from windrow.records import KEPT_KINDS, Page, Paragraph, Reason, Signal, Verdict


class Judged(msgspec.Struct, frozen=True):
    """The verdict on a page, and what remains for the corpus: nothing if the page is rejected."""

    verdict: Verdict  # without the digest of the text
    signals: tuple[Signal, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()  # those kept that no judge dropped
    languages: tuple[str, ...] = ()  # ISO 639-3 code of each of them


class Panel:
    """All judges of a crawl, made from its options."""

    def __init__(self, config: Config) -> None:
        built = {name: row.build(config, None) for name, row in JUDGES.items()}
        own = {name: _own(name, config) for name in config.judge.judges}
        self._judges = (*built.items(), *own.items())
        self._textless = tuple((name, judge) for name, judge in built.items() if JUDGES[name].textless)
        self._stop_early = config.judge.stop_early
        self._first = codes.parse(config.language.accepted[0]) if config.language.accepted else ""

    def __call__(self, page: Page, url: str, headers: Headers = (), sketch: str = "") -> Judged:
        """Judge a page. `sketch`: the soft-404 sketch of its origin; "" if none is known."""
        paragraphs = [paragraph for paragraph in page.paragraphs if paragraph.kind in KEPT_KINDS]
        texts = [paragraph.text for paragraph in paragraphs]
        facts = Facts(url=url, headers=headers, sketch=sketch, texts=texts)
        scores: dict[str, float] = {}
        rejection, labelled = KEPT, KEPT
        for name, judge in self._judges if texts else self._textless:
            ruling = judge(page, facts)
            if ruling is KEPT:
                continue
            if not scores.keys().isdisjoint(ruling.scores):
                twice = min(scores.keys() & ruling.scores.keys())
                fix = "give the scores of your own judge other names"
                raise WrongResult(f"two judges give the score {twice!r}; {fix}", name, judge)
            scores.update(ruling.scores)
            facts = _with_findings(facts, ruling)
            labelled = ruling if ruling.language else labelled
            if rejection is KEPT and ruling.reason is not Reason.OK:
                rejection = ruling
                if self._stop_early:
                    break
        if rejection is KEPT and len(facts.dropped) == len(texts):
            rejection = Ruling(reason=Reason.QUALITY, detail="the judges dropped every paragraph")
        verdict = self._verdict(rejection, labelled, scores, facts)
        return Judged(verdict, facts.signals) if rejection is not KEPT else _accepted(verdict, paragraphs, facts)

    def _verdict(self, rejection: Ruling, labelled: Ruling, scores: dict[str, float], facts: Facts) -> Verdict:
        sizes = shape.octets(facts.texts)
        page = labelled.page_language or labelled.language
        language = page if rejection is not KEPT else _language(labelled, facts, sizes)
        rounded = {name: round(float(score), 4) for name, score in scores.items()}
        return Verdict(
            reason=rejection.reason,
            detail=rejection.detail,
            language=language,
            scores=rounded,
            clean=sum(sizes),
            primary=sum(itertools.compress(sizes, self._primary(facts))),
            page_language=page if page != language else "",
        )

    def _primary(self, facts: Facts) -> list[bool]:
        """Say which texts are in the first accepted language; all, if every language is accepted."""
        return [not self._first or codes.covers(self._first, code) for code in facts.languages]


def _language(labelled: Ruling, facts: Facts, sizes: Sequence[int]) -> str:
    """Return the language of the text that stays: that of most of it, if other judges dropped paragraphs too."""
    if len(facts.dropped) == len(labelled.dropped) or not facts.languages:
        return labelled.language
    weights: dict[str, int] = {}
    for index, (code, size) in enumerate(zip(facts.languages, sizes, strict=True)):
        if index not in facts.dropped:
            weights[code] = weights.get(code, 0) + size
    return max(weights, key=lambda code: weights[code], default=labelled.language)


def _accepted(verdict: Verdict, paragraphs: list[Paragraph], facts: Facts) -> Judged:
    if facts.spans:
        paragraphs = spans.apply(paragraphs, facts.spans)
    if not facts.dropped:
        return Judged(verdict, facts.signals, tuple(paragraphs), tuple(facts.languages))
    kept = [index not in facts.dropped for index in range(len(paragraphs))]
    left, languages = itertools.compress(paragraphs, kept), itertools.compress(facts.languages, kept)
    return Judged(verdict, facts.signals, tuple(left), tuple(languages))


def _with_findings(facts: Facts, ruling: Ruling) -> Facts:
    """Return the facts for the judges that follow."""
    if not (ruling.dropped or ruling.languages or ruling.signals or ruling.spans):
        return facts
    return msgspec.structs.replace(
        facts,
        dropped=facts.dropped | frozenset(ruling.dropped) if ruling.dropped else facts.dropped,
        languages=ruling.languages or facts.languages,
        signals=facts.signals + ruling.signals,
        spans=facts.spans + ruling.spans,
    )


def _own(name: str, config: Config) -> Judge:
    """Return the user's judge, with its rulings checked."""
    table: OpenTable[Config, Judge] = OpenTable("judge.judges", {})
    judge = plugins.build(table, name, config.plugins, config)
    if not callable(judge):
        fix = "name a function (page: Page, facts: Facts) -> Ruling"
        raise ConfigError(f"option 'judge.judges' names {name!r}, which is not a function; {fix}")

    def checked(page: Page, facts: Facts) -> Ruling:
        ruling = judge(page, facts)
        if problem := _problem(ruling, facts):
            raise WrongResult(f"the judge {name!r} {problem}", name, judge)
        if not all(map(math.isfinite, ruling.scores.values())):  # log and corpus are JSON, which has no such numbers
            finite = {name: score for name, score in ruling.scores.items() if math.isfinite(score)}
            return msgspec.structs.replace(ruling, scores=finite)
        return ruling

    return checked


def _problem(ruling: Ruling, facts: Facts) -> str:
    """Return what is wrong with a ruling; "" if nothing is."""
    if not isinstance(ruling, Ruling):
        return f"returned {type(ruling).__name__}, not a Ruling"
    if not all(hasattr(score, "__float__") for score in ruling.scores.values()):
        return "gives a score that is not a number"
    if not set(ruling.dropped) <= set(range(len(facts.texts))):
        return "drops paragraphs that `facts.texts` does not have"
    if ruling.languages and len(ruling.languages) != len(facts.texts):
        return "must give one language for each of `facts.texts`"
    return next((problem for span in ruling.spans if (problem := spans.problem(span, facts.texts))), "")
