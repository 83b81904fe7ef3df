"""Pages that are not there although the host says 200: known by their likeness to its answer for a page that cannot exist.

An origin that has given some pages is asked once for such a page. If it answers with status 200, the answer's text is kept as a sketch: of
all its word triples the few with the smallest hashes, by which the share of triples that two texts have in common can be reckoned (Broder's
bottom-k sketch). A page with nearly the same triples is the same answer again. `quality.likeness` is the exact measure.
"""

import base64
import struct
import zlib
from collections.abc import Iterable

import msgspec

from windrow.data import Page, Reason, Verdict
from windrow.judge import quality

ASKED = "?"  # in place of a sketch: make one of this page
NONE = "-"  # the origin was asked, and says honestly that there is no such page, or says nothing by which it could be known
SCORE = "soft_404"

_SIZE = 256  # hashes in a sketch: likeness is right to some .03


def sketch(page: Page) -> str:
    """A page's whole visible text, to be compared with; NONE where there is none."""
    hashes = sorted(_hashes(page))[:_SIZE]
    return base64.b85encode(struct.pack(f">{len(hashes)}I", *hashes)).decode() if hashes else NONE


def likeness(sketch: str, page: Page) -> float:
    """About the share of word triples that both have among those of either."""
    data = base64.b85decode(sketch)
    known = set(struct.unpack(f">{len(data) // 4}I", data))
    own = _hashes(page)
    either = known | own
    if (
        len(known) == _SIZE
    ):  # there may be more that the sketch does not have: only the smallest of either are known of both
        either = set(sorted(either)[:_SIZE])
    return len(known & own & either) / len(either) if either else 0.0


def judged(verdict: Verdict, page: Page, probe: str, threshold: float) -> Verdict:
    """The verdict on a page of a host whose answer for what is not there is known."""
    if probe == NONE or not threshold:
        return verdict
    score = round(likeness(probe, page), 4)
    verdict = msgspec.structs.replace(verdict, scores={**verdict.scores, SCORE: score})
    if score < threshold:
        return verdict
    detail = f"{score:.0%} like the host's answer for a page that cannot exist"
    return msgspec.structs.replace(verdict, reason=Reason.SOFT_404, detail=detail, digest=0)


def _hashes(page: Page) -> set[int]:
    return {zlib.crc32("\0".join(triple).encode("utf-8", "replace")) for triple in _triples(page)}


def _triples(page: Page) -> Iterable[tuple[str, ...]]:
    return quality.triples([paragraph.text for paragraph in page.paragraphs])
