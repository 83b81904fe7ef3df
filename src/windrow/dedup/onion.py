"""Near-duplicate paragraphs, by the rule of onion (Pomikálek 2011).

A paragraph is a duplicate if more than half of its words lie in n-grams seen before, in an earlier document or earlier
in its own. A short run of new paragraphs next to duplicates is removed with them. We add one rule: if most of a
document is duplicate, the rest is removed too (`DuplicateRule.whole`), because it is a fragment without context, or
spam assembled from the same sentences.
"""

import itertools

import msgspec
import numpy as np
import numpy.typing as npt

from windrow import config
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.table import NgramTable

try:
    from windrow.dedup import _ngrams
except ImportError:  # built without a compiler: the reference runs instead
    _ngrams = None  # type: ignore[assignment]


class DuplicateRule(msgspec.Struct, frozen=True):
    """The parameters of the rule; the defaults are those that onion was published with."""

    ngram: int = 7  # words
    threshold: float = 0.5  # share of a paragraph's words in seen n-grams; a duplicate has more
    smoothing: int = (
        20  # words; a run of new text of at most this length next to duplicates is removed with them; 0: off
    )
    whole: float = (
        1.0  # share of a document's words in duplicates, above which all of it is removed; 1, as in onion: off
    )

    @classmethod
    def of(cls, options: config.DedupOptions) -> "DuplicateRule":
        return cls(options.ngram, options.threshold, options.smoothing, options.max_seen)


class Marks(msgspec.Struct, frozen=True, gc=False):
    """The duplicate paragraphs of a document."""

    duplicate: tuple[bool, ...]  # by paragraph
    shares: tuple[float, ...]  # of each paragraph's words: those in n-grams seen before
    lengths: tuple[int, ...]  # words of each paragraph
    words: int
    removed: int  # words in duplicate paragraphs
    left: int  # words that stay: the others, or 0 if the whole document is removed

    @property
    def share(self) -> float:
        """The share of the document's words that lie in duplicate paragraphs."""
        return self.removed / max(1, self.words)


def mark(table: NgramTable, document: Ngrams, rule: DuplicateRule) -> Marks:
    """Mark the duplicate paragraphs of a document, and add the n-grams of all others to the table."""
    if _ngrams is None:
        return _mark(table, document, rule)
    octets = document.lengths, document.hashes, document.repeated
    young, old = table.states()
    found = _ngrams.mark(octets, (rule.ngram, rule.threshold, rule.smoothing, rule.whole), young, old)
    table.add_new(np.frombuffer(found[6], np.uint64))
    return Marks(duplicate=found[0], shares=found[1], lengths=found[2], words=found[3], removed=found[4], left=found[5])


def _mark(table: NgramTable, document: Ngrams, rule: DuplicateRule) -> Marks:
    """The reference implementation of the kernel's `mark`."""
    lengths = np.frombuffer(document.lengths, np.int64)
    found = table.find(np.frombuffer(document.hashes, np.uint64))
    seen = found.seen | np.frombuffer(document.repeated, np.bool_) if document.repeated else found.seen
    counts, covered = lengths.tolist(), _covered(lengths, seen, rule.ngram)
    duplicate = [part > 0 and part / count > rule.threshold for count, part in zip(counts, covered, strict=True)]
    if rule.smoothing:
        _smooth(duplicate, counts, rule.smoothing)
    words, removed = sum(counts), sum(itertools.compress(counts, duplicate))
    left = words - removed
    if removed > rule.whole * words:
        duplicate, left = [True] * len(duplicate), 0
    kept = ~np.repeat(np.array(duplicate, np.bool_), lengths)[rule.ngram - 1 :]  # by n-gram: the paragraph it ends in
    table.put(found, kept, bool(document.repeated))
    shares = tuple([part / count if part else 0.0 for count, part in zip(counts, covered, strict=True)])
    return Marks(tuple(duplicate), shares, lengths=tuple(counts), words=words, removed=removed, left=left)


def _covered(lengths: npt.NDArray[np.int64], seen: npt.NDArray[np.bool_], ngram: int) -> list[int]:
    """Count the words of each paragraph that lie in a seen n-gram which ends in the same paragraph."""
    if not seen.any():
        return [0] * len(lengths)
    ends = np.cumsum(lengths)
    words = int(ends[-1])
    ended = np.zeros(words + 1, np.int64)  # how many seen n-grams end before each word
    np.cumsum(seen, out=ended[ngram:])
    # A word is covered if a seen n-gram ends at it, or up to n - 1 words after it, but not after its paragraph.
    last = np.minimum(np.arange(ngram, ngram + words), np.repeat(ends, lengths))
    covered = np.zeros(words + 1, np.int64)
    np.cumsum(ended.take(last) > ended[:-1], out=covered[1:])
    counts: list[int] = (covered.take(ends) - covered.take(ends - lengths)).tolist()
    return counts


def _smooth(duplicate: list[bool], counts: list[int], limit: int) -> None:
    """Mark each run of new paragraphs of at most `limit` words between duplicates or ends of the document."""
    start, run = 0, 0
    for index in range(len(counts) + 1):
        if index < len(counts) and not duplicate[index]:
            run += counts[index]
            continue
        if run <= limit:
            duplicate[start:index] = [True] * (index - start)
        start, run = index + 1, 0
