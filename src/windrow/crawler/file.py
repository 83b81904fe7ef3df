"""The life of a well-known file: requested for an origin, read by `origin.learn`, recorded."""

import msgspec

from windrow import origin
from windrow.crawler import outcome as outcomes
from windrow.crawler.machine.clock import steady
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.outcome import Outcome
from windrow.crawler.visit import Stations, Visit
from windrow.records import Access, Capture, Failure, FileState, Origin, OriginFile, Reason, Task


async def live(task: Task, visit: Visit) -> None:
    """Request a well-known file and record what is known of its origin from then on."""
    stations = visit.stations
    if stations.others is not None and stations.others.territory.foreign(task):
        return await _fetch_for(stations.others, task, visit)
    now = stations.clock.now()
    known = visit.origins.get(origin.needed_by(task))
    if stations.scope.takedown.covers_origin(task.url.text):
        await stations.recorder.record(_taken_down(task, known, visit))
        return visit.host_is_free()
    barred = outcomes.forbidden(task, visit.origin(task), stations.clock) if task.file != origin.ROBOTS else None
    if barred is not None:
        await stations.recorder.record(msgspec.structs.replace(barred, origin=_without(known, task, now)))
        return visit.host_is_free()
    answer = await _requested(task, visit)
    if answer is None:
        return
    await _record(_understood(steady(answer, visit.last), known, stations, visit.last), answer, visit)
    visit.host_is_free()


async def _requested(task: Task, visit: Visit) -> Capture | Failure | None:
    """Request a file when its host is due; None if the task goes back: a crawl that ends, or our own network."""
    await visit.wait_until_due()
    if not await visit.may_request(page=False):
        return None
    answer = await visit.request(task)
    if answer is None:
        visit.stations.in_flight.give_back(page=False)
    return answer


def closed(task: Task, known: Origin | None, why: Reason, visit: Visit) -> Outcome:
    """Return the outcome of a file on a closed host: robots.txt is unavailable, any other file is absent."""
    now, others = visit.stations.clock.now(), visit.stations.others
    outcome = outcomes.closed(task, why, now)
    if others is not None and others.territory.foreign(task):
        others.tell(Failure(task, why, detail=outcome.detail, time=now))
        return outcome
    if task.file != origin.ROBOTS:
        return msgspec.structs.replace(outcome, origin=_without(known, task, now))
    failure = Failure(task, why, detail=outcome.detail, time=now)
    return msgspec.structs.replace(outcome, origin=origin.learn(known, failure, visit.stations.options, now))


def _taken_down(task: Task, known: Origin | None, visit: Visit) -> Outcome:
    """Return the outcome of a file on a host of the takedown list: nothing is requested, and all pages are disallowed.

    So its pages end at once, and if the host leaves the list, its robots.txt is requested an hour later.
    """
    outcome = closed(task, known, Reason.OUT_OF_SCOPE, visit)
    if task.file != origin.ROBOTS or task.via:
        return outcome
    now, rules = outcome.time, origin.robots.condense(b"User-agent: *\nDisallow: /\n", "*", task.url.text)
    record = Origin(name=origin.needed_by(task), stamp=now, fetched=now, expires=now + 3600, rules=rules)
    return msgspec.structs.replace(outcome, origin=record)


async def _fetch_for(others: Neighbours, task: Task, visit: Visit) -> None:
    """Request a file that an origin of another shard needs. That shard learns from the answer, here it says nothing."""
    stations = visit.stations
    now = stations.clock.now()
    if stations.scope.takedown.covers_origin(task.url.text):
        barred: Outcome | None = outcomes.closed(task, Reason.OUT_OF_SCOPE, now)
    else:
        barred = outcomes.forbidden(task, visit.origin(task), stations.clock) if task.file != origin.ROBOTS else None
    if barred is not None:
        await stations.recorder.record(barred)
        others.tell(Failure(task, barred.reason, detail=barred.detail, time=now))
        return visit.host_is_free()
    answer = await _requested(task, visit)
    if answer is None:
        return
    outcome = _outcome(steady(answer, visit.last), stations)
    await _record(outcome, answer, visit)
    others.tell(answer)
    visit.host_is_free()


async def learn_elsewhere(answer: Capture | Failure, known: Origin | None, stations: Stations) -> None:
    """Learn from a file that another shard has requested for an origin here, as if the request were ours.

    The archive and the counts of requests are those of the other shard.
    """
    now = stations.clock.now()
    outcome = _understood(steady(answer, now), known, stations, now)
    counted = {"requested": False, "seconds": 0.0, "status": 0, "downloaded": 0, "truncated": ""}
    await stations.recorder.record(msgspec.structs.replace(outcome, **counted))


async def probe(known: Origin, visit: Visit) -> None:
    """Request a page that cannot exist from an origin, and let the visit know what the origin answers."""
    stations = visit.stations
    task = origin.task(origin.SOFT_404, known.name)
    stations.probes.sent(known)
    if outcomes.out_of_scope(task, stations.scope, stations.clock) or outcomes.forbidden(task, known, stations.clock):
        # Nothing was requested, so nothing is logged: the record keeps its stamp, by which a rebuild finds it.
        visit.origins[known.name] = origin.with_file(known, task.file, OriginFile(FileState.ABSENT), known.stamp)
        return
    await visit.wait_until_due()
    if not await visit.may_request(page=False):
        return
    answer = await visit.request(task)
    if answer is None:
        stations.probes.postpone(known)
        return stations.in_flight.give_back(page=False)
    sketch = ""
    if isinstance(answer, Capture) and outcomes.reason(answer) is Reason.OK:
        sketch = await stations.pool.sketch(answer)
    learnt = origin.with_file(known, task.file, origin.soft404.file(sketch), visit.last)
    visit.origins[known.name] = learnt
    outcome = msgspec.structs.replace(_outcome(steady(answer, visit.last), stations), origin=learnt)
    await _record(outcome, answer, visit)


async def _record(outcome: Outcome, answer: Capture | Failure, visit: Visit) -> None:
    recorder = visit.stations.recorder
    await recorder.record(outcome, recorder.compress(answer) if isinstance(answer, Capture) else None)


def _understood(answer: Capture | Failure, known: Origin | None, stations: Stations, now: float) -> Outcome:
    """Return what an answer means: the file was moved to another place, or this is all there is to know."""
    outcome = _outcome(answer, stations)
    there = outcomes.moved(answer) if isinstance(answer, Capture) else None
    scoped = origin.FILES[answer.task.file].scoped
    if there is not None and not (scoped and stations.scope.refuses_origin(there)):
        return msgspec.structs.replace(outcome, moved=there)
    learnt = origin.learn(known, answer, stations.options, now)
    unavailable = answer.task.file == origin.ROBOTS and learnt.access is not Access.OPEN
    if unavailable and isinstance(answer, Capture) and outcome.reason is not Reason.THROTTLED:
        outcome = msgspec.structs.replace(outcome, reason=Reason.ROBOTS_UNREACHABLE)
    return msgspec.structs.replace(outcome, origin=learnt)


def _outcome(answer: Capture | Failure, stations: Stations) -> Outcome:
    if isinstance(answer, Failure):
        return outcomes.failed(answer)
    return outcomes.answered(answer, stations.scope, stations.options.fetch.max_redirects)


def _without(known: Origin | None, task: Task, now: float) -> Origin:
    """Return the record of an origin whose file may not be requested: it counts as absent."""
    assert known is not None, f"{task.url.text} was leased without the record of {origin.needed_by(task)}"
    return origin.with_file(known, task.file, OriginFile(FileState.ABSENT), now)
