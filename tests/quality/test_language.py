"""Accuracy of language detection and trained models on the Declaration of Human Rights, above the floors."""

import functools
import itertools
import random
import tomllib
from pathlib import Path

import pytest

from tests.judge import declarations
from tests.shared import shared
from windrow.config import Config, LanguageOptions
from windrow.judge import Facts
from windrow.judge.language import accept, codes, detect, tools, trigrams
from windrow.judge.language.settings import LanguageSettings
from windrow.records import Page, Reason

FLOORS = tomllib.loads((Path(__file__).parent / "floors.toml").read_text())
Translations = dict[str, list[list[str]]]


@pytest.fixture(scope="module")
def translations() -> Translations:
    return declarations.translations(shared("conformance/udhr.tar.xz"))


@functools.cache
def known_to_both() -> frozenset[str]:
    """Return the languages that both tools know, so that neither is asked about one that it cannot know."""
    return frozenset(code for code, names in tools.known().items() if len(names) == 2)


def paragraphs(translations: Translations) -> dict[str, list[str]]:
    """Return the paragraphs of each translation into a known language, without variants in script or spelling."""
    known = {name: codes.find(name) or "" for name in translations if name in USUAL or "_" not in name}
    kept = {
        name: code
        for name, code in known.items()
        if name not in MEMBERS and any(codes.covers(code, one) for one in known_to_both())
    }
    return {code: list(itertools.chain(*translations[name])) for name, code in kept.items()}


USUAL = {"deu_1996", "srp_latn", "por_PT", "ron_2006", "cmn_hans"}
# Languages that the tools know only under the name of a larger one, or not in the script of the translation.
MEMBERS = {
    *(
        "azb",
        "bjn",
        "min",
        "cjy",
        "gan",
        "hak",
        "hsn",
        "nan",
        "wuu",
        "yue",
        "kmr",
        "san",
        "que",
        "qug",
        "qul",
        "quy",
        "quz",
        "qva",
    )
}
MEMBERS |= {*("qvc", "qvh", "qvm", "qvn", "qwh", "quh", "qxn", "qxu")}


def same(one: str, other: str) -> bool:
    return codes.covers(one, other) or codes.covers(other, one)


@pytest.mark.parametrize("length", [2000, 120, 60, 30])
def test_the_accuracy_on_texts_of_a_length_stays_above_its_floor(length: int, translations: Translations) -> None:
    texts = [
        (code, text[:length])
        for code, whole in paragraphs(translations).items()
        for text in ([" ".join(whole)] if length == 2000 else [one for one in whole if len(one) >= length][:8])
    ]
    assert len(texts) > (60 if length == 2000 else 400)
    right = sum(same(code, detect.detect([text], LanguageSettings()).language) for code, text in texts)
    assert right / len(texts) >= FLOORS["language"][f"characters_{length}"]


def test_foreign_paragraphs_are_found_and_the_others_are_kept(translations: Translations) -> None:
    chosen = random.Random(5)
    texts = {code: [text for text in whole if len(text) >= 40] for code, whole in paragraphs(translations).items()}
    found, left, foreign, own = 0, 0, 0, 0
    for code in texts:
        other = chosen.choice([one for one in texts if not same(one, code)])
        mixed = [
            (chosen.choice(texts[one])[: chosen.choice((40, 60, 100, 200, 400))], one)
            for one in [code] * 12 + [other] * 3
        ]
        chosen.shuffle(mixed)
        finding = detect.detect([text for text, _ in mixed], LanguageSettings())
        if same(finding.language, code):
            for (_, truth), answer in zip(mixed, finding.paragraphs, strict=True):
                foreign, own = foreign + (truth == other), own + (truth == code)
                found, left = (
                    found + (truth == other and not same(answer, code)),
                    left + (truth == code and same(answer, code)),
                )
    assert foreign > 150
    assert found / foreign >= FLOORS["language"]["foreign_found"]
    assert left / own >= FLOORS["language"]["own_left"]


SIMILAR = [
    ("ces", "slk"),
    ("hrv", "srp_latn"),
    ("hrv", "srp_latn", "bos_latn"),
    ("nob", "dan", "nno", "swe"),
    ("ind", "mly_latn"),
    ("glg", "por_PT", "spa"),
    ("bul", "mkd"),
    ("rus", "ukr", "bel"),
    ("afr", "nld"),
    ("zul", "xho"),
    ("hsb", "pol", "ces"),
    ("gla", "gle"),
]


@pytest.mark.parametrize("names", SIMILAR, ids="-".join)
@pytest.mark.parametrize("length", [1000, 60])
def test_models_of_similar_languages_distinguish_articles_that_they_were_not_trained_on(
    names: tuple[str, ...], length: int, translations: Translations
) -> None:
    models = [
        trigrams.train(name, "\n".join(itertools.chain(*articles(translations, name, seen=True)))) for name in names
    ]
    texts = [
        (name, " ".join(article)[:length]) for name in names for article in articles(translations, name, seen=False)
    ]
    right = sum(trigrams.classify(text, models)[0] == name for name, text in texts)
    assert len(texts) >= 9 * len(names)
    assert right / len(texts) >= FLOORS["trigrams"]["-".join(names)][0 if length == 1000 else 1]


def articles(translations: Translations, name: str, seen: bool) -> list[list[str]]:
    """Return two of three articles to train on (`seen`), or the third to test with."""
    return [article for number, article in enumerate(translations[name]) if (number % 3 != 2) == seen]


def test_the_score_is_the_share_of_the_text_in_its_language(translations: Translations) -> None:
    chosen, texts = random.Random(9), paragraphs(translations)
    pure, high, errors = 0, 0, []
    for _ in range(600):
        names = chosen.sample(sorted(texts), chosen.choice((1, 1, 2, 3)))
        own = chosen.choices(names, [chosen.random() ** 2 + 0.02 for _ in names], k=chosen.choice((1, 2, 5, 15)))
        lines = [chosen.choice(texts[name]) for name in own]
        lines = [line[: chosen.randint(15, 60)] if chosen.random() < 0.33 else line for line in lines]
        found = detect.detect(lines, LanguageSettings())
        weights = [size for size, name in zip(found.sizes, own, strict=True) if same(name, found.language)]
        share = sum(weights) / sum(found.sizes)
        errors.append(abs(found.score - share))
        pure, high = pure + (share >= 0.95), high + (share >= 0.95 and found.score >= 0.9)
    assert pure > 300
    assert high / pure >= FLOORS["language"]["score_of_pure"]
    assert sum(errors) / len(errors) <= FLOORS["language"]["score_error"]


@pytest.mark.parametrize("names", [("srp_latn", "hrv"), ("hrv", "srp_latn")], ids="-".join)
def test_look_alikes_are_kept_or_refused_by_their_words(names: tuple[str, str], translations: Translations) -> None:
    own, other = names
    judge = accept.build(Config(language=LanguageOptions(accepted=(own[:3],))))
    kept = {
        name: [
            judge(Page(), Facts(url="", texts=article)).reason is Reason.OK
            for article in translations[name]
            if sum(map(len, article)) >= 150
        ]
        for name in names
    }
    assert kept[own].count(True) / len(kept[own]) >= FLOORS["lookalikes"][own]
    assert kept[other].count(False) / len(kept[other]) >= FLOORS["lookalikes"][f"not_{own}"]
