"""All judges together: the first rejection is the reason, all scores are kept, and a user's judge takes part."""

import dataclasses
import re
from pathlib import Path

import pytest

from tests.judge import declarations
from windrow import config
from windrow.config import Config, ConfigError
from windrow.judge import JUDGES, Facts, Ruling, soft404
from windrow.judge.language import tools
from windrow.judge.panel import Judged, Panel
from windrow.judge.ruling import Headers
from windrow.records import Page, Paragraph, Reason, Signal

GERMAN, ENGLISH = declarations.shipped("de")[2:14], declarations.shipped("en")[2:14]
URL = "http://site.test/"


def made(**sections: dict[str, object]) -> Config:
    chosen = {name: dataclasses.replace(getattr(Config(), name), **options) for name, options in sections.items()}  # type: ignore[arg-type]
    return dataclasses.replace(Config(), **chosen)  # type: ignore[arg-type]


def page(texts: list[str], **fields: object) -> Page:
    menu = Paragraph("Home | About | Contact", "bad")
    return Page(paragraphs=(menu, *(Paragraph(text, path="html.body.p") for text in texts)), **fields)  # type: ignore[arg-type]


def judge(one: Page, options: Config | None = None, headers: Headers = (), sketch: str = "") -> Judged:
    return Panel(options or Config())(one, URL, headers, sketch)


def octets(texts: list[str]) -> int:
    return sum(len(text.encode()) for text in texts)


def test_a_page_of_prose_is_kept_with_its_language_and_scores() -> None:
    judged = judge(page(GERMAN))
    verdict = judged.verdict
    assert (verdict.reason, verdict.detail, verdict.language) == (Reason.OK, "", "deu")
    assert [paragraph.text for paragraph in judged.paragraphs] == GERMAN
    assert set(judged.languages) == {"deu"} and len(judged.languages) == len(GERMAN)
    assert verdict.clean == verdict.primary == octets(GERMAN)
    shares = {"letters", "digits", "symbols", "sentences", "repeated_lines", "repeated_words"}
    assert {"language", "good", "characters", "words", *shares} <= set(verdict.scores)
    assert all(score == round(score, 4) for score in verdict.scores.values())


def test_a_page_without_a_good_paragraph_has_no_text_whatever_its_signals() -> None:
    judged = judge(page([]), headers=[("X-Robots-Tag", "noindex")])
    assert (judged.verdict.reason, judged.verdict.clean, judged.paragraphs) == (Reason.NO_TEXT, 0, ())
    assert judged.signals == (Signal("header", "noindex", "", "X-Robots-Tag"),)


def test_comments_are_kept_like_good_paragraphs() -> None:
    judged = judge(Page(paragraphs=(Paragraph("Home", "bad"), *(Paragraph(text, "comment") for text in GERMAN))))
    assert judged.verdict.reason is Reason.OK
    assert [(paragraph.text, paragraph.kind) for paragraph in judged.paragraphs] == [
        (text, "comment") for text in GERMAN
    ]
    assert judged.verdict.scores["good"] > 0.9


def test_foreign_paragraphs_are_dropped_and_counted() -> None:
    texts = [*GERMAN[:8], *ENGLISH[:2]]
    judged = judge(page(texts), made(language={"accepted": ("deu", "fra")}))
    assert [paragraph.text for paragraph in judged.paragraphs] == GERMAN[:8]
    assert judged.languages == ("deu",) * 8
    assert judged.verdict.scores["foreign"] == 2
    assert 0.5 < judged.verdict.scores["accepted"] < 1
    assert judged.verdict.clean == octets(texts)
    assert judged.verdict.primary == octets(GERMAN[:8])


def test_a_page_in_another_language_is_rejected_with_all_its_scores() -> None:
    judged = judge(page(GERMAN), made(language={"accepted": ("ces",)}))
    verdict = judged.verdict
    assert (verdict.reason, verdict.language, verdict.primary) == (Reason.LANGUAGE, "deu", 0)
    assert verdict.clean == octets(GERMAN)
    assert verdict.scores["accepted"] == 0.0 and verdict.scores["letters"] > 0.9
    assert (judged.paragraphs, judged.languages) == ((), ())


def test_a_page_that_its_author_reserves_is_rejected_with_the_name_of_the_signal() -> None:
    judged = judge(page(GERMAN, metas=(("robots", "noai"),), licence="https://example.org/by"))
    assert (judged.verdict.reason, judged.verdict.detail) == (Reason.OPTED_OUT, "noai (meta: robots)")
    assert judged.verdict.language == "deu"
    assert [signal.name for signal in judged.signals] == ["noai", "license"]
    kept = judge(page(GERMAN, metas=(("robots", "noai"),)), made(signals={"profile": "record-only"}))
    assert kept.verdict.reason is Reason.OK and len(kept.signals) == 1


