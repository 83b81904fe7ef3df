"""Exports of crawls, as the command makes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from windrow.jobs.export import write
from windrow.jobs.export.write import ExportOptions, ExportSummary


def run(crawls: Path | Sequence[Path], output: Path, format: str = "jsonl", **others: Any) -> ExportSummary:
    inputs = (crawls,) if isinstance(crawls, Path) else crawls
    options = ExportOptions(inputs=inputs, output=output, format=format, **others)
    write.check(options)
    return write.run(options, write.find(options), lambda count: None)
