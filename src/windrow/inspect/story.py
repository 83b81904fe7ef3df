"""The story of one URL: what happened to it, in order, and which rule decided. It comes from the log alone.

Each event has its facts as fields, for programs, and as one sentence, for people. A reason is explained with the option
that decided and the figure of this page; a duplicate with the page that has the same payload or text.
"""

from pathlib import Path

import msgspec

from windrow import log, orders, rules, takedown, units, urls
from windrow.config import Config, ConfigError
from windrow.frontier.policy.scope import Scope
from windrow.inspect import retirement
from windrow.log import purges
from windrow.origin import robots
from windrow.records import Access, Controls, Entry, Kind, Order, Place, Reason, Report, Url


class Event(msgspec.Struct, omit_defaults=True):
    """One thing that happened to a URL. Fields that say nothing are left out."""

    time: float  # epoch seconds
    kind: str  # "admitted", "requested", "not requested", "archived", "text", "purged" or "ordered"
    what: str  # in words
    frame: int = 0  # of the log
    via: str | None = None  # admitted: the page that links to it; "": it is a seed
    reason: str = ""  # this and what follows: of an attempt
    meaning: str = ""  # of the reason
    detail: str = ""
    final: bool = True  # False: the URL went back to its queue
    attempt: int = 0  # attempts before this one
    visits: int = 0  # of its URL that had ended before
    due: int = 0  # epoch seconds of the next visit; 0: never
    status: int = 0
    seconds: float = 0.0
    downloaded: int = 0  # bytes
    rule: str = ""  # that decided
    option: str = ""  # that sets its limit
    limit: str = ""  # the value of the option, as TOML
    figure: float | None = None  # of this page, compared with the limit
    comparison: str = ""  # of figure and limit in words, if they are not those of the page itself
    duplicate_of: str = ""  # URL of the page with the same payload or text that was first seen
    language: str = ""
    clean: int = 0  # bytes of main text
    kept: int = 0  # bytes of text in the corpus
    scores: dict[str, float] = {}
    place: Place | None = None  # in the archive
    truncated: str = ""  # what ended the capture before it was complete


class Story(msgspec.Struct):
    """What happened to a URL, in order, and what decided."""

    url: str  # canonical
    state: str  # "finished", "waiting" or "not admitted"
    reason: str  # why it finished, waits or was not admitted
    events: list[Event]
    place: str = ""  # of its capture in the archive: FILE OFFSET LENGTH
    explanation: str = ""  # of the reason: its meaning, the rule, the option and the figure
    takedown: str = ""  # the line of the takedown list that covers it now
    due: int = 0  # epoch seconds of the next visit; 0: never


def parsed(text: str) -> Url:
    """Return a URL that a person has written; ConfigError if it is none."""
    url = urls.parse(text)
    if url is None:
        raise ConfigError(f"{text!r} is not an http or https URL; write it as in the address bar of a browser")
    return url


def why(directory: Path, text: str, options: Config) -> Story:
    """Return the story of a URL."""
    url = parsed(text)
    listing = takedown.of(directory).find(url.text)
    story = Story(url=url.text, state="not admitted", reason="", events=[], takedown=str(listing or ""))
    home = log.home(directory)
    about = OrdersAbout(url)
    for mention in log.mentions(home, url.text):
        if mention.order is not None:
            about.tell(story, mention.order, mention.frame)
        else:
            _append(story, mention, about.adding, (options, home))
    # An admission is dated by its commit, which may come after a later event: each event is no later than the next one.
    for event, following in zip(story.events[-2::-1], story.events[:0:-1], strict=True):
        event.time = min(event.time, following.time)
    if story.state == "not admitted" and listing is not None:
        story.reason = "it is on the takedown list"
    elif story.state == "not admitted":
        story.reason, story.explanation = (
            (about.blocked(), "") if about.blocked() else _not_admitted(home, url, options)
        )
    elif story.state == "waiting" and not story.reason:
        story.reason = about.blocked() or _robots_say(home, url)
    return story


def _append(story: Story, mention: log.Mention, adding: int, crawl: tuple[Config, Path]) -> None:
    """Add a line of the log to a story. `adding`: the frame whose seeds an order added; `crawl`: options and log."""
    entry = mention.entry
    if entry is None:
        given = "added by an order" if mention.frame == adding else "given as a seed"
        where = f"found on {mention.via}" if mention.via else given
        story.state = "waiting"
        what = f"{where} and admitted (frame {mention.frame})"
        story.events.append(Event(mention.time, "admitted", what=what, frame=mention.frame, via=mention.via or ""))
        return
    report, attempt = entry.report, _attempt(entry, mention.frame, *crawl)
    story.events.append(attempt)
    if report.place is not None:
        file, offset, length = report.place.file, report.place.offset, report.place.length
        story.place = f"{file} {offset} {length}"
        cut = f"; not complete, cut by {report.truncated}" if report.truncated else ""
        what = f"archived in {file} at byte {offset}, {length} bytes{cut}"
        story.events.append(Event(report.time, "archived", what=what, place=report.place, truncated=report.truncated))
    if report.clean:
        story.events.append(_text(report))
    if report.final:
        story.state, story.reason, story.due = "finished", report.reason.value, entry.due
        story.explanation = _explanation(attempt)


