"""The pictures of a report, each from the numbers of one or more crawls."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from windrow.frontier.policy.whatif import LadderRow, RuleRow
from windrow.inspect.report import axes
from windrow.inspect.report.axes import Axis
from windrow.inspect.report.data import Cell, Numbers, Share
from windrow.inspect.report.scene import FONT, Box, Dot, Labels, Polyline, Scene, Text, clipped, series
from windrow.judge.language import codes
from windrow.log.accounts import joined
from windrow.units import share, size

LINES = (1.0, 0.1, 0.01, 0.001, 0.0001, 0.00001)  # of constant yield
LEFT, TOP, RIGHT, BOTTOM = 72.0, 30.0, 26.0, 52.0  # pixels around the plot
_STRIP = 26.0  # pixels for domains of which nothing was kept: a logarithm cannot show them
_MANY = 1500  # more dots than this are drawn smaller
_BARS = 16


def all_of(crawls: Sequence[Numbers]) -> list[Scene]:
    """Return the pictures in the order of the page."""
    textual = any(crawl.clean or crawl.kept for crawl in crawls)
    made = [scatter(crawls), over_time(crawls), harvest(crawls), trade(crawls)] if textual else []
    made += [bars(crawls, "reasons", "How URLs ended", [crawl.reasons for crawl in crawls], "urls")]
    if textual:
        languages = [[replace(entry, name=codes.name(entry.name)) for entry in crawl.languages] for crawl in crawls]
        made += [bars(crawls, "languages", "Text kept by language", languages, "kept")]
        made += [bars(crawls, "tlds", "Text kept by top-level domain", [crawl.tlds for crawl in crawls], "kept")]
    else:
        made += [bars(crawls, "tlds", "Pages by top-level domain", [crawl.tlds for crawl in crawls], "urls")]
    return made


def scatter(crawls: Sequence[Numbers]) -> Scene:
    """Plot the bytes kept against the bytes downloaded, one dot per domain."""
    unit = _unit(crawls)
    scene = Scene(
        "scatter",
        f"Downloaded and kept bytes of each {unit}",
        caption=_SCATTER.format(unit=unit),
        width=640,
        height=460,
    )
    cells = [cell for crawl in crawls for cell in crawl.cells]
    x_low, x_high = axes.decades([cell.downloaded for cell in cells])
    y_low, y_high = axes.decades([cell.kept for cell in cells])
    floor = scene.height - BOTTOM - _STRIP
    x = Axis(
        "downloaded", x_low, high=x_high, start=LEFT, end=scene.width - 58, logarithmic=True, show=axes.bytes_shown
    )
    y = Axis("kept in the corpus", y_low, high=y_high, start=floor, end=TOP, logarithmic=True, show=axes.bytes_shown)
    axes.frame(scene, x, y, _STRIP)
    scene.items.append(Text(LEFT - 7, floor + _STRIP / 2 + FONT * 0.35, text="0", anchor="end"))
    _constant_yields(scene, x, y)
    single = len(crawls) == 1
    split = single and crawls[0].retired > 0
    _corner(scene, [("continued", series(0)), ("retired for low yield", series(1))] if split else _names(crawls))
    for number, crawl in enumerate(crawls):  # after the legend, which must not hide a dot
        for cell in crawl.cells:
            role = series(1) if single and cell.retired else series(number)
            scene.items.append(_dot(cell, x, y, role, len(cells) > _MANY))
    return scene


def _unit(crawls: Sequence[Numbers]) -> str:
    return crawls[0].what_if.unit if crawls[0].what_if else "domain"


def _dot(cell: Cell, x: Axis, y: Axis, role: str, small: bool) -> Dot:
    height = y.at(cell.kept) if cell.kept else y.start + _STRIP / 2
    others = f" and {cell.domains - 1:,} more" if cell.domains > 1 else ""
    title = f"{cell.name}{others}: {size(cell.kept)} of {size(cell.downloaded)}, {share(cell.kept, cell.downloaded)}"
    strength = min(0.95, (0.35 if small else 0.6) + 0.1 * (cell.domains - 1))
    return Dot(x.at(cell.downloaded), height, radius=2.2 if small else 3.6, role=role, opacity=strength, title=title)


def _constant_yields(scene: Scene, x: Axis, y: Axis) -> None:
    """Draw a line per yield, with its name where it leaves the plot."""
    for rate in LINES:
        first, last = max(x.low, y.low / rate), min(x.high, y.high / rate)
        if 1.25 * first >= last:
            continue  # it would be a corner
        end = (x.at(last), y.at(last * rate))
        scene.items.append(Polyline(((x.at(first), y.at(first * rate)), end), "muted", 1.0, True, 0.8))
        if last < x.high * 0.999:
            scene.items.append(Text(end[0], end[1] - 6, text=axes.percent(rate), anchor="middle"))
        else:
            scene.items.append(Text(end[0] + 6, end[1] + FONT * 0.35, text=axes.percent(rate)))


def _names(crawls: Sequence[Numbers]) -> list[tuple[str, str]]:
    return [(crawl.name, series(number)) for number, crawl in enumerate(crawls)] if len(crawls) > 1 else []


def legend(scene: Scene, entries: Sequence[tuple[str, str]]) -> None:
    """Draw a legend in a row above the plot."""
    at = LEFT
    for name, role in entries:
        scene.items += [Dot(at + 5, TOP - 18, radius=4.5, role=role), Text(at + 15, TOP - 14, text=name, role="ink")]
        at += 36 + len(name) * FONT * 0.58


def _corner(scene: Scene, entries: Sequence[tuple[str, str]]) -> None:
    """Draw a legend into the upper left corner of the plot, where only yields above 1 would be."""
    if not entries:
        return
    longest = max(len(name) for name, _ in entries)
    scene.items.append(
        Box(
            LEFT + 6,
            TOP + 4,
            width=longest * FONT * 0.56 + 30,
            height=len(entries) * 18 + 8,
            role="paper",
            opacity=0.85,
        )
    )
    for number, (name, role) in enumerate(entries):
        height = TOP + 18 + 18 * number
        scene.items += [
            Dot(LEFT + 18, height - 4, radius=4.5, role=role),
            Text(LEFT + 30, height, text=name, role="ink"),
        ]


def over_time(crawls: Sequence[Numbers]) -> Scene:
    """Plot the yield while the crawl ran: of each stretch, and of everything until then."""
    scene = Scene("yield", "Yield over time", caption=_TIME)
    unit, seconds = axes.duration(max(crawl.curve[-1].seconds if crawl.curve else 0.0 for crawl in crawls))
    curves = [_rates(crawl, seconds) for crawl in crawls]
    longest = max((points[-1][0] for points, _ in curves if points), default=1.0) or 1.0
    highest = max(_ceiling(points, totals) for points, totals in curves) or 0.01
    x = Axis(f"{unit} of crawling", 0.0, high=longest, start=LEFT, end=scene.width - RIGHT, show=_plain)
    y = Axis("kept / downloaded", 0.0, high=highest * 1.08, start=scene.height - BOTTOM, end=TOP, show=axes.percent)
    axes.frame(scene, x, y)
    for number, (points, totals) in enumerate(curves):
        for line, width, strength in ((points, 1.2, 0.5 if len(crawls) == 1 else 0.3), (totals, 2.4, 1.0)):
            places = [(x.at(place), y.at(rate)) for place, rate in line]
            scene.items.append(Polyline(clipped(places, TOP, y.start), series(number), width, opacity=strength))
    legend(scene, _names(crawls))
    return scene


def _rates(crawl: Numbers, seconds: float) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the yield of each stretch, and of the crawl so far, by time. Points of one commit are one stretch."""
    points, totals = [], []
    downloaded = kept = 0
    for moment, group in itertools.groupby(crawl.curve, key=lambda point: point.seconds):
        stretch = joined(list(group), len(crawl.curve))[0]
        downloaded += stretch.downloaded
        kept += stretch.kept
        points.append((moment / seconds, stretch.kept / max(stretch.downloaded, 1)))
        totals.append((moment / seconds, kept / max(downloaded, 1)))
    return points, totals


