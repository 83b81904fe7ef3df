"""Usual headers: the kernel gives what its reference gives, and both what the reader with all rules gives."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from windrow.archive.reading import heads

_names = st.sampled_from(
    [
        b"WARC-Type",
        b"Content-Length",
        b"content-length",
        b"CONTENT-LENGTH",
        b"X",
        b"\xc3\xa9",
        b"\xff",
        b"",
        b" X",
        b"X ",
    ]
)
_values = st.one_of(
    st.sampled_from([b"response", b"5", b"0", b"12345678901234567", b"1234567890123456789", b"-1", b"", b" 5", b"5 "]),
    st.binary(max_size=12),
)
_lines = st.builds(
    lambda name, colon, value: name + colon + value, _names, st.sampled_from([b": ", b":", b" "]), _values
)
_versions = st.sampled_from([b"WARC/1.0", b"WARC/1.1", b"WARC/0.18", b"WARC/1.1 ", b"warc/1.0", b"ARC"])
_ends = st.sampled_from([b"\r\n"] * 8 + [b"\n", b"\r", b"\r\n "])


@st.composite
def _heads(draw: st.DrawFn) -> bytes:
    end = draw(_ends)
    lines = [draw(_versions), *draw(st.lists(_lines, max_size=5))]
    if draw(st.booleans()):
        lines.append(b"Content-Length: 3")
    return b"".join(line + end for line in lines) + draw(_ends) + draw(st.binary(max_size=8))


@given(st.binary(max_size=4), _heads())
@example(b"", b"WARC/1.0\r\n\r\n")
@example(b"", b"WARC/1.0\r\nContent-Length: 3\r\n\r\n")
@example(b"", b"WARC/1.0\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n")
@example(b"", b"WARC/1.1\r\nContent-Length: 3\r\n" + b"X: y\r\n" * 63 + b"\r\n")
@example(b"", b"WARC/1.1\r\nContent-Length: 3\r\n" + b"X: y\r\n" * 64 + b"\r\n")
def test_the_kernel_equals_its_reference(before: bytes, head: bytes) -> None:
    data = before + head
    assert heads.head(data, len(before)) == heads.reference_head(data, len(before))


def test_a_usual_header_is_read() -> None:
    data = b"xxWARC/1.1\r\nWARC-Type: response\r\nContent-Length: 42\r\nX: \xc3\xa9\xff z\r\n\r\nblock"
    headers = (("WARC-Type", "response"), ("Content-Length", "42"), ("X", "é\ufffd z"))
    assert heads.head(data, 2) == heads.reference_head(data, 2) == (len(data) - 5, 42, "WARC/1.1", headers)


@pytest.mark.parametrize("at", [-1, 1, 100, 1 << 60])
def test_a_place_without_a_header_gives_none(at: int) -> None:
    assert heads.head(b"WARC/1.1\r\nContent-Length: 42\r\n\r\n", at) is None


def test_a_header_longer_than_allowed_gives_none() -> None:
    data = b"WARC/1.1\r\nContent-Length: 42\r\nX: %b\r\n\r\n" % (b"y" * heads.LONGEST)
    assert heads.head(data, 0) is None and heads.reference_head(data, 0) is None


_http = st.lists(_lines, max_size=5).flatmap(
    lambda lines: st.builds(
        lambda status, end, rest: b"".join(line + end for line in [status, *lines]) + end + rest,
        st.sampled_from([b"HTTP/1.1 200 OK", b"HTTP/2 200", b"", b"\r", b"x\ry"]),
        _ends,
        st.binary(max_size=6),
    )
)


@given(_http)
@example(b"HTTP/1.1 200 OK\r\n\r\n")
@example(b"HTTP/1.1 200 OK\r\nA:\t b \t\r\na-B: c:d\r\n\r\nbody")
@example(b"HTTP/1.1 200 OK\r\nA: b\r\na: c\r\n\r\n")
@example(b"HTTP/1.1 200 OK\r\nA" + b"b" * 63 + b": c\r\n\r\n")
@example(b"HTTP/1.1 200 OK\r\nA" + b"b" * 64 + b": c\r\n\r\n")
@example(b"HTTP/1.1 200 OK\r\nA\tb: \xff\r\n\r\n")
def test_the_kernel_for_http_equals_its_reference(block: bytes) -> None:
    assert heads.http(block) == heads.reference_http(block)


@given(
    st.lists(st.sampled_from([b"\x1f", b"\x8b", b"\x08", b"x"]), max_size=30), st.integers(0, 20), st.integers(0, 40)
)
def test_the_kernel_for_members_equals_its_reference(parts: list[bytes], start: int, stop: int) -> None:
    data = b"".join(parts)
    assert heads.member(data, start, stop) == heads.reference_member(data, start, stop)
