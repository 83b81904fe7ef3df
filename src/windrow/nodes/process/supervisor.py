"""Runs the shards of a crawl on one machine: a process for each, and a Redis server if there is none.

A shard that dies is started again, a few times. Then those that have ended are started again too: a shard whose
directory is lost gets its links from the logs of the others, and only together can they see the end. When the
supervisor dies, so do its processes: shards cleanly, as after Ctrl-C, and the Redis server at once, because nothing
there is the truth of anything.
"""

import asyncio
import contextlib
import functools
import itertools
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec

from windrow import units
from windrow.config import ConfigError
from windrow.crawler.ending import LIMITS, Ending
from windrow.nodes import directories
from windrow.nodes.process import child
from windrow.nodes.process.child import ShardProcess
from windrow.nodes.process.forked import Fork
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.leases import SECONDS
from windrow.nodes.redis.runlease import RunLease
from windrow.nodes.redis.wire import RedisTransport
from windrow.shards.messages import Standing
from windrow.shards.tenure import RENEWAL
from windrow.shards.transport import Unavailable

DEATHS = 10  # of one shard, one after another without progress, after which the crawl is stopped
PROGRESS = 4096  # bytes of log, some dozens of URLs; a mere start writes a few hundred
LATE = 20.0  # seconds after which a shard that has ended is started again, if others have not seen that end
LAST = 5.0  # seconds after which the other shards are stopped, when one has seen that a limit of all is reached


class JobEnding(msgspec.Struct):
    """How a run of all shards ended."""

    why: str  # as for one crawl
    seconds: float
    shards: list[Ending]  # without those that were stopped before they had begun