class OrdersAbout:
    """The orders of a log as far as they are about one URL."""

    def __init__(self, url: Url) -> None:
        self._url = url
        self._controls = Controls()
        self.adding = 0  # the last frame whose seeds an order has added

    def tell(self, story: Story, order: Order, frame: int) -> None:
        """Add an order to the story of the URL, if it is about it."""
        url = self._url
        self._controls = orders.apply(self._controls, order)
        said = f"an order: {order.verb} {' '.join(order.values)} (frame {frame})"
        if order.verb == purges.VERB and url.text in order.values:
            by = purges.split(order)[0]
            what = f"purged by {by}: its captures and its document are no longer in archive and corpus (frame {frame})"
            story.events.append(Event(order.time, "purged", what=what, frame=frame))
            story.place = ""
        elif order.verb == "add":
            self.adding = frame
        elif order.verb in ("block", "unblock") and order.start is None and urls.below(url.host, order.values):
            story.events.append(Event(order.time, "ordered", what=said, frame=frame))
        again = story.state == "finished" and not story.due and story.reason in orders.reopens(order)[0]
        if again and orders.covers(order, url.host, url.key):
            what = f"waits again after {story.reason}, by {said}"
            story.events.append(Event(order.time, "ordered", what=what, frame=frame))
            story.state, story.reason, story.explanation = "waiting", "", ""

    def blocked(self) -> str:
        """Return the sentence about the order that blocks the URL now; "" if none does."""
        if not urls.below(self._url.host, self._controls.blocked):
            return ""
        return f"an order blocks {self._url.host}, or a domain above it: it is not requested until `windrow unblock`"


def _attempt(entry: Entry, frame: int, options: Config, home: Path) -> Event:
    report, history = entry.report, entry.report.task.history
    rule = rules.applied(report.reason, report.detail, report.scores, options)
    following = f"; to be visited again from {units.moment(entry.due)}" if entry.due else ""
    requested = bool(report.seconds or report.status) and report.task.kind is not Kind.RESOLVE
    event = Event(
        time=report.time,
        kind="requested" if requested else "not requested",
        what=f"{_outcome(report)}{following} (frame {frame})",
        frame=frame,
        reason=report.reason.value,
        meaning=rules.reasons()[report.reason.value].meaning,
        detail=report.detail,
        final=report.final,
        attempt=report.task.attempt,
        visits=history.visits if history is not None else 0,
        due=entry.due,
        status=report.status,
        seconds=report.seconds,
        downloaded=report.downloaded,
    )
    if rule is not None:
        event.rule, event.option, event.limit, event.figure = rule.name, rule.option, rule.limit, rule.figure
        event.meaning = rule.meaning
    if report.reason is Reason.DUPLICATE:
        event.duplicate_of = log.first_seen(home, report) or ""
    if report.reason is Reason.LOW_YIELD:
        event.figure, event.comparison = retirement.describe(home.parent, report, options)
    return event


def _explanation(event: Event) -> str:
    figure = None if event.comparison else event.figure
    said = str(rules.Applied(event.rule, event.meaning, event.option, event.limit, figure))
    first = f"first seen at {event.duplicate_of}" if event.duplicate_of else ""
    return "; ".join(part for part in (said, event.comparison, first) if part)


def _text(report: Report) -> Event:
    language = f" in {report.language}" if report.language else ""
    scores = ", ".join(f"{name} {score:g}" for name, score in report.scores.items())
    return Event(
        time=report.time,
        kind="text",
        what=f"{report.clean} bytes of main text found{language}, {report.kept} bytes kept; scores: {scores}",
        language=report.language,
        clean=report.clean,
        kept=report.kept,
        scores=report.scores,
    )


def _outcome(report: Report) -> str:
    requested = f"requested, {report.seconds:.3f} s" if report.seconds or report.status else "not requested"
    status = f", status {report.status}" if report.status else ""
    detail = f", {report.detail}" if report.detail else ""
    again = "" if report.final else "; waits for another attempt"
    return f"{requested}{status}: {report.reason.value}{detail}{again}"


def _not_admitted(home: Path, url: Url, options: Config) -> tuple[str, str]:
    """Return why a URL was not admitted, and the explanation of the rule."""
    rule = Scope(options.scope).refuses(url)
    if rule:
        return f"the rule '{rule}' of [scope] refuses it", str(rules.refusal(rule, options))
    cutoff = "by the cutoff of the topic, " if options.focus.cutoff else ""
    return (
        "no page that the crawl has read links to it, or each link to it was refused: by depth, by distance, by "
        f"nofollow, {cutoff}or by a limit on URLs per host or domain; {_robots_say(home, url)}",
        "",
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
