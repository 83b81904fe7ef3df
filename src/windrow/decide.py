"""Decide what depends on other pages: one owner, page after page, in the order of `seq`.

The judges in the worker processes see one page. Here the page is compared with all earlier ones: same payload, same
clean text, paragraphs that are near-duplicates. A crawl decides as pages arrive; a rebuild decides as it reads them
from the archive, with the same result.
"""

import functools
import itertools
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from msgspec.structs import replace

from windrow import fingerprints, origin, urls
from windrow.config import SignalsOptions
from windrow.corpus import document
from windrow.corpus.document import Draft
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.onion import Marks
from windrow.judge import signals
from windrow.origin import robots
from windrow.records import Origin, Place, Reason, Signal, Url, Verdict
from windrow.refine import Refined

NEAR = "near_duplicates"  # score: share of the words that stand in near-duplicate paragraphs

FirstSeen = Callable[
    [Sequence[tuple[int, int]]], Awaitable[list[int]]
]  # (fingerprint, URL key) -> key of the first URL
Mark = Callable[[Ngrams], Marks]  # finds the near-duplicate paragraphs and remembers the n-grams of the others


class Candidate(msgspec.Struct, frozen=True):
    """A page whose duplicates are still to be checked."""

    url: Url
    digest: str  # SHA-1 of the payload in base32
    ip: str
    time: float  # epoch seconds of the request
    refined: Refined
    origin: Origin | None  # the record under which the page was requested
    truncated: str = ""  # see Capture


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement on a page after the check for duplicates."""

    reason: Reason
    detail: str = ""
    language: str = ""
    page_language: str = ""
    scores: dict[str, float] = {}
    clean: int = 0  # bytes of main text
    primary: int = 0  # of these, bytes in the first accepted language
    kept: int = 0  # bytes of text that go into the corpus
    tokens: int = 0  # words of this text
    text: int = 0  # fingerprint of the clean text; 0: the page has none, because a judge rejected it
    draft: Draft | None = None  # of the document, if the page goes into the corpus
    stays: Sequence[bool] | None = None  # which of its paragraphs go into the corpus; None: all
    signals: tuple[Signal, ...] = ()  # that its origin adds to the document


class Decider:
    """Decides with what is known of earlier pages: `first_seen` has fingerprints, `mark` n-grams (None: not wanted)."""

    def __init__(self, options: SignalsOptions, first_seen: FirstSeen, mark: Mark | None) -> None:
        self._options = options
        self._first_seen = first_seen
        self._mark = mark

    async def decide(self, candidate: Candidate, verdict: Verdict) -> Decision:
        """Return the decision on a page. The checks run in the order of their cost.

        If `first_seen` raises OSError, nothing has been remembered: the call may be repeated.
        """
        draft = candidate.refined.draft
        decision = _decision(verdict)
        if draft is None:
            return decision
        said = _signals(candidate)
        # A page may revoke what its origin's files say, so both count together.
        reserved = signals.refuses((*document.signals(draft), *said), self._options) if said else ""
        if reserved:
            return replace(decision, reason=Reason.OPTED_OUT, detail=reserved)
        copy = await self._copy(candidate, verdict.digest)
        if copy:
            return replace(decision, reason=Reason.DUPLICATE, detail=copy, text=verdict.digest)
        document_of = {"draft": draft, "signals": said, "text": verdict.digest}
        if self._mark is None or candidate.refined.ngrams is None:
            return replace(decision, kept=sum(draft.sizes), tokens=candidate.refined.words, **document_of)
        marks = self._mark(candidate.refined.ngrams)
        decision = replace(decision, scores={**verdict.scores, NEAR: round(marks.share, 4)})
        if not marks.left:
            detail = f"{marks.share:.0%} of its words are in near-duplicate paragraphs"
            return replace(decision, reason=Reason.NEAR_DUPLICATE, detail=detail, text=verdict.digest)
        stays = [not duplicate for duplicate in marks.duplicate]
        kept = sum(itertools.compress(draft.sizes, stays))
        return replace(decision, kept=kept, tokens=marks.left, stays=stays, **document_of)

    async def _copy(self, candidate: Candidate, text: int) -> str:
        """Return which fingerprint an earlier page has too; "" if none."""
        key = candidate.url.key
        pairs = [(fingerprint, key) for fingerprint in fingerprints.of(candidate.digest, text)]
        if not pairs:
            return ""
        payload, clean = await self._first_seen(pairs)
        if payload != key:
            return "same payload as an earlier page"
        return "same text as an earlier page" if clean != key else ""


def line(decision: Decision, candidate: Candidate, place: Place, record: str) -> bytes:
    """Return the document of a page that is kept. `record` is the id of its response record."""
    assert decision.draft is not None
    source = document.Source(
        id=record,
        url=candidate.url.text,
        time=candidate.time,
        ip=candidate.ip,
        place=place,
        digest=candidate.digest,
        language=decision.language,
        scores=decision.scores,
        truncated=candidate.truncated,
        page_language=decision.page_language,
    )
    return document.line(decision.draft, source, decision.stays, decision.signals)


def _decision(verdict: Verdict) -> Decision:
    """Return the verdict on a page without duplicates as a decision."""
    return Decision(
        reason=verdict.reason,
        detail=verdict.detail,
        language=verdict.language,
        page_language=verdict.page_language,
        scores=verdict.scores,
        clean=verdict.clean,
        primary=verdict.primary,
    )


def _signals(candidate: Candidate) -> tuple[Signal, ...]:
    """Return what the files of its origin say about the use of this page."""
    known = candidate.origin
    if known is None or not (known.rules or known.files):
        return ()
    lines = _signal_lines(known.rules) if known.rules else ()
    text = candidate.url.text
    path = text[len(urls.origin(text)) :]
    said = signals.robots(lines, path) if lines else ()
    return said + origin.signals(known, path)


@functools.lru_cache(4096)
def _signal_lines(rules: str) -> tuple[str, ...]:
    return robots.parse(rules).signals
