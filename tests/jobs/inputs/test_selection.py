"""Several crawls in one export: each page once, and each document names its crawl."""

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.corpus import samples
from tests.corpus.samples import Sample
from tests.jobs.exports import run
from windrow.jobs.inputs import selection, sources
from windrow.jobs.inputs.filters import Wanted
from windrow.jobs.inputs.selection import Selection
from windrow.takedown import Takedown


def digest(letter: str) -> str:
    return letter * 32


SAME = Sample("http://a.example/same", "eng", ("The same page.",), digest=digest("A"))
OLD = Sample("http://a.example/changed", "eng", ("The old version.",), digest=digest("B"))
NEW = Sample("http://a.example/changed", "eng", ("The new version.",), time=OLD.time + 90000, digest=digest("C"))
FIRST = Sample("http://a.example/first", "eng", ("Only in the first.",), digest=digest("D"))
MIRROR = Sample("http://m.example/mirror", "eng", ("Only in the first.",), digest=digest("E"))
SHORTER = Sample("http://m.example/shorter", "eng", ("Another extraction of the first.",), digest=digest("D"))
SECOND = Sample("http://b.example/second", "deu", ("Nur im zweiten.",), digest=digest("F"))


@pytest.fixture
def crawls(tmp_path: Path) -> list[Path]:
    one = samples.crawl(tmp_path / "one", [SAME, OLD, FIRST])
    return [one, samples.crawl(tmp_path / "two", [SAME, NEW, MIRROR, SHORTER, SECOND])]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_page_is_exported_once_and_the_first_crawl_wins(tmp_path: Path, crawls: list[Path]) -> None:
    summary = run(crawls, tmp_path / "out.jsonl")
    found = [(row["metadata"]["url"], row["text"]) for row in rows(tmp_path / "out.jsonl")]
    assert sorted(found) == sorted((one.url, one.texts[0]) for one in (SAME, OLD, FIRST, SECOND))
    assert summary.left_out == dict(zip(selection.REPEATED, (2, 1, 1), strict=True))
    assert (summary.documents_in, summary.documents_out) == (8, 4)
    run(crawls[::-1], tmp_path / "reversed.jsonl")
    texts = [row["text"] for row in rows(tmp_path / "reversed.jsonl")]
    assert "The new version." in texts and "The old version." not in texts


def test_a_document_that_a_filter_leaves_out_does_not_hide_a_later_one(tmp_path: Path, crawls: list[Path]) -> None:
    summary = run(crawls, tmp_path / "out.jsonl", wanted=Wanted(since="2026-11-16"))
    assert [row["text"] for row in rows(tmp_path / "out.jsonl")] == ["The new version."]
    assert summary.left_out == {"since": 7}


def test_within_a_crawl_nothing_is_compared(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "one", [SAME, SAME, FIRST, MIRROR])
    assert run([crawl], tmp_path / "out.jsonl").documents_out == 4
    other = samples.crawl(tmp_path / "two", [SECOND, SECOND])
    assert run([crawl, other], tmp_path / "both.jsonl").documents_out == 6
    shards = [crawl / "corpus" / "eng" / "n0-00000.jsonl.gz", other / "corpus" / "deu" / "n0-00000.jsonl.gz"]
    assert run(shards, tmp_path / "shards.jsonl").documents_out == 6


def test_each_document_names_its_crawl_in_every_format(tmp_path: Path, crawls: list[Path]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run(crawls, tmp_path / "out.jsonl")
    assert [row["metadata"]["dump"] for row in rows(tmp_path / "out.jsonl")] == ["one", "one", "one", "two"]
    run(crawls, tmp_path / "windrow.jsonl", style="windrow")
    places = [row["place"] for row in rows(tmp_path / "windrow.jsonl")]
    assert [place["crawl"] for place in places] == ["one", "one", "one", "two"]
    assert {place["file"] for place in places} == {samples.WARC}
    run(crawls, tmp_path / "out.parquet", "parquet")
    assert parquet.read_table(tmp_path / "out.parquet")["dump"].to_pylist() == ["one", "one", "one", "two"]
    run(crawls, tmp_path / "out.prevert", "prevertical", places=True)
    assert (tmp_path / "out.prevert").read_text().count(' crawl="one" ') == 3


def test_a_merged_file_keeps_the_names_of_its_crawls(tmp_path: Path, crawls: list[Path]) -> None:
    run(crawls, tmp_path / "merged.jsonl", style="windrow")
    run([tmp_path / "merged.jsonl"], tmp_path / "out.jsonl")
    assert [row["metadata"]["dump"] for row in rows(tmp_path / "out.jsonl")] == ["one", "one", "one", "two"]
    third = samples.crawl(tmp_path / "three", [msgspec.structs.replace(SECOND, url="http://c.example/third")])
    run([tmp_path / "merged.jsonl", third], tmp_path / "again.jsonl", style="windrow")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "merged.jsonl").read_bytes()


def test_one_crawl_is_exported_byte_for_byte(tmp_path: Path, crawls: list[Path]) -> None:
    run(crawls[:1], tmp_path / "out.jsonl", style="windrow")
    shard = crawls[0] / "corpus" / "eng" / "n0-00000.jsonl.gz"
    assert (tmp_path / "out.jsonl").read_bytes() == gzip.decompress(shard.read_bytes())


def test_the_takedown_lists_of_all_crawls_hold_for_all(tmp_path: Path, crawls: list[Path]) -> None:
    (crawls[1] / "takedown.txt").write_text("http://a.example/same\n")
    assert run(crawls, tmp_path / "out.jsonl").left_out["takedown"] == 2


def test_the_keys_of_the_last_source_are_not_kept(crawls: list[Path]) -> None:
    found = Selection(sources.find(crawls), Wanted(), Takedown())
    assert [selected.dump for selected in found.read(lambda count: None)] == ["one", "one", "one", "two"]
    assert found._earlier is not None and len(found._earlier) == 9
