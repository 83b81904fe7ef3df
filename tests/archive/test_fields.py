"""Lines of application/warc-fields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.archive import fields

_words = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp")), max_size=20).map(str.strip)


@given(
    st.dictionaries(st.text("abcXYZ-", min_size=1, max_size=9), st.lists(_words, min_size=1, max_size=4).map("\n".join))
)
def test_fields_are_read_as_they_were_written(pairs: dict[str, str]) -> None:
    assert fields.decode(fields.encode(list(pairs.items()))) == pairs


@given(st.text())
def test_no_text_can_begin_another_line(text: str) -> None:
    assert fields.line(text).splitlines() in ([], [fields.line(text)])
    assert len(fields.line(text).decode().splitlines()) <= 1


def test_a_folded_value_is_one_value() -> None:
    assert fields.decode(b"one: a\r\n b\r\n\tc\r\ntwo: d\r\nno field\r\n") == {"one": "a b c", "two": "d"}


def test_urls_and_other_letters_pass_unchanged() -> None:
    assert fields.line("http://example.org/a%20b?c=d") == b"http://example.org/a%20b?c=d"
    assert fields.line("Univerzita Karlova, Česko") == "Univerzita Karlova, Česko".encode()
    assert fields.line("a\r\nWARC-Type: b") == b"a%0D%0AWARC-Type: b"


@pytest.mark.parametrize(
    ("head", "status"), [(b"HTTP/1.1 200 OK\r\n", 200), (b"HTTP/1.0  404\r\n", 404), (b"ICY 2000\r\n", 0), (b"", 0)]
)
def test_the_status_is_read_from_the_status_line(head: bytes, status: int) -> None:
    assert fields.status(head) == status


def test_a_head_of_another_program_may_end_in_bare_line_feeds_or_never() -> None:
    assert fields.split(b"HTTP/1.1 200 OK\nA: b\n\nbody\r\n\r\n", {}) == (b"HTTP/1.1 200 OK\nA: b\n\n", b"body\r\n\r\n")
    assert fields.split(b"HTTP/1.1 200 OK\r\nA: b", {}) == (b"HTTP/1.1 200 OK\r\nA: b", b"")


def test_a_head_of_another_program_says_whether_its_body_is_encoded() -> None:
    assert fields.encoded(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    assert not fields.encoded(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nX-Crawler-Content-Encoding: gzip\r\n\r\n"
    )
