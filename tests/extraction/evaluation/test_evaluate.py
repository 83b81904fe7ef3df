"""Precision, recall and F1 on hand-made cases."""

import pytest

from windrow.extraction.evaluation import evaluate
from windrow.extraction.evaluation.evaluate import Overlap
from windrow.extraction.evaluation.gold import Sample
from windrow.records import Page, Paragraph


@pytest.mark.parametrize(
    ("gold", "found", "match"),
    [
        ("a b c d", "a b", Overlap(1.0, 0.5, 2 / 3)),
        ("a b", "a b c d", Overlap(0.5, 1.0, 2 / 3)),
        ("a a b", "a b b", Overlap(2 / 3, 2 / 3, 2 / 3)),
        ("a b", "b a", Overlap(1.0, 1.0, 1.0)),
        ("a", "b", Overlap(0.0, 0.0, 0.0)),
        ("", "", Overlap(1.0, 1.0, 1.0)),
        ("a", "", Overlap(0.0, 0.0, 0.0)),
        ("", "a", Overlap(0.0, 0.0, 0.0)),
    ],
)
def test_a_bag_of_words_counts_each_word_as_often_as_it_occurs(gold: str, found: str, match: Overlap) -> None:
    assert evaluate.bag(gold.split(), found.split()) == match


def test_words_are_lower_case_letters_and_digits_or_characters_in_scripts_without_blanks() -> None:
    assert evaluate.words("Don't PANIC, 42!", "en") == ["don", "t", "panic", "42"]
    assert evaluate.words("你好，世界 42", "zh") == ["你", "好", "世", "界", "4", "2"]


def test_n_grams_depend_on_the_order() -> None:
    assert evaluate.ngrams("a b c d e".split()) == [("a", "b", "c", "d"), ("b", "c", "d", "e")]
    assert evaluate.ngrams(["a", "b"]) == [("a", "b")]
    assert evaluate.ngrams([]) == []
    assert evaluate.bag(evaluate.ngrams("a b c d".split()), evaluate.ngrams("d c b a".split())).f1 == 0.0


def test_the_text_of_a_page_is_its_good_paragraphs() -> None:
    assert evaluate.text(Page(paragraphs=(Paragraph("a"), Paragraph("b", "bad"), Paragraph("c")))) == "a\nc"


def test_passages_are_found_whatever_the_blanks_and_their_sums_are_scored() -> None:
    page = Sample("1", "set", b"", "", partial=True, wanted=("the first", "the last"), unwanted=("menu", "imprint"))
    assert evaluate.passages(page, "the  first\nmenu") == (1, 1, 1, 1)
    assert evaluate.summed([(1, 1, 1, 1), (1, 0, 0, 2)]) == Overlap(2 / 3, 2 / 3, 2 / 3)
    assert evaluate.summed([(0, 2, 0, 0)]) == Overlap(0.0, 0.0, 0.0)


def test_composed_and_decomposed_letters_are_the_same() -> None:
    composed, decomposed = "é", "e\u0301"
    assert evaluate.words(f"caf{decomposed} x", "fr") == evaluate.words(f"caf{composed} x", "fr") == ["café", "x"]
    page = Sample("1", "set", b"", "", partial=True, wanted=(f"caf{composed}",), unwanted=(f"th{decomposed}",))
    assert evaluate.passages(page, f"caf{decomposed} th{composed}") == (1, 0, 1, 0)
