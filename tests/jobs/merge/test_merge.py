"""`windrow merge`: one corpus of several crawls, in order, whatever runs it; and what it refuses."""

import base64
import fcntl
import hashlib
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from typer.testing import CliRunner

from tests import logs
from tests.corpus import samples
from tests.corpus.samples import Sample
from tests.dedup.onion import Onion, words
from windrow import cli, takedown
from windrow.config import ConfigError
from windrow.corpus import reader
from windrow.decide import NEAR
from windrow.jobs import engine, merge
from windrow.jobs.engine.parts import PartTable
from windrow.jobs.inputs.selection import REPEATED
from windrow.jobs.merge import rewrite
from windrow.jobs.merge.decide import NEAR_DUPLICATE
from windrow.records import Document, Frame

chance = random.Random(11)
VOCABULARY = ["".join(chance.choices("abcdefghijklmnopqrstuvwyzěščř", k=chance.randint(3, 8))) for _ in range(3000)]


def text(count: int) -> str:
    return " ".join(chance.choices(VOCABULARY, k=count))


def digest(*parts: str) -> str:
    return base64.b32encode(hashlib.sha1("".join(parts).encode()).digest()).decode()


def page(url: str, *texts: str, language: str = "ces", share: float = 0.0) -> Sample:
    scores = {"language": 0.75, **({NEAR: share} if share else {})}
    return Sample(url, language, texts, scores=scores, digest=digest(url, *texts))


class InProcess:
    """An engine that reads the files here, in another order, and sorts in Python."""

    def map(self, sources: Sequence[str], function: Any, schema: pyarrow.Schema) -> PartTable:
        found = {source: list(function(source)) for source in reversed(sources)}
        return _Rows(schema, [batch for source in sources for batch in found[source]])

    def sql(self, query: str, documents: "_Rows") -> "_Rows":
        table = pyarrow.Table.from_batches(documents.rows, documents.schema)
        ordered = table.sort_by([(name.strip(), "ascending") for name in query.rpartition("ORDER BY")[2].split(",")])
        return _Rows(documents.schema, ordered.to_batches())


class _Rows(PartTable):
    def __init__(self, schema: pyarrow.Schema, rows: list[pyarrow.RecordBatch]) -> None:
        super().__init__(schema, [])
        self.rows = rows

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        return iter(self.rows)


def merged(shards: Sequence[Path], output: Path, *settings: str, listed: Path | None = None) -> merge.MergeSummary:
    found = merge.find(shards)
    options = merge.MergeOptions(output=output, dedup=merge.dedup_options(found, settings), takedown=listed)
    with tempfile.TemporaryDirectory(dir=output.parent) as scratch:
        return merge.run(options, found, InProcess(), Path(scratch))  # type: ignore[arg-type]


def documents(directory: Path) -> list[Document]:
    return list(reader.documents(directory / "corpus"))


def lines(directory: Path) -> list[bytes]:
    return [line for shard in reader.find(directory / "corpus") for line, _, _ in reader.lines(shard)]


def urls(directory: Path) -> list[str]:
    return [document.url for document in documents(directory)]


def refusal(*arguments: object) -> str:
    with pytest.raises(ConfigError) as raised:
        CliRunner().invoke(cli.app, ["merge", *map(str, arguments)], catch_exceptions=False)
    return str(raised.value)


def test_one_shard_is_its_corpus_byte_for_byte(tmp_path: Path) -> None:
    copied = [text(30), text(30)]
    own = [page("http://a.test/1", *copied), page("http://a.test/2", *copied), page("http://a.test/3", "short")]
    shard = samples.crawl(tmp_path / "one", [*own, *samples.SAMPLES])
    summary = merged([shard], tmp_path / "out")
    assert lines(tmp_path / "out") == lines(shard)
    assert (summary.documents_in, summary.documents_out, summary.left_out) == (9, 9, {})
    assert sorted(os.listdir(tmp_path / "out")) == ["corpus", "merge.json"]
    assert sorted(os.listdir(tmp_path)) == ["one", "out"]


