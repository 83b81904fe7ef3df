"""What a crawl knows of itself, for people and programs: its state in numbers, and what became of one URL.

Both come from the log alone, so they hold for a running crawl, a stopped one, and one whose state is lost.
"""

import fcntl
import os
from pathlib import Path

import msgspec

from windrow import log, urls
from windrow.config import Config, ConfigError
from windrow.data import Access, Url
from windrow.frontier.policy.scope import Scope
from windrow.origin import robots


class Status(msgspec.Struct):
    """The counts at the last commit. seen = waiting + in_hand + all of finished."""

    running: bool
    seen: int
    waiting: int
    in_hand: int
    finished: dict[str, int]
    retried: dict[str, int]
    refused: dict[str, int]
    hosts: int
    requests: int
    archived: int
    downloaded: int
    clean: int  # bytes of main text found
    kept: int  # bytes of text in the corpus
    bytes: dict[str, int]  # committed, by directory: the archive's three, corpus, seen
    frames: int
    first: float
    last: float


def status(directory: Path) -> Status:
    _check(directory)
    totals = log.fold(directory / "log")
    tally = totals.tally
    running = is_running(directory)
    left = tally.seen - sum(tally.finished.values())
    in_hand = min(totals.in_flight, left) if running else 0
    subsets: dict[str, int] = {}
    for name, length in totals.lengths.items():
        subset = name.partition("/")[0]
        subsets[subset] = subsets.get(subset, 0) + length
    return Status(
        running=running,
        seen=tally.seen,
        waiting=left - in_hand,
        in_hand=in_hand,
        finished=_by_size(tally.finished),
        retried=_by_size(tally.retried),
        refused=_by_size(tally.refused),
        hosts=totals.hosts,
        requests=tally.requests,
        archived=tally.archived,
        downloaded=tally.downloaded,
        clean=tally.clean,
        kept=tally.kept,
        bytes=subsets,
        frames=totals.frames,
        first=totals.first,
        last=totals.last,
    )


def _check(directory: Path) -> None:
    """A crawl that was not begun yet, or died before its first commit, is one with nothing in it."""
    if not (directory / "log").is_dir() and not (directory / "crawl.toml").exists():
        raise ConfigError(f"{directory} holds no crawl: there is neither a log/ nor a crawl.toml in it; check the path")


def is_running(directory: Path) -> bool:
    """Whether some process holds the crawl's lock."""
    try:
        handle = os.open(directory / "lock", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _by_size(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


class Event(msgspec.Struct):
    time: float
    what: str


class Story(msgspec.Struct):
    """What happened to a URL, in order, and what decided."""

    url: str  # canonical
    state: str  # "finished", "waiting", "never seen"
    reason: str  # of its end, or why it was never seen
    events: list[Event]
    place: str = ""  # where it is archived: FILE OFFSET LENGTH


def why(directory: Path, text: str, options: Config) -> Story:
    """What became of this URL."""
    url = urls.parse(text)
    if url is None:
        raise ConfigError(f"{text!r} is not an http or https URL; write it as it stands in a browser's address bar")
    _check(directory)
    story = Story(url.text, "never seen", "", [])
    for mention in log.mentions(directory / "log", url.text):
        _tell(story, mention)
    for event, following in zip(story.events[-2::-1], story.events[:0:-1], strict=True):
        event.time = min(event.time, following.time)  # what is known only by its commit happened before what followed
    if story.state == "never seen":
        story.reason = _unseen(directory, url, options)
    elif story.state == "waiting" and not story.reason:
        story.reason = _waits(directory, url)
    return story


def _tell(story: Story, mention: log.Mention) -> None:
    report = mention.report
    if report is None:
        where = f"found on {mention.via}" if mention.via else "given as a seed"
        story.state = "waiting"
        story.events.append(Event(mention.time, f"{where}; admitted, frame {mention.frame}"))
        return
    asked = f"asked, {report.seconds:.3f} s" if report.seconds or report.status else "not asked"
    detail = f" ({report.detail})" if report.detail else ""
    status = f", status {report.status}" if report.status else ""
    ends = "" if report.final else "; back to its queue"
    story.events.append(
        Event(report.time, f"{asked}{status}: {report.reason.value}{detail}{ends}; frame {mention.frame}")
    )
    if report.place is not None:
        story.place = f"{report.place.file} {report.place.offset} {report.place.length}"
        story.events.append(
            Event(report.time, f"archived in {report.place.file} at {report.place.offset}, {report.place.length} bytes")
        )
    if report.clean:
        told = f" in {report.language}" if report.language else ""
        scores = ", ".join(f"{name} {score:g}" for name, score in report.scores.items())
        story.events.append(Event(report.time, f"{report.clean} bytes of text{told}, {report.kept} kept ({scores})"))
    if report.final:
        story.state, story.reason = "finished", report.reason.value


def _unseen(directory: Path, url: Url, options: Config) -> str:
    rule = Scope(options.scope).refuses(url)
    if rule:
        return f"the rule '{rule}' of [scope] refuses it"
    return (
        "no page that was read links to it, or the link was refused where it stood: by depth, distance, nofollow or a cap"
        + _waits(directory, url, "; ")
    )


def _waits(directory: Path, url: Url, before: str = "") -> str:
    """What robots.txt would say, where the crawl has it."""
    origin = urls.origin(url.text)
    entry = log.rules(directory / "log", origin)
    if entry is None:
        return f"{before}its robots.txt has not been fetched"
    if entry.access is Access.CLOSED:
        return f"{before}its robots.txt could not be had: nothing of {origin} is asked for"
    allowed, rule = robots.parse(entry.rules).decide(url.text[len(origin) :])
    return f"{before}robots.txt {'allows' if allowed else 'disallows'} it{f' ({rule})' if rule else ''}"
