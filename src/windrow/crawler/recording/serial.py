"""Operations that run one after another, each to its end.

A page is committed whole because everything that changes the frontier, the archive and the corpus goes through one
`Serial`: between two operations every page is recorded completely or not at all. An operation may suspend; the next one
still waits for it. Cancelling a caller does not cancel its operation. After an operation has failed no other one
runs, so half a page is never committed.
"""

import asyncio
import collections
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")
_Job = tuple[Coroutine[Any, Any, Any], asyncio.Future[Any] | None]


class Serial:
    """A queue of operations and the one task that runs them."""

    def __init__(self, failed: Callable[[Exception], None] = lambda error: None) -> None:
        """`failed` is called with the error of the first operation that failed."""
        self._failed = failed
        self._queue: collections.deque[_Job] = collections.deque()
        self._wake: asyncio.Future[None] | None = None  # of the task, while it waits for work
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self.failure: Exception | None = None  # of the first operation that failed

    def start(self) -> None:
        self._task = asyncio.create_task(self._work())

    def run(self, operation: Coroutine[Any, Any, _T]) -> "asyncio.Future[_T]":
        """Queue an operation and return the future of its result."""
        result: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        self._queue.append((operation, result))
        self._rouse()
        return result

    def put(self, operation: Coroutine[Any, Any, object]) -> None:
        """Queue an operation whose result nobody needs."""
        self._queue.append((operation, None))
        self._rouse()

    async def close(self) -> None:
        """Return when every operation has ended."""
        self._closed = True
        self._rouse()
        if self._task is not None:
            await self._task

    def _rouse(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _work(self) -> None:
        while True:
            while self._queue:
                await self._end(*self._queue.popleft())
            if self._closed:
                return
            self._wake = asyncio.get_running_loop().create_future()
            await self._wake

    async def _end(self, operation: Coroutine[Any, Any, Any], result: "asyncio.Future[Any] | None") -> None:
        value = None
        if self.failure is not None:
            operation.close()
        else:
            try:
                value = await operation
            except Exception as error:
                self.failure = error
                self._failed(error)
        if result is None or result.done():  # done: its caller was cancelled
            return
        if self.failure is not None:
            result.set_exception(self.failure)
        else:
            result.set_result(value)