def test_the_first_shard_stays_and_later_ones_lose_what_it_has(tmp_path: Path) -> None:
    copied, other = text(60), text(60)
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", copied), page("http://a.test/copy", copied)])
    two = samples.crawl(
        tmp_path / "two",
        [
            page("http://b.test/same", copied),
            page("http://a.test/", other),
            page("http://b.test/half", text(80), copied, text(30)),
            page("http://b.test/new", text(50)),
            page("http://b.test/most", copied, text(23)),
        ],
    )
    summary = merged([one, two], tmp_path / "out")
    assert urls(tmp_path / "out") == [
        "http://a.test/",
        "http://a.test/copy",
        "http://b.test/half",
        "http://b.test/new",
    ]
    assert summary.left_out == {REPEATED[0]: 1, REPEATED[2]: 1, NEAR_DUPLICATE: 1}
    assert [(shard.documents_in, shard.documents_out, shard.shortened) for shard in summary.shards] == [
        (2, 2, 0),
        (5, 2, 1),
    ]
    half = documents(tmp_path / "out")[2]
    assert [len(paragraph.text.split()) for paragraph in half.paragraphs] == [80, 30]
    assert half.scores == {"language": 0.75, NEAR: round(60 / 170, 4)}
    assert (summary.tokens_in, summary.tokens_out) == (120 + 120 + 170 + 50 + 83, 120 + 110 + 50)


def test_a_document_names_its_shard_and_the_note_says_where_that_is(tmp_path: Path) -> None:
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", text(30))])
    two = samples.crawl(tmp_path / "two", [page("http://b.test/", text(30))])
    merged([one, two], tmp_path / "out")
    note = json.loads((tmp_path / "out" / "merge.json").read_bytes())
    directories = {shard["name"]: shard["directory"] for shard in note["shards"]}
    assert directories == {"one": str(one.resolve()), "two": str(two.resolve())}
    for document, shard in zip(documents(tmp_path / "out"), (one, two), strict=True):
        assert directories[document.place.crawl] == str(shard.resolve())
        assert (document.place.file, document.place.offset) == (samples.WARC, 0)


def test_equal_payloads_are_copies_although_their_text_differs(tmp_path: Path) -> None:
    one = samples.crawl(tmp_path / "one", [Sample("http://a.test/", "ces", (text(30),), digest="A" * 32)])
    two = samples.crawl(tmp_path / "two", [Sample("http://b.test/", "deu", (text(30),), digest="A" * 32)])
    summary = merged([one, two], tmp_path / "out")
    assert (urls(tmp_path / "out"), summary.left_out) == (["http://a.test/"], {REPEATED[1]: 1})


def test_a_page_that_lost_text_in_its_own_crawl_is_dropped_when_it_loses_most_of_the_rest(tmp_path: Path) -> None:
    """The limit max_seen = 0.7 is a share of the whole page: 50 % were removed before, 60 % of the rest go now."""
    copied = text(60)
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", copied)])
    other = [page("http://b.test/whole", copied, text(40)), page("http://b.test/rest", copied, text(40), share=0.5)]
    two = samples.crawl(tmp_path / "two", other)
    summary = merged([one, two], tmp_path / "out")
    assert urls(tmp_path / "out") == ["http://a.test/", "http://b.test/whole"]
    assert summary.left_out == {NEAR_DUPLICATE: 1}
    assert merged([one, two], tmp_path / "all", "dedup.max_seen=1").left_out == {}
    assert [found.scores.get(NEAR) for found in documents(tmp_path / "all")] == [None, 0.6, 0.8]


def corpora(count: int, shards: int) -> list[list[list[str]]]:
    """Return documents of paragraphs for some shards; many paragraphs are copies of each other."""
    stock = [text(40) for _ in range(9)]
    found: list[list[list[str]]] = []
    for _ in range(shards):
        found.append([])
        for _ in range(count):
            paragraphs = []
            for _ in range(chance.randint(1, 6)):
                copied = " ".join([*chance.choice(stock).split()[4:], *chance.choices(VOCABULARY, k=6)])
                paragraphs.append(copied if chance.random() < 0.4 else text(chance.choice([3, 25, 60])))
            stock.append(chance.choice(paragraphs))
            found[-1].append(paragraphs)
    return found


