"""What depends on other pages: decided by one owner, page after page, in the order of `seq`.

The judges in the workers see a page by itself. Here it is held against all that came before: the same bytes, the same text, paragraphs that
were seen. A crawl does so as pages come in, a rebuild as it reads them from the archive, with the same result.
"""

import functools
import itertools
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from windrow import urls
from windrow.config import Signals
from windrow.corpus import document
from windrow.corpus.document import Draft
from windrow.data import Reason, Report, Signal, Verdict
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.onion import Marks
from windrow.frontier.local.frontier import claims
from windrow.judge import signals
from windrow.origin import robots, tdmrep
from windrow.refine import Refined

NEAR = "near_duplicates"  # score: share of the words in paragraphs that were seen before

Claim = Callable[
    [Sequence[tuple[int, int]]], Awaitable[list[int]]
]  # (digest, key of a URL) -> key of the first that claimed it
Settle = Callable[[Ngrams], Marks]  # which paragraphs were seen before; the others are from now on


class Leaf(msgspec.Struct, frozen=True):
    """A page between its reading and its keeping."""

    ip: str
    time: float  # epoch seconds when it was asked for
    rules: str  # of its origin's robots.txt, as they were then
    refined: Refined
    tdm: str = ""  # of its origin's tdmrep.json


class Weighed(msgspec.Struct, frozen=True):
    """A page whose fate is known."""

    report: Report
    draft: Draft | None = None  # of the document, where it goes into the corpus
    kept: Sequence[bool] | None = None  # which of its paragraphs; None: all
    signals: tuple[Signal, ...] = ()  # that its origin adds to it


class Owner:
    """`claim` and `seen` remember; `seen` is None where near-duplicates are not looked for."""

    def __init__(self, options: Signals, claim: Claim, seen: Settle | None) -> None:
        self._options = options
        self._claim = claim
        self._seen = seen

    async def weigh(self, report: Report, digest: str, leaf: Leaf, verdict: Verdict) -> Weighed:
        """The last judgements on a page, in the order of their cost. `digest` is its payload's."""
        report = judged(report, verdict)
        draft = leaf.refined.draft
        if draft is None:
            return Weighed(report)
        said = _signals(report, leaf) if leaf.rules or leaf.tdm else ()
        # A page may take back what its origin's tdmrep.json says.
        own = document.signals(draft) if leaf.tdm and said else ()
        reserved = signals.refuses((*own, *said), self._options) if said else ""
        if reserved:
            return _refused(report, Reason.OPTED_OUT, reserved)
        report = msgspec.structs.replace(report, digest=digest, text=verdict.digest)
        copied = await self._copied(report)
        if copied:
            return _refused(report, Reason.DUPLICATE, copied)
        if self._seen is None or leaf.refined.ngrams is None:
            return Weighed(msgspec.structs.replace(report, kept=sum(draft.sizes)), draft, None, said)
        ruling = self._seen(leaf.refined.ngrams)
        report = msgspec.structs.replace(report, scores={**report.scores, NEAR: round(ruling.share, 4)})
        if not ruling.left:
            return _refused(report, Reason.NEAR_DUPLICATE, f"{ruling.share:.0%} of its words were seen before")
        stays = [not seen for seen in ruling.duplicate]
        return Weighed(
            msgspec.structs.replace(report, kept=sum(itertools.compress(draft.sizes, stays))), draft, stays, said
        )

    async def _copied(self, report: Report) -> str:
        """What of the page another had first; "" where nothing."""
        key = report.task.url.key
        body, text = await self._claim([(digest, key) for digest in claims(report)])
        return "its bytes were met before" if body != key else "its text was met before" if text != key else ""


def line(weighed: Weighed, report: Report, leaf: Leaf, record: str) -> bytes:
    """The document of a page that is kept. `report` has its place; `record` is the name of the response record."""
    assert weighed.draft is not None and report.place is not None
    source = document.Source(
        id=record,
        url=report.task.url.text,
        time=leaf.time,
        ip=leaf.ip,
        place=report.place,
        digest=report.digest,
        language=report.language,
        scores=report.scores,
    )
    return document.line(weighed.draft, source, weighed.kept, weighed.signals)


def judged(report: Report, verdict: Verdict) -> Report:
    """What the judges say of a page by itself."""
    return msgspec.structs.replace(
        report,
        reason=verdict.reason,
        detail=verdict.detail,
        clean=verdict.clean,
        primary=verdict.primary,
        language=verdict.language,
        scores=verdict.scores,
    )


def _signals(report: Report, leaf: Leaf) -> tuple[Signal, ...]:
    """What its origin's robots.txt and tdmrep.json say of the use of this page."""
    lines = _signal_lines(leaf.rules)
    text = report.task.url.text
    path = text[len(urls.origin(text)) :] if lines or leaf.tdm else ""
    said = signals.robots(lines, path) if lines else ()
    reserved = tdmrep.parse(leaf.tdm).find(path) if leaf.tdm else None
    return said if reserved is None else said + signals.tdm_file(*reserved)


@functools.lru_cache(4096)
def _signal_lines(rules: str) -> tuple[str, ...]:
    return robots.parse(rules).signals


def _refused(report: Report, reason: Reason, detail: str) -> Weighed:
    return Weighed(msgspec.structs.replace(report, reason=reason, detail=detail))
