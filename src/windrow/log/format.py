"""The log of a crawl as a format: frames of reports, to bytes and back. It is the truth; the frontier's store is a view of it.

A frame is one gzip member: a line that says which frame it is and how long every other file is at this commit, then one line
for each report. A member that is cut short does not exist. The same lines, folded, are the counts that `status` shows.
Who writes the files is crawl/log.py; everyone reads them from here.
"""

import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import msgspec
from isal import igzip_lib

from windrow import urls
from windrow.config import ConfigError
from windrow.data import Frame, Kind, Place, Reason, Report, Robots, Task, Url

_MAGIC = b"\x1f\x8b\x08"  # of a gzip member
_Damage = cast(type[Exception], igzip_lib.IsalError)  # its stub says it is an exception, not a class of them

Position = tuple[str, int]  # file name, offset


class _Found(msgspec.Struct, array_like=True):
    url: str
    depth: int
    distance: int
    redirects: int
    priority: int
    via: str = ""  # seeds have none; a link's is the report's own URL


class Head(msgspec.Struct, omit_defaults=True):
    """The first line of a frame."""

    frame: int
    time: float
    lengths: dict[str, int]
    seeds: list[_Found] = []
    in_hand: int = 0


class _Line(msgspec.Struct, omit_defaults=True):
    url: str
    reason: str
    time: float
    seq: int = 0
    status: int = 0
    seconds: float = 0.0
    downloaded: int = 0
    clean: int = 0
    primary: int = 0
    kept: int = 0
    language: str = ""
    scores: dict[str, float] = {}
    text: int = 0
    place: tuple[str, int, int] | None = None
    digest: str = ""
    detail: str = ""
    kind: int = 0
    priority: int = 128
    depth: int = 0
    distance: int = 0
    redirects: int = 0
    via: str = ""
    attempt: int = 0
    shape: int = 0
    final: bool = True
    until: float = 0.0
    address: str = ""
    robots: Robots | None = None
    found: list[_Found] = []
    refused: dict[str, int] = {}


_encode = msgspec.json.Encoder().encode
_head = msgspec.json.Decoder(Head)
_line = msgspec.json.Decoder(_Line)


def encode(frame: Frame) -> bytes:
    """A frame as the gzip member that the log keeps."""
    seeds = [_found(task, task.via) for task in frame.seeds]
    lines = [_encode(Head(frame.number, frame.time, frame.lengths, seeds, frame.in_hand))]
    lines += [_encode(_written(report)) for report in frame.reports]
    lines.append(b"")
    return bytes(igzip_lib.compress(b"\n".join(lines), 1, igzip_lib.COMP_GZIP))


def _found(task: Task, via: str = "") -> _Found:
    return _Found(task.url.text, task.depth, task.distance, task.redirects, task.priority, via)


def _written(report: Report) -> _Line:
    task, place = report.task, report.place
    return _Line(
        url=task.url.text,
        reason=report.reason.value,
        time=report.time,
        seq=report.seq,
        status=report.status,
        seconds=report.seconds,
        downloaded=report.downloaded,
        clean=report.clean,
        primary=report.primary,
        kept=report.kept,
        language=report.language,
        scores=report.scores,
        text=report.text,
        place=(place.file, place.offset, place.length) if place else None,
        digest=report.digest,
        detail=report.detail,
        kind=task.kind,
        priority=task.priority,
        depth=task.depth,
        distance=task.distance,
        redirects=task.redirects,
        via=task.via,
        attempt=task.attempt,
        shape=report.shape,
        final=report.final,
        until=report.until,
        address=report.address,
        robots=report.robots,
        found=[_found(link) for link in report.found if link.kind is Kind.PAGE],
        refused=report.refused,
    )


