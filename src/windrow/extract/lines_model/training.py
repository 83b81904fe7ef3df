"""Pages with gold text in; a model, or a table of how good models of this kind are, out."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

import msgspec
import numpy as np

from windrow import urls
from windrow.config import ConfigError
from windrow.extract import decode, lines
from windrow.extract.gold import Sample
from windrow.extract.lines_model import features, labels, measure, source
from windrow.extract.lines_model.measure import Agreement, Bag
from windrow.extract.lines_model.model import CLASSIFIERS, Model
from windrow.extract.lines_model.source import Array, Flags

FOLDS = 10
OTHERS = "(others)"  # sites with too few pages to be tried alone


class Row(msgspec.Struct, frozen=True):
    """How well the pages of a site were extracted."""

    site: str
    pages: int
    left_out: int  # pages that do not show half of their gold text: no extractor can find it
    precision: float  # mean over pages
    recall: float  # mean over pages
    f1: float  # of this precision and this recall, as in the paper's Table II
    page_f1: float  # mean of each page's own, always a little lower


class Labelled(msgspec.Struct, frozen=True):
    site: str
    raw: Array
    topical: Flags
    texts: list[str]
    gold: Bag
    answerable: bool


def train(samples: Iterable[Sample], classifier: str = "svm") -> Model:
    """A model from every answerable page, each of which weighs the same: one with a thousand lines says no more of what main text is."""
    return _trained([page for page in map(labelled, samples) if page.answerable], classifier)


def evaluate(samples: Iterable[Sample], classifier: str = "svm", folds: int = FOLDS) -> list[Row]:
    """k-fold cross-validation in each site by itself, and in one more group of the sites with fewer than k pages, which stay whole."""
    if folds < 2:
        raise ConfigError(
            f"{folds} fold leaves no page to learn from; cross-validation needs 2 or more, the paper has {FOLDS}"
        )
    check(classifier)
    sites = _sites(map(labelled, samples), folds)
    rows = [_validated(site, pages, classifier, folds) for site, pages in sites.items()]
    if not any(row.pages for row in rows):
        single = [site for site, pages in sites.items() if any(page.answerable for page in pages)]
        who = f"{single[0]} has one page" if len(single) == 1 else f"none of {len(sites)} sites has two pages"
        raise ConfigError(f"{who} that can be tried; cross-validation needs two or more of a site, or of several")
    return rows


def _validated(site: str, pages: Sequence[Labelled], classifier: str, folds: int) -> Row:
    """Without two pages to try there is nothing to say of a site."""
    usable = [page for page in pages if page.answerable]
    if len(usable) < 2:
        return _row(site, [], len(pages))
    try:
        found = [
            match
            for learnt, tried in _folds(usable, folds, site)
            for match in _matches(_trained(learnt, classifier), tried)
        ]
    except ConfigError as error:
        raise ConfigError(f"{site}: {error}") from None
    return _row(site, found, len(pages) - len(usable))


def check(classifier: str) -> None:
    if classifier not in CLASSIFIERS:
        raise ConfigError(f"there is no classifier {classifier!r}; choose one of {', '.join(CLASSIFIERS)}")


def assess(samples: Iterable[Sample], model: Model) -> list[Row]:
    """A given model on each site, without training."""
    rows = []
    for site, pages in _sites(map(labelled, samples), 1).items():
        usable = [page for page in pages if page.answerable]
        rows.append(_row(site, list(_matches(model, usable)), len(pages) - len(usable)))
    return rows


def table(rows: Sequence[Row]) -> str:
    """For people: a line for each site and one for their mean."""
    width = max([len("site"), len("mean"), *(len(row.site) for row in rows)])
    lines = [f"{'site':<{width}}  pages  left out  precision  recall     F1  F1 by page"]
    for row in [*rows, *([mean(rows)] if len(rows) > 1 else [])]:
        figures = f"{row.precision:9.3f}  {row.recall:6.3f}  {row.f1:5.3f}  {row.page_f1:10.3f}"
        lines.append(f"{row.site:<{width}}  {row.pages:5}  {row.left_out:8}  {figures}")
    return "\n".join(lines)


def mean(rows: Sequence[Row]) -> Row:
    """Over sites, whatever the number of their pages, unless there was none to try."""
    tried = [row for row in rows if row.pages] or rows
    figures = [fmean(getattr(row, name) for row in tried) for name in ("precision", "recall", "f1", "page_f1")]
    return Row("mean", sum(row.pages for row in rows), sum(row.left_out for row in rows), *figures)


def labelled(sample: Sample) -> Labelled:
    content_type = f"text/html; charset={sample.encoding}" if sample.encoding else "text/html"
    page = decode.decode(sample.body, content_type)[0]
    found = source.lines(page)
    return Labelled(
        sample.site or (url.host if (url := urls.parse(sample.url)) else sample.dataset),
        found.features,
        labels.labels(found, sample.gold),
        source.texts(found, True),
        measure.bag(sample.gold),
        labels.holds(page, sample.gold),
    )


def _trained(pages: Sequence[Labelled], classifier: str) -> Model:
    check(classifier)
    filled = [page for page in pages if len(page.raw)]
    topical = np.concatenate([page.topical for page in filled]) if filled else np.zeros(0, dtype=bool)
    if not topical.any() or topical.all():
        raise ConfigError(
            "these pages do not show what main text is: they need lines that stand in their gold text, and others"
        )
    scaled = [features.normalised(page.raw) for page in filled]
    at = features.cuts(scaled)
    weights = np.concatenate([np.full(len(page.raw), len(topical) / len(filled) / len(page.raw)) for page in filled])
    fitted = CLASSIFIERS[classifier](features.discretised(np.vstack(scaled), at), topical, weights)
    return Model(at, fitted, pages=len(filled))


def _matches(model: Model, pages: Iterable[Labelled]) -> Iterator[Agreement]:
    for page in pages:
        text = "\n".join(page.texts[number] for number in lines.elected(page.raw, model))
        yield measure.agreement(measure.bag(text), page.gold)


def _row(site: str, found: Sequence[Agreement], left_out: int) -> Row:
    if not found:
        return Row(site, 0, left_out, 0.0, 0.0, 0.0, 0.0)
    means = Agreement(fmean(match.precision for match in found), fmean(match.recall for match in found))
    return Row(site, len(found), left_out, *means, means.f1, fmean(match.f1 for match in found))


def _sites(pages: Iterable[Labelled], folds: int) -> dict[str, list[Labelled]]:
    sites: dict[str, list[Labelled]] = {}
    for page in pages:
        sites.setdefault(page.site, []).append(page)
    few = [site for site, members in sites.items() if len(members) < folds]
    if len(few) == 1:  # with no other to be tried with, it is tried page by page
        return sites
    big = {site: members for site, members in sites.items() if site not in few}
    small = [page for site, members in sites.items() if site not in big for page in members]
    return {**big, **({OTHERS: small} if small else {})}


def _folds(pages: Sequence[Labelled], folds: int, site: str) -> Iterator[tuple[list[Labelled], list[Labelled]]]:
    """Pages to learn from and pages to try: page by page in turn, or among many sites, site by site."""
    turns = list(range(len(pages)))
    places = {name: place for place, name in enumerate(dict.fromkeys(page.site for page in pages))}
    if site == OTHERS and len(places) > 1:
        turns = [places[page.site] for page in pages]
    for fold in range(min(folds, max(turns, default=-1) + 1)):
        yield (
            [page for page, turn in zip(pages, turns, strict=True) if turn % folds != fold],
            [page for page, turn in zip(pages, turns, strict=True) if turn % folds == fold],
        )
