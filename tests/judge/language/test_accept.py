"""Which paragraphs are kept, by their language."""

import pytest

from windrow.config import Config, LanguageOptions
from windrow.judge import Facts
from windrow.judge.language import accept
from windrow.judge.language.detect import Finding
from windrow.judge.language.settings import LanguageSettings
from windrow.records import Page, Reason

MIXED = Finding(
    "ces", {"ces": 0.7, "slk": 0.2, "eng": 0.1}, ("ces", "slk", "ces", "eng"), (1.0, 1.0, 0.5, 1.0), (60, 20, 10, 10)
)
GERMAN = "Alle Menschen sind frei und gleich an Würde und Rechten geboren."
ENGLISH = "All human beings are born free and equal in dignity and rights."


@pytest.mark.parametrize(
    ("accepted", "dropped"),
    [((), ()), (("ces",), (1, 3)), (("ces", "slk"), (3,)), (("slk",), (0, 1, 2, 3))],
)
def test_a_paragraph_in_a_similar_language_is_recognised_and_dropped(
    accepted: tuple[str, ...], dropped: tuple[int, ...]
) -> None:
    found = accept.accept(MIXED, LanguageSettings(accepted=accepted))
    assert found.dropped == dropped
    assert found.enough is (len(dropped) < 4)


def test_a_page_with_too_small_a_share_in_accepted_languages_is_dropped_whole() -> None:
    assert not accept.accept(MIXED, LanguageSettings(accepted=("ces",), min_share=0.75)).enough
    assert accept.accept(MIXED, LanguageSettings(accepted=("slk",), min_share=0.2)).dropped == (0, 2, 3)
    unknown = Finding("und", {}, (), (), ())
    assert not accept.accept(unknown, LanguageSettings(accepted=("ces",), min_share=0.0)).enough


def test_a_macrolanguage_accepts_its_members() -> None:
    found = Finding("nob", {"nob": 0.8, "nno": 0.2}, ("nob", "nno"), (1.0, 1.0), (80, 20))
    assert accept.accept(found, LanguageSettings(accepted=("nor",))).dropped == ()
    assert accept.accept(found, LanguageSettings(accepted=("nob",))).dropped == (1,)


def test_the_judge_labels_the_page_and_drops_foreign_paragraphs() -> None:
    facts = Facts(url="", texts=[GERMAN, GERMAN, ENGLISH])
    ruling = accept.build(Config(language=LanguageOptions(accepted=("deu",))))(Page(), facts)
    assert (ruling.reason, ruling.language, tuple(ruling.languages)) == (Reason.OK, "deu", ("deu", "deu", "eng"))
    assert (tuple(ruling.dropped), ruling.scores["foreign"]) == ((2,), 1)
    rejected = accept.build(Config(language=LanguageOptions(accepted=("ces",))))(Page(), facts)
    assert (rejected.reason, rejected.detail) == (Reason.LANGUAGE, "deu, 0% in the accepted languages")
    assert (tuple(rejected.dropped), rejected.scores["foreign"]) == ((), 3)


def test_the_language_is_that_of_the_paragraphs_that_stay_and_the_score_their_share_in_it() -> None:
    page = Finding(
        "eng", {"eng": 0.4, "deu": 0.35, "ces": 0.25}, ("eng", "deu", "ces"), (1.0, 0.8, 1.0), (400, 350, 250)
    )
    found = accept.accept(page, LanguageSettings(accepted=("ces", "deu")))
    assert (found.dropped, found.language) == ((0,), "deu")  # most of what stays, not the first accepted
    assert found.score == pytest.approx(0.8 * 350 / 600)
    every = accept.accept(page, LanguageSettings())
    assert (every.dropped, every.language, every.score) == ((), "eng", pytest.approx(0.4))
    refused = accept.accept(page, LanguageSettings(accepted=("fra",)))
    assert (refused.enough, refused.language) == (False, "eng")


def test_the_ruling_names_the_language_of_the_page_if_it_is_another() -> None:
    facts = Facts(url="", texts=[*[ENGLISH] * 3, *[GERMAN] * 2])
    judge = accept.build(Config(language=LanguageOptions(accepted=("ces", "deu"), min_share=0.3)))
    ruling = judge(Page(), facts)
    assert (ruling.reason, ruling.language, ruling.page_language) == (Reason.OK, "deu", "eng")
    assert ruling.scores["language"] >= 0.9
    alone = accept.build(Config())(Page(), Facts(url="", texts=[GERMAN]))
    assert (alone.language, alone.page_language) == ("deu", "")


# Croatian and Serbian: no word of it belongs to one of them only.
EITHER = "Vlada je danas usvojila zakon o porezu, a ministar je rekao da je to dobra odluka za sve ljude u gradu."


@pytest.mark.parametrize(
    ("language", "header", "expected"), [("", "sr", "srp"), ("sr", "hr", "srp"), ("", "hr", "hrv")]
)
def test_the_language_may_be_declared_in_the_page_or_in_its_header(language: str, header: str, expected: str) -> None:
    judge = accept.build(Config())
    facts = Facts(url="http://a.example/", texts=(EITHER,), headers=[("Content-Language", header)])
    assert judge(Page(language=language), facts).language == expected


def test_a_header_for_readers_of_several_languages_declares_none() -> None:
    headers = [("content-language", "hr, en")]
    judge = accept.build(Config())
    alone, several = (Facts(url="http://a.example/", texts=(EITHER,), headers=given) for given in ([], headers))
    assert judge(Page(), several).language == judge(Page(), alone).language
