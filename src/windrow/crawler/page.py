"""The life of a page, from its lease to its line in the log. Read this first.

`live` is the part of it that keeps the host busy, `finish` is the rest. A visit begins the life of the next page when
`live` has returned, while a worker still reads this one.
"""

import msgspec

from windrow import origin as origins
from windrow import urls
from windrow.crawler import file
from windrow.crawler import outcome as outcomes
from windrow.crawler.guest import FindLinks, PageLinks, Source
from windrow.crawler.machine.clock import steady
from windrow.crawler.outcome import Outcome, Reading
from windrow.crawler.session import Session
from windrow.crawler.visit import Rest, Then, Visit
from windrow.crawler.workers.wire import Lost
from windrow.decide import Candidate
from windrow.frontier.policy import retry
from windrow.frontier.policy.scope import Scope
from windrow.records import Capture, Failure, Kind, Origin, Reason, Task
from windrow.refine import Refined


async def live(task: Task, visit: Visit, source: Source) -> Then | Rest:
    """Request a page, and record what became of it; if it was answered, return what is left to be done with it."""
    session = visit.session
    # 1 to 4. Whether it may be requested, and when.
    origin = await cleared(task, source.plain(task), visit)
    if isinstance(origin, Then):
        return origin

    # 5. The request. The client answers with a Capture or a Failure, whatever the server does.
    answer = await source.request(task, origin, visit)
    if answer is None:  # our own network failed, not the host
        session.in_flight.give_back(page=True)
        return Then.BACK

    # 6. An outcome other than a page is recorded before the next request: the host may need a pause.
    outcome = answer if isinstance(answer, Outcome) else _understood(answer, task, origin, visit)
    if outcome.reason is not Reason.OK or not isinstance(answer, Capture):
        session.in_flight.pages -= 1
        reading = Reading(*await source.links(outcome, None, session.scope))
        await session.recorder.record(outcome, answer if isinstance(answer, Capture) else None, reading)
        return Then.PAUSE if retry.pauses(outcome.reason) else Then.NEXT

    # 7. The host is free for the next request; the rest needs no network.
    visit.stations.probes.count(origin)
    return finish(outcome, answer, origin, session, source.links)


async def finish(outcome: Outcome, answer: Capture, origin: Origin, session: Session, find: FindLinks) -> None:
    """Read a page that was answered, and record it."""
    # 8. The archive compresses the records, a worker process finds links, text and a verdict.
    size = len(answer.body) + len(answer.raw)
    session.in_flight.hold(size)
    members = session.recorder.compress(answer)
    refined = await session.pool.refine(answer, _sketch(origin))
    session.in_flight.let_go(size)

    # 9. In the order of `seq`: duplicates are decided, then archive, frontier, corpus and log get their part.
    links, refused = await find(outcome, refined, session.scope)
    if isinstance(refined, Lost):
        outcome = msgspec.structs.replace(outcome, reason=refined.reason, detail=refined.detail)
        return session.recorder.record_page(outcome, members, Reading(links, refused))
    candidate = None
    if refined.verdict is not None and not outcome.task.embed:  # a frame of another site is not read for its text
        candidate = Candidate(
            url=outcome.task.url,
            digest=members.digest,
            ip=answer.ip,
            time=answer.time,
            refined=refined,
            origin=origin,
            truncated=answer.truncated,
        )
    reading = Reading(links, refused, refined.shape, candidate, refined.charset)
    session.recorder.record_page(outcome, members, reading)


class OwnPages:
    """The pages that the crawl itself requests. Implements `guest.Source`."""

    def plain(self, task: Task) -> Task:
        return task

    async def request(self, task: Task, origin: Origin, visit: Visit) -> Capture | Failure | None:
        answer = await visit.request(task)
        if isinstance(answer, Capture) and (text := outcomes.session_redirect(answer)):
            return await _follow_session(answer, text, visit)
        return answer

    async def links(self, outcome: Outcome, refined: Refined | Lost | None, scope: Scope) -> PageLinks:
        if not isinstance(refined, Refined):
            return outcome.links, outcome.refused
        task, refused = outcome.task, dict(refined.refused)
        # A frame of another site was requested for the sake of the page around it: its links do not count.
        links = () if task.embed else outcomes.followed(task, refined.links, scope, refused)
        if refined.embeds:
            links = outcomes.embedded(task, refined.embeds, scope, refused) + links
        return links, refused


async def cleared(task: Task, plain: Task, visit: Visit) -> Origin | Then:
    """Wait until a page may be requested; return its origin, or what follows: it is recorded, or goes back.

    `plain` has the URL that the rules are about; it is the same, unless the URL of the task only names a request.
    """
    session = visit.session
    # 1. The scope may have changed since the page was admitted, and robots.txt may disallow it: no request then.
    origin = visit.origin(task)
    refusal = _refused(plain, origin, session)
    if refusal is not None:
        await session.recorder.record(msgspec.structs.replace(refusal, task=task))
        return Then.NEXT

    # 2. An origin that has given some pages is asked once how it says "not found".
    if visit.stations.probes.due(origin):
        await file.probe(origin, visit)
        origin = visit.origin(task)

    # 3. Politeness: wait for the delay of the host. Its domain may be retired meanwhile.
    await visit.wait_until_due()
    closing = visit.closed(task)
    if closing is not None:
        await session.recorder.record(outcomes.closed(task, closing, session.clock.now()))
        return Then.NEXT

    # 4. Back-pressure: no more requests than can be committed. A crawl that ends or pauses gives the task back.
    return origin if await visit.may_request(page=True) else Then.BACK


def _refused(task: Task, origin: Origin, session: Session) -> Outcome | None:
    """Return the outcome of a task that must not be requested: by the scope as it is now, or by robots.txt."""
    refusal = outcomes.out_of_scope(task, session.scope, session.clock)
    return refusal or outcomes.forbidden(task, origin, session.clock)


def _understood(answer: Capture | Failure, task: Task, origin: Origin, visit: Visit) -> Outcome:
    """Return what the answer means for the task. A guest, or a client, may have requested its plain form."""
    session = visit.session
    most = session.options.fetch.max_redirects
    outcome = outcomes.of(steady(answer, visit.last), session.scope, most, rules=origin.stamp)
    return outcome if outcome.task is task else msgspec.structs.replace(outcome, task=task)


def _sketch(origin: Origin) -> str:
    """Return the sketch of the page that an origin sends instead of "not found"; "" if none is known."""
    probed = origin.files.get(origins.SOFT_404)
    return probed.text if probed is not None else ""


async def _follow_session(hop: Capture, text: str, visit: Visit) -> Capture | Failure | None:
    """Follow a redirect to the same page with a session id, once and at once.

    The two have one canonical URL. Admitted as a link it would be known already, and the page would never be fetched.
    """
    session = visit.session
    there = msgspec.structs.replace(hop.task, url=msgspec.structs.replace(hop.task.url, text=text))
    origin = visit.origins.get(urls.origin(text))
    if origin is None or _refused(there, origin, session) is not None:
        return hop
    await visit.wait_until_due()
    if not await visit.may_request(page=False, begun=True):
        return hop
    first = msgspec.structs.replace(hop, task=msgspec.structs.replace(hop.task, kind=Kind.SESSION_REDIRECT))
    outcome = _understood(first, first.task, visit.origin(hop.task), visit)
    await session.recorder.record(outcome, first)
    return await visit.request(hop.task, text)
