"""The n-grams of a document, as hashes: computed by the C kernel `_ngrams` or by its reference `hashing`.

The reference needs numpy, the kernel does not. Every worker of a crawl would load it: 0.1 s of CPU and 12 MB.
"""

import sys
from collections.abc import Sequence

import msgspec

from windrow.dedup.octets import OCTETS

try:
    from windrow.dedup import _ngrams
except ImportError:  # built without a compiler: the reference runs instead
    _ngrams = None  # type: ignore[assignment]

_LARGEST = 64  # words of an n-gram that the kernel has room for


class Ngrams(msgspec.Struct, frozen=True, gc=False):
    """The n-grams of a document; plain bytes, so that no step between worker and owner converts them."""

    lengths: bytes  # words of each paragraph, int64
    hashes: bytes  # of the n-gram that ends at each word, from the n-th word on, uint64
    repeated: bytes  # one byte per n-gram: 1 if it occurs earlier in the document; empty: none does


def of(paragraphs: Sequence[str], ngram: int = 7) -> Ngrams:
    """Return the n-grams of a document.

    White space separates words. In scripts without spaces (Chinese, Japanese, Thai, Lao, Tibetan, Burmese, Khmer) each
    letter is a word.
    """
    if _ngrams and ngram <= _LARGEST:
        return Ngrams(*_ngrams.ngrams(paragraphs, ngram, True, OCTETS))
    return _of_reference([text.encode("utf-8", "surrogatepass") for text in paragraphs], ngram, True)


def words(paragraphs: Sequence[str]) -> int:
    """Return the number of words of a document, as its n-grams count them: 10 µs per 500 words."""
    return _total(of(paragraphs))


def of_octets(paragraphs: Sequence[bytes], ngram: int, tokens: bool) -> Ngrams:
    """Return the same for paragraphs in UTF-8. `tokens`: each line is one word, as in a vertical file."""
    if _ngrams and ngram <= _LARGEST:
        return Ngrams(*_ngrams.ngrams(paragraphs, ngram, not tokens, OCTETS))
    return _of_reference(paragraphs, ngram, not tokens)


def joined(document: Ngrams) -> Ngrams:
    """Return the document as a single paragraph, which is then kept or removed whole."""
    return Ngrams(_total(document).to_bytes(8, sys.byteorder), document.hashes, document.repeated)


def _total(document: Ngrams) -> int:
    return sum(memoryview(document.lengths).cast("q"))


def _of_reference(paragraphs: Sequence[bytes], ngram: int, natural: bool) -> Ngrams:
    from windrow.dedup import hashing

    return Ngrams(*hashing.ngrams(paragraphs, ngram, natural))