def decode(text: bytes) -> Frame:
    """The frame behind the text of a member."""
    first, *rest = text.splitlines()
    head = _head.decode(first)
    seeds = tuple([_task(seed, seed.via) for seed in head.seeds])
    reports = tuple([_read(_line.decode(line)) for line in rest])
    return Frame(head.frame, head.time, reports, head.lengths, seeds, head.in_hand)


def _task(found: _Found, via: str) -> Task:
    return Task(_url(found.url), Kind.PAGE, found.priority, found.depth, found.distance, found.redirects, via)


def _url(text: str) -> Url:
    """A canonical URL as it was: it is not made canonical again, so that a newer rule does not change an old log."""
    start = text.index("//") + 2
    authority = text[start : text.index("/", start)]
    host = authority[: authority.index("]") + 1] if authority.startswith("[") else authority.partition(":")[0]
    return Url(text, host, urls.domain(host), urls.key(text))


def _read(line: _Line) -> Report:
    task = Task(
        _url(line.url),
        Kind(line.kind),
        line.priority,
        line.depth,
        line.distance,
        line.redirects,
        line.via,
        line.attempt,
    )
    return Report(
        seq=line.seq,
        task=task,
        reason=Reason(line.reason),
        detail=line.detail,
        time=line.time,
        seconds=line.seconds,
        status=line.status,
        downloaded=line.downloaded,
        clean=line.clean,
        primary=line.primary,
        kept=line.kept,
        language=line.language,
        scores=line.scores,
        text=line.text,
        place=Place(*line.place) if line.place else None,
        digest=line.digest,
        shape=line.shape,
        final=line.final,
        until=line.until,
        address=line.address,
        robots=line.robots,
        found=tuple([_task(found, line.url) for found in line.found]),
        refused=line.refused,
    )


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("[0-9][0-9][0-9][0-9][0-9].jsonl.gz"))


def frames(directory: Path, start: Position = ("", 0), number: int | None = None) -> Iterator[tuple[Frame, Position]]:
    """Every whole frame from a position on, with the position behind it. Ends at the first that is not whole.

    number: of the frame before, where it is known.
    """
    for name in names(directory):
        if name < start[0]:
            continue
        offset = start[1] if name == start[0] else 0
        for text, end in _members(directory / name, offset):
            frame = decode(text)
            if number is not None and frame.number != number + 1:
                raise ConfigError(
                    f"{directory / name}: frame {frame.number} follows frame {number}; a log file is missing or was changed"
                )
            number = frame.number
            yield frame, (name, end)


def lost_frame(path: Path, offset: int) -> int | None:
    """Where a whole frame lies behind a place that cannot be read; None where there is none, as behind a frame cut short."""
    with path.open("rb") as file:
        file.seek(offset)
        tail = file.read()
    at = tail.find(_MAGIC)
    while at >= 0:
        inflate = zlib.decompressobj(31)
        with contextlib.suppress(zlib.error):
            if inflate.decompress(tail[at:]).startswith(b'{"frame":') and inflate.eof:
                return offset + at
        at = tail.find(_MAGIC, at + 1)
    return None


def _members(path: Path, offset: int) -> Iterator[tuple[bytes, int]]:
    with path.open("rb") as file:
        file.seek(offset)
        pending = b""
        while True:
            inflate = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)  # a third of zlib's time
            text: list[bytes] = []
            used = 0
            while not inflate.eof:
                chunk = pending or file.read(1 << 16)
                pending = b""
                if not chunk:
                    return
                try:
                    text.append(inflate.decompress(chunk))
                except _Damage:
                    return
                used += len(chunk) - len(inflate.unused_data)
            pending = inflate.unused_data
            offset += used
            yield b"".join(text), offset


