import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.corpus.segment import tokens


def parts(text: str, language: str = "") -> Iterator[tuple[str, bool]]:
    """Yield each token, and whether it follows the one before without a space."""
    glued = False
    for line in tokens.lines(text, language):
        if line is not tokens.GLUE:
            yield line, glued
        glued = line is tokens.GLUE


def shown(text: str, language: str = "") -> str:
    return " ".join(token for token, _ in parts(text, language))


def joined(text: str, language: str = "") -> str:
    found = ""
    for token, glued in parts(text, language):
        found += token if glued or not found else f" {token}"
    return found


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Das ist z.B. Nr. 5, usw.", "deu", "Das ist z.B. Nr. 5 , usw."),
        ("Am 12.11.2020 um 12:30 Uhr", "deu", "Am 12.11.2020 um 12:30 Uhr"),
        ("E-Mail-Adresse, Vor- und Nachteile", "deu", "E-Mail-Adresse , Vor - und Nachteile"),
        ("Jan Novák řekl: „Ano, tj. ne.“", "ces", "Jan Novák řekl : „ Ano , tj. ne . “"),
        ("3,141.59 or -5 or 10-20 or 2020-11-15", "eng", "3,141.59 or -5 or 10 - 20 or 2020-11-15"),
        ("J. R. R. Tolkien is in vitamin C.", "eng", "J. R. R. Tolkien is in vitamin C ."),
        ("the U.S.A. and e.g. this...", "eng", "the U.S.A. and e.g. this ..."),
        ("I don't; it's Tom's, we'll", "eng", "I do n't ; it 's Tom 's , we 'll"),
        ("don't", "und", "don't"),
        ("L'homme qu'il a vu aujourd'hui, c’est-à-dire", "fra", "L' homme qu' il a vu aujourd'hui , c’ est-à-dire"),
        ("dell'uomo", "ita", "dell' uomo"),
        ("see https://a.example/x?y=(1). Next", "eng", "see https://a.example/x?y=(1 ) . Next"),
        ("(www.example.de/a,b)", "deu", "( www.example.de/a,b )"),
        ("me.you@mail.example.org!", "eng", "me.you@mail.example.org !"),
        ("at example.com. Then", "eng", "at example.com . Then"),
        ("#wind @field COVID-19 H2O 1990s", "eng", "#wind @field COVID-19 H2O 1990s"),
        ("風吹過2 田野。", "zho", "風 吹 過 2 田 野 。"),
        ("東京はWindows", "jpn", "東 京 は Windows"),
        ("ภาษาไทย500บาท abcไทย", "tha", "ภา ษา ไท ย 500 บา ท abc ไท ย"),
        ("พ.ศ. 2560 #ไทยนี้", "tha", "พ.ศ. 2560 #ไทยนี้"),
        ("ភាសា\u200bខ្មែរ។ ក្នុង", "khm", "ភាសា\u200b ខ្មែរ ។ ក្នុ ង"),
        ("မြန်မာစကား။", "mya", "မြန် မာ စ ကား ။"),
        ("བཀྲ་ཤིས། བདེ", "bod", "བཀྲ་ ཤིས ། བདེ"),
        ("が\u3099ぎ田\ufe00 联系a@b.example", "jpn", "が\u3099 ぎ 田\ufe00 联 系 a@b.example"),
        ("한국어는 띄어쓰기", "kor", "한국어는 띄어쓰기"),
        ("Modern art. See No. 5 and p. 7, vol. 2.", "eng", "Modern art . See No. 5 and p. 7 , vol. 2 ."),
        ("यह हिन्दी में है।", "hin", "यह हिन्दी में है ।"),
        ("می‌خواهم بروم؟", "fas", "می‌خواهم بروم ؟"),
        ("👨‍👩‍👧👍🏽 🇩🇪", "und", "👨‍👩‍👧 👍🏽 🇩🇪"),
        ("Schiff\u00adfahrt e\u0301te\u0301", "deu", "Schiff\u00adfahrt e\u0301te\u0301"),
        ("Why?!! <b> & -- 'so'", "eng", "Why ? !! < b > & -- ' so '"),
        ("", "eng", ""),
    ],
)
def test_a_text_is_split_into_words_and_signs(text: str, language: str, expected: str) -> None:
    assert shown(text, language) == expected


def test_glue_stands_where_there_was_no_space() -> None:
    assert tokens.lines("Ja, z.B. (so).", "deu") == [
        "Ja",
        "<g/>",
        ",",
        "z.B.",
        "(",
        "<g/>",
        "so",
        "<g/>",
        ")",
        "<g/>",
        ".",
    ]


def test_a_segmenter_gets_the_run_and_its_language() -> None:
    calls: list[tuple[str, str]] = []

    def cut(run: str, language: str) -> list[str]:
        calls.append((run, language))
        return [run[:2], run[2:]]

    assert tokens.lines("我们在 ok ภาษา", "zho", cut) == ["我们", "<g/>", "在", "ok", "ภา", "<g/>", "ษา"]
    assert calls == [("我们在", "zho"), ("ภาษา", "zho")]


@given(st.text(), st.sampled_from(["eng", "fra", "deu", "zho", ""]))
def test_tokens_joined_by_the_glue_give_the_text(text: str, language: str) -> None:
    plain = " ".join(text.split())
    assert joined(plain, language) == plain
    assert all(token and not re.search(r"\s", token) for token, _ in parts(plain, language))


@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "Dr.",
                "U.S.",
                "l'",
                "1",
                ".",
                ",",
                " ",
                "-",
                "http://",
                "x.com",
                "'s",
                "’",
                "@",
                "é",
                "के",
                "風",
                "ไ",
                "ทย",
                "ខ្",
                "\u200b",
                "།",
                "་",
                "ཀ",
            ]
        )
    )
)
def test_tokens_of_language_like_text_joined_by_the_glue_give_the_text(pieces: list[str]) -> None:
    plain = " ".join("".join(pieces).split())
    for language in ("eng", "fra", "und"):
        assert joined(plain, language) == plain


@pytest.mark.parametrize(
    "piece",
    [
        "1:",
        "a.a.",
        "www.)",
        "a@",
        "-",
        "a.b",
        "1",
        "'",
        "a-",
        "a'",
        "x.com/",
        "a-b.",
        "http://",
        "1,1.",
        "aaaaaaaaaaaaaaaa.",
        "風",
        "ก",
        "་ཀ",
        "#के",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece)) + "a"
    assert joined(text, "eng") == text
