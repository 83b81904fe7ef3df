"""The life of a well-known file: requested for an origin, read by `origin.learn`, recorded."""

import msgspec

from windrow import origin
from windrow.crawler import outcome as outcomes
from windrow.crawler.machine.clock import steady
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.outcome import Outcome
from windrow.crawler.session import Session
from windrow.crawler.visit import Then, Visit
from windrow.records import Access, Capture, Failure, FileState, Origin, OriginFile, Reason, Task


async def live(task: Task, visit: Visit) -> Then:
    """Request a well-known file and record what is known of its origin from then on."""
    session = visit.session
    if session.others is not None and session.others.territory.foreign(task):
        return await _fetch_for(session.others, task, visit)
    now = session.clock.now()
    earlier = visit.origins.get(origin.needed_by(task))
    if session.scope.takedown.covers_origin(task.url.text):
        await session.recorder.record(_taken_down(task, earlier, session))
        return Then.NEXT
    barred = outcomes.forbidden(task, visit.origin(task), session.clock) if task.file != origin.ROBOTS else None
    if barred is not None:
        await session.recorder.record(msgspec.structs.replace(barred, origin=_without(earlier, task, now)))
        return Then.NEXT
    answer = await _requested(task, visit)
    if answer is None:
        return Then.BACK
    await session.recorder.record(_understood(steady(answer, visit.last), earlier, session, visit.last), answer)
    return Then.NEXT


async def _requested(task: Task, visit: Visit) -> Capture | Failure | None:
    """Request a file when its host is due; None if the task goes back: a crawl that ends, or our own network."""
    await visit.wait_until_due()
    if not await visit.may_request(page=False):
        return None
    answer = await visit.request(task)
    if answer is None:
        visit.session.in_flight.give_back(page=False)
    return answer


def closed(task: Task, earlier: Origin | None, why: Reason, session: Session) -> Outcome:
    """Return the outcome of a file on a closed host: robots.txt is unavailable, any other file is absent."""
    now, others = session.clock.now(), session.others
    outcome = outcomes.closed(task, why, now)
    if others is not None and others.territory.foreign(task):
        others.tell(Failure(task, why, detail=outcome.detail, time=now))
        return outcome
    if task.file != origin.ROBOTS:
        return msgspec.structs.replace(outcome, origin=_without(earlier, task, now))
    failure = Failure(task, why, detail=outcome.detail, time=now)
    return msgspec.structs.replace(outcome, origin=origin.learn(earlier, failure, session.options, now))


def _taken_down(task: Task, earlier: Origin | None, session: Session) -> Outcome:
    """Return the outcome of a file on a host of the takedown list: nothing is requested, and all pages are disallowed.

    So its pages end at once, and if the host leaves the list, its robots.txt is requested an hour later.
    """
    outcome = closed(task, earlier, Reason.OUT_OF_SCOPE, session)
    if task.file != origin.ROBOTS or task.via:
        return outcome
    now, rules = outcome.time, origin.robots.condense(b"User-agent: *\nDisallow: /\n", "*", task.url.text)
    record = Origin(name=origin.needed_by(task), stamp=now, fetched=now, expires=now + 3600, rules=rules)
    return msgspec.structs.replace(outcome, origin=record)


async def _fetch_for(others: Neighbours, task: Task, visit: Visit) -> Then:
    """Request a file that an origin of another shard needs. That shard learns from the answer, here it says nothing."""
    session = visit.session
    now = session.clock.now()
    if session.scope.takedown.covers_origin(task.url.text):
        barred: Outcome | None = outcomes.closed(task, Reason.OUT_OF_SCOPE, now)
    else:
        barred = outcomes.forbidden(task, visit.origin(task), session.clock) if task.file != origin.ROBOTS else None
    if barred is not None:
        await session.recorder.record(barred)
        others.tell(Failure(task, barred.reason, detail=barred.detail, time=now))
        return Then.NEXT
    answer = await _requested(task, visit)
    if answer is None:
        return Then.BACK
    outcome = _outcome(steady(answer, visit.last), session)
    await session.recorder.record(outcome, answer)
    others.tell(answer)
    return Then.NEXT


async def learn_elsewhere(answer: Capture | Failure, session: Session) -> None:
    """Learn from a file that another shard has requested for an origin here, as if the request were ours.

    The archive and the counts of requests are those of the other shard.
    """
    task, now = answer.task, session.clock.now()
    earlier = await session.frontier.origin(origin.needed_by(task))
    outcome = _understood(steady(answer, now), earlier, session, now)
    counted = {"requested": False, "seconds": 0.0, "status": 0, "downloaded": 0, "truncated": ""}
    await session.recorder.record(msgspec.structs.replace(outcome, **counted))


async def probe(record: Origin, visit: Visit) -> None:
    """Request a page that cannot exist from an origin, and let the visit know what the origin answers."""
    session, probes = visit.session, visit.stations.probes
    task = origin.task(origin.SOFT_404, record.name)
    probes.sent(record)
    if outcomes.out_of_scope(task, session.scope, session.clock) or outcomes.forbidden(task, record, session.clock):
        # Nothing was requested, so nothing is logged: the record keeps its stamp, by which a rebuild finds it.
        visit.origins[record.name] = origin.with_file(record, task.file, OriginFile(FileState.ABSENT), record.stamp)
        return
    answer = await _requested(task, visit)
    if answer is None:
        return probes.postpone(record)
    sketch = ""
    if isinstance(answer, Capture) and outcomes.reason(answer) is Reason.OK:
        sketch = await session.pool.sketch(answer)
    learnt = origin.with_file(record, task.file, origin.soft404.file(sketch), visit.last)
    visit.origins[record.name] = learnt
    outcome = msgspec.structs.replace(_outcome(steady(answer, visit.last), session), origin=learnt)
    await session.recorder.record(outcome, answer)


def _understood(answer: Capture | Failure, earlier: Origin | None, session: Session, now: float) -> Outcome:
    """Return what an answer means: the file was moved to another place, or this is all there is to know."""
    outcome = _outcome(answer, session)
    there = outcomes.moved(answer) if isinstance(answer, Capture) else None
    scoped = origin.FILES[answer.task.file].scoped
    if there is not None and not (scoped and session.scope.refuses_origin(there)):
        return msgspec.structs.replace(outcome, moved=there)
    learnt = origin.learn(earlier, answer, session.options, now)
    unavailable = answer.task.file == origin.ROBOTS and learnt.access is not Access.OPEN
    if unavailable and isinstance(answer, Capture) and outcome.reason is not Reason.THROTTLED:
        outcome = msgspec.structs.replace(outcome, reason=Reason.ROBOTS_UNREACHABLE)
    return msgspec.structs.replace(outcome, origin=learnt)


def _outcome(answer: Capture | Failure, session: Session) -> Outcome:
    return outcomes.of(answer, session.scope, session.options.fetch.max_redirects)


def _without(earlier: Origin | None, task: Task, now: float) -> Origin:
    """Return the record of an origin whose file may not be requested: it counts as absent."""
    assert earlier is not None, f"{task.url.text} was leased without the record of {origin.needed_by(task)}"
    return origin.with_file(earlier, task.file, OriginFile(FileState.ABSENT), now)
