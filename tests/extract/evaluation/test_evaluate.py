"""Precision, recall and F1 on hand-made cases, and tables in which data sets have equal weight."""

import pytest

from windrow.config import ConfigError
from windrow.data import Page, Paragraph
from windrow.extract.evaluation import evaluate, peers
from windrow.extract.evaluation.evaluate import Overlap
from windrow.extract.evaluation.gold import Sample


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


def sample(name: str, dataset: str, gold: str, **facts: object) -> Sample:
    return Sample(name, dataset, b"", gold, **{"language": "en", "kind": "article", **facts})  # type: ignore[arg-type]


def test_every_data_set_has_the_same_weight_and_groups_are_means_over_pages() -> None:
    samples = [sample("1", "big", "a"), sample("2", "big", "a"), sample("3", "small", "b", language="de", kind="forum")]
    rows = evaluate.rows(evaluate.score("x", lambda _: "a", one) for one in samples)
    figures = {(row.group, row.value): (row.pages, row.bag.f1) for row in rows}
    assert figures == {
        ("all", ""): (3, 0.5),
        ("dataset", "big"): (2, 1.0),
        ("dataset", "small"): (1, 0.0),
        ("language", "de"): (1, 0.0),
        ("language", "en"): (2, 1.0),
        ("kind", "article"): (2, 1.0),
        ("kind", "forum"): (1, 0.0),
    }
    assert all(row.mean_ms >= 0 and row.empty == 0 for row in rows)


def test_a_set_of_passages_is_measured_by_passages_and_left_out_of_the_mean() -> None:
    passages = sample("1", "passages", "", partial=True, wanted=("the first", "the last"), unwanted=("menu",))
    scores = [
        evaluate.score("x", lambda _: "the  first\nmenu", one)
        for one in (passages, sample("2", "whole", "the first menu"))
    ]
    rows = {(row.group, row.value): row for row in evaluate.rows(scores)}
    assert rows["dataset", "passages"].bag == Overlap(0.5, 0.5, 0.5)
    assert rows["all", ""].bag.f1 == 1.0
    assert ("kind", "article") in rows and rows["kind", "article"].pages == 1


def test_an_empty_text_is_counted() -> None:
    row = evaluate.rows([evaluate.score("x", lambda _: " \n", sample("1", "set", "a"))])[0]
    assert (row.empty, row.bag.f1) == (1, 0.0)


def test_an_unknown_peer_is_named_and_one_that_is_not_installed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ConfigError, match="there is no peer 'boilerpipe'; the peers are trafilatura, resiliparse, justext"
    ):
        peers.peer("boilerpipe")
    monkeypatch.setitem(__import__("sys").modules, "trafilatura", None)
    with pytest.raises(ConfigError, match="trafilatura is not installed; try: pip install trafilatura"):
        peers.peer("trafilatura")


@pytest.mark.parametrize("name", ["trafilatura", "resiliparse", "justext"])
def test_a_peer_gives_text_and_an_empty_one_for_what_it_cannot_read(name: str) -> None:
    pytest.importorskip(name)
    read = peers.peer(name)
    story = "<p>" + "The words of the story are many and they are in the text of the page. " * 6 + "</p>"
    assert "words of the story" in read(f"<html><body><article>{story * 3}</article></body></html>", "en")
    assert read("", "en") == ""
