"""The life of a page, from what the server said to the report that the frontier and the log get. Read this first.

1. The frontier leases a host; its turn names the tasks, the address and the robots rules.
2. A task that robots.txt disallows ends here (`disallowed`), unasked.
3. The client gives a capture or a failure. A failure is a report at once (`failed`).
4. A capture's status is a reason (`reason`); what is not a page (redirects, errors, robots.txt) is reported at once (`answered`).
5. A page goes to a worker process, which finds its links, drops those out of scope, takes the main text and judges it by itself;
   `followed` turns the links into tasks.
6. In the order of `seq` it is held against all pages before it (order.py): copies and paragraphs that were seen are left out.
7. Whatever the verdict, the capture is archived; its place and its number go into the report (`archived`). What is left of its text is a
   line of the corpus.
8. Settled, the report makes links, clocks and yield visible to the frontier; committed, it is a line of the log and counts for good.
"""

import email.utils
import math
from collections.abc import Iterable

import msgspec

from windrow import urls
from windrow.data import Capture, Failure, Kind, Link, Place, Reason, Report, Task, Url
from windrow.frontier.policy import retry
from windrow.frontier.policy.scope import Scope

_DAY = 86400.0
_HOPS = 5  # RFC 9309 §2.3.1.2, and as many for tdmrep.json
_CLOSED = {Reason.LOW_YIELD: "its domain was retired: too little text for its bytes"}


def reason(capture: Capture) -> Reason:
    """What the status line says of the URL."""
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
    return Reason.SERVER_ERROR if 500 <= status < 600 else Reason.BAD_STATUS


def until(capture: Capture) -> float:
    """Epoch seconds that a Retry-After asks us to wait for, at most a day ahead; 0 where there is none or it makes no sense."""
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


def disallowed(task: Task, rule: str, now: float) -> Report:
    return Report(0, task, Reason.ROBOTS, rule, now)


def closed(task: Task, why: Reason, now: float) -> Report:
    """A task of a host or a domain that was closed: it ends without a request."""
    return Report(0, task, why, _CLOSED.get(why, "the host was closed"), now)


def failed(failure: Failure) -> Report:
    task = failure.task
    return Report(
        seq=0,
        task=task,
        reason=failure.reason,
        detail=failure.detail,
        time=failure.time,
        seconds=failure.seconds,
        downloaded=failure.downloaded,
        final=task.kind is not Kind.PAGE or not retry.again(failure.reason, task.attempt),
    )


def answered(capture: Capture, scope: Scope, most_redirects: int) -> Report:
    """The report on a capture, its links still unread. A redirect's target is a link like any other."""
    why = reason(capture)
    detail = ""
    found: tuple[Task, ...] = ()
    refused: dict[str, int] = {}
    if why is Reason.REDIRECT:
        why, detail, found, refused = _redirected(capture, scope, most_redirects)
    elif capture.truncated == "disconnect" and retry.again(Reason.DISCONNECT, capture.task.attempt):
        why, detail = Reason.DISCONNECT, "the answer broke off"
    elif why is not Reason.OK:
        detail = f"status {capture.status}"
    return Report(
        seq=0,
        task=capture.task,
        reason=why,
        detail=detail,
        time=capture.time + capture.seconds,
        seconds=capture.seconds,
        status=capture.status,
        downloaded=capture.downloaded,
        final=not retry.again(why, capture.task.attempt),
        until=until(capture),
        found=found,
        refused=refused,
    )


def _redirected(capture: Capture, scope: Scope, most: int) -> tuple[Reason, str, tuple[Task, ...], dict[str, int]]:
    location = capture.header("location") or ""
    target = urls.redirect(capture.task.url.text, location) if location else None
    if target is None:
        return Reason.BAD_REDIRECT, f"Location: {location[:200]}" if location else "no Location", (), {}
    if capture.task.redirects >= most:
        return Reason.REDIRECTS, f"{most} hops, the next was {target.text[:200]}", (), {}
    rule = scope.refuses(target)
    task = rule or scope.follow(capture.task, target, redirect=True)
    if isinstance(task, str):
        return Reason.REDIRECT, f"{target.text} ({task})", (), {task: 1}
    return Reason.REDIRECT, target.text, (task,), {}


def detour(capture: Capture) -> str:
    """The URL that a redirect leads to where that is the same page, with a session id; empty where it is another page, or none."""
    location = capture.header("location") if reason(capture) is Reason.REDIRECT else None
    own = capture.task.url
    there = urls.redirect(own.text, location) if location else None
    if there is None or there.key != own.key:
        return ""
    text = urls.target(own.text, location or "")
    return text if text != own.text else ""


def moved(capture: Capture) -> Task | None:
    """The task for a robots.txt or tdmrep.json that was moved; None where it ends here: not moved, moved too often, or to nowhere."""
    task = capture.task
    if reason(capture) is not Reason.REDIRECT or task.redirects >= _HOPS:
        return None
    location = capture.header("location") or ""
    target = urls.redirect(task.url.text, location) if location else None
    if target is None:
        return None
    return Task(target, task.kind, priority=0, redirects=task.redirects + 1, via=asking(task))


def asking(task: Task) -> str:
    """The origin that a robots or tdmrep task is for."""
    return task.via or urls.origin(task.url.text)


def followed(task: Task, links: Iterable[Link], scope: Scope, refused: dict[str, int]) -> tuple[Task, ...]:
    """The tasks for a page's links; those refused for where the page stands are counted by rule.

    A link to another host brings that host's home page along, if `scope.homepages` says so: what is worth a link is worth a look, and
    from its home page the rest of a site can be found.
    """
    found = []
    host = task.url.host
    others: dict[str, Task] = {}
    for link in links:
        follow = scope.follow(task, link.url)
        if isinstance(follow, str):
            refused[follow] = refused.get(follow, 0) + 1
        else:
            found.append(follow)
            if follow.url.host != host:
                others.setdefault(follow.url.host, follow)
    if others and scope.homepages:
        found += [_home(other) for other in others.values()]
    return tuple(found)


def _home(task: Task) -> Task:
    text = urls.origin(task.url.text) + "/"
    return msgspec.structs.replace(task, url=Url(text, task.url.host, task.url.domain, urls.key(text)))


def archived(report: Report, seq: int, place: Place, digest: str) -> Report:
    return msgspec.structs.replace(report, seq=seq, place=place, digest=digest)