def test_a_page_too_short_is_rejected_with_the_name_of_the_limit() -> None:
    judged = judge(page(["Nicht gefunden."]))
    assert (judged.verdict.reason, judged.verdict.detail) == (Reason.QUALITY, "short")


@pytest.mark.parametrize(
    "fields",
    [
        {"language": "de-x-mtfrom-en"},
        {"metas": (("html class", "translated-ltr"),)},
        {"metas": (("x-translated-by", "Google"),)},
    ],
)
def test_machine_translations_are_rejected_or_scored(fields: dict[str, object]) -> None:
    rejected = judge(page(GERMAN, **fields))
    assert rejected.verdict.reason is Reason.MACHINE_TRANSLATED
    scored = judge(page(GERMAN, **fields), made(quality={"drop_machine_translations": False}))
    assert scored.verdict.reason is Reason.OK and scored.verdict.scores["machine_translated"] == 1.0


def test_a_soft_404_page_is_reported_as_one_whatever_else_is_wrong_with_it() -> None:
    sketch = soft404.sketch(page(GERMAN))
    foreign = made(language={"accepted": ("ces",)})
    for one in (page(GERMAN), page(GERMAN, metas=(("robots", "noindex"),))):
        judged = judge(one, foreign, sketch=sketch)
        assert (judged.verdict.reason, judged.verdict.scores["soft_404"]) == (Reason.SOFT_404, 1.0)
        assert judged.verdict.language == "deu" and judged.verdict.clean == octets(GERMAN)
    menu = Page(paragraphs=(Paragraph("Seite nicht gefunden", "bad"),))
    assert judge(menu, sketch=soft404.sketch(menu)).verdict.reason is Reason.SOFT_404
    assert judge(page(ENGLISH), sketch=sketch).verdict.scores["soft_404"] < 0.1


def test_the_first_rejection_is_the_reason_and_stop_early_skips_the_later_judges() -> None:
    reserved = page(["Kurz."], metas=(("robots", "noindex"),))
    whole = judge(reserved, made(language={"accepted": ("eng",)}))
    assert whole.verdict.reason is Reason.OPTED_OUT and {"language", "letters"} <= set(whole.verdict.scores)
    early = judge(reserved, made(language={"accepted": ("eng",)}, judge={"stop_early": True}))
    assert early.verdict.reason is Reason.OPTED_OUT and early.verdict.scores == {}
    assert early.verdict.clean == whole.verdict.clean == 5


def test_an_unknown_language_is_reported_before_the_crawl_begins() -> None:
    with pytest.raises(ConfigError, match="did you mean 'ces'"):
        Panel(dataclasses.replace(Config(), language=config.LanguageOptions(accepted=("cz",))))


def test_py3langid_is_not_asked_about_a_page_too_short_to_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(tools, "py3langid", lambda text, recognised: asked.append(text) or ("deu", 1.0))
    judge(page(["Die Seite wird geladen, bitte warten."]))
    assert asked == []
    judge(page(["Die Seite wird geladen, bitte warten."]), made(quality={"min_characters": 10}))
    assert asked == ["Die Seite wird geladen, bitte warten."]


def test_every_built_in_judge_is_made_from_the_options_and_returns_a_ruling() -> None:
    for row in JUDGES.values():
        assert isinstance(row.build(Config(), None)(page(GERMAN), Facts(url=URL, texts=GERMAN)), Ruling)


def shouting(page: Page, facts: Facts) -> Ruling:
    """A user's judge: scores exclamation marks, drops paragraphs of one word, rejects a page of shouting."""
    text = " ".join(facts.kept)
    score = text.count("!") / len(text)
    dropped = [place for place, one in enumerate(facts.texts) if " " not in one]
    if score < 0.02:
        return Ruling(scores={"shouting": score}, dropped=dropped)
    return Ruling(scores={"shouting": score}, reason=Reason.QUALITY, detail="shouting", dropped=dropped)


def borrowed(page: Page, facts: Facts) -> Ruling:
    return Ruling(scores={"letters": 1.0})


def endless(page: Page, facts: Facts) -> Ruling:
    return Ruling(scores={"endless": float("inf"), "finite": 1})


def nothing(page: Page, facts: Facts) -> None:
    return None


def nobody(page: Page, facts: Facts) -> Ruling:
    return Ruling(dropped=range(len(facts.texts)))


