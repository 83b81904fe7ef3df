"""ARC files as twenty years of programs wrote them."""

import gzip
from pathlib import Path

import pytest

from windrow import archive
from windrow.archive import Damage, WarcRecord

VERSION = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nx-commoncrawl-DetectedCharset: UTF-8\r\n\r\n<p>It turns.</p>"
URL = b"http://a.example/page"


def filedesc(length: int = len(VERSION), block: bytes = VERSION) -> bytes:
    return b"filedesc://a.arc.gz 0.0.0.0 20090102030405 text/plain %d\n%b\n" % (length, block)


def record(url: bytes = URL, block: bytes = PAGE, kind: bytes = b"text/html", length: int | None = None) -> bytes:
    size = len(block) if length is None else length
    return b"%b 192.0.2.7 20090102030406 %b %d\n%b\n" % (url, kind, size, block)


def read(path: Path, data: bytes) -> list[WarcRecord]:
    path.write_bytes(data)
    return list(archive.records(path))


def repaired(path: Path, data: bytes) -> tuple[list[WarcRecord], list[Damage]]:
    path.write_bytes(data)
    damages: list[Damage] = []
    return list(archive.records(path, report=damages.append)), damages


def test_a_record_has_the_headers_of_a_warc_record(tmp_path: Path) -> None:
    first, second = read(tmp_path / "a.arc", filedesc() + record())
    assert (first.type, first.version, first.header("WARC-Filename")) == ("warcinfo", "ARC/1.0", "a.arc.gz")
    assert (second.type, second.target, second.block) == ("response", URL.decode(), PAGE)
    assert dict(second.headers) == {
        "WARC-Type": "response",
        "WARC-Target-URI": URL.decode(),
        "WARC-Date": "2009-01-02T03:04:06Z",
        "WARC-IP-Address": "192.0.2.7",
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(PAGE)),
    }
    assert archive.is_archive(tmp_path / "a.arc")


def test_a_page_of_an_arc_file_is_a_capture_that_can_be_opened_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "old" / "a.arc.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(filedesc()) + gzip.compress(record()))
    (stored,) = archive.read(path)
    assert (stored.capture.url, stored.capture.status, stored.capture.body) == (URL.decode(), 200, b"<p>It turns.</p>")
    assert (stored.capture.ip, stored.capture.time) == ("192.0.2.7", 1230865446.0)
    assert archive.open_place(tmp_path, stored.place) == stored.capture


@pytest.mark.parametrize(
    ("line", "target", "kind"),
    [
        (b"http://a.example/a b  c 192.0.2.7 20090102030406 text/html %d\n", "http://a.example/a b  c", ""),
        (b"http://a.example/ 192.0.2.7 20090102030406 text/html; charset=x %d\n", "http://a.example/", ""),
        (b"http://a.example/ 2001:db8::7 20090102030406 no-type %d\n", "http://a.example/", ""),
        (b"http://a.example/ 192.0.2.7 20090102030406 08 Sep 2013 18:10 GMT %d\n", "http://a.example/", ""),
        (b"http://a.example/ - 2009 - %d\n", "http://a.example/", ""),
        (b"http://a.example/\xff 192.0.2.7 20090102030406  %d\n", "http://a.example/\ufffd", ""),
        (b"https://a.example/ 192.0.2.7 20090102030406 text/html %d\r\n", "https://a.example/", ""),
        (
            b"http://a.example/ 192.0.2.7 20090102030406 text/html 200 fac069150613fe55599cc7fa - 209 a.arc %d\n",
            "http://a.example/",
            "fac069150613fe55599cc7fa",
        ),
    ],
    ids=["blanks in the URL", "parameter", "IPv6", "blanks in the type", "dashes", "not UTF-8", "CRLF", "version 2"],
)
def test_lines_of_every_kind_are_read(tmp_path: Path, line: bytes, target: str, kind: str) -> None:
    found = read(tmp_path / "a.arc", (line % len(PAGE) + PAGE + b"\n") * 2)
    assert [(one.target, one.block) for one in found] == [(target, PAGE)] * 2
    assert found[0].header("ARC-Checksum") == kind


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n\n", b"\r\n"])
def test_records_may_have_any_number_of_lines_behind_them(tmp_path: Path, pack: object, end: bytes) -> None:
    members = [filedesc(), *[record(URL + b"%d" % number)[:-1] + end for number in range(3)]]
    found = read(tmp_path / "a.arc", b"".join(map(pack, members)))  # type: ignore[arg-type]
    assert [one.block for one in found[1:]] == [PAGE] * 3
    data = (tmp_path / "a.arc").read_bytes()
    assert [data[one.offset : one.offset + one.length].rstrip(b"\r\n") for one in found] == [
        pack(member).rstrip(b"\r\n")  # type: ignore[operator]
        for member in members
    ]


