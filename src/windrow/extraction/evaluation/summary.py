"""From scores of pages to rows: each extractor over all pages, by data set, page type, language and length."""

import statistics
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from windrow.extraction.evaluation import bootstrap
from windrow.extraction.evaluation.bootstrap import Draws, Estimate, Numbers
from windrow.extraction.evaluation.facts import NAMES
from windrow.extraction.evaluation.score import PageScore

Scored = Sequence[PageScore]  # one page: the scores of all extractors, in their order
LENGTHS = (100, 200, 500, 1000, 3000)  # words of the gold text at which a new class begins
_MEASURES = 4


class Measures(msgspec.Struct, frozen=True):
    precision: Estimate
    recall: Estimate
    f1: Estimate
    ngram: Estimate  # F1 by word 4-grams


class ScoreRow(msgspec.Struct, frozen=True):
    """One extractor on many pages: means over pages, or for passages the scores of their sums."""

    extractor: str
    group: str  # "all", "dataset", "kind", "language", "length"
    value: str
    pages: int
    sites: int
    scores: Measures
    ahead: Measures | None  # the first extractor minus this one; None for the first
    mean_ms: float
    median_ms: float
    empty: int
    errors: int
    headlines: tuple[int, int]  # headlines that the gold text has: kept, all
    comments: tuple[int, int]  # readers' comments that the gold text does not have: kept, all
    passages: bool = False  # measured by passages, as trafilatura's own evaluation does


class FactRow(msgspec.Struct, frozen=True):
    """Title, author or date, as one extractor gives it, on the pages where it is known."""

    extractor: str
    fact: str
    dataset: str  # empty: all
    pages: int  # that have it
    exact: Estimate  # share of these pages
    f1: Estimate  # by words, mean over these pages
    given: int  # pages on which the extractor gives one
    right_where_given: float
    missing: int
    without: int  # pages that have none, according to the gold
    invented: int  # of these, pages on which the extractor gives one


def rows(pages: Sequence[Scored]) -> list[ScoreRow]:
    """Return one row per group and extractor: the mean over the data sets first, then each group."""
    if not pages:
        return []
    datasets = _by(pages, lambda one: one.dataset)
    partial = {name for name, part in datasets.items() if all(page[0].partial for page in part)}
    found = {name: _draws(part, f"dataset {name}", name in partial) for name, part in datasets.items()}
    chosen = [one for name, one in found.items() if name not in partial] or list(found.values())
    table = _rows(("all", ""), pages, bootstrap.mean(chosen), False)
    for name, part in datasets.items():
        table += _rows(("dataset", name), part, found[name], name in partial)
    whole = [page for page in pages if not page[0].partial]
    groups: tuple[tuple[str, Callable[[PageScore], str]], ...] = (
        ("kind", lambda one: one.kind),
        ("language", lambda one: one.language),
        ("length", lambda one: length(one.words)),
    )
    for group, key in groups:
        parts = _by(whole, key)
        order = list(map(length, (0, *LENGTHS))) if group == "length" else sorted(parts)
        for name in (one for one in order if one and one in parts):
            table += _rows((group, name), parts[name], _draws(parts[name], f"{group} {name}", False), False)
    return table


def length(words: int) -> str:
    """Return the class of a gold text of so many words."""
    below = sum(words >= least for least in LENGTHS)
    if below == 0:
        return f"under {LENGTHS[0]}"
    return f"{LENGTHS[-1]} and more" if below == len(LENGTHS) else f"{LENGTHS[below - 1]} to {LENGTHS[below] - 1}"


def facts(pages: Sequence[Scored]) -> list[FactRow]:
    """Return one row per fact and extractor that gives facts: of all pages, then of each data set if several."""
    datasets = _by(pages, lambda one: one.dataset)
    parts = {"": list(pages), **(datasets if len(datasets) > 1 else {})}
    found = (
        _fact_row(dataset, fact, [page[number] for page in part])
        for dataset, part in parts.items()
        for fact in NAMES
        for number in range(len(pages[0]) if pages else 0)
    )
    return [row for row in found if row is not None]


