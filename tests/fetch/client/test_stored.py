import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.fetch.client import stored

# One status line, fields, an empty line, and no byte that parsers could interpret differently.
WELL_FORMED = re.compile(rb"HTTP/1\.[01] [1-9][0-9][0-9]( [^\0\r\n]*)?\r\n([!-9;-~]+:[^\0\r\n]*\r\n)*\r\n")


def lines(text: bytes) -> list[bytes]:
    """Split a header into lines as libcurl does."""
    return text.splitlines(keepends=True)


def kept(text: bytes, size: int) -> bytes:
    head = stored.read(stored.final(lines(text)))
    assert head is not None
    return stored.rewrite(head, size)


def test_a_header_with_a_correct_length_stays_unchanged() -> None:
    text = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n"
    assert kept(text, 5) == text


def test_odd_case_double_spaces_and_latin_letters_are_kept() -> None:
    text = (
        b"HTTP/1.1 404 Nicht da \xfc\r\nSET-cookie:a=1\r\n"
        b"Set-Cookie:   b=2\t\r\nX: \xe4\xf6\r\ncontent-LENGTH:0\r\n\r\n"
    )
    assert kept(text, 0) == text


def test_fields_about_the_wire_are_renamed_and_a_correct_length_is_added() -> None:
    text = b"HTTP/1.1 200 OK\r\nTransfer-encoding: chunked\r\nA: b\r\nCONTENT-ENCODING:  gzip\r\n\r\n"
    renamed = (
        b"HTTP/1.1 200 OK\r\nX-Crawler-Transfer-encoding: chunked\r\nA: b\r\nX-Crawler-CONTENT-ENCODING:  gzip\r\n"
    )
    assert kept(text, 12) == renamed + b"Content-Length: 12\r\n\r\n"


def test_a_wrong_length_is_renamed_and_a_right_one_is_not() -> None:
    text = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nContent-Encoding: br\r\n\r\n"
    assert kept(text, 7) == b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX-Crawler-Content-Encoding: br\r\n\r\n"
    assert kept(text, 8) == (
        b"HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 7\r\nX-Crawler-Content-Encoding: br\r\nContent-Length: 8\r\n\r\n"
    )


@pytest.mark.parametrize("lengths", [b"7, 7", b"7\r\nContent-Length: 7", b"", b"07", b"99999999999999999999"])
def test_a_length_in_any_other_form_becomes_one_number(lengths: bytes) -> None:
    head = kept(b"HTTP/1.1 200 OK\r\nContent-Length: " + lengths + b"\r\n\r\n", 7)
    assert re.findall(rb"\r\nContent-Length: (.*)\r\n", head) == [b"7"]
    assert head.count(b"X-Crawler-Content-Length:") == 1 + lengths.count(b"\n")


def test_every_content_encoding_is_renamed() -> None:
    text = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 9\r\ncontent-encoding: unknown\r\n\r\n"
    expected = (
        b"HTTP/1.1 200 OK\r\nX-Crawler-Content-Encoding: br\r\nContent-Length: 9\r\n"
        b"X-Crawler-content-encoding: unknown\r\n\r\n"
    )
    assert kept(text, 9) == expected


def test_fields_that_only_look_alike_are_left_alone() -> None:
    text = (
        b"HTTP/1.1 200 OK\r\nX-Content-Length: 3\r\nContent-Length-X: 4\r\n"
        b"Via: content-length: 5\r\nContent-Length: 6\r\n\r\n"
    )
    assert kept(text, 6) == text


@pytest.mark.parametrize(
    ("line", "status", "protocol", "expected"),
    [
        (b"HTTP/1.0 200 OK", 200, "http/1.0", b"HTTP/1.0 200 OK"),
        (b"HTTP/1.1 301", 301, "http/1.1", b"HTTP/1.1 301"),
        (b"HTTP/1.1 999 ", 999, "http/1.1", b"HTTP/1.1 999 "),
        (b"HTTP/2 200 ", 200, "h2", b"HTTP/1.1 200 "),
        (b"HTTP/3 204 ", 204, "h3", b"HTTP/1.1 204 "),
        (b"HTTP/1.1\t200\tOK", 200, "http/1.1", b"HTTP/1.1 200 OK"),
    ],
)
def test_a_status_line_becomes_one_of_http_1(line: bytes, status: int, protocol: str, expected: bytes) -> None:
    head = stored.read(line + b"\r\nA: b\r\n\r\n")
    assert head is not None
    assert (head.status, head.protocol, head.block) == (status, protocol, expected + b"\r\nA: b\r\n\r\n")


