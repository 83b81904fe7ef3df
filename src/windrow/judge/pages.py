"""Every judge of a page by itself, in turn: the first refusal is the reason, the scores of all go with it, the rest is for the corpus."""

import itertools
from collections.abc import Sequence

import msgspec

from windrow.config import Config
from windrow.data import Page, Paragraph, Reason, Signal, Verdict
from windrow.dedup import ngrams
from windrow.dedup.ngrams import Grams
from windrow.judge import quality, shape, signals
from windrow.judge.language import detect
from windrow.judge.language.detect import Finding

_ROOT = "html "  # begins the names under which the metas of a page have the attributes of <html>

Headers = Sequence[tuple[str, str]]
Refusal = tuple[Reason, str]  # why, and one line for people


class Ruling(msgspec.Struct, frozen=True):
    """A page's verdict, and what it leaves: nothing, where it is refused."""

    verdict: Verdict
    signals: tuple[Signal, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()  # the good ones in accepted languages
    languages: tuple[str, ...] = ()  # of each of them, ISO 639-3
    grams: Grams | None = None  # of their text, where near-duplicates are looked for


class _Case:
    """A page and what the judges have found so far."""

    __slots__ = ("found", "headers", "kept", "page", "paragraphs", "scores", "signals", "texts")

    def __init__(self, page: Page, headers: Headers) -> None:
        self.page, self.headers = page, headers
        self.paragraphs = [paragraph for paragraph in page.paragraphs if paragraph.kind == "good"]
        self.texts = [paragraph.text for paragraph in self.paragraphs]
        self.kept: Sequence[bool] = ()  # of them; empty: all
        self.found: Finding | None = None
        self.signals: tuple[Signal, ...] = ()
        self.scores: dict[str, float] = {}


class Judge:
    """Holds what the judges need; the same page always gets the same ruling."""

    def __init__(self, config: Config) -> None:
        self._agent = config.identity.name
        self._languages = msgspec.structs.replace(
            detect.prepare(config.language), least=int(config.quality.min_characters)
        )
        self._quality, self._signals, self._options = config.quality, config.signals, config.dedup
        self._stop_early = config.judge.stop_early
        self._judges = (self._by_signals, self._by_language, self._by_quality, self._by_translation)

    def __call__(self, page: Page, headers: Headers) -> Ruling:
        """`headers` are those of the response."""
        case = _Case(page, headers)
        refusal: Refusal | None = None if case.texts else (Reason.NO_TEXT, "")
        for judge in self._judges if case.texts else self._judges[:1]:
            answer = judge(case)
            refusal = refusal or answer
            if refusal and self._stop_early:
                break
        return self._ruled(case, refusal)

    def _ruled(self, case: _Case, refusal: Refusal | None) -> Ruling:
        found = case.found or Finding("", 0.0, {}, ())
        sizes = shape.octets(case.texts)
        primary = sum(itertools.compress(sizes, self._primary(found.paragraphs)))
        scores = {name: round(float(score), 4) for name, score in case.scores.items()}
        if refusal:
            return Ruling(Verdict(*refusal, found.language, scores, sum(sizes), primary), case.signals)
        kept = case.kept or (True,) * len(case.texts)
        texts = list(itertools.compress(case.texts, kept))
        verdict = Verdict(Reason.OK, "", found.language, scores, sum(sizes), primary, ngrams.text_key(texts))
        grams = ngrams.grams(texts, self._options.ngram) if self._options.near_duplicates else None
        left = tuple(itertools.compress(case.paragraphs, kept))
        return Ruling(verdict, case.signals, left, tuple(itertools.compress(found.paragraphs, kept)), grams)

    def _primary(self, languages: Sequence[str]) -> list[bool]:
        """Which are in the first accepted language; all, where every language is accepted."""
        first = self._languages.accepted[:1]
        return [not first or detect.covers(first[0], code) for code in languages]

    def _by_signals(self, case: _Case) -> Refusal | None:
        said = signals.read(case.headers, case.page.metas, self._agent)
        licences = (case.page.licence, *case.page.licences) if case.page.licence else case.page.licences
        case.signals = said + signals.licences(licences) if licences else said
        refused = signals.refuses(case.signals, self._signals) if case.signals else ""
        return (Reason.OPTED_OUT, refused) if refused else None

    def _by_language(self, case: _Case) -> Refusal | None:
        found = case.found = detect.judge(case.texts, self._languages)
        kept = detect.keep(found, self._languages)
        case.scores["language"] = found.score
        if self._languages.accepted:
            case.scores["accepted"] = kept.share
            case.scores["foreign"] = kept.dropped
        if kept.reason:
            return Reason.LANGUAGE, kept.detail
        case.kept = kept.paragraphs
        return None

    def _by_quality(self, case: _Case) -> Refusal | None:
        """Of what is kept; where the languages leave nothing, of all."""
        texts = list(itertools.compress(case.texts, case.kept)) if case.kept else case.texts
        ruling = quality.judge(texts, self._quality, quality.good_share(case.page.paragraphs))
        case.scores.update(ruling.scores)
        return (Reason.QUALITY, ruling.reason) if ruling.reason else None

    def _by_translation(self, case: _Case) -> Refusal | None:
        root = {name[len(_ROOT) :]: value for name, value in case.page.metas if name.startswith(_ROOT)}
        root.setdefault("lang", case.page.language)
        mark = quality.machine_translated(root, itertools.chain(case.page.metas, case.headers), case.texts)
        if not mark:
            return None
        case.scores["machine_translated"] = 1.0
        return (Reason.MACHINE_TRANSLATED, mark) if self._quality.drop_machine_translations else None
