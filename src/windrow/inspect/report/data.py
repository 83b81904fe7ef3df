"""The numbers of a report, from the folded log. `windrow report --json` prints these records as they are."""

import math
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

import windrow
from windrow import config, log, sharding, takedown
from windrow.frontier.policy.whatif import Question, WhatIf, WhatIfTables, ratio
from windrow.inspect.report import heldout, samples
from windrow.inspect.report.samples import TextSample
from windrow.log import Accounts, SiteAccount, Tally, Totals, Watch
from windrow.log.accounts import Part, Point, ScoreSum, joined
from windrow.records import CrawlEvaluation

TOP = 25  # domains in the list of those with most text, and of those that cost most
CELLS = 40  # per decade of a scatter plot: domains in the same cell are one dot
CURVE = 64  # points of a curve


class Share(msgspec.Struct, frozen=True):
    """The totals of one language, top-level domain or reason."""

    name: str
    urls: int  # pages with text, pages answered, or URLs finished
    documents: int
    tokens: int
    downloaded: int  # bytes
    clean: int  # bytes
    kept: int  # bytes
    rate: float = msgspec.field(name="yield")
    domains: int = 0


class RankedSite(msgspec.Struct, frozen=True):
    """A domain, or a host, in a list of the first."""

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
    name: str  # of one of them


class Sum(msgspec.Struct, frozen=True):
    """A number counted in two ways."""

    what: str
    total: int
    parts: dict[str, int]
    holds: bool


class ScoreMean(msgspec.Struct, frozen=True):
    """A score of the judges, built-in or the user's own."""

    name: str
    pages: int  # that have it
    mean: float
    documents: int
    documents_mean: float  # 0 without documents


class Numbers(msgspec.Struct, frozen=True):
    """A crawl in numbers."""

    name: str
    first: float  # epoch seconds of the first commit
    last: float
    seconds: float  # of crawling
    frames: int
    seen: int  # URLs admitted
    waiting: int  # of these, not finished: waiting or in flight
    responses: int  # answers to requests for URLs of the crawl, whatever the status; the yield counts these
    pages: int  # of these, with a 2xx status
    documents: int
    tokens: int
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
    scores: list[ScoreMean] = []
    richest: list[RankedSite] = []
    costliest: list[RankedSite] = []  # bytes without text, most first
    what_if: WhatIfTables | None = None
    curve: list[Point] = []  # one point per stretch of the crawl, not cumulative
    cells: list[Cell] = []
    notes: list[str] = []
    version: str = ""  # of Windrow, that made the report
    settings: str = ""  # the options of the crawl that differ from their defaults, as TOML
    samples: list[TextSample] = []
    evaluations: list[CrawlEvaluation] = []  # made by `windrow lm evaluate`: of this crawl, and of one compared with it


def read(directory: Path, unit: str = "domain", watch: Watch | None = None) -> Numbers:
    """Return the numbers of a crawl, from its log; of a crawl with shards, those of all that are here together.

    Yield and grace are those of the crawl's own options.
    """
    file = directory / "crawl.toml"
    options = config.load(file) if file.exists() else config.make((), directory)
    rules = WhatIf(Question(options.frontier, unit=unit))
    crawls = sharding.places(directory)
    listed = takedown.of(directory, *crawls)
    accounts = Accounts(rules.book, unit, listed)
    totals, texts = Totals(), list[TextSample]()
    for crawl in crawls:
        counts = log.fold(crawl, accounts, watch=watch)
        accounts.next_shard()
        texts += samples.read(crawl, counts.lengths, listed.covers, counts.frames)
        if crawls == [directory]:
            totals = counts
        else:
            totals.join(counts, crawl.name)
    tables = rules.tables(accounts.sites.values(), totals.notes)
    chance = random.Random(totals.frames)  # noqa: S311 - the same samples each time
    return msgspec.structs.replace(
        numbers(directory.resolve().name, totals, accounts, tables),
        version=windrow.__version__,
        settings=config.dump(options, changed=True),
        samples=chance.sample(texts, samples.COUNT) if len(texts) > samples.COUNT else texts,
        evaluations=heldout.read(directory),
    )


