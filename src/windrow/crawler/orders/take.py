"""Takes the orders of a crawl: files in `orders/`, at the start and after each commit, one after another.

An order is carried out between two frames of the log, after everything that was recorded before, and the next frame
holds it. Its file is removed when that frame is committed. So a crash before the commit repeats the order, and a crash
after it does not: the log has its id. An order about many URLs takes several parts, one per frame; its file stays until
the last one. A file that is not an order, or that cannot be carried out, is moved to `orders/refused/` with the reason.
"""

import asyncio
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from windrow import config, files, orders, sharding, urls
from windrow.config import ConfigError
from windrow.crawler.setup import seedlist
from windrow.crawler.setup.checks import check_contact
from windrow.frontier import seeds
from windrow.records import Controls, Order, Task
from windrow.units import moment

if TYPE_CHECKING:  # `windrow status` shows the orders too, and needs nothing that runs a crawl
    from windrow.crawler.observer import Running
    from windrow.crawler.recover import Opened
    from windrow.crawler.session import Session

_QUICK = tuple(f"-{verb}.json" for verb in ("pause", "resume", "stop", "block", "set"))
_SEEDS = 2_000  # added in one part: some 30 ms


class Orders:
    """The orders of one run."""

    def __init__(self, opened: "Opened", session: "Session", crawl: "Running") -> None:
        self._directory = session.directory
        self._home = session.directory / orders.DIRECTORY
        self._start = opened.start
        self._given = opened.given
        self._session = session
        self._crawl = crawl
        self._lock = asyncio.Lock()
        self._handled: set[str] = set()  # files of this run: one that could not be removed is not looked at again
        self._old = frozenset(self._waiting())  # given before the start
        self._begun = False
        self.controls = session.frontier.controls()
        session.in_flight.pause(bool(self.controls.paused))

    def pause(self) -> str:
        """Return why and since when the crawl pauses; "" if it does not."""
        return pause(self.controls, self._directory)

    def pending(self) -> bool:
        """Return whether an order is being carried out, or waits."""
        return self._lock.locked() or bool(self._waiting())

    async def begin(self) -> None:
        """Carry out the orders that waited for the start. What the command line gives replaces what orders have set."""
        for line in standing(self.controls, self._directory):
            self._crawl.note(line)
        released = [f"{name}=" for name in self.controls.options if name in self._given]
        if released:
            async with self._lock:
                await self._carry_out(orders.make("set", released))
        self._begun = True
        await self.take()

    async def take(self) -> None:
        """Carry out every order that waits."""
        if not self._begun or (not self._waiting() and self.controls.unfinished is None):  # nearly always
            return
        async with self._lock:
            waiting, reached = self._waiting(), self.controls.unfinished  # now: another task may have carried out some
            if reached is not None and orders.file_name(reached) not in waiting and orders.reopens(reached)[0]:
                await self._carry_out(_fresh(reached))  # its file is gone, but the log has all of it
            for name in waiting:
                if self._crawl.stopping:
                    return
                if name not in self._handled:
                    await self._take(self._home / name)

    def _waiting(self) -> list[str]:
        try:
            names = os.listdir(self._home)
        except OSError:  # there never was an order
            return []
        return sorted(name for name in names if name.endswith(".json") and name not in self._handled)

    async def _take(self, path: Path) -> None:
        try:
            order = self._read(path)
        except FileNotFoundError:  # withdrawn
            return
        except (ConfigError, OSError) as error:
            return self._refuse(path, str(error))
        reached = self.controls.unfinished
        done = order.id in self.controls.recent and (reached is None or reached.id != order.id)
        if order.verb == "stop" and path.name in self._old:
            self._crawl.note(
                f"an order to stop, given at {moment(order.time)}, came after the end of its run and is dropped"
            )
        elif not done and not await self._carry_out(order):
            return  # the crawl stops; the order continues at the next start
        self._remove(path)

    def _read(self, path: Path) -> Order:
        """Return the order of a file; ConfigError if it cannot be carried out."""
        order = orders.decode(path.read_bytes())
        unknown = [name for name in order.values if order.verb == "unblock" and name not in self.controls.blocked]
        if unknown and order.id not in self.controls.recent:
            blocked = ", ".join(self.controls.blocked) or "nothing"
            raise ConfigError(f"{unknown[0]} is not blocked; blocked: {blocked}")
        if order.verb == "add":
            check_contact(self._start, _tasks(order))
        if order.verb == "set" and order.id not in self.controls.recent:
            after = orders.apply(self.controls, order)
            options = orders.effective(self._start, after, self._directory, self._given)
            config.check_boundaries(options, "with this order")
        return order

    async def _carry_out(self, order: Order) -> bool:
        """Carry out an order, part by part; return False if the crawl stops before the last part."""
        step = self._add if order.verb == "add" else self._obey
        reached = self.controls.unfinished
        start = reached.end if reached is not None and reached.id == order.id and order.verb != "add" else None
        while True:
            part = msgspec.structs.replace(order, start=start)
            await self._session.cadence.between(functools.partial(step, part))
            self._crawl.wake()
            self.controls = self._session.frontier.controls()
            reached = self.controls.unfinished
            if reached is None or reached.id != order.id:
                break
            start = reached.end
            for name in self._waiting():  # some orders do not wait for the end of a long one
                if name.endswith(_QUICK):
                    await self._take(self._home / name)
            if self._crawl.stopping:
                return False
        await self._act(order)
        return True

    async def _act(self, order: Order) -> None:
        """Do what only the driver can do, after the order is committed."""
        if order.verb in ("pause", "resume"):
            self._session.in_flight.pause(bool(self.controls.paused))
        elif order.verb == "set":
            await self._session.configure(orders.effective(self._start, self.controls, self._directory))
            self._crawl.wake()
        elif order.verb == "stop":
            self._crawl.stop()

    async def _obey(self, order: Order) -> None:
        await self._session.recorder.obey(order, self._session.clock.now())

    async def _add(self, order: Order) -> None:
        """Add the next seeds of an order. The frame has those that were new as its seeds, so the order needs none."""
        done = order.start[1] if order.start is not None else 0
        tasks = _tasks(order)
        refused: dict[str, int] = {}
        chosen = seedlist.in_scope(tasks[done : done + _SEEDS], self._session.scope, refused)
        admitted = await self._session.recorder.add_now(chosen, refused)
        end = ("", done + _SEEDS) if done + _SEEDS < len(tasks) else None
        changes = {"values": (), "end": end, "admitted": len(admitted), "refused": refused}
        await self._obey(msgspec.structs.replace(order, **changes))

    def _remove(self, path: Path) -> None:
        self._handled.add(path.name)
        try:
            path.unlink(missing_ok=True)
            files.sync_directory(self._home)
        except OSError as error:
            self._crawl.note(f"{path} was carried out and cannot be removed ({error.strerror}); remove it")

    def _refuse(self, path: Path, why: str) -> None:
        """Move aside a file that cannot be carried out; it never ends the crawl."""
        self._handled.add(path.name)
        aside = self._home / orders.REFUSED
        self._crawl.note(f"the order {path} was not carried out and is moved to {aside}: {why}")
        try:
            aside.mkdir(exist_ok=True)
            files.write(aside / f"{path.name}.txt", f"{why}\n".encode())
            path.rename(aside / path.name)
        except OSError as error:
            self._crawl.note(f"{path} cannot be moved ({error.strerror}); remove it")


