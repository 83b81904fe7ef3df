"""The C kernel equals its reference in numpy: for every text, and for every document and table."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tests.dedup.tables import content
from tests.dedup.test_onion import corpus
from tests.shared import shared
from windrow.dedup import generation, hashing, ngrams, onion
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.onion import DuplicateRule
from windrow.dedup.table import NgramTable
from windrow.extraction.evaluation import gold
from windrow.extraction.main import justext

SMALL = 16 << 20  # bytes
pytestmark = pytest.mark.skipif(ngrams._ngrams is None, reason="needs the C kernel, which was not built")

texts_with_edges = (
    st.text(st.sampled_from("ab é\u00a0\u0085\0日ไ\u3000\u2009\u2028\U00020000\x1f\t\ud800စក\ufa00が")) | st.text()
)
broken = st.lists(
    st.sampled_from(
        [b"\xe3\x80\x80", b"\xc2\xa0", b"\xc2", b"\xe4", b"\x80", b"\xe2\x80", b"\xf0\xa0", b"a", b" ", b"\n", b"\0"]
    )
)


@contextmanager
def reference() -> Iterator[None]:
    """Run without the kernel."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (ngrams, onion, generation):
            patch.setattr(module, "_ngrams", None)
        yield


def agree(documents: Sequence[Ngrams], rule: DuplicateRule, limit: int = SMALL) -> NgramTable:
    """Run both over the same documents: equal marks, equal records for the redo file, equal tables."""
    ours = NgramTable(limit)
    found = [(onion.mark(ours, document, rule), ours.take()) for document in documents]
    with reference():
        theirs = NgramTable(limit)
        assert found == [(onion.mark(theirs, document, rule), theirs.take()) for document in documents]
    assert (content(ours), ours.nbytes, len(ours), ours.forgotten) == (
        content(theirs),
        theirs.nbytes,
        len(theirs),
        theirs.forgotten,
    )
    return ours


def made(hashes: Sequence[int], repeated: bytes = b"") -> Ngrams:
    """Return a document of these single words."""
    return Ngrams(np.array([len(hashes)]).tobytes(), np.array(hashes, np.uint64).tobytes(), repeated)


@settings(max_examples=300, deadline=None)
@given(st.lists(texts_with_edges, max_size=5), st.integers(1, 9))
def test_every_text_has_the_same_words_and_ngrams(texts: list[str], ngram: int) -> None:
    found = ngrams.of(texts, ngram)
    with reference():
        assert ngrams.of(texts, ngram) == found


@settings(max_examples=300, deadline=None)
@given(st.lists(broken.map(b"".join) | st.binary(max_size=60), max_size=4), st.booleans())
def test_octets_that_are_not_utf_8_have_the_same_words_and_ngrams(octets: list[bytes], tokens: bool) -> None:
    found = ngrams.of_octets(octets, 2, tokens)
    with reference():
        assert ngrams.of_octets(octets, 2, tokens) == found


@pytest.mark.parametrize("tokens", [False, True])
def test_a_paragraph_cut_because_of_its_length_has_the_same_words_and_ngrams(tokens: bool) -> None:
    size = hashing.PIECE
    for text in (
        "x" * (2 * size + 5),
        "ab " * (size // 2),
        "日本" * (size // 4),
        "é" * size,
        "one\n" + "y" * size + " two",
        "a\tb" * (size // 2),
    ):
        found = ngrams.of_octets([text.encode(), b"end of it"], 3, tokens)
        with reference():
            assert ngrams.of_octets([text.encode(), b"end of it"], 3, tokens) == found


def test_real_pages_have_the_same_ngrams_and_duplicates() -> None:
    sources = [gold.samples(shared(f"extraction/{name}.tar.xz")) for name in ("zh-web", "readability", "zh-news")]
    pages = [
        [one.text for one in justext.extract(page.capture(), 0).paragraphs]
        for page in itertools.islice(itertools.chain(*sources), 400)
    ]
    found = [ngrams.of(page) for page in pages]
    with reference():
        assert [ngrams.of(page) for page in pages] == found
    assert len(pages) >= 300 and any(document.repeated for document in found)
    agree(found, DuplicateRule())


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.lists(st.sampled_from("abcde"), max_size=20).map(" ".join), max_size=5), max_size=6),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0, 3, 20]),
    st.sampled_from([0.0, 0.4, 1.0]),
)
def test_documents_of_few_different_words_have_the_same_duplicates(
    documents: list[list[str]], ngram: int, threshold: float, smoothing: int, whole: float
) -> None:
    agree([ngrams.of(each, ngram) for each in documents], DuplicateRule(ngram, threshold, smoothing, whole))


