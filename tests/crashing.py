"""Run the command line in a process that dies, or whose disk or clock fails, at a chosen operation.

    result = crashing.run(["crawl", str(directory)], Plan(at=17, how="half"))
    assert result.code == crashing.DEAD

A process that has imported everything waits for orders and forks for each of them, so that a run does not pay for
Python's imports. In the child, `Disk` replaces the functions that touch the disk: it counts the calls and fails as
planned. `launch` starts the real command instead, for tests that send signals.
"""

import atexit
import builtins
import contextlib
import dataclasses
import errno
import functools
import importlib
import io
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
DEAD = 137  # exit code of a process that died as planned
PATIENCE = 120  # seconds after which a child that hangs is killed
PAGE = 4096
COUNTED = ("write", "pwrite", "fsync", "fdatasync", "ftruncate", "posix_fallocate")  # take a descriptor
NAMED = ("truncate", "rename", "replace", "unlink", "mkdir")  # take a path


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The planned failure. Operations are counted from 1."""

    at: int = 0  # the operation at which the process dies; 0: none
    among: tuple[str, str] = (
        "",
        "",
    )  # counts only operations of this verb whose path, from the directory, contains this
    how: str = "before"  # "before" the operation, "after" it, or, for a write, when it is "half" done
    power: int | None = None  # the power fails too: the seed decides which unsynced data are lost
    fail: str = ""  # an errno with which operations fail
    verbs: tuple[str, ...] = ("write", "pwrite")  # the operations that fail
    only: str = ""  # if their path contains this
    first: int = 1  # the first of them that fails
    count: int = 0  # how many fail; 0: all that follow
    low: tuple[int, int] = (0, 0)  # the disk reports that it is nearly full, from one call of statvfs to another
    jump: float = 0.0  # seconds by which the system's clock is moved
    after: float = 0.0  # seconds from the start until the clock moves
    longest: int = 0  # bytes after which the log begins a new file; 0: the default
    small_parts: bool = False  # an order about many URLs is carried out in the smallest parts
    directory: str = ""  # whose files are watched, if it is not the second argument
    suspend: bool = False  # the frontier suspends at every call, as one on another machine would


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str
    trace: list[str]  # every operation, "verb path"; only of a run that did not die

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(arguments: list[str], plan: Plan | None = None) -> Result:
    """Run `windrow ARGUMENTS`; the second argument, if there is one, is the directory whose files are watched."""
    with tempfile.TemporaryDirectory(prefix="windrow-run-") as name:
        order = {"arguments": arguments, "plan": dataclasses.asdict(plan or Plan()), "files": name}
        server = _fork_server()
        assert server.stdin and server.stdout
        server.stdin.write(json.dumps(order).encode() + b"\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        out, err, trace = (
            path.read_text() if (path := Path(name, file)).exists() else "" for file in ("out", "err", "trace")
        )
    return Result(code, out, err, trace.splitlines())


def launch(*arguments: str, **options: Any) -> "subprocess.Popen[str]":
    """Start the command as a user does, as the leader of a process group of its own."""
    command = [sys.executable, "-m", "windrow.cli", *arguments]
    pipes: dict[str, Any] = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
        "start_new_session": True,
    }
    return subprocess.Popen(command, env=_environment(), **{**pipes, **options})


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill the whole process group with SIGKILL; the process alone if it is not the leader of one."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}


_fork_servers: "list[subprocess.Popen[bytes]]" = []


def _fork_server() -> "subprocess.Popen[bytes]":
    """Return the process that forks the runs; start a new one if it has died."""
    if not _fork_servers or _fork_servers[-1].poll() is not None:
        command = [sys.executable, "-m", "tests.crashing"]
        process = subprocess.Popen(command, cwd=ROOT, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(process.communicate)  # closes its standard input, which ends it
        _fork_servers.append(process)
    return _fork_servers[-1]


class Disk:
    """The layer between the program and the files of one directory."""

    def __init__(self, plan: Plan, directory: Path) -> None:
        self.trace: list[str] = []
        self._plan = plan
        self._directory = os.path.realpath(directory)
        self._lock = threading.RLock()
        self._random = random.Random(plan.power)
        self._matched = 0
        self._counted = 0
        self._real: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in (*COUNTED, *NAMED, "open")}
        self._synced = {str(path): path.stat().st_size for path in Path(self._directory).rglob("*") if path.is_file()}
        self._new: set[str] = set()  # names whose directory was not synced since they were made
        self._store = b""  # the pages of the store in use at its last commit

    def install(self) -> None:
        import lmdb

        for name in COUNTED:
            setattr(os, name, functools.partial(self._on_descriptor, name))
        for name in NAMED:
            setattr(os, name, functools.partial(self._on_path, name))
        os.open = self._open
        io.open = builtins.open = functools.partial(self._open_file, io.open)  # type: ignore[assignment]
        lmdb.open = functools.partial(_Store, self, lmdb.open)  # type: ignore[assignment]

    def step(self, verb: str, path: str, do: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        """Do one operation, or fail as planned. `half` does one half of it."""
        with self._lock:
            name = os.path.relpath(path, self._directory)
            self.trace.append(f"{verb} {name}")
            counts = not self._plan.among[0] or (verb == self._plan.among[0] and self._plan.among[1] in name)
            self._counted += counts
            dies = counts and self._counted == self._plan.at
            if dies and self._plan.how != "after":
                if self._plan.how == "half" and half is not None:
                    half()
                self._die()
            self._fail(verb, path, half)
            try:
                result = do()
                self._note(verb, path)
            finally:
                if dies:
                    self._die()
            return result

    def _fail(self, verb: str, path: str, half: Callable[[], Any] | None) -> None:
        plan = self._plan
        if not plan.fail or verb not in plan.verbs or plan.only not in path:
            return
        self._matched += 1
        if self._matched >= plan.first and (not plan.count or self._matched < plan.first + plan.count):
            if half is not None:
                half()  # a full disk takes as much as it can
            number = getattr(errno, plan.fail)
            raise OSError(number, os.strerror(number), path if verb == "create" else None)

    def _note(self, verb: str, path: str) -> None:
        """Note which data a power loss can no longer destroy."""
        if verb in ("fsync", "fdatasync"):
            if os.path.isdir(path):
                self._new = {name for name in self._new if os.path.dirname(name) != path}
            else:
                self._synced[path] = os.path.getsize(path)
        elif verb in ("truncate", "ftruncate"):
            self._synced[path] = min(self._synced.get(path, 0), os.path.getsize(path))
        elif verb in ("create", "mkdir"):
            self._new.add(path)

    def _inside(self, path: str) -> bool:
        return path.startswith(self._directory + os.sep)

    def _on_descriptor(self, verb: str, descriptor: int, *rest: Any) -> Any:
        real = self._real[verb]
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if not self._inside(path) and path != self._directory:
            return real(descriptor, *rest)
        half = (
            functools.partial(real, descriptor, rest[0][: len(rest[0]) // 2], *rest[1:])
            if verb in ("write", "pwrite")
            else None
        )
        return self.step(verb, path, lambda: real(descriptor, *rest), half)

    def _on_path(self, verb: str, path: Any, *rest: Any, **named: Any) -> Any:
        absolute = os.path.realpath(os.fspath(path))
        do = functools.partial(self._real[verb], path, *rest, **named)
        if not self._inside(absolute):
            return do()
        result = self.step(verb, absolute, do)
        if verb in ("rename", "replace"):
            target = os.path.realpath(os.fspath(rest[0]))
            self._synced[target] = self._synced.pop(absolute, 0)
            self._new.add(target)
        return result

    def _open(self, path: Any, flags: int, *rest: Any, **named: Any) -> int:
        absolute = os.path.realpath(os.fspath(path))
        do = functools.partial(self._real["open"], path, flags, *rest, **named)
        creates = flags & os.O_CREAT and self._inside(absolute) and not os.path.exists(absolute)
        descriptor: int = self.step("create", absolute, do) if creates else do()
        return descriptor

    def _open_file(self, real: Callable[..., IO[Any]], file: Any, mode: str = "r", *rest: Any, **named: Any) -> IO[Any]:
        if isinstance(file, int) or not set(mode) & set("wax") or not self._inside(os.path.realpath(os.fspath(file))):
            return real(file, mode, *rest, **named)
        raw = _File(self, os.fspath(file), mode.replace("b", "").replace("t", ""))
        buffer = io.BufferedWriter(raw)
        return buffer if "b" in mode else io.TextIOWrapper(buffer, "utf-8")

    def remember(self, path: str, used: int) -> None:
        """Keep the pages of the store at its commit: a power loss cannot destroy them."""
        if self._plan.power is not None:
            with io.FileIO(path) as file:
                self._store = file.read(used)

    def _die(self) -> None:
        if self._plan.power is not None:
            self._lose_power()
        os._exit(DEAD)

    def _lose_power(self) -> None:
        """Cut or zero each file from a random point after its last sync; remove some names that were not synced."""
        for path in sorted(Path(self._directory).rglob("*")):
            if path.is_file() and path.name not in ("data.mdb", "lock.mdb"):
                self._lose(str(path))
        for name in sorted(self._new, reverse=True):
            if self._random.random() < 0.3:
                shutil.rmtree(name, ignore_errors=True) if os.path.isdir(name) else Path(name).unlink(missing_ok=True)
        store = os.path.join(self._directory, "state", "data.mdb")
        if os.path.exists(store):
            self._lose_pages(store)

    def _lose(self, path: str) -> None:
        size = os.path.getsize(path)
        kept = self._random.randint(min(self._synced.get(path, 0), size), size)
        self._real["truncate"](path, kept)
        if self._random.random() < 0.3:
            self._real["truncate"](path, size)  # the length was written, the bytes were not

    def _lose_pages(self, path: str) -> None:
        """Decide for each page changed since the commit whether it was written. Pages beyond are not yet in use."""
        with io.FileIO(path, "r+") as file:
            for offset in range(0, len(self._store), PAGE):
                if self._random.random() < 0.5:
                    self._real["pwrite"](file.fileno(), self._store[offset : offset + PAGE], offset)


class _File(io.FileIO):
    """A file that pathlib or open() writes to."""

    def __init__(self, disk: Disk, path: str, mode: str) -> None:
        self._disk, self._path = disk, os.path.realpath(path)
        make = functools.partial(super().__init__, path, mode)
        disk.step("truncate" if os.path.exists(path) else "create", self._path, make)

    def write(self, data: Any) -> int:
        real = super().write
        written: int = self._disk.step("write", self._path, lambda: real(data), lambda: real(data[: len(data) // 2]))
        return written


class _Store:
    """An LMDB environment whose transactions are counted when they commit."""

    def __init__(self, disk: Disk, real: Callable[..., Any], path: str, *rest: Any, **named: Any) -> None:
        self._disk, self._path = disk, os.path.join(os.path.realpath(path), "data.mdb")
        self._environment = real(path, *rest, **named)
        self._remember()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)

    def begin(self, *rest: Any, **named: Any) -> "_Transaction":
        return _Transaction(self, self._environment.begin(*rest, **named))

    def commit(self, transaction: Any) -> None:
        def commit() -> None:
            transaction.commit()
            self._remember()

        try:
            self._disk.step("commit", self._path, commit)
        except OSError as error:
            import lmdb

            raise lmdb.Error(str(error)) from None

    def _remember(self) -> None:
        self._disk.remember(self._path, (self._environment.info()["last_pgno"] + 1) * PAGE)


class _Transaction:
    def __init__(self, store: _Store, real: Any) -> None:
        self._store, self._real = store, real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __enter__(self) -> "_Transaction":
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        self._real.abort() if kind else self.commit()

    def commit(self) -> None:
        self._store.commit(self._real)


def _move_clock(seconds: float, after: float) -> None:
    real, start = time.time, time.monotonic()
    time.time = lambda: real() + (seconds if time.monotonic() > start + after else 0.0)


def _fill(first: int, last: int, trace: list[str]) -> None:
    """Report almost no free space from one call of statvfs to another; trace these calls with their time."""
    real, calls = os.statvfs, itertools.count(1)

    def statvfs(path: Any) -> os.statvfs_result:
        found = list(real(path))
        if first <= next(calls) < last:
            found[4] = 1  # f_bavail
            trace.append(f"low {time.monotonic()}")
        return os.statvfs_result(found)

    os.statvfs = statvfs


def _suspend_frontier() -> None:
    from tests.frontier.suspending import suspending
    from windrow import frontier

    real = frontier.open
    frontier.open = lambda *arguments, **options: suspending(real(*arguments, **options), seed=1)


def _child(order: dict[str, Any]) -> None:
    """Run one order in the forked child; never return."""
    signal.alarm(PATIENCE)
    os.setsid()
    files = Path(order["files"])
    for number, name in enumerate(("null", "out", "err")):
        os.dup2(os.open("/dev/null" if not number else files / name, os.O_RDWR | os.O_CREAT), number)
    trace = (files / "trace").open("w")
    from windrow import cli
    from windrow.log import writer

    plan = Plan(**{**order["plan"], **{name: tuple(order["plan"][name]) for name in ("verbs", "low", "among")}})
    disk = Disk(plan, Path(plan.directory or Path(*order["arguments"][1:2])))
    writer.LONGEST = plan.longest or writer.LONGEST
    if plan.small_parts:
        from windrow.frontier.local import control

        control.MOST_URLS = control._ROWS = 1
    if plan.suspend:
        _suspend_frontier()
    if plan.jump:
        _move_clock(plan.jump, plan.after)
    if plan.low != (0, 0):
        _fill(*plan.low, disk.trace)
    sys.argv = ["windrow", *order["arguments"]]
    disk.install()
    code = 0
    try:
        cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    trace.write("\n".join(disk.trace))
    trace.close()
    os._exit(code)


def _main() -> None:
    assert importlib.import_module("windrow.cli").app, "imports the modules of all commands"
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if not pid:
            _child(order)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    _main()
