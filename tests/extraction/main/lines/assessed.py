"""How well a given model finds the text of pages, site by site."""

from collections.abc import Iterable

from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.main.lines import training
from windrow.extraction.main.lines.model import LinesModel


def assess(samples: Iterable[Sample], model: LinesModel) -> list[training.SiteScore]:
    """Score a model on each site, without training."""
    rows = []
    for site, pages in training._sites(map(training.labelled, samples), 1).items():
        usable = [page for page in pages if page.answerable]
        rows.append(training._row(site, list(training._matches(model, usable)), len(pages) - len(usable)))
    return rows
