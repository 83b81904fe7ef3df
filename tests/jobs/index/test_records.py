"""`windrow records`: single records by byte range, from files and servers, whatever is wrong with some of them."""

import gzip
import io
from collections.abc import Iterable
from pathlib import Path

import pytest
from fastwarc import warc as fastwarc
from warcio.archiveiterator import ArchiveIterator

from tests.jobs import ranges, warcs
from tests.jobs.index import crawls
from windrow.config import ConfigError
from windrow.jobs.index import lookup, places, query, records
from windrow.jobs.index.places import RecordPlace
from windrow.jobs.index.records import FetchedRecord, RangeOptions


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    directory = crawls.write(tmp_path / "crawl")
    crawls.index(directory)
    return directory


def all_places(crawl: Path) -> list[RecordPlace]:
    complaints: list[str] = []
    result = query.run(str(crawl), "SELECT * FROM ccindex ORDER BY url_surtkey")
    found = list(places.of_rows(result.rows(), result.columns, complaints.append))
    assert complaints == []
    return found


def fetched(wanted: Iterable[RecordPlace], base: str, **options: object) -> tuple[list[FetchedRecord], list[str]]:
    complaints: list[str] = []
    waits: list[float] = options.pop("waits", [])  # type: ignore[assignment]
    given = RangeOptions(base=base, sleep=waits.append, **options)  # type: ignore[arg-type]
    return list(records.fetch(wanted, given, complaints.append)), complaints


def test_the_records_of_a_query_become_a_warc_file_of_the_same_members(crawl: Path, tmp_path: Path) -> None:
    wanted = all_places(crawl)
    found, complaints = fetched(wanted, str(crawl))
    assert complaints == []
    assert [one.place for one in found] == wanted
    out = io.BytesIO()
    summary = records.write(found, out)
    assert (summary.records, summary.bytes) == (6, len(out.getvalue()))
    assert out.getvalue() == b"".join(
        (crawl / one.file).read_bytes()[one.offset : one.offset + one.length] for one in wanted
    )
    urls = [one.url for one in wanted]
    assert [one.rec_headers["WARC-Target-URI"] for one in ArchiveIterator(io.BytesIO(out.getvalue()))] == urls
    assert [one.headers["WARC-Target-URI"] for one in fastwarc.ArchiveIterator(io.BytesIO(out.getvalue()))] == urls


def test_a_record_gives_its_capture(crawl: Path) -> None:
    [place] = [one for one in all_places(crawl) if one.url == "http://www.example.org/"]
    [found], _ = fetched([place], str(crawl))
    assert found.entry is not None
    assert found.entry.capture.body == crawls.SITE[1].body


def test_records_are_fetched_over_http_in_order_with_few_requests_at_a_time(crawl: Path) -> None:
    wanted = all_places(crawl)
    with ranges.serve(crawl) as server:
        found, complaints = fetched(wanted, server.url, connections=2)
        assert complaints == []
        assert [one.place for one in found] == wanted
        assert sorted(server.requests) == sorted(
            (f"/{one.file}", f"bytes={one.offset}-{one.offset + one.length - 1}") for one in wanted
        )
        assert server.most <= 2


def test_a_server_that_fails_is_asked_again_after_waits_that_double(crawl: Path) -> None:
    with ranges.serve(crawl) as server:
        server.failures = 3
        waits: list[float] = []
        found, complaints = fetched(all_places(crawl)[:1], server.url, connections=1, waits=waits)
        assert (len(found), complaints) == (1, [])
        assert [round(wait / 1.1) for wait in waits] == [1, 2, 4]
        server.failures = 99
        found, complaints = fetched(all_places(crawl)[:1], server.url, connections=1)
        assert found == []
        assert "503" in complaints[0]


def test_a_server_without_ranges_and_a_missing_file_are_named(crawl: Path) -> None:
    wanted = all_places(crawl)[:1]
    with ranges.serve(crawl) as server:
        server.ranges = False
        assert "instead of a range" in fetched(wanted, server.url)[1][0]
        missing = [RecordPlace("http://a/", "warc/none.warc.gz", 0, 9)]
        waits: list[float] = []
        found, complaints = fetched(missing, server.url, waits=waits)
        assert (found, waits) == ([], [])
        assert "warc/none.warc.gz" in complaints[0]


