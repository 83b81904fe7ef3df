"""Queries in the charset of their page, against the encoders of another implementation of the Encoding Standard."""

import hashlib
import json

import pytest

from tests.shared import shared
from windrow import urls
from windrow.extraction.readers import encode

# For each charset the number of its characters beyond ASCII, and the SHA-256 of the lines "CODE OCTETS" of all of them,
# in the order of their code points. Written by the encoders of the npm package @exodus/bytes 1.16.0 (which pass the web
# platform tests) for each code point from U+0080 to U+2FFFF; gb18030, which has all of them, to U+FFFF.
ENCODERS = {
    "IBM866": (128, "390656a3cbf160cb2db37adafb0f308cb8320f4550e31581c59b687db9befc9a"),
    "ISO-8859-2": (128, "65b36fac3ccf9aece8d897e299fc6404152c38624d1341ce74c71bc1b03d7a8c"),
    "ISO-8859-3": (121, "ad1978200ac75ad09617b8ba38cf079fabbb41a50c02de53510fc567e3fd58e4"),
    "ISO-8859-4": (128, "1c00e862fcc0535a7c41e8b48fe0d89a94b34be24166defd4e762d61ce4c41a1"),
    "ISO-8859-5": (128, "73eadcd7c7240e03e47685c85ac3d2609c086d47e66dc7a6b5fe65061870ca24"),
    "ISO-8859-6": (83, "96cfeb18d625c6f25258e7a3e3eee253abeb45658cbb0fa2cd85129d556d0c04"),
    "ISO-8859-7": (125, "075df48fba55a9bdd02fabf32a112adbbf1a39313657624efabdb1ef64adee35"),
    "ISO-8859-8": (92, "90d85598b0c2683226a1e238efb6c31247dfc362f2e08040468373cc2d06423e"),
    "ISO-8859-8-I": (92, "90d85598b0c2683226a1e238efb6c31247dfc362f2e08040468373cc2d06423e"),
    "ISO-8859-10": (128, "d32dc9171e833897d25bad5f798bea18bfadc672a2b88a59e1c113b8ce4b9c74"),
    "ISO-8859-13": (128, "fa581595e7d625bd9de852761399e4a2dc4cce4ac962595e7e887aea1c9b591f"),
    "ISO-8859-14": (128, "467c0c480f6b9cfa9a32ed29d14c6ea76d50089f8ce506eecfff0dcca4238b47"),
    "ISO-8859-15": (128, "5c87c6636ca30ece38333b41158a2bcd43e0b3c77a08570258c3da14e46c4f8c"),
    "ISO-8859-16": (128, "6a5f9c0c7300019b03d6f3590a180a5c6c0110cf8b8bd051d7365a5cd7df9b1e"),
    "KOI8-R": (128, "7e33e87bf13ed4d403b50c8e56be237e715a6298eca44cfd2667ee2ffef9e736"),
    "KOI8-U": (128, "ca2a2607b4ffc38db0e750c8e7ce7d3cdb1ceecba6d9e9d1ceb4362a9740cfbc"),
    "macintosh": (128, "e9a505c7cb03dc16d506a2462b410a59c5a2230ad47753375f1d0425c4aa83b6"),
    "windows-874": (120, "e46382864833322e9ca2c3a8fdc91353626a197dbf1354fe1c309dc6b8280e54"),
    "windows-1250": (128, "d9b4a29178743b63f6e55cda6fea39e8d376ffa1c6569a848762f341c9016336"),
    "windows-1251": (128, "2a6ff0ace2990f328da41b1d0cad99c6a5afb215fb2d8d755f3466bea964191c"),
    "windows-1252": (128, "4f1ae638cfdaf0fd08046bb70e73623d596b127eaa7d37af025c619801b2811b"),
    "windows-1253": (125, "b706f15fc293d03bae63b19b4ea73bffc028ada11e936a8f3774b291f23f2c84"),
    "windows-1254": (128, "df267da2bf1e9c5e5ceb44f89da5df6d9d1fe15ef807f33a0ea5a0a77e6682b5"),
    "windows-1255": (118, "3d70d7e6f58fefe734aaec023c694019870985d15b81a8f425236438b3191886"),
    "windows-1256": (128, "bc7403b422f11b258f614754bd2070113b58acaf653055e515a20c855002bb05"),
    "windows-1257": (126, "214975babc92b2a4cf645cf0be3aec061c447346cb74059656bcfaf79fc97582"),
    "windows-1258": (128, "0af7a99aec3c87051345d0673398509cf98aa1297f06ab57e4aa492fba3f5842"),
    "x-mac-cyrillic": (128, "6d5bed76e7ad9e21aa6aeb88452571539f691e01569c7c1a3e3860983124ef61"),
    "GBK": (23957, "c4bdc3026dea7076496efd2dd5adf335eb944e03998a6a5c96d5d23ff21af3b4"),
    "gb18030": (63359, "777d47c7afca7d654cb4dea8e4bb3fe2876ee031e2db69fc22e41933570b90c2"),
    "Big5": (14653, "10b6dbcbc0b743e2dd50f73d11fa39947bf33a46c1023d250a4ad8c08cbe35cd"),
    "EUC-JP": (7392, "d1ac08dad87d1072cbb30dd67ea296023268d6410823510d1744668f55ca4d03"),
    "ISO-2022-JP": (7392, "92b8810c80abc429da5b09bd57c905ec5c7224672441897fbdc58933ae6b0ee5"),
    "Shift_JIS": (7393, "0c1a6293e979352ebeb3bd7f4cc00d583853274a5c7799c0a918bf6424211687"),
    "EUC-KR": (17048, "66a53f171025598ae6153cf13f3c6ee0556dd8db9e973c4f685ba83a81a31349"),
    "x-user-defined": (128, "ca65122d7b16d2a80ecfd493e834cdad7f6dc459bfa000e7c1a8231aca76250a"),
}


