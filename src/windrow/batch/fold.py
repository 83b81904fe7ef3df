"""The log of a crawl, folded into accounts: by domain, language and reason, and over time. One pass; memory is bounded by the domains.

A line is read as far as it is needed and no further: what a report found is counted without being decoded, scores but two are skipped.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from windrow import log, urls
from windrow.config import ConfigError
from windrow.frontier.policy import budget
from windrow.frontier.policy.budget import YieldRule as Rule
from windrow.log.format import Head

UNITS = ("domain", "host")
HOSTS = 1 << 18  # host names whose account is remembered
POINTS = 512  # of a timeline at most; when there are more, two become one
PAUSE = 60.0  # seconds between two commits that count as crawling at most: a stopped crawl does not get older

Watch = Callable[[int], None]  # told how many bytes of the log were read since the last call


class _Scores(msgspec.Struct, frozen=True, gc=False):
    words: float = 0.0
    near_duplicates: float = 0.0


_NO_SCORES = _Scores()


class _Line(msgspec.Struct, gc=False):
    url: str
    reason: str
    status: int = 0
    seconds: float = 0.0
    downloaded: int = 0
    clean: int = 0
    primary: int = 0
    kept: int = 0
    language: str = ""
    scores: _Scores = _NO_SCORES
    kind: int = 0
    final: bool = True
    refused: dict[str, int] = {}


_decode = msgspec.json.Decoder(_Line).decode


class Account:
    """What a domain, or a host, was asked for and gave. It has what frontier/budget.py judges by."""

    __slots__ = ("clean", "closed", "documents", "downloaded", "kept", "pages", "primary", "retired", "words", "yields")

    def __init__(self) -> None:
        self.pages = 0  # requests for pages that were answered
        self.downloaded = 0  # bytes of these
        self.clean = 0
        self.primary = 0
        self.kept = 0
        self.yields = 0  # of its pages, summed, in millionths
        self.documents = 0  # pages with text in the corpus
        self.words = 0.0  # of these
        self.closed = 0  # URLs that were never asked for, as it was retired
        self.retired = 0  # bit n: the nth rule of a replay has closed it


class Part(msgspec.Struct):
    """Of all URLs, those of one language or one reason."""

    urls: int = 0
    documents: int = 0
    downloaded: int = 0  # bytes
    clean: int = 0  # bytes
    kept: int = 0  # bytes
    words: float = 0.0


class Point(msgspec.Struct):
    """A stretch of the crawl."""

    pages: int = 0
    downloaded: int = 0
    clean: int = 0
    kept: int = 0
    seconds: float = 0.0  # of crawling, from its beginning to the end of this stretch


class Outcome(msgspec.Struct):
    """What one rule would have done: it sees the pages in the order of the log, and a domain that it retires is not asked again."""

    rule: Rule
    retired: int = 0  # domains
    pages: int = 0  # not asked for
    downloaded: int = 0  # bytes of these
    kept: int = 0  # bytes of text lost with them


class Folded(msgspec.Struct):
    """A whole log."""

    accounts: dict[str, Account]
    outcomes: list[Outcome]
    languages: dict[str, Part] = {}
    finished: dict[str, Part] = {}  # by reason
    retried: dict[str, int] = {}  # tries that went back to the queue, by reason
    refused: dict[str, int] = {}  # links not admitted, by rule
    points: list[Point] = []
    seen: int = 0  # URLs admitted
    in_hand: int = 0
    requests: int = 0
    downloaded: int = 0  # bytes of everything, robots.txt and failures included
    robots: int = 0  # bytes of robots.txt files
    broken: int = 0  # bytes of exchanges that gave no answer
    first: float = 0.0  # epoch seconds
    last: float = 0.0
    seconds: float = 0.0  # of crawling
    frames: int = 0
    notes: list[str] = []  # what of the log could not be read


def fold(directory: Path, rules: Sequence[Rule] = (), unit: str = "domain", watch: Watch | None = None) -> Folded:
    """The log below a crawl's directory. `rules` are replayed beside."""
    if not (directory / "log").is_dir() and not (directory / "crawl.toml").exists():
        raise ConfigError(f"{directory} holds no crawl: there is neither a log/ nor a crawl.toml in it; check the path")
    work = _Work(Folded({}, [Outcome(rule) for rule in rules]), unit)
    sizes = {name: (directory / "log" / name).stat().st_size for name in log.names(directory / "log")}
    ends = dict.fromkeys(sizes, 0)
    try:
        for head, lines, (name, end) in log.raw_frames(directory / "log"):
            work.begin(head)
            for text in lines:
                work.read(text)
            if watch is not None:
                watch(end - ends.get(name, 0))
            ends[name] = end
    except (
        msgspec.MsgspecError,
        ValueError,
        IndexError,
    ) as error:  # ValueError: not UTF-8; IndexError: a URL that is none
        raise ConfigError(
            f"{directory / 'log'} cannot be read ({error}); it is damaged, or a newer Windrow wrote it"
        ) from None
    work.finish()
    work.folded.notes += _left_out(sizes, ends)
    return work.folded


def length(directory: Path) -> int:
    """Bytes of the log, for those who watch."""
    return sum((directory / "log" / name).stat().st_size for name in log.names(directory / "log"))


