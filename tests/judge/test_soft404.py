"""The sketch of a page that cannot exist, and the similarity of other pages to it."""

import random

import pytest

from tests.judge import declarations
from windrow.config import Config, QualityOptions
from windrow.judge import Facts, Ruling, soft404
from windrow.judge.ruling import KEPT
from windrow.records import Page, Paragraph, Reason

WORDS = [a + b for a in "ba de ki lo mu na pe ri so tu".split() for b in "fa ge hi jo ku la me ni po ra".split()]
PROBE = [
    "Shop of Things",
    "Sorry, we could not find /e7f3a9/nothing-here.html on our server.",
    "Try the search, or go to the start page.",
]


def page(words: list[str]) -> Page:
    return Page(paragraphs=tuple(Paragraph(" ".join(words[start : start + 30])) for start in range(0, len(words), 30)))


def texts(one: Page) -> list[str]:
    return [paragraph.text for paragraph in one.paragraphs]


def exact(texts: list[str], others: list[str]) -> float:
    """The exact measure that a sketch estimates."""
    one, other = soft404.triples(texts), soft404.triples(others)
    return len(one & other) / len(one | other) if one and other else float(one == other)


def judge(one: Page, sketch: str, threshold: float = 0.85) -> Ruling:
    options = Config(quality=QualityOptions(soft_404=threshold))
    return soft404.build(options)(one, Facts(url="http://site.test/", sketch=sketch))


@pytest.mark.parametrize("changed", [0, 1, 5, 20, 60, 300])
@pytest.mark.parametrize("length", [40, 300, 2000])
def test_a_sketch_estimates_the_exact_similarity(changed: int, length: int) -> None:
    chance = random.Random(length + changed)
    words = chance.choices(WORDS, k=length)
    other = list(words)
    for _ in range(min(changed, length)):
        other[chance.randrange(length)] = chance.choice(WORDS)
    expected = exact(texts(page(words)), texts(page(other)))
    found = soft404.similarity(soft404.sketch(page(words)), page(other))
    assert found == pytest.approx(expected, abs=0.1 if length > 250 else 1e-9)


def test_the_exact_similarity_is_symmetric_and_1_for_equal_texts() -> None:
    one, other = declarations.shipped("en")[:5], declarations.shipped("en")[3:8]
    assert exact(one, other) == exact(other, one)
    assert 0 < exact(one, other) < 1
    assert exact(one, one) == exact([], []) == 1.0
    assert exact(one, []) == 0.0


def test_the_requested_url_in_an_error_page_does_not_count() -> None:
    again = [PROBE[0], "Sorry, we could not find /products/17 on our server.", PROBE[2]]
    article = [PROBE[0], *declarations.shipped("en")[:6], PROBE[2]]
    assert exact(again, PROBE) >= QualityOptions().soft_404
    assert exact(article, PROBE) < QualityOptions().soft_404


@pytest.mark.parametrize("text", ["a" * 10**6, "1/" * 10**5, " ." * 10**5, "人" * 10**6])
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert exact([text], [text]) == 1.0


def test_a_page_without_words_has_no_sketch() -> None:
    assert soft404.sketch(page([])) == ""


def test_a_page_similar_to_the_probe_is_rejected_and_another_is_scored() -> None:
    words = random.Random(1).choices(WORDS, k=80)
    sketch = soft404.sketch(page(words))
    same = judge(page(words), sketch)
    assert (same.reason, same.scores) == (Reason.SOFT_404, {soft404.SCORE: 1.0})
    other = judge(page(random.Random(2).choices(WORDS, k=80)), sketch)
    assert other.reason is Reason.OK and other.scores[soft404.SCORE] < 0.3


def test_without_a_sketch_or_with_the_option_off_the_judge_says_nothing() -> None:
    assert judge(page(["a"] * 9), "") is KEPT
    assert judge(page(["a"] * 9), soft404.sketch(page(["a"] * 9)), 0.0) is KEPT