def test_what_is_wrong_is_named_with_its_place_and_the_rest_goes_on(crawl: Path) -> None:
    good = all_places(crawl)
    one = good[0]
    size = (crawl / one.file).stat().st_size
    wanted = [
        RecordPlace(one.url, "warc/none.warc.gz", 0, 9),
        RecordPlace(one.url, one.file, size - 5, 100),
        RecordPlace(one.url, one.file, one.offset + 1, one.length),
        RecordPlace("http://other.example/", one.file, one.offset, one.length),
        RecordPlace(good[1].url, good[1].file, good[1].offset, good[1].length - 1),
        good[2],
    ]
    found, complaints = fetched(wanted, str(crawl))
    assert [place.place for place in found] == [good[2]]
    for complaint, what in zip(
        complaints,
        ("No such file", "5 of 100 bytes", "no record begins there", "not of http://other.example/", "does not fit"),
        strict=True,
    ):
        assert what in complaint
    assert all(" bytes " in complaint for complaint in complaints)


def test_a_place_that_is_named_twice_is_fetched_once(crawl: Path) -> None:
    assert len(fetched(all_places(crawl)[:2] * 3, str(crawl))[0]) == 2


def test_a_record_that_is_not_compressed_is_compressed(tmp_path: Path) -> None:
    plain = warcs.record("http://a.example/", b"abc")
    warcs.write(tmp_path / "a.warc", [plain], "")
    found, _ = fetched([RecordPlace("http://a.example/", "a.warc", 0, len(plain))], str(tmp_path))
    out = io.BytesIO()
    records.write(found, out)
    assert gzip.decompress(out.getvalue()) == plain


def test_a_record_in_a_zstd_frame_is_compressed_again(tmp_path: Path) -> None:
    made = warcs.record("http://a.example/", b"abc")
    path = warcs.write(tmp_path / "a.warc.zst", [made], "zstd")
    found, _ = fetched([RecordPlace("http://a.example/", path.name, 0, path.stat().st_size)], str(tmp_path))
    out = io.BytesIO()
    records.write(found, out)
    bodies = [one.content_stream().read() for one in ArchiveIterator(io.BytesIO(out.getvalue()))]
    assert bodies == [b"abc"]


def test_captures_are_looked_up_by_url_prefix_and_host(crawl: Path) -> None:
    def urls(pattern: str) -> list[str]:
        return [place.url for place in places.of_lines(lookup.find(crawl, pattern))]

    assert urls("https://news.bbc.co.uk:8443/x/y.html?a=2&b=1") == ["https://news.bbc.co.uk:8443/x/y.html?b=1&a=2"]
    assert urls("http://example.org/*") == [
        *("http://www.example.org/", "http://example.org/gone", "http://example.org/robots.txt"),
    ]
    assert urls("*.listed.example") == ["http://listed.example/a"]
    assert urls("http://example.org/no-such-page") == []


def test_a_csv_file_needs_its_columns_and_bad_lines_are_named() -> None:
    complaints: list[str] = []
    lines = [
        "warc_record_length,url,warc_filename,warc_record_offset,more\n",
        "7,http://a/,f.gz,0,x\n",
        "-1,http://a/,f.gz,0,x\n",
        "7,http://a/,f.gz,ten,x\n",
        "7,http://a/\n",
    ]
    assert list(places.of_csv(lines, "x.csv", complaints.append)) == [RecordPlace("http://a/", "f.gz", 0, 7)]
    assert [complaint.partition(":")[0] for complaint in complaints] == [f"x.csv, line {line}" for line in (3, 4, 5)]
    with pytest.raises(ConfigError, match=r"x\.csv has no column warc_filename"):
        list(places.of_csv(["url,a\n"], "x.csv", complaints.append))
    with pytest.raises(ConfigError, match="the query has no column url"):
        list(places.of_rows([], ["warc_filename"], complaints.append))
