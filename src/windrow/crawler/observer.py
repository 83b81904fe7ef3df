"""What the parts of a run say to the one that drives it. Each part is given its driver when it is made."""

import asyncio
from typing import Protocol

from windrow.records import Receipt


class Driver(Protocol):
    """The driver of a session: a crawl, or a program that hands over what it has downloaded."""

    error: BaseException | None  # the first one that ends the run; None: it is not broken

    def recorded(self, receipt: Receipt) -> None: ...  # the frontier's answer to a report
    async def committed(self) -> None: ...  # a commit is over: do what waits for the time between two of them
    def broken(self, error: BaseException | None) -> None: ...  # an unforeseen error: the run ends


class Running(Driver, Protocol):
    """A crawl that requests pages."""

    stopping: str  # why it is to end; "": it is not

    def wake(self) -> None: ...  # something has changed: look for work again
    def ended(self, task: "asyncio.Task[None]") -> None: ...  # a task of the event loop that belongs to it is over
    def offline(self, since: float, resigned: bool) -> None: ...  # see `network`; since 0: the network works again
    def stop(self, why: str = "stopped") -> None: ...  # end soon: let no further request start
    def finish(self, why: str) -> None: ...  # end: nothing is under way
    def note(self, text: str) -> None: ...  # say what the operator must know