def expected(shards: list[list[list[str]]]) -> list[list[str]]:
    """The rule once more, with exact n-grams in plain sets."""
    rule = Onion()
    kept = []
    for number, shard in enumerate(shards):
        for paragraphs in shard:
            split = [words(paragraph) for paragraph in paragraphs]
            if not number:
                rule.seen.update(ngram for ends in rule.endings(split) for ngram in ends if ngram)
                kept.append(paragraphs)
                continue
            duplicate, _ = rule.mark(split)
            left = [found for found, gone in zip(paragraphs, duplicate, strict=True) if not gone]
            kept += [left] if left else []
    return kept


def test_paragraphs_are_decided_as_by_the_exact_rule(tmp_path: Path) -> None:
    shards = corpora(60, 3)
    crawls = [
        samples.crawl(
            tmp_path / f"s{number}",
            [page(f"http://s{number}.test/{at}", *found) for at, found in enumerate(shard)],
        )
        for number, shard in enumerate(shards)
    ]
    summary = merged(crawls, tmp_path / "out", "dedup.max_seen=1")
    found = [[paragraph.text for paragraph in document.paragraphs] for document in documents(tmp_path / "out")]
    assert found == expected(shards)
    assert summary.shortened > 10 and summary.left_out[NEAR_DUPLICATE] > 3


def test_the_result_does_not_depend_on_the_engine(tmp_path: Path) -> None:
    languages = ("ces", "deu", "eng")
    crawls = [
        samples.crawl(
            tmp_path / f"s{number}",
            [page(f"http://s{number}.test/{at}", *found, language=languages[at % 3]) for at, found in enumerate(shard)],
        )
        for number, shard in enumerate(corpora(30, 2))
    ]
    merged(crawls, tmp_path / "out")
    arguments = [*map(str, crawls), "-o", str(tmp_path / "again"), "--workers", "2"]
    assert CliRunner().invoke(cli.app, ["merge", *arguments]).exit_code == 0
    assert lines(tmp_path / "again") == lines(tmp_path / "out")


