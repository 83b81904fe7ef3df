"""An evaluation as text: harvest, languages and perplexity at each size, and two crawls side by side."""

from collections.abc import Sequence

from windrow.judge.language import codes
from windrow.records import CrawlEvaluation, EvaluationRow, HeldOutFit
from windrow.units import share

_SHOWN = 6  # languages

_NOTES = (
    "Perplexity of the held-out text, lower is better; in brackets: over the words that the {basis} has.",
    "The models are trained on {trained}the text downloaded so far: of all languages, and of the wanted one alone.",
)


def text(evaluations: Sequence[CrawlEvaluation]) -> str:
    """Return the tables of one crawl, or of two with the ratio between them."""
    first = evaluations[0]
    trained = f"{first.train} and " if first.train else ""
    head = f"{first.held_out}: {first.held_out_words:,} held-out words. Wanted: {codes.name(first.language)}."
    notes = [note.format(basis="train text" if first.train else "model", trained=trained) for note in _NOTES]
    parts = [head, *notes]
    for evaluation in evaluations:
        parts += ["", *_crawl(evaluation)]
    if len(evaluations) > 1:
        parts += ["", *_ratios(first, evaluations[1])]
    return "\n".join(parts)


def _crawl(evaluation: CrawlEvaluation) -> list[str]:
    name = codes.name(evaluation.language)
    head = ["tokens", "pages", name, "", "kept", "perplexity", "", f"{name} only", "", "unknown"]
    rows = [_row(row) for row in evaluation.rows]
    last = evaluation.rows[-1] if evaluation.rows else None
    lines = [f"{evaluation.crawl}:", *_aligned([head, *rows])]
    if last is not None and last.languages:
        lines.append(f"languages of the text downloaded: {_languages(last.languages)}")
    for which, shares in evaluation.shares.items():
        lines.append(f"languages of the {which} text: {_languages(shares)}")
    if evaluation.left_out:
        lines.append(f"sentences left out because they are in the held-out text: {evaluation.left_out:,}")
    return [*lines, evaluation.note] if evaluation.note else lines


def _row(row: EvaluationRow) -> list[str]:
    cells = [
        f"{row.tokens:,}",
        f"{row.pages:,}",
        f"{row.wanted:,}",
        share(row.wanted, row.tokens) if row.tokens else "",
    ]
    unknown = share(row.fit.unknown, 1.0) if row.fit else ""
    return [*cells, f"{row.kept:,}", *_fit(row.fit), *_fit(row.fit_wanted), unknown]


def _fit(fit: HeldOutFit | None) -> list[str]:
    return [number(fit.perplexity), f"({number(fit.perplexity_known)})"] if fit else ["", ""]


def number(perplexity: float) -> str:
    return f"{perplexity:,.1f}" if perplexity < 1000 else f"{perplexity:,.0f}"


def _languages(amounts: dict[str, int] | dict[str, float]) -> str:
    total = sum(amounts.values())
    shown = [f"{codes.name(code)} {share(amount, total)}" for code, amount in list(amounts.items())[:_SHOWN]]
    return ", ".join([*shown, "others"] if len(amounts) > _SHOWN else shown)


def _ratios(first: CrawlEvaluation, second: CrawlEvaluation) -> list[str]:
    """Return the two crawls at the sizes that both have."""
    name = codes.name(first.language)
    groups = (f"tokens in {name}", "perplexity", f"with {name} only")
    over = ["", *(cell for group in groups for cell in (group, "", ""))]
    head = ["tokens", *(cell for _ in groups for cell in (first.crawl, second.crawl, "ratio"))]
    rows = []
    for own, other in pairs(first, second):
        cells = [f"{own.size:,}", f"{own.wanted:,}", f"{other.wanted:,}", _ratio(own.wanted, other.wanted)]
        rows.append([*cells, *_both(own.fit, other.fit), *_both(own.fit_wanted, other.fit_wanted)])
    if not rows:
        return [f"{first.crawl} and {second.crawl} have no size in common"]
    return [f"{first.crawl} against {second.crawl}:", *_aligned([over, head, *rows])]


def _both(own: HeldOutFit | None, other: HeldOutFit | None) -> list[str]:
    if own is None or other is None:
        return ["", "", ""]
    return [number(own.perplexity), number(other.perplexity), _ratio(own.perplexity, other.perplexity)]


def pairs(first: CrawlEvaluation, second: CrawlEvaluation) -> list[tuple[EvaluationRow, EvaluationRow]]:
    """Return the rows of the sizes that both have, after the start of the crawl."""
    others = {row.size: row for row in second.rows if row.size}
    return [(row, others[row.size]) for row in first.rows if row.size in others]


def _ratio(own: float, other: float) -> str:
    return f"{own / other:.2f}" if other else ""


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
