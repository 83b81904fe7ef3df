"""`windrow.documents` and `windrow.captures`."""

import json
from pathlib import Path

import pytest

import windrow
from tests import logs
from tests.archive import captures as made
from tests.corpus import samples
from tests.corpus.samples import SAMPLES
from tests.jobs import warcs
from windrow.records import Frame


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return samples.crawl(tmp_path / "crawl")


def urls(found: object) -> set[str]:
    return {document.url for document in found}  # type: ignore[attr-defined]


def test_the_documents_of_a_crawl_are_records(crawl: Path) -> None:
    found = list(windrow.documents(str(crawl)))
    assert urls(found) == {sample.url for sample in SAMPLES}
    assert all(isinstance(document, windrow.Document) for document in found)
    assert {document.text for document in found} == {"\n".join(sample.texts) for sample in SAMPLES}


def test_documents_are_filtered_as_in_an_export(crawl: Path) -> None:
    assert urls(windrow.documents(crawl, language="de")) == {SAMPLES[0].url, SAMPLES[4].url}
    assert urls(windrow.documents(crawl, language=["Czech", "zho"], tld="cz")) == {SAMPLES[1].url}
    assert urls(windrow.documents(crawl, domain="example.co.uk", profile="training")) == set()
    assert urls(windrow.documents(crawl, min_score={"language": 0.9})) == {SAMPLES[3].url}
    assert urls(windrow.documents(crawl, max_score={"language": 0.5})) == {SAMPLES[4].url}
    assert urls(windrow.documents(crawl, since="2026-11-16", date_to="2019")) == {SAMPLES[1].url}
    assert urls(windrow.documents(crawl, signal="license")) == {SAMPLES[5].url}


def test_the_takedown_lists_hold(tmp_path: Path, crawl: Path) -> None:
    (crawl / "takedown.txt").write_text("example.co.uk\n")
    (tmp_path / "more.txt").write_text("example.cz\n")
    found = urls(windrow.documents(crawl, takedown=tmp_path / "more.txt"))
    assert found == {SAMPLES[number].url for number in (0, 4, 5)}


def test_of_several_crawls_each_page_comes_once(tmp_path: Path, crawl: Path) -> None:
    other = samples.crawl(tmp_path / "other", SAMPLES[:2])
    found = list(windrow.documents([crawl, other]))
    assert len(found) == len(SAMPLES) and {document.place.crawl for document in found} == {"crawl"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "nowhere"}, "nowhere does not exist"),
        ({"source": []}, "there is nothing to read"),
        ({"language": "germn"}, "unknown language 'germn'"),
        ({"langauge": "de"}, "there is no filter 'langauge'; the filters are language, tld, "),
        ({"since": "yesterday"}, "is not a time"),
        ({"min_score": {"langauge": 0.5}}, "no document has a score 'langauge'; the scores are: language, quality"),
    ],
)
def test_wrong_arguments_of_documents_are_one_sentence(crawl: Path, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(windrow.Error, match=message):
        list(windrow.documents(**{"source": crawl, **arguments}))  # type: ignore[arg-type]


def test_an_export_has_the_same_filters(tmp_path: Path, crawl: Path) -> None:
    summary = windrow.export(str(crawl), tmp_path / "out.jsonl", "jsonl", language="de", max_score={"language": 0.7})
    assert (summary.documents_in, summary.documents_out) == (2, 1)
    (row,) = (json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines())
    assert row["metadata"]["url"] == SAMPLES[4].url
    with pytest.raises(windrow.Error, match="already exists"):
        windrow.export(crawl, tmp_path / "out.jsonl", "jsonl")
    assert windrow.export(crawl, tmp_path / "out.jsonl", "jsonl", force=True).documents_out == len(SAMPLES)


def test_an_export_into_a_directory_is_a_dataset(tmp_path: Path, crawl: Path) -> None:
    pytest.importorskip("pyarrow")
    summary = windrow.export([crawl], tmp_path / "out", by="tld")
    assert "data/cz.parquet" in summary.files and (tmp_path / "out" / "README.md").exists()


def test_errors_appear_before_the_first_document(crawl: Path) -> None:
    with pytest.raises(windrow.Error):
        windrow.documents(crawl, language="germn")


SITE = [
    made.capture("http://example.org/robots.txt", b"User-agent: *\nDisallow:\n", file="robots"),
    made.capture("http://example.org/"),
    made.capture("http://example.org/gone", b"", 404),
    made.capture("http://example.org/2", b"two"),
]


def archived(directory: Path) -> Path:
    """Make a crawl directory with the captures of SITE, committed."""
    made.write(directory, SITE)
    (directory / "crawl.toml").write_text("")
    lengths = {path.relative_to(directory).as_posix(): path.stat().st_size for path in made.files(directory)}
    logs.write(directory / "log", Frame(1, 1000.0, (), lengths))
    return directory


def test_the_captures_of_a_crawl_are_those_of_its_pages_or_of_a_subset(tmp_path: Path) -> None:
    crawl = archived(tmp_path / "crawl")
    assert list(windrow.captures(crawl)) == [SITE[1], SITE[3]]
    assert list(windrow.captures(crawl, subset="robotstxt")) == [SITE[0]]
    assert list(windrow.captures(str(crawl), subset="")) == [SITE[1], SITE[3], SITE[0], SITE[2]]
    assert [capture.url for capture in windrow.captures(crawl, subset="diagnostics")] == ["http://example.org/gone"]


def test_only_committed_captures_of_a_crawl_are_read(tmp_path: Path) -> None:
    crawl = archived(tmp_path / "crawl")
    with next((crawl / "warc").iterdir()).open("ab") as file:
        file.write(b"\x1f\x8b\x08 half a record")
    assert list(windrow.captures(crawl)) == [SITE[1], SITE[3]]


def test_captures_of_files_and_of_other_directories_are_read(tmp_path: Path) -> None:
    crawl = archived(tmp_path / "crawl")
    files = made.files(crawl)
    assert len(list(windrow.captures(files))) == 4
    (crawl / "crawl.toml").unlink()
    assert len(list(windrow.captures(crawl))) == 4
    assert list(windrow.captures(next((crawl / "warc").iterdir()))) == [SITE[1], SITE[3]]


def test_captures_of_zstd_files_are_read(tmp_path: Path) -> None:
    warcs.write(tmp_path / "a.warc.zst", [warcs.record("http://a.example/", b"<p>x")], "zstd")
    assert [(found.url, found.body) for found in windrow.captures(tmp_path)] == [("http://a.example/", b"<p>x")]


def test_a_damaged_archive_gives_its_intact_captures_and_then_an_error(tmp_path: Path) -> None:
    path = next((archived(tmp_path / "crawl") / "warc").iterdir())
    path.write_bytes(path.read_bytes()[:-10])
    found = windrow.captures(path)
    assert next(found) == SITE[1]
    with pytest.raises(windrow.Error, match=r"byte \d+: .*; the captures before it are intact"):
        next(found)


def test_wrong_arguments_of_captures_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "crawl.toml").write_text("")
    for path, subset, message in (
        (tmp_path / "none", "warc", "does not exist"),
        (tmp_path / "empty", "warc", "holds no WARC files"),
        (tmp_path / "new", "warc", "has no log"),
        (tmp_path / "new", "wat", "subset='wat' is unknown"),
    ):
        with pytest.raises(windrow.Error, match=message):
            windrow.captures(path, subset=subset)