def onion(documents: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Return what one crawl keeps of these documents, with their URLs."""
    rule, kept = Onion(), []
    for url, paragraphs in documents:
        duplicate, _ = rule.mark([words(paragraph) for paragraph in paragraphs])
        left = [found for found, gone in zip(paragraphs, duplicate, strict=True) if not gone]
        kept += [(url, left)] if left else []
    return kept


def size(documents: list[tuple[str, list[str]]]) -> int:
    return sum(len(words(paragraph)) for _, paragraphs in documents for paragraph in paragraphs)


def test_a_crawl_that_was_cut_into_shards_keeps_the_text_of_the_whole(tmp_path: Path) -> None:
    """`benchmarks/merge.py` measures this on real pages: +1.8 to +6.4 % before the merge, -0.1 % after it."""
    found = [(f"http://s{number % 4}.test/{number}", texts) for number, texts in enumerate(corpora(400, 1)[0])]
    whole = size(onion(found))
    shards = [onion(found[number::4]) for number in range(4)]
    crawls = [
        samples.crawl(tmp_path / str(number), [page(url, *texts) for url, texts in shard])
        for number, shard in enumerate(shards)
    ]
    summary = merged(crawls, tmp_path / "out", "dedup.max_seen=1")
    assert summary.tokens_in == sum(map(size, shards)) > 1.02 * whole
    assert abs(summary.tokens_out - whole) < 0.01 * whole


SPARK = importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None


@pytest.mark.long
@pytest.mark.skipif(not SPARK, reason="the engine spark needs pyspark and Java: pip install '.[spark]'")
def test_spark_gives_the_same(tmp_path: Path) -> None:
    crawls = [
        samples.crawl(
            tmp_path / f"s{number}",
            [
                page(f"http://s{number}.test/{at}", *found, language="cd"[at % 2] + "es")
                for at, found in enumerate(shard)
            ],
        )
        for number, shard in enumerate(corpora(20, 3))
    ]
    merged(crawls, tmp_path / "out")
    arguments = [*map(str, crawls), "-o", str(tmp_path / "again"), "--engine", "spark", "--master", "local[2]"]
    assert CliRunner().invoke(cli.app, ["merge", *arguments]).exit_code == 0
    assert lines(tmp_path / "again") == lines(tmp_path / "out")


def test_documents_of_all_languages_are_decided_in_the_order_of_their_archive_records(tmp_path: Path) -> None:
    """The copy in the second language comes first in the archive, so the one in the first language goes."""
    copied = text(60)
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", text(30))])
    two = samples.crawl(
        tmp_path / "two",
        [page("http://b.test/first", copied, text(24), language="zho"), page("http://b.test/second", copied)],
    )
    merged([one, two], tmp_path / "out")
    assert urls(tmp_path / "out") == ["http://a.test/", "http://b.test/first"]


def test_listed_documents_of_every_shard_are_left_out_and_not_compared_with(tmp_path: Path) -> None:
    copied = text(60)
    one = samples.crawl(tmp_path / "one", [page("http://a.test/x", copied), page("http://c.test/", text(30))])
    two = samples.crawl(tmp_path / "two", [page("http://b.test/", copied), page("http://d.test/", text(30))])
    (two / "takedown.txt").write_text("http://a.test/x\n")
    (tmp_path / "more.txt").write_text("d.test\n")
    summary = merged([one, two], tmp_path / "out", listed=tmp_path / "more.txt")
    assert urls(tmp_path / "out") == ["http://c.test/", "http://b.test/"]
    assert summary.left_out == {takedown.RULE: 2}


def test_without_near_duplicates_only_copies_go(tmp_path: Path) -> None:
    copied = text(60)
    shards = [
        samples.crawl(tmp_path / name, [page(f"http://{name}.test/", copied, *more)])
        for name, more in (("one", []), ("two", []), ("three", [text(30)]))
    ]
    summary = merged(shards, tmp_path / "out", "dedup.near_duplicates=false")
    assert urls(tmp_path / "out") == ["http://one.test/", "http://three.test/"]
    assert (summary.left_out, summary.ngrams) == ({REPEATED[2]: 1}, 0)


def test_uncommitted_bytes_do_not_count(tmp_path: Path) -> None:
    shard = samples.crawl(tmp_path / "one", [page("http://a.test/", text(30))])
    path = next((shard / "corpus").rglob("*.gz"))
    path.write_bytes(path.read_bytes() * 2)
    assert merged([shard], tmp_path / "out").documents_out == 1


def test_a_shard_without_documents_is_allowed_but_not_all_of_them(tmp_path: Path) -> None:
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", text(30))])
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "crawl.toml").write_text("")
    logs.write(empty / "log", Frame(1, 1000.0, (), {}))
    assert merged([empty, one], tmp_path / "out").documents_out == 1
    assert "no shard has a document yet" in refusal(empty, "-o", tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_export_reads_the_output(tmp_path: Path) -> None:
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", text(30))])
    two = samples.crawl(tmp_path / "two", [page("http://b.test/", text(30), language="deu")])
    run = CliRunner().invoke(cli.app, ["merge", str(one), str(two), "-o", str(tmp_path / "out"), "--json"])
    assert run.exit_code == 0 and json.loads(run.output)["documents_out"] == 2
    arguments = ["export", str(tmp_path / "out"), "--format", "jsonl", "-o", str(tmp_path / "all.jsonl")]
    assert CliRunner().invoke(cli.app, arguments).exit_code == 0
    exported = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert [document["metadata"]["url"] for document in exported] == ["http://a.test/", "http://b.test/"]
    (tmp_path / "out" / "takedown.txt").write_text("a.test\n")
    assert CliRunner().invoke(cli.app, [*arguments, "--force"]).exit_code == 0
    (left,) = (tmp_path / "all.jsonl").read_text().splitlines()
    assert json.loads(left)["metadata"]["url"] == "http://b.test/"


def test_the_summary_for_people_names_shards_and_rules(tmp_path: Path) -> None:
    copied = text(60)
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", copied)])
    two = samples.crawl(tmp_path / "two", [page("http://b.test/", copied), page("http://c.test/", text(40))])
    run = CliRunner().invoke(cli.app, ["merge", str(one), str(two), "-o", str(tmp_path / "out")])
    assert run.output.splitlines() == [
        "one: 1 of 1 documents",
        "two: 1 of 2 documents",
        f"2 of 3 documents in {tmp_path / 'out'}, 100 words; 60 words (37.5%) removed",
        f"           1 left out: {REPEATED[2]}",
    ]


def test_inputs_that_cannot_be_merged_get_one_sentence_each(tmp_path: Path) -> None:
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", text(30))])
    two = samples.crawl(tmp_path / "two", [page("http://b.test/", text(30))])
    out = tmp_path / "out"
    assert refusal(tmp_path / "none", "-o", out).startswith(f"{tmp_path / 'none'} does not exist")
    assert "is named twice" in refusal(one, tmp_path / "two" / ".." / "one", "-o", out)
    assert "has no crawl.toml" in refusal(tmp_path, "-o", out)
    assert "lies in the shard" in refusal(one, two, "-o", one / "out")
    assert "exists already" in refusal(one, "-o", two)
    (two / "crawl.toml").write_text("[dedup]\nngram = 5\n")
    problem = refusal(one, two, "-o", out)
    assert f"{one} has dedup.ngram = 7, {two} has 5" in problem and "--set dedup.ngram=7" in problem
    assert merged([one, two], out, "dedup.ngram=7").documents_out == 2
    assert "is itself the output of a merge" in refusal(out, "-o", tmp_path / "more")


def test_a_shard_that_is_being_crawled_is_refused(tmp_path: Path) -> None:
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", text(30))])
    with (one / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert f"{one} is being crawled" in refusal(one, "-o", tmp_path / "out")


def test_a_damaged_file_fails_the_merge_and_leaves_no_output(tmp_path: Path) -> None:
    one = samples.crawl(tmp_path / "one", [page("http://a.test/", text(30))])
    path = next((one / "corpus").rglob("*.gz"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    assert str(path) in refusal(one, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


STOPPED = """
import importlib, os, sys
from windrow.cli import main
sys.argv = ["windrow", "merge", *sys.argv[1:]]
job = importlib.import_module("windrow.jobs.merge.run")
def stop(*given, **named):
    os._exit(9)
job.{place} = stop
main()
"""


@pytest.mark.parametrize("place", ["decide", "_publish"])
def test_a_merge_that_was_killed_continues_and_gives_the_same(tmp_path: Path, place: str) -> None:
    crawls = [
        samples.crawl(
            tmp_path / f"s{number}", [page(f"http://s{number}.test/{at}", *found) for at, found in enumerate(shard)]
        )
        for number, shard in enumerate(corpora(20, 2))
    ]
    merged(crawls, tmp_path / "whole")
    script = STOPPED.format(place=place)
    command = [sys.executable, "-c", script, *map(str, crawls), "-o", str(tmp_path / "out"), "--workers", "1"]
    assert subprocess.run(command, timeout=120).returncode == 9
    assert not (tmp_path / "out").exists()
    done = sorted((tmp_path / ".out.parts" / "map-1").glob("*.parquet"))
    before = [path.stat().st_mtime_ns for path in done]
    assert len(before) == 2
    found = merge.find(crawls)
    options = merge.MergeOptions(output=tmp_path / "out", dedup=merge.dedup_options(found))
    with engine.open("local", engine.beside(tmp_path / "out"), workers=1) as run:
        merge.run(options, found, run, engine.beside(tmp_path / "out") / "merge")
        assert [path.stat().st_mtime_ns for path in done] == before
    assert lines(tmp_path / "out") == lines(tmp_path / "whole")
    assert not (tmp_path / ".out.parts").exists()


def test_a_shortened_document_keeps_all_other_members() -> None:
    line = samples.line(samples.SAMPLES[2], 1)
    change = rewrite.Change(0, "", "10", 0.25)
    before, after = json.loads(line), json.loads(rewrite.shortened(line, change))
    assert after["paragraphs"] == before["paragraphs"][:1]
    assert after["scores"] == {**before["scores"], NEAR: 0.25}
    assert {**after, "paragraphs": 0, "scores": 0} == {**before, "paragraphs": 0, "scores": 0}
    assert list(after) == list(before)
