"""Compare title, author and date with those that people wrote down, and with trafilatura's if it is installed.

    python benchmarks/metadata.py [--pages FILE] [--json]

The pages are those of tests/quality/metadata.jsonl. "right": exact after white space, of the pages that have one;
"given": of those for which the program gives one; "needless": pages without one for which it gives one all the same.
Names are compared with commas between them. The rules of Windrow were made on pages with an even number only.
"""

import argparse
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from windrow import config, extraction
from windrow.extraction.evaluation import gold
from windrow.extraction.evaluation.gold import Sample

ROOT = Path(__file__).resolve().parents[1]
FIELDS = ("title", "author", "date")

Row = dict[str, str]


def windrow() -> Callable[[Sample], Row]:
    read = extraction.extractor(config.make([], Path()))

    def row(sample: Sample) -> Row:
        page = read(sample.capture())
        return {field: getattr(page, field) for field in FIELDS}

    return row


def trafilatura() -> Callable[[Sample], Row]:
    from trafilatura import bare_extraction, extract_metadata

    def row(sample: Sample) -> Row:
        found: Any = bare_extraction(sample.body, url=sample.url or None, with_metadata=True)
        found = found or extract_metadata(sample.body, default_url=sample.url or None)
        return {field: getattr(found, field, None) or "" for field in FIELDS}

    return row


def line(field: str, text: str) -> str:
    text = " ".join(text.split())
    return text.replace(";", ",") if field == "author" else text


def score(found: dict[str, Row], wanted: dict[str, Row], field: str) -> dict[str, float]:
    pairs = [(line(field, found[name][field]), line(field, row[field])) for name, row in wanted.items()]
    right = sum(bool(truth) and (ours[: len(truth)] if field == "date" else ours) == truth for ours, truth in pairs)
    having, given = sum(bool(truth) for _, truth in pairs), sum(bool(ours) for ours, truth in pairs if truth)
    needless = [bool(ours) for ours, truth in pairs if not truth]
    return {
        "right": right / max(1, having),
        "given": right / max(1, given),
        "needless": sum(needless) / max(1, len(needless)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--pages", type=Path, default=ROOT.parent / "shared" / "extraction" / "wcxb-dev.tar.xz")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lines = (ROOT / "tests" / "quality" / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    rows: dict[str, Row] = {row["id"]: row for row in map(json.loads, lines)}
    samples = [sample for sample in gold.samples(options.pages) if sample.name in rows]
    programs = {"windrow": windrow()}
    if importlib.util.find_spec("trafilatura"):
        programs["trafilatura"] = trafilatura()
    figures = []
    for program, read in programs.items():
        found = {sample.name: read(sample) for sample in samples}
        for part in ("all", "even", "odd"):
            wanted = {name: rows[name] for name in found if part == "all" or (int(name) % 2 == 1) == (part == "odd")}
            for field in FIELDS:
                figures.append({"program": program, "part": part, "field": field, **score(found, wanted, field)})
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    for one in figures:
        shares = "  ".join(f"{name} {one[name]:.3f}" for name in ("right", "given", "needless"))
        print(f"{one['program']:12} {one['part']:5} {one['field']:7} {shares}")


if __name__ == "__main__":
    main()
