"""Pictures show the numbers, at the right places."""

import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inspect.report import crawls
from windrow.inspect import report
from windrow.inspect.report import axes, plots
from windrow.inspect.report.axes import Axis
from windrow.inspect.report.data import Cell, Numbers
from windrow.inspect.report.scene import Box, Dot, Labels, Polyline, Scene, Text
from windrow.log.accounts import Point


@pytest.fixture
def crawl(tmp_path: Path) -> Numbers:
    return report.read([crawls.german(tmp_path / "c")])[0]


def dots(scene: Scene, role: str) -> list[Dot]:
    return [item for item in scene.items if isinstance(item, Dot) and item.role == role and item.title]


def texts(scene: Scene) -> list[str]:
    return [item.text for item in scene.items if isinstance(item, Text)]


def test_domains_of_the_same_yield_lie_on_its_line(crawl: Numbers) -> None:
    cells = [Cell(10.0**power, 10.0 ** (power - 1), 1, 0, f"d{power}.de") for power in (4, 5, 6, 7)]
    scene = plots.scatter([msgspec.structs.replace(crawl, cells=cells, retired=0)])
    points = [(dot.x, dot.y) for dot in dots(scene, "series0")]
    (line,) = [
        item.points
        for item in scene.items
        if isinstance(item, Polyline) and item.dashed and _on(item.points, points[0])
    ]
    assert all(_on(line, point) for point in points)
    assert texts(scene).count("10 %") == 1


def _on(line: tuple[tuple[float, float], ...], point: tuple[float, float]) -> bool:
    (x, y), (u, v) = line
    return math.isclose((u - x) * (point[1] - y), (v - y) * (point[0] - x), rel_tol=1e-6, abs_tol=1e-3)


def test_a_domain_without_text_is_below_all_others_and_a_retired_one_has_its_own_colour(crawl: Numbers) -> None:
    scene = plots.scatter([crawl])
    (retired,) = dots(scene, "series1")
    assert retired.title.startswith("mixed.com and 1 more: 0 bytes of ")
    assert all(dot.y < retired.y for dot in dots(scene, "series0"))
    assert "retired for low yield" in texts(scene)


def test_crawls_differ_in_colour_and_name(crawl: Numbers) -> None:
    other = msgspec.structs.replace(crawl, name="other")
    for scene in plots.all_of([crawl, other]):
        used = {item.role for item in scene.items if not isinstance(item, Text)}
        assert {"series0", "series1"} <= used, scene.name
        assert {"c", "other"} <= set(texts(scene)), scene.name


def test_a_crawl_without_text_has_no_pictures_of_text(tmp_path: Path) -> None:
    found = report.read([crawls.without_text(tmp_path / "c")])
    assert [scene.name for scene in plots.all_of(found)] == ["reasons", "tlds"]


def test_the_curve_of_the_yield_ends_at_the_yield_of_the_crawl(crawl: Numbers) -> None:
    curve = [Point(10, 1000, 0, kept, float(second)) for second, kept in ((10, 100), (20, 300), (40, 200))]
    scene = plots.over_time([msgspec.structs.replace(crawl, curve=curve)])
    thin, bold = [item.points for item in scene.items if isinstance(item, Polyline) and item.role == "series0"]
    assert [round((bold[0][1] - y) / (bold[0][1] - bold[1][1]), 6) for _, y in bold] == [0, 1, 1]  # 0.1, 0.2, 0.2
    assert thin[1][1] < bold[1][1]
    assert [x for x, _ in bold] == [x for x, _ in thin]
    assert "seconds of crawling" in texts(scene)


@pytest.mark.parametrize(
    "curve", [[], [Point(1, 0, 0, 0, 0.0)], [Point(1, 10, 0, 0, 0.0)], [Point(1, 10, 20, 20, 0.0)]]
)
def test_a_crawl_of_one_commit_or_none_can_be_drawn(crawl: Numbers, curve: list[Point]) -> None:
    for scene in plots.all_of([msgspec.structs.replace(crawl, curve=curve)]):
        for item in scene.items:
            numbers = (
                [value for point in item.points for value in point] if isinstance(item, Polyline) else [item.x, item.y]
            )
            assert all(math.isfinite(value) for value in numbers), scene.name


def test_bars_are_as_long_as_their_shares(crawl: Numbers) -> None:
    scene = plots.bars([crawl], "tlds", "Text", [crawl.tlds], "kept")
    long, short = [item.width for item in scene.items if isinstance(item, Box)]
    assert long / short == pytest.approx(6000 / 100)
    assert texts(scene) == ["de", "98 %", "at", "1.6 %"]


def test_nothing_is_drawn_outside_a_picture(crawl: Numbers) -> None:
    for scene in plots.all_of([crawl]):
        for item in scene.items:
            points = item.points if isinstance(item, Polyline) else ((item.x, item.y),)
            assert all(0 <= x <= scene.width and 0 <= y <= scene.height for x, y in points), (scene.name, item)


@given(st.floats(1, 1e15), st.floats(1, 1e15))
def test_whole_decades_hold_their_values(one: float, other: float) -> None:
    low, high = axes.decades([one, other, 0.0])
    assert low <= min(one, other) <= max(one, other) <= high
    assert high / low >= 99


@given(st.floats(0.001, 1e12))
def test_ticks_are_few_and_inside(high: float) -> None:
    ticks = Axis("", 0.0, high, 0.0, 100.0).ticks()
    assert 3 <= len(ticks) <= 8
    assert ticks[0] == 0 and ticks[-1] <= high * 1.000001
    logarithmic = Axis("", 1.0, 10.0 ** math.ceil(math.log10(high) + 4), 0.0, 100.0, True).ticks()
    assert 2 <= len(logarithmic) <= 10


@pytest.mark.parametrize(
    ("longest", "unit"),
    [(0.0, "seconds"), (100.0, "seconds"), (3600.0, "minutes"), (86400.0, "hours"), (30 * 86400.0, "days")],
)
def test_a_duration_has_a_suitable_unit(longest: float, unit: str) -> None:
    assert axes.duration(longest)[0] == unit


def test_labels_do_not_cover_each_other() -> None:
    labels = Labels(300)
    placed = [labels.place(50.0 + 3 * number, 50.0, "label") for number in range(20)]
    kept = [text for text in placed if text]
    assert 1 < len(kept) < 20
    boxes = [(_left(text), text.y) for text in kept]
    for number, (x, y) in enumerate(boxes):
        assert all(abs(x - u) > 30 or abs(y - v) > 10 for u, v in boxes[:number])


def _left(text: Text) -> float:
    return text.x - {"start": 0, "middle": 16.8, "end": 33.6}[text.anchor]
