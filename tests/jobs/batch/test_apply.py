"""Jobs of users over archive files, with the local engine."""

import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.corpus import samples
from tests.jobs import warcs
from tests.jobs.index import crawls
from windrow.config import ConfigError
from windrow.jobs import engine
from windrow.jobs.batch import apply as jobs
from windrow.jobs.batch.apply import BatchOptions, BatchSummary

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def ran(job: Path, inputs: Sequence[Path], output: Path, **options: object) -> BatchSummary:
    chosen = BatchOptions(job=str(job), inputs=inputs, output=output, **options)  # type: ignore[arg-type]
    jobs.check(chosen)
    with engine.open("local", workers=2) as run:
        return jobs.run(chosen, run)


def rows(path: Path) -> dict[str, object]:
    return {row["key"]: row["value"] for row in map(json.loads, path.read_text().splitlines())}


def job(directory: Path, text: str) -> Path:
    path = directory / f"job_{directory.name}.py"  # modules of one name are imported once in a process
    path.write_text(text)
    return path


def pages(directory: Path, *bodies: str) -> list[Path]:
    """Write one file per body, with a page at a .test and one at b.example."""
    found = []
    for number, body in enumerate(bodies):
        records = [warcs.record(f"http://{host}/{number}", body.encode()) for host in ("a.test", "b.example")]
        found.append(warcs.write(directory / f"{number}.warc.gz", records))
    return found


def test_sums_are_the_default(tmp_path: Path) -> None:
    files = pages(tmp_path, '<p style="z-index: 5">', '<p style="z-index:5; Z-INDEX :auto"> z-indexes: 7', "<p>")
    summary = ran(EXAMPLES / "zindex.py", files, tmp_path / "out.json")
    assert rows(tmp_path / "out.json") == {"5": 4, "auto": 2}
    assert (summary.sources, summary.keys, summary.bad) == (3, 2, [])
    assert summary.bytes == (tmp_path / "out.json").stat().st_size


def test_html_pages_are_counted_by_top_level_domain(tmp_path: Path) -> None:
    ran(EXAMPLES / "pages_by_tld.py", pages(tmp_path, "<p>", "<p>"), tmp_path / "out.csv", format="csv")
    assert (tmp_path / "out.csv").read_text() == "key,value\nexample,2\ntest,2\n"


def test_words_of_wet_files_are_counted(tmp_path: Path) -> None:
    def conversion(text: str) -> bytes:
        return warcs.resource("http://a.test/", text.encode(), "text/plain").replace(b"resource", b"conversion", 1)

    file = warcs.write(tmp_path / "a.warc.wet.gz", [conversion("Ein Haus, ein Baum."), conversion("baum 7")])
    ran(EXAMPLES / "words.py", [file], tmp_path / "out.parquet", format="parquet")
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.schema == pyarrow.schema([("key", pyarrow.string()), ("value", pyarrow.int64())])
    assert table.to_pydict() == {"key": ["baum", "ein", "haus"], "value": [2, 2, 1]}


def test_links_of_wat_files_are_reduced_by_a_function(tmp_path: Path) -> None:
    def metadata(*links: dict[str, str]) -> bytes:
        http = {"HTTP-Response-Metadata": {"HTML-Metadata": {"Links": links}}}
        block = json.dumps({"Envelope": {"Payload-Metadata": http}}).encode()
        return warcs.resource("http://a.test/", block, "application/json").replace(b"resource", b"metadata", 1)

    records = [
        metadata({"url": "http://b.test/", "text": "short"}, {"url": "/own"}, {"url": "//b.test/x", "text": "longer"}),
        metadata({"url": "http://c.test/"}, {"url": "http://b.test/", "text": "last"}),
    ]
    files = [warcs.write(tmp_path / f"{number}.warc.wat.gz", [record]) for number, record in enumerate(records)]
    ran(EXAMPLES / "links_by_host.py", files, tmp_path / "out.json")
    assert rows(tmp_path / "out.json") == {"b.test": [3, "longer"], "c.test": [1, ""]}


def test_the_output_can_be_many_files_by_ranges_of_keys_and_compressed(tmp_path: Path) -> None:
    text = "def process(record):\n    yield from ((word, 1) for word in record.text.split())\n"
    files = pages(tmp_path, "<p> d a c", "<p> b a")
    summary = ran(job(tmp_path, text), files, tmp_path / "out", files=2)
    assert [Path(name).name for name in summary.files] == ["part-00000.json", "part-00001.json"]
    assert [list(rows(Path(name))) for name in summary.files] == [["<p>", "a", "b"], ["c", "d"]]
    ran(job(tmp_path, text), files, tmp_path / "out.json.gz")
    assert len(gzip.decompress((tmp_path / "out.json.gz").read_bytes()).splitlines()) == 5