def test_many_records_in_one_member_are_read(tmp_path: Path) -> None:
    found = read(tmp_path / "a.arc.gz", gzip.compress(filedesc() + record() * 5))
    assert [one.type for one in found] == ["warcinfo", *["response"] * 5]


@pytest.mark.parametrize("length", [len(VERSION), len(VERSION) - 1, len(VERSION) + 1, len(VERSION) - 20, 0, 56])
def test_the_length_of_the_first_record_may_count_its_version_lines_or_not(tmp_path: Path, length: int) -> None:
    for data in (filedesc(length) + record(), gzip.compress(filedesc(length)) + gzip.compress(record())):
        found = read(tmp_path / "a.arc", data)
        assert [(one.type, one.block.rstrip()) for one in found] == [("warcinfo", VERSION.rstrip()), ("response", PAGE)]
        found, damages = repaired(tmp_path / "a.arc", data)
        assert [one.block.rstrip() for one in found] == [VERSION.rstrip(), PAGE] and damages == []


@pytest.mark.parametrize("by", [-9, -1, 8, 60])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_wrong_length_costs_no_record(tmp_path: Path, by: int, pack: object) -> None:
    wrong = record(length=len(PAGE) + by)
    parts = [filedesc(), record(), wrong, record(URL + b"2"), record(URL + b"3")]
    found, damages = repaired(tmp_path / "a.arc", b"".join(map(pack, parts)))  # type: ignore[arg-type]
    assert [one.target for one in found[1:]] == [URL.decode() + end for end in ("", "", "2", "3")]
    assert [one.block for one in found[1:]] == [PAGE] * 4
    assert [damage.start for damage in damages] == [sum(len(pack(part)) for part in parts[:2])]  # type: ignore[operator]


def test_records_that_are_not_http_are_no_captures_and_pages_without_header_are(tmp_path: Path) -> None:
    data = filedesc() + record(b"dns:a.example", b"20090102030406\na.example. 5 IN A 192.0.2.7\n", b"text/dns")
    path = tmp_path / "a.arc"
    path.write_bytes(data + record(block=b"<p>no header</p>"))
    assert [record.type for record in archive.records(path)] == ["warcinfo", "response", "response"]
    assert [(one.capture.status, one.capture.body) for one in archive.read(path)] == [(200, b"<p>no header</p>")]


def test_plain_text_is_no_arc_file(tmp_path: Path) -> None:
    path = tmp_path / "a.arc"
    for text in (b"http://a.example/ is a page\nof 1996", b"mailto:a b c d 5\n", b"note: 5\n" * 40, b"x" * 200_000):
        path.write_bytes(text)
        assert not archive.is_archive(path)
        with pytest.raises(archive.ArchiveError, match="expected a WARC or ARC record here"):
            list(archive.records(path))


@pytest.mark.parametrize(
    "line",
    [
        b"http:" + b" 192.0.2.7 2009 " * 4000 + b"x\n",
        b"filedesc://" + b" 192.0.2.7 2009 " * 4000 + b"x\n",
        b"http:" + b" a" * 30000 + b" 5\n",
        b"http: " + b"a" * 60000 + b" 5\n",
        b"http:x 192.0.2.7 2009 " + b"5 " * 30000 + b"x\n",
    ],
)
def test_a_hostile_line_takes_linear_time(tmp_path: Path, line: bytes) -> None:
    found, _ = repaired(tmp_path / "a.arc", line * 3 + record())  # in quadratic time this takes a minute
    assert found[-1].block == PAGE
