"""The story of one URL: what happened to it, in order, and which rule decided. It comes from the log alone."""

from pathlib import Path

import msgspec

from windrow import log, urls
from windrow.config import Config, ConfigError
from windrow.data import Access, Report, Url
from windrow.frontier.policy.scope import Scope
from windrow.origin import robots


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
