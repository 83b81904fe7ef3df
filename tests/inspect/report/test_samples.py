"""Samples of a corpus: committed documents only, and none whose removal was requested."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.corpus import samples as corpora
from windrow import cli
from windrow.inspect.report import samples
from windrow.records import Document

NAME = "corpus/deu/n0-00000.jsonl.gz"


def line(url: str) -> bytes:
    return corpora.line(corpora.Sample(url, "deu", ("Die Mühle steht im Wind. " * 30,)), 1)


def none(found: Document) -> bool:
    return False


@pytest.fixture
def lengths(tmp_path: Path) -> dict[str, int]:
    """A corpus of 40 commits with 3 documents each, and bytes behind the last commit."""
    file = tmp_path / NAME
    file.parent.mkdir(parents=True)
    members = [
        gzip.compress(b"".join(line(f"http://a.de/{number}/{place}") for place in range(3))) for number in range(40)
    ]
    file.write_bytes(b"".join(members) + gzip.compress(line("http://a.de/uncommitted")))
    return {NAME: sum(map(len, members)), "warc/x": 10}


def test_some_documents_are_chosen_with_the_beginning_of_their_text(tmp_path: Path, lengths: dict[str, int]) -> None:
    found = samples.read(tmp_path, lengths, none)
    assert len({sample.url for sample in found}) == samples.COUNT
    assert all(len(sample.text) <= samples.BEGINNING + 2 and sample.text.endswith(" …") for sample in found)
    assert {sample.language for sample in found} == {"deu"}


def test_documents_behind_the_last_commit_are_never_shown(tmp_path: Path, lengths: dict[str, int]) -> None:
    seen = {sample.url for seed in range(60) for sample in samples.read(tmp_path, lengths, none, seed)}
    assert len(seen) > 60 and "http://a.de/uncommitted" not in seen


def test_hidden_documents_are_never_shown(tmp_path: Path, lengths: dict[str, int]) -> None:
    found = samples.read(tmp_path, lengths, lambda url: not url.endswith("/1"))
    assert found and all(sample.url.endswith("/1") for sample in found)
    assert samples.read(tmp_path, lengths, lambda url: True) == []


def test_a_corpus_that_is_gone_or_damaged_gives_no_samples(tmp_path: Path, lengths: dict[str, int]) -> None:
    (tmp_path / NAME).write_bytes(b"\x1f\x8b\x08 not gzip" * 50)
    assert samples.read(tmp_path, {NAME: 500}, none) == []
    (tmp_path / NAME).unlink()
    assert samples.read(tmp_path, lengths, none) == []


def test_the_report_of_a_crawl_leaves_out_its_takedown_list(tmp_path: Path, lengths: dict[str, int]) -> None:
    (tmp_path / "log").mkdir()
    head = {"frame": 1, "time": 1000.0, "lengths": lengths}
    (tmp_path / "log" / "00000.jsonl.gz").write_bytes(gzip.compress(json.dumps(head).encode() + b"\n"))
    runner = CliRunner()
    before = json.loads(runner.invoke(cli.app, ["report", str(tmp_path), "--json"]).output)
    assert len(before["samples"]) == samples.COUNT
    (tmp_path / "takedown.txt").write_text("a.de\n")
    after = json.loads(runner.invoke(cli.app, ["report", str(tmp_path), "--json"]).output)
    assert after["samples"] == []
