"""Other programs read our files: warcio, FastWARC, and a parser that shares no code with ours."""

import base64
import contextlib
import gzip
import hashlib
import io
import re
from pathlib import Path

import msgspec
import pytest
from fastwarc import warc as fastwarc
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio_cli

from tests.archive.captures import any_capture, capture, files, write
from windrow.archive import Earlier, Writer
from windrow.config import ArchiveOptions
from windrow.records import Capture

CIPHER = "tls/1.3 TLS_AES_256_GCM_SHA384"
ODD = (
    b"HTTP/1.1 200 OK\r\nno colon\r\n folded: yes\r\nX: \xff\xfe\r\n"
    b"X-Crawler-Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
)
BASE = capture(body=b"abc")
SITE = [
    capture("http://example.org/robots.txt", b"User-agent: *\r\n\r\n", file="robots"),
    capture("https://example.org/", "<html>ěščř</html>".encode()),
    capture("http://example.org/empty", b""),
    capture("http://example.org/gone", b"<html>gone</html>", 404),
    capture("http://example.org/moved", b"", 301),
    capture("http://example.org/large", bytes(range(256)) * 4096),
    capture("http://example.org/inner", b"\r\n\r\nWARC/1.1\r\n\r\n"),
    msgspec.structs.replace(BASE, head=ODD),
    msgspec.structs.replace(BASE, protocol="h2", cipher=CIPHER, truncated="length", ip="2001:db8::7"),
    msgspec.structs.replace(
        BASE, encoded=True, head=b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n"
    ),
    msgspec.structs.replace(BASE, request=b""),
    msgspec.structs.replace(BASE, head=b"HTTP/1.0 200\r\n\r\n"),
]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl with captures of every kind and a revisit, in several files."""
    directory = tmp_path_factory.mktemp("crawl")
    writer = Writer(
        directory, ArchiveOptions(max_bytes=4000), "n0", {"software": "windrow/0", "options": "[fetch]\ndelay = 5.0"}
    )
    places = [writer.append(writer.compress(page), seq, {"note": "x"}) for seq, page in enumerate(SITE, 1)]
    origin = Earlier(SITE[5].task.url.text, SITE[5].time, places[5])
    writer.append(writer.revisit(SITE[5], origin), 99)
    writer.flush()
    writer.close()
    assert len(files(directory)) > 4
    return directory


def test_warcio_check_reports_no_error(crawl: Path) -> None:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.raises(SystemExit) as end:
        warcio_cli(["check", *map(str, files(crawl))])
    assert end.value.code == 0 and "fail" not in said.getvalue()


def test_warcio_reads_every_payload_and_checks_its_digest(crawl: Path) -> None:
    payloads = []
    for path in files(crawl):
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                body = record.raw_stream.read()
                if record.rec_type == "response":
                    assert record.digest_checker.passed is True
                    payloads.append(body)
    assert sorted(payloads) == sorted(page.body for page in SITE)


def test_fastwarc_reads_every_record_and_its_digests_hold(crawl: Path) -> None:
    payloads, kinds = [], []
    for path in files(crawl):
        with open(path, "rb") as file:
            for record in fastwarc.ArchiveIterator(file, strict_mode=True, parse_http=False):
                kinds.append(record.record_type)
                assert record.record_date is not None and (
                    record.record_date.microsecond == 123000 or kinds[-1] is fastwarc.WarcRecordType.warcinfo
                )
                if record.record_type == fastwarc.WarcRecordType.response:
                    assert record.verify_block_digest()
                    record.parse_http()
                    assert record.verify_payload_digest()
                    payloads.append(record.reader.read())
    assert sorted(payloads) == sorted(page.body for page in SITE)
    assert (
        kinds.count(fastwarc.WarcRecordType.request) == len(SITE)
        and kinds.count(fastwarc.WarcRecordType.metadata) == len(SITE) + 1
    )


def by_hand(path: Path) -> list[tuple[dict[str, str], bytes]]:
    """Yield headers and block of each record, as the specifications of gzip and WARC define them."""
    text, found = gzip.decompress(path.read_bytes()), []
    while text:
        header, _, text = text.partition(b"\r\n\r\n")
        version, *lines = header.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        size = int(headers["Content-Length"])
        assert version == "WARC/1.1" and text[size : size + 4] == b"\r\n\r\n"
        found.append((headers, text[:size]))
        text = text[size + 4 :]
    return found


def sha1(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def test_an_independent_parser_computes_the_same_digests(crawl: Path) -> None:
    checked = 0
    for path in files(crawl):
        for headers, block in by_hand(path):
            if headers["WARC-Type"] in ("response", "revisit"):
                assert headers["WARC-Block-Digest"] == sha1(block)
                body = block.split(b"\r\n\r\n", 1)[1] if headers["WARC-Type"] == "response" else SITE[5].body
                assert headers["WARC-Payload-Digest"] == sha1(body)
                checked += 1
    assert checked == len(SITE) + 1


def test_ids_are_unique_and_links_lead_to_records(crawl: Path) -> None:
    records = [headers for path in files(crawl) for headers, _ in by_hand(path)]
    ids = {headers["WARC-Record-ID"]: headers["WARC-Type"] for headers in records}
    assert len(ids) == len(records)
    links = [
        (headers["WARC-Type"], ids[headers["WARC-Concurrent-To"]])
        for headers in records
        if "WARC-Concurrent-To" in headers
    ]
    assert links.count(("response", "request")) == len(SITE) - 1
    assert links.count(("metadata", "response")) == len(SITE)
    assert sorted(set(links)) == [
        ("metadata", "response"),
        ("metadata", "revisit"),
        ("response", "request"),
        ("revisit", "request"),
    ]


def test_dates_have_milliseconds_and_the_form_of_warc_1_1(crawl: Path) -> None:
    for path in files(crawl):
        for headers, _ in by_hand(path):
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", headers["WARC-Date"])


@given(st.lists(any_capture, min_size=1, max_size=3))
def test_warcio_and_fastwarc_agree_on_the_block_of_any_capture(
    tmp_path_factory: pytest.TempPathFactory, captures: list[Capture]
) -> None:
    directory = tmp_path_factory.mktemp("crawl")
    write(directory, captures)
    one, two = [], []
    for path in files(directory):
        with open(path, "rb") as file:
            one += [
                record.raw_stream.read()
                for record in ArchiveIterator(file, no_record_parse=True)
                if record.rec_type == "response"
            ]
        with open(path, "rb") as file:
            two += [
                record.reader.read()
                for record in fastwarc.ArchiveIterator(
                    file, record_types=fastwarc.WarcRecordType.response, parse_http=False
                )
            ]
    assert sorted(one) == sorted(two) == sorted(page.head + page.body for page in captures)
