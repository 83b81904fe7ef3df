"""Copies of a process: they run what they are given, share nothing that is open, and end with their parent."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests import crashing
from windrow import signals
from windrow.nodes.process import child, forked
from windrow.nodes.process.forked import Fork, Main

pytestmark = pytest.mark.skipif(not forked.possible(), reason="the system cannot tell the end of a process")
URL = "redis://:S3CRET@127.0.0.1:1"


def run(main: Main, words: Sequence[str] = (), act: Callable[[Fork], None] = lambda made: None) -> tuple[int, str, str]:
    """Let a copy run a command; return its exit code, and what it has printed."""

    def plain(words: Sequence[str]) -> None:
        sys.stdin, sys.stdout, sys.stderr = map(open, (0, 1, 2), "rww")  # pytest has replaced them
        main(words)

    made = forked.fork(plain)

    async def talk() -> tuple[int, str, str]:
        await made.start(words, URL)
        act(made)
        assert made.stdout is not None and made.stderr is not None
        out, err, code = await asyncio.gather(made.stdout.read(), made.stderr.read(), made.wait())
        return code, out.decode(), err.decode()

    return asyncio.run(talk())


def stop(words: Sequence[str]) -> None:
    sys.exit(int(words[0]) if words[0].isdecimal() else None)


def fail(words: Sequence[str]) -> None:
    raise ValueError("of no use")


def show(words: Sequence[str]) -> None:
    print(*words, os.environ[child.REDIS] == URL, sys.stdin.read() == "", os.getsid(0) == os.getpid())
    print("and an error", file=sys.stderr)


def sleep(words: Sequence[str]) -> None:
    time.sleep(60)


def test_a_copy_runs_its_command_with_streams_and_a_session_of_its_own() -> None:
    assert run(show, ["shard", "a b", "ä"]) == (0, "shard a b ä True True True\n", "and an error\n")


@pytest.mark.parametrize(("word", "code"), [("0", 0), ("75", 75), ("none", 0)])
def test_the_exit_code_is_that_of_the_command(word: str, code: int) -> None:
    assert run(stop, [word]) == (code, "", "")


def test_an_unexpected_error_is_printed() -> None:
    code, _, err = run(fail, ["x"])
    assert code == 1 and err.startswith("Traceback") and err.endswith("ValueError: of no use\n")


def test_a_copy_can_be_killed_and_a_signal_to_one_that_has_ended_is_an_error() -> None:
    kept = []

    def kill(made: Fork) -> None:
        made.send_signal(signal.SIGKILL)
        kept.append(made)

    assert run(sleep, ["x"], kill)[0] == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        kept[0].send_signal(signal.SIGINT)


def test_a_copy_that_was_killed_before_its_command_has_died() -> None:
    made = forked.fork(show)
    os.kill(made.pid, signal.SIGKILL)
    os.waitid(os.P_PID, made.pid, os.WEXITED | os.WNOWAIT)

    async def talk() -> int:
        await made.start(["x"], URL)
        return await made.wait()

    assert asyncio.run(talk()) == -signal.SIGKILL


def test_a_copy_has_nothing_open_that_its_parent_has(tmp_path: Path) -> None:
    def main(words: Sequence[str]) -> None:
        print([number for number in range(3, 1000) if os.path.exists(f"/proc/self/fd/{number}")])

    with (tmp_path / "file").open("w"):
        other = forked.fork(sleep)
        try:
            assert run(main, ["x"]) == (0, "[]\n", "")
        finally:
            other.abandon()


def test_lists_of_processes_show_the_command_but_not_the_url() -> None:
    def main(words: Sequence[str]) -> None:
        print(Path("/proc/self/cmdline").read_bytes().rstrip(b"\0").split(b"\0"), b"S3CRET" in environment())

    def environment() -> bytes:
        return Path("/proc/self/environ").read_bytes()

    assert run(main, ["shard", "d"]) == (0, "[b'windrow', b'shard', b'd'] False\n", "")
    words = ["shard", "d" * 100_000]  # more than there is room for
    code, out, _ = run(main, words)
    assert code == 0 and out.startswith("[b'windrow', b'shard', b'ddd")


def test_a_copy_that_is_not_needed_ends() -> None:
    made = forked.fork(show)
    made.abandon()
    with pytest.raises(ChildProcessError):
        os.waitpid(made.pid, 0)


@pytest.mark.parametrize("started", [True, False])
def test_copies_end_with_their_parent(started: bool) -> None:
    program = f"""
import asyncio, signal, sys, time
from windrow.nodes.process import forked

def main(words):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it for what runs in the background
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    print("it runs", flush=True)
    time.sleep(60)

made = [forked.fork(main) for _ in range(2)]

async def run():
    for one in made if {started} else ():
        await one.start(["x"], "")
        await one.stdout.readline()
    print(*(one.pid for one in made), flush=True)
    await asyncio.sleep(60)

asyncio.run(run())
"""
    environment = {**os.environ, "PYTHONPATH": str(crashing.ROOT / "src")}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.kill()
    end = time.monotonic() + 30
    while not all(signals.has_ended(pid) for pid in pids):
        assert time.monotonic() < end
        time.sleep(0.02)
