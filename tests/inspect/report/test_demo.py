"""The report of a whole crawl, against an independent reading of its log and its corpus."""

import collections
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo") / "crawl"
    assert crashing.run(["demo", "--dir", str(place)]).code == 0
    return place


@pytest.fixture(scope="module")
def numbers(demo: Path) -> dict[str, Any]:
    found: dict[str, Any] = crashing.run(["report", str(demo), "--json"]).json
    return found


def lines(demo: Path) -> list[dict[str, Any]]:
    return [line for frame in truth.frames(demo) for line in frame[1:]]


def test_every_url_finishes_once_and_the_report_counts_it(demo: Path, numbers: dict[str, Any]) -> None:
    seen = [seed[0] for frame in truth.frames(demo) for seed in frame[0].get("seeds", [])]
    seen += [found[0] for line in lines(demo) for found in line.get("admitted", [])]
    ends = [(line["url"], line["reason"]) for line in lines(demo) if not line.get("kind") and line.get("final", True)]
    assert len(set(seen)) == len(seen) == numbers["seen"]
    assert sorted(url for url, _ in ends) == sorted(seen)
    assert {share["name"]: share["urls"] for share in numbers["reasons"]} == collections.Counter(
        reason for _, reason in ends
    )
    assert numbers["waiting"] == 0
    assert [entry["holds"] for entry in numbers["sums"]] == [True] * 4


def test_the_text_of_the_report_is_the_text_of_the_corpus(demo: Path, numbers: dict[str, Any]) -> None:
    texts: dict[str, list[int]] = {}
    for path in (demo / "corpus").rglob("*.jsonl.gz"):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            document = json.loads(line)
            sizes = [len(paragraph["text"].encode()) for paragraph in document["paragraphs"]]
            texts.setdefault(document["language"], []).append(sum(sizes))
    assert texts
    assert {share["name"]: (share["documents"], share["kept"]) for share in numbers["languages"] if share["kept"]} == {
        language: (len(sizes), sum(sizes)) for language, sizes in texts.items()
    }
