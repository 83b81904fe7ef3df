"""F1 of the extractor `lines` on ten Chinese news sites, three of them the paper's, is above the floors."""

import itertools
import tomllib
from pathlib import Path

import pytest

from tests.extraction.main.lines.assessed import assess
from tests.shared import shared
from windrow.extraction.evaluation import gold
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.main import lines
from windrow.extraction.main.lines import training

FLOORS = tomllib.loads((Path(__file__).parent / "floors.toml").read_text(encoding="utf-8"))["lines"]
QUICK = ("hexun", "qq", "xinhua")  # the hardest site, one of the paper's, and the one with the shortest texts


@pytest.fixture(scope="module")
def pages() -> list[Sample]:
    return list(gold.samples(shared("extraction/zh-news.tar.xz")))


def first(pages: list[Sample], site: str, count: int) -> list[Sample]:
    return list(itertools.islice((page for page in pages if page.site == site), count))


def test_a_model_of_a_site_finds_the_text_of_its_other_pages(pages: list[Sample]) -> None:
    rows = training.evaluate([page for site in QUICK for page in first(pages, site, 40)], folds=4)
    assert [row.pages for row in rows] == [40, 40, 40]
    assert training.mean(rows).f1 >= FLOORS["quick_mean"], training.table(rows)


def test_the_shipped_model_finds_the_text_of_every_site(pages: list[Sample]) -> None:
    sites = sorted({page.site for page in pages})
    rows = assess([page for site in sites for page in first(pages, site, 12)], lines.default())
    assert len(rows) == 10
    assert training.mean(rows).f1 >= FLOORS["shipped_mean"], training.table(rows)


@pytest.mark.long
def test_english_news_of_sites_that_the_model_has_not_seen() -> None:
    rows = training.evaluate(gold.samples(shared("extraction/newspaper-ds.tar.xz")))
    assert [row.site for row in rows] == [training.OTHERS]
    assert rows[0].f1 >= FLOORS["english"], training.table(rows)


@pytest.mark.long
def test_tenfold_cross_validation_in_each_of_the_ten_sites(pages: list[Sample]) -> None:
    rows = training.evaluate(pages)
    assert [row.site for row in rows] == [
        "cjw",
        "hexun",
        "jjgc",
        "nbd",
        "people",
        "qq",
        "sina",
        "wangyi",
        "xinhua",
        "yicai",
    ]
    assert sum(row.pages for row in rows) > 1000
    assert training.mean(rows).f1 >= FLOORS["sites_mean"], training.table(rows)
    assert min(row.f1 for row in rows) >= FLOORS["sites_least"], training.table(rows)
