"""Train a model on pages with gold text, or measure by cross-validation how good such models are."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

import msgspec
import numpy as np

from windrow import urls
from windrow.config import ConfigError
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.main import lines
from windrow.extraction.main.lines import features, labels, measure, source
from windrow.extraction.main.lines.measure import Agreement, Bag
from windrow.extraction.main.lines.model import LinesModel
from windrow.extraction.main.lines.source import Array, Flags
from windrow.extraction.readers import decode

FOLDS = 10
CLASSIFIERS = ("svm", "bayes", "tree")
OTHERS = "(others)"  # the sites with too few pages for a cross-validation of their own


class SiteScore(msgspec.Struct, frozen=True):
    """How well the pages of a site were extracted."""

    site: str
    pages: int
    left_out: int  # pages that do not hold half of their gold text: no extractor can find it
    precision: float  # mean over pages
    recall: float  # mean over pages
    f1: float  # of this precision and this recall, as in the paper's Table II
    page_f1: float  # mean of each page's own, always a little lower


class LabelledPage(msgspec.Struct, frozen=True):
    site: str
    raw: Array
    topical: Flags
    texts: list[str]
    gold: Bag
    answerable: bool


def train(samples: Iterable[Sample], classifier: str = "svm") -> LinesModel:
    """Train a model on every answerable page. Each page has the same weight, however many lines it has."""
    return _trained([page for page in map(labelled, samples) if page.answerable], classifier)


def evaluate(samples: Iterable[Sample], classifier: str = "svm", folds: int = FOLDS) -> list[SiteScore]:
    """Cross-validate within each site. Sites with fewer pages than folds form one group; each is in one fold."""
    if folds < 2:
        raise ConfigError(
            f"{folds} fold leaves no page for training; cross-validation needs 2 folds or more, the paper has {FOLDS}"
        )
    check(classifier)
    sites = _sites(map(labelled, samples), folds)
    rows = [_validated(site, pages, classifier, folds) for site, pages in sites.items()]
    if not any(row.pages for row in rows):
        single = [site for site, pages in sites.items() if any(page.answerable for page in pages)]
        problem = (
            f"{single[0]} has one usable page"
            if len(single) == 1
            else f"none of {len(sites)} sites has two usable pages"
        )
        raise ConfigError(
            f"{problem}; cross-validation needs two or more that hold their gold text, of one site or several"
        )
    return rows


def _validated(site: str, pages: Sequence[LabelledPage], classifier: str, folds: int) -> SiteScore:
    """Score a site; with fewer than two usable pages its score is empty."""
    usable = [page for page in pages if page.answerable]
    if len(usable) < 2:
        return _row(site, [], len(pages))
    try:
        found = [
            match
            for learned, tried in _folds(usable, folds, site)
            for match in _matches(_trained(learned, classifier), tried)
        ]
    except ConfigError as error:
        raise ConfigError(f"{site}: {error}") from None
    return _row(site, found, len(pages) - len(usable))


def check(classifier: str) -> None:
    """Raise ConfigError if there is no such classifier, or scikit-learn is not installed."""
    if classifier not in CLASSIFIERS:
        raise ConfigError(f"there is no classifier {classifier!r}; choose one of {', '.join(CLASSIFIERS)}")
    from windrow.extraction.main.lines import fit  # noqa: F401  # raises without scikit-learn, which only training needs


def table(rows: Sequence[SiteScore]) -> str:
    """Return the scores as text: one line per site and one for their mean."""
    width = max([len("site"), len("mean"), *(len(row.site) for row in rows)])
    lines = [f"{'site':<{width}}  pages  left out  precision  recall     F1  F1 by page"]
    for row in [*rows, *([mean(rows)] if len(rows) > 1 else [])]:
        figures = f"{row.precision:9.3f}  {row.recall:6.3f}  {row.f1:5.3f}  {row.page_f1:10.3f}"
        lines.append(f"{row.site:<{width}}  {row.pages:5}  {row.left_out:8}  {figures}")
    return "\n".join(lines)


def mean(rows: Sequence[SiteScore]) -> SiteScore:
    """Return the mean over the sites that were tried. Each site has the same weight."""
    tried = [row for row in rows if row.pages] or rows
    precision, recall, f1, page_f1 = (
        fmean(getattr(row, name) for row in tried) for name in ("precision", "recall", "f1", "page_f1")
    )
    return SiteScore(
        site="mean",
        pages=sum(row.pages for row in rows),
        left_out=sum(row.left_out for row in rows),
        precision=precision,
        recall=recall,
        f1=f1,
        page_f1=page_f1,
    )


def labelled(sample: Sample) -> LabelledPage:
    content_type = f"text/html; charset={sample.encoding}" if sample.encoding else "text/html"
    page = decode.decode(sample.body, content_type)[0]
    found = source.lines(page)
    return LabelledPage(
        site=sample.site or (url.host if (url := urls.parse(sample.url)) else sample.dataset),
        raw=found.features,
        topical=labels.labels(found, sample.gold),
        texts=source.texts(found, True),
        gold=measure.bag(sample.gold),
        answerable=labels.holds(page, sample.gold),
    )


def _trained(pages: Sequence[LabelledPage], classifier: str) -> LinesModel:
    check(classifier)
    filled = [page for page in pages if len(page.raw)]
    topical = np.concatenate([page.topical for page in filled]) if filled else np.zeros(0, dtype=bool)
    if not topical.any() or topical.all():
        raise ConfigError(
            "these pages do not show what main text is: they need lines that occur in their gold text, and others"
        )
    scaled = [features.normalised(page.raw) for page in filled]
    at = features.cuts(scaled)
    weights = np.concatenate([np.full(len(page.raw), len(topical) / len(filled) / len(page.raw)) for page in filled])
    from windrow.extraction.main.lines import fit

    fitted = fit.CLASSIFIERS[classifier](features.discretised(np.vstack(scaled), at), topical, weights)
    return LinesModel(at, fitted, pages=len(filled))


def _matches(model: LinesModel, pages: Iterable[LabelledPage]) -> Iterator[Agreement]:
    for page in pages:
        text = "\n".join(page.texts[number] for number in lines.main_lines(page.raw, model))
        yield measure.agreement(measure.bag(text), page.gold)


def _row(site: str, found: Sequence[Agreement], left_out: int) -> SiteScore:
    means = Agreement(0.0, 0.0)
    if found:
        means = Agreement(fmean(match.precision for match in found), fmean(match.recall for match in found))
    return SiteScore(
        site=site,
        pages=len(found),
        left_out=left_out,
        precision=means.precision,
        recall=means.recall,
        f1=means.f1,
        page_f1=fmean(match.f1 for match in found) if found else 0.0,
    )


def _sites(pages: Iterable[LabelledPage], folds: int) -> dict[str, list[LabelledPage]]:
    sites: dict[str, list[LabelledPage]] = {}
    for page in pages:
        sites.setdefault(page.site, []).append(page)
    few = [site for site, members in sites.items() if len(members) < folds]
    if len(few) == 1:  # there is no other site to form a group with: it is tried page by page
        return sites
    big = {site: members for site, members in sites.items() if site not in few}
    small = [page for site, members in sites.items() if site not in big for page in members]
    return {**big, **({OTHERS: small} if small else {})}


def _folds(
    pages: Sequence[LabelledPage], folds: int, site: str
) -> Iterator[tuple[list[LabelledPage], list[LabelledPage]]]:
    """Yield pages for training and pages to try. Each page is in one fold; among many sites, each whole site is."""
    turns = list(range(len(pages)))
    places = {name: index for index, name in enumerate(dict.fromkeys(page.site for page in pages))}
    if site == OTHERS and len(places) > 1:
        turns = [places[page.site] for page in pages]
    for fold in range(min(folds, max(turns, default=-1) + 1)):
        yield (
            [page for page, turn in zip(pages, turns, strict=True) if turn % folds != fold],
            [page for page, turn in zip(pages, turns, strict=True) if turn % folds == fold],
        )
