"""The rows of an evaluation as text: extractors next to each other, at most 100 columns wide."""

from collections.abc import Iterator, Sequence

import msgspec

from windrow import units
from windrow.extraction.evaluation.bootstrap import RESAMPLES, SEED, Estimate
from windrow.extraction.evaluation.summary import FactRow, ScoreRow

WIDTH = 100  # columns
FEW = 10  # pages; languages with fewer are not shown, `--json` has them
_CELL = 8  # "94.6±4.0"
_LABEL = 16
_NAME = 18  # of a program with its version
_AHEAD = " ahead"  # as wide as the name of a measure
_TITLES = {
    "all": "all pages",
    "dataset": "data set",
    "kind": "page type",
    "language": "language",
    "length": "gold words",
}
_MEASURES = (("P", "precision"), ("R", "recall"), ("F1", "f1"), ("4-gr.", "ngram"))


class Version(msgspec.Struct, frozen=True):
    name: str
    version: str


class Evaluation(msgspec.Struct, frozen=True):
    """The result of `windrow extract evaluate`."""

    tools: list[Version]
    pages: int
    rows: list[ScoreRow]
    facts: list[FactRow]
    resamples: int = RESAMPLES
    seed: int = SEED


def text(found: Evaluation) -> str:
    """Return the tables: all pages, then one per view, then title, author and date if they are known."""
    groups = {group: [row for row in found.rows if row.group == group] for group in _TITLES}
    lines = list(_overall(found, groups.pop("all")))
    for group, rows in groups.items():
        if rows:
            lines += ["", *_view(group, rows)]
    lines += ["", *_facts(found.facts)] if found.facts else []
    return "\n".join([*lines, "", *_legend(found)])


def _overall(found: Evaluation, rows: Sequence[ScoreRow]) -> Iterator[str]:
    versions = {tool.name: f"{tool.name} {tool.version}" for tool in found.tools}
    width = min(_NAME, max(len(name) for name in versions.values()))
    what = "P, R, F1: bag of words; 4-gr.: F1 by word 4-grams"
    yield f"{units.count(found.pages, 'page')}; mean over data sets in %. {what}"
    heads = " ".join(f"{title:>{_CELL}}" for title in (*(title for title, _ in _MEASURES), _AHEAD.strip()))
    yield f"{'':<{width}} {heads} {'mean ms':>7} {'empty':>5} {'errors':>6} {'h1':>5} {'comments':>8}"
    for row in rows:
        cells = [*(_cell(getattr(row.scores, field)) for _, field in _MEASURES), _ahead(row)]
        figures = " ".join(f"{cell:>{_CELL}}" for cell in cells)
        counts = f"{row.mean_ms:7.2f} {row.empty:5} {row.errors:6}"
        marks = f"{_share(row.headlines):>5} {_share(row.comments):>8}"
        yield f"{versions[row.extractor][:width]:<{width}} {figures} {counts} {marks}"


def _view(group: str, rows: Sequence[ScoreRow]) -> Iterator[str]:
    """Yield the table of one view. If the extractors do not fit next to each other, it continues below."""
    values = list(dict.fromkeys(row.value for row in rows))
    few = [value for value in values if group == "language" and _pages(rows, value) < FEW]
    shown = [value for value in values if value not in few] or values
    pages = max(len(str(row.pages)) for row in rows)
    label = max(len(f"{_TITLES[group]}pages") - pages, *(min(_LABEL, len(value)) for value in shown))
    fits = (WIDTH - label - 1 - pages - len(_AHEAD)) // (_CELL + 1)
    first, *others = dict.fromkeys(row.extractor for row in rows)
    for start in range(0, len(others) or 1, fits - 1):
        names = [first, *others[start : start + fits - 1]]
        yield from _heads(f"{_TITLES[group]:<{label + 1 + pages - len('pages')}}pages", names)
        for value in shown:
            chosen = {row.extractor: row for row in rows if row.value == value}
            head = f"{value[:label]:<{label}} {chosen[first].pages:{pages}}"
            yield from _value(head, [chosen[name] for name in names])
    if few and shown is not values:
        yield f"{units.count(len(few), 'language')} with fewer than {FEW} pages: {', '.join(few)}"[:WIDTH]