def _fact_row(dataset: str, fact: str, scores: Sequence[PageScore]) -> FactRow | None:
    pairs = [(score.site, one) for score in scores for one in score.facts if one.fact == fact]
    wanted = [(site, one) for site, one in pairs if one.wanted]
    if not wanted:
        return None
    values = [(float(one.exact), one.f1, 1.0) for _, one in wanted]
    exact, f1 = bootstrap.estimates(bootstrap.draws(values, [site for site, _ in wanted], _means, f"{fact} {dataset}"))
    given = sum(one.given for _, one in wanted)
    return FactRow(
        extractor=scores[0].extractor,
        fact=fact,
        dataset=dataset,
        pages=len(wanted),
        exact=exact,
        f1=f1,
        given=given,
        right_where_given=sum(one.exact for _, one in wanted) / given if given else 0.0,
        missing=len(wanted) - given,
        without=len(pairs) - len(wanted),
        invented=sum(one.given for _, one in pairs if not one.wanted),
    )


def _by(pages: Iterable[Scored], key: Callable[[PageScore], str]) -> dict[str, list[Scored]]:
    parts: dict[str, list[Scored]] = {}
    for page in pages:
        parts.setdefault(key(page[0]), []).append(page)
    return parts


def _draws(pages: Sequence[Scored], name: str, passages: bool) -> Draws:
    """Return precision, recall, F1 and 4-gram F1 of every extractor, then the first minus each other."""
    values = [[*_columns(page, passages), 1.0] for page in pages]
    sites = [f"{page[0].dataset} {page[0].site}" for page in pages]
    return bootstrap.draws(values, sites, _passages if passages else _compared_means, name)


def _columns(page: Scored, passages: bool) -> list[float]:
    if passages:
        return [float(one) for score in page for one in score.hits[:3]]
    return [one for score in page for one in (score.bag.precision, score.bag.recall, score.bag.f1, score.ngram.f1)]


def _means(sums: Numbers) -> Numbers:
    means: Numbers = sums[..., :-1] / sums[..., -1:]
    return means


def _compared_means(sums: Numbers) -> Numbers:
    return _compared(_means(sums))


def _passages(sums: Numbers) -> Numbers:
    """Return the scores of all passages together; there are no 4-grams, so F1 stands there again."""
    columns = sums[..., :-1].reshape(*sums.shape[:-1], -1, 3)
    found, missed, wrong = columns[..., 0], columns[..., 1], columns[..., 2]
    precision, recall, f1 = (
        np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
        for top, bottom in ((found, found + wrong), (found, found + missed), (2 * found, 2 * found + wrong + missed))
    )
    scores = np.stack((precision, recall, f1, f1), axis=-1)
    return _compared(scores.reshape(*sums.shape[:-1], -1))


def _compared(scores: Numbers) -> Numbers:
    """Add the first extractor's scores minus those of each other one."""
    others = scores.shape[-1] // _MEASURES - 1
    first = np.concatenate([scores[..., :_MEASURES]] * others, axis=-1) if others else scores[..., :0]
    return np.concatenate((scores, first - scores[..., _MEASURES:]), axis=-1)


def _rows(place: tuple[str, str], pages: Sequence[Scored], found: Draws, passages: bool) -> list[ScoreRow]:
    estimates = bootstrap.estimates(found)
    measured = [Measures(*estimates[start : start + _MEASURES]) for start in range(0, len(estimates), _MEASURES)]
    extractors = len(pages[0])
    sites = len({(page[0].dataset, page[0].site) for page in pages})
    made = []
    for number in range(extractors):
        part = [page[number] for page in pages]
        times = [one.milliseconds for one in part]
        made.append(
            ScoreRow(
                extractor=part[0].extractor,
                group=place[0],
                value=place[1],
                pages=len(part),
                sites=sites,
                scores=measured[number],
                ahead=measured[extractors + number - 1] if number else None,
                mean_ms=statistics.fmean(times),
                median_ms=statistics.median(times),
                empty=sum(one.empty for one in part),
                errors=sum(one.error for one in part),
                headlines=_summed(one.headlines for one in part),
                comments=_summed(one.comments for one in part),
                passages=passages,
            )
        )
    return made


def _summed(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    kept, every = (sum(column) for column in zip(*pairs, strict=True))
    return kept, every
