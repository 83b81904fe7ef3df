"""The report as one HTML page that needs no other file: styles, pictures and tables are in it, and no script."""

import re
import time
from collections.abc import Sequence
from html import escape

from windrow.frontier.policy.whatif import LadderRow, RuleRow
from windrow.inspect.report import heldout, style, svg, tables
from windrow.inspect.report.data import Numbers, Sum
from windrow.inspect.report.scene import DARK, LIGHT, Scene
from windrow.judge.language import codes
from windrow.records import CrawlEvaluation
from windrow.units import count, share, size, span

NOTES = 5  # shown
MARK = b'<meta name="generator" content="windrow report">'  # identifies an earlier report


def render(crawls: Sequence[Numbers], scenes: Sequence[Scene], evaluations: Sequence[CrawlEvaluation] = ()) -> str:
    names = " and ".join(escape(crawl.name) for crawl in crawls)
    several = len(crawls) > 1
    figures = {scene.name: _figure(scene) for scene in scenes}
    textual = "scatter" in figures or "yield" in figures
    parts = [
        f"<header><h1>{names}</h1>{''.join(_dates(crawl, several) for crawl in crawls)}</header>",
        *[_note(crawl, note) for crawl in crawls for note in _first(crawl.notes)],
        _summary(crawls),
        _section("Reasons", _REASONS, tables.shares(crawls, "reason", [crawl.reasons for crawl in crawls], "urls")),
        _languages(crawls) if textual else _NO_TEXT,
        _pictures(figures, "scatter", "yield", "harvest", "what-if"),
        _heldout(figures, evaluations) if evaluations else "",
        *[_samples(crawl, several) for crawl in crawls if crawl.samples],
        _section(
            "Top-level domains",
            "",
            tables.shares(crawls, "TLD", [crawl.tlds for crawl in crawls], "kept" if textual else "urls"),
        ),
        *[_domains(crawl, several) for crawl in crawls],
        _what_if(crawls) if any(crawl.kept for crawl in crawls) else "",
        _section("Every URL finishes once", _ENDS, "".join(_sums(crawl, several) for crawl in crawls)),
        *[_counts(crawl, several) for crawl in crawls],
        *[_scores(crawl, several) for crawl in crawls if crawl.scores],
        *[_settings(crawl, several) for crawl in crawls],
        f"<footer><p>Windrow {escape(crawls[0].version)}</p></footer>" if crawls and crawls[0].version else "",
    ]
    return style.PAGE.format(title=names, light=_variables(LIGHT), dark=_variables(DARK), body="\n".join(parts))


def _pictures(figures: dict[str, str], *names: str) -> str:
    made = [figures[name] for name in names if name in figures]
    return f'<div class="pictures">{"".join(made)}</div>' if made else ""


def _languages(crawls: Sequence[Numbers]) -> str:
    found = tables.shares(crawls, "language", [crawl.languages for crawl in crawls], "kept")
    return _section("Languages", _LANGUAGES, found)


def _heldout(figures: dict[str, str], found: Sequence[CrawlEvaluation]) -> str:
    """Return the section about held-out text: pictures, sizes, languages."""
    notes = "".join(f"<p>{escape(one.crawl)}: {escape(one.note)}</p>" for one in found if one.note)
    inner = f"{tables.table(*heldout.sizes(found))}{notes}<h3>Languages</h3>{tables.table(*heldout.languages(found))}"
    pictures = _pictures(figures, "perplexity", "perplexity-language", "wanted")
    return pictures + _section("Held-out text", heldout.lead(found), inner)


def _samples(crawl: Numbers, named: bool) -> str:
    """Return the beginnings of some documents. Their text comes from the web: everything is escaped."""
    made = []
    for sample in crawl.samples:
        title = tables.link(sample.url, sample.title or sample.url)
        language = escape(codes.name(sample.language)) if sample.language else "no language"
        text = f'<p dir="auto">{escape(sample.text)}</p>'
        made.append(f"<article><h3>{title}</h3><p><i>{language} · {escape(sample.url)}</i></p>{text}</article>")
    whose = f": {crawl.name}" if named else ""
    return _section(f"Sample texts{whose}", _SAMPLES, f'<div class="samples">{"".join(made)}</div>')


def _settings(crawl: Numbers, named: bool) -> str:
    whose = f": {crawl.name}" if named else ""
    inner = f'<pre tabindex="0">{escape(crawl.settings)}</pre>' if crawl.settings else "<p>None.</p>"
    return _section(f"Options that differ from their defaults{whose}", "", inner)


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{role}:{colour};" for role, colour in colours.items())