def numbers(name: str, totals: Totals, accounts: Accounts, tables: WhatIfTables) -> Numbers:
    """Return the numbers of a folded log."""
    sites, points = accounts.sites, accounts.points
    total = _total(sites.values())
    tally = totals.tally
    return Numbers(
        name=name,
        first=totals.first,
        last=totals.last,
        seconds=totals.seconds,
        frames=totals.frames,
        seen=tally.seen,
        waiting=tally.seen - sum(tally.finished.values()),
        responses=total.urls,
        pages=tally.pages,
        documents=total.documents,
        tokens=total.tokens,
        downloaded=total.downloaded,
        clean=total.clean,
        kept=total.kept,
        rate=total.rate,
        domains=len(sites),
        retired=sum(1 for site in sites.values() if site.closed),
        sums=_sums(tally, accounts, total),
        reasons=_shares(accounts.reasons, lambda share: (-share.urls, share.name)),
        retried=_by_size(tally.retried),
        refused=_by_size(tally.refused),
        languages=_shares(accounts.languages, lambda share: (-share.kept, -share.clean, share.name)),
        tlds=_tlds(sites),
        scores=[_mean(name, sums) for name, sums in sorted(accounts.scores.items())],
        richest=_ranked(sites, lambda site: site.kept),
        costliest=_ranked(sites, lambda site: site.downloaded - site.kept),
        what_if=tables,
        curve=joined(points, math.ceil(len(points) / CURVE)) if points else [],
        cells=_cells(sites),
        notes=totals.notes,
    )


def _mean(name: str, sums: ScoreSum) -> ScoreMean:
    kept = sums.kept / sums.documents if sums.documents else 0.0
    return ScoreMean(name, sums.pages, round(sums.total / sums.pages, 4), sums.documents, round(kept, 4))


def _by_size(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _total(accounts: Iterable[SiteAccount], name: str = "") -> Share:
    """Return the sum of accounts."""
    sites = list(accounts)
    downloaded = sum(account.downloaded for account in sites)
    kept = sum(account.kept for account in sites)
    return Share(
        name=name,
        urls=sum(account.pages for account in sites),
        documents=sum(account.documents for account in sites),
        tokens=sum(account.tokens for account in sites),
        downloaded=downloaded,
        clean=sum(account.clean for account in sites),
        kept=kept,
        rate=ratio(kept, downloaded),
        domains=len(sites),
    )


def _shares(parts: dict[str, Part], order: Callable[[Share], tuple[object, ...]]) -> list[Share]:
    shares = []
    for name, part in parts.items():
        rate = ratio(part.kept, part.downloaded)
        shares.append(
            Share(
                name,
                part.urls,
                documents=part.documents,
                tokens=part.tokens,
                downloaded=part.downloaded,
                clean=part.clean,
                kept=part.kept,
                rate=rate,
            )
        )
    return sorted(shares, key=order)


def _tlds(accounts: dict[str, SiteAccount]) -> list[Share]:
    groups: dict[str, list[SiteAccount]] = {}
    for name, account in accounts.items():
        groups.setdefault(tld(name), []).append(account)
    shares = [_total(group, name) for name, group in groups.items()]
    return sorted(shares, key=lambda share: (-share.kept, -share.urls, share.name))


def tld(domain: str) -> str:
    """Return the top-level domain; an IP address has none."""
    last = domain.rpartition(".")[2]
    return "(address)" if last.isdigit() or last.endswith("]") else last


def _ranked(accounts: dict[str, SiteAccount], worth: Callable[[SiteAccount], int]) -> list[RankedSite]:
    ranked = sorted(
        ((worth(account), name) for name, account in accounts.items()), key=lambda entry: (-entry[0], entry[1])
    )
    first = []
    for value, name in ranked[:TOP]:
        account = accounts[name]
        if value > 0:
            rate = ratio(account.kept, account.downloaded)
            first.append(
                RankedSite(
                    name,
                    account.pages,
                    documents=account.documents,
                    downloaded=account.downloaded,
                    kept=account.kept,
                    rate=rate,
                    closed=account.closed,
                )
            )
    return first


def _cells(accounts: dict[str, SiteAccount]) -> list[Cell]:
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


def _sums(tally: Tally, accounts: Accounts, total: Share) -> list[Sum]:
    """Return the sums that must hold. The first is a promise: each admitted URL waits, or finished with one reason."""
    left = tally.seen - sum(tally.finished.values())
    kept = {name or "(no language)": part.kept for name, part in accounts.languages.items() if part.kept}
    documents = {name: part.documents for name, part in accounts.reasons.items() if part.documents}
    bytes_from = {"pages": total.downloaded, "robots.txt": accounts.other, "broken off": accounts.broken}
    return [
        _sum("URLs admitted", tally.seen, {**_by_size(tally.finished), "waiting or in flight": max(left, 0)}),
        _sum("bytes downloaded", tally.downloaded, bytes_from),
        _sum("bytes of text kept", total.kept, _by_size(kept)),
        _sum("documents", total.documents, documents),
    ]


def _sum(what: str, total: int, parts: dict[str, int]) -> Sum:
    return Sum(what, total, parts, total == sum(parts.values()))