class Supervisor:
    """The processes of one run. `note` is called with what the operator must know."""

    def __init__(
        self,
        directory: Path,
        url: str,
        arguments: Sequence[str],
        note: Callable[[str], None],
        forks: Sequence[Fork] = (),
    ) -> None:
        """`forks`: for the first process of each shard, if there are any."""
        self._forks = dict(enumerate(forks))
        self._places = directories.shards(directory)
        self._url = url
        self._arguments = [*arguments, "--run", secrets.token_hex(8)]
        self._note = note
        self._processes: dict[int, ShardProcess] = {}
        self._stopping = asyncio.Event()
        self._failed: list[int] = []  # shards
        self._done: set[int] = set()  # shards that have seen the end, and wait until the others have
        self._over: set[int] = set()  # shards that are not started again
        self._stir = asyncio.Event()  # set, and replaced, when one of these changes
        self._limit = ""  # of all shards together, which one has seen to be reached; or "offline"

    def stop(self) -> None:
        """Ask every shard for a clean end; asked twice, they give up the requests in flight."""
        self._stopping.set()
        self._interrupt()
        self._stirred()

    def _stirred(self) -> None:
        self._stir.set()
        self._stir = asyncio.Event()

    def _interrupt(self) -> None:
        for running in self._processes.values():
            running.stop()

    async def run(self) -> JobEnding:
        began = time.monotonic()
        async with contextlib.AsyncExitStack() as stack:
            url = self._url or await stack.enter_async_context(redis_server())
            if self._url:
                await stack.enter_async_context(self._leased(url))
            watching = asyncio.create_task(self._watch(url))
            stack.callback(watching.cancel)
            ends = await asyncio.gather(*(self._shard(number, url) for number in range(len(self._places))))
        if self._failed:
            raise ConfigError(f"shard {self._failed[0]} could not be run; see above")
        endings = [ending for ending in ends if ending is not None]
        return JobEnding(self._why(endings), time.monotonic() - began, endings)

    @contextlib.asynccontextmanager
    async def _leased(self, url: str) -> AsyncIterator[None]:
        """Have the job during the block. ConfigError: a copy of this directory is being crawled."""
        record = directories.read(self._places[0])
        assert record is not None
        client = RedisClient(url)
        lease = RunLease(client, record.job.name, self._places[0].parents[1])
        try:
            await self._take(lease)
            keeping = asyncio.create_task(self._keep(lease))
            try:
                yield
            finally:
                keeping.cancel()
                await asyncio.wait((keeping,))
                with contextlib.suppress(Unavailable):
                    await lease.give()
        finally:
            await client.close()

    async def _take(self, lease: RunLease) -> None:
        """Take the lease; wait until that of a machine that has died expires."""
        end = time.monotonic() + SECONDS + RENEWAL
        said = ""
        while not self._stopping.is_set():
            try:
                holder = await lease.take()
                if holder is None:
                    return
                if holder.is_here or time.monotonic() > end:
                    raise lease.refusal(holder)
                waiting = f"process {holder.pid} on {holder.host} has this job; waiting, because it may have died"
            except Unavailable as error:
                waiting = f"{error}; the crawl begins when it does"
            if waiting != said:
                self._note(waiting)
                said = waiting
            await asyncio.sleep(0.2)

    async def _keep(self, lease: RunLease) -> None:
        """Renew the lease. Stop if another process has taken it: this one was stopped for long, or Redis emptied."""
        while True:
            await asyncio.sleep(RENEWAL)
            with contextlib.suppress(Unavailable):
                holder = await lease.take()
                if holder is not None:
                    self._note(f"{lease.refusal(holder)}; this one stops")
                    return self.stop()

    def _why(self, endings: Sequence[Ending]) -> str:
        others = sorted({ending.why for ending in endings} - {"done"})
        return self._limit or ("stopped" if self._stopping.is_set() else others[0] if others else "done")

    async def _shard(self, number: int, url: str) -> Ending | None:
        try:
            return await self._run(number, url)
        finally:
            self._over.add(number)
            self._stirred()

    async def _run(self, number: int, url: str) -> Ending | None:
        """Run a shard until all have ended, again after each death; None: it has not begun, or could not be run."""
        whole: Ending | None = None
        deaths = 0  # since the last progress
        while deaths < DEATHS:
            before = self._written(number)
            running = self._processes[number] = await self._start(number, url)
            if self._stopping.is_set():  # since this shard was to be started
                running.stop()
            code, ending = await running.wait()
            if ending is not None:
                whole = self._ended(ending, whole)
                if ending.why != "done" or await self._all_done(number):
                    return whole
                continue
            if self._stopping.is_set() or self._limit:  # it dies at its end: the log is whole
                return whole
            if code == child.REFUSED:
                break
            if code != child.AWAY:  # the shards that run wait for Redis too, for as long as it takes
                self._note(f"shard {number} has died (exit code {code}); it is started again")
                self._recall()
                deaths = deaths + 1 if self._written(number) < before + PROGRESS else 1
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(child.pause(deaths)):
                    await self._stopping.wait()
                    return whole
        self._failed.append(number)
        self.stop()
        return None

    async def _start(self, number: int, url: str) -> ShardProcess:
        directory, note = self._places[number], functools.partial(self._relay, number)
        ready = self._forks.pop(number, None)
        if ready is None:
            return await child.start(directory, url, self._arguments, note)
        await ready.start(child.command(directory, self._arguments), url)
        return ShardProcess(ready, note)

    def _written(self, number: int) -> int:
        """Return the bytes of a shard's log."""
        return sum(path.stat().st_size for path in (self._places[number] / "log").glob("*"))

    async def _all_done(self, number: int) -> bool:
        """Wait until all shards have ended; return False if this one must be started again.

        One that has died needs the others. And if Redis was emptied before all had seen the end, those that have not
        seen it cannot without the others.
        """
        self._done.add(number)
        self._stirred()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LATE):
                while number in self._done:
                    if len(self._done | self._over) == len(self._places) or self._stopping.is_set() or self._limit:
                        return True
                    await self._stir.wait()
        self._done.discard(number)
        return False

    def _recall(self) -> None:
        """Let the shards that have ended be started again."""
        if self._done:
            numbers = units.ranges(self._done)
            self._note(f"shards that had ended are started again, because that one may need their links: {numbers}")
        self._done.clear()
        self._stirred()

    def _ended(self, ending: Ending, before: Ending | None) -> Ending:
        """Return the ending of a shard, with what earlier processes of it have done.

        Let the other shards end too, if a limit of all is reached: they see it themselves, unless Redis lost it. If no
        host of any shard has ever answered, those without a URL would wait for ever.
        """
        if ending.why in (*LIMITS, "offline") and not self._limit:
            self._limit = ending.why
            asyncio.get_running_loop().call_later(LAST, self._interrupt)
            self._stirred()
        if before is not None:
            ending.tally.join(before.tally)
            ending.seconds += before.seconds
        return ending

    def _relay(self, number: int, line: str) -> None:
        self._note(f"shard {number}: {line}")

    async def _watch(self, url: str) -> None:
        """Say how far all shards are together: soon, so that one sees that it works, then every minute."""
        record = directories.read(self._places[0])
        assert record is not None
        transport = RedisTransport(RedisClient(url), record.job.name, len(self._places))
        for pause in itertools.chain((10.0,), itertools.repeat(60.0)):
            await asyncio.sleep(pause)
            with contextlib.suppress(Unavailable):
                self._note(describe(list((await transport.standings()).values()), len(self._places)))


