"""The report as one HTML page that needs nothing else: styles, pictures and tables are in it, and no script."""

import time
from collections.abc import Sequence
from html import escape

from windrow.batch.replay import Told
from windrow.batch.whatif import Row, ratio
from windrow.report import svg
from windrow.report.numbers import Domain, Numbers, Share, Sum
from windrow.report.scene import DARK, LIGHT, Scene, series
from windrow.units import share, size, span

_ZERO = "<i>0</i>"
NOTES = 5  # shown
MARK = b'<meta name="generator" content="windrow report">'  # by which a page is known again
ROWS = 20  # of a table at most; the rest is one row
Cells = Sequence[str]


def render(crawls: Sequence[Numbers], scenes: Sequence[Scene]) -> str:
    names = " and ".join(escape(crawl.name) for crawl in crawls)
    figures = {scene.name: _figure(scene) for scene in scenes}
    pairs = [figures[name] for name in ("scatter", "yield", "harvest", "what-if") if name in figures]
    parts = [
        f"<header><h1>{names}</h1>{''.join(_dates(crawl, len(crawls) > 1) for crawl in crawls)}</header>",
        *[_note(crawl, note) for crawl in crawls for note in _first(crawl.notes)],
        _summary(crawls),
        f'<div class="pictures">{"".join(pairs)}</div>' if pairs else _NO_TEXT,
        _what_if(crawls) if any(crawl.kept for crawl in crawls) else "",
        _section("Every URL has one fate", _FATES, "".join(_sums(crawl, len(crawls) > 1) for crawl in crawls)),
        _section("Reasons", "", _shares(crawls, "reason", [crawl.reasons for crawl in crawls], "urls")),
        _section("Languages", _LANGUAGES, _shares(crawls, "language", [crawl.languages for crawl in crawls], "kept"))
        if pairs
        else "",
        _section(
            "Top-level domains",
            "",
            _shares(crawls, "TLD", [crawl.tlds for crawl in crawls], "kept" if pairs else "urls"),
        ),
        *[_domains(crawl, len(crawls) > 1) for crawl in crawls],
        *[_counts(crawl, len(crawls) > 1) for crawl in crawls],
    ]
    return _PAGE.format(title=names, light=_variables(LIGHT), dark=_variables(DARK), body="\n".join(parts))


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{role}:{colour};" for role, colour in colours.items())


def _dates(crawl: Numbers, named: bool) -> str:
    who = f"<b>{escape(crawl.name)}</b> " if named else ""
    if not crawl.frames:
        return f"<p>{who}Nothing was committed yet.</p>"
    first, last = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(moment)) for moment in (crawl.first, crawl.last))
    return f"<p>{who}{first} to {last} UTC, {span(crawl.seconds)} of crawling, {crawl.frames:,} commits</p>"


def _first(notes: Sequence[str]) -> list[str]:
    more = len(notes) - NOTES
    return [*notes[:NOTES], *([f"and {more:,} more of this kind"] if more > 0 else [])]


def _note(crawl: Numbers, note: str) -> str:
    return f'<p class="note"><b>{escape(crawl.name)}</b>: {escape(note)}</p>'


def _facts(crawl: Numbers) -> list[tuple[str, str, str]]:
    """What is told of a crawl before all else: name, figure, what explains it."""
    unit = _unit(crawl)
    rate = f"{crawl.pages / crawl.seconds:,.1f} a second" if crawl.seconds else ""
    facts = [
        ("pages", f"{crawl.pages:,}", rate),
        ("downloaded", size(crawl.downloaded), f"on {crawl.domains:,} {unit}{'' if crawl.domains == 1 else 's'}"),
    ]
    if crawl.clean or crawl.kept:
        facts += [
            ("documents", f"{crawl.documents:,}", f"{share(crawl.documents, crawl.pages)} of the pages"),
            ("text kept", size(crawl.kept), f"{crawl.words:,} words" if crawl.words else ""),
            ("yield", share(crawl.kept, crawl.downloaded), "kept / downloaded"),
            ("retired", f"{crawl.retired:,}", f"{unit}s of low yield"),
        ]
    return [*facts, ("waiting", f"{crawl.waiting:,}", f"of {crawl.seen:,} URLs")]


def _summary(crawls: Sequence[Numbers]) -> str:
    if len(crawls) == 1:
        tiles = [
            f"<div><span>{name}</span><b>{value}</b><small>{more}</small></div>"
            for name, value, more in _facts(crawls[0])
        ]
        return f'<div class="tiles">{"".join(tiles)}</div>'
    columns = [{name: (value, more) for name, value, more in _facts(crawl)} for crawl in crawls]
    names = max(columns, key=len)
    head = ["", *(_coloured(crawl, number) for number, crawl in enumerate(crawls))]
    rows = [
        [name, *("<b>{}</b> <i>{}</i>".format(*column.get(name, ("", ""))) for column in columns)] for name in names
    ]
    return f"<section>{_table(head, rows, len(head))}</section>"


