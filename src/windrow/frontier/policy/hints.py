"""What a link says of its target, packed small: numbers from which the frontier learns the value of links.

A hint is a 16-bit hash of one feature, so that any number of words fits into a model of a fixed size:

    a word of the anchor             its first 6 words
    c word of the context            its 4 longest words: the longer a word, the rarer
    h language                       the primary subtag of the language that the link names
    r 0 to 7                         how well the words of the link and of its URL fit the topic of the crawl

Words are lower case and have letters only. Scripts without spaces give pairs of characters. Task.hints holds the
hints in two bytes each, the high one first: at most 24 bytes. They are written into log and store: what this module
computes from a link may change only together with a new letter, because a model would take the numbers for others.
"""

import re
import struct
from collections.abc import Iterable
from urllib.parse import unquote

import xxhash

from windrow import scripts
from windrow.records import Link

MOST = 12  # hints of a link
_ANCHOR = 6  # of them from the anchor
_CONTEXT = 4  # and from the context
_BUCKETS = 8  # of relevance

# Marks that belong to the letter before them: they are no letters for Python, and would cut words of many scripts.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0963\u0981-\u0dff\u0e31-\u0e4e\u0eb1-\u0ece\u0f71-\u0fbc\u102b-\u109d\u17b4-\u17d3\u1a55-\u1ac0"
    "\u1b00-\u1bff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20f0\ua8e0-\ua8f1"
)
_WORD = re.compile(rf"[^\W\d_]+(?:(?:(?!\d)[{_MARKS}])+[^\W\d_]*)*")
_RUN = re.compile(rf"[{scripts.UNSPACED}]+|[^{scripts.UNSPACED}]+")
_LATE = re.compile(f"[{scripts.FIRST}-\U0010ffff]")  # one range, which is found faster than the many of UNSPACED
_UNSPACED = re.compile(f"[{scripts.UNSPACED}]")
_OUTSIDE = "\"'()[]{}<>.,;:!?…-–—|/\\*#&+=•·«»“”„‘’‚‹›0123456789"  # around words
_PACKED = [struct.Struct(f">{count}H") for count in range(MOST + 1)]


def of(link: Link, relevance: float | None = None) -> bytes:
    """Return the hints of a link. `relevance`: how probably its `text` is on the topic, 0 to 1; None: no topic."""
    found = _hashes("a", words(link.anchor)[:_ANCHOR])
    if link.context:
        found += _hashes("c", sorted(words(link.context), key=len, reverse=True)[:_CONTEXT])
    if link.language:
        found += _hashes("h", [link.language.replace("_", "-").partition("-")[0]])
    if relevance is not None:
        found += _hashes("r", [str(min(max(int(relevance * _BUCKETS), 0), _BUCKETS - 1))])
    return _PACKED[len(found)].pack(*found)


def named(language: str) -> bytes:
    """Return the hint of a link that names this language."""
    return _PACKED[1].pack(*_hashes("h", [language]))


def features(data: bytes) -> list[int]:
    """Return the numbers that Task.hints holds."""
    count = len(data) // 2
    form = _PACKED[count] if count <= MOST else struct.Struct(f">{count}H")
    return list(form.unpack_from(data))


def text(link: Link) -> str:
    """Return the words of a link for a model of the topic: anchor, context, and what its URL says."""
    url = link.url.text
    path = unquote(url[url.index("/", 8) :]) if "%" in url else url[url.index("/", 8) :]
    return " ".join([link.anchor, link.context, *_WORD.findall(path)])


def words(text: str) -> list[str]:
    """Return the words of a text, each once, in their order; pairs of characters in scripts without spaces.

    Most parts between blanks are words already; the expression that finds words within the others is slow.
    """
    lowered = text.lower()
    found: list[str] = []
    for part in lowered.split():
        word = part if part.isalpha() else part.strip(_OUTSIDE)
        if word.isalpha():
            found.append(word)
        elif word:
            found += _WORD.findall(word)
    if not lowered.isascii() and _LATE.search(lowered):
        found = [pair for word in found for pair in _pairs(word)]
    return list(dict.fromkeys(found))


def _pairs(word: str) -> list[str]:
    """Return a word, or the pairs of characters of what is written without spaces in it."""
    found = []
    for run in _RUN.findall(word):
        pairs = len(run) > 2 and _UNSPACED.match(run)
        found += [run[start : start + 2] for start in range(len(run) - 1)] if pairs else [run]
    return found


def _hashes(kind: str, values: Iterable[str]) -> list[int]:
    seed = ord(kind)
    return [xxhash.xxh32_intdigest(value.encode("utf-8", "replace"), seed) & 0xFFFF for value in values]
