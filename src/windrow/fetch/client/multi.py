"""libcurl's multi interface under asyncio.

libcurl's sockets are registered in an epoll set of our own. The event loop watches only the descriptor of that set, so
one wake-up of the loop serves every socket that is ready.
"""

import asyncio
import contextlib
import os
import select
import socket
from typing import Any

import pycurl

from windrow.fetch.client.exchange import Exchange

_NEVER = float("inf")
_EVENTS = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}
# The argument of socket_action for the five low bits of an epoll event: IN 1, PRI 2, OUT 4, ERR 8, HUP 16.
_ACTIONS = [
    (pycurl.CSELECT_IN if event & 1 else 0)
    | (pycurl.CSELECT_OUT if event & 4 else 0)
    | (pycurl.CSELECT_ERR if event & 24 else 0)
    for event in range(32)
]


class Multi:
    """All open exchanges. `add` starts one; its future `ended` receives the curl code and message."""

    def __init__(self, connections: int, http2: bool) -> None:
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._epoll = select.epoll()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._epoll.fileno(), self._drive)
        self._watched: dict[int, int] = {}  # descriptor -> the events that libcurl waits for
        self._idle: set[int] = set()  # descriptors in the epoll set without an exchange; some may be closed by now
        self._may_speak = http2  # in HTTP/2 a server may send on an idle connection
        self._kick = False  # libcurl wants to be called at once
        self._driving = False  # and will be, at the end of this batch
        self._alarm: asyncio.TimerHandle | None = None
        self._due = _NEVER  # loop time at which libcurl wants to be called
        self.open: set[Exchange] = set()

    def add(self, exchange: Exchange) -> None:
        """Start an exchange."""
        self.open.add(exchange)
        self._multi.add_handle(exchange.curl)

    def end(self, exchange: Exchange, code: int, message: str) -> None:
        """End an exchange, aborting what is still under way. An exchange that has ended is left alone."""
        if exchange in self.open:
            self.open.remove(exchange)
            self._multi.remove_handle(exchange.curl)
            if exchange.ended is not None and not exchange.ended.done():
                exchange.ended.set_result((code, message))

    def close(self) -> None:
        """Cancel all open exchanges and close all connections."""
        for exchange in list(self.open):
            self.open.remove(exchange)
            self._multi.remove_handle(exchange.curl)
            if exchange.ended is not None:
                exchange.ended.cancel()
        self._loop.remove_reader(self._epoll.fileno())
        if self._alarm is not None:
            self._alarm.cancel()
        self._driving = True  # ignore the callbacks of libcurl while it closes its connections
        self._multi.close()
        self._epoll.close()

    def _on_socket(self, what: int, descriptor: int, multi: Any, data: Any) -> None:
        """Follow libcurl's interest in a socket.

        An idle connection stays in the epoll set. That saves one system call per page, and shows which server sends
        data that we did not request.
        """
        if what != pycurl.POLL_REMOVE:
            self._watch(descriptor, _EVENTS[what])
        elif self._watched.pop(descriptor, 0) == select.EPOLLIN and not self._may_speak:
            self._idle.add(descriptor)
        else:
            with contextlib.suppress(OSError):  # already closed
                if self._may_speak:
                    self._epoll.unregister(descriptor)
                else:
                    self._epoll.modify(descriptor, select.EPOLLIN)
                    self._idle.add(descriptor)

    def _watch(self, descriptor: int, events: int) -> None:
        watched = descriptor in self._watched or descriptor in self._idle
        self._idle.discard(descriptor)
        self._watched[descriptor] = events
        if watched:
            try:
                self._epoll.modify(descriptor, events)
                return
            except FileNotFoundError:
                pass  # the idle socket was closed; this is a new one with the same number
        self._epoll.register(descriptor, events)

    def _abandon(self, descriptor: int) -> None:
        """Shut down an idle connection that the server closed, or on which it sent data without a request.

        That data must not be taken for the next answer. libcurl finds the connection dead and opens a new one.
        """
        self._idle.discard(descriptor)
        with contextlib.suppress(OSError):
            self._epoll.unregister(descriptor)
            with socket.socket(fileno=os.dup(descriptor)) as connection:
                connection.shutdown(socket.SHUT_RDWR)

    def _on_timer(self, milliseconds: int) -> None:
        """Set the alarm, but never move it to a later time: it checks the time when it fires. Few requests set one."""
        if milliseconds == 0:
            self._kick = True
            if not self._driving:
                self._driving = True
                self._loop.call_soon(self._drive)
            return
        self._due = self._loop.time() + milliseconds / 1000 if milliseconds > 0 else _NEVER
        if self._due < (self._alarm.when() if self._alarm is not None else _NEVER):
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm = self._loop.call_at(self._due, self._on_alarm)

    def _on_alarm(self) -> None:
        self._alarm = None
        if self._loop.time() >= self._due - 0.001:
            self._due, self._kick = _NEVER, True
            self._drive()
        elif self._due < _NEVER:
            self._alarm = self._loop.call_at(self._due, self._on_alarm)

    def _drive(self) -> None:
        """Pass all ready sockets to libcurl and end the exchanges that are done."""
        self._driving = True
        action = self._multi.socket_action
        for descriptor, event in self._epoll.poll(0):
            if descriptor in self._idle:
                self._abandon(descriptor)
            else:
                action(descriptor, _ACTIONS[event & 31])
        while True:
            _, succeeded, failed = self._multi.info_read()
            for curl in succeeded:
                self.end(curl.exchange, 0, "")
            for curl, code, message in failed:
                self.end(curl.exchange, code, message)
            if not self._kick:
                break
            self._kick = False
            action(pycurl.SOCKET_TIMEOUT, 0)
        self._driving = False
