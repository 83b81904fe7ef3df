"""The life of a task, by its kind."""

import functools

from windrow import origin, urls
from windrow.config import FetchOptions
from windrow.crawler import file, page
from windrow.crawler import outcome as outcomes
from windrow.crawler.guest import Source
from windrow.crawler.machine.network import Endpoint
from windrow.crawler.outcome import Outcome
from windrow.crawler.visit import Life, Then, Visit
from windrow.fetch.resolve import Resolved
from windrow.frontier.policy import retry
from windrow.records import Kind, Reason, Task


def of(source: Source) -> Life:
    """Return the function that gives the life of a task, as a coroutine that is not started yet."""
    lives: dict[Kind, Life] = {
        Kind.PAGE: functools.partial(page.live, source=source),
        Kind.FILE: file.live,
        Kind.RESOLVE: resolve,
    }
    return lambda task, visit: (end if visit.lease.closed is not None else lives[task.kind])(task, visit)


async def resolve(task: Task, visit: Visit) -> Then:
    """Look up the address of a host. A look-up that our own network failed is not recorded: the task goes back."""
    stations, session = visit.stations, visit.session
    start = session.clock.now()
    answer = await stations.resolver.find(task.url.host, start)
    end = session.clock.now()
    target = Endpoint(task.url.host, "", urls.port(task.url.text), untried=not task.attempt)
    if not await stations.network.resolved(target, answer, start):
        return Then.BACK
    outcome = Outcome(
        task=task,
        reason=answer.reason or Reason.OK,
        detail=answer.detail,
        time=end,
        final=answer.source == "local" or not retry.doubts(answer.reason, task.attempt),
        until=0.0 if answer.source == "local" and answer.reason else end + _hold(answer, session.options.fetch),
        address=answer.address,
    )
    await session.recorder.record(outcome)
    return Then.NEXT


def _hold(answer: Resolved, fetch: FetchOptions) -> float:
    """Return the seconds after which a name is looked up again. Until then our cache would give the same answer."""
    return max(answer.ttl, retry.spacing(fetch)) if answer.reason is Reason.NO_SUCH_HOST else answer.ttl


async def end(task: Task, visit: Visit) -> Then:
    """End a task of a closed host without a request, unless an order has opened the host again: then it goes back."""
    if visit.closing is not None and task.kind is Kind.PAGE and visit.closed(task) is None:
        return Then.BACK
    why = visit.lease.closed
    assert why is not None, "only the tasks of a closed host end without a request"
    if task.kind is Kind.FILE:
        outcome = file.closed(task, visit.origins.get(origin.needed_by(task)), why, visit.session)
    else:
        outcome = outcomes.closed(task, why, visit.session.clock.now())
    await visit.session.recorder.record(outcome)
    return Then.NEXT