def _tasks(order: Order) -> list[Task]:
    parsed = [urls.parse(text) for text in order.values]
    return seeds.tasks(url for url in parsed if url is not None)


def _fresh(part: Order) -> Order:
    """Return the order that this is a part of."""
    return msgspec.structs.replace(part, start=None, end=None, reopened={})


def pause(controls: Controls, directory: Path) -> str:
    """Return since when a crawl pauses, and how it continues; "" if it does not pause."""
    since = controls.paused
    return f"paused since {moment(since)}; continue with: {sharding.command('resume', directory)}" if since else ""


def standing(controls: Controls, directory: Path) -> list[str]:
    """Return what orders have changed and still holds, one sentence each, with the command that ends it."""
    lines = []
    if controls.paused:
        lines.append(pause(controls, directory))
    if controls.blocked:
        lines.append(
            f"blocked: {', '.join(controls.blocked)}; let them in again with: windrow unblock {directory} NAME"
        )
    for name, value in controls.options.items():
        back = f"{sharding.command('set', directory)} {name}="
        lines.append(f"{name} = {value}, set by an order; back to crawl.toml with: {back}")
    if controls.unfinished is not None:
        lines.append(
            f"the order to {controls.unfinished.verb} of {moment(controls.unfinished.time)} is being carried out"
        )
    return lines
