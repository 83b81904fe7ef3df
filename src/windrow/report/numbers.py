"""A folded log as the numbers that a report shows. `windrow report --json` prints these records as they are."""

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from windrow.batch import fold, replay
from windrow.batch.fold import Account, Folded, Part, Point, Watch
from windrow.batch.replay import Question, Replay
from windrow.batch.whatif import ratio

TOP = 25  # domains in a list of the best, and of the costliest
CELLS = 40  # of a scatter plot in a decade: domains closer than that are one dot
CURVE = 64  # points of a curve


class Share(msgspec.Struct, frozen=True):
    """One language, top-level domain or reason."""

    name: str
    urls: int  # pages with text, pages answered, or URLs finished
    documents: int
    words: int
    downloaded: int  # bytes
    clean: int  # bytes
    kept: int  # bytes
    rate: float = msgspec.field(name="yield")
    domains: int = 0


class Domain(msgspec.Struct, frozen=True):
    name: str
    pages: int
    documents: int
    downloaded: int
    kept: int
    rate: float = msgspec.field(name="yield")
    closed: int = 0  # URLs that were dropped when it was retired


class Cell(msgspec.Struct, frozen=True):
    """Domains of about the same size: one dot of the scatter plot."""

    downloaded: float  # bytes, the middle of the cell
    kept: float  # bytes; 0 where nothing was kept
    domains: int
    retired: int  # of these, by this crawl
    name: str  # of the first


class Sum(msgspec.Struct, frozen=True):
    """Two ways to the same number."""

    what: str
    total: int
    parts: dict[str, int]
    holds: bool


class Numbers(msgspec.Struct, frozen=True):
    """A crawl."""

    name: str
    first: float  # epoch seconds of the first commit
    last: float
    seconds: float  # of crawling
    frames: int
    seen: int  # URLs
    waiting: int  # of these, not finished: in a queue or in hand
    pages: int  # answered
    documents: int
    words: int
    downloaded: int  # bytes of pages
    clean: int
    kept: int
    rate: float = msgspec.field(name="yield")
    domains: int = 0
    retired: int = 0  # domains of which URLs were dropped for low yield
    sums: list[Sum] = []
    reasons: list[Share] = []
    retried: dict[str, int] = {}
    refused: dict[str, int] = {}
    languages: list[Share] = []
    tlds: list[Share] = []
    richest: list[Domain] = []
    costliest: list[Domain] = []  # bytes without text, most first
    replay: Replay | None = None
    curve: list[Point] = []  # not summed up: each point is its own stretch
    cells: list[Cell] = []
    notes: list[str] = []


def read(directory: Path, asked: Question, watch: Watch | None = None) -> Numbers:
    folded = fold.fold(directory, replay.rules(asked, directory), asked.unit, watch)
    return of(folded, asked, directory.resolve().name)


def of(folded: Folded, asked: Question, name: str) -> Numbers:
    accounts = folded.accounts
    total = _total(accounts.values())
    finished = sum(part.urls for part in folded.finished.values())
    return Numbers(
        name=name,
        first=folded.first,
        last=folded.last,
        seconds=folded.seconds,
        frames=folded.frames,
        seen=folded.seen,
        waiting=folded.seen - finished,
        pages=total.urls,
        documents=total.documents,
        words=total.words,
        downloaded=total.downloaded,
        clean=total.clean,
        kept=total.kept,
        rate=total.rate,
        domains=len(accounts),
        retired=sum(1 for account in accounts.values() if account.closed),
        sums=_sums(folded, total),
        reasons=_shares(folded.finished, lambda share: (-share.urls, share.name)),
        retried=_by_size(folded.retried),
        refused=_by_size(folded.refused),
        languages=_shares(folded.languages, lambda share: (-share.kept, -share.clean, share.name)),
        tlds=_tlds(accounts),
        richest=_domains(accounts, lambda account: account.kept),
        costliest=_domains(accounts, lambda account: account.downloaded - account.kept),
        replay=replay.of(folded, asked),
        curve=fold.joined(folded.points, math.ceil(len(folded.points) / CURVE)) if folded.points else [],
        cells=_cells(accounts),
        notes=folded.notes,
    )


