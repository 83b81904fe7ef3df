"""The sketch of a page that cannot exist, and how like it another page is."""

import random

import pytest

from windrow.data import Page, Paragraph, Reason, Verdict
from windrow.judge import quality, soft404

WORDS = [a + b for a in "ba de ki lo mu na pe ri so tu".split() for b in "fa ge hi jo ku la me ni po ra".split()]


def page(words: list[str]) -> Page:
    return Page(paragraphs=tuple(Paragraph(" ".join(words[start : start + 30])) for start in range(0, len(words), 30)))


def texts(one: Page) -> list[str]:
    return [paragraph.text for paragraph in one.paragraphs]


@pytest.mark.parametrize("changed", [0, 1, 5, 20, 60, 300])
@pytest.mark.parametrize("length", [40, 300, 2000])
def test_likeness_by_sketch_is_nearly_the_exact_one(changed: int, length: int) -> None:
    chance = random.Random(length + changed)
    words = chance.choices(WORDS, k=length)
    other = list(words)
    for _ in range(min(changed, length)):
        other[chance.randrange(length)] = chance.choice(WORDS)
    exact = quality.likeness(texts(page(words)), texts(page(other)))
    assert soft404.likeness(soft404.sketch(page(words)), page(other)) == pytest.approx(
        exact, abs=0.1 if length > 250 else 1e-9
    )


def test_a_page_without_words_gives_no_sketch() -> None:
    assert soft404.sketch(page([])) == soft404.NONE


def test_a_page_like_the_probe_is_refused_and_another_is_scored() -> None:
    words = random.Random(1).choices(WORDS, k=80)
    probe, verdict = soft404.sketch(page(words)), Verdict(Reason.OK, digest=5)
    same = soft404.judged(verdict, page(words), probe, 0.85)
    assert (same.reason, same.scores, same.digest) == (Reason.SOFT_404, {soft404.SCORE: 1.0}, 0)
    other = soft404.judged(verdict, page(random.Random(2).choices(WORDS, k=80)), probe, 0.85)
    assert other.reason is Reason.OK and other.scores[soft404.SCORE] < 0.3


def test_where_nothing_is_known_nothing_is_said() -> None:
    verdict = Verdict(Reason.OK)
    assert soft404.judged(verdict, page(["a"] * 9), soft404.NONE, 0.85) is verdict
    assert soft404.judged(verdict, page(["a"] * 9), soft404.sketch(page(["a"] * 9)), 0.0) is verdict, "switched off"
