"""The state of a crawl in numbers, and the story of one URL, for people and programs.

Both come from the log alone, so they hold for a running crawl, a stopped one, and one whose frontier store is lost.
"""

import fcntl
import os
from pathlib import Path

import msgspec

from windrow import log, urls
from windrow.config import Config, ConfigError
from windrow.data import Access, Report, Url
from windrow.frontier.policy.scope import Scope
from windrow.origin import robots


class Status(msgspec.Struct):
    """The counts at the last commit. seen = waiting + in_flight + all of finished."""

    running: bool
    seen: int  # URLs admitted
    waiting: int
    in_flight: int  # requested and not yet committed
    finished: dict[str, int]  # by reason
    retried: dict[str, int]  # failed attempts, by reason
    refused: dict[str, int]  # links not admitted, by rule
    hosts: int
    requests: int
    archived: int  # captures
    downloaded: int  # bytes
    clean: int  # bytes of main text found
    kept: int  # bytes of text in the corpus
    bytes: dict[str, int]  # committed, by directory: the archive's three, corpus, seen
    frames: int
    first: float  # epoch seconds of the first commit
    last: float
    offline: float  # epoch seconds since which no host has answered the running crawl, which waits; 0: it does not


def status(directory: Path) -> Status:
    """Return the counts of a crawl, running or not."""
    hosts = log.Hosts()
    totals = log.fold(directory, hosts)
    tally = totals.tally
    running = is_running(directory)
    left = tally.seen - sum(tally.finished.values())
    in_flight = min(totals.in_flight, left) if running else 0
    subsets: dict[str, int] = {}
    for name, length in totals.lengths.items():
        subset = name.partition("/")[0]
        subsets[subset] = subsets.get(subset, 0) + length
    return Status(
        running=running,
        seen=tally.seen,
        waiting=left - in_flight,
        in_flight=in_flight,
        finished=_by_size(tally.finished),
        retried=_by_size(tally.retried),
        refused=_by_size(tally.refused),
        hosts=len(hosts.names),
        requests=tally.requests,
        archived=tally.archived,
        downloaded=tally.downloaded,
        clean=tally.clean,
        kept=tally.kept,
        bytes=subsets,
        frames=totals.frames,
        first=totals.first,
        last=totals.last,
        # The lock is written at each start: a frame from before says nothing of the process that runs now.
        offline=totals.offline if running and totals.last >= (directory / "lock").stat().st_mtime else 0.0,
    )


def is_running(directory: Path) -> bool:
    """Return whether a process holds the crawl's lock."""
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
    """One thing that happened to a URL."""

    time: float  # epoch seconds
    what: str


class Story(msgspec.Struct):
    """What happened to a URL, in order, and what decided."""

    url: str  # canonical
    state: str  # "finished", "waiting" or "not admitted"
    reason: str  # why it finished, waits or was not admitted
    events: list[Event]
    place: str = ""  # of its capture in the archive: FILE OFFSET LENGTH


def why(directory: Path, text: str, options: Config) -> Story:
    """Return the story of a URL."""
    url = urls.parse(text)
    if url is None:
        raise ConfigError(f"{text!r} is not an http or https URL; write it as in the address bar of a browser")
    story = Story(url.text, "not admitted", "", [])
    home = log.home(directory)
    for mention in log.mentions(home, url.text):
        _append(story, mention)
    # An admission is dated by its commit, which may come after a later event: each event is no later than the next one.
    for event, following in zip(story.events[-2::-1], story.events[:0:-1], strict=True):
        event.time = min(event.time, following.time)
    if story.state == "not admitted":
        story.reason = _not_admitted(home, url, options)
    elif story.state == "waiting" and not story.reason:
        story.reason = _robots_say(home, url)
    return story


def _append(story: Story, mention: log.Mention) -> None:
    report = mention.report
    if report is None:
        where = f"found on {mention.via}" if mention.via else "given as a seed"
        story.state = "waiting"
        story.events.append(Event(mention.time, f"{where} and admitted (frame {mention.frame})"))
        return
    story.events.append(Event(report.time, f"{_outcome(report)} (frame {mention.frame})"))
    if report.place is not None:
        file, offset, length = report.place.file, report.place.offset, report.place.length
        story.place = f"{file} {offset} {length}"
        story.events.append(Event(report.time, f"archived in {file} at byte {offset}, {length} bytes"))
    if report.clean:
        language = f" in {report.language}" if report.language else ""
        scores = ", ".join(f"{name} {score:g}" for name, score in report.scores.items())
        text = f"{report.clean} bytes of main text found{language}, {report.kept} bytes kept; scores: {scores}"
        story.events.append(Event(report.time, text))
    if report.final:
        story.state, story.reason = "finished", report.reason.value


def _outcome(report: Report) -> str:
    requested = f"requested, {report.seconds:.3f} s" if report.seconds or report.status else "not requested"
    status = f", status {report.status}" if report.status else ""
    detail = f", {report.detail}" if report.detail else ""
    again = "" if report.final else "; waits for another attempt"
    return f"{requested}{status}: {report.reason.value}{detail}{again}"


def _not_admitted(home: Path, url: Url, options: Config) -> str:
    rule = Scope(options.scope).refuses(url)
    if rule:
        return f"the rule '{rule}' of [scope] refuses it"
    return (
        "no page that the crawl has read links to it, or each link to it was refused: "
        f"by depth, by distance, by nofollow, or by a limit on URLs per host or domain; {_robots_say(home, url)}"
    )


def _robots_say(home: Path, url: Url) -> str:
    """Return what robots.txt says about a URL, as far as the crawl knows."""
    origin = urls.origin(url.text)
    entry = log.rules(home, origin)
    if entry is None:
        return f"robots.txt of {origin} has not been fetched yet"
    if entry.access is Access.CLOSED:
        return f"robots.txt of {origin} could not be fetched, so nothing is requested from there"
    allowed, rule = robots.parse(entry.rules).decide(url.text[len(origin) :])
    return f"robots.txt {'allows' if allowed else 'disallows'} it{f' ({rule})' if rule else ''}"