@pytest.mark.parametrize("charset", ENCODERS)
def test_every_character_has_the_octets_of_the_standard(charset: str) -> None:
    codes = [code for code in range(0x80, 0x10000 if charset == "gb18030" else 0x30000) if not 0xD800 <= code < 0xE000]
    if charset == "ISO-2022-JP":  # has states, so each character is a query of its own
        escaped = [encode.href("?" + chr(code), charset)[1:] for code in codes]
    else:
        escaped = encode.href("?" + "\1".join(map(chr, codes)), charset)[1:].split("\1")
    pairs = zip(codes, escaped, strict=True)
    lines = [f"{code:X} {octets}\n" for code, octets in pairs if octets != f"%26%23{code}%3B"]
    assert (len(lines), hashlib.sha256("".join(lines).encode()).hexdigest()) == ENCODERS[charset]


# Written by the same encoders: states of ISO-2022-JP, and the exceptions that the standard lists.
TEXTS = [
    ("ISO-2022-JP", "a\u65e5b\u672c", "a%1B$BF|%1B(Bb%1B$BK\\%1B(B"),
    ("ISO-2022-JP", "\xa5a\\~\u203eb", "%1B(J\\a%1B(B\\~%1B(J~b%1B(B"),
    ("ISO-2022-JP", "\u65e5\xe9\u672c", "%1B$BF|%1B(B%26%23233%3B%1B$BK\\%1B(B"),
    ("ISO-2022-JP", "\xa5\xe9\xa5", "%1B(J\\%26%23233%3B\\%1B(B"),
    ("ISO-2022-JP", "\u65e5\x0e\u672c", "%1B$BF|%1B(B%26%2365533%3B%1B$BK\\%1B(B"),
    ("ISO-2022-JP", "\uff71\uff9e\uff9f\u2212", "%1B$B%%22!+!,!]%1B(B"),
    ("ISO-2022-JP", "\u65e5\xa5\u65e5a", "%1B$BF|%1B(J\\%1B$BF|%1B(Ba"),
    (
        "gb18030",
        "\U00010000\U0010ffff\ue5e5\ufffd\u20ac\ue7c7",
        "%900%810%E32%9A5%26%2358853%3B%841%A47%A2%E3%815%F47",
    ),
    ("GBK", "\u20ac\ue5e5\U00020000\u9fb4\u9fff\ue81e", "%80%26%2358853%3B%26%23131072%3B%FEY%26%2340959%3B%FEY"),
    ("Big5", "\u5341\u5345\u2550\u3400\xca\u0304", "%A4Q%A4%CA%F9%F9%26%2313312%3B%26%23202%3B%26%23772%3B"),
    ("Shift_JIS", "\u2212\xa5\u203e\x80\uff71\u2460\u7e8a\u2235\xac", "%81|\\~%80%B1%87@%FA\\%81%E6%26%23172%3B"),
    ("EUC-JP", "\u2212\xa5\u203e\uff71\u2460\u7e8a\u4e02", "%A1%DD\\~%8E%B1%AD%A1%F9%A1%26%2319970%3B"),
    ("EUC-KR", "\uac00\ud7a3\ub620", "%B0%A1%C6R%8Cc"),
    ("windows-1252", "\x81\u20ac", "%81%80"),
    ("x-user-defined", "\uf780\xe9", "%80%26%23233%3B"),
    ("gb18030", "\ud800", "%841%A47"),
    ("ISO-2022-JP", "\\~\xa5\\", "\\~%1B(J\\%1B(B\\"),
]


@pytest.mark.parametrize(("charset", "text", "expected"), TEXTS)
def test_a_text_has_the_octets_of_the_standard(charset: str, text: str, expected: str) -> None:
    assert encode.href("?" + text, charset) == "?" + expected


def test_only_the_query_is_in_the_charset_of_the_page() -> None:
    assert encode.href("/é?é#é", "windows-1252") == "/é?%E9"
    assert encode.href("/é", "windows-1252") == "/é"


@pytest.mark.parametrize("charset", ["UTF-8", "UTF-16LE", "UTF-16BE", "replacement", ""])
def test_a_page_in_unicode_leaves_its_links_as_they_are(charset: str) -> None:
    assert encode.href("/?é", charset) == "/?é"


def test_what_the_url_parser_removes_is_not_escaped() -> None:
    assert encode.href(" \t/?a\tb\né ", "windows-1252") == "/?ab%E9"


def test_a_lone_surrogate_is_a_replacement_character() -> None:
    assert encode.href("?\ud800", "windows-1252") == "?%26%2365533%3B"


def test_queries_are_escaped_as_in_the_web_platform_tests() -> None:
    names = {charset.lower(): charset for charset in [*ENCODERS, "UTF-8"]}
    cases = json.loads(shared("conformance/wpt-url/percent-encoding.json").read_text("utf-8"))
    checked = 0
    for case in cases:
        for charset, expected in case["output"].items() if isinstance(case, dict) else ():
            if charset != "utf-8":
                (url,) = urls.join("http://a.org/", [encode.href("?" + case["input"], names[charset])])
                assert url is not None
                assert url.text == f"http://a.org/?{expected}", case
                checked += 1
    assert checked >= 9