def _heads(head: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the names of the columns, on two lines in turn if one is wider than its column."""
    lines = 2 if any(len(name) > _CELL for name in names) else 1
    for line in range(lines):
        text = head if line == lines - 1 else ""
        for number, name in enumerate(names):
            if number % lines == (line + lines - 1) % lines:
                end = len(head) + len(_AHEAD) + (number + 1) * (_CELL + 1)
                shown = name[: lines * (_CELL + 1) - 1]
                text = text.ljust(end - len(shown)) + shown
        yield text


def _value(head: str, rows: Sequence[ScoreRow]) -> Iterator[str]:
    """Yield the lines of one value: a line per measure, then how far the first extractor is ahead in F1."""
    for title, field in _MEASURES:
        if rows[0].passages and field == "ngram":
            continue
        yield f"{head} {title:<5} {' '.join(f'{_cell(getattr(row.scores, field)):>{_CELL}}' for row in rows)}"
        head = " " * len(head)
    if len(rows) > 1:
        yield f"{head}{_AHEAD} {' '.join(f'{_ahead(row):>{_CELL}}' for row in rows)}"


def _facts(rows: Sequence[FactRow]) -> Iterator[str]:
    width = min(_LABEL, max(len("data set"), *(len(row.dataset) for row in rows)))
    tool = min(_LABEL, max(len("extractor"), *(len(row.extractor) for row in rows)))
    yield (
        f"{'fact':<6} {'data set':<{width}} {'extractor':<{tool}} {'pages':>5} {'exact':>{_CELL}} {'word F1':>{_CELL}}"
        f" {'right if given':>14} {'missing':>7} {'invented':>9}"
    )
    for row in rows:
        invented = f"{row.invented}/{row.without}" if row.without else ""
        f1 = _cell(row.f1) if row.fact != "date" else ""
        head = f"{row.fact:<6} {row.dataset[:width] or 'all':<{width}} {row.extractor[:tool]:<{tool}} {row.pages:5}"
        counts = f"{100 * row.right_where_given:14.1f} {row.missing:7} {invented:>9}"
        yield f"{head} {_cell(row.exact):>{_CELL}} {f1:>{_CELL}} {counts}".rstrip()


def _legend(found: Evaluation) -> Iterator[str]:
    yield f"± is half of the 95 % interval: {found.resamples:,} resamples of the sites, seed {found.seed}."
    if len(found.tools) > 1:
        yield f"ahead: F1 of {found.tools[0].name} minus this one's, on the same resamples."
    yield "h1: headlines of the gold text that were kept, in %. comments: readers' comments that were kept"
    yield "and are not in the gold text, in %."
    if any(row.passages for row in found.rows):
        yield "A data set without 4-grams is measured by passages, and is not in the mean over data sets."


def _pages(rows: Sequence[ScoreRow], value: str) -> int:
    return next(row.pages for row in rows if row.value == value)


def _ahead(row: ScoreRow) -> str:
    return _cell(row.ahead.f1, "+") if row.ahead else ""


def _cell(one: Estimate, sign: str = "") -> str:
    """Return a figure in per cent with its margin in at most eight characters."""
    margin = "" if one.margin is None else f"±{_short(100 * one.margin, 9.95)}"
    return _short(100 * one.value, 9.95 if sign else 99.95, sign) + margin


def _short(number: float, most: float, sign: str = "") -> str:
    return f"{number:{sign}.1f}" if abs(number) < most else f"{number:{sign}.0f}"


def _share(pair: tuple[int, int]) -> str:
    return f"{100 * pair[0] / pair[1]:.1f}" if pair[1] else "-"