def test_sums_of_floats_do_not_depend_on_the_order_of_files(tmp_path: Path) -> None:
    text = "def process(record):\n    yield 'all', float(record.text.split()[1])\n"
    files = pages(tmp_path, "<p> 0.1", "<p> 1e16", "<p> 0.7", "<p> -1e16", "<p> 0.3")
    own = job(tmp_path, text)
    ran(own, files, tmp_path / "one.json")
    ran(own, files[::-1], tmp_path / "other.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()


def test_keys_that_are_no_text_are_written_as_json(tmp_path: Path) -> None:
    own = job(tmp_path, "def process(record):\n    yield (record.status, record.type), 0.5\n")
    ran(own, pages(tmp_path, "<p>"), tmp_path / "out.json")
    assert rows(tmp_path / "out.json") == {'[200,"response"]': 1.0}


def test_a_job_that_yields_nothing_gives_an_empty_output(tmp_path: Path) -> None:
    own = job(tmp_path, "def process(record):\n    return None\n")
    assert ran(own, pages(tmp_path, "<p>"), tmp_path / "out.json").keys == 0
    assert (tmp_path / "out.json").read_bytes() == b""


def test_a_damaged_file_is_named_and_left_out(tmp_path: Path) -> None:
    files = pages(tmp_path, "<p>", "<p>")
    files[0].write_bytes(files[0].read_bytes()[:-9])
    summary = ran(EXAMPLES / "pages_by_tld.py", files, tmp_path / "out.json")
    assert [found.source for found in summary.bad] == [str(files[0])]
    assert rows(tmp_path / "out.json") == {"example": 1, "test": 1}


def test_if_no_file_can_be_read_the_job_fails_with_the_first_reason(tmp_path: Path) -> None:
    own = job(tmp_path, "def process(record):\n    yield 1 / 0, 1\n")
    with pytest.raises(ConfigError, match=r"no file could be read; the first, .*0\.warc\.gz: ZeroDivisionError"):
        ran(own, pages(tmp_path, "<p>"), tmp_path / "out.json")


def test_a_reduce_that_returns_another_type_is_refused(tmp_path: Path) -> None:
    text = "def process(record):\n    if 'a.test' in record.url:\n        yield 'a', 1\n"
    own = job(tmp_path, text + "def reduce(one, other):\n    return one / 2\n")
    with pytest.raises(ConfigError, match=r"reduce returned 0\.5 for the key 'a'"):
        ran(own, pages(tmp_path, "<p>", "<p>"), tmp_path / "out.json")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def procces(record): ...\n", "defines no 'process'"),
        ("process = 1\n", "process is not a function"),
        ("def process(record):\n    yield\nreduce = 0\n", "reduce is not a function"),
        ("import nothing_of_this_name\n", "cannot be imported"),
    ],
)
def test_a_job_with_a_mistake_is_refused_before_anything_is_read(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        ran(job(tmp_path, text), [tmp_path / "none"], tmp_path / "out.json")


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("out.json", {"format": "xml"}, "there is no format 'xml'; choose one of json, csv, parquet"),
        ("there.json", {}, "exists already"),
        ("folder", {"force": True}, "is a directory; name a file, or ask for several with --files"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(
    tmp_path: Path, name: str, options: dict[str, object], problem: str
) -> None:
    (tmp_path / "there.json").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match=re.escape(problem)):
        ran(EXAMPLES / "zindex.py", [tmp_path], tmp_path / name, **options)


def test_a_job_that_is_neither_a_file_nor_a_module_is_refused(tmp_path: Path) -> None:
    for name in (tmp_path / "none.py", tmp_path / "none"):
        with pytest.raises(ConfigError, match=r"no job|neither a file"):
            ran(name, [tmp_path], tmp_path / "out.json")


def test_of_a_crawl_that_grows_only_what_is_committed_is_read(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    for path in (crawl / "warc").iterdir():
        with path.open("ab") as file:
            file.write(b"\x1f\x8b\x08 half a record")
    summary = ran(EXAMPLES / "pages_by_tld.py", [crawl], tmp_path / "out.json")
    assert summary.bad == []
    assert sum(map(int, rows(tmp_path / "out.json").values())) == 4  # type: ignore[arg-type]


def test_the_documents_of_a_crawl_are_read_from_its_corpus(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl")
    for path in (crawl / "corpus" / "eng").iterdir():
        with path.open("ab") as file:
            file.write(b"\x1f\x8b\x08 half a document")
    text = """
def process(record):
    assert (record.type, record.status, record.is_html, record.record) == ("document", 0, False, None)
    assert record.header("WARC-Date") == record.http_header("Content-Type") == ""
    assert record.body == record.text.encode() and record.json()["url"] == record.url and record.date[:3] == "202"
    yield record.document.language, 1
"""
    summary = ran(job(tmp_path, text), [crawl], tmp_path / "out.json", subset="corpus")
    assert summary.bad == []
    assert rows(tmp_path / "out.json") == {"ces": 1, "deu": 2, "eng": 2, "zho": 1}
    ran(EXAMPLES / "words.py", [crawl], tmp_path / "words.json", subset="corpus")
    assert rows(tmp_path / "words.json")["wind"] == 2


def test_a_line_that_is_no_document_makes_its_file_bad(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl")
    (tmp_path / "other.jsonl").write_text('{"text": "of another program"}\n')
    summary = ran(EXAMPLES / "words.py", [crawl / "corpus", tmp_path / "other.jsonl"], tmp_path / "words.json")
    assert [Path(one.source).name for one in summary.bad] == ["other.jsonl"]
    assert "other.jsonl, line 1: " in summary.bad[0].problem