@pytest.mark.parametrize(
    "line", [b"", b"HTTP/1.1 2000 OK", b"HTTP/1.1 20 OK", b"HTTP/1.1 099 OK", b"ICY 200 OK", b"HTTP/1.1 OK", b"A: b"]
)
def test_without_a_status_line_there_is_no_header(line: bytes) -> None:
    assert stored.read(line + b"\r\nA: b\r\n\r\n") is None


def test_a_header_that_cannot_be_parsed_again_is_tidied() -> None:
    text = (
        b"HTTP/1.1 200 OK\n early: fold\nA : b\r\nno colon\r\n: no name\n"
        b"B: one\r\n\ttwo\n  three\nbad name: x\nC: a\rb\0c\n\n"
    )
    expected = b"HTTP/1.1 200 OK\r\nA: b\r\nB: one two three\r\nC: a bc\r\nContent-Length: 0\r\n\r\n"
    head = stored.read(text)
    assert head is not None
    assert stored.rewrite(head, 0) == expected


def test_the_final_answer_is_separated_from_interim_answers_and_trailers() -> None:
    early = [b"HTTP/1.1 100 Continue\r\n", b"\r\n", b"HTTP/1.1 103 Early Hints\r\n", b"Link: x\r\n", b"\r\n"]
    answer = [b"HTTP/1.1 200 OK\r\n", b"A: b\r\n", b"\r\n"]
    trailer = [b"Content-Length: 7\r\n", b"\r\n"]
    for before in ([], early, [b"\r\n"]):
        for after in ([], trailer, [b"X: y\r\n"]):
            assert stored.final([*before, *answer, *after]) == b"".join(answer)
        assert stored.final([*before, *answer[:2]]) == b""
        assert stored.final(before) == b""


def test_switching_protocols_is_an_answer() -> None:
    answer = [b"HTTP/1.1 101 Switching Protocols\r\n", b"\r\n"]
    assert stored.final(answer) == b"".join(answer)


def test_all_content_encoding_fields_count() -> None:
    head = stored.read(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-encoding:\tBR , zstd \r\n\r\n")
    assert head is not None
    assert [label.strip() for label in head.encodings.split(",")] == ["gzip", "BR", "zstd"]


@pytest.mark.parametrize(
    ("fields", "ambiguous"),
    [
        (b"Content-Length: 5\r\n", False),
        (b"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n", False),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", True),
    ],
)
def test_a_message_with_two_possible_ends_is_marked_ambiguous(fields: bytes, ambiguous: bool) -> None:
    head = stored.read(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n")
    assert head is not None and head.ambiguous == ambiguous


pieces = st.sampled_from(
    [
        b"\r\n",
        b"\n",
        b"\r",
        b"\0",
        b":",
        b" ",
        b"\t",
        b"A",
        b"content-length",
        b"Content-Encoding",
        b"7",
        b"gzip",
        b"\xe4",
    ]
)


@given(st.lists(pieces, max_size=40).map(b"".join), st.integers(0, 1000))
def test_any_stored_header_can_be_parsed_again(tail: bytes, size: int) -> None:
    head = stored.read(stored.final(lines(b"HTTP/1.1 200 OK\r\n" + tail + b"\r\n\r\n")))
    if head is not None:
        block = stored.rewrite(head, size)
        assert WELL_FORMED.fullmatch(block)
        assert re.findall(rb"\n(?i:content-length):[ \t]*([^\r]*?)[ \t]*\r", block) == [b"%d" % size]
        assert not re.search(rb"\n(?i:content-encoding|transfer-encoding):", block)
