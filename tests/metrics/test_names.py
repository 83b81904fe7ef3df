"""docs/metrics.md has every metric, with its kind, its labels and its meaning."""

import re
from pathlib import Path

from windrow.metrics import METRICS
from windrow.metrics.families import SECONDS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "metrics.md").read_text("utf-8")


def test_the_table_of_the_page_is_the_list_of_metrics() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| `")]
    listed = [row for row in rows if re.fullmatch(r"`(?:windrow|process)_\w+`", row[0])]
    assert listed == [
        [
            f"`{name}`",
            meaning.kind,
            ", ".join(f"`{label}`" for label in meaning.labels),
            "yes" if meaning.log else "no",
            meaning.help,
        ]
        for name, meaning in METRICS.items()
    ]


def test_the_page_names_the_bounds_of_the_histograms() -> None:
    assert " ".join(f"{bound:g}" for bound in SECONDS) in " ".join(PAGE.split())
