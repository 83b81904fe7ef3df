"""The judges together: the first refusal is the reason, and the scores of all are there."""

import dataclasses

import pytest

from tests.judge import declarations
from windrow import config
from windrow.config import Config, ConfigError
from windrow.data import Page, Paragraph, Reason, Signal
from windrow.dedup import ngrams
from windrow.judge.language import detect
from windrow.judge.pages import Judge

GERMAN, ENGLISH = declarations.shipped("de")[2:14], declarations.shipped("en")[2:14]


def made(**sections: dict[str, object]) -> Config:
    chosen = {name: dataclasses.replace(getattr(Config(), name), **options) for name, options in sections.items()}  # type: ignore[arg-type]
    return dataclasses.replace(Config(), **chosen)  # type: ignore[arg-type]


def page(texts: list[str], **fields: object) -> Page:
    menu = Paragraph("Home | About | Contact", "bad")
    return Page(paragraphs=(menu, *(Paragraph(text, path="html.body.p") for text in texts)), **fields)  # type: ignore[arg-type]


def octets(texts: list[str]) -> int:
    return sum(len(text.encode()) for text in texts)


def test_a_page_of_prose_is_kept_with_its_language_scores_and_ngrams() -> None:
    ruling = Judge(Config())(page(GERMAN), [])
    verdict = ruling.verdict
    assert (verdict.reason, verdict.detail, verdict.language) == (Reason.OK, "", "deu")
    assert [paragraph.text for paragraph in ruling.paragraphs] == GERMAN
    assert set(ruling.languages) == {"deu"} and len(ruling.languages) == len(GERMAN)
    assert verdict.clean == verdict.primary == octets(GERMAN)
    assert verdict.digest == ngrams.text_key(GERMAN)
    assert ruling.grams == ngrams.grams(GERMAN)
    expected = {
        "language",
        "good",
        "characters",
        "words",
        "letters",
        "digits",
        "symbols",
        "sentences",
        "repeated_lines",
        "repeated_words",
    }
    assert expected <= set(verdict.scores)
    assert all(score == round(score, 4) for score in verdict.scores.values())


def test_a_page_without_a_good_paragraph_has_no_text_whatever_it_asks_for() -> None:
    ruling = Judge(Config())(page([]), [("X-Robots-Tag", "noindex")])
    assert (ruling.verdict.reason, ruling.verdict.clean, ruling.grams) == (Reason.NO_TEXT, 0, None)
    assert ruling.signals == (Signal("header", "noindex", "", "X-Robots-Tag"),)


def test_foreign_paragraphs_are_dropped_and_counted() -> None:
    texts = [*GERMAN[:8], *ENGLISH[:2]]
    ruling = Judge(made(language={"accepted": ("deu", "fra")}))(page(texts), [])
    assert [paragraph.text for paragraph in ruling.paragraphs] == GERMAN[:8]
    assert ruling.languages == ("deu",) * 8
    assert ruling.verdict.scores["foreign"] == 2
    assert 0.5 < ruling.verdict.scores["accepted"] < 1
    assert ruling.verdict.clean == octets(texts)
    assert ruling.verdict.primary == octets(GERMAN[:8])
    assert ruling.verdict.digest == ngrams.text_key(GERMAN[:8])
    assert ruling.grams == ngrams.grams(GERMAN[:8])


def test_a_page_in_another_language_is_refused_with_all_its_scores() -> None:
    ruling = Judge(made(language={"accepted": ("ces",)}))(page(GERMAN), [])
    verdict = ruling.verdict
    assert (verdict.reason, verdict.language, verdict.primary, verdict.digest) == (Reason.LANGUAGE, "deu", 0, 0)
    assert verdict.clean == octets(GERMAN)
    assert verdict.scores["accepted"] == 0.0 and verdict.scores["letters"] > 0.9
    assert (ruling.paragraphs, ruling.languages, ruling.grams) == ((), (), None)


def test_what_an_author_reserves_is_refused_by_name_and_recorded() -> None:
    ruling = Judge(Config())(page(GERMAN, metas=(("robots", "noai"),), licence="https://example.org/by"), [])
    assert (ruling.verdict.reason, ruling.verdict.detail) == (Reason.OPTED_OUT, "noai (meta: robots)")
    assert ruling.verdict.language == "deu"
    assert [signal.name for signal in ruling.signals] == ["noai", "license"]
    kept = Judge(made(signals={"profile": "record-only"}))(page(GERMAN, metas=(("robots", "noai"),)), [])
    assert kept.verdict.reason is Reason.OK and len(kept.signals) == 1


def test_what_is_no_running_text_is_refused_by_the_name_of_the_bound() -> None:
    ruling = Judge(Config())(page(["Nicht gefunden."]), [])
    assert (ruling.verdict.reason, ruling.verdict.detail) == (Reason.QUALITY, "short")


@pytest.mark.parametrize(
    "fields",
    [
        {"language": "de-x-mtfrom-en"},
        {"metas": (("html class", "translated-ltr"),)},
        {"metas": (("x-translated-by", "Google"),)},
    ],
)
def test_machine_translations_are_refused_or_marked(fields: dict[str, object]) -> None:
    refused = Judge(Config())(page(GERMAN, **fields), [])
    assert refused.verdict.reason is Reason.MACHINE_TRANSLATED
    marked = Judge(made(quality={"drop_machine_translations": False}))(page(GERMAN, **fields), [])
    assert marked.verdict.reason is Reason.OK and marked.verdict.scores["machine_translated"] == 1.0


def test_the_first_refusal_is_the_reason_and_the_last_judge_asked_if_so_wished() -> None:
    reserved = page(["Kurz."], metas=(("robots", "noindex"),))
    whole = Judge(made(language={"accepted": ("eng",)}))(reserved, [])
    assert whole.verdict.reason is Reason.OPTED_OUT and {"language", "letters"} <= set(whole.verdict.scores)
    early = Judge(made(language={"accepted": ("eng",)}, judge={"stop_early": True}))(reserved, [])
    assert early.verdict.reason is Reason.OPTED_OUT and early.verdict.scores == {}
    assert early.verdict.clean == whole.verdict.clean == 5


def test_near_duplicates_are_prepared_only_where_they_are_looked_for() -> None:
    assert Judge(made(judge={"near_duplicates": False}))(page(GERMAN), []).grams is None
    assert Judge(made(judge={"ngram": 3}))(page(GERMAN), []).grams == ngrams.grams(GERMAN, 3)


def test_an_unknown_language_is_told_before_the_crawl_begins() -> None:
    with pytest.raises(ConfigError, match="did you mean 'ces'"):
        Judge(dataclasses.replace(Config(), language=config.Language(accepted=("cz",))))


def test_a_page_too_short_to_be_kept_gets_no_second_opinion_on_its_language(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(detect, "_py3langid", lambda text, settings: asked.append(text) or ("deu", 1.0))
    Judge(Config())(page(["Die Seite wird geladen, bitte warten."]), [])
    assert asked == []
    Judge(made(quality={"min_characters": 10}))(page(["Die Seite wird geladen, bitte warten."]), [])
    assert asked == ["Die Seite wird geladen, bitte warten."]
