"""The online driver: turns the frontier's turns into captures, archives them, and commits.

One asyncio process. A turn is a coroutine that asks one host for its tasks, one after the other, with the delay between; a page
then goes its own way through a worker while the turn goes on. Everything that depends on order (archive, settling,
commit) happens here, on the loop's thread; only syncing files is done beside it.
"""

import asyncio
import contextlib
import errno
import math
import os
import platform
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import uvloop

import windrow
from windrow import archive, config, seeds, urls
from windrow.config import Config, ConfigError
from windrow.crawl import log, page, recover
from windrow.crawl.revisits import Revisits
from windrow.crawl.workers import Pool
from windrow.data import Capture, Counts, Failure, Frame, Kind, Reason, Report, Robots, Task, Turn
from windrow.fetch import robots
from windrow.fetch.client import Client
from windrow.fetch.resolve import Resolver, stays_home
from windrow.frontier.scope import Scope
from windrow.refine import Refined

_T = TypeVar("_T")
_Outcome = TypeVar("_Outcome", Capture, Failure)

_LAST_CALL = 20.0  # seconds that requests under way get to finish when the crawl is stopped
_DAY = 86400.0
_JUMP = 5.0  # seconds by which the system's clock may differ from ours before we do not believe it
_TICK = 0.001  # seconds by which the server's clock may read a delay shorter than ours
_FULL = {errno.ENOSPC, errno.EDQUOT}


class Clock:
    """Epoch seconds that never go back or jump while the process runs, nor, where it went on from one, behind its last commit."""

    def __init__(self, last: float = 0.0) -> None:
        now = time.time()
        if now < last < now + _DAY:  # it was set back meanwhile; a commit further ahead was dated by a clock that was wrong
            now = last
        self._offset = now - time.monotonic()

    def now(self) -> float:
        return time.monotonic() + self._offset


def steady(outcome: _Outcome, now: float) -> _Outcome:
    """What ended just now, dated so where the system's clock was moved meanwhile: pauses and robots.txt are reckoned by ours.

    The archive keeps the system's time; ours never corrects itself while the process runs.
    """
    seconds = outcome.seconds if isinstance(outcome, Capture) else 0.0  # a Failure bears the time of its end
    if -_JUMP < outcome.time + seconds - now < _JUMP:
        return outcome
    return msgspec.structs.replace(outcome, time=round(now - seconds, 3))


class Ending(msgspec.Struct):
    """How a run of the crawl ended."""

    why: str  # "done", "stopped", "pages", "seconds"
    seconds: float
    tally: log.Tally
    counts: Counts


