import random
from collections.abc import Iterator, Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tests.dedup.onion import Onion, words
from windrow.dedup import ngrams, table
from windrow.dedup.ngrams import Rule
from windrow.dedup.table import Table

SMALL = 16 << 20  # bytes


@pytest.fixture(params=["kernel", "twin"], scope="module", autouse=True)
def either(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test twice: with the C kernel, and with the numpy code alone."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "twin":
            patch.setattr(ngrams, "_ngrams", None)
            patch.setattr(table, "_ngrams", None)
        elif ngrams._ngrams is None:
            pytest.skip("needs the C kernel, which was not built")
        yield


few = st.sampled_from(["a", "bb", "ccc", "Übung", "日", "x\u00a0y", "ไทย"])
paragraph = st.lists(few, max_size=30).map(" ".join)
document = st.lists(paragraph, max_size=6)


def compare(documents: Sequence[Sequence[str]], rule: Rule) -> int:
    """Both rules over the same documents; how many paragraphs were duplicates."""
    table, onion, found = Table(SMALL), Onion(rule.ngram, rule.threshold, rule.smoothing), 0
    for paragraphs in documents:
        ruling = ngrams.settle(table, ngrams.grams(paragraphs, rule.ngram), rule)
        expected, shares = onion.judge([words(text) for text in paragraphs])
        assert list(ruling.duplicate) == expected
        assert ruling.shares == pytest.approx(shares)
        assert ruling.words == sum(len(words(text)) for text in paragraphs)
        assert ruling.removed == sum(len(words(text)) for text, gone in zip(paragraphs, expected, strict=True) if gone)
        found += sum(expected)
    assert len(table) == len(onion.seen)
    return found


def corpus(seed: int, count: int) -> list[list[str]]:
    """Documents that copy sentences and paragraphs from each other and from themselves, changed a little."""
    chance = random.Random(seed)
    vocabulary = ["".join(chance.choices("abcdefghijklmnoprstuvzäöčř", k=chance.randint(1, 9))) for _ in range(3000)]
    stock: list[list[str]] = []
    documents = []
    for _ in range(count):
        made = []
        for _ in range(chance.randint(0, 12)):
            if stock and chance.random() < 0.4:
                text = [word if chance.random() > 0.08 else chance.choice(vocabulary) for word in chance.choice(stock)]
            else:
                text = chance.choices(vocabulary, k=chance.choice([0, 1, 5, 8, 20, 60]))
            stock.append(text)
            made.append(" ".join(text))
        documents.append(made)
    return documents


@settings(max_examples=150, deadline=None)
@given(
    st.lists(document, max_size=6),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    st.sampled_from([0, 3, 20]),
)
def test_every_paragraph_is_judged_as_exact_sets_of_words_judge_it(
    documents: list[list[str]], ngram: int, threshold: float, smoothing: int
) -> None:
    compare(documents, Rule(ngram, threshold, smoothing))


@pytest.mark.parametrize("seed", range(4))
def test_a_corpus_of_partial_copies_is_judged_as_exact_sets_judge_it(seed: int) -> None:
    found = compare(corpus(seed, 400), Rule())
    assert 300 < found < 2000


@settings(max_examples=100, deadline=None)
@given(st.lists(document, max_size=5))
def test_a_batch_gives_what_each_document_gives_alone(documents: list[list[str]]) -> None:
    assert ngrams.batch(documents) == [ngrams.grams(paragraphs) for paragraphs in documents]


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_words_are_parted_wherever_unicode_has_a_blank_or_a_script_without_spaces(text: str) -> None:
    lengths = np.frombuffer(ngrams.grams([text, "end"]).lengths, np.int64)
    assert lengths.tolist() == [len(words(text)), 1]


def test_a_paragraph_that_is_cut_for_its_length_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [["wort " * 50 + "日本語" * 40, "x" * 60, ""], [], ["kurz", "a b c d e f g h " * 30]]
    whole = ngrams.batch(documents)
    monkeypatch.setattr(ngrams, "PIECE", 64)
    assert ngrams.batch(documents) == whole


def test_tokens_hold_blanks_and_are_compared_whole() -> None:
    new_york = ngrams.batch_octets([[b"New York\nis\nbig\n"]], 2, True)[0]
    assert np.frombuffer(new_york.lengths, np.int64).tolist() == [3]
    plain = ngrams.grams(["in Ostrau liegt viel Schnee"], 3)
    assert ngrams.batch_octets([[b"in\nOstrau\nliegt\nviel\nSchnee"]], 3, True)[0] == plain


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.binary(max_size=40), max_size=3), max_size=3), st.booleans())
def test_octets_that_are_no_text_do_no_harm(documents: list[list[bytes]], tokens: bool) -> None:
    made = ngrams.batch_octets(documents, 2, tokens)
    assert [len(each.lengths) // 8 for each in made] == list(map(len, documents))


def test_exactly_half_is_not_a_duplicate_and_one_word_more_is() -> None:
    old = "one two three four five six seven"
    rule = Rule(smoothing=0)
    for new, gone in (("a b c d e f g", False), ("a b c d e f", True)):
        table = Table(SMALL)
        ngrams.settle(table, ngrams.grams([old]), rule)
        assert ngrams.settle(table, ngrams.grams([f"{old} {new}"]), rule).duplicate == (gone,)


def test_the_ngrams_of_removed_paragraphs_are_not_remembered() -> None:
    table = Table(SMALL)
    first = " ".join(f"first{number}" for number in range(30))
    ngrams.settle(table, ngrams.grams([first]), Rule())
    known = len(table)
    ruling = ngrams.settle(table, ngrams.grams([first + " and six new words at the end"]), Rule())
    assert not ruling.left and len(table) == known


def test_the_little_that_is_new_goes_with_a_document_that_was_seen_and_is_not_remembered() -> None:
    table = Table(SMALL)
    seen, new = (" ".join(f"{name}{number}" for number in range(30)) for name in ("seen", "new"))
    ngrams.settle(table, ngrams.grams([seen]), Rule())
    known = len(table)
    stays = ngrams.settle(table, ngrams.grams([seen, seen, seen, new]), Rule(whole=0.75))
    assert (stays.duplicate, stays.removed, stays.left) == ((True, True, True, False), 90, 30)
    table = Table(SMALL)
    ngrams.settle(table, ngrams.grams([seen]), Rule())
    goes = ngrams.settle(table, ngrams.grams([seen, seen, seen, new]), Rule(whole=0.74))
    assert (goes.duplicate, goes.removed, goes.left, goes.share) == ((True,) * 4, 90, 0, 0.75)
    assert len(table) == known
    assert ngrams.settle(table, ngrams.grams([new]), Rule(whole=0.74)).left == 30


def test_a_document_repeats_itself() -> None:
    text = " ".join(f"word{number}" for number in range(40))
    assert ngrams.settle(Table(SMALL), ngrams.grams([text, text]), Rule()).duplicate == (False, True)


def test_a_short_document_goes_with_smoothing_and_stays_without() -> None:
    short = ngrams.grams(["only a few words"])
    assert not ngrams.settle(Table(SMALL), short, Rule()).left
    assert ngrams.settle(Table(SMALL), short, Rule(smoothing=0)).left


def test_nothing_in_gives_nothing_out() -> None:
    for paragraphs in ([], [""], ["", " "]):
        ruling = ngrams.settle(Table(SMALL), ngrams.grams(paragraphs), Rule())
        assert (ruling.words, ruling.removed, ruling.left) == (0, 0, 0)


def test_exact_duplicates_have_equal_keys_and_others_differ() -> None:
    assert ngrams.body_key(b"<p>a") == ngrams.body_key(b"<p>a") != ngrams.body_key(b"<p>b")
    assert ngrams.text_key(["a", "b"]) == ngrams.text_key(["a\nb"]) != ngrams.text_key(["ab"])
    assert 0 <= ngrams.text_key(["\ud800"]) < 1 << 64


def test_hashes_are_the_same_on_every_machine_and_in_every_version() -> None:
    made = ngrams.grams(["The quick brown fox jumps over the lazy dog", "日本語のテキスト"])
    assert ngrams.text_key([made.hashes.hex(), made.lengths.hex()]) == 2924217137227632437


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lot", [2, 7, 100])
def test_documents_settled_together_fare_as_one_after_the_other(seed: int, lot: int) -> None:
    documents = ngrams.batch(corpus(seed, 200))
    alone, together = Table(SMALL), Table(SMALL)
    expected = [ngrams.settle(alone, document, Rule()) for document in documents]
    found = []
    for start in range(0, len(documents), lot):
        found += ngrams.settle_all(together, documents[start : start + lot], Rule())
    assert found == expected
    assert together.digest() == alone.digest()


@settings(max_examples=100, deadline=None)
@given(st.lists(document, max_size=6), st.sampled_from([0, 3]))
def test_documents_settled_together_fare_alike_whatever_they_hold(documents: list[list[str]], smoothing: int) -> None:
    rule, made = Rule(3, 0.5, smoothing), ngrams.batch(documents, 3)
    alone, together = Table(SMALL), Table(SMALL)
    assert ngrams.settle_all(together, made, rule) == [ngrams.settle(alone, each, rule) for each in made]
    assert together.digest() == alone.digest()
