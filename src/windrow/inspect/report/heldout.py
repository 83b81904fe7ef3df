"""The evaluations of a crawl (`windrow lm evaluate`), and their tables."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.inspect.report.scene import series
from windrow.judge.language import codes
from windrow.records import CrawlEvaluation, EvaluationRow, HeldOutFit
from windrow.units import share

EVALUATION = "evaluation.json"  # in a crawl's directory
LEAD = (
    "Models are trained on {trained}what the crawl had downloaded at each size and tested on {words:,} words of "
    "`{held_out}`; lower is better. Known words: those that the {basis} has. Each sentence counts once (Remus and "
    "Biemann 2016, figure 2 and table 2)."
)
_LANGUAGES = 8  # shown
_TEXTS = ("held-out", "train")


def read(directory: Path) -> list[CrawlEvaluation]:
    """Return the evaluations of a crawl: its own, and that of a crawl compared with it; none if there is no file."""
    path = directory / EVALUATION
    if not path.exists():
        return []
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[CrawlEvaluation])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        again = f"make it again with `windrow lm evaluate {directory}`, or remove it"
        raise ConfigError(f"{path} is not an evaluation ({error}); {again}") from None


def lead(found: Sequence[CrawlEvaluation]) -> str:
    first = found[0]
    return LEAD.format(
        trained=f"`{first.train}` and " if first.train else "",
        words=first.held_out_words,
        held_out=first.held_out,
        basis="train text" if first.train else "model",
    )


def sizes(found: Sequence[CrawlEvaluation]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of a table of the sizes, one crawl after another."""
    name = escape(codes.name(found[0].language))
    columns = ["tokens", "pages", name, "", "in the corpus", "perplexity", "known words"]
    head = ["crawl", *columns, f"{name} only", "known words", "unknown"]
    return head, [_size(number, one, row) for number, one in enumerate(found) for row in one.rows]


def _size(number: int, evaluation: CrawlEvaluation, row: EvaluationRow) -> list[str]:
    cells = [
        f'<span style="color:var(--{series(number)})">{escape(evaluation.crawl)}</span>',
        f"{row.tokens:,}" if row.tokens else "<i>train text</i>",
        f"{row.pages:,}",
        f"{row.wanted:,}",
        share(row.wanted, row.tokens) if row.tokens else "",
        f"{row.kept:,}",
    ]
    unknown = share(row.fit.unknown, 1.0) if row.fit else ""
    return [*cells, *_fit(row.fit), *_fit(row.fit_wanted), unknown]


def _fit(fit: HeldOutFit | None) -> list[str]:
    return [f"{fit.perplexity:,.0f}", f"{fit.perplexity_known:,.0f}"] if fit else ["", ""]


def languages(found: Sequence[CrawlEvaluation]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of a table of the languages: of the texts, and of what each crawl downloaded."""
    texts = {f"{name} text": found[0].shares[name] for name in _TEXTS if name in found[0].shares}
    crawls = {escape(one.crawl): _shares(one.rows[-1].languages) for one in found if one.rows}
    columns = [*texts.values(), *crawls.values()]
    order = sorted({code for column in columns for code in column}, key=lambda code: (-_most(code, columns), code))
    rows = [[escape(codes.name(code)), *[_part(column.get(code, 0.0)) for column in columns]] for code in order]
    if len(order) > _LANGUAGES:
        rest = [sum(column.get(code, 0.0) for code in order[_LANGUAGES:]) for column in columns]
        rows = [*rows[:_LANGUAGES], ["others", *map(_part, rest)]]
    return ["language", *texts, *crawls], rows


def _shares(amounts: dict[str, int]) -> dict[str, float]:
    total = sum(amounts.values()) or 1
    return {code: amount / total for code, amount in amounts.items()}


def _most(code: str, columns: Sequence[dict[str, float]]) -> float:
    return max(column.get(code, 0.0) for column in columns)


def _part(part: float) -> str:
    return f"{100 * part:.2f} %"