def _coloured(crawl: Numbers, number: int) -> str:
    return f'<b style="color:var(--{series(number)})">{escape(crawl.name)}</b>'


def _unit(crawl: Numbers) -> str:
    return crawl.replay.unit if crawl.replay else "domain"


def _figure(scene: Scene) -> str:
    return f"<figure><h2>{escape(scene.title)}</h2>{svg.draw(scene)}<figcaption>{escape(scene.caption)}</figcaption></figure>"


def _section(title: str, lead: str, inner: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{f'<p>{escape(lead)}</p>' if lead else ''}{inner}</section>"


def _table(head: Cells, rows: Sequence[Cells], texts: int = 1) -> str:
    """Cells are HTML. The first `texts` columns are words, the others figures."""
    align = ["" if number < texts else ' class="n"' for number in range(len(head))]
    top = "".join(f"<th{kind}>{cell}</th>" for cell, kind in zip(head, align, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, align, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _what_if(crawls: Sequence[Numbers]) -> str:
    replays = [crawl.replay for crawl in crawls if crawl.replay]
    first = replays[0]
    unit = first.unit
    head = ["yield above", *_heads(crawls, [f"{unit}s", "downloaded", "of all", "kept", "of all", "yield"])]
    rows = []
    for number, row in enumerate(first.ladder):
        step = "all" if row.threshold is None else f"{row.threshold:g}"
        rows.append(
            [
                step,
                *(
                    cell
                    for crawl, replay in zip(crawls, replays, strict=True)
                    for cell in _step(crawl, replay.ladder[number])
                ),
            ]
        )
    rules = [
        "threshold",
        "t(n)",
        *_heads(crawls, ["retired", "pages", "downloaded", "of all", "kept", "of all", "yield"]),
    ]
    told = []
    for number, rule in enumerate(first.rules):
        function = f"{rule.factor:g}·(log<sub>10</sub> n − {rule.start:g})" if rule.factor else "none"
        cells = [
            cell for crawl, replay in zip(crawls, replays, strict=True) for cell in _rule(crawl, replay.rules[number])
        ]
        told.append([escape(rule.threshold), function, *cells])
    lead = _RULES.format(unit=unit, pages=first.grace_pages, bytes=size(first.grace_bytes))
    return _section("What if", _WHAT_IF.format(unit=unit), f"{_table(head, rows)}<p>{lead}</p>{_table(rules, told, 2)}")


def _heads(crawls: Sequence[Numbers], names: Sequence[str]) -> list[str]:
    """The same columns for each crawl, the first with its name above."""
    if len(crawls) == 1:
        return list(names)
    return [
        f"{_coloured(crawl, number)}<br>{name}" if place == 0 else name
        for number, crawl in enumerate(crawls)
        for place, name in enumerate(names)
    ]


def _step(crawl: Numbers, row: Row) -> list[str]:
    cells = [_count(row.domains), _size(row.downloaded), _share(row.downloaded, crawl.downloaded)]
    return [*cells, _size(row.kept), _share(row.kept, crawl.kept), f"{row.rate:.4f}"]


def _rule(crawl: Numbers, rule: Told) -> list[str]:
    cells = [
        _count(rule.retired),
        _count(rule.pages),
        _size(rule.downloaded),
        _share(rule.downloaded, crawl.downloaded),
    ]
    return [*cells, _size(rule.kept), _share(rule.kept, crawl.kept), f"{rule.rate:.4f}"]


def _sums(crawl: Numbers, named: bool) -> str:
    rows = [[_sign(entry), escape(entry.what), f"{entry.total:,}", _parts(entry)] for entry in crawl.sums]
    inner = "".join(
        f'<tr><td>{sign}</td><td>{what}</td><td class="n">{total}</td><td>{parts}</td></tr>'
        for sign, what, total, parts in rows
    )
    return f'{f"<h3>{escape(crawl.name)}</h3>" if named else ""}<div class="scroll"><table class="sums"><tbody>{inner}</tbody></table></div>'


def _sign(entry: Sum) -> str:
    return '<b class="good">✓</b>' if entry.holds else '<b class="bad">✗</b>'


def _parts(entry: Sum) -> str:
    return (
        "= " + " + ".join(f"{count:,} <i>{escape(name)}</i>" for name, count in entry.parts.items())
        if entry.parts
        else "= 0"
    )


def _shares(crawls: Sequence[Numbers], title: str, columns: Sequence[Sequence[Share]], field: str) -> str:
    """One crawl: all there is to know of each row. Several: the share of each beside the other's."""
    if len(crawls) == 1:
        return _single(title, columns[0], field)
    found = [{entry.name: entry for entry in column} for column in columns]
    totals = [sum(getattr(entry, field) for entry in column) for column in columns]
    names = sorted(
        {name for column in found for name in column}, key=lambda name: (*_weight(name, found, totals, field), name)
    )
    rows = []
    for name in names[:ROWS]:
        cells = [escape(name or "(none)")]
        for number, (column, total) in enumerate(zip(found, totals, strict=True)):
            cells += _compared(column.get(name), field, total, number)
        rows.append(cells)
    heads = [("text", "kept") if field == "kept" else ("",)] * len(crawls)
    head = [cell for number, crawl in enumerate(crawls) for cell in (*heads[number], _coloured(crawl, number), "")]
    return _table([title, *head], rows)


def _weight(name: str, found: Sequence[dict[str, Share]], totals: Sequence[int], field: str) -> tuple[float, float]:
    """For the order of rows: the largest share first, and where that is the same, the most text."""
    entries = [column.get(name) for column in found]
    shares = [
        ratio(getattr(entry, field), total) if entry else 0.0 for entry, total in zip(entries, totals, strict=True)
    ]
    return -max(shares), -max(entry.clean if entry else 0 for entry in entries)


def _compared(entry: Share | None, field: str, total: int, number: int) -> list[str]:
    value = getattr(entry, field) if entry else 0
    shown = [_size(entry.clean if entry else 0), _size(value)] if field == "kept" else [_count(value)]
    return [*shown, _share(value, total), _bar(ratio(value, total), number)]


def _count(value: float) -> str:
    return f"{value:,}" if value else _ZERO


def _size(count: float) -> str:
    return size(count) if count else _ZERO


def _share(part: float, whole: float) -> str:
    return share(part, whole) if part else _ZERO


def _single(title: str, shares: Sequence[Share], field: str) -> str:
    domains = any(entry.domains for entry in shares)
    textual = any(entry.clean or entry.kept for entry in shares)
    what = "URLs" if title == "reason" else "pages"
    head = [title, *(["domains"] if domains else []), what, "downloaded"]
    worded = any(entry.words for entry in shares)
    head += ["text", "documents", *(["words"] if worded else []), "kept", "yield"] if textual else []
    total = sum(getattr(entry, field) for entry in shares)
    rows = []
    for entry in [*shares[:ROWS], *_rest(shares[ROWS:])]:
        cells = [
            escape(entry.name or "(none)"),
            *([f"{entry.domains:,}"] if domains else []),
            f"{entry.urls:,}",
            _size(entry.downloaded),
        ]
        if textual:
            cells += [_size(entry.clean), _count(entry.documents), *([_count(entry.words)] if worded else [])]
            cells += [_size(entry.kept), _share(entry.kept, entry.downloaded)]
        value = getattr(entry, field)
        rows.append([*cells, _share(value, total), _bar(ratio(value, total), 0)])
    return _table([*head, f"of all {'text' if field == 'kept' else what}", ""], rows)


def _rest(shares: Sequence[Share]) -> list[Share]:
    if not shares:
        return []
    downloaded, kept = sum(entry.downloaded for entry in shares), sum(entry.kept for entry in shares)
    return [
        Share(
            name=f"({len(shares):,} more)",
            urls=sum(entry.urls for entry in shares),
            documents=sum(entry.documents for entry in shares),
            words=sum(entry.words for entry in shares),
            downloaded=downloaded,
            clean=sum(entry.clean for entry in shares),
            kept=kept,
            rate=ratio(kept, downloaded),
            domains=sum(entry.domains for entry in shares),
        )
    ]


def _bar(part: float, number: int) -> str:
    return f'<span class="bar"><span style="width:{100 * part:.1f}%;background:var(--{series(number)})"></span></span>'


def _domains(crawl: Numbers, named: bool) -> str:
    unit = _unit(crawl)
    whose = f": {crawl.name}" if named else ""
    best = (
        _section(f"{unit.capitalize()}s with the most text{whose}", "", _domain_table(crawl.richest, unit))
        if crawl.richest
        else ""
    )
    lead = f"Bytes without text, most first. {_RETIRED if crawl.retired else ''}"
    title = f"{unit.capitalize()}s that cost the most{whose}" if crawl.kept else f"Largest {unit}s{whose}"
    worst = _section(title, lead if crawl.kept else "", _domain_table(crawl.costliest, unit)) if crawl.costliest else ""
    return f'<div class="pair">{best}{worst}</div>'


def _domain_table(domains: Sequence[Domain], unit: str) -> str:
    closed = any(domain.closed for domain in domains)
    head = [unit, "pages", "documents", "downloaded", "kept", "yield", *(["dropped"] if closed else [])]
    rows = []
    for domain in domains:
        cells = [
            escape(domain.name),
            f"{domain.pages:,}",
            _count(domain.documents),
            _size(domain.downloaded),
            _size(domain.kept),
        ]
        rows.append([*cells, _share(domain.kept, domain.downloaded), *([_count(domain.closed)] if closed else [])])
    return _table(head, rows)


def _counts(crawl: Numbers, named: bool) -> str:
    whose = f": {crawl.name}" if named else ""
    lists = [("Tries that failed and were repeated", crawl.retried), ("Links not admitted, by rule", crawl.refused)]
    made = [_section(f"{title}{whose}", "", _count_table(counts)) for title, counts in lists if counts]
    return f'<div class="pair">{"".join(made)}</div>' if made else ""


def _count_table(counts: dict[str, int]) -> str:
    most = max(counts.values())
    return _table(
        ["", "", ""], [[escape(name), f"{count:,}", _bar(ratio(count, most), 0)] for name, count in counts.items()]
    )


_NO_TEXT = '<p class="note">No text was taken from the pages of this crawl, so there is no yield to show.</p>'
_FATES = "Each line is one number got in two ways. A URL that was seen is waiting, or has ended for exactly one reason."
_LANGUAGES = "Of the pages with text, as the language judge found them; kept is what reached the corpus."
_RETIRED = "Dropped: URLs that were not asked for after the domain was retired."
_WHAT_IF = (
    "Had the crawl had only the {unit}s with a yield above a figure: how many there are, what they cost and what they gave "
    "(Suchomel and Pomikálek 2012, table 1). From the log alone."
)
_RULES = (
    "And had it retired each {unit} as soon as its yield fell below t(n) after n pages, never before {pages} pages and {bytes}: the log "
    "replayed page by page. What links of the pages left out would have led to is not known here, so these are estimates."
)
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="generator" content="windrow report">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Windrow report</title>
<style>
:root {{ {light} --page:#f4f6f8; --good:#12805c; --bad:#b8324a; }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} --page:#0f1317; --good:#4cc79a; --bad:#f0798c; }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; max-width: 1320px; padding: 28px 24px 60px; background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; }}
h1 {{ margin: 0; font-size: 28px; letter-spacing: -.01em; }}
h2 {{ margin: 0 0 6px; font-size: 17px; }}
h3 {{ margin: 14px 0 4px; font-size: 15px; }}
header p, section p, figcaption {{ margin: 8px 0 10px; color: var(--muted); }}
figcaption {{ font-size: 13px; margin: 6px 0 0; }}
section, figure {{ margin: 0 0 18px; padding: 18px 20px; min-width: 0; background: var(--paper);
  border: 1px solid var(--grid); border-radius: 10px; }}
svg {{ display: block; width: 100%; height: auto; font-family: inherit; font-variant-numeric: tabular-nums; }}
svg circle:hover {{ opacity: 1; stroke: var(--ink); }}
.pictures, .pair {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 540px), 1fr)); gap: 18px; }}
.pictures {{ margin-bottom: 18px; }} .pictures figure {{ margin: 0; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 16px 0 20px; }}
.tiles div {{ padding: 12px 16px; background: var(--paper); border: 1px solid var(--grid); border-radius: 10px; }}
.tiles span, .tiles small {{ display: block; color: var(--muted); font-size: 13px; }}
.tiles b {{ display: block; font-size: 23px; line-height: 1.3; font-weight: 650; white-space: nowrap; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 4px 10px; text-align: left; border-bottom: 1px solid var(--grid); white-space: nowrap; }}
th {{ color: var(--muted); font-weight: 500; vertical-align: bottom; }}
tbody tr:last-child td {{ border-bottom: 0; }}
.n {{ text-align: right; }}
.pair th, .pair td {{ padding: 4px 7px; font-size: 13px; }}
.sums td:last-child {{ white-space: normal; }}
i {{ color: var(--muted); font-style: normal; }}
.bar {{ display: block; width: 120px; height: 9px; border-radius: 3px; background: var(--grid); overflow: hidden; }}
.bar span {{ display: block; height: 100%; }}
.note {{ padding: 10px 16px; border-left: 4px solid var(--series1); background: var(--paper); border-radius: 4px; }}
.good {{ color: var(--good); }} .bad {{ color: var(--bad); }}
</style>
{body}
"""
