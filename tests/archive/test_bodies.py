"""Bodies that other programs stored as they were sent."""

import gzip
import zlib

import brotli
import msgspec
import pytest
import zstandard

from windrow import archive
from windrow.records import Capture, Task, Url

PAGE = b"<p>It turns." * 30


def capture(body: bytes, *headers: bytes) -> Capture:
    head = b"HTTP/1.1 200 OK\r\n" + b"".join(header + b"\r\n" for header in headers) + b"\r\n"
    return Capture(
        Task(Url("http://a.example/", "a.example", "a.example", 1)),
        200,
        request=b"",
        head=head,
        body=body,
        time=0.0,
        seconds=0.0,
        ip="",
        protocol="http/1.1",
        encoded=bool(headers),
    )


def chunks(body: bytes, size: int = 100, end: bytes = b"\r\n") -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%X%b%b%b" % (len(part), end, part, end) for part in parts) + b"0" + end + end


def test_a_body_without_coding_stays_as_it_is() -> None:
    plain = capture(PAGE)
    assert archive.decoded(plain) is plain


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_chunks_are_joined(end: bytes) -> None:
    found = archive.decoded(capture(chunks(PAGE, end=end), b"Transfer-Encoding: chunked"))
    assert (found.body, found.encoded) == (PAGE, False)


def test_chunks_of_a_compressed_body_are_joined_before_it_is_decoded() -> None:
    body = chunks(gzip.compress(PAGE), 7)
    found = archive.decoded(capture(body, b"content-encoding: gzip", b"transfer-encoding: gzip, chunked"))
    assert found.body == PAGE


def test_a_body_whose_chunks_end_early_keeps_those_that_are_there() -> None:
    found = archive.decoded(capture(chunks(PAGE)[:250], b"Transfer-Encoding: chunked"))
    assert PAGE.startswith(found.body) and len(found.body) > 200


@pytest.mark.parametrize("coding", [b"compress", b"gzip"])
def test_a_body_that_cannot_be_decoded_stays_as_it_is(coding: bytes) -> None:
    broken = capture(b"\x01\x02\x03", b"Content-Encoding: " + coding)
    assert archive.decoded(broken) is broken
    assert broken.encoded


HTML = b"Content-Type: text/html"
RAW = zlib.compressobj(wbits=-15)
DEFLATED = RAW.compress(PAGE) + RAW.flush()


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (gzip.compress(PAGE), [b"Content-Encoding: x-gzip"]),
        (gzip.compress(PAGE), [b"content-encoding:GZIP"]),
        (zlib.compress(PAGE), [b"Content-Encoding: deflate"]),
        (DEFLATED, [b"Content-Encoding: deflate"]),
        (brotli.compress(PAGE), [b"Content-Encoding: br"]),
        (zstandard.compress(PAGE), [b"Content-Encoding: zstd"]),
        (gzip.compress(brotli.compress(PAGE)), [b"Content-Encoding: br, gzip"]),
        (gzip.compress(brotli.compress(PAGE)), [b"Content-Encoding: br", b"Content-Encoding: gzip"]),
        (gzip.compress(PAGE)[:-9], [b"Content-Encoding: gzip"]),
        (gzip.compress(PAGE), [b"Content-Encoding: gzip, deflate"]),
        (gzip.compress(PAGE), [b"Content-Encoding: br"]),
        (zlib.compress(PAGE), [b"Content-Encoding: gzip"]),
        (gzip.compress(gzip.compress(PAGE)), [b"Content-Encoding: gzip"]),
        (gzip.compress(PAGE), [b"Transfer-Encoding: gzip"]),
        (chunks(gzip.compress(PAGE)), [b"Transfer-Encoding: gzip, chunked"]),
        (PAGE, [b"Content-Encoding: gzip"]),
        (PAGE, [b"Content-Encoding: br"]),
        (PAGE, [b"Content-Encoding: deflate"]),
        (PAGE, [b"Content-Encoding: none-at-all"]),
        (PAGE, [b"Transfer-Encoding: chunked"]),
        (PAGE, [b"Content-Encoding: gzip", b"Transfer-Encoding: chunked"]),
        (gzip.compress(PAGE), [b"Content-Encoding: gzip", b"Transfer-Encoding: chunked"]),
        (b"00000%x \r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE), [b"Transfer-Encoding: chunked"]),
        (b"%x;name=value\r\n%b\r\n0\r\nTrailer: x\r\n\r\n" % (len(PAGE), PAGE), [b"Transfer-Encoding: chunked"]),
    ],
)
def test_a_page_gives_its_text_whatever_was_done_to_it_and_said_of_it(body: bytes, headers: list[bytes]) -> None:
    found = archive.decoded(capture(body, HTML, *headers))
    assert PAGE.startswith(found.body) and len(found.body) > len(PAGE) - 40 and not found.encoded
    assert found.stored == body


@pytest.mark.parametrize(
    "body", [gzip.compress(PAGE), chunks(PAGE), chunks(gzip.compress(PAGE)), zstandard.compress(PAGE)]
)
def test_codings_that_no_header_names_are_seen_in_the_bytes_of_a_page(body: bytes) -> None:
    found = archive.decoded(msgspec.structs.replace(capture(body, HTML), encoded=False))
    assert (found.body, found.encoded) == (PAGE, False)


def test_a_packed_file_stays_packed() -> None:
    packed = msgspec.structs.replace(capture(gzip.compress(PAGE), b"Content-Type: application/gzip"), encoded=False)
    assert archive.decoded(packed) is packed


@pytest.mark.parametrize(
    "body", [b"1984\r\nwas a novel", b"5\r\nabc", b"a\n" * 40, b"0\r\n\r\n", b"cafe\r\n", b"beef " * 9]
)
def test_text_that_begins_like_a_chunk_stays_as_it_is(body: bytes) -> None:
    text = msgspec.structs.replace(capture(body, HTML), encoded=False)
    assert archive.decoded(text) is text


def test_chunks_that_break_off_keep_those_before() -> None:
    whole = chunks(PAGE, 100)
    broken = whole[:230] + b"zzzz" + whole[234:]
    found = archive.decoded(capture(broken, HTML, b"Transfer-Encoding: chunked"))
    assert found.body.startswith(PAGE[:100]) and not found.encoded


def test_a_chunked_body_without_chunks_is_empty() -> None:
    found = archive.decoded(capture(b"0\r\n\r\n", HTML, b"Transfer-Encoding: chunked"))
    assert (found.body, found.encoded) == (b"", False)
