"""Exports by several processes: the same files as by one, byte for byte, wherever the corpus is cut."""

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.corpus import samples
from tests.corpus.samples import SAMPLES, Sample
from tests.jobs import inline
from windrow import cli
from windrow.config import ConfigError
from windrow.corpus import census, reader, sink
from windrow.jobs import engine
from windrow.jobs.export import rendering, write
from windrow.jobs.export.write import ExportOptions, ExportSummary
from windrow.jobs.inputs.filters import Wanted

WORDS = "the wind blows over wide fields and old mills turn slowly while people bring grain in autumn again".split()


def made(directory: Path, numbers: range, commit: int = 3) -> Path:
    """Make a crawl of many documents, with a gzip member per few of them."""
    found = []
    for number in numbers:
        drawn = random.Random(number)
        texts = tuple(" ".join(drawn.choices(WORDS, k=drawn.randint(5, 60))) + "." for _ in range(drawn.randint(1, 4)))
        one = SAMPLES[number % len(SAMPLES)]
        url = f"http://h{number % 5}.example.{('org', 'de', 'co.uk')[number % 3]}/{number}"
        found.append(
            Sample(
                url=url,
                language=one.language,
                texts=texts if number % 11 else ("",),
                scores={"language": (number % 10) / 10},
                signals=one.signals,
                licence=f"https://l.example/{number % 4}" if number % 2 else "",
                digest=f"{number:032}",
            )
        )
    crawl = samples.crawl(directory, found)
    for shard in reader.find(crawl):
        lines = gzip.decompress(shard.path.read_bytes()).splitlines(keepends=True)
        members = [b"".join(lines[start : start + commit]) for start in range(0, len(lines), commit)]
        shard.path.write_bytes(b"".join(map(gzip.compress, members)))
    (crawl / "log").rename(crawl / "old")  # the lengths have changed: without a log all bytes count
    return crawl


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory = tmp_path_factory.mktemp("rendering")
    return [
        made(directory / "one", range(120)),
        made(directory / "two", range(60, 200)),
        made(directory / "x", range(9)),
    ]


def tree(output: Path) -> dict[str, bytes]:
    if output.is_file():
        return {"": output.read_bytes()}
    found = (path for path in output.rglob("*") if path.is_file())
    return {path.relative_to(output).as_posix(): path.read_bytes() for path in found}


def both(
    crawls: list[Path], tmp_path: Path, name: str = "out", **others: Any
) -> tuple[ExportSummary, dict[str, bytes]]:
    """Export by one process and by the engine; return the summary and the files, which must be equal."""
    results = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        options = ExportOptions(inputs=crawls, output=tmp_path / folder / name, **others)
        write.check(options)
        found = write.find(options)
        if folder == "a":
            summary = write.run(options, found, lambda count: None)
        else:
            with inline.engine(tmp_path / "work") as run:
                summary = rendering.run(options, found, run, tmp_path / "work")
        results.append((summary, tree(options.output)))
    (one, files), (other, parallel) = results
    assert one == other
    # The files of documents are equal; those beside them name the output.
    assert {name: data.replace(b"/a/", b"/b/") for name, data in files.items() if not _of_documents(name)} == {
        name: data for name, data in parallel.items() if not _of_documents(name)
    }
    assert {name: data for name, data in files.items() if _of_documents(name)} == {
        name: data for name, data in parallel.items() if _of_documents(name)
    }
    return one, files


