"""Encodings: which declaration wins, what the labels mean, and that nothing raises."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared import shared
from windrow.extraction.readers.decode import declared, decode

CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy. "
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. "
JAPANESE = "日本語の文章をここに書いておきます。これは検出器のための長い文です。"


def test_a_byte_order_mark_beats_the_header_and_the_page() -> None:
    body = b'\xef\xbb\xbf<meta charset="windows-1251">\xc3\xa9'
    assert decode(body, "text/html; charset=iso-8859-2") == ('<meta charset="windows-1251">é', "UTF-8")


@pytest.mark.parametrize(
    ("mark", "codec", "name"), [(b"\xff\xfe", "utf-16-le", "UTF-16LE"), (b"\xfe\xff", "utf-16-be", "UTF-16BE")]
)
def test_utf_16_is_recognised_by_its_byte_order_mark(mark: bytes, codec: str, name: str) -> None:
    assert decode(mark + "žluť".encode(codec), "text/html; charset=utf-8") == ("žluť", name)


def test_the_header_beats_the_page() -> None:
    assert decode(b'<meta charset="utf-8">\xb9', "text/html; charset=iso-8859-2") == (
        '<meta charset="utf-8">š',
        "ISO-8859-2",
    )


def test_with_an_unknown_label_in_the_header_the_page_decides() -> None:
    assert decode(b"<meta charset=iso-8859-2>\xb9", "text/html; charset=klingon")[1] == "ISO-8859-2"


@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        ("text/html; charset=utf-8", "UTF-8"),
        ('text/html;charset="UTF8"', "UTF-8"),
        ("text/html; Charset = Latin1 ; x=y", "windows-1252"),
        ("text/html; charset=utf-8; charset=koi8-r", "UTF-8"),
        ("text/html; charset=", ""),
        ("text/html", ""),
        ("", ""),
        ("text/html; charset=utf-7", ""),
        ("text/html; charset=us-ascii", "windows-1252"),
        ("text/html; charset=gb2312", "GBK"),
        ("text/html; charset=ks_c_5601-1987", "EUC-KR"),
        ("text/html; charset=shift-jis", "Shift_JIS"),
        ("text/html; charset=iso-8859-9", "windows-1254"),
    ],
)
def test_header_labels_have_the_meaning_that_browsers_give_them(content_type: str, name: str) -> None:
    assert declared(content_type) == name


@pytest.mark.parametrize(
    ("label", "body", "text"),
    [
        ("latin1", b"\x80 \x81 \x9f", "€ \x81 Ÿ"),
        ("ascii", b"\xe9", "é"),
        ("gb2312", "€".encode("gb18030"), "€"),
        ("gb18030", "龘𠀀".encode("gb18030"), "龘𠀀"),
        ("euc-kr", "똠".encode("cp949"), "똠"),
        ("shift_jis", "①髙".encode("cp932"), "①髙"),
        ("euc-jp", b"\xad\xa1", "①"),
        ("big5", "㗎".encode("big5hkscs"), "㗎"),
        ("koi8-u", b"\xae\xbe", "ўЎ"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("iso-2022-kr", b"anything", "\ufffd"),
        ("iso-2022-jp", "日本".encode("iso2022_jp"), "日本"),
        ("utf-16", "ab".encode("utf-16-le"), "ab"),
        ("windows-1255", b"\xca", "\u05ba"),
    ],
)
def test_legacy_encodings_are_those_of_the_standard(label: str, body: bytes, text: str) -> None:
    assert decode(body, f"text/html; charset={label}")[0] == text


def test_a_broken_character_does_not_swallow_the_markup_after_it() -> None:
    for label in ("shift_jis", "euc-jp", "gb18030", "big5", "euc-kr", "utf-8"):
        assert decode(b"\x81<p>", f"text/html; charset={label}")[0].endswith("<p>")


def test_a_page_that_declares_utf_16_in_ascii_is_utf_8() -> None:
    assert decode('<meta charset="utf-16">ž'.encode(), "")[1] == "UTF-8"


def test_an_xml_declaration_counts_if_there_is_no_meta_element() -> None:
    assert decode(b'<?xml version="1.0" encoding="iso-8859-2"?><p>\xb9', "")[0].endswith("š")
    assert decode(b'<?xml version="1.0" encoding="iso-8859-2"?><meta charset="windows-1251">', "")[1] == "windows-1251"


def test_a_late_declaration_counts_if_there_is_no_other() -> None:
    assert decode(b"<!--" + b"x" * 3000 + b'--><meta charset="iso-8859-2">\xb9', "")[0].endswith("š")


def test_a_declaration_in_a_comment_or_an_attribute_does_not_count() -> None:
    for page in (
        b"<!-- <meta charset=koi8-r> --><p>",
        b"<a title='<meta charset=koi8-r>'>",
        b'<a title="x> <meta charset=koi8-r>">',
    ):
        assert decode(page, "")[1] == "windows-1252"


def test_undeclared_utf_8_is_detected() -> None:
    assert decode(CZECH.encode(), "") == (CZECH, "UTF-8")


def test_utf_8_that_is_truncated_or_damaged_in_one_place_is_still_utf_8() -> None:
    body = (CZECH * 20).encode()
    assert decode(body + "ž".encode()[:1], "")[1] == "UTF-8"
    text, name = decode(body[:300] + b"\xff" + body[300:], "")
    assert name == "UTF-8" and text.count("\ufffd") <= 2


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8_r", "KOI8-U"),
        (JAPANESE, "cp932", "Shift_JIS"),
        (JAPANESE, "euc_jp", "EUC-JP"),
    ],
)
def test_an_undeclared_encoding_is_detected(text: str, codec: str, name: str) -> None:
    body = b"<html><body>" + b"<p>ascii</p>" * 500 + (text * 30).encode(codec)
    decoded, found = decode(body, "text/html")
    assert found == name and decoded.endswith(text)


def test_utf_16_without_a_byte_order_mark_is_detected_by_its_first_tag() -> None:
    assert decode("<p>ab</p>".encode("utf-16-le"), "")[0] == "<p>ab</p>"
    assert decode("<p>ab</p>".encode("utf-16-be"), "")[0] == "<p>ab</p>"
    assert decode("<p>žluť</p>".encode("utf-16-be"), "")[0] == "<p>žluť</p>"


def test_an_empty_body_is_windows_1252() -> None:
    assert decode(b"", "") == ("", "windows-1252")


@given(
    st.binary(max_size=400),
    st.sampled_from(
        ["", "utf-8", "utf-16le", "shift_jis", "gb18030", "big5", "euc-kr", "euc-jp", "iso-2022-jp", "koi8-u"]
    ),
)
def test_any_bytes_give_valid_text(body: bytes, label: str) -> None:
    decode(body, f"text/html; charset={label}")[0].encode()
    decode(b'<meta charset="' + label.encode() + b'">' + body, "")[0].encode()


@given(st.text(st.sampled_from("<>!-/='\" \tmetachrs?xa"), max_size=120))
def test_any_markup_gives_a_name(page: str) -> None:
    assert decode(page.encode(), "")[1]


@pytest.mark.parametrize("file", ["tests1.dat", "tests2.dat", "test-yahoo-jp.dat"])
def test_the_encoding_cases_of_html5lib(file: str) -> None:
    data = shared(f"conformance/html5lib-encoding/{file}").read_bytes()
    cases = re.findall(rb"(?:^|\n)#data\n(.*?)\n#encoding\n([^\n]*)", data, re.DOTALL)
    assert len(cases) == data.count(b"#data\n")
    wrong = [
        (page[:200], expected, name)
        for page, expected in cases
        if (name := decode(page, "")[1]).lower() != expected.decode().lower()
    ]
    assert wrong == []


def test_the_detection_case_of_html5lib() -> None:
    assert decode(shared("conformance/html5lib-encoding/chardet/test_big5.txt").read_bytes(), "")[1] == "Big5"
