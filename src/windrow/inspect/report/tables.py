"""The tables of a report, as HTML."""

from collections.abc import Sequence
from html import escape

from windrow.frontier.policy.whatif import ratio
from windrow.inspect.report.data import Numbers, RankedSite, Share
from windrow.inspect.report.scene import series
from windrow.judge.language import codes
from windrow.units import share, size

ROWS = 20  # of a table at most; the rest is one row
_ZERO = "<i>0</i>"
_COUNTED = {"reason": "URLs", "language": "pages"}  # in a row of shares; otherwise responses
Cells = Sequence[str]


def table(head: Cells, rows: Sequence[Cells], texts: int = 1) -> str:
    """Return a table. Cells are HTML; the first `texts` columns are words, the others numbers."""
    align = ["" if number < texts else ' class="n"' for number in range(len(head))]
    top = "".join(f"<th{kind}>{cell}</th>" for cell, kind in zip(head, align, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, align, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def shares(crawls: Sequence[Numbers], title: str, columns: Sequence[Sequence[Share]], field: str) -> str:
    """Return all columns for one crawl; for several crawls, only their shares next to each other."""
    if len(crawls) == 1:
        return _single(title, columns[0], field)
    found = [{entry.name: entry for entry in column} for column in columns]
    totals = [sum(getattr(entry, field) for entry in column) for column in columns]
    names = sorted(
        {name for column in found for name in column}, key=lambda name: (*_weight(name, found, totals, field), name)
    )
    rows = []
    for name in names[:ROWS]:
        cells = [_label(title, name)]
        for number, (column, total) in enumerate(zip(found, totals, strict=True)):
            cells += _compared(column.get(name), field, total, number)
        rows.append(cells)
    heads = [("text", "kept") if field == "kept" else ("",)] * len(crawls)
    head = [cell for number, crawl in enumerate(crawls) for cell in (*heads[number], coloured(crawl, number), "")]
    return table([title, *head], rows)


def _label(title: str, name: str) -> str:
    """Return the first cell of a row. A language has its English name and its code."""
    if title == "language" and (known := codes.name(name)) != name:
        return f"{escape(known)} <i>{escape(name)}</i>"
    return escape(name or "(none)")


def _weight(name: str, found: Sequence[dict[str, Share]], totals: Sequence[int], field: str) -> tuple[float, float]:
    """Return a sort key: the largest share first, then the most text."""
    entries = [column.get(name) for column in found]
    shares = [
        ratio(getattr(entry, field), total) if entry else 0.0 for entry, total in zip(entries, totals, strict=True)
    ]
    return -max(shares), -max(entry.clean if entry else 0 for entry in entries)


def _compared(entry: Share | None, field: str, total: int, number: int) -> list[str]:
    value = getattr(entry, field) if entry else 0
    shown = [size_or_zero(entry.clean if entry else 0), size_or_zero(value)] if field == "kept" else [count(value)]
    return [*shown, share_or_zero(value, total), _bar(ratio(value, total), number)]


def _single(title: str, shares: Sequence[Share], field: str) -> str:
    domains = any(entry.domains for entry in shares)
    textual = any(entry.clean or entry.kept for entry in shares)
    what = _COUNTED.get(title, "responses")
    head = [title, *(["domains"] if domains else []), what, "downloaded"]
    counted = any(entry.tokens for entry in shares)
    head += ["text", "documents", *(["tokens"] if counted else []), "kept", "yield"] if textual else []
    total = sum(getattr(entry, field) for entry in shares)
    rows = []
    for entry in [*shares[:ROWS], *_rest(shares[ROWS:])]:
        cells = [
            _label(title, entry.name),
            *([f"{entry.domains:,}"] if domains else []),
            f"{entry.urls:,}",
            size_or_zero(entry.downloaded),
        ]
        if textual:
            cells += [size_or_zero(entry.clean), count(entry.documents), *([count(entry.tokens)] if counted else [])]
            cells += [size_or_zero(entry.kept), share_or_zero(entry.kept, entry.downloaded)]
        value = getattr(entry, field)
        rows.append([*cells, share_or_zero(value, total), _bar(ratio(value, total), 0)])
    return table([*head, f"of all {'text' if field == 'kept' else what}", ""], rows)


def _rest(shares: Sequence[Share]) -> list[Share]:
    if not shares:
        return []
    downloaded, kept = sum(entry.downloaded for entry in shares), sum(entry.kept for entry in shares)
    return [
        Share(
            name=f"({len(shares):,} more)",
            urls=sum(entry.urls for entry in shares),
            documents=sum(entry.documents for entry in shares),
            tokens=sum(entry.tokens for entry in shares),
            downloaded=downloaded,
            clean=sum(entry.clean for entry in shares),
            kept=kept,
            rate=ratio(kept, downloaded),
            domains=sum(entry.domains for entry in shares),
        )
    ]


def _bar(part: float, number: int) -> str:
    return f'<span class="bar"><span style="width:{100 * part:.1f}%;background:var(--{series(number)})"></span></span>'


def count(value: float) -> str:
    return f"{value:,}" if value else _ZERO


def size_or_zero(count: float) -> str:
    return size(count) if count else _ZERO


def share_or_zero(part: float, whole: float) -> str:
    return share(part, whole) if part else _ZERO


def link(url: str, text: str) -> str:
    """Return a link to a page of the web. It loads nothing until it is followed, and then does not say from where."""
    return f'<a href="{escape(url)}" rel="noreferrer nofollow">{escape(text)}</a>'


def coloured(crawl: Numbers, number: int) -> str:
    return f'<b style="color:var(--{series(number)})">{escape(crawl.name)}</b>'


def ranking(domains: Sequence[RankedSite], unit: str) -> str:
    closed = any(domain.closed for domain in domains)
    head = [unit, "responses", "documents", "downloaded", "kept", "yield", *(["dropped"] if closed else [])]
    rows = []
    for domain in domains:
        cells = [
            link(f"http://{domain.name}/", domain.name),
            f"{domain.pages:,}",
            count(domain.documents),
            size_or_zero(domain.downloaded),
            size_or_zero(domain.kept),
        ]
        rows.append(
            [*cells, share_or_zero(domain.kept, domain.downloaded), *([count(domain.closed)] if closed else [])]
        )
    return table(head, rows)


def counts(counts: dict[str, int]) -> str:
    most = max(counts.values())
    return table(
        ["", "", ""], [[escape(name), f"{count:,}", _bar(ratio(count, most), 0)] for name, count in counts.items()]
    )