class Crawl:
    """A crawl directory at work. Made by `run`; one run a process and directory."""

    def __init__(self, directory: Path, options: Config, resumed: recover.Resumed, clock: Clock) -> None:
        self._directory = directory
        self._options = options
        self._clock = clock
        self._started = clock.now()
        self._frontier = resumed.frontier
        self._writer = archive.Writer(directory, options.archive, options.crawl.node, warcinfo(directory, options))
        self._writer.resume(resumed.files)
        self._log = log.Log(directory / "log", resumed.position)
        self._frame = resumed.frames + 1
        self._seq = resumed.seq
        self._client = Client(options.fetch, options.crawler)
        self._resolver = Resolver(options.fetch, options.crawler)
        self._pool = Pool(options)
        self._scope = Scope(options.scope)
        self._revisits = Revisits.of(directory) if options.archive.revisits else None
        self._turns: set[asyncio.Task[None]] = set()
        self._pages: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._pending: list[Report] = []
        self._seeds: list[Task] = []
        self._slots_pending = 0  # of the pending reports, those a request stands behind
        self._flying = 0  # URLs requested and not yet committed
        self._room = asyncio.Event()
        self._held = 0  # bytes of bodies that wait for a worker
        self._full = asyncio.Event()  # enough for a commit
        self._committing = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "sync")
        self._stopping = ""
        self._asked_to_stop = False  # by a signal: then even a full disk is not waited for
        self._over = False  # no more group commits but the last
        self._paused = False
        self._broken: BaseException | None = None
        self._requested = 0  # pages, archived or under way
        self.tally = log.Tally()

    async def run(self, tasks: list[Task]) -> Ending:
        """Crawls from these seeds and from what waits already, until the end."""
        committer = asyncio.create_task(self._commit_often())
        try:
            await self._pool.start()
            self._add_seeds(await self._frontier.add(self._admissible(tasks)))
            await self._work()
            await self._finish_turns()
        except Exception as error:  # after a failed commit others fail too: the first says why
            self._broken = self._broken or error
        finally:
            self._over = True
            self._full.set()
            await committer  # not cancelled: a frame that was cut from the reports has to be written
            ending = await self._end()
        if self._broken is not None:
            raise self._broken
        return ending

    def stop(self, why: str = "stopped") -> None:
        """Asks for a clean end; asked twice, requests under way are given up."""
        if self._stopping:
            for task in (*self._turns, *self._pages):
                task.cancel()
        self._asked_to_stop = self._asked_to_stop or why == "stopped"
        self._stopping = self._stopping or why
        self._wake.set()
        self._room.set()

    # -- leasing

    def _admissible(self, tasks: list[Task]) -> list[Task]:
        kept = []
        for task in tasks:
            rule = self._scope.refuses(task.url)
            if rule:
                self.tally.refused[rule] = self.tally.refused.get(rule, 0) + 1  # of this run: they come again at each start
            else:
                kept.append(task)
        if not kept:
            raise ConfigError(f"every seed in {self._options.crawl.seeds} is refused by [scope]; widen it or change the seeds")
        return kept

    def _add_seeds(self, admitted: list[Task]) -> None:
        self._seeds += admitted
        self.tally.seen += len(admitted)

    async def _work(self) -> None:
        """Leases and starts turns until nothing is left or a limit is reached."""
        while not self._stopping:
            self._wake.clear()
            now = self._clock.now()
            self._check_limits(now)
            free = 0 if self._paused or self._stopping or self._enough() else self._options.fetch.connections - len(self._turns)
            turns, again = await self._lease(free, now) if free > 0 else ([], math.inf)
            for turn in turns:
                task = asyncio.create_task(self._hold(turn))
                self._turns.add(task)
                task.add_done_callback(self._turn_done)
            if again is None and not self._turns and not self._pages:
                self._stopping = "done"
            elif not self._stopping:
                await self._nap(1.0 if again is None else again - self._clock.now())

    async def _lease(self, free: int, now: float) -> tuple[list[Turn], float | None]:
        try:
            return await self._frontier.lease(free, now)
        except OSError as error:
            self._wait_for_room(error)
            return [], math.inf

    def _check_limits(self, now: float) -> None:
        limits = self._options.crawl
        if 0 < limits.max_seconds <= now - self._started:
            self._stopping = "seconds"
        elif self._enough() and not self._turns:
            self._stopping = "pages"

    def _enough(self) -> bool:
        """Whether as many pages as wanted are archived or under way."""
        return 0 < self._options.crawl.max_pages <= self._requested

    async def _nap(self, seconds: float) -> None:
        """Until something happens, but no longer than this (and never past the time limit)."""
        if self._options.crawl.max_seconds:
            seconds = min(seconds, self._started + self._options.crawl.max_seconds - self._clock.now())
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        timer = asyncio.get_running_loop().call_later(min(seconds, 3600.0), self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()

    def _turn_done(self, task: asyncio.Task[None]) -> None:
        self._turns.discard(task)
        self._page_done(task)

    def _page_done(self, task: asyncio.Task[None]) -> None:
        self._pages.discard(task)
        if not task.cancelled() and task.exception() is not None and self._broken is None:
            self._broken = task.exception()
            self.stop("broken")
        self._wake.set()

    # -- a turn

    async def _hold(self, turn: Turn) -> None:
        """Asks one host for the tasks of its turn."""
        done, last = 0, 0.0
        try:
            if turn.closed is not None:
                await self._close_tasks(turn, turn.closed)
                done = len(turn.tasks)
            elif turn.tasks[0].kind is Kind.RESOLVE:
                await self._resolve(turn.tasks[0])
                done = 1
            else:
                rules = {entry.origin: entry for entry in turn.robots}
                for task in turn.tasks:
                    refusal = self._refusal(task, rules) if task.kind is Kind.PAGE else None
                    if refusal is None:
                        if not await self._ready(last + turn.delay if last else 0.0, task.kind):
                            break
                        outcome = await self._client.get(task, turn.address)
                        last = self._clock.now()
                        await self._take(outcome, last)
                    else:
                        await self._settle(refusal)
                    done += 1
        finally:
            await self._release(turn, turn.tasks[done:], last)

    async def _release(self, turn: Turn, unused: Sequence[Task], last: float) -> None:
        while True:
            try:
                return await self._frontier.release(turn, unused, last)
            except OSError as error:
                self._wait_for_room(error)
                await asyncio.sleep(1.0)

    async def _ready(self, due: float, kind: Kind) -> bool:
        """Waits until the next request may be made; False where the turn is to end without it."""
        while (wait := due - self._clock.now()) > 0:  # a timer of the loop may come up to a millisecond early
            await asyncio.sleep(wait)
        limits = self._options.crawl
        while not self._stopping and (self._paused or self._flying >= limits.in_flight or self._held >= limits.in_flight_bytes):
            self._full.set()
            self._room.clear()
            await self._room.wait()
        if self._stopping or (kind is Kind.PAGE and self._enough()):
            return False
        self._flying += 1
        self._requested += kind is Kind.PAGE
        return True

    def _refusal(self, task: Task, rules: dict[str, Robots]) -> Report | None:
        """The report on a task that must not be asked for: by the scope as it is now, or by its origin's robots.txt."""
        rule = self._scope.refuses(task.url)
        if rule:
            return Report(0, task, Reason.OUT_OF_SCOPE, rule, self._clock.now())
        origin = urls.origin(task.url.text)
        entry = rules[origin]
        if entry.closed:
            return Report(0, task, Reason.ROBOTS_UNREACHABLE, f"{origin}/robots.txt could not be had", self._clock.now())
        if not entry.rules:
            return None
        allowed, rule = robots.parse(entry.rules).decide(task.url.text[len(origin) :])
        return None if allowed else page.disallowed(task, rule, self._clock.now())

    async def _close_tasks(self, turn: Turn, why: Reason) -> None:
        now = self._clock.now()
        for task in turn.tasks:
            report = page.closed(task, why, now)
            if task.kind is Kind.ROBOTS:
                unreachable = robots.verdict(page.asking(task), Failure(task, why, report.detail, now), self._options.fetch, self._agent)
                report = msgspec.structs.replace(report, robots=unreachable)
            await self._settle(report)

    async def _resolve(self, task: Task) -> None:
        now = self._clock.now()
        found = await self._resolver.find(task.url.host, now)
        end = self._clock.now()
        reason = found.reason or Reason.OK
        report = Report(0, task, reason, found.detail, end, until=end + found.ttl if not found.reason else 0.0, address=found.address)
        await self._settle(report)

    # -- a page

    @property
    def _agent(self) -> str:
        return self._options.crawler.name

    async def _take(self, outcome: Capture | Failure, now: float) -> None:
        """What a request gave. All but pages is reported before the turn goes on, so that the host's clock knows of it."""
        if outcome.task.kind is Kind.ROBOTS:
            await self._take_robots(outcome, now)
        elif isinstance(outcome, Failure):
            self._requested -= 1
            await self._settle(page.failed(steady(outcome, now)))
            self._slots_pending += 1
        else:
            report = page.answered(steady(outcome, now), self._scope, self._options.fetch.max_redirects)
            if report.reason is Reason.OK:
                self._held += len(outcome.body)
                task = asyncio.create_task(self._read(outcome, report))
                self._pages.add(task)
                task.add_done_callback(self._page_done)
            else:
                self._requested -= 1
                await self._keep(report, self._writer.compress(outcome))

    async def _take_robots(self, outcome: Capture | Failure, now: float) -> None:
        origin = page.asking(outcome.task)
        if isinstance(outcome, Failure):
            failure = steady(outcome, now)
            verdict = robots.verdict(origin, failure, self._options.fetch, self._agent)
            await self._settle(msgspec.structs.replace(page.failed(failure), robots=verdict))
            self._slots_pending += 1
            return
        seen = steady(outcome, now)
        report = page.answered(seen, self._scope, self._options.fetch.max_redirects)
        moved = page.moved_robots(seen)
        if moved is not None:
            report = msgspec.structs.replace(report, found=(moved,), refused={}, final=True)
        else:
            verdict = robots.verdict(origin, seen, self._options.fetch, self._agent)
            why = Reason.ROBOTS_UNREACHABLE if verdict.closed and report.reason is not Reason.THROTTLED else report.reason
            report = msgspec.structs.replace(report, found=(), refused={}, final=True, robots=verdict, reason=why)
        await self._keep(report, self._writer.compress(outcome))

    async def _read(self, capture: Capture, report: Report) -> None:
        """A page: its links are found in a worker, then it is archived and settled."""
        members = self._compress(capture)
        size = len(capture.body)
        refined = await self._pool.refine(capture)
        self._held -= size
        if isinstance(refined, Refined):
            refused = dict(refined.refused)
            found = page.followed(capture.task, refined.page.links, self._scope, refused)
            report = msgspec.structs.replace(report, found=found, refused=refused, shape=refined.page.shape)
        else:
            report = msgspec.structs.replace(report, reason=refined.reason, detail=refined.detail)
        await self._keep(report, members)

    def _compress(self, capture: Capture) -> archive.Members:
        members = self._writer.compress(capture)
        earlier = self._revisits.get(members.digest) if self._revisits is not None and capture.body else None
        return members if earlier is None else self._writer.revisit(capture, earlier)

    async def _keep(self, report: Report, members: archive.Members) -> None:
        """Settles a report and archives the capture behind it. Once it is settled nothing waits until it is pending: a frame has all
        of it or nothing."""
        if not report.final and members.subset == "warc":
            members = msgspec.structs.replace(members, subset="diagnostics")  # it will be asked for again
        settled = await self._settled(report)
        self._seq += 1
        place = self._writer.append(members, self._seq)
        if self._revisits is not None:
            self._revisits.note(members.digest, archive.Origin(report.task.url.text, members.time, place))
        self._slots_pending += 1
        self._note(page.archived(settled, self._seq, place, members.digest))

    async def _settle(self, report: Report) -> None:
        self._note(await self._settled(report))

    async def _settled(self, report: Report) -> Report:
        """The report as the log keeps it. The frontier fails before it changes anything, so a full disk is waited for."""
        while True:
            try:
                return (await self._frontier.settle([report], self._frame))[0]
            except OSError as error:
                self._wait_for_room(error)
                await asyncio.sleep(1.0)

    def _note(self, settled: Report) -> None:
        if settled.task.kind is not Kind.RESOLVE or settled.reason is not Reason.OK:
            self._pending.append(settled)
            self.tally.add(settled)
        if len(self._pending) >= self._options.crawl.commit_pages:
            self._full.set()
        self._wake.set()

    # -- commit

    async def _commit_often(self) -> None:
        """A group commit each second, or as soon as there is enough for one."""
        while not self._over:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._full.wait(), self._options.crawl.commit_seconds)
            self._full.clear()
            if self._over:
                return
            try:
                await self._commit()
                self._watch_disk()
            except Exception as error:
                self._broken = self._broken or error
                self.stop("broken")
                return

    async def _commit(self, checkpoint: bool = False) -> None:
        async with self._committing:
            checkpoint = checkpoint or self._frontier.checkpoint_due(self._clock.now())
            if not self._pending and not self._seeds:
                if checkpoint:
                    await self._checkpoint()
                return
            while (lengths := self._try(self._writer.flush)) is None:
                await asyncio.sleep(1.0)
            # Nothing waits between the flush and the frame, so the lengths are those of exactly these reports.
            frame, slots = self._cut_frame(lengths)
            # At a checkpoint the store may hold no more than the log does: nothing else runs until both are on disk.
            position = self._try(lambda: self._write_frame(frame)) if checkpoint else None
            checkpoint = position is not None
            loop = asyncio.get_running_loop()
            while position is None:
                position = await loop.run_in_executor(self._thread, self._try, lambda: self._write_frame(frame))
                if position is None:
                    await asyncio.sleep(1.0)
            await self._frontier.commit(frame, position)
            if checkpoint:
                await self._checkpoint()
            self._flying -= slots
            self._room.set()

    async def _checkpoint(self) -> None:
        """Where there is no room the store stays behind the log. Nothing is lost by that: the next start has more to replay."""
        try:
            await self._frontier.checkpoint(self._clock.now())
        except OSError as error:
            if error.errno not in _FULL:
                raise self._unwritable(error) from error
            self._paused = True

    def _cut_frame(self, lengths: dict[str, int]) -> tuple[Frame, int]:
        """What was settled since the last frame becomes the next one."""
        reports, self._pending = self._pending, []
        found, self._seeds = self._seeds, []
        slots, self._slots_pending = self._slots_pending, 0
        frame = Frame(self._frame, self._clock.now(), tuple(reports), lengths, tuple(found), in_hand=self._flying - slots)
        self._frame += 1
        return frame, slots

    def _write_frame(self, frame: Frame) -> log.Position:
        """The commit: other files first, then the frame. When this returns, it happened."""
        try:
            self._writer.sync()
        except OSError as error:  # even where the disk was full: what a failed sync left in a file nobody knows
            raise self._unwritable(error) from error
        return self._log.append(log.encode(frame))

    def _try(self, write: Callable[[], _T]) -> _T | None:
        """None where the disk is full."""
        try:
            return write()
        except OSError as error:
            self._wait_for_room(error)
            return None

    def _wait_for_room(self, error: OSError) -> None:
        """Pauses the crawl where the disk is full; what failed is to be tried again. Any other error ends it."""
        if error.errno not in _FULL or self._asked_to_stop or self._broken is not None:
            raise self._unwritable(error) from error
        self._paused = True

    def _unwritable(self, error: OSError) -> ConfigError:
        place = error.filename or self._directory
        return ConfigError(f"cannot write {place}: {error.strerror}; mend that and run the same command again, what was committed is safe")

    def _watch_disk(self) -> None:
        free = free_bytes(self._directory)
        least = self._options.crawl.min_free_bytes
        if free < least:
            self._paused = True
        elif self._paused and free >= 2 * least:
            self._paused = False
            self._room.set()
            self._wake.set()

    # -- the end

    async def _finish_turns(self) -> None:
        """Requests under way may finish, for a while; what is not done by then goes back to its queue."""
        end = self._clock.now() + _LAST_CALL
        while (waiting := [*self._turns, *self._pages]) and self._broken is None and (left := end - self._clock.now()) > 0:
            await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)  # a turn may leave a page behind
        for task in [*self._turns, *self._pages]:
            task.cancel()
        while self._turns or self._pages:
            await asyncio.wait([*self._turns, *self._pages], timeout=5.0)

    async def _end(self) -> Ending:
        try:
            if self._broken is None:
                await self._commit(checkpoint=True)
            counts = await self._frontier.counts()
        finally:
            await self._pool.close()
            self._client.close()
            self._writer.close()
            self._log.close()
            self._thread.shutdown()
            await self._frontier.close()
        return Ending(self._stopping, self._clock.now() - self._started, self.tally, counts)

    async def progress(self) -> tuple[Counts, bool]:
        """Counts for the display, and whether the disk made the crawl pause."""
        return await self._frontier.counts(), self._paused