def _left_out(sizes: dict[str, int], ends: dict[str, int]) -> list[str]:
    """What stood behind the last frame that could be read: one cut short, or damage. What a running crawl adds meanwhile is neither."""
    rests = {name: size - ends[name] for name, size in sizes.items()}
    return [
        f"log/{name}: {rest:,} bytes behind the last whole frame were left out"
        for name, rest in rests.items()
        if rest > 0
    ]


class _Work:
    def __init__(self, folded: Folded, unit: str) -> None:
        self.folded = folded
        self._by_host = unit == "host"
        self._known: dict[str, Account] = {}  # by host and port
        rules = [outcome.rule for outcome in folded.outcomes]
        self._all = (1 << len(rules)) - 1
        self._grace = min([rule.grace_bytes for rule in rules], default=0)
        self._text = rules[0].text if rules else "kept"
        self._timeline = Timeline()

    def begin(self, head: Head) -> None:
        folded = self.folded
        if folded.frames and head.frame != folded.frames + 1:
            folded.notes.append(
                f"frame {head.frame} follows frame {folded.frames}: what lies between is lost or damaged, and not counted"
            )
        if folded.frames:
            folded.seconds += min(max(head.time - folded.last, 0.0), PAUSE)
        folded.first = folded.first or head.time
        folded.frames, folded.last, folded.in_hand = head.frame, head.time, head.in_flight
        folded.seen += len(head.seeds)

    def finish(self) -> None:
        self.folded.points = self._timeline.points
        self.folded.accounts = {
            name: account for name, account in self.folded.accounts.items() if account.pages or account.closed
        }

    def read(self, text: bytes) -> None:
        line = _decode(text)
        folded = self.folded
        folded.downloaded += line.downloaded
        folded.requests += line.seconds > 0 or line.status > 0
        if line.refused:
            for rule, count in line.refused.items():
                folded.refused[rule] = folded.refused.get(rule, 0) + count
        if line.kind:
            folded.robots += line.downloaded
            return
        # No text in JSON holds a bare quote, so this stands only between two links; a link begins with http.
        links = text.count(b'],["http')
        if links or b'"found":[["' in text:
            folded.seen += links + 1
        words = line.scores.words * (1 - line.scores.near_duplicates) if line.kept else 0.0
        if line.final:
            _add(folded.finished, line.reason, line, words)
        else:
            folded.retried[line.reason] = folded.retried.get(line.reason, 0) + 1
        if line.status:
            self._answered(line, words)
            return
        folded.broken += line.downloaded
        if line.reason == "low-yield":
            self._account(line.url).closed += 1

    def _answered(self, line: _Line, words: float) -> None:
        account = self._account(line.url)
        if account.retired:
            self._lose(account.retired, line)
        account.pages += 1
        account.downloaded += line.downloaded
        if line.clean or line.kept:
            self._enter(account, line, words)
        if account.retired != self._all and account.downloaded >= self._grace:
            self._judge(account)
        self._timeline.add(line, self.folded.seconds)

    def _enter(self, account: Account, line: _Line, words: float) -> None:
        """As budget.enter does it."""
        account.clean += line.clean
        account.primary += line.primary
        text = line.kept if self._text == "kept" else line.clean if self._text == "clean" else line.primary
        if text and line.downloaded > 0:
            account.yields += text * budget.PAGE // line.downloaded
        if line.kept:
            account.kept += line.kept
            account.documents += 1
            account.words += words
        _add(self.folded.languages, line.language, line, words)

    def _judge(self, account: Account) -> None:
        for number, outcome in enumerate(self.folded.outcomes):
            if not account.retired >> number & 1 and budget.retired(account, outcome.rule):
                account.retired |= 1 << number
                outcome.retired += 1

    def _lose(self, retired: int, line: _Line) -> None:
        for number, outcome in enumerate(self.folded.outcomes):
            if retired >> number & 1:
                outcome.pages += 1
                outcome.downloaded += line.downloaded
                outcome.kept += line.kept

    def _account(self, url: str) -> Account:
        authority = url.split("/", 3)[2]
        account = self._known.get(authority)
        if account is None:
            host = authority[: authority.index("]") + 1] if authority.startswith("[") else authority.partition(":")[0]
            name = host if self._by_host else urls.domain(host)
            account = self.folded.accounts.setdefault(name, Account())
            if len(self._known) >= HOSTS:
                self._known.clear()
            self._known[authority] = account
        return account


def _add(parts: dict[str, Part], name: str, line: _Line, words: float) -> None:
    part = parts.get(name)
    if part is None:
        part = parts[name] = Part()
    part.urls += 1
    part.downloaded += line.downloaded
    part.clean += line.clean
    if line.kept:
        part.documents += 1
        part.kept += line.kept
        part.words += words


class Timeline:
    """A crawl cut into stretches of equally many pages, some hundreds of them however long it is."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self._width = 1  # pages

    def add(self, line: _Line, seconds: float) -> None:
        point = self.points[-1] if self.points else None
        if point is None or point.pages >= self._width:
            if len(self.points) >= POINTS:
                self._widen()
            point = Point()
            self.points.append(point)
        point.pages += 1
        point.downloaded += line.downloaded
        point.clean += line.clean
        point.kept += line.kept
        point.seconds = seconds

    def _widen(self) -> None:
        self.points = joined(self.points, 2)
        self._width *= 2


def joined(points: Sequence[Point], count: int) -> list[Point]:
    """Each so many stretches become one."""
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