def test_duplicates_are_the_same_while_the_table_doubles_and_forgets() -> None:
    chance = np.random.default_rng(1)
    documents = [made(chance.integers(0, 1 << 64, 9000, np.uint64).tolist()) for _ in range(170)]
    documents += [made(np.frombuffer(documents[place].hashes, np.uint64)[:5000].tolist()) for place in (0, 90, 165)]
    assert agree(documents, DuplicateRule(1), 1 << 27).forgotten == 0
    assert agree(documents, DuplicateRule(1)).forgotten > 0


def test_duplicates_are_the_same_when_buckets_overflow() -> None:
    crowd = [number << 16 for number in range(2, 5002)]
    documents = [made(crowd[start : start + 250]) for start in range(0, 5000, 250)]
    overlapping = [made(crowd[start : start + 250]) for start in range(100, 4900, 250)]
    chance = np.random.default_rng(2)
    filler = [made(chance.integers(0, 1 << 64, 9000, np.uint64).tolist()) for _ in range(100)]
    held = agree([*documents, *overlapping, *filler, *overlapping, *documents], DuplicateRule(1), 1 << 27)
    assert len(held.young.stash) == 0 or held.young.bits > generation.LEAST  # the table has doubled meanwhile


def test_a_fingerprint_of_zero_gives_the_same_duplicates() -> None:
    agree(
        [made([0, 1 << 16, 5 << 48, (5 << 48) + (1 << 16)]), made([1 << 16, 7 << 48]), made([0, 5 << 48])],
        DuplicateRule(1, smoothing=0),
    )


@pytest.mark.parametrize("seed", range(2))
def test_a_corpus_of_partial_copies_has_the_same_duplicates(seed: int) -> None:
    documents = [ngrams.of(each) for each in corpus(seed, 400)]
    agree(documents, DuplicateRule())
    agree([ngrams.joined(document) for document in documents], DuplicateRule())


def test_the_reference_computes_ngrams_longer_than_the_kernel_has_room_for() -> None:
    text = " ".join(f"word{number}" for number in range(300))
    assert len(ngrams.of([text], 100).hashes) == 8 * 201
    agree([ngrams.of([text], 100), ngrams.of([text + " more"], 100)], DuplicateRule(100))


@pytest.mark.parametrize(
    "document",
    [
        Ngrams(b"\1" * 8, b"", b""),
        Ngrams(np.array([3]).tobytes(), b"\0" * 8, b""),
        Ngrams(np.array([-1, 2]).tobytes(), b"\0" * 8, b""),
        Ngrams(np.array([1]).tobytes(), b"\0" * 8, b"\0\0"),
        Ngrams(b"\0" * 7, b"", b""),
        Ngrams(np.array([1 << 62, 1 << 62, 1 << 62, 1 << 62]).tobytes(), b"", b""),
    ],
)
def test_bytes_that_are_not_the_ngrams_of_a_document_are_rejected(document: Ngrams) -> None:
    with pytest.raises(ValueError, match="not those of a document"):
        onion.mark(NgramTable(SMALL), document, DuplicateRule(1))


def test_a_paragraph_of_eight_megabytes_is_marked() -> None:
    for text in ("a b c d " * (1 << 20), "日本" * (1 << 20), "x" * (8 << 20), " ".join(map(str, range(1 << 20)))):
        marked = onion.mark(NgramTable(1 << 28), ngrams.of([text]), DuplicateRule())
        assert marked.words == sum(marked.lengths) > 0


def test_the_words_of_a_document_are_those_of_its_paragraphs() -> None:
    assert ngrams.words([]) == 0
    assert ngrams.words(["Die Katze, die schläft.", "", "COVID-19 ist  da"]) == 7
    assert ngrams.words(["猫が寝る"]) == 4, "each letter, where no space separates words"