def _by_size(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _total(accounts: Iterable[Account], name: str = "") -> Share:
    """Accounts taken together."""
    found = list(accounts)
    downloaded = sum(account.downloaded for account in found)
    kept = sum(account.kept for account in found)
    return Share(
        name=name,
        urls=sum(account.pages for account in found),
        documents=sum(account.documents for account in found),
        words=round(sum(account.words for account in found)),
        downloaded=downloaded,
        clean=sum(account.clean for account in found),
        kept=kept,
        rate=ratio(kept, downloaded),
        domains=len(found),
    )


def _shares(parts: dict[str, Part], order: Callable[[Share], tuple[object, ...]]) -> list[Share]:
    shares = []
    for name, part in parts.items():
        rate = ratio(part.kept, part.downloaded)
        shares.append(
            Share(name, part.urls, part.documents, round(part.words), part.downloaded, part.clean, part.kept, rate)
        )
    return sorted(shares, key=order)


def _tlds(accounts: dict[str, Account]) -> list[Share]:
    groups: dict[str, list[Account]] = {}
    for name, account in accounts.items():
        groups.setdefault(tld(name), []).append(account)
    shares = [_total(group, name) for name, group in groups.items()]
    return sorted(shares, key=lambda share: (-share.kept, -share.urls, share.name))


def tld(domain: str) -> str:
    """Top-level domain; an address has none."""
    last = domain.rpartition(".")[2]
    return "(address)" if last.isdigit() or last.endswith("]") else last


def _domains(accounts: dict[str, Account], worth: Callable[[Account], int]) -> list[Domain]:
    ranked = sorted(
        ((worth(account), name) for name, account in accounts.items()), key=lambda entry: (-entry[0], entry[1])
    )
    found = []
    for value, name in ranked[:TOP]:
        account = accounts[name]
        if value > 0:
            rate = ratio(account.kept, account.downloaded)
            found.append(
                Domain(name, account.pages, account.documents, account.downloaded, account.kept, rate, account.closed)
            )
    return found


def _cells(accounts: dict[str, Account]) -> list[Cell]:
    groups: dict[tuple[int, int | None], list[str]] = {}
    for name, account in accounts.items():
        if account.downloaded > 0:
            groups.setdefault(
                (_step(account.downloaded), _step(account.kept) if account.kept > 0 else None), []
            ).append(name)
    cells = []
    for (x, y), names in sorted(groups.items(), key=lambda entry: (entry[0][0], entry[0][1] or -1)):
        retired = sum(1 for name in names if accounts[name].closed)
        kept = 10 ** (y / CELLS) if y is not None else 0.0
        cells.append(Cell(10 ** (x / CELLS), kept, len(names), retired, min(names)))
    return cells


def _step(count: int) -> int:
    return round(math.log10(count) * CELLS)


def _sums(folded: Folded, total: Share) -> list[Sum]:
    """What must add up. The first is the promise: each URL that was seen waits, or ended in one way."""
    ends = {name: part.urls for name, part in folded.finished.items()}
    left = folded.seen - sum(ends.values())
    pages = total.downloaded
    kept = {name or "(no language)": part.kept for name, part in folded.languages.items() if part.kept}
    return [
        _sum("URLs seen", folded.seen, {**_by_size(ends), "waiting or in hand": max(left, 0)}),
        _sum(
            "bytes downloaded",
            folded.downloaded,
            {"pages": pages, "robots.txt": folded.robots, "broken off": folded.broken},
        ),
        _sum("bytes of text kept", total.kept, _by_size(kept)),
        _sum(
            "documents",
            total.documents,
            {name: part.documents for name, part in folded.finished.items() if part.documents},
        ),
    ]


def _sum(what: str, total: int, parts: dict[str, int]) -> Sum:
    return Sum(what, total, parts, total == sum(parts.values()))
