"""`windrow publish DIR s3://…`: Common Crawl's folders, on a server that speaks S3 and in a directory."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.archive import captures as made
from tests.jobs.index import crawls
from windrow.config import ConfigError
from windrow.jobs.index import places, query, records
from windrow.jobs.index.records import RangeOptions
from windrow.jobs.publish import bucket
from windrow.jobs.publish.bucket import BucketOptions, BucketSummary

CRAWL = "WINDROW-2026-46"
SEGMENT = "1763164800000.0"  # the day of the captures


def publish(crawl: Path, target: str, **others: object) -> BucketSummary:
    options = BucketOptions(directory=crawl, target=target, crawl=CRAWL, **others)  # type: ignore[arg-type]
    return bucket.run(options, lambda count: None)


def listed(system: Any, root: str, kind: str) -> list[str]:
    data = system.cat_file(f"{root}/crawl-data/{CRAWL}/{kind}.paths.gz")
    return gzip.decompress(data).decode().splitlines()


def test_the_folders_of_common_crawl_on_s3(s3: Any, tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    for path in made.files(crawl):
        with path.open("ab") as file:
            file.write(b"\x1f\x8b\x08 half a record")
    (crawl / "wet").mkdir()
    (crawl / "wet" / "WINDROW-n0-20251115094640-00001.warc.wet.gz").write_bytes(gzip.compress(b""))
    summary = publish(crawl, "s3://bucket/archive/")
    assert (summary.files, summary.copied, summary.captures, summary.left_out) == (4, 4, 6, 0)
    s3.invalidate_cache()
    found = sorted(path.removeprefix("bucket/archive/") for path in s3.find("bucket/archive"))
    segments = f"crawl-data/{CRAWL}/segments/{SEGMENT}"
    subsets = sorted(path.split("/")[4] for path in found if path.startswith(segments))
    assert subsets == ["crawldiagnostics", "robotstxt", "warc", "wet"]
    for kind, count in {
        "warc": 1,
        "robotstxt": 1,
        "non200responses": 1,
        "wet": 1,
        "cc-index": 2,
        "cc-index-table": 3,
    }.items():
        paths = listed(s3, "bucket/archive", kind)
        assert len(paths) == count
        assert set(paths) <= set(found)
    assert listed(s3, "bucket/archive", "segments") == [segments]
    [path] = listed(s3, "bucket/archive", "warc")
    data = s3.cat_file(f"bucket/archive/{path}")
    assert len([one for one in ArchiveIterator(io.BytesIO(data)) if one.rec_type == "response"]) == 4


def test_every_row_of_the_published_table_opens_its_own_published_record(s3: Any, tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    (crawl / "takedown.txt").write_text("www.example.org\n")  # the first page, so that the others move
    summary = publish(crawl, "s3://bucket")
    assert (summary.captures, summary.left_out) == (5, 3)
    complaints: list[str] = []
    result = query.run("s3://bucket/cc-index/table/cc-main/warc", "SELECT * FROM ccindex")
    wanted = list(places.of_rows(result.rows(), result.columns, complaints.append))
    fetched = list(records.fetch(wanted, RangeOptions(base="s3://bucket"), complaints.append))
    assert complaints == []
    assert sorted(one.record.target for one in fetched) == sorted(
        one.task.url.text for one in crawls.SITE if "www.example.org" not in one.task.url.text
    )
    assert not any(b"The wind blows" in s3.cat_file(path) for path in s3.find("bucket"))


def test_a_second_run_copies_what_is_new_and_a_takedown_copies_again(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    target = tmp_path / "target"
    assert publish(crawl, str(target)).copied == 3
    assert publish(crawl, str(target)).copied == 0
    made.write(crawl, [made.capture("http://later.example/")])
    crawls.commit(crawl, 2)
    summary = publish(crawl, str(target))
    assert (summary.copied, summary.files, summary.captures) == (1, 4, 7)
    other = tmp_path / "list.txt"
    other.write_text("listed.example\n")
    summary = publish(crawl, str(target), takedown=other)
    assert (summary.copied, summary.captures, summary.left_out) == (4, 6, 3)
    lines = gzip.decompress((target / f"cc-index/collections/{CRAWL}/indexes/cdx-00000.gz").read_bytes()).splitlines()
    for line in lines:
        values = json.loads(line.split(b" ", 2)[2])
        record = next(iter(ArchiveIterator(_at(target / values["filename"], int(values["offset"])))))
        assert record.rec_headers["WARC-Target-URI"] == values["url"]


def _at(path: Path, offset: int) -> io.BytesIO:
    return io.BytesIO(path.read_bytes()[offset:])


def test_a_bucket_that_is_missing_and_a_directory_that_is_no_crawl_are_named(s3: Any, tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    with pytest.raises(ConfigError, match="s3://no-such-bucket"):
        publish(crawl, "s3://no-such-bucket")
    (crawl / "crawl.toml").unlink()
    with pytest.raises(ConfigError, match=r"has no crawl\.toml"):
        publish(crawl, "s3://bucket")
