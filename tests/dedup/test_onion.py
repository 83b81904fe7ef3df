"""Onion's rule: the kernel and the reference mark the same paragraphs as exact sets of n-grams do."""

import random
from collections.abc import Iterator, Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tests.dedup.onion import Onion, words
from windrow import dedup
from windrow.dedup import generation, hashing, ngrams, onion
from windrow.dedup.onion import DuplicateRule
from windrow.dedup.table import NgramTable

SMALL = 16 << 20  # bytes


@pytest.fixture(params=["kernel", "reference"], scope="module", autouse=True)
def implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run every test twice: with the C kernel, and with the reference."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "reference":
            for module in (ngrams, onion, generation):
                patch.setattr(module, "_ngrams", None)
        elif ngrams._ngrams is None:
            pytest.skip("needs the C kernel, which was not built")
        yield


few = st.sampled_from(["a", "bb", "ccc", "Übung", "日", "x\u00a0y", "ไทย"])
paragraph = st.lists(few, max_size=30).map(" ".join)
document = st.lists(paragraph, max_size=6)


def compare(documents: Sequence[Sequence[str]], rule: DuplicateRule) -> int:
    """Apply both rules to the same documents; return how many paragraphs were duplicates."""
    table, exact, found = NgramTable(SMALL), Onion(rule.ngram, rule.threshold, rule.smoothing), 0
    for paragraphs in documents:
        marked = onion.mark(table, ngrams.of(paragraphs, rule.ngram), rule)
        expected, shares = exact.mark([words(text) for text in paragraphs])
        assert list(marked.duplicate) == expected
        assert marked.shares == pytest.approx(shares)
        assert marked.words == sum(len(words(text)) for text in paragraphs)
        removed = (text for text, duplicate in zip(paragraphs, expected, strict=True) if duplicate)
        assert marked.removed == sum(len(words(text)) for text in removed)
        found += sum(expected)
    assert len(table) == len(exact.seen)
    return found


def corpus(seed: int, count: int) -> list[list[str]]:
    """Return documents that copy sentences and paragraphs from each other and from themselves, slightly changed."""
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
def test_every_paragraph_is_marked_as_exact_sets_of_words_mark_it(
    documents: list[list[str]], ngram: int, threshold: float, smoothing: int
) -> None:
    compare(documents, DuplicateRule(ngram, threshold, smoothing))


@pytest.mark.parametrize("seed", range(4))
def test_a_corpus_of_partial_copies_is_marked_as_exact_sets_mark_it(seed: int) -> None:
    found = compare(corpus(seed, 400), DuplicateRule())
    assert 300 < found < 2000


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_words_end_at_every_unicode_blank_and_at_every_letter_of_a_script_without_spaces(text: str) -> None:
    lengths = np.frombuffer(ngrams.of([text, "end"]).lengths, np.int64)
    assert lengths.tolist() == [len(words(text)), 1]


def test_a_paragraph_cut_because_of_its_length_has_the_same_ngrams(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [["wort " * 50 + "日本語" * 40, "x" * 60, ""], [], ["kurz", "a b c d e f g h " * 30]]
    whole = [ngrams.of(paragraphs) for paragraphs in documents]
    monkeypatch.setattr(hashing, "PIECE", 64)
    assert [ngrams.of(paragraphs) for paragraphs in documents] == whole


def test_a_token_may_contain_blanks_and_is_compared_whole() -> None:
    new_york = ngrams.of_octets([b"New York\nis\nbig\n"], 2, True)
    assert np.frombuffer(new_york.lengths, np.int64).tolist() == [3]
    plain = ngrams.of(["in Ostrau liegt viel Schnee"], 3)
    assert ngrams.of_octets([b"in\nOstrau\nliegt\nviel\nSchnee"], 3, True) == plain


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=3), st.booleans())
def test_octets_that_are_not_utf_8_are_accepted(paragraphs: list[bytes], tokens: bool) -> None:
    assert len(ngrams.of_octets(paragraphs, 2, tokens).lengths) // 8 == len(paragraphs)


def test_half_of_the_words_is_no_duplicate_and_one_word_more_is() -> None:
    old = "one two three four five six seven"
    rule = DuplicateRule(smoothing=0)
    for new, duplicate in (("a b c d e f g", False), ("a b c d e f", True)):
        table = NgramTable(SMALL)
        onion.mark(table, ngrams.of([old]), rule)
        assert onion.mark(table, ngrams.of([f"{old} {new}"]), rule).duplicate == (duplicate,)


def test_the_ngrams_of_removed_paragraphs_are_not_remembered() -> None:
    table = NgramTable(SMALL)
    first = " ".join(f"first{number}" for number in range(30))
    onion.mark(table, ngrams.of([first]), DuplicateRule())
    known = len(table)
    marked = onion.mark(table, ngrams.of([first + " and six new words at the end"]), DuplicateRule())
    assert not marked.left and len(table) == known


def test_the_rest_of_a_document_that_is_mostly_duplicate_is_removed_and_not_remembered() -> None:
    table = NgramTable(SMALL)
    seen, new = (" ".join(f"{name}{number}" for number in range(30)) for name in ("seen", "new"))
    onion.mark(table, ngrams.of([seen]), DuplicateRule())
    known = len(table)
    stays = onion.mark(table, ngrams.of([seen, seen, seen, new]), DuplicateRule(whole=0.75))
    assert (stays.duplicate, stays.removed, stays.left) == ((True, True, True, False), 90, 30)
    table = NgramTable(SMALL)
    onion.mark(table, ngrams.of([seen]), DuplicateRule())
    removed = onion.mark(table, ngrams.of([seen, seen, seen, new]), DuplicateRule(whole=0.74))
    assert (removed.duplicate, removed.removed, removed.left, removed.share) == ((True,) * 4, 90, 0, 0.75)
    assert len(table) == known
    assert onion.mark(table, ngrams.of([new]), DuplicateRule(whole=0.74)).left == 30


def test_a_paragraph_repeated_within_its_document_is_a_duplicate() -> None:
    text = " ".join(f"word{number}" for number in range(40))
    assert onion.mark(NgramTable(SMALL), ngrams.of([text, text]), DuplicateRule()).duplicate == (False, True)


def test_a_short_document_is_removed_with_smoothing_and_kept_without() -> None:
    short = ngrams.of(["only a few words"])
    assert not onion.mark(NgramTable(SMALL), short, DuplicateRule()).left
    assert onion.mark(NgramTable(SMALL), short, DuplicateRule(smoothing=0)).left


def test_a_document_without_words_has_no_duplicates() -> None:
    for paragraphs in ([], [""], ["", " "]):
        marked = onion.mark(NgramTable(SMALL), ngrams.of(paragraphs), DuplicateRule())
        assert (marked.words, marked.removed, marked.left) == (0, 0, 0)


def test_equal_texts_have_equal_keys_and_others_differ() -> None:
    assert dedup.text_key(["a", "b"]) == dedup.text_key(["a\nb"]) != dedup.text_key(["ab"])
    assert 0 <= dedup.text_key(["\ud800"]) < 1 << 64


def test_hashes_are_the_same_on_every_machine_and_in_every_version() -> None:
    made = ngrams.of(["The quick brown fox jumps over the lazy dog", "日本語のテキスト"])
    assert dedup.text_key([made.hashes.hex(), made.lengths.hex()]) == 2924217137227632437
