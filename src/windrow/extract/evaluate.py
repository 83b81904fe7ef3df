"""How good a text is beside the gold text, and what it cost: precision, recall and F1 by bag of words and of four words in a row."""

import collections
import re
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from windrow.data import Page
from windrow.extract.gold import Sample

Text = Callable[[Sample], str]  # an extractor, ours or a peer's, made to answer with its text

UNSPACED = frozenset(
    ("zh", "ja", "th", "lo", "km", "my", "bo")
)  # languages that put no blanks between words: counted by character
_WORD = re.compile(r"\w+")
_GRAM = 4  # words


class Match(msgspec.Struct, frozen=True):
    precision: float
    recall: float
    f1: float


class Score(msgspec.Struct, frozen=True):
    """One extractor on one page."""

    extractor: str
    name: str
    dataset: str
    language: str
    kind: str
    milliseconds: float  # CPU
    empty: bool
    partial: bool
    bag: Match
    gram: Match
    hits: tuple[int, int, int, int]  # wanted passages found and missed, unwanted found and missed


class Row(msgspec.Struct, frozen=True):
    """One extractor on many pages: means over pages, or for passages the figures of their sums."""

    extractor: str
    group: str  # "all", "dataset", "language", "kind"
    value: str
    pages: int
    bag: Match
    gram: Match
    mean_ms: float
    median_ms: float
    empty: int
    passages: bool = False  # measured by passages, as trafilatura's own evaluation does


def words(text: str, language: str) -> list[str]:
    lowered = text.lower()
    return [one for one in lowered if one.isalnum()] if language in UNSPACED else _WORD.findall(lowered)


def bag(gold: Sequence[object], found: Sequence[object]) -> Match:
    """By counts of what is in both, whatever the order."""
    both = sum((collections.Counter(gold) & collections.Counter(found)).values())
    if not both:
        same = float(not gold and not found)
        return Match(same, same, same)
    return Match(both / len(found), both / len(gold), 2 * both / (len(gold) + len(found)))


def grams(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    """Every four words in a row; a shorter text is one."""
    if len(tokens) <= _GRAM:
        return [tuple(tokens)] if tokens else []
    return list(zip(*(tokens[start:] for start in range(_GRAM)), strict=False))


def passages(sample: Sample, text: str) -> tuple[int, int, int, int]:
    flat = " ".join(text.split())
    wanted = sum(" ".join(one.split()) in flat for one in sample.wanted)
    unwanted = sum(" ".join(one.split()) in flat for one in sample.unwanted)
    return wanted, len(sample.wanted) - wanted, unwanted, len(sample.unwanted) - unwanted


def text(page: Page) -> str:
    """What an extractor of ours calls the text: its good paragraphs, one a line."""
    return "\n".join(one.text for one in page.paragraphs if one.kind == "good")


def score(name: str, extract: Text, sample: Sample) -> Score:
    start = time.process_time()
    found = extract(sample)
    spent = time.process_time() - start
    gold, tokens = words(sample.gold, sample.language), words(found, sample.language)
    return Score(
        name,
        sample.name,
        sample.dataset,
        sample.language,
        sample.kind,
        spent * 1000,
        not tokens,
        sample.partial,
        bag(gold, tokens),
        bag(grams(gold), grams(tokens)),
        passages(sample, found),
    )


def rows(scores: Iterable[Score]) -> list[Row]:
    """For each extractor: the mean over its data sets, then each data set, language and kind of page."""
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


def _language(one: Score) -> str:
    return one.language


def _kind(one: Score) -> str:
    return one.kind


def _by(scores: Iterable[Score], key: Callable[[Score], str]) -> dict[str, list[Score]]:
    parts: dict[str, list[Score]] = {}
    for one in scores:
        parts.setdefault(key(one), []).append(one)
    return parts


def _row(extractor: str, place: tuple[str, str], part: list[Score]) -> Row:
    partial = all(one.partial for one in part)
    whole = _summed([one.hits for one in part]) if partial else _mean([one.bag for one in part])
    gram = whole if partial else _mean([one.gram for one in part])
    times = [one.milliseconds for one in part]
    empty = sum(one.empty for one in part)
    return Row(
        extractor, *place, len(part), whole, gram, statistics.fmean(times), statistics.median(times), empty, partial
    )


def _overall(extractor: str, datasets: list[Row], scores: list[Score]) -> Row:
    """Every data set counts the same, however many pages it has; those measured by passages only where there are no others."""
    whole = [one for one in datasets if not one.passages] or datasets
    times = [one.milliseconds for one in scores]
    figures = _mean([one.bag for one in whole]), _mean([one.gram for one in whole])
    empty = sum(one.empty for one in scores)
    return Row(extractor, "all", "", len(scores), *figures, statistics.fmean(times), statistics.median(times), empty)


def _mean(matches: list[Match]) -> Match:
    return Match(
        *(
            statistics.fmean(values)
            for values in zip(*((one.precision, one.recall, one.f1) for one in matches), strict=True)
        )
    )


def _summed(hits: list[tuple[int, int, int, int]]) -> Match:
    found, missed, wrong, _ = (sum(column) for column in zip(*hits, strict=True))
    if not found:
        return Match(0.0, 0.0, 0.0)
    return Match(found / (found + wrong), found / (found + missed), 2 * found / (2 * found + wrong + missed))
