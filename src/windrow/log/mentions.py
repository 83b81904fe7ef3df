"""What a log says about one URL, one origin or one text. Only the frames that may name it are read, see `search`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from windrow.log import format, search
from windrow.log.search import COPIES, LINKS, NAMES, ORDERS
from windrow.records import Entry, Kind, Order, Origin, Report


class Mention(msgspec.Struct):
    """A place of the log that names a URL."""

    frame: int
    time: float  # of the commit
    via: str | None  # the URL was found there; empty: it is a seed; None: this is a report on the URL, or an order
    entry: Entry | None = None  # with a report on the URL
    order: Order | None = None  # that may be about the URL


def mentions(directory: Path, url: str) -> list[Mention]:
    """Return every order, and every line that admitted this URL or reports on it, in the order of the log."""
    tokens = [format.quoted(url), ORDERS]
    known = list(_mentions(directory, url, {NAMES: tokens}))
    reports = [mention.entry.report for mention in known if mention.entry is not None]
    if _admitted(known) or any(report.task.kind is not Kind.PAGE for report in reports):
        return known
    # It was admitted by the page that its report names; where that is not so, or there is no report, by any page.
    pages = [format.quoted(report.task.via) for report in reports if report.task.via]
    known = list(_mentions(directory, url, {NAMES: [*tokens, *pages]})) if pages else known
    return known if _admitted(known) else list(_mentions(directory, url, {NAMES: tokens, LINKS: tokens[:1]}))


def _admitted(known: Sequence[Mention]) -> bool:
    return any(mention.via is not None for mention in known)


def _mentions(directory: Path, url: str, wanted: Mapping[str, Sequence[bytes]]) -> Iterator[Mention]:
    """Yield the mentions in the frames that have one of these tokens."""
    needle = format.quoted(url)
    for head, lines, _ in search.frames(directory, wanted):
        for order in head.orders:
            yield Mention(head.frame, head.time, None, order=order)
        for seed in head.seeds:
            if seed.url == url:
                yield Mention(head.frame, head.time, seed.via)
        for text in lines:
            if needle not in text:
                continue
            line = format.line(text)
            if line.url == url and line.kind != Kind.RESOLVE:
                yield Mention(head.frame, head.time, None, format.entry(line))
            if any(link.url == url for link in line.admitted):
                yield Mention(head.frame, head.time, line.url)


def rules(directory: Path, origin: str) -> Origin | None:
    """Return the latest rules that the crawl knew of an origin."""
    for text in search.newest(directory, format.quoted(origin)):
        line = format.line(text)
        if line.origin and line.origin.name == origin:
            return cast(Origin, line.origin)
    return None


def first_seen(directory: Path, copy: Report) -> str | None:
    """Return the URL of the first page with the payload or the clean text of this duplicate; None if the log has it no
    more. Pages whose text no judge accepted do not count, see `fingerprints`."""
    tokens = b"%d" % copy.text, format.quoted(copy.digest)
    needles = [b'"text":' + tokens[0], b'"digest":' + tokens[1]]
    for _, lines, _ in search.frames(directory, {COPIES: tokens}):
        for text in lines:
            if needles[0] not in text and needles[1] not in text:
                continue
            line = format.line(text)
            if line.url == copy.task.url.text or not line.text:
                continue
            if line.text == copy.text or line.digest == copy.digest:
                return str(line.url)
    return None