def describe(standings: Sequence[Standing], count: int) -> str:
    """Return how far the shards are together, in one line."""
    busy = sum(not standing.idle for standing in standings)
    finished, waiting = sum(standing.finished for standing in standings), sum(one.waiting for one in standings)
    rate = sum(standing.rate for standing in standings)
    urls = f"{finished:,} URLs finished, {waiting:,} waiting"
    return f"{busy} of {count} shards at work: {urls}, {rate:,.0f} pages per second"


def redis_program() -> str:
    """Return the program of a Redis server; ConfigError if there is none."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        raise ConfigError(
            "shards need Redis, and there is no redis-server here; "
            "install it (Debian: apt install redis-server), or give the URL of another with --redis"
        )
    return program


@contextlib.asynccontextmanager
async def redis_server() -> AsyncIterator[str]:
    """Run a Redis server without persistence as a child, again whenever it dies; yield its URL."""
    program = redis_program()
    with tempfile.TemporaryDirectory(prefix="windrow-") as made:  # a socket's name may have only 107 characters
        folder = Path(made, "redis")
        server = await _start_redis(program, folder)
        keeping = asyncio.create_task(_keep_redis(program, folder, server))
        try:
            await _until_it_answers(server, f"unix://{folder}", program)
            yield f"unix://{folder}"
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)


async def _start_redis(program: str, folder: Path) -> asyncio.subprocess.Process:
    folder.unlink(missing_ok=True)  # noqa: ASYNC240 - once, before anything runs
    options = [
        "--port",
        "0",
        "--unixsocket",
        str(folder),
        "--dir",
        str(folder.parent),
        "--save",
        "",
        "--appendonly",
        "no",
    ]
    return await asyncio.create_subprocess_exec(
        program,
        *options,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=child.end_with_parent(signal.SIGKILL),
    )


async def _keep_redis(program: str, folder: Path, server: asyncio.subprocess.Process) -> None:
    """Start the server again when it dies; kill it when this task is cancelled."""
    try:
        while True:
            await server.wait()
            await asyncio.sleep(0.2)
            server = await _start_redis(program, folder)
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.kill()
        await server.wait()


async def _until_it_answers(server: asyncio.subprocess.Process, url: str, program: str) -> None:
    client = RedisClient(url)
    try:
        for _ in range(500):
            with contextlib.suppress(Unavailable):
                await client.run(("PING",))
                return
            if server.returncode is not None:
                break
            await asyncio.sleep(0.02)
    finally:
        await client.close()
    raise ConfigError(f"{program} does not start; try it by hand, or give the URL of another Redis with --redis")