def _dates(crawl: Numbers, named: bool) -> str:
    whose = f"<b>{escape(crawl.name)}</b> " if named else ""
    if not crawl.frames:
        return f"<p>{whose}Nothing has been committed yet.</p>"
    first, last = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(moment)) for moment in (crawl.first, crawl.last))
    return f"<p>{whose}{first} to {last} UTC, {span(crawl.seconds)} of crawling, {count(crawl.frames, 'commit')}</p>"


def _first(notes: Sequence[str]) -> list[str]:
    more = len(notes) - NOTES
    return [*notes[:NOTES], *([f"and {more:,} more of this kind"] if more > 0 else [])]


def _note(crawl: Numbers, note: str) -> str:
    return f'<p class="note"><b>{escape(crawl.name)}</b>: {escape(note)}</p>'


def _facts(crawl: Numbers) -> list[tuple[str, str, str]]:
    """Return the figures at the top of the page: name, value, explanation."""
    unit = _unit(crawl)
    rate = f"{crawl.responses / crawl.seconds:,.1f} responses per second" if crawl.seconds else ""
    facts = [
        ("pages", f"{crawl.pages:,}", rate),
        ("downloaded", size(crawl.downloaded), f"on {count(crawl.domains, unit)}"),
    ]
    if crawl.clean or crawl.kept:
        facts += [
            ("documents", f"{crawl.documents:,}", f"{share(crawl.documents, crawl.pages)} of the pages"),
            ("text kept", size(crawl.kept), count(crawl.tokens, "token") if crawl.tokens else ""),
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
    head = ["", *(tables.coloured(crawl, number) for number, crawl in enumerate(crawls))]
    rows = [
        [name, *("<b>{}</b> <i>{}</i>".format(*column.get(name, ("", ""))) for column in columns)] for name in names
    ]
    return f"<section>{tables.table(head, rows, len(head))}</section>"


def _unit(crawl: Numbers) -> str:
    return crawl.what_if.unit if crawl.what_if else "domain"


def _figure(scene: Scene) -> str:
    caption = f"<figcaption>{escape(scene.caption)}</figcaption>"
    return f"<figure><h2>{escape(scene.title)}</h2>{svg.inline(scene)}{caption}</figure>"


def _section(title: str, lead: str, inner: str) -> str:
    """Return a section. In the lead, text in backticks is code."""
    said = re.sub(r"`(.*?)`", r"<code>\1</code>", escape(lead))
    return f"<section><h2>{escape(title)}</h2>{f'<p>{said}</p>' if said else ''}{inner}</section>"


def _what_if(crawls: Sequence[Numbers]) -> str:
    found = [crawl.what_if for crawl in crawls if crawl.what_if]
    first = found[0]
    unit = first.unit
    head = ["yield above", *_heads(crawls, [f"{unit}s", "downloaded", "of all", "kept", "of all", "yield"])]
    rows = []
    for number, row in enumerate(first.ladder):
        step = "all" if row.threshold is None else f"{row.threshold:g}"
        cells = [
            cell for crawl, other in zip(crawls, found, strict=True) for cell in _step(crawl, other.ladder[number])
        ]
        rows.append([step, *cells])
    columns = ["retired", "responses", "downloaded", "of all", "kept", "of all", "yield"]
    rules = ["threshold", "t(n)", *_heads(crawls, columns)]
    outcomes = []
    for number, rule in enumerate(first.rules):
        function = f"{rule.factor:g}·(log<sub>10</sub> n − {rule.start:g})" if rule.factor else "none"
        cells = [cell for crawl, other in zip(crawls, found, strict=True) for cell in _rule(crawl, other.rules[number])]
        outcomes.append([escape(rule.threshold), function, *cells])
    lead = _RULES.format(unit=unit, pages=first.grace_pages, bytes=size(first.grace_bytes))
    return _section(
        "What if",
        _WHAT_IF.format(unit=unit),
        f"{tables.table(head, rows)}<p>{lead}</p>{tables.table(rules, outcomes, 2)}",
    )


def _heads(crawls: Sequence[Numbers], names: Sequence[str]) -> list[str]:
    """Return the same columns for each crawl, the first of them under its name."""
    if len(crawls) == 1:
        return list(names)
    return [
        f"{tables.coloured(crawl, number)}<br>{name}" if place == 0 else name
        for number, crawl in enumerate(crawls)
        for place, name in enumerate(names)
    ]


def _step(crawl: Numbers, row: LadderRow) -> list[str]:
    cells = [
        tables.count(row.domains),
        tables.size_or_zero(row.downloaded),
        tables.share_or_zero(row.downloaded, crawl.downloaded),
    ]
    return [*cells, tables.size_or_zero(row.kept), tables.share_or_zero(row.kept, crawl.kept), f"{row.rate:.4f}"]


def _rule(crawl: Numbers, rule: RuleRow) -> list[str]:
    cells = [
        tables.count(rule.retired),
        tables.count(rule.pages),
        tables.size_or_zero(rule.downloaded),
        tables.share_or_zero(rule.downloaded, crawl.downloaded),
    ]
    return [*cells, tables.size_or_zero(rule.kept), tables.share_or_zero(rule.kept, crawl.kept), f"{rule.rate:.4f}"]


def _sums(crawl: Numbers, named: bool) -> str:
    rows = [[_sign(entry), escape(entry.what), f"{entry.total:,}", _parts(entry)] for entry in crawl.sums]
    inner = "".join(
        f'<tr><td>{sign}</td><td>{what}</td><td class="n">{total}</td><td>{parts}</td></tr>'
        for sign, what, total, parts in rows
    )
    title = f"<h3>{escape(crawl.name)}</h3>" if named else ""
    return f'{title}<div class="scroll" tabindex="0"><table class="sums"><tbody>{inner}</tbody></table></div>'


def _sign(entry: Sum) -> str:
    return '<b class="good">✓</b>' if entry.holds else '<b class="bad">✗</b>'


def _parts(entry: Sum) -> str:
    return (
        "= " + " + ".join(f"{count:,} <i>{escape(name)}</i>" for name, count in entry.parts.items())
        if entry.parts
        else "= 0"
    )


def _domains(crawl: Numbers, named: bool) -> str:
    unit = _unit(crawl)
    whose = f": {crawl.name}" if named else ""
    best = (
        _section(f"{unit.capitalize()}s with the most text{whose}", "", tables.ranking(crawl.richest, unit))
        if crawl.richest
        else ""
    )
    lead = f"Bytes without text, most first. {_RETIRED if crawl.retired else ''}"
    title = f"{unit.capitalize()}s that cost the most{whose}" if crawl.kept else f"Largest {unit}s{whose}"
    worst = (
        _section(title, lead if crawl.kept else "", tables.ranking(crawl.costliest, unit)) if crawl.costliest else ""
    )
    return f'<div class="pair">{best}{worst}</div>'


def _scores(crawl: Numbers, named: bool) -> str:
    head = ["score", "pages", "mean", "documents", "mean of documents"]
    rows = [
        [escape(row.name), f"{row.pages:,}", f"{row.mean:g}", f"{row.documents:,}", f"{row.documents_mean:g}"]
        for row in crawl.scores
    ]
    return _section(f"Scores{f': {crawl.name}' if named else ''}", _SCORES, tables.table(head, rows))


def _counts(crawl: Numbers, named: bool) -> str:
    whose = f": {crawl.name}" if named else ""
    lists = [("Attempts that failed and were repeated", crawl.retried), ("Links not admitted, by rule", crawl.refused)]
    made = [_section(f"{title}{whose}", "", tables.counts(counts)) for title, counts in lists if counts]
    return f'<div class="pair">{"".join(made)}</div>' if made else ""


_NO_TEXT = '<p class="note">No text was extracted in this crawl, so there is no yield to show.</p>'
_ENDS = (
    "Each line is one number, counted in two ways. An admitted URL is waiting or in flight, or has finished for "
    "exactly one reason."
)
_REASONS = "How the URLs ended. `windrow reasons` explains each reason, `windrow list` lists its URLs."
_SAMPLES = "The beginnings of some documents, chosen at random."
_LANGUAGES = "Pages with text, by the language that the language judge found. Kept: text that reached the corpus."
_SCORES = "The scores of the judges, your own included: over all pages that have them, and over the documents."
_RETIRED = "Dropped: URLs that were not requested because their domain had been retired."
_WHAT_IF = (
    "The crawl with only those {unit}s whose yield is above a figure: how many they are, what they cost and what they "
    "gave (Suchomel and Pomikálek 2012, table 1). Computed from the log alone."
)
_RULES = (
    "The crawl if it had retired each {unit} as soon as its yield fell below t(n) after n pages, but never before "
    "{pages} pages and {bytes}. The log is replayed page by page. It does not say where the links of other pages would "
    "have led, so these figures are estimates."
)
