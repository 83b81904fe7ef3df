"""Compare a text with the gold text: precision, recall and F1 over bags of words and of word 4-grams, and CPU time."""

import collections
import re
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from windrow.data import Page
from windrow.extract.evaluation.gold import Sample

TextExtractor = Callable[[Sample], str]  # an extractor, ours or a peer's, that returns the text

# Languages without blanks between words: they are counted by character.
UNSPACED = frozenset(("zh", "ja", "th", "lo", "km", "my", "bo"))
_WORD = re.compile(r"\w+")
_NGRAM = 4  # words


class Overlap(msgspec.Struct, frozen=True):
    precision: float
    recall: float
    f1: float


class PageScore(msgspec.Struct, frozen=True):
    """One extractor on one page."""

    extractor: str
    name: str
    dataset: str
    language: str
    kind: str
    milliseconds: float  # CPU
    empty: bool
    partial: bool
    bag: Overlap
    ngram: Overlap
    hits: tuple[int, int, int, int]  # wanted passages found and missed, unwanted passages found and missed


class ScoreRow(msgspec.Struct, frozen=True):
    """One extractor on many pages: means over pages, or for passages the scores of their sums."""

    extractor: str
    group: str  # "all", "dataset", "language", "kind"
    value: str
    pages: int
    bag: Overlap
    ngram: Overlap
    mean_ms: float
    median_ms: float
    empty: int
    passages: bool = False  # measured by passages, as trafilatura's own evaluation does


def words(text: str, language: str) -> list[str]:
    lowered = text.lower()
    return [one for one in lowered if one.isalnum()] if language in UNSPACED else _WORD.findall(lowered)


def bag(gold: Sequence[object], found: Sequence[object]) -> Overlap:
    """Compare two bags: items in both count, in any order."""
    both = sum((collections.Counter(gold) & collections.Counter(found)).values())
    if not both:
        same = float(not gold and not found)
        return Overlap(same, same, same)
    return Overlap(both / len(found), both / len(gold), 2 * both / (len(gold) + len(found)))


def ngrams(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    """Return all word 4-grams; a shorter text is one n-gram."""
    if len(tokens) <= _NGRAM:
        return [tuple(tokens)] if tokens else []
    return list(zip(*(tokens[start:] for start in range(_NGRAM)), strict=False))


def passages(sample: Sample, text: str) -> tuple[int, int, int, int]:
    flat = " ".join(text.split())
    wanted = sum(" ".join(one.split()) in flat for one in sample.wanted)
    unwanted = sum(" ".join(one.split()) in flat for one in sample.unwanted)
    return wanted, len(sample.wanted) - wanted, unwanted, len(sample.unwanted) - unwanted


def text(page: Page) -> str:
    """Return the paragraphs of a page that are kept, one per line."""
    return "\n".join(one.text for one in page.paragraphs if one.kept)


def score(name: str, extract: TextExtractor, sample: Sample) -> PageScore:
    start = time.process_time()
    found = extract(sample)
    spent = time.process_time() - start
    gold, tokens = words(sample.gold, sample.language), words(found, sample.language)
    return PageScore(
        extractor=name,
        name=sample.name,
        dataset=sample.dataset,
        language=sample.language,
        kind=sample.kind,
        milliseconds=spent * 1000,
        empty=not tokens,
        partial=sample.partial,
        bag=bag(gold, tokens),
        ngram=bag(ngrams(gold), ngrams(tokens)),
        hits=passages(sample, found),
    )


def rows(scores: Iterable[PageScore]) -> list[ScoreRow]:
    """Return for each extractor the mean over the data sets, then each data set, language and kind of page."""
    table = []
    by_extractor = _by(scores, lambda one: one.extractor)
    for extractor, all_scores in by_extractor.items():
        datasets = [
            _row(extractor, ("dataset", name), part) for name, part in _by(all_scores, lambda one: one.dataset).items()
        ]
        table += [_overall(extractor, datasets, all_scores), *datasets]
        whole = [one for one in all_scores if not one.partial]
        for group, key in (("language", _language), ("kind", _kind)):
            parts = _by(whole, key)
            table += [_row(extractor, (group, name), parts[name]) for name in sorted(parts) if name]
    return table


def _language(one: PageScore) -> str:
    return one.language


def _kind(one: PageScore) -> str:
    return one.kind


def _by(scores: Iterable[PageScore], key: Callable[[PageScore], str]) -> dict[str, list[PageScore]]:
    parts: dict[str, list[PageScore]] = {}
    for one in scores:
        parts.setdefault(key(one), []).append(one)
    return parts


def _row(extractor: str, place: tuple[str, str], part: list[PageScore]) -> ScoreRow:
    partial = all(one.partial for one in part)
    whole = _summed([one.hits for one in part]) if partial else _mean([one.bag for one in part])
    times = [one.milliseconds for one in part]
    return ScoreRow(
        extractor=extractor,
        group=place[0],
        value=place[1],
        pages=len(part),
        bag=whole,
        ngram=whole if partial else _mean([one.ngram for one in part]),
        mean_ms=statistics.fmean(times),
        median_ms=statistics.median(times),
        empty=sum(one.empty for one in part),
        passages=partial,
    )


def _overall(extractor: str, datasets: list[ScoreRow], scores: list[PageScore]) -> ScoreRow:
    """Return the mean over data sets, of equal weight. Those with passages count only if there are no others."""
    whole = [one for one in datasets if not one.passages] or datasets
    times = [one.milliseconds for one in scores]
    return ScoreRow(
        extractor=extractor,
        group="all",
        value="",
        pages=len(scores),
        bag=_mean([one.bag for one in whole]),
        ngram=_mean([one.ngram for one in whole]),
        mean_ms=statistics.fmean(times),
        median_ms=statistics.median(times),
        empty=sum(one.empty for one in scores),
    )


def _mean(matches: list[Overlap]) -> Overlap:
    return Overlap(
        *(
            statistics.fmean(values)
            for values in zip(*((one.precision, one.recall, one.f1) for one in matches), strict=True)
        )
    )


def _summed(hits: list[tuple[int, int, int, int]]) -> Overlap:
    found, missed, wrong, _ = (sum(column) for column in zip(*hits, strict=True))
    if not found:
        return Overlap(0.0, 0.0, 0.0)
    return Overlap(found / (found + wrong), found / (found + missed), 2 * found / (2 * found + wrong + missed))
