"""The online driver: turns the frontier's turns into captures, archives them, and commits.

One asyncio process. A turn is a coroutine that asks one host for its tasks, one after the other, with the delay between; a page
then goes its own way through a worker while the turn goes on. Everything that depends on order (archive, settling,
commit) happens here, on the loop's thread; only syncing files is done beside it.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import uvloop

from windrow import log, seeds, urls
from windrow.config import Config, ConfigError
from windrow.crawl import page, recover
from windrow.crawl.commit import Commits
from windrow.crawl.disk import Disk, free_bytes
from windrow.crawl.inflight import Flight
from windrow.crawl.record import Keeper
from windrow.crawl.workers.pool import Pool
from windrow.data import Capture, Counts, Failure, Kind, Reason, Report, Robots, Task, Turn
from windrow.dedup.decide import Leaf
from windrow.fetch.client import Client
from windrow.fetch.resolve import Resolver, stays_home
from windrow.frontier.policy import retry
from windrow.frontier.policy.scope import Scope
from windrow.log.writer import Log
from windrow.origin import robots, tdmrep
from windrow.origin.soft404 import Prober
from windrow.refine import Refined

_T = TypeVar("_T")
_Outcome = TypeVar("_Outcome", Capture, Failure)

_LAST_CALL = 20.0  # seconds that requests under way get to finish when the crawl is stopped
_DAY = 86400.0
_NO_SKETCH = "-"  # in place of an origin's soft-404 sketch: it was probed, and there is nothing to compare with
_JUMP = 5.0  # seconds by which the system's clock may differ from ours before we do not believe it
_HURRY = 0.2  # seconds after which a commit makes room for turns that wait
_TICK = 0.001  # seconds by which the server's clock may read a delay shorter than ours


class Clock:
    """Epoch seconds that never go back or jump while the process runs, nor, where it went on from one, behind its last commit."""

    def __init__(self, last: float = 0.0) -> None:
        now = time.time()
        if (
            now < last < now + _DAY
        ):  # it was set back meanwhile; a commit further ahead was dated by a clock that was wrong
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
        self._options = options
        self._clock = clock
        self._started = clock.now()
        self._frontier = resumed.frontier
        self._disk = Disk(directory, options.crawl.min_free_bytes)
        self._commits = Commits(resumed, Log(directory / "log", resumed.position), self._disk)
        self._keeper = Keeper(directory, options, resumed, self._commits, self._disk)
        self._client = Client(options.fetch, options.identity)
        self._resolver = Resolver(options.fetch, options.identity)
        self._pool = Pool(options)
        self._scope = Scope(options.scope)
        self._prober = Prober(options)
        self._turns: set[asyncio.Task[None]] = set()
        self._pages: dict[asyncio.Task[None], str] = {}  # being read, with their origins
        self._wake = asyncio.Event()
        self._flight = Flight(options.crawl, self._disk)
        self._group = min(options.crawl.commit_pages, max(1, options.crawl.in_flight // 4))  # reports in a commit
        self._full = asyncio.Event()  # enough for a commit
        self._hurry: asyncio.TimerHandle | None = None  # to a commit that makes room
        self._stopping = ""
        self._over = False  # no more group commits but the last
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
            self._break(error)
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
        self._disk.patient = self._disk.patient and why not in ("stopped", "broken")
        self._stopping = self._stopping or why
        self._wake.set()
        self._flight.wake_all()

    # -- leasing

    def _admissible(self, tasks: list[Task]) -> list[Task]:
        kept = []
        for task in tasks:
            rule = self._scope.refuses(task.url)
            if rule:
                self.tally.refused[rule] = (
                    self.tally.refused.get(rule, 0) + 1
                )  # of this run: they come again at each start
            else:
                kept.append(task)
        if not kept:
            raise ConfigError(
                f"every seed in {self._options.crawl.seeds} is refused by [scope]; widen it or change the seeds"
            )
        return kept

    def _add_seeds(self, admitted: list[Task]) -> None:
        self._commits.add_seeds(admitted)
        self.tally.seen += len(admitted)

    async def _work(self) -> None:
        """Leases and starts turns until nothing is left or a limit is reached."""
        while not self._stopping:
            self._wake.clear()
            now = self._clock.now()
            self._check_limits(now)
            free = (
                0
                if self._disk.paused or self._stopping or self._enough()
                else self._options.fetch.connections - len(self._turns)
            )
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
            self._disk.hold(error)
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
        self._pages.pop(task, None)
        if not task.cancelled() and task.exception() is not None:
            self._break(task.exception())
        self._wake.set()

    def _break(self, error: BaseException | None) -> None:
        """What was not foreseen ends the crawl; the first of several says why."""
        self._broken = self._broken or error
        self.stop("broken")

    # -- a turn

    async def _hold(self, turn: Turn) -> None:
        """Asks one host for the tasks of its turn."""
        done, last, going = 0, 0.0, True
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
                    refusal = self._refusal(task, rules) if task.kind is Kind.PAGE else self._barred(task, rules)
                    if (
                        refusal is None
                        and task.kind is Kind.PAGE
                        and self._prober.wants(entry := rules[urls.origin(task.url.text)])
                    ):
                        rules[entry.origin], last = await self._probe(turn, entry, last)
                    if refusal is None:
                        await self._rest(last + turn.delay if last else 0.0)
                        refusal = self._retired(task)
                    if refusal is not None:
                        await self._settle(refusal)
                    elif await self._admitted(task.kind):
                        outcome = await self._client.get(task, turn.address, limit=self._body_limit(task.kind))
                        last = self._clock.now()
                        if isinstance(outcome, Capture) and task.kind is Kind.PAGE and (text := page.detour(outcome)):
                            outcome, last = await self._detour(turn, outcome, text)
                        going = await self._take(outcome, last, rules)
                    else:
                        break
                    done += 1
                    if not going:
                        break
        finally:
            await self._release(turn, turn.tasks[done:], last)

    async def _release(self, turn: Turn, unused: Sequence[Task], last: float) -> None:
        while True:
            try:
                return await self._frontier.release(turn, unused, last)
            except OSError as error:
                self._disk.hold(error)
                await asyncio.sleep(1.0)

    async def _rest(self, due: float) -> None:
        """Until the host may be asked again."""
        while (wait := due - self._clock.now()) > 0:  # a timer of the loop may come up to a millisecond early
            await asyncio.sleep(wait)

    async def _admitted(self, kind: Kind) -> bool:
        """Waits until there is room for one more request in flight; False where the turn is to end without it."""
        while not self._stopping and not self._flight.room():
            self._ask_for_room()
            await self._flight.wait()
        if self._stopping or (kind is Kind.PAGE and self._enough()):
            return False
        self._flight.urls += 1
        self._requested += kind is Kind.PAGE
        return True

    def _body_limit(self, kind: Kind) -> int:
        """Return the most bytes of body to receive for a kind of task; 0 for the limit of a page."""
        fetch = self._options.fetch
        if kind is Kind.TDMREP:
            return min(fetch.max_bytes, tdmrep.LIMIT)
        return max(fetch.max_bytes, fetch.robots_max_bytes) if kind is Kind.ROBOTS else 0

    async def _detour(self, turn: Turn, hop: Capture, text: str) -> tuple[Capture | Failure, float]:
        """Follows a redirect to the same page with a session id, once and at once: canonical, the two are one URL, so as a link it would be
        known already, and the page never seen."""
        last = self._clock.now()
        there = msgspec.structs.replace(hop.task, url=msgspec.structs.replace(hop.task.url, text=text))
        if self._refusal(there, {entry.origin: entry for entry in turn.robots}) is not None:
            return hop, last
        await self._rest(last + turn.delay)
        if not await self._admitted(Kind.DETOUR):
            return hop, last
        hop = msgspec.structs.replace(hop, task=msgspec.structs.replace(hop.task, kind=Kind.DETOUR))
        report = page.answered(steady(hop, last), self._scope, self._options.fetch.max_redirects)
        await self._keep(msgspec.structs.replace(report, found=(), refused={}, final=True), hop)
        return await self._client.get(
            msgspec.structs.replace(hop.task, kind=Kind.PAGE), turn.address, text
        ), self._clock.now()

    async def _probe(self, turn: Turn, entry: Robots, last: float) -> tuple[Robots, float]:
        """Asks an origin for a page that cannot exist. What it answers belongs to what is known of the origin, beside its rules."""
        task = self._prober.task(entry)
        if self._refusal(task, {entry.origin: entry}) is not None:
            return msgspec.structs.replace(entry, probe=_NO_SKETCH), last
        await self._rest(last + turn.delay if last else 0.0)
        if not await self._admitted(task.kind):
            return entry, last
        outcome = await self._client.get(task, turn.address)
        last = self._clock.now()
        return await self._take_probe(outcome, entry, last), last

    async def _take_probe(self, outcome: Capture | Failure, entry: Robots, now: float) -> Robots:
        probe = _NO_SKETCH
        if isinstance(outcome, Failure):
            entry = msgspec.structs.replace(entry, probe=probe)
            await self._settle(msgspec.structs.replace(page.failed(steady(outcome, now)), robots=entry), requested=True)
            return entry
        await self._read_all(entry.origin)
        if page.reason(outcome) is Reason.OK:
            probe = await self._pool.sketch(outcome) or _NO_SKETCH
        entry = msgspec.structs.replace(entry, probe=probe)
        report = page.answered(steady(outcome, now), self._scope, self._options.fetch.max_redirects)
        await self._keep(msgspec.structs.replace(report, found=(), refused={}, final=True, robots=entry), outcome)
        return entry

    def _retired(self, task: Task) -> Report | None:
        """The report on a page that was handed out before its host or domain was closed."""
        why = self._frontier.closed(task.url) if task.kind is Kind.PAGE else None
        return page.closed(task, why, self._clock.now()) if why is not None else None

    def _refusal(self, task: Task, rules: dict[str, Robots]) -> Report | None:
        """The report on a task that must not be asked for: by the scope as it is now, or by its origin's robots.txt."""
        rule = self._scope.refuses(task.url)
        if rule:
            return Report(0, task, Reason.OUT_OF_SCOPE, rule, self._clock.now())
        return self._forbidden(task, rules)

    def _forbidden(self, task: Task, rules: dict[str, Robots]) -> Report | None:
        origin = urls.origin(task.url.text)
        entry = rules[origin]
        if entry.closed:
            return Report(
                0, task, Reason.ROBOTS_UNREACHABLE, f"{origin}/robots.txt could not be had", self._clock.now()
            )
        if not entry.rules:
            return None
        allowed, rule = robots.parse(entry.rules).decide(task.url.text[len(origin) :])
        return None if allowed else page.disallowed(task, rule, self._clock.now())

    def _barred(self, task: Task, rules: dict[str, Robots]) -> Report | None:
        """The report on a tdmrep.json that robots.txt disallows: its origin says nothing by it."""
        report = self._forbidden(task, rules) if task.kind is Kind.TDMREP else None
        return report and msgspec.structs.replace(
            report, robots=msgspec.structs.replace(rules[page.asking(task)], tdm=tdmrep.NONE)
        )

    async def _close_tasks(self, turn: Turn, why: Reason) -> None:
        now = self._clock.now()
        rules = {entry.origin: entry for entry in turn.robots}
        for task in turn.tasks:
            report = page.closed(task, why, now)
            if task.kind is Kind.ROBOTS:
                unreachable = robots.verdict(
                    page.asking(task), Failure(task, why, report.detail, now), self._options.fetch, self._agent
                )
                report = msgspec.structs.replace(report, robots=unreachable)
            elif task.kind is Kind.TDMREP:
                report = msgspec.structs.replace(
                    report, robots=msgspec.structs.replace(rules[page.asking(task)], tdm=tdmrep.NONE)
                )
            await self._settle(report)

    async def _resolve(self, task: Task) -> None:
        now = self._clock.now()
        found = await self._resolver.find(task.url.host, now)
        end = self._clock.now()
        reason = found.reason or Reason.OK
        report = Report(
            0,
            task,
            reason,
            found.detail,
            end,
            until=end + found.ttl if not found.reason else 0.0,
            address=found.address,
        )
        await self._settle(report)

    # -- a page

    @property
    def _agent(self) -> str:
        return self._options.identity.name

    async def _take(self, outcome: Capture | Failure, now: float, rules: dict[str, Robots]) -> bool:
        """What a request gave. All but pages is reported before the turn goes on, so that the host's clock knows of it; False where it
        does not go on, because the host has to rest."""
        if outcome.task.kind is not Kind.PAGE:
            await self._take_file(outcome, now, rules)
        elif isinstance(outcome, Failure):
            self._requested -= 1
            await self._settle(page.failed(steady(outcome, now)), requested=True)
            return not retry.pauses(outcome.reason)
        else:
            report = page.answered(steady(outcome, now), self._scope, self._options.fetch.max_redirects)
            if report.reason is Reason.OK:
                self._flight.hold(len(outcome.body))
                entry = rules[urls.origin(report.task.url.text)]
                self._prober.count(entry)
                task = asyncio.create_task(self._read(outcome, report, entry))
                self._pages[task] = entry.origin
                task.add_done_callback(self._page_done)
            else:
                self._requested -= 1
                await self._keep(report, outcome)
            return not retry.pauses(report.reason)
        return True

    def _verdict(self, outcome: Capture | Failure, rules: dict[str, Robots]) -> Robots:
        """What an answer for robots.txt or tdmrep.json means for the origin that asked."""
        origin = page.asking(outcome.task)
        if outcome.task.kind is Kind.TDMREP:
            return tdmrep.verdict(rules[origin], outcome)
        return robots.verdict(origin, outcome, self._options.fetch, self._agent)

    async def _take_file(self, outcome: Capture | Failure, now: float, rules: dict[str, Robots]) -> None:
        """What an origin says of itself: robots.txt, tdmrep.json."""
        await self._read_all(page.asking(outcome.task))
        if isinstance(outcome, Failure):
            failure = steady(outcome, now)
            report = msgspec.structs.replace(page.failed(failure), robots=self._verdict(failure, rules))
            return await self._settle(report, requested=True)
        seen = steady(outcome, now)
        report = page.answered(seen, self._scope, self._options.fetch.max_redirects)
        moved = page.moved(seen)
        if moved is not None and not (moved.kind is Kind.TDMREP and self._scope.refuses_origin(moved.url)):
            report = msgspec.structs.replace(report, found=(moved,), refused={}, final=True)
        else:
            verdict = self._verdict(seen, rules)
            why = (
                Reason.ROBOTS_UNREACHABLE if verdict.closed and report.reason is not Reason.THROTTLED else report.reason
            )
            report = msgspec.structs.replace(report, found=(), refused={}, final=True, robots=verdict, reason=why)
        await self._keep(report, outcome)

    async def _read_all(self, origin: str) -> None:
        """Until the pages of an origin that were asked for are settled. What changes the judgement on its pages, its rules or a probe, is
        settled behind them: so the log has each page behind the rules that it was judged by, and a rebuild finds the same."""
        while waiting := [task for task, asked in self._pages.items() if asked == origin and not task.done()]:
            await asyncio.wait(waiting)

    async def _read(self, capture: Capture, report: Report, entry: Robots) -> None:
        """A page: a worker finds its links and its text, then it is kept."""
        members = self._keeper.compress(capture)
        size = len(capture.body)
        refined = await self._pool.refine(capture, "" if entry.probe == _NO_SKETCH else entry.probe)
        self._flight.let_go(size)
        leaf = None
        if isinstance(refined, Refined):
            refused = dict(refined.refused)
            found = page.followed(capture.task, refined.links, self._scope, refused)
            report = msgspec.structs.replace(report, found=found, refused=refused, shape=refined.shape)
            leaf = Leaf(capture.ip, capture.time, entry.rules, refined, tdmrep.told(entry))
        else:
            report = msgspec.structs.replace(report, reason=refined.reason, detail=refined.detail)
        self._count(await self._keeper.keep(report, members, leaf))

    async def _keep(self, report: Report, capture: Capture) -> None:
        self._count(await self._keeper.keep(report, self._keeper.compress(capture)))

    async def _settle(self, report: Report, requested: bool = False) -> None:
        self._count(await self._keeper.settle(report, requested))

    def _count(self, settled: Report) -> None:
        if settled.task.kind is not Kind.RESOLVE or settled.reason is not Reason.OK:
            self.tally.add(settled)
        if len(self._commits) >= self._group:
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
                if self._disk.look():
                    self._flight.wake()
                    self._wake.set()
            except Exception as error:
                return self._break(error)

    async def _commit(self, checkpoint: bool = False) -> None:
        if self._hurry is not None:
            self._hurry.cancel()
            self._hurry = None
        landed = await self._commits.commit(self._clock.now, lambda: self._flight.urls, checkpoint)
        self._flight.urls -= landed  # not in one: the old value would be read before the commit
        self._flight.wake()
        if self._flight.waiting:
            self._ask_for_room()

    def _ask_for_room(self) -> None:
        """A commit soon, if none comes sooner: what is committed is no longer in flight."""
        self._hurry = self._hurry or asyncio.get_running_loop().call_later(_HURRY, self._full.set)

    # -- the end

    async def _finish_turns(self) -> None:
        """Requests under way may finish, for a while; what is not done by then goes back to its queue."""
        end = self._clock.now() + _LAST_CALL
        while (
            (waiting := [*self._turns, *self._pages]) and self._broken is None and (left := end - self._clock.now()) > 0
        ):
            await asyncio.wait(
                waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )  # a turn may leave a page behind
        for task in [*self._turns, *self._pages]:
            task.cancel()
        while self._turns or self._pages:
            await asyncio.wait([*self._turns, *self._pages], timeout=5.0)

    async def _end(self) -> Ending:
        try:
            if self._broken is None:
                await self._commit(checkpoint=True)
                self._keeper.save()
            counts = await self._frontier.counts()
        finally:
            await self._pool.close()
            self._client.close()
            self._commits.close()
            await self._frontier.close()
        return Ending(self._stopping, self._clock.now() - self._started, self.tally, counts)

    async def progress(self) -> tuple[Counts, bool]:
        """Counts for the display, and whether the disk made the crawl pause."""
        return await self._frontier.counts(), self._disk.paused


def check_contact(options: Config, tasks: list[Task]) -> None:
    """Who is visited must be able to reach us: without a contact nothing but loopback is crawled."""
    if options.identity.contact:
        return
    away = next((task.url for task in tasks if not stays_home(options.fetch, task.url.host)), None)
    if away is not None:
        raise ConfigError(
            f"no contact is set and the seed {away.text} is not on this machine; set contact under [identity] in crawl.toml to a URL or "
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
