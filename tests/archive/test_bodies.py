"""Bodies that other programs stored as they were sent."""

import gzip

import pytest

from windrow import archive
from windrow.data import Capture, Task, Url

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
