"""The life of a task, by its kind."""

from collections.abc import Callable, Coroutine
from typing import Any

from windrow import origin
from windrow.crawl import file, page
from windrow.crawl import outcome as outcomes
from windrow.crawl.outcome import Outcome
from windrow.crawl.visit import Visit
from windrow.data import Kind, Reason, Task

Life = Callable[[Task, Visit], Coroutine[Any, Any, None]]


async def resolve(task: Task, visit: Visit) -> None:
    """Look up the address of a host."""
    stations = visit.stations
    found = await stations.resolver.find(task.url.host, stations.clock.now())
    end = stations.clock.now()
    outcome = Outcome(
        task=task,
        reason=found.reason or Reason.OK,
        detail=found.detail,
        time=end,
        until=0.0 if found.reason else end + found.ttl,
        address=found.address,
    )
    await stations.recorder.record(outcome)
    visit.host_is_free()


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
