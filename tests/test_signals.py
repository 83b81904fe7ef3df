"""A signal that arrives while a command starts waits until the command can end cleanly."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.redisserver import needs_redis, serve
from tests.world import World
from windrow import signals


@pytest.fixture
def free() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, signals.STOPS)
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


@pytest.mark.parametrize(
    ("words", "held"),
    [
        (["python3", "-m", "windrow.cli", "node", "--dir", "x"], True),
        (["/venv/bin/python3", "/venv/bin/windrow", "crawl", "x"], True),
        (["windrow", "shard", "x"], True),
        (["windrow", "status", "node"], False),
        (["windrow"], False),
        (["python3", "-m", "pytest", "crawl"], False),
        (["python3", "mine.py", "crawl"], False),
    ],
)
@pytest.mark.usefixtures("free")
def test_only_commands_that_run_for_long_hold_signals(words: list[str], held: bool) -> None:
    signals.hold(words)
    assert (signal.pthread_sigmask(signal.SIG_BLOCK, ()) & set(signals.STOPS) == set(signals.STOPS)) is held
    signals.release()
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & set(signals.STOPS)


class Loop:
    """Stands in for the event loop: the test decides when a signal arrives."""

    def __init__(self) -> None:
        self.handlers: dict[int, Callable[[], None]] = {}

    def add_signal_handler(self, number: int, handler: Callable[[], None]) -> None:
        self.handlers[number] = handler


@pytest.mark.parametrize(("dead", "counted"), [(True, [3, 0]), (False, [3, 2, 1, 0])])
def test_signals_of_the_death_of_a_parent_are_one_request_for_an_end(
    dead: bool, counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "has_ended", lambda parent: dead)
    arrivals = [(1.0, signal.SIGINT), (1.001, signal.SIGINT), (1.002, signal.SIGTERM), (2.0, signal.SIGINT)]
    times = [time for time, _ in arrivals]
    loop, stops = Loop(), list[int]()
    signals.handle(loop, lambda: stops.append(len(times)), clock=lambda: times.pop(0))
    for _, number in arrivals:
        loop.handlers[number]()
    assert stops == counted


def test_a_process_that_nobody_has_waited_for_has_ended() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert signals.has_ended(ended.pid) and not signals.has_ended(os.getpid())
    ended.wait()
    assert signals.has_ended(ended.pid)


def holds(process: "subprocess.Popen[str]") -> bool:
    """Return whether SIGINT and SIGTERM wait in a process."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    blocked = int(next(line.split()[1] for line in lines if line.startswith("SigBlk:")), 16)
    return all(blocked >> (number - 1) & 1 for number in signals.STOPS)


def interrupted(number: signal.Signals, *words: str) -> "tuple[subprocess.Popen[str], str, str]":
    """Start a command, send it a signal during its imports, and wait for its end."""
    process = crashing.launch(*words)
    try:
        while not holds(process):
            assert process.poll() is None, process.communicate()
            time.sleep(0.001)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    finally:
        crashing.kill(process)
    return process, out, err


@needs_redis
@pytest.mark.parametrize("number", signals.STOPS)
def test_a_node_that_is_interrupted_while_it_starts_ends_cleanly(number: signal.Signals, tmp_path: Path) -> None:
    with serve() as server:
        words = ("node", "--redis", server.url, "--dir", str(tmp_path / "data"), "--name", "one", "--json")
        process, out, err = interrupted(number, *words)
        assert process.returncode == 0 and err == "", err
        assert json.loads(out.splitlines()[-1])["why"] == "stopped"


@pytest.mark.parametrize("number", signals.STOPS)
def test_a_crawl_that_is_interrupted_while_it_starts_ends_cleanly(number: signal.Signals, tmp_path: Path) -> None:
    with World(seed=1, pages=50, hosts=2, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.5")
        process, out, err = interrupted(number, "crawl", str(directory), "--json")
        assert process.returncode == 0 and "Traceback" not in err, err
        assert json.loads(out)["why"] == "stopped" and len(world.requests()) < 50
