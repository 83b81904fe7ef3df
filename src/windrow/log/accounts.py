"""A fold over the log by domain or host, by language, by reason, and over time.

One pass; memory is bounded by the number of domains. Yield is policy, and one stage does not import another: the caller
passes the function that books a page into the account of its domain, see `frontier.policy.whatif`.
"""

from collections.abc import Callable, Sequence

import msgspec

from windrow import urls
from windrow.config import ConfigError
from windrow.log.fold import crawling
from windrow.log.format import Head, Line
from windrow.records import Kind, Reason
from windrow.takedown import Takedown

UNITS = ("domain", "host")
HOSTS = 1 << 18  # host names whose account is remembered
LISTED = "(takedown)"  # the account of all hosts on the takedown list
POINTS = 512  # of a timeline at most; when there are more, two become one
_LOW_YIELD = Reason.LOW_YIELD.value
_PAGE = Kind.PAGE


class SiteAccount(msgspec.Struct, array_like=True, gc=False):
    """The requests to a domain, or to a host, and the text they gave. It has the fields that `budget` decides by."""

    pages: int = 0  # requests for pages that were answered
    downloaded: int = 0  # bytes of these
    clean: int = 0  # bytes
    primary: int = 0  # bytes
    kept: int = 0  # bytes
    yields: int = 0  # of its pages, summed, in millionths
    documents: int = 0  # pages with text in the corpus
    tokens: int = 0  # words of these
    closed: int = 0  # URLs that were never requested, because it was retired
    retired: int = 0  # bit n: rule n of a what-if has retired it


class Part(msgspec.Struct):
    """The URLs of one language or one reason."""

    urls: int = 0
    documents: int = 0
    downloaded: int = 0  # bytes
    clean: int = 0  # bytes
    kept: int = 0  # bytes
    tokens: int = 0

    def add(self, line: Line) -> None:
        self.urls += 1
        self.downloaded += line.downloaded
        self.clean += line.clean
        if line.kept:
            self.documents += 1
            self.kept += line.kept
            self.tokens += line.tokens


class Point(msgspec.Struct):
    """A stretch of the crawl."""

    pages: int = 0
    downloaded: int = 0  # bytes
    clean: int = 0  # bytes
    kept: int = 0  # bytes
    seconds: float = 0.0  # of crawling, from the beginning to the end of this stretch


class ScoreSum(msgspec.Struct):
    """One score of the judges, summed over the pages that have it."""

    pages: int = 0
    total: float = 0.0
    documents: int = 0  # of these pages, those in the corpus
    kept: float = 0.0  # the sum over the documents


class Accounts:
    """What a crawl downloaded and kept, by where it came from."""

    reads = (
        *("url", "kind", "embed", "reason", "final", "status", "language", "scores", "history"),
        *("downloaded", "clean", "primary", "kept", "tokens"),
    )

    def __init__(
        self, book: Callable[[SiteAccount, Line], None], unit: str = "domain", listed: Takedown | None = None
    ) -> None:
        """`listed`: a takedown list. Its pages count as pages without text, and its hosts are not named."""
        if unit not in UNITS:
            raise ConfigError(f"--by {unit!r} is neither 'domain' nor 'host'")
        self.sites: dict[str, SiteAccount] = {}  # with an answered page, or with URLs dropped for low yield
        self.languages: dict[str, Part] = {}
        self.reasons: dict[str, Part] = {}
        self.scores: dict[str, ScoreSum] = {}
        self.other = 0  # bytes of robots.txt, requisites and everything else that is not a page
        self.broken = 0  # bytes of exchanges without an answer
        self._book = book
        self._by_host = unit == "host"
        self._listed = listed or None
        self._by_authority: dict[str, SiteAccount] = {}  # by host and port
        self._timeline = Timeline()
        self._beside: list[Point] = []  # of other shards
        self._seconds = 0.0  # of crawling
        self._last = 0.0  # epoch seconds of the last commit

    @property
    def points(self) -> list[Point]:
        """The stretches of the crawl; those of shards, which run at the same time, in the order of their ends."""
        return sorted([*self._beside, *self._timeline.points], key=lambda point: point.seconds)

    def next_shard(self) -> None:
        """Count what follows as the log of another shard of the same crawl. A domain is in one shard only."""
        self._beside += self._timeline.points
        self._timeline = Timeline()
        self._seconds = self._last = 0.0

    def add(self, head: Head, lines: Sequence[Line]) -> None:
        self._seconds += crawling(self._last or head.time, head.time)
        self._last = head.time
        for order in head.orders:
            for reason, count in order.reopened.items():
                _part(self.reasons, reason).urls -= count  # they will end once more
        for line in lines:
            self._add(line)

    def _add(self, line: Line) -> None:
        if line.kind is not _PAGE or line.embed:  # the frontier books no requisite either
            self.other += line.downloaded
            return
        if self._listed and self._listed.covers(line.url):
            line = msgspec.structs.replace(line, clean=0, primary=0, kept=0, tokens=0, language="", scores={})
        scores = line.scores
        if scores:
            self._score(scores, bool(line.kept))
        if line.final:
            _part(self.reasons, line.reason).add(line)
            if line.history:
                _part(self.reasons, line.history[1]).urls -= 1  # its URL has ended with another reason since
        if line.status:
            self._answered(line)
            return
        self.broken += line.downloaded
        if line.reason == _LOW_YIELD:
            self._site(line.url).closed += 1

    def _score(self, scores: dict[str, float], kept: bool) -> None:
        for name, score in scores.items():
            sums = self.scores.get(name)
            if sums is None:
                sums = self.scores[name] = ScoreSum()
            sums.pages += 1
            sums.total += score
            if kept:
                sums.documents += 1
                sums.kept += score

    def _answered(self, line: Line) -> None:
        site = self._site(line.url)
        self._book(site, line)
        if line.kept:
            site.documents += 1
            site.tokens += line.tokens
        if line.clean or line.kept:
            _part(self.languages, line.language).add(line)
        self._timeline.add(line, self._seconds)

    def _site(self, url: str) -> SiteAccount:
        authority = url.split("/", 3)[2]
        site = self._by_authority.get(authority)
        if site is None:
            host = urls.host_of(url)
            name = host if self._by_host else urls.domain(host)
            if self._listed and self._listed.covers_host(host):
                name = LISTED
            site = self.sites.setdefault(name, SiteAccount())
            if len(self._by_authority) >= HOSTS:
                self._by_authority.clear()
            self._by_authority[authority] = site
        return site


def _part(parts: dict[str, Part], name: str) -> Part:
    part = parts.get(name)
    if part is None:
        part = parts[name] = Part()
    return part


class Timeline:
    """A crawl cut into stretches of equally many pages: at most 512, however long it is."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self._width = 1  # pages

    def add(self, line: Line, seconds: float) -> None:
        point = self.points[-1] if self.points else None
        if point is None or point.pages >= self._width:
            if len(self.points) >= POINTS:
                self.points = joined(self.points, 2)
                self._width *= 2
            point = Point()
            self.points.append(point)
        point.pages += 1
        point.downloaded += line.downloaded
        point.clean += line.clean
        point.kept += line.kept
        point.seconds = seconds


def joined(points: Sequence[Point], count: int) -> list[Point]:
    """Return fewer stretches: each `count` of them become one."""
    whole = []
    for start in range(0, len(points), count):
        first, *others = points[start : start + count]
        point = msgspec.structs.replace(first)
        for other in others:
            point.pages += other.pages
            point.downloaded += other.downloaded
            point.clean += other.clean
            point.kept += other.kept
            point.seconds = other.seconds
        whole.append(point)
    return whole
