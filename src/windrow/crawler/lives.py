"""The life of a task, by its kind."""

from collections.abc import Callable, Coroutine
from typing import Any

from windrow import origin, urls
from windrow.config import FetchOptions
from windrow.crawler import file, page
from windrow.crawler import outcome as outcomes
from windrow.crawler.machine.network import Endpoint
from windrow.crawler.outcome import Outcome
from windrow.crawler.visit import Visit
from windrow.fetch.resolve import Resolved
from windrow.frontier.policy import retry
from windrow.records import Kind, Reason, Task

Life = Callable[[Task, Visit], Coroutine[Any, Any, None]]


async def resolve(task: Task, visit: Visit) -> None:
    """Look up the address of a host. A look-up that our own network failed is not recorded: the task goes back."""
    stations = visit.stations
    start = stations.clock.now()
    found = await stations.resolver.find(task.url.host, start)
    end = stations.clock.now()
    target = Endpoint(task.url.host, "", urls.port(task.url.text), untried=not task.attempt)
    if not await stations.network.resolved(target, found, start):
        return
    outcome = Outcome(
        task=task,
        reason=found.reason or Reason.OK,
        detail=found.detail,
        time=end,
        final=found.source == "local" or not retry.doubts(found.reason, task.attempt),
        until=0.0 if found.source == "local" and found.reason else end + _hold(found, stations.options.fetch),
        address=found.address,
    )
    await stations.recorder.record(outcome)
    visit.host_is_free()


def _hold(found: Resolved, fetch: FetchOptions) -> float:
    """Return the seconds after which a name is looked up again. Until then our cache would give the same answer."""
    return max(found.ttl, retry.spacing(fetch)) if found.reason is Reason.NO_SUCH_HOST else found.ttl


async def end(task: Task, visit: Visit) -> None:
    """End a task of a closed host without a request, unless an order has opened the host again: then it goes back."""
    if visit.closing is not None and task.kind is Kind.PAGE and visit.closed(task) is None:
        return
    why = visit.lease.closed
    assert why is not None, "only the tasks of a closed host end without a request"
    if task.kind is Kind.FILE:
        outcome = file.closed(task, visit.origins.get(origin.needed_by(task)), why, visit)
    else:
        outcome = outcomes.closed(task, why, visit.stations.clock.now())
    await visit.stations.recorder.record(outcome)
    visit.host_is_free()


_LIVES: dict[Kind, Life] = {Kind.PAGE: page.live, Kind.FILE: file.live, Kind.RESOLVE: resolve}


def life(task: Task, visit: Visit) -> Coroutine[Any, Any, None]:
    """Return the life of a task as a coroutine that is not started yet."""
    return (end if visit.lease.closed is not None else _LIVES[task.kind])(task, visit)