class Tally(msgspec.Struct):
    """Reports folded into counts: while a crawl runs, and from its log."""

    seen: int = 0  # URLs admitted
    finished: dict[str, int] = {}
    retried: dict[str, int] = {}  # tries that failed and went back to the queue
    refused: dict[str, int] = {}  # links not admitted, by rule
    requests: int = 0
    archived: int = 0  # captures
    downloaded: int = 0  # bytes
    clean: int = 0  # bytes of main text
    kept: int = 0  # bytes of text that reached the corpus

    def add(self, report: Report) -> None:
        self._count(report.reason.value, report.final, report.task.kind, len(report.found))
        self._weigh(report)
        _sum(self.refused, report.refused)

    def add_line(self, line: "_Line") -> None:
        self._count(line.reason, line.final, line.kind, len(line.found))
        self._weigh(line)
        _sum(self.refused, line.refused)

    def _count(self, reason: str, final: bool, kind: int, found: int) -> None:
        if kind == Kind.PAGE:
            self.seen += found
            counts = self.finished if final else self.retried
            counts[reason] = counts.get(reason, 0) + 1

    def _weigh(self, told: "Report | _Line") -> None:
        self.requests += told.seconds > 0 or told.status > 0
        self.downloaded += told.downloaded
        self.archived += told.place is not None
        self.clean += told.clean
        self.kept += told.kept


def _sum(total: dict[str, int], counts: dict[str, int]) -> None:
    for rule, count in counts.items():
        total[rule] = total.get(rule, 0) + count


class Totals(msgspec.Struct):
    """A whole log, folded."""

    tally: Tally
    frames: int = 0
    in_hand: int = 0
    lengths: dict[str, int] = {}
    first: float = 0.0  # epoch seconds
    last: float = 0.0
    hosts: int = 0  # with an admitted URL


def fold(directory: Path) -> Totals:
    """The counts of a crawl, from its log alone and without making records: some 8 µs a page."""
    totals = Totals(Tally())
    hosts: set[str] = set()
    for head, lines, _ in texts(directory):
        totals.frames, totals.in_hand, totals.last = head.frame, head.in_hand, head.time
        totals.first = totals.first or head.time
        totals.lengths.update(head.lengths)
        totals.tally.seen += len(head.seeds)
        hosts.update(_authority(seed.url) for seed in head.seeds)
        for text in lines:
            line = _line.decode(text)
            totals.tally.add_line(line)
            hosts.update([_authority(found.url) for found in line.found])
    totals.hosts = len(hosts)
    return totals


def texts(directory: Path) -> Iterator[tuple[Head, list[bytes], Position]]:
    """Every whole frame that can be read: its head, its reports as they stand there, and the position behind it.

    What comes behind damage in one file is left out; the next file is read all the same. Whoever counts looks at the frames' numbers.
    """
    for name in names(directory):
        for text, end in _members(directory / name, 0):
            first, *lines = text.splitlines()
            yield _head.decode(first), lines, (name, end)


def _authority(text: str) -> str:
    return text.split("/", 3)[2]


class Mention(msgspec.Struct):
    """Where a log speaks of a URL."""

    frame: int
    time: float  # of the commit
    via: str | None  # found there; None: this is a report on the URL itself; empty: a seed
    report: Report | None = None


def mentions(directory: Path, url: str) -> Iterator[Mention]:
    """Every line that found this URL or reports on it, in order. Lines are searched as text and only those with it are read."""
    needle = _encode(url)
    for head, lines, _ in texts(directory):
        for seed in head.seeds:
            if seed.url == url:
                yield Mention(head.frame, head.time, seed.via)
        for text in lines:
            if needle not in text:
                continue
            line = _line.decode(text)
            if line.url == url and line.kind != Kind.RESOLVE:
                yield Mention(head.frame, head.time, None, _read(line))
            if any(found.url == url for found in line.found):
                yield Mention(head.frame, head.time, line.url)


def rules(directory: Path, origin: str) -> Robots | None:
    """The last robots.txt that the crawl had of an origin."""
    needle = _encode(origin)
    found = None
    for _, lines, _ in texts(directory):
        for text in lines:
            if needle in text:
                line = _line.decode(text)
                found = line.robots if line.robots and line.robots.origin == origin else found
    return found
