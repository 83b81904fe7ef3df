"""Every usual way to write a language gives one code; an unknown one gives an error with a suggestion."""

import pytest

from windrow.config import ConfigError
from windrow.judge.language import codes


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ces", "ces"),
        ("cs", "ces"),
        ("CS", "ces"),
        (" cs ", "ces"),
        ("cze", "ces"),
        ("Czech", "ces"),
        ("czech", "ces"),
        ("cs-CZ", "ces"),
        ("cs_CZ.UTF-8", "ces"),
        ("Deutsch", "deu"),
        ("Čeština", "ces"),
        ("日本語", "jpn"),
        ("Upper Sorbian", "hsb"),
        ("upper_sorbian", "hsb"),
        ("Greek", "ell"),
        ("Modern Greek", "ell"),
        ("grc", "grc"),
        ("zh", "zho"),
        ("chi", "zho"),
        ("zh-Hant", "zho"),
        ("zh-Hant-TW", "zho"),
        ("zh-yue", "yue"),
        ("zh-cmn-Hans", "cmn"),
        ("Mandarin", "cmn"),
        ("no", "nor"),
        ("nb", "nob"),
        ("nn-NO", "nno"),
        ("sr-Latn-RS", "srp"),
        ("sr-ME", "cnr"),
        ("sh", "hbs"),
        ("bs", "bos"),
        ("ms", "msa"),
        ("id", "ind"),
        ("iw", "heb"),
        ("jw", "jav"),
        ("mo", "ron"),
        ("ajp", "apc"),
        ("en-x-mtfrom-de", "eng"),
        ("qaa", "qaa"),
        ("qtz", "qtz"),
        ("und", "und"),
    ],
)
def test_each_name_of_a_language_gives_its_code(text: str, code: str) -> None:
    assert codes.parse(text) == code


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        ("cz", "'ces' (Czech)"),
        ("jp", "'jpn' (Japanese)"),
        ("germn", "'deu' (German)"),
        ("Slovakk", "'slk' (Slovak)"),
        ("Portugese", "'por' (Portuguese)"),
        ("Uper Sorbian", "'hsb' (Upper Sorbian)"),
        ("xx", "'xho' (Xhosa)"),
    ],
)
def test_the_error_for_an_unknown_language_names_the_nearest_one(text: str, suggested: str) -> None:
    with pytest.raises(ConfigError) as raised:
        codes.parse(text)
    assert repr(text) in str(raised.value)
    assert f"did you mean {suggested}?" in str(raised.value)


@pytest.mark.parametrize(
    "text",
    ["", "x", "123", "ces ces ces", "qua1", "quz z", "ces-", "-cs", "cs--CZ", "zz", "q\u00e4a", "\0", "cs-\ud800"],
)
def test_a_text_that_names_no_language_is_rejected(text: str) -> None:
    assert codes.find(text) is None
    with pytest.raises(ConfigError):
        codes.parse(text)


@pytest.mark.parametrize(
    ("wanted", "found", "covered"),
    [
        ("ces", "ces", True),
        ("ces", "slk", False),
        ("nor", "nob", True),
        ("nor", "nno", True),
        ("nob", "nno", False),
        ("nob", "dan", False),
        ("zho", "yue", True),
        ("cmn", "zho", True),
        ("yue", "zho", False),
        ("hbs", "srp", True),
        ("hrv", "srp", False),
        ("msa", "zsm", True),
        ("msa", "ind", False),
        ("ind", "msa", False),
        ("zsm", "msa", True),
        ("ara", "arz", True),
        ("arb", "ara", True),
        ("est", "ekk", True),
        ("ces", "und", False),
        ("und", "ces", False),
        ("", "ces", False),
    ],
)
def test_a_macrolanguage_covers_the_languages_that_people_mean_by_it(wanted: str, found: str, covered: bool) -> None:
    assert codes.covers(wanted, found) is covered


@pytest.mark.parametrize(
    ("label", "code"),
    [("no", "nob"), ("zh-Hant", "zho"), ("iw", "heb"), ("un", "und"), ("zxx", "und"), ("xx-Goth", "got")],
)
def test_the_labels_of_the_tools_give_codes(label: str, code: str) -> None:
    assert codes.label(label) == code


def test_the_table_of_languages_is_complete() -> None:
    table = codes.table()
    assert len(table) > 7900
    assert sum(bool(language.short) for language in table.values()) == 184
    assert all(len(language.code) == 3 and language.names[0] for language in table.values())
    assert {language.macro for language in table.values() if language.macro} <= set(table)
    assert len({language.short for language in table.values() if language.short}) == 184


def test_a_code_gives_its_name_and_its_two_letter_code() -> None:
    assert (codes.name("ces"), codes.short("ces"), codes.short("hsb")) == ("Czech", "cs", "hsb")
    assert (codes.name("und"), codes.name("qaa"), codes.short("qaa")) == ("unknown", "qaa", "qaa")
