"""`windrow what-if`: what other yield thresholds would have made of a crawl, from its log alone."""

from collections.abc import Sequence
from pathlib import Path

from windrow import config, log
from windrow.frontier.policy import whatif
from windrow.frontier.policy.whatif import Question, WhatIf, WhatIfTables
from windrow.log import Accounts, Watch
from windrow.units import size


def question(directory: Path, thresholds: Sequence[str], ladder: str, unit: str, settings: Sequence[str]) -> Question:
    """Return the question. Yield and grace are those of the crawl's own options, unless `settings` change them."""
    file = directory / "crawl.toml"
    options = config.load(file, settings) if file.exists() else config.make(settings, directory)
    steps = whatif.steps(ladder) if ladder else whatif.LADDER
    return Question(options.frontier, tuple(thresholds) or whatif.THRESHOLDS, steps, unit, options.plugins)


def run(directory: Path, asked: Question, watch: Watch | None = None) -> WhatIfTables:
    """Return the tables of a crawl."""
    rules = WhatIf(asked)
    accounts = Accounts(rules.book, asked.unit)
    totals = log.fold(directory, accounts, watch=watch)
    return rules.tables(accounts.sites.values(), totals.notes)


def text(tables: WhatIfTables) -> str:
    """Return both tables for a terminal."""
    many = f"{tables.unit}s"
    ladder = [["yield above", many, "downloaded", "kept", "yield"]]
    for row in tables.ladder:
        step = "(all)" if row.threshold is None else f"{row.threshold:g}"
        ladder.append([step, f"{row.domains:,}", size(row.downloaded), size(row.kept), f"{row.rate:.4f}"])
    rules = [["threshold", "a", "b", "retired", "pages", "downloaded", "kept", "yield", "not downloaded", "text lost"]]
    for rule in tables.rules:
        sizes = [size(rule.downloaded), size(rule.kept), f"{rule.rate:.4f}"]
        saved = [size(rule.downloaded_saved), size(rule.kept_lost)]
        function = [rule.threshold, f"{rule.factor:g}", f"{rule.start:g}"]
        rules.append([*function, f"{rule.retired:,}", f"{rule.pages:,}", *sizes, *saved])
    by_pages = tables.form == "pages"
    form = "the mean of the yields of its pages" if by_pages else f"bytes of {tables.text} text per byte downloaded"
    grace = f"never before {tables.grace_pages} pages and {size(tables.grace_bytes)}"
    parts = [
        f"{tables.domains:,} {many}; the yield of a {tables.unit} is {form}",
        _aligned(ladder),
        f"Retired below a yield of a·(log10 n - b) after n pages, {grace}:",
        _aligned(rules),
        *tables.notes,
    ]
    return "\n\n".join(parts)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
