"""Batch jobs over addresses: the result is that of the same files here, whatever is wrong with some of them."""

import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import crashing
from tests.jobs import inline, ranges, warcs
from windrow import config
from windrow.config import ConfigError
from windrow.io import storage
from windrow.jobs import dedup, shuffle
from windrow.jobs.batch import apply as jobs
from windrow.jobs.batch.apply import BatchOptions, BatchSummary
from windrow.jobs.dedup import earlier
from windrow.jobs.derive import run as derive
from windrow.jobs.index import build as index
from windrow.jobs.index import lookup, places, records, sources
from windrow.jobs.index.records import RangeOptions
from windrow.jobs.rebuild import archived, refining
from windrow.jobs.rebuild.archived import ArchivesOptions, ArchivesSummary

EXAMPLE = str(crashing.ROOT / "examples" / "pages_by_tld.py")
TEXT = (
    "The old mill stands at the river, and its wheel has turned for more than two hundred years without a rest. "
    "People from the villages around it still bring their grain there in autumn, because the flour is better. "
)


def prose(number: int) -> str:
    """Return a text of which no seven words stand in another."""
    drawn = random.Random(number)
    return " ".join(" ".join(drawn.sample(TEXT.split(), 12)).rstrip(".,") + "." for _ in range(20))


def page(number: int) -> bytes:
    return f"<html><title>Page {number}</title><p>{prose(number)}</p></html>".encode()


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Three files of pages in the folders of a published archive, with their list."""
    folder = tmp_path / "bucket" / "crawl-data" / "C" / "segments" / "1.0" / "warc"
    folder.mkdir(parents=True)
    made = []
    for file in range(3):
        pages = [warcs.record(f"http://a.test/{file}/{number}", page(10 * file + number)) for number in range(4)]
        made.append(warcs.write(folder / f"{file}.warc.gz", pages))
    names = [path.relative_to(tmp_path / "bucket").as_posix() for path in made]
    listed = tmp_path / "bucket" / "crawl-data" / "C" / "warc.paths.gz"
    listed.write_bytes(gzip.compress("".join(f"{name}\n" for name in names).encode()))
    return made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ranges.RangeServer]:
    with ranges.serve(tmp_path / "bucket") as found:
        yield found


@pytest.fixture
def bucket(s3: Any, files: list[Path], tmp_path: Path) -> str:
    """The list of the files in a bucket."""
    for name, data in tree(tmp_path / "bucket").items():
        s3.pipe_file(f"bucket/{name}", data)
    return "s3://bucket/crawl-data/C/warc.paths.gz"


def tree(directory: Path) -> dict[str, bytes]:
    found = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in found}


def addresses(server: ranges.RangeServer, files: Sequence[Path]) -> list[str]:
    return [f"{server.url}/{path.relative_to(server.root)}" for path in files]


def batch(inputs: Sequence[str | Path], output: Path, job: str = EXAMPLE) -> BatchSummary:
    with inline.engine() as engine:
        return jobs.run(BatchOptions(job=job, inputs=inputs, output=output), engine)


def test_a_job_reads_a_list_over_http_and_each_block_once(
    files: list[Path], server: ranges.RangeServer, tmp_path: Path
) -> None:
    batch(files, tmp_path / "here.json")
    batch([f"{server.url}/crawl-data/C/warc.paths.gz"], tmp_path / "there.json")
    assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()
    read = [path for path, _ in server.requests if path.endswith(".warc.gz")]
    assert sorted(read) == sorted(set(read)) and len(read) == 3


def test_what_is_missing_is_named_and_the_rest_is_read(
    files: list[Path], server: ranges.RangeServer, tmp_path: Path
) -> None:
    none = f"{server.url}/none.warc.gz"
    found = batch([*addresses(server, files), none], tmp_path / "out.json")
    assert [(one.source, one.problem) for one in found.bad] == [
        (none, f"{none}: there is no such file or folder; check the address")
    ]
    assert json.loads((tmp_path / "out.json").read_text()) == {"key": "test", "value": 12}
    with pytest.raises(ConfigError, match=r"no file could be read; the first, .*none\.warc\.gz"):
        batch([none], tmp_path / "none.json")


def test_of_an_address_that_breaks_off_no_page_is_taken(
    files: list[Path], server: ranges.RangeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "WAIT", 0.0)
    monkeypatch.setattr(storage, "BLOCK", 1000)
    files[0].write_bytes(files[0].read_bytes() + gzip.compress(warcs.record("http://a.test/big", os.urandom(20000))))
    given = addresses(server, files)
    server.breaks = 20000
    done = rebuilt(given, tmp_path / "out")
    assert (done.documents, [one.source for one in done.bad]) == (8, [given[0]])
    assert "0.warc.gz, byte 20000: cannot be read" in done.bad[0].problem
    with pytest.raises(ConfigError, match="cannot be read"):
        list(refining.batches(given[0], "", (), ""))


def test_a_damaged_file_elsewhere_is_named_with_its_place(
    files: list[Path], server: ranges.RangeServer, tmp_path: Path
) -> None:
    files[1].write_bytes(files[1].read_bytes()[:-20])
    given = addresses(server, files)
    done = derived(given, tmp_path / "out", wet="all")
    assert [one.source for one in done.damaged] == [given[1]]
    assert "1.warc.gz, bytes" in done.damaged[0].problem
    assert len(tree(tmp_path / "out")) == 3


def derived(inputs: Sequence[str | Path], output: Path, **wanted: Any) -> derive.DeriveSummary:
    with inline.engine() as engine:
        return derive.run(derive.DeriveRequest(inputs=inputs, output=output, **wanted), engine)


def rebuilt(inputs: Sequence[str | Path], output: Path) -> ArchivesSummary:
    options = ArchivesOptions(inputs=[str(given) for given in inputs], output=output)
    with inline.engine() as engine:
        return archived.corpus(options, archived.find(options.inputs), engine, lambda pages: None)


def shuffled(inputs: Sequence[str | Path], output: Path) -> None:
    with inline.engine() as engine:
        shuffle.run(shuffle.ShuffleOptions(inputs=inputs, output=output, seed=3), engine)


def test_derived_files_and_tables_of_s3_are_those_of_the_files_here(
    bucket: str, files: list[Path], tmp_path: Path
) -> None:
    for inputs, name in ((files, "a"), ([bucket], "b")):
        derived(inputs, tmp_path / name, wat=True, wet="all", links=True, pages=True)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    assert len(tree(tmp_path / "a")) == 12


def test_a_corpus_of_archives_on_s3_is_that_of_the_files_here(bucket: str, files: list[Path], tmp_path: Path) -> None:
    for inputs, name in ((files, "a"), ([bucket], "b")):
        assert rebuilt(inputs, tmp_path / name).documents == 12
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


def test_shuffled_captures_of_s3_are_those_of_the_files_here(bucket: str, files: list[Path], tmp_path: Path) -> None:
    for inputs, name in ((files, "a"), ([bucket], "b")):
        shuffled(inputs, tmp_path / name)
    assert len(tree(tmp_path / "a")) == len(tree(tmp_path / "b")) == 3
    # The order depends on the ids of the records alone; the source of a capture breaks ties only.
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


def indexed(inputs: Sequence[str], output: Path) -> index.IndexSummary:
    return index.run(index.IndexOptions(output=output), sources.find(inputs), lambda work: inline.engine(work))


def test_an_index_of_s3_names_files_as_the_list_does_and_opens_its_records(
    bucket: str, files: list[Path], tmp_path: Path
) -> None:
    found = indexed([bucket, "s3://bucket/crawl-data/C/none.warc.gz"], tmp_path / "index")
    assert (found.captures, found.files) == (12, 4)
    assert "there is no such file" in found.damaged["crawl-data/C/none.warc.gz"][0]
    wanted = list(places.of_lines(lookup.find(tmp_path / "index", "http://a.test/1/*")))
    assert {place.file for place in wanted} == {"crawl-data/C/segments/1.0/warc/1.warc.gz"}
    got = list(records.fetch(wanted, RangeOptions(base="s3://bucket"), pytest.fail))
    assert [one.record.target for one in got] == [f"http://a.test/1/{number}" for number in range(4)]
    again = indexed([bucket], tmp_path / "index")
    assert (again.read, again.files) == (0, 3)


def test_files_here_and_addresses_are_not_in_one_index(bucket: str, files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="have no common beginning; index them into two directories"):
        indexed([bucket, str(files[0])], tmp_path / "index")


def test_document_files_of_s3_are_deduplicated_like_files_here(s3: Any, tmp_path: Path) -> None:
    text = "\n".join(map(prose, range(5)))
    (tmp_path / "docs").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "docs" / name).write_text(f"{text}\n\n")
        s3.pipe_file(f"bucket/docs/{name}", f"{text}\n\n".encode())
    options = dedup.options("paragraph", "", config.make([dedup.PURE], Path()).dedup)
    for given, name in ((str(tmp_path / "docs"), "x"), ("s3://bucket/docs", "y")):
        plans = dedup.plan([storage.place(given)], tmp_path / name)
        with inline.engine() as engine:
            summary = earlier.run(plans, options, engine, tmp_path / f".{name}")
        assert (summary.files, summary.documents_in, summary.documents_out) == (2, 2, 1)
    assert tree(tmp_path / "x") == tree(tmp_path / "y")


def test_a_job_over_the_shards_of_a_corpus_gives_the_same_rows_here_and_on_s3(
    s3: Any, files: list[Path], tmp_path: Path
) -> None:
    rebuilt(files, tmp_path / "made")
    for number, path in enumerate(sorted((tmp_path / "made" / "corpus").rglob("*.jsonl.gz"))):
        s3.pipe_file(f"bucket/shards/{number}.jsonl.gz", path.read_bytes())
    job = tmp_path / "languages_of_documents.py"
    job.write_text("def process(record):\n    yield record.document.language, len(record.text.split())\n")
    batch([tmp_path / "made" / "corpus"], tmp_path / "here.json", str(job))
    batch(["s3://bucket/shards"], tmp_path / "there.json", str(job))
    assert json.loads((tmp_path / "here.json").read_text())["value"] > 1000
    assert (tmp_path / "here.json").read_bytes() == (tmp_path / "there.json").read_bytes()


def test_the_workers_of_a_command_reach_s3(bucket: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(crashing.ROOT / "src")}
    command = [sys.executable, "-m", "windrow.cli", "batch", EXAMPLE, bucket, "-o", str(tmp_path / "out.json")]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert (run.returncode, run.stderr, run.stdout) == (0, "", "1 keys from 3 files, 26 bytes\n")


def test_the_state_of_a_file_changes_with_its_content(s3: Any) -> None:
    s3.pipe_file("bucket/a", b"one")
    before = storage.state("s3://bucket/a")
    assert before[0] == 3
    assert storage.state("s3://bucket/a") == before
    s3.pipe_file("bucket/a", b"two")
    storage.filesystem("s3://bucket/a")[0].invalidate_cache()
    assert storage.state("s3://bucket/a") != before
    assert storage.state("s3://bucket/none") == (-1, 0)