def _ceiling(points: list[tuple[float, float]], totals: list[tuple[float, float]]) -> float:
    """Return a height that nearly all points are below: one rich stretch must not flatten the others."""
    rates = sorted(rate for _, rate in points)
    return (
        max([rates[int(0.95 * (len(rates) - 1))], *(rate for _, rate in totals[len(totals) // 10 :])]) if rates else 0.0
    )


def _plain(value: float) -> str:
    return f"{value:,.10g}"


def harvest(crawls: Sequence[Numbers]) -> Scene:
    """Plot the text kept against the bytes downloaded, both since the start."""
    scene = Scene("harvest", "Text for the bytes", caption=_HARVEST)
    curves = [_sums(crawl) for crawl in crawls]
    widest = max(points[-1][0] for points in curves) or 1.0
    highest = max(points[-1][1] for points in curves) or 1.0
    x = Axis("downloaded", 0.0, high=widest, start=LEFT, end=scene.width - RIGHT, show=axes.bytes_shown)
    y = Axis(
        "kept in the corpus", 0.0, high=highest * 1.05, start=scene.height - BOTTOM, end=TOP, show=axes.bytes_shown
    )
    axes.frame(scene, x, y)
    for number, points in enumerate(curves):
        scene.items.append(Polyline(tuple((x.at(bytes_), y.at(kept)) for bytes_, kept in points), series(number), 2.4))
    legend(scene, _names(crawls))
    return scene


def _sums(crawl: Numbers) -> list[tuple[float, float]]:
    points = [(0.0, 0.0)]
    for point in crawl.curve:
        points.append((points[-1][0] + point.downloaded, points[-1][1] + point.kept))
    return points


def trade(crawls: Sequence[Numbers]) -> Scene:
    """Plot which share of the text which share of the bytes would have given: the ladder, and the rules."""
    unit = _unit(crawls)
    scene = Scene("what-if", f"What fewer {unit}s would have given", caption=_TRADE.format(unit=unit))
    x = Axis("share of the bytes", 0.0, high=1.0, start=LEFT, end=scene.width - RIGHT, show=axes.percent)
    y = Axis("share of the text", 0.0, high=1.0, start=scene.height - BOTTOM, end=TOP, show=axes.percent)
    axes.frame(scene, x, y)
    for number, crawl in enumerate(crawls):
        if crawl.what_if is None or not crawl.kept:
            continue
        steps = [
            _Mark(*_spot(crawl, row, x, y), f"{row.threshold:g}" if row.threshold and row.domains else "")
            for row in crawl.what_if.ladder
        ]
        rules = [_Mark(*_spot(crawl, rule, x, y), rule.threshold) for rule in crawl.what_if.rules]
        scene.items.append(Polyline((*((step.x, step.y) for step in steps), (x.at(0), y.at(0))), series(number), 1.6))
        scene.items += [
            Dot(step.x, step.y, radius=2.6, role=series(number), title=f"yield above {step.name or 0}")
            for step in steps
        ]
        scene.items += [
            Dot(rule.x, rule.y, radius=5.0, role=series(number + (len(crawls) == 1)), opacity=0.9, title=rule.name)
            for rule in rules
        ]
        if len(crawls) == 1:
            scene.items += _marked(scene, steps, rules)
    legend(scene, _names(crawls))
    return scene


class _Mark(NamedTuple):
    x: float
    y: float
    name: str


def _spot(crawl: Numbers, part: LadderRow | RuleRow, x: Axis, y: Axis) -> tuple[float, float]:
    return x.at(part.downloaded / crawl.downloaded), y.at(part.kept / crawl.kept)


def _marked(scene: Scene, steps: Sequence[_Mark], rules: Sequence[_Mark]) -> list[Text]:
    """Return labels for the rules and, where there is room, for the steps, the highest first."""
    labels = Labels(scene.width)
    for mark in steps:
        labels.keep(mark.x, mark.y, 3)
    for mark in rules:
        labels.keep(mark.x, mark.y, 5)
    placed = [labels.place(*mark, "ink") for mark in _together(rules)]
    placed += [labels.place(*mark, spots=2) for mark in _together(steps[::-1], all_names=False) if mark.name]
    return [label for label in placed if label is not None]


def _together(marks: Sequence[_Mark], all_names: bool = True) -> list[_Mark]:
    """Join marks at the same place into one, with all of their names or with the first."""
    groups: list[list[_Mark]] = []
    for mark in marks:
        if groups and abs(groups[-1][0].x - mark.x) + abs(groups[-1][0].y - mark.y) < FONT:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return [
        _Mark(group[0].x, group[0].y, ", ".join(mark.name for mark in group) if all_names else group[0].name)
        for group in groups
    ]


def bars(crawls: Sequence[Numbers], name: str, title: str, shares: Sequence[Sequence[Share]], field: str) -> Scene:
    """Plot the largest shares, with one bar per crawl."""
    totals = [sum(getattr(entry, field) for entry in column) or 1 for column in shares]
    found = [
        {entry.name: getattr(entry, field) / total for entry in column}
        for column, total in zip(shares, totals, strict=True)
    ]
    order = sorted(
        {key for column in found for key in column},
        key=lambda key: (-max(column.get(key, 0.0) for column in found), key),
    )[:_BARS]
    order = [key for key in order if max(column.get(key, 0.0) for column in found) > 0]
    thick = 16.0 if len(crawls) == 1 else 9.0
    row = thick * len(crawls) + 8
    head = 34.0 if len(crawls) > 1 else 4.0
    scene = Scene(name, title, caption="", width=640, height=max(1, len(order)) * row + head + 12)
    start = 30 + max((len(key) for key in order), default=0) * FONT * 0.56
    most = max((share for column in found for share in column.values()), default=0.0) or 1.0
    for place, key in enumerate(order):
        top = head + place * row
        scene.items.append(
            Text(start - 8, top + thick * len(crawls) / 2 + FONT * 0.35, text=key or "(none)", role="ink", anchor="end")
        )
        for number, column in enumerate(found):
            value = column.get(key, 0.0)
            length = max(1.0, (scene.width - start - 70) * value / most) if value else 0.0
            height = top + thick * number
            scene.items.append(Box(start, height, width=length, height=thick - 1.5, role=series(number)))
            scene.items.append(
                Text(
                    start + length + 6,
                    height + thick / 2 + FONT * 0.3,
                    text=share(value, 1.0),
                    size=min(FONT, thick + 1.5),
                )
            )
    for number, (crawl, role) in enumerate(_names(crawls)):
        scene.items.append(Text(start + 110 * number, 20, text=crawl, role=role, bold=True))
    return scene


_SCATTER = (
    "One dot is one {unit}. A dashed line marks a constant yield, the share of the bytes that became text: a dot at "
    "the lower right cost much and gave little. The strip at the bottom holds the {unit}s that gave no text."
)
_TIME = (
    "Bold line: the yield of everything downloaded until then. Thin line: the yield of that stretch alone. "
    "Times when the crawl was stopped are left out."
)
_HARVEST = (
    "The steeper the line, the better the crawl spends its bytes. Where it flattens, the good domains are used up, "
    "or most new pages are duplicates."
)
_TRADE = (
    "The line: the crawl with only those {unit}s whose yield is above each figure, from their first byte on. "
    "The large dots: the crawl under a threshold rule, which has to find these {unit}s out first, applied page by page."
)
