"""The columns of the table, their types and their order."""

import datetime
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from windrow.jobs.index import table
from windrow.jobs.index.table import TableWriter

LINE = (
    b'uk,co,bbc,news:8443)/x/y.html?a=2&b=1 20251115094640 {"url": "https://News.bbc.co.uk:8443/x/y.html?b=1&a=2", '
    b'"mime": "text/html", "mime-detected": "application/xhtml+xml", "status": "302", "digest": "ABC", '
    b'"length": "12", "offset": "34", "filename": "warc/a.warc.gz", "charset": "UTF-8", "languages": "mal,eng", '
    b'"truncated": "length", "redirect": "https://bbc.co.uk/"}\n'
)


def values(line: bytes) -> dict[str, object]:
    return dict(zip(table.COLUMNS, table.row(table.parse(line), "123.4"), strict=True))


def of_url(url: str) -> dict[str, object]:
    return values(b'k 20240229000000 {"url": "%b", "length": "1", "offset": "0", "filename": "f"}\n' % url.encode())


def test_a_line_gives_every_column() -> None:
    assert values(LINE) == {
        "url_surtkey": "uk,co,bbc,news:8443)/x/y.html?a=2&b=1",
        "url": "https://News.bbc.co.uk:8443/x/y.html?b=1&a=2",
        "url_host_name": "news.bbc.co.uk",
        "url_host_tld": "uk",
        "url_host_2nd_last_part": "co",
        "url_host_3rd_last_part": "bbc",
        "url_host_4th_last_part": "news",
        "url_host_5th_last_part": None,
        "url_host_registry_suffix": "co.uk",
        "url_host_registered_domain": "bbc.co.uk",
        "url_host_private_suffix": "co.uk",
        "url_host_private_domain": "bbc.co.uk",
        "url_host_name_reversed": "uk.co.bbc.news",
        "url_protocol": "https",
        "url_port": 8443,
        "url_path": "/x/y.html",
        "url_query": "b=1&a=2",
        "fetch_time": 1763200000000,
        "fetch_status": 302,
        "fetch_redirect": "https://bbc.co.uk/",
        "content_digest": "ABC",
        "content_mime_type": "text/html",
        "content_mime_detected": "application/xhtml+xml",
        "content_charset": "UTF-8",
        "content_languages": "mal,eng",
        "content_truncated": "length",
        "warc_filename": "warc/a.warc.gz",
        "warc_record_offset": 34,
        "warc_record_length": 12,
        "warc_segment": "123.4",
    }


@pytest.mark.parametrize(
    ("host", "suffix", "domain", "private_suffix", "private_domain"),
    [
        ("myblog.blogspot.com", "com", "blogspot.com", "blogspot.com", "myblog.blogspot.com"),
        ("blogspot.com", "com", "blogspot.com", "blogspot.com", None),
        ("co.uk", "co.uk", None, "co.uk", None),
        ("a.b.www.ck", "ck", "www.ck", "ck", "www.ck"),
        ("a.b.c.ck", "c.ck", "b.c.ck", "c.ck", "b.c.ck"),
        ("xn--55qx5d.cn", "xn--55qx5d.cn", None, "xn--55qx5d.cn", None),
        ("a.unknown-suffix", "unknown-suffix", "a.unknown-suffix", "unknown-suffix", "a.unknown-suffix"),
        ("localhost", "localhost", None, "localhost", None),
    ],
)
def test_suffixes_with_and_without_those_of_companies(
    host: str, suffix: str, domain: str | None, private_suffix: str, private_domain: str | None
) -> None:
    found = of_url(f"http://{host}/")
    names = ("registry_suffix", "registered_domain", "private_suffix", "private_domain")
    assert [found[f"url_host_{name}"] for name in names] == [suffix, domain, private_suffix, private_domain]


@pytest.mark.parametrize("host", ["192.0.2.7", "[2001:db8::7]"])
def test_an_address_has_a_name_and_no_parts(host: str) -> None:
    found = of_url(f"http://{host}:80/a")
    assert (found["url_host_name"], found["url_port"], found["url_path"]) == (host, 80, "/a")
    assert {value for name, value in found.items() if name.startswith("url_host_") and name != "url_host_name"} == {
        None
    }


def test_a_url_without_path_and_query_and_an_impossible_time() -> None:
    found = of_url("http://user@a.example")
    assert (found["url_host_name"], found["url_path"], found["url_query"]) == ("a.example", "", None)
    bad = values(b'k 20241399000000 {"url": "http://a/", "length": "1", "offset": "0", "filename": "f"}\n')
    assert bad["fetch_time"] == 0


def test_types_and_nulls_are_those_of_the_published_schema() -> None:
    found = table.schema()
    assert found.names == list(table.COLUMNS)
    others = {
        "url_port": pyarrow.int32(),
        "fetch_time": pyarrow.timestamp("ms"),
        "fetch_status": pyarrow.int16(),
        "warc_record_offset": pyarrow.int32(),
        "warc_record_length": pyarrow.int32(),
    }
    assert {field.name: field.type for field in found if field.type != pyarrow.string()} == others
    assert {field.name for field in found if not field.nullable} == {
        *("url_surtkey", "url", "url_host_name", "url_protocol", "url_path", "fetch_time", "fetch_status"),
        *("warc_filename", "warc_record_offset", "warc_record_length", "warc_segment"),
    }


def test_offsets_beyond_two_gigabytes_widen_the_columns(tmp_path: Path) -> None:
    assert not table.wide([(1 << 31) - 1]) and table.wide([1, 1 << 31])
    writer = TableWriter(tmp_path / "t", wide=True)
    writer.add(table.row(table.parse(LINE.replace(b'"34"', b'"5000000000"')), "0"))
    writer.close()
    [path] = (tmp_path / "t").iterdir()
    assert pyarrow.parquet.ParquetFile(path).read().column("warc_record_offset").to_pylist() == [5_000_000_000]


def test_groups_and_files_have_increasing_ranges_and_gzip(tmp_path: Path) -> None:
    writer = TableWriter(tmp_path / "t", group=10, part=3)
    for number in range(100):
        writer.add((f"key{number:03}", *table.row(table.parse(LINE), "0")[1:]))
    writer.close()
    paths = sorted((tmp_path / "t").iterdir())
    assert [path.name for path in paths] == [f"part-{number:05}.gz.parquet" for number in range(4)]
    ranges = []
    for path in paths:
        data = pyarrow.parquet.ParquetFile(path).metadata
        assert data.row_group(0).column(1).compression == "GZIP"
        for number in range(data.num_row_groups):
            statistics = data.row_group(number).column(0).statistics
            ranges += [statistics.min, statistics.max]
    assert len(ranges) == 20 and ranges == sorted(ranges)


def test_the_time_is_a_timestamp_for_duckdb_and_arrow(tmp_path: Path) -> None:
    writer = TableWriter(tmp_path / "t")
    writer.add(table.row(table.parse(LINE), "0"))
    writer.close()
    [path] = (tmp_path / "t").iterdir()
    moment = datetime.datetime(2025, 11, 15, 9, 46, 40)
    assert duckdb.connect().sql(f"SELECT fetch_time FROM '{path}'").fetchall() == [(moment,)]
    [column] = [one for one in pyarrow.parquet.ParquetFile(path).schema if one.name == "fetch_time"]
    assert column.physical_type == "INT96"