def free_bytes(directory: Path) -> int:
    stat = os.statvfs(directory)
    return stat.f_bavail * stat.f_frsize


def warcinfo(directory: Path, options: Config) -> dict[str, str]:
    return {
        "isPartOf": directory.resolve().name,
        "operator": options.crawler.operator or options.crawler.contact,
        "description": options.crawler.description,
        "hostname": platform.node(),
        "software": f"windrow/{windrow.__version__}",
        "robots": "checked by RFC 9309",
        "options": config.dump(options),
    }


def check_contact(options: Config, tasks: list[Task]) -> None:
    """Who is visited must be able to reach us: without a contact nothing but loopback is crawled."""
    if options.crawler.contact:
        return
    away = next((task.url for task in tasks if not stays_home(options.fetch, task.url.host)), None)
    if away is not None:
        raise ConfigError(
            f"no contact is set and the seed {away.text} is not on this machine; set contact under [crawler] in crawl.toml to a URL or "
            "an e-mail address that a webmaster can write to"
        )


async def run(directory: Path, options: Config, watch: Callable[[Crawl, recover.Resumed], None]) -> Ending:
    """Runs or resumes the crawl of a directory until it ends; `watch` gets it once it is set up."""
    tasks = seeds.tasks(seeds.read(directory / options.crawl.seeds))
    check_contact(options, tasks)
    with recover.lock(directory):
        free = free_bytes(directory)
        if free < options.crawl.min_free_bytes:
            raise ConfigError(
                f"{directory} has {free >> 20} MiB free, less than crawl.min_free_bytes ({options.crawl.min_free_bytes >> 20} MiB); "
                "free some space, or lower the option"
            )
        clock = Clock(recover.last_commit(directory))
        resumed = await recover.resume(directory, options, clock.now())
        try:
            crawl = Crawl(directory, options, resumed, clock)
        except BaseException:
            await resumed.frontier.close()
            raise
        watch(crawl, resumed)
        return await crawl.run(tasks)


def execute(main: Coroutine[Any, Any, _T]) -> _T:
    """Runs a coroutine on the fastest event loop there is."""
    return uvloop.run(main)
