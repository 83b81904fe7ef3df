"""Deduplication: find text that an earlier page already brought into the corpus.

A document comes in as paragraphs; out goes a flag for each paragraph that duplicates earlier text. Two kinds are found:

- exact duplicates: `text_key` is equal for equal clean text. (Equal payloads are found by their SHA-1, which the
  archive computes anyway.)
- near-duplicates: `onion` applies the rule of onion (Pomikálek 2011) to the word 7-grams of each paragraph.

The work is cut in two, because workers see one page and the duplicates depend on all of them. `ngrams` hashes the
n-grams of a document: the expensive half, which needs only the document and runs in the workers. `onion.mark` compares
them with the `table` of all n-grams seen and adds the new ones: it runs in one owner per node, in the order of `seq`.
`seen` keeps that table across restarts.

The inner loops are in the C kernel `_ngrams`. `hashing`, `onion` and `generation` each hold the reference
implementation in numpy: tests compare the kernel with it, and it runs where no compiler built the kernel.
"""

from collections.abc import Sequence

import xxhash


def text_key(paragraphs: Sequence[str]) -> int:
    """Return a 64-bit hash of the clean text: equal for equal paragraphs."""
    return xxhash.xxh3_64_intdigest("\n".join(paragraphs).encode("utf-8", "surrogatepass"))
