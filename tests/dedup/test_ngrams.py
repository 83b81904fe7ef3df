"""The C kernel and its twin in numpy say the same: of every text, and of every document by every table."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tests.dedup.test_duplicates import corpus
from tests.shared import shared
from windrow.dedup import ngrams, table
from windrow.dedup.ngrams import Grams, Rule
from windrow.dedup.table import Table
from windrow.extract import justext
from windrow.extract.evaluation import gold

SMALL = 16 << 20  # bytes
pytestmark = pytest.mark.skipif(ngrams._ngrams is None, reason="needs the C kernel, which was not built")

telling = (
    st.text(st.sampled_from("ab é\u00a0\u0085\0日ไ\u3000\u2009\u2028\U00020000\x1f\t\ud800စក\ufa00が")) | st.text()
)
broken = st.lists(
    st.sampled_from(
        [b"\xe3\x80\x80", b"\xc2\xa0", b"\xc2", b"\xe4", b"\x80", b"\xe2\x80", b"\xf0\xa0", b"a", b" ", b"\n", b"\0"]
    )
)


@contextmanager
def twin() -> Iterator[None]:
    """Without the kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "_ngrams", None)
        patch.setattr(table, "_ngrams", None)
        yield


def agree(documents: Sequence[Grams], rule: Rule, limit: int = SMALL) -> Table:
    """Both over the same documents: the same rulings, the same records for the redo file, the same table."""
    ours = Table(limit)
    found = [(ngrams.settle(ours, document, rule), ours.take()) for document in documents]
    with twin():
        theirs = Table(limit)
        assert found == [(ngrams.settle(theirs, document, rule), theirs.take()) for document in documents]
    assert (ours.digest(), ours.nbytes, len(ours), ours.forgotten) == (
        theirs.digest(),
        theirs.nbytes,
        len(theirs),
        theirs.forgotten,
    )
    return ours


def made(hashes: Sequence[int], repeated: bytes = b"") -> Grams:
    """A document of these single words."""
    return Grams(np.array([len(hashes)]).tobytes(), np.array(hashes, np.uint64).tobytes(), repeated)


@settings(max_examples=300, deadline=None)
@given(st.lists(telling, max_size=5), st.integers(1, 9))
def test_every_text_has_the_same_words_and_ngrams(texts: list[str], ngram: int) -> None:
    found = ngrams.grams(texts, ngram)
    with twin():
        assert ngrams.grams(texts, ngram) == found


@settings(max_examples=300, deadline=None)
@given(st.lists(broken.map(b"".join) | st.binary(max_size=60), max_size=4), st.booleans())
def test_so_has_what_is_no_text(octets: list[bytes], tokens: bool) -> None:
    found = ngrams.batch_octets([octets], 2, tokens)
    with twin():
        assert ngrams.batch_octets([octets], 2, tokens) == found


@pytest.mark.parametrize("tokens", [False, True])
def test_so_has_what_is_cut_for_its_length(tokens: bool) -> None:
    size = ngrams.PIECE
    for text in (
        "x" * (2 * size + 5),
        "ab " * (size // 2),
        "日本" * (size // 4),
        "é" * size,
        "one\n" + "y" * size + " two",
        "a\tb" * (size // 2),
    ):
        found = ngrams.batch_octets([[text.encode(), b"end of it"]], 3, tokens)
        with twin():
            assert ngrams.batch_octets([[text.encode(), b"end of it"]], 3, tokens) == found


def test_pages_have_the_same_ngrams_and_fare_alike() -> None:
    sources = [gold.samples(shared(f"extraction/{name}.tar.xz")) for name in ("zh-web", "readability", "zh-news")]
    pages = [
        [one.text for one in justext.extract(page.capture(), 0).paragraphs]
        for page in itertools.islice(itertools.chain(*sources), 400)
    ]
    found = ngrams.batch(pages)
    with twin():
        assert ngrams.batch(pages) == found
    assert len(pages) >= 300 and any(document.repeated for document in found)
    agree(found, Rule())


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.lists(st.sampled_from("abcde"), max_size=20).map(" ".join), max_size=5), max_size=6),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0, 3, 20]),
    st.sampled_from([0.0, 0.4, 1.0]),
)
def test_documents_of_few_words_fare_alike(
    documents: list[list[str]], ngram: int, threshold: float, smoothing: int, whole: float
) -> None:
    agree(ngrams.batch(documents, ngram), Rule(ngram, threshold, smoothing, whole))


