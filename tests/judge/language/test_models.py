"""A model that the user trained: its own language is found, and no text of a known language is claimed."""

from pathlib import Path

import pytest

from tests.judge import declarations
from tests.shared import shared
from windrow.config import LanguageOptions
from windrow.jobs.lm import languages
from windrow.judge.language import detect, trigrams
from windrow.judge.language.settings import LanguageSettings, prepare

LISTS = {
    "contents": [
        *("Table of contents", "1. Introduction to the system", "2. Getting started with the editor"),
        *("2.1 Installing the software package", "3. Advanced configuration options and settings"),
        *("4. Frequently asked questions about printing", "Appendix A: List of keyboard shortcuts"),
        "Index of all commands and functions of the program",
    ],
    "navigation": [
        *("Home", "About us", "Contact", "Products and services", "Privacy policy", "Terms of use"),
        *("Subscribe to our newsletter", "Skip navigation links", "Overview", "Follow us on social media"),
    ],
    "german contents": [
        *("Inhaltsverzeichnis", "1. Einleitung in das System", "2. Erste Schritte mit dem Editor"),
        *("3. Erweiterte Einstellungen und Optionen", "4. Häufig gestellte Fragen zum Drucken"),
    ],
    "names": [
        "Jan Novák, Petr Svoboda, Karel Dvořák, Marie Černá, Anna Nováková",
        "Hans Müller, Peter Schmidt, Karl Wagner, Maria Fischer, Anna Weber",
        "Berlin, Hamburg, München, Köln, Frankfurt, Stuttgart, Düsseldorf, Leipzig",
    ],
    "numbers": ["1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12", "Tel. +49 30 123456, Fax +49 30 123457", "100 EUR 12:00"],
    "code": ["public static void main(String[] args)", "int getColumnCount()", "java.lang.Object"],
}


def with_model(code: str, texts: list[str], place: Path) -> LanguageSettings:
    path = place / f"{code}.json"
    trigrams.write(trigrams.train(code, "\n".join(texts)), path)
    return prepare(LanguageOptions(models=(str(path),)))


@pytest.fixture(scope="module")
def finnish(tmp_path_factory: pytest.TempPathFactory) -> LanguageSettings:
    """Return the settings with a model of Finnish under a private code."""
    return with_model("qaf", declarations.shipped("fi")[:40], tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("name", LISTS)
def test_lists_names_numbers_and_code_are_not_in_the_language_of_a_model(name: str, finnish: LanguageSettings) -> None:
    found = detect.detect(LISTS[name], finnish)
    assert "qaf" not in (found.language, *found.paragraphs)


@pytest.mark.parametrize("short", ["en", "de", "cs", "pl", "fr", "es", "tr", "ru", "ja"])
def test_text_of_known_languages_is_not_claimed_however_short(short: str, finnish: LanguageSettings) -> None:
    pieces = [text[:length] for text in declarations.shipped(short) for length in (30, 60, 120)]
    assert all(detect.detect([piece], finnish).language != "qaf" for piece in pieces)


def test_text_in_the_language_of_the_model_is_found_with_a_high_score(finnish: LanguageSettings) -> None:
    own = declarations.shipped("fi")[45:]
    found = detect.detect(own, finnish)
    assert (found.language, set(found.paragraphs)) == ("qaf", {"qaf"})
    assert found.score >= 0.9
    alone = [detect.detect([text], finnish).language for text in own if len(text) >= 40]
    assert alone.count("qaf") >= 0.95 * len(alone)


@pytest.mark.parametrize(("code", "name"), [("hsb", "hsb"), ("cos", "cos"), ("vec", "vec"), ("qas", "slk")])
def test_a_model_leaves_similar_and_other_known_languages_alone(code: str, name: str, tmp_path: Path) -> None:
    texts = declarations.translations(shared("conformance/udhr.tar.xz"))
    settings = with_model(
        code, [text for number, part in enumerate(texts[name]) if number % 3 != 2 for text in part], tmp_path
    )
    own = [text for number, part in enumerate(texts[name]) if number % 3 == 2 for text in part if len(text) >= 40]
    found = [detect.detect([text], settings).language for text in own]
    assert found.count(code) >= 0.9 * len(found)
    others = [
        text[:120]
        for other in ("eng", "deu_1996", "ces", "pol", "ita", "spa")
        for part in texts[other]
        for text in part
    ]
    claimed = [text for text in others if detect.detect([text], settings).language == code]
    assert len(claimed) <= 0.005 * len(others)
    for lines in LISTS.values():
        assert code not in detect.detect(lines, settings).paragraphs


def test_training_says_which_language_the_sample_is_taken_for(tmp_path: Path) -> None:
    sample = tmp_path / "sample.txt"
    sample.write_text("\n".join(declarations.shipped("fi")[:40]))
    said = languages.train("qaf", [str(sample)], tmp_path / "qaf.json")
    assert "of the sample for Finnish: to tell the two apart, train a model of Finnish (fin) too" in said
    assert trigrams.read(tmp_path / "qaf.json").cld2["fin"] > 0.9
    assert "\n" not in languages.train("fin", [str(sample)], tmp_path / "fin.json")
