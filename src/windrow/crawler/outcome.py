"""What an exchange means for its task, and the report that every stage contributed to."""

import contextlib
import email.utils
import math
from collections.abc import Iterable

import msgspec

from windrow import takedown, urls
from windrow.crawler.machine.clock import Clock
from windrow.decide import Candidate, Decision
from windrow.frontier.policy import retry
from windrow.frontier.policy.scope import Scope
from windrow.judge.focus.relevance import RELEVANCE
from windrow.origin import robots
from windrow.records import Access, Capture, Failure, Kind, Link, Origin, Place, Reason, Report, Task, Url

_DAY = 86400.0
_HOPS = 5  # redirects of a well-known file (RFC 9309 §2.3.1.2)
_CLOSED = {
    Reason.LOW_YIELD: "its domain was retired: too little text for its bytes",
    Reason.LOW_VALUE: "too little wanted text was expected of it for its bytes",
    Reason.OUT_OF_SCOPE: f"{takedown.RULE}: its host is on the list",
    Reason.BLOCKED: "an order blocks its host or domain",
}


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a task by its exchange, or by a rule that forbids one."""

    task: Task
    reason: Reason
    detail: str = ""
    time: float  # epoch seconds when it ended
    seconds: float = 0.0
    status: int = 0
    downloaded: int = 0  # bytes on the wire
    final: bool = True  # False: the task goes back to its queue
    until: float = 0.0  # epoch seconds before which the host does not want a request
    links: tuple[Task, ...] = ()  # the target of a redirect
    refused: dict[str, int] = {}
    requested: bool = False  # a request was sent
    truncated: str = ""  # see Capture
    etag: str = ""  # this and the next: see Report
    modified: int = 0
    address: str = ""  # of a RESOLVE task
    origin: Origin | None = None  # of a FILE task: what is known of the origin from now on
    moved: Url | None = None  # of a FILE task: where a redirect says that the file is
    rules: float = 0.0  # stamp of the Origin under which the task was requested or refused


class Reading(msgspec.Struct, frozen=True):
    """The contents of a page that a worker has read; of any other answer, only the links."""

    links: tuple[Task, ...]
    refused: dict[str, int]
    shape: int = 0
    candidate: Candidate | None = None  # if the crawl extracts text
    charset: str = ""  # with which the page was decoded


class Archived(msgspec.Struct, frozen=True):
    """Where the archive keeps a capture."""

    seq: int
    place: Place
    digest: str


def report(outcome: Outcome, reading: Reading | None, decision: Decision | None, archived: Archived | None) -> Report:
    """Put together what became of a task, from what every stage returned."""
    judged = decision if decision is not None else Decision(reason=outcome.reason, detail=outcome.detail)
    return Report(
        seq=archived.seq if archived is not None else 0,
        task=outcome.task,
        reason=judged.reason,
        detail=judged.detail,
        time=outcome.time,
        seconds=outcome.seconds,
        status=outcome.status,
        downloaded=outcome.downloaded,
        clean=judged.clean,
        primary=judged.primary,
        kept=judged.kept,
        relevant=round(judged.kept * judged.scores.get(RELEVANCE, 0.0)) if judged.kept else 0,
        tokens=judged.tokens,
        language=judged.language,
        page_language=judged.page_language,
        scores=judged.scores,
        text=judged.text,
        place=archived.place if archived is not None else None,
        digest=archived.digest if archived is not None else "",
        etag=outcome.etag,
        modified=outcome.modified,
        shape=reading.shape if reading is not None else 0,
        final=outcome.final,
        until=outcome.until,
        address=outcome.address,
        origin=outcome.origin,
        rules=outcome.rules,
        links=reading.links if reading is not None else outcome.links,
        refused=reading.refused if reading is not None else outcome.refused,
        moved=outcome.moved,
        truncated=outcome.truncated,
    )


def reason(capture: Capture) -> Reason:
    """Return what the status line says of the URL."""
    status = capture.status
    if 200 <= status < 300:
        return Reason.OK
    if status in (301, 302, 303, 307, 308):
        return Reason.REDIRECT
    if status in (404, 410):
        return Reason.NOT_FOUND
    if status in (401, 402, 403, 407, 451):
        return Reason.FORBIDDEN
    if status == 429 or (status == 503 and capture.header("retry-after")):
        return Reason.THROTTLED
    if 400 <= status < 500:
        return Reason.CLIENT_ERROR
    if status == 304 and capture.task.again:
        return Reason.NOT_MODIFIED
    return Reason.SERVER_ERROR if 500 <= status < 600 else Reason.BAD_STATUS


def until(capture: Capture) -> float:
    """Return the time that Retry-After names, in epoch seconds, at most a day ahead; 0 if it names none."""
    value = capture.header("retry-after") if capture.status in (429, 503) else None
    if not value:
        return 0.0
    end = capture.time + capture.seconds
    if value.isdecimal():  # isdigit is true of "²" too
        return end + min(float(value[:9]), _DAY)
    try:
        then = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return min(then, end + _DAY) if math.isfinite(then) and then > end else 0.0


def closed(task: Task, why: Reason, now: float) -> Outcome:
    """A task of a closed host or domain ends without a request."""
    return Outcome(task=task, reason=why, detail=_CLOSED.get(why, "the host was closed"), time=now)


def forbidden(task: Task, origin: Origin, clock: Clock) -> Outcome | None:
    """Return the outcome of a task that the robots.txt of its origin forbids; None if it may be requested."""
    if origin.access is Access.CLOSED:
        why, detail = Reason.ROBOTS_UNREACHABLE, f"{origin.name}/robots.txt is unavailable"
    elif not origin.rules:
        return None
    else:
        allowed, detail = robots.parse(origin.rules).decide(task.url.text[len(origin.name) :])
        if allowed:
            return None
        why = Reason.ROBOTS
    return Outcome(task=task, reason=why, detail=detail, time=clock.now(), rules=origin.stamp)


def out_of_scope(task: Task, scope: Scope, clock: Clock) -> Outcome | None:
    """Return the outcome of a task that the scope, as it is now, refuses."""
    rule = scope.refuses_task(task)
    if rule == takedown.RULE:
        rule = f"{rule} ({scope.takedown.find(task.url.text)})"
    return Outcome(task=task, reason=Reason.OUT_OF_SCOPE, detail=rule, time=clock.now()) if rule else None


def of(answer: Capture | Failure, scope: Scope, most_redirects: int, rules: float = 0.0) -> Outcome:
    """Return what an answer means, before its page is read. `rules`: the stamp of the origin that allowed it."""
    if isinstance(answer, Failure):
        return failed(answer, rules)
    return answered(answer, scope, most_redirects, rules)


def failed(failure: Failure, rules: float = 0.0) -> Outcome:
    task = failure.task
    return Outcome(
        task=task,
        reason=failure.reason,
        detail=failure.detail,
        time=failure.time,
        seconds=failure.seconds,
        downloaded=failure.downloaded,
        final=task.kind is not Kind.PAGE or not retry.again(failure.reason, task.attempt),
        requested=True,
        rules=rules,
    )


def answered(capture: Capture, scope: Scope, most_redirects: int, rules: float = 0.0) -> Outcome:
    """Return what a response means, before its page is read. The target of a redirect is a link like any other."""
    why = reason(capture)
    detail = ""
    links: tuple[Task, ...] = ()
    refused: dict[str, int] = {}
    is_page = capture.task.kind is Kind.PAGE
    etag, modified = validators(capture) if capture.task.history is not None else ("", 0)
    if why is Reason.REDIRECT:
        why, detail, links, refused = _redirected(capture, scope, most_redirects)
    elif capture.truncated == "disconnect" and retry.again(Reason.DISCONNECT, capture.task.attempt):
        why, detail = Reason.DISCONNECT, "the response broke off"
    elif why is not Reason.OK:
        detail = f"status {capture.status}"
    return Outcome(
        task=capture.task,
        reason=why,
        detail=detail,
        time=capture.time + capture.seconds,
        seconds=capture.seconds,
        status=capture.status,
        downloaded=capture.downloaded,
        final=not is_page or not retry.again(why, capture.task.attempt),
        until=until(capture),
        links=links if is_page else (),
        refused=refused if is_page else {},
        requested=True,
        truncated=capture.truncated,
        etag=etag,
        modified=modified,
        rules=rules,
    )


def validators(capture: Capture) -> tuple[str, int]:
    """Return the ETag of a response, and its Last-Modified in epoch seconds: 0 unless it has the one form of RFC 9110,
    because some servers compare what they get with what they have sent, letter by letter."""
    text, modified = capture.header("last-modified") or "", 0
    with contextlib.suppress(ValueError, OverflowError):
        modified = int(email.utils.parsedate_to_datetime(text).timestamp())
    same = modified > 0 and email.utils.formatdate(modified, usegmt=True) == text
    return capture.header("etag") or "", modified if same else 0


def _redirected(capture: Capture, scope: Scope, most: int) -> tuple[Reason, str, tuple[Task, ...], dict[str, int]]:
    location = capture.header("location") or ""
    target = urls.redirect(capture.task.url.text, location) if location else None
    if target is None:
        return Reason.BAD_REDIRECT, f"Location: {location[:200]}" if location else "no Location", (), {}
    if capture.task.redirects >= most:
        return Reason.REDIRECTS, f"{most} hops, the next was {target.text[:200]}", (), {}
    if capture.task.embed:
        task = scope.refuses_requisite(target) or scope.embed(capture.task, target, redirect=True)
    else:
        task = scope.refuses(target) or scope.follow(capture.task, target, redirect=True)
    if isinstance(task, str):
        return Reason.REDIRECT, f"{target.text} ({task})", (), {task: 1}
    return Reason.REDIRECT, target.text, (task,), {}


def session_redirect(capture: Capture) -> str:
    """Return the URL that a redirect names if it is the same page with a session id; "" otherwise."""
    location = capture.header("location") if reason(capture) is Reason.REDIRECT else None
    own = capture.task.url
    there = urls.redirect(own.text, location) if location else None
    if there is None or there.key != own.key:
        return ""
    text = urls.target(own.text, location or "")
    return text if text != own.text else ""


def moved(capture: Capture) -> Url | None:
    """Return the URL to which a redirect moved a well-known file; None if it is not moved, or moved too often."""
    task = capture.task
    if reason(capture) is not Reason.REDIRECT or task.redirects >= _HOPS:
        return None
    location = capture.header("location") or ""
    return urls.redirect(task.url.text, location) if location else None


def followed(task: Task, links: Iterable[Link], scope: Scope, refused: dict[str, int]) -> tuple[Task, ...]:
    """Return the tasks for a page's links; count those that the page's depth or distance rules out in `refused`.

    A link to another host brings that host's home page along, if `scope.homepages` is set: a host worth a link is worth
    a look, and its other pages can be found from its home page.
    """
    tasks = []
    host = task.url.host
    others: dict[str, Task] = {}
    for link in links:
        follow = scope.follow(task, link.url, hints=link.hints)
        if isinstance(follow, str):
            refused[follow] = refused.get(follow, 0) + 1
        else:
            tasks.append(follow)
            if follow.url.host != host:
                others.setdefault(follow.url.host, follow)
    if others and scope.homepages:
        tasks += [_home(other) for other in others.values()]
    return tuple(_permitted(tasks, scope, refused) if scope.takedown else tasks)


def _permitted(tasks: list[Task], scope: Scope, refused: dict[str, int]) -> list[Task]:
    """Leave out what is on the takedown list. Workers do not know the list, and home pages are added behind them."""
    left = [task for task in tasks if not scope.takedown.covers(task.url.text)]
    if len(left) < len(tasks):
        refused[takedown.RULE] = refused.get(takedown.RULE, 0) + len(tasks) - len(left)
    return left


def embedded(task: Task, requisites: Iterable[Url], scope: Scope, refused: dict[str, int]) -> tuple[Task, ...]:
    """Return the tasks for a page's requisites; count those of too many in a row in `refused`."""
    tasks = [scope.embed(task, url) for url in requisites]
    for rule in (result for result in tasks if isinstance(result, str)):
        refused[rule] = refused.get(rule, 0) + 1
    return tuple([result for result in tasks if isinstance(result, Task)])


def _home(task: Task) -> Task:
    text = urls.origin(task.url.text) + "/"
    home = Url(text, task.url.host, task.url.domain, urls.key(text))
    return msgspec.structs.replace(task, url=home, hints=b"")  # they tell of the page that was linked