def test_documents_fare_alike_while_the_table_doubles_and_forgets() -> None:
    chance = np.random.default_rng(1)
    documents = [made(chance.integers(0, 1 << 64, 9000, np.uint64).tolist()) for _ in range(170)]
    documents += [made(np.frombuffer(documents[place].hashes, np.uint64)[:5000].tolist()) for place in (0, 90, 165)]
    assert agree(documents, Rule(1), 1 << 27).forgotten == 0
    assert agree(documents, Rule(1)).forgotten > 0


def test_documents_fare_alike_where_buckets_overflow() -> None:
    crowd = [number << 16 for number in range(2, 5002)]
    documents = [made(crowd[start : start + 250]) for start in range(0, 5000, 250)]
    overlapping = [made(crowd[start : start + 250]) for start in range(100, 4900, 250)]
    chance = np.random.default_rng(2)
    filler = [made(chance.integers(0, 1 << 64, 9000, np.uint64).tolist()) for _ in range(100)]
    held = agree([*documents, *overlapping, *filler, *overlapping, *documents], Rule(1), 1 << 27)
    assert len(held.young.stash) == 0 or held.young.bits > table.LEAST  # it has grown on the way


def test_a_fingerprint_of_zero_fares_alike() -> None:
    agree(
        [made([0, 1 << 16, 5 << 48, (5 << 48) + (1 << 16)]), made([1 << 16, 7 << 48]), made([0, 5 << 48])],
        Rule(1, smoothing=0),
    )


@pytest.mark.parametrize("seed", range(2))
def test_a_corpus_of_partial_copies_fares_alike(seed: int) -> None:
    documents = ngrams.batch(corpus(seed, 400))
    agree(documents, Rule())
    agree([ngrams.whole(document) for document in documents], Rule())


def test_an_ngram_longer_than_the_kernel_has_room_for_is_made_by_the_twin() -> None:
    text = " ".join(f"word{number}" for number in range(300))
    assert len(ngrams.grams([text], 100).hashes) == 8 * 201
    agree([ngrams.grams([text], 100), ngrams.grams([text + " more"], 100)], Rule(100))


@pytest.mark.parametrize(
    "document",
    [
        Grams(b"\1" * 8, b"", b""),
        Grams(np.array([3]).tobytes(), b"\0" * 8, b""),
        Grams(np.array([-1, 2]).tobytes(), b"\0" * 8, b""),
        Grams(np.array([1]).tobytes(), b"\0" * 8, b"\0\0"),
        Grams(b"\0" * 7, b"", b""),
        Grams(np.array([1 << 62, 1 << 62, 1 << 62, 1 << 62]).tobytes(), b"", b""),
    ],
)
def test_what_are_no_ngrams_of_a_document_is_refused(document: Grams) -> None:
    with pytest.raises(ValueError, match="not those of a document"):
        ngrams.settle(Table(SMALL), document, Rule(1))


def test_eight_megabytes_in_one_paragraph_are_judged() -> None:
    for text in ("a b c d " * (1 << 20), "日本" * (1 << 20), "x" * (8 << 20), " ".join(map(str, range(1 << 20)))):
        ruling = ngrams.settle(Table(1 << 28), ngrams.grams([text]), Rule())
        assert ruling.words == sum(ruling.lengths) > 0
