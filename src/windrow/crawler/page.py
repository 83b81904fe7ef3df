"""The life of a page, from its lease to its line in the log. Read this first.

`live` is the whole of it. A visit runs one page after another: it starts the life of the next page when the host is
free again, while a worker still reads the last one.
"""

import msgspec

from windrow import urls
from windrow.archive import Members
from windrow.crawler import file
from windrow.crawler import outcome as outcomes
from windrow.crawler.machine.clock import steady
from windrow.crawler.outcome import Outcome, Reading
from windrow.crawler.visit import Stations, Visit
from windrow.crawler.workers.wire import Lost
from windrow.decide import Candidate
from windrow.frontier.policy import retry
from windrow.records import Capture, Failure, Kind, Origin, Reason, Task
from windrow.refine import Refined


async def live(task: Task, visit: Visit) -> None:
    """Request a page, read it, judge it and record it. If it returns before `host_is_free`, the task was not run."""
    stations = visit.stations
    # 1 to 4. Whether it may be requested, and when.
    origin = await cleared(task, task, visit)
    if origin is None:
        return

    # 5. The request. The client answers with a Capture or a Failure, whatever the server does.
    answer = await visit.request(task)
    if isinstance(answer, Capture) and (text := outcomes.session_redirect(answer)):
        answer = await _follow_session(answer, text, visit)
    if answer is None:  # our own network failed, not the host
        return stations.in_flight.give_back(page=True)

    # 6. An outcome other than a page is recorded before the next request: the host may need a pause.
    outcome = understood(answer, origin, visit)
    if outcome.reason is not Reason.OK or isinstance(answer, Failure):
        stations.in_flight.pages -= 1
        members = stations.recorder.compress(answer) if isinstance(answer, Capture) else None
        await stations.recorder.record(outcome, members)
        return visit.host_is_free(pause=retry.pauses(outcome.reason))

    # 7 and 8. The host is free, and what the page holds is found.
    members, refined = await read(answer, origin, visit)

    # 9. In the order of `seq`: duplicates are decided, then archive, frontier, corpus and log get their part.
    if isinstance(refined, Lost):
        outcome = msgspec.structs.replace(outcome, reason=refined.reason, detail=refined.detail)
        return stations.recorder.record_page(outcome, members, None)
    refused_links = dict(refined.refused)
    # A frame of another site was requested for the sake of the page around it: neither its links nor its text count.
    links = () if task.embed else outcomes.followed(task, refined.links, stations.scope, refused_links)
    if refined.embeds:
        links = outcomes.embedded(task, refined.embeds, stations.scope, refused_links) + links
    judged = None if task.embed else candidate(task, answer, members, refined, origin)
    stations.recorder.record_page(
        outcome, members, Reading(links, refused_links, refined.shape, judged, refined.charset)
    )


async def read(answer: Capture, origin: Origin, visit: Visit) -> tuple[Members, Refined | Lost]:
    """Free the host of a page that was answered; return its records for the archive, and what the page holds."""
    stations = visit.stations
    # 7. The host is free for the next request; the rest needs no network.
    stations.probes.count(origin)
    held = len(answer.body) + len(answer.raw)
    stations.in_flight.hold(held)
    visit.host_is_free()

    # 8. The archive compresses the records, a worker process finds links, text and a verdict.
    members = stations.recorder.compress(answer)
    refined = await stations.pool.refine(answer, visit.sketch(origin))
    stations.in_flight.let_go(held)
    return members, refined


async def cleared(task: Task, url_task: Task, visit: Visit) -> Origin | None:
    """Wait until a page may be requested; return its origin, None if it may not: it is recorded, or goes back.

    `url_task` has the URL that the rules are about; it is the same, unless the URL of the task only names a request.
    """
    stations = visit.stations
    # 1. The scope may have changed since the page was admitted, and robots.txt may disallow it: no request then.
    origin = visit.origin(task)
    refusal = refused(url_task, origin, stations)
    if refusal is not None:
        await stations.recorder.record(msgspec.structs.replace(refusal, task=task))
        visit.host_is_free()
        return None

    # 2. An origin that has given some pages is asked once how it says "not found".
    if stations.probes.due(origin):
        await file.probe(origin, visit)
        origin = visit.origin(task)

    # 3. Politeness: wait for the delay of the host. Its domain may be retired meanwhile.
    await visit.wait_until_due()
    closing = visit.closed(task)
    if closing is not None:
        await stations.recorder.record(outcomes.closed(task, closing, stations.clock.now()))
        visit.host_is_free()
        return None

    # 4. Back-pressure: no more requests than can be committed. A crawl that ends or pauses gives the task back.
    return origin if await visit.may_request(page=True) else None


def candidate(task: Task, answer: Capture, members: Members, refined: Refined, origin: Origin) -> Candidate | None:
    """Return a page for the decision about its text; None if no judge has seen any."""
    if refined.verdict is None:
        return None
    return Candidate(
        url=task.url,
        digest=members.digest,
        ip=answer.ip,
        time=answer.time,
        refined=refined,
        origin=origin,
        truncated=answer.truncated,
    )


def refused(task: Task, origin: Origin, stations: Stations) -> Outcome | None:
    """Return the outcome of a task that must not be requested: by the scope as it is now, or by robots.txt."""
    refusal = outcomes.out_of_scope(task, stations.scope, stations.clock)
    return refusal or outcomes.forbidden(task, origin, stations.clock)


def understood(answer: Capture | Failure, origin: Origin, visit: Visit) -> Outcome:
    """Return what the answer means for the task."""
    answer = steady(answer, visit.last)
    if isinstance(answer, Failure):
        return outcomes.failed(answer, origin.stamp)
    stations = visit.stations
    return outcomes.answered(answer, stations.scope, stations.options.fetch.max_redirects, origin.stamp)


async def _follow_session(hop: Capture, text: str, visit: Visit) -> Capture | Failure | None:
    """Follow a redirect to the same page with a session id, once and at once.

    The two have one canonical URL. Admitted as a link it would be known already, and the page would never be fetched.
    """
    stations = visit.stations
    there = msgspec.structs.replace(hop.task, url=msgspec.structs.replace(hop.task.url, text=text))
    origin = visit.origins.get(urls.origin(text))
    if origin is None or refused(there, origin, stations) is not None:
        return hop
    await visit.wait_until_due()
    if not await visit.may_request(page=False, begun=True):
        return hop
    first = msgspec.structs.replace(hop, task=msgspec.structs.replace(hop.task, kind=Kind.SESSION_REDIRECT))
    outcome = understood(first, visit.origin(hop.task), visit)
    await stations.recorder.record(outcome, stations.recorder.compress(first))
    return await visit.request(hop.task, text)