def beyond(page: Page, facts: Facts) -> Ruling:
    return Ruling(dropped=[len(facts.texts)])


def monoglot(page: Page, facts: Facts) -> Ruling:
    return Ruling(languages=["deu"])


def own(name: str, **sections: dict[str, object]) -> Config:
    return made(judge={"judges": (f"{__name__}:{name}",)}, **sections)


def test_a_users_judge_gives_scores_drops_paragraphs_and_rejects_pages() -> None:
    kept = judge(page([*GERMAN, "Inhaltsverzeichnis"]), own("shouting"))
    assert (kept.verdict.reason, kept.verdict.scores["shouting"]) == (Reason.OK, 0.0)
    assert [paragraph.text for paragraph in kept.paragraphs] == GERMAN
    rejected = judge(page([text.replace(" ", "! ") for text in GERMAN]), own("shouting"))
    assert (rejected.verdict.reason, rejected.verdict.detail) == (Reason.QUALITY, "shouting")
    assert rejected.verdict.scores["shouting"] > 0.1


def test_a_users_judge_runs_after_the_built_in_ones_and_sees_what_they_found() -> None:
    judged = judge(page([*GERMAN, *ENGLISH[:1]]), own("shouting", language={"accepted": ("deu",)}))
    assert list(judged.verdict.scores)[-1] == "shouting"
    assert judge(page([]), own("shouting")).verdict.reason is Reason.NO_TEXT


def test_a_page_of_which_the_judges_drop_every_paragraph_is_rejected() -> None:
    judged = judge(page(GERMAN), own("nobody"))
    assert (judged.verdict.reason, judged.verdict.detail) == (Reason.QUALITY, "the judges dropped every paragraph")


def test_a_score_that_json_cannot_hold_is_left_out() -> None:
    scores = judge(page(GERMAN), own("endless")).verdict.scores
    assert scores["finite"] == 1.0 and "endless" not in scores


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("borrowed", "two judges give the score 'letters'"),
        ("nothing", "nothing' returned NoneType, not a Ruling"),
        ("beyond", "beyond' drops paragraphs that `facts.texts` does not have"),
        ("monoglot", "monoglot' must give one language for each"),
    ],
)
def test_a_users_judge_that_breaks_its_contract_is_named(name: str, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        judge(page(GERMAN), own(name))


@pytest.mark.parametrize(
    ("reference", "message"),
    [("no_such_module:judge", "judge.judges.*no module"), (f"{__name__}:URL", "judge.judges.*not a function")],
)
def test_a_reference_that_names_no_judge_is_reported_before_the_crawl_begins(reference: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Panel(made(judge={"judges": (reference,)}))


def test_the_judge_of_the_documentation_works(tmp_path: Path) -> None:
    document = (Path(__file__).parents[2] / "docs" / "language.md").read_text("utf-8")
    [source] = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    (tmp_path / "shouting.py").write_text(source, "utf-8")
    options = made(judge={"judges": (f"{tmp_path}/shouting:judge",)})
    assert judge(page(GERMAN), options).verdict.scores["shouting"] == 0.0
    loud = judge(page([text.replace(" ", "! ") for text in GERMAN]), options)
    assert (loud.verdict.reason, loud.verdict.detail) == (Reason.QUALITY, "shouting")


def test_a_document_has_the_language_of_its_kept_text_and_the_page_its_own() -> None:
    texts = [*ENGLISH[:9], *GERMAN[:4]]
    judged = judge(page(texts), made(language={"accepted": ("ces", "deu"), "min_share": 0.3}))
    assert (judged.verdict.reason, judged.verdict.language, judged.verdict.page_language) == (Reason.OK, "deu", "eng")
    assert set(judged.languages) == {"deu"}
    rejected = judge(page(texts), made(language={"accepted": ("ces",)})).verdict
    assert (rejected.reason, rejected.language, rejected.page_language) == (Reason.LANGUAGE, "eng", "")


def without_german(page: Page, facts: Facts) -> Ruling:
    return Ruling(dropped=[place for place, code in enumerate(facts.languages) if code == "deu"])


def test_a_judge_that_drops_one_language_leaves_a_document_in_the_other() -> None:
    options = made(language={"accepted": ("deu", "eng")}, judge={"judges": ("tests.judge.test_panel:without_german",)})
    judged = judge(page([*GERMAN[:8], *ENGLISH[:4]]), options)
    assert set(judged.languages) == {"eng"}
    assert (judged.verdict.language, judged.verdict.page_language) == ("eng", "deu")
