"""`windrow index`: what is written, what is read again, and what stays out."""

import gzip
import json
import shutil
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.archive import captures as made
from tests.archive.captures import any_capture
from tests.jobs import warcs
from tests.jobs.index import crawls
from windrow import archive
from windrow.config import ConfigError
from windrow.jobs.index import cdx, lookup, manifest, sources, table
from windrow.records import Capture


def lines(directory: Path) -> list[bytes]:
    return (directory / "index.cdxj").read_bytes().splitlines(keepends=True)


def rows(directory: Path) -> list[dict[str, object]]:
    found = []
    for path in sorted((directory / "table").rglob("*.parquet")):
        parts = dict(part.split("=") for part in path.relative_to(directory / "table").parts[:-1])
        found += [row | parts for row in pyarrow.parquet.ParquetFile(path).read().to_pylist()]
    return found


def test_the_lines_of_all_files_are_sorted_and_in_every_form(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    summary = crawls.index(crawl)
    home = crawl / "index"
    assert (summary.files, summary.read, summary.captures, summary.damaged) == (3, 3, 6, {})
    flat = lines(home)
    assert flat == sorted(flat)
    assert gzip.decompress((home / "cdx-00000.gz").read_bytes()) == b"".join(flat)
    single = [gzip.decompress(path.read_bytes()) for path in sorted((home / "cdx").rglob("*.cdx.gz"))]
    assert sorted(b"".join(single).splitlines(keepends=True)) == flat
    key, shard, offset, length, number = (home / "cluster.idx").read_text().rstrip("\n").split("\t")
    assert (shard, offset, number) == ("cdx-00000.gz", "0", "1")
    assert (key.encode(), int(length)) == (flat[0].rsplit(b" {", 1)[0], (home / "cdx-00000.gz").stat().st_size)
    assert [row["url_surtkey"] for row in rows(home)].sort() == [line.split()[0].decode() for line in flat].sort()


def test_every_row_opens_its_own_record(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl", max_bytes=3000)
    crawls.index(crawl)
    found = rows(crawl / "index")
    assert len(found) == len(crawls.SITE)
    check_rows(crawl, found)


def check_rows(base: Path, found: list[dict[str, object]]) -> None:
    for row in found:
        path, offset = base / str(row["warc_filename"]), int(str(row["warc_record_offset"]))
        record = next(archive.records(path, offset))
        assert (record.target, record.length) == (row["url"], row["warc_record_length"])
        assert record.header("WARC-Payload-Digest").removeprefix("sha1:") == row["content_digest"]


@settings(max_examples=12)
@given(st.lists(any_capture, min_size=1, max_size=5))
def test_every_row_of_any_crawl_opens_its_own_record(
    tmp_path_factory: pytest.TempPathFactory, captures: list[Capture]
) -> None:
    crawl = crawls.write(tmp_path_factory.mktemp("crawl"), captures, max_bytes=2000)
    summary = crawls.index(crawl)
    assert summary.captures == len(rows(crawl / "index")) == len(captures)
    check_rows(crawl, rows(crawl / "index"))
    for one in captures:
        assert one.task.url.text in [line.fields.url for line in lookup.find(crawl, one.task.url.text)]


def test_subsets_and_crawl_are_partitions(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    crawls.index(crawl)
    folders = sorted(str(path.parent.relative_to(crawl / "index" / "table")) for path in crawl.rglob("*.parquet"))
    subsets = ("crawldiagnostics", "robotstxt", "warc")
    assert folders == [f"crawl=TEST-2026-01/subset={subset}" for subset in subsets]


def test_only_new_files_are_read(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    crawls.index(crawl)
    before = {path: path.stat().st_mtime_ns for path in (crawl / "index").rglob("*") if path.is_file()}
    assert crawls.index(crawl).read == 0
    assert before == {path: path.stat().st_mtime_ns for path in (crawl / "index").rglob("*") if path.is_file()}
    made.write(crawl, [made.capture("http://example.org/later")])
    crawls.commit(crawl, 2)
    summary = crawls.index(crawl)
    assert (summary.read, summary.files, summary.captures) == (1, 4, 7)
    assert sum(b"/later" in line for line in lines(crawl / "index")) == 1
    shutil.rmtree(tmp_path / "again", ignore_errors=True)
    crawls.index(crawl, output=tmp_path / "again")
    assert lines(tmp_path / "again") == lines(crawl / "index")


def test_a_file_that_has_grown_is_read_again_up_to_its_committed_length(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    for path in made.files(crawl):
        with path.open("ab") as file:
            file.write(b"\x1f\x8b\x08 half a record")
    assert crawls.index(crawl).damaged == {}
    assert crawls.index(crawl).read == 0


def test_a_file_that_is_gone_leaves_the_index(tmp_path: Path) -> None:
    for name in "ab":
        warcs.write(tmp_path / f"{name}.warc.gz", [warcs.record(f"http://{name}.example/", b"x")])
    crawls.index(tmp_path)
    (tmp_path / "a.warc.gz").unlink()
    assert crawls.index(tmp_path).captures == 1
    assert [path.name for path in (tmp_path / "index" / "cdx").iterdir()] == ["b.cdx.gz"]
    assert [row["url"] for row in rows(tmp_path / "index")] == ["http://b.example/"]


def test_pages_on_the_takedown_list_stay_out_also_when_it_is_written_later(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    assert crawls.index(crawl).captures == 6
    (crawl / "takedown.txt").write_text("listed.example\n")
    summary = crawls.index(crawl)
    assert (summary.captures, summary.read) == (5, 3)
    assert not any(b"listed" in line for line in lines(crawl / "index"))
    other = tmp_path / "more.txt"
    other.write_text("http://www.example.org/\n")
    assert crawls.index(crawl, takedown=other).captures == 4


def test_damage_is_named_and_everything_before_and_behind_it_is_indexed(tmp_path: Path) -> None:
    good = gzip.compress(warcs.record("http://a.example/", b"a"))
    behind = gzip.compress(warcs.record("http://behind.example/", b"b" * 9000))
    (tmp_path / "bad.warc.gz").write_bytes(good + b"no archive" + behind + behind[:-20])
    (tmp_path / "none.warc").write_bytes(b"no archive at all")
    (tmp_path / "good.warc.gz").write_bytes(good)
    summary = crawls.index(tmp_path)
    assert sorted(summary.damaged) == ["bad.warc.gz", "none.warc"]
    first, second = summary.damaged["bad.warc.gz"]
    start, cut = len(good), len(good) + 10 + len(behind)
    assert f"{tmp_path}/bad.warc.gz, bytes {start} to {start + 10}: " in first
    assert f"{tmp_path}/bad.warc.gz, bytes {cut} to {cut + len(behind) - 20}: " in second
    assert summary.captures == 3
    check_rows(tmp_path, rows(tmp_path / "index"))
    again = crawls.index(tmp_path)
    assert (again.read, again.damaged) == (0, summary.damaged)


def test_more_damage_than_is_named_is_counted(tmp_path: Path) -> None:
    good = gzip.compress(warcs.record("http://a.example/", b"a"))
    (tmp_path / "bad.warc.gz").write_bytes((good + b"no archive") * (cdx.NAMED + 3))
    summary = crawls.index(tmp_path)
    assert summary.captures == cdx.NAMED + 3
    assert len(summary.damaged["bad.warc.gz"]) == cdx.NAMED + 1
    assert summary.damaged["bad.warc.gz"][-1].endswith("bad.warc.gz: 3 more places are damaged")


def test_an_index_of_an_older_format_is_made_again(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    crawls.index(crawl)
    known = json.loads((crawl / "index" / "index.json").read_text())
    (crawl / "index" / "index.json").write_text(json.dumps(known | {"format": 1}))
    assert crawls.index(crawl).read == 3


def test_an_index_that_was_interrupted_while_it_was_merged_is_merged_again(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    crawls.index(crawl)
    home = crawl / "index"
    expected = lines(home)
    known = manifest.read(home)
    assert known is not None and known.merged
    manifest.write(home, manifest.Manifest(base=known.base, takedown=known.takedown, files=known.files))
    (home / "index.cdxj").unlink()
    (home / "new").mkdir()
    (home / "new" / "rest").write_text("of an earlier run")
    assert crawls.index(crawl).read == 0
    assert lines(home) == expected
    assert not (home / "new").exists()


def test_verify_reads_everything_again(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    crawls.index(crawl)
    before = lines(crawl / "index")
    assert crawls.index(crawl, check=True).read == 3
    assert lines(crawl / "index") == before


def test_a_folder_in_the_layout_of_common_crawl_has_its_names(tmp_path: Path) -> None:
    folder = tmp_path / "crawl-data" / "CC-MAIN-2022-49" / "segments" / "1669446706285.92" / "crawldiagnostics"
    folder.mkdir(parents=True)
    warcs.write(
        folder / "CC-MAIN-20221126080725-20221126110725-00000.warc.gz", [warcs.record("http://a.example/", b"")]
    )
    crawls.index(tmp_path, crawl="")
    [row] = rows(tmp_path / "index")
    assert (row["crawl"], row["subset"], row["warc_segment"]) == (
        "CC-MAIN-2022-49",
        "crawldiagnostics",
        "1669446706285.92",
    )
    assert str(row["warc_filename"]).startswith("crawl-data/CC-MAIN-2022-49/segments/")


def test_files_need_a_directory_for_the_index_and_have_names_relative_to_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    paths = [tmp_path / "x" / "a.warc.gz", tmp_path / "a.warc.gz"]
    for path in paths:
        warcs.write(path, [warcs.record("http://a.example/", b"")])
    with pytest.raises(ConfigError, match="name it with -o"):
        sources.output(paths)
    crawls.index(*paths, output=tmp_path / "out")
    assert sorted(str(row["warc_filename"]) for row in rows(tmp_path / "out")) == ["a.warc.gz", "x/a.warc.gz"]
    known = manifest.read(tmp_path / "out")
    assert known is not None and known.root(tmp_path / "out").resolve() == tmp_path


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_an_input_without_archive_files_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="has no archive files" if name == "empty" else "no such file"):
        sources.find([tmp_path / name])


def test_an_index_that_a_newer_version_wrote_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(ConfigError, match="newer Windrow"):
        manifest.read(tmp_path)
    (tmp_path / "index.json").write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        manifest.read(tmp_path)


def test_the_table_of_an_archive_without_captures_is_empty(tmp_path: Path) -> None:
    warcs.write(tmp_path / "a.warc.gz", [warcs.resource("http://a.example/", b"x")])
    assert crawls.index(tmp_path).captures == 0
    assert rows(tmp_path / "index") == [] and lines(tmp_path / "index") == []
    assert table.COLUMNS[0] == "url_surtkey"
