"""The evaluation of a crawl in its report: pictures and tables of what the file says."""

import math
from pathlib import Path

import msgspec
import pytest

from tests.inspect.report import crawls
from tests.inspect.report.test_report import read
from windrow.config import ConfigError
from windrow.inspect import report
from windrow.inspect.report import heldout, heldout_plots
from windrow.inspect.report.scene import Polyline
from windrow.records import CrawlEvaluation, EvaluationRow, HeldOutFit

PICTURES = {"perplexity", "perplexity-language", "wanted"}


def fit(perplexity: float) -> HeldOutFit:
    return HeldOutFit(perplexity, perplexity / 4, unknown=0.1, words=1000, sentences=50)


def row(size: int, wanted: int, perplexity: float) -> EvaluationRow:
    return EvaluationRow(
        size=size,
        tokens=size + 7 if size else 0,
        wanted=wanted,
        kept=wanted // 2,
        pages=size // 100,
        languages={"deu": wanted, "eng": size + 7 - wanted} if size else {},
        fit=fit(perplexity),
        fit_wanted=fit(perplexity - 50),
    )


def evaluation(crawl: str = "focused", factor: float = 1.0) -> CrawlEvaluation:
    return CrawlEvaluation(
        crawl=crawl,
        held_out="test <b>.txt",
        held_out_words=5000,
        train="train.txt",
        language="deu",
        order=5,
        unknown_log10=-7.0,
        left_out=0,
        shares={"held-out": {"deu": 0.97, "eng": 0.03}, "train": {"deu": 1.0}},
        rows=[row(0, 0, 1200.0), row(100_000, 87_000, 900.0 * factor), row(300_000, 267_000, 700.0 * factor)],
        note="the table ends here",
    )


def crawl(path: Path, *found: CrawlEvaluation) -> Path:
    directory = crawls.german(path)
    (directory / heldout.EVALUATION).write_bytes(msgspec.json.encode(found))
    return directory


def test_a_report_shows_the_evaluation_of_its_crawl_and_the_one_compared_with_it(tmp_path: Path) -> None:
    directory = crawl(tmp_path / "crawl", evaluation(), evaluation("<breadth>", 2.0))
    made = report.write(report.read([directory]), tmp_path / "out")
    assert {path.stem for path in made.pictures} >= PICTURES
    text = made.page.read_text()
    assert "<b>.txt" not in text and "<breadth>" not in text, "names are escaped"
    assert "the table ends here" in text
    rows = read(made.page).rows
    assert ["focused", "100,007", "1,000", "87,000", "87 %", "43,500", "900", "225", "850", "212", "10 %"] in rows
    assert [
        "<breadth>",
        "300,007",
        "3,000",
        "267,000",
        "89 %",
        "133,500",
        "1,400",
        "350",
        "1,350",
        "338",
        "10 %",
    ] in rows
    assert ["German", "97.00 %", "100.00 %", "89.00 %", "89.00 %"] in rows
    assert ["English", "3.00 %", "0.00 %", "11.00 %", "11.00 %"] in rows


def test_a_report_without_an_evaluation_says_nothing_of_it(tmp_path: Path) -> None:
    made = report.write(report.read([crawls.german(tmp_path / "crawl")]), tmp_path / "out")
    assert not {path.stem for path in made.pictures} & PICTURES
    assert "Held-out" not in made.page.read_text()


def test_of_several_crawls_each_ones_own_evaluation_is_shown(tmp_path: Path) -> None:
    first = crawl(tmp_path / "a", evaluation("a"), evaluation("b"))
    second = crawl(tmp_path / "b", evaluation("b", 3.0))
    made = report.write(report.read([first, second]), tmp_path / "out")
    shown = [cells[0] for cells in read(made.page).rows if len(cells) == 11]
    assert [name for name in shown if name in "ab"] == ["a"] * 3 + ["b"] * 3


def test_a_point_is_where_its_numbers_are() -> None:
    scene = heldout_plots.perplexity([evaluation()], heldout_plots.all_of([evaluation()])[0], lambda row: row.fit)
    solid = next(item for item in scene.items if isinstance(item, Polyline) and item.width == 2.4)
    (x1, y1), (x2, y2) = solid.points
    ground = max(y for item in scene.items if isinstance(item, Polyline) for _, y in item.points)
    assert (ground - y1) / (ground - y2) == pytest.approx(900 / 700), "the axis begins at zero"
    assert x2 > x1 and math.isfinite(x2)


def test_an_evaluation_of_a_crawl_without_text_has_no_picture() -> None:
    empty = msgspec.structs.replace(evaluation(), rows=[row(0, 0, 1200.0)])
    assert heldout_plots.all_of([empty]) == []


def test_a_damaged_evaluation_is_refused_in_one_sentence(tmp_path: Path) -> None:
    directory = crawl(tmp_path / "crawl")
    (directory / heldout.EVALUATION).write_text('[{"crawl": 1}]')
    with pytest.raises(ConfigError, match=r"evaluation\.json is not an evaluation .*; make it again with"):
        report.read([directory])
