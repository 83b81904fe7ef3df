"""Soft 404: "not found" pages that the host sends with status 200, found by their similarity to a known one.

The crawl requests from each origin, once, a page that cannot exist. If the origin answers with status 200, a sketch of
that answer is kept: of the hashes of all its word triples the 256 smallest. From a sketch and a page one can estimate
the share of word triples that the two texts have in common (Broder's bottom-k sketch). A page that shares nearly all of
them is the same answer again.
"""

import base64
import re
import struct
import zlib
from collections.abc import Sequence

from windrow.config import Config
from windrow.judge.ruling import KEPT, Facts, Judge, Ruling
from windrow.records import Page, Reason

SCORE = "soft_404"

_SIZE = 256  # hashes in a sketch: the error of the similarity is about .03
_NUMBER_OR_PATH = re.compile(r"[\d/]")


def build(config: Config, inner: Judge | None = None) -> Judge:
    threshold = config.quality.soft_404

    def judge(page: Page, facts: Facts) -> Ruling:
        if not facts.sketch or not threshold:
            return KEPT
        score = round(similarity(facts.sketch, page), 4)
        if score < threshold:
            return Ruling(scores={SCORE: score})
        detail = f"{score:.0%} similar to the host's answer for a page that cannot exist"
        return Ruling(scores={SCORE: score}, reason=Reason.SOFT_404, detail=detail)

    return judge


def sketch(page: Page) -> str:
    """Return the sketch of a page's whole visible text; "" if it has no words."""
    hashes = sorted(_hashes(page))[:_SIZE]
    return base64.b85encode(struct.pack(f">{len(hashes)}I", *hashes)).decode()


def similarity(sketch: str, page: Page) -> float:
    """Estimate the share of word triples that both texts have, among those that either has."""
    data = base64.b85decode(sketch)
    known = set(struct.unpack(f">{len(data) // 4}I", data))
    own = _hashes(page)
    either = known | own
    if len(known) == _SIZE:  # the sketched text may have more: only the smallest hashes of the union are known for both
        either = set(sorted(either)[:_SIZE])
    return len(known & own & either) / len(either) if either else 0.0


def triples(texts: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the word triples of a text, without numbers and paths: an error page repeats the requested URL."""
    words = [word for word in " ".join(texts).lower().split() if not _NUMBER_OR_PATH.search(word)]
    if len(words) < 3:
        return {tuple(words)} if words else set()
    return set(zip(words, words[1:], words[2:], strict=False))


def _hashes(page: Page) -> set[int]:
    found = triples([paragraph.text for paragraph in page.paragraphs])
    return {zlib.crc32("\0".join(triple).encode("utf-8", "replace")) for triple in found}
