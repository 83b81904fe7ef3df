import json
from pathlib import Path

import msgspec

from tests.archive.captures import capture, write
from windrow import archive
from windrow.archive import WarcRecord, cdxj
from windrow.data import Capture


def lines(directory: Path, captures: list[Capture]) -> list[bytes]:
    places = write(directory, captures)
    return [cdxj.line(record, "a.warc.gz", record.offset) for record in archive.records(directory / places[0].file)]


def test_a_response_has_its_key_time_and_place(tmp_path: Path) -> None:
    made = capture("http://www.example.org/B?z=1&a=2", b"<html>")
    places = write(tmp_path, [made])
    found = [record for record in archive.records(tmp_path / places[0].file) if record.type == "response"]
    key, time, values = cdxj.line(found[0], "a.warc.gz", 7).decode().split(" ", 2)
    assert (key, time) == ("org,example)/b?a=2&z=1", "20251115094640")
    assert json.loads(values) == {
        "url": "http://www.example.org/B?z=1&a=2",
        "mime": "text/html",
        "status": "200",
        "digest": found[0].header("WARC-Payload-Digest"),
        "length": str(places[0].length),
        "offset": "7",
        "filename": "a.warc.gz",
    }


def test_other_records_have_no_line(tmp_path: Path) -> None:
    assert [bool(line) for line in lines(tmp_path, [capture()])] == [False, False, True, False]


def record(**headers: str) -> WarcRecord:
    usual = {"WARC-Type": "response", "Content-Type": "application/http", "WARC-Target-URI": "http://a.example/"}
    written = {**usual, "WARC-Date": "2026-11-15T10:44:21.123Z", **{k.replace("_", "-"): v for k, v in headers.items()}}
    block = b"HTTP/1.1 200 OK\r\ncontent-TYPE: Text/HTML; charset=x\r\n\r\nContent-Type: not/this\r\n"
    return WarcRecord(
        offset=0, length=9, version="WARC/1.1", headers=tuple(written.items()), block=block, size=len(block)
    )


def test_the_media_type_is_that_of_the_header() -> None:
    assert cdxj.mime(record()) == "text/html"
    assert cdxj.mime(record(WARC_Type="revisit")) == "warc/revisit"
    assert cdxj.mime(msgspec.structs.replace(record(), block=b"HTTP/1.1 301 Moved\r\n\r\n")) == "unk"


def test_the_time_has_14_digits_whatever_the_precision() -> None:
    assert cdxj.moment(record()) == "20261115104421"
    assert cdxj.moment(record(WARC_Date="2026-11-15T10:44Z")) == "20261115104400"


def test_a_response_that_is_not_http_has_no_line() -> None:
    assert cdxj.line(record(Content_Type="text/dns"), "a", 0) == b""
    assert cdxj.line(record(WARC_Target_URI="dns:a.example"), "a", 0) == b""
