"""Records of derived files."""

import gzip
from pathlib import Path

from windrow import archive
from windrow.archive import derived
from windrow.archive.derived import DescribedRecord

ABOUT = DescribedRecord("http://a.example/", "2024-05-18T01:58:10.123Z", "<urn:uuid:1>", "a.warc.gz 17")


def read(member: bytes, tmp_path: Path) -> archive.WarcRecord:
    (tmp_path / "x.warc.gz").write_bytes(member)
    (record,) = archive.records(tmp_path / "x.warc.gz")
    return record


def test_a_conversion_has_the_headers_of_common_crawl_in_their_order(tmp_path: Path) -> None:
    record = read(derived.conversion(ABOUT, "deu,eng", "Grüße".encode()), tmp_path)
    assert record.version == "WARC/1.0"
    assert [name for name, _ in record.headers] == [
        *("WARC-Type", "WARC-Target-URI", "WARC-Date", "WARC-Record-ID", "WARC-Refers-To", "WARC-Block-Digest"),
        *("WARC-Identified-Content-Language", "WARC-Identified-Payload-Type", "Content-Type", "Content-Length"),
    ]
    assert archive.verify(record) is True
    assert (record.header("WARC-Date"), record.header("WARC-Refers-To")) == ("2024-05-18T01:58:10Z", "<urn:uuid:1>")


def test_equal_input_gives_equal_bytes_and_other_places_other_ids(tmp_path: Path) -> None:
    one, same = derived.metadata(ABOUT, b"{}"), derived.metadata(ABOUT, b"{}")
    other = derived.metadata(ABOUT._replace(place="a.warc.gz 18"), b"{}")
    assert one == same != other
    text = derived.conversion(ABOUT, "", b"{}")
    ids = {read(member, tmp_path).header("WARC-Record-ID") for member in (one, other, text)}
    assert len(ids) == 3
    assert all(name[24] == "8" and name[29] in "89ab" for name in ids)


def test_a_record_without_target_and_id_has_no_such_headers(tmp_path: Path) -> None:
    record = read(derived.metadata(DescribedRecord("", "", "", "a 0"), b"{}"), tmp_path)
    assert record.header("WARC-Target-URI") == record.header("WARC-Refers-To") == ""
    assert record.header("WARC-Date") == "1970-01-01T00:00:00Z"


def test_a_header_cannot_hold_another_line() -> None:
    plain = gzip.decompress(derived.conversion(ABOUT._replace(target="http://a.example/\r\nX: y"), "", b""))
    assert b"\r\nX: y" not in plain


def test_dates_as_http_writes_them() -> None:
    assert derived.http_date("2024-05-31T01:16:45Z") == "Fri, 31 May 2024 01:16:45 GMT"
    assert derived.http_date("2024") == "2024"