def _of_documents(name: str) -> bool:
    return not name or name.startswith("data/")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut shards into parts of a few commits."""
    monkeypatch.setattr(rendering, "PIECE", 800)


@pytest.mark.parametrize("format", ["jsonl", "prevertical", "vertical", "text", "markdown"])
def test_a_directory_of_numbered_files_is_the_same(crawls: list[Path], tmp_path: Path, format: str) -> None:
    summary, _ = both(crawls[:1], tmp_path, format=format, shard_bytes=5000)
    assert len(summary.files) > 3
    assert (summary.documents_in, summary.left_out) == (120, {"no text": 11})
    assert len(rendering.parts(write.find(ExportOptions(inputs=crawls[:1], output=tmp_path, format="x")), 800)) > 12


def test_one_compressed_file_is_the_same(crawls: list[Path], tmp_path: Path) -> None:
    _, files = both(crawls[:1], tmp_path, "out.prevert.gz", format="prevertical")
    assert gzip.decompress(files[""]).count(b'\n<doc id="') == 108


def test_a_file_per_part_of_the_corpus_is_the_same(
    crawls: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink, "OPEN", 2)  # files are closed and reopened, each time with another gzip member
    summary, _ = both(crawls[:1], tmp_path, format="jsonl", by="domain")
    assert len(summary.files) == 3


@pytest.mark.parametrize("format", ["jsonl", "prevertical"])
def test_of_several_crawls_the_first_wins_as_in_one_process(crawls: list[Path], tmp_path: Path, format: str) -> None:
    summary, _ = both(crawls, tmp_path, format=format, wanted=Wanted(least=("language=0.1",)))
    assert summary.left_out["same URL in an earlier crawl"] > 40
    assert summary.left_out["score language"] > 20


def test_the_licences_that_a_card_remembers_are_the_same(
    crawls: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "MOST_LICENCES", 1)
    _, files = both(crawls[:1], tmp_path, format="jsonl")
    assert re.search(rb"\n\|[^|]*other[^|]*\| \d", files["README.md"])


def test_a_corpus_without_documents_and_an_unknown_score_end_as_in_one_process(
    crawls: list[Path], tmp_path: Path
) -> None:
    summary, _ = both(crawls[:1], tmp_path, format="jsonl", wanted=Wanted(languages=("fra",)))
    assert (summary.documents_out, summary.files) == (0, {"data/00000.jsonl.gz": 0})
    options = ExportOptions(
        inputs=crawls[:1], output=tmp_path / "c", format="jsonl", wanted=Wanted(least=("nonesuch=1",))
    )
    with inline.engine() as run, pytest.raises(ConfigError, match="no document has a score 'nonesuch'; the scores are"):
        rendering.run(options, write.find(options), run, tmp_path / "work2")
    assert not (tmp_path / "c").exists()


def test_a_damaged_document_is_named_and_nothing_is_written(crawls: list[Path], tmp_path: Path) -> None:
    (tmp_path / "part.jsonl").write_bytes(b'{"no": "document"}\n')
    options = ExportOptions(inputs=[tmp_path / "part.jsonl"], output=tmp_path / "out", format="jsonl")
    with inline.engine() as run, pytest.raises(ConfigError, match=r"part\.jsonl, line 1: "):
        rendering.run(options, write.find(options), run, tmp_path / "work")
    assert not (tmp_path / "out").exists()


def test_a_stopped_export_continues_after_the_parts_that_are_done(
    crawls: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ExportOptions(inputs=crawls[:1], output=tmp_path / "out", format="vertical")
    found = write.find(options)
    encoded: list[str] = []
    real = rendering.encode

    def stopping(source: str, job: rendering.RenderJob) -> Any:
        encoded.append(source)
        if len(encoded) == 4:
            raise KeyboardInterrupt
        return real(source, job)

    stopping.__qualname__ = "encode"
    stopping.__module__ = rendering.__name__
    monkeypatch.setattr(rendering, "encode", stopping)
    work = tmp_path / "work"
    with pytest.raises(KeyboardInterrupt), inline.engine(work) as run:
        rendering.run(options, found, run, work)
    with inline.engine(work) as run:
        rendering.run(options, found, run, work)
    assert len(encoded) == len(set(encoded)) + 1  # only the fourth one was begun twice
    assert not work.exists()
    alone = ExportOptions(inputs=crawls[:1], output=tmp_path / "alone", format="vertical")
    write.run(alone, found, lambda count: None)
    vertical = "data/00000.vert.gz"
    assert (tmp_path / "out" / vertical).read_bytes() == (tmp_path / "alone" / vertical).read_bytes()


def test_the_command_uses_the_workers_that_it_is_given(crawls: list[Path], tmp_path: Path) -> None:
    for name, workers in (("one.jsonl", "1"), ("two.jsonl", "2")):
        given = [
            "export",
            str(crawls[0]),
            "--format",
            "jsonl",
            "-o",
            str(tmp_path / name),
            "--workers",
            workers,
            "--json",
        ]
        run = CliRunner().invoke(cli.app, given)
        assert (run.exit_code, json.loads(run.output)["documents_out"]) == (0, 109)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert not engine.beside(tmp_path / "two.jsonl").exists()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--format", "parquet", "-o", "out"], "parquet is written by one process"),
        (["--format", "jsonl", "-o", "out", "--sort", "language"], "--sort orders all documents in one process"),
        (["--format", "jsonl", "-o", "-"], "standard output is written by one process"),
    ],
)
def test_what_one_process_must_write_is_refused_with_workers(crawls: list[Path], given: list[str], why: str) -> None:
    run = CliRunner().invoke(cli.app, ["export", str(crawls[0]), *given, "--workers", "2"])
    assert isinstance(run.exception, ConfigError)
    assert why in str(run.exception)
