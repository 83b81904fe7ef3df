"""Nodes are started and ended on hosts: here, by a stand-in for ssh, and by a real sshd on loopback."""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests import crashing
from tests.redisserver import Server, needs_redis
from windrow import cli
from windrow.config import ConfigError
from windrow.nodes.controller import hosts
from windrow.nodes.controller.hosts import Host

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
# Announces itself as `windrow node` does, and ends when it gets SIGTERM. In a directory "broken" it dies at once; in
# one called "deaf" SIGTERM does not end it; in one called "heavy" it has so much memory that its end takes a while.
STAND_IN = """\
#!{python}
import asyncio, os, signal, sys
words = dict(zip(sys.argv, sys.argv[1:]))
if "broken" in words["--dir"]:
    sys.exit("windrow: this node is broken")
sys.path.insert(0, {source!r})
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.registry import NodeRecord, Registry
ballast = bytearray(b"x") * (2**28 if "heavy" in words["--dir"] else 1)
assert sys.argv[1] == "node"
if "--store-captures" in sys.argv:
    open(words["--dir"] + "/storage", "w").write(os.environ["WINDROW_STORE_TO"])
name = words["--name"]

async def main():
    ended = asyncio.Event()
    end = print if "deaf" in words["--dir"] else ended.set
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
    assert not any("://" in word for word in sys.argv), sys.argv
    registry = Registry(RedisClient(os.environ["WINDROW_REDIS"]))
    record = NodeRecord(name=name, host="h", pid=1, version="1", home="h", slots=int(words.get("--slots", 9)), most=9)
    while not ended.is_set():
        await registry.beat(record)
        try:
            await asyncio.wait_for(ended.wait(), 0.1)
        except TimeoutError:
            pass
    await registry.leave(name)

asyncio.run(main())
os._exit(0)  # the memory is left to the kernel
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    place = tmp_path / "windrow-node"
    place.write_text(STAND_IN.format(python=sys.executable, source=str(crashing.ROOT / "src")))
    place.chmod(0o755)
    return str(place)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data directory; processes that a failed test has left behind are ended by their pid files."""
    place = tmp_path / "data"
    yield place
    for file in tmp_path.rglob("*.pid"):
        with contextlib.suppress(ProcessLookupError, ValueError):
            os.kill(int(file.read_text()), 9)


def listed(directory: Path, text: str) -> Path:
    """Return a file of hosts."""
    file = directory / "hosts.txt"
    file.write_text(text)
    return file


def is_running(pid: int) -> bool:
    """Return whether a process runs. Nobody may collect the exit code of an orphan in a container."""
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def command(server: Server, *words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli.app, ["cluster", *words], env={"WINDROW_REDIS": server.url})
    if isinstance(done.exception, ConfigError):
        return 2, done.stdout, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_a_file_of_hosts_is_read_and_each_node_gets_a_name(tmp_path: Path) -> None:
    file = listed(tmp_path, "# ours\nlocal\nlocal /data 3\n\nme@n1.example /data  # fast\nn1.example\n")
    here = socket.gethostname()
    assert hosts.read(file) == [
        Host("local", here),
        Host("local", f"{here}-2", "/data", 3),
        Host("me@n1.example", "n1.example", "/data"),
        Host("n1.example", "n1.example-2"),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "names no host"),
        ("# nothing\n", "names no host"),
        ("local\n-oProxyCommand=x\n", "line 2: '-oProxyCommand=x' is not a host"),
        ("a;b\n", "line 1: 'a;b' is not a host"),
        ("local data\n", "'data' is not an absolute path"),
        ("local /data many\n", "'many' is not a number of slots"),
        ("local /data 1 more\n", "is not a host"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(tmp_path: Path, text: str, sentence: str) -> None:
    file = listed(tmp_path, text)
    with pytest.raises(ConfigError, match=sentence):
        hosts.read(file)


@needs_redis
def test_nodes_on_this_machine_are_started_once_and_ended_once(
    server: Server, program: str, tmp_path: Path, data: Path
) -> None:
    file = listed(tmp_path, f"local\nlocal {data}/heavy 2\n")
    words = ("--nodes", str(file), "--dir", str(data))
    code, out, err = command(server, "up", *words, "--program", program)
    assert code == 0 and out.count("started, process") == 2, (out, err)
    here = socket.gethostname()
    pids = [int(Path(place).read_text()) for place in (data / f"node-{here}.pid", data / f"heavy/node-{here}-2.pid")]
    assert all(map(is_running, pids))
    assert command(server, "nodes")[1].count("alive") == 2
    code, out, _ = command(server, "up", *words, "--program", program)
    assert code == 0 and out.count("runs already") == 2 and f"process {pids[0]}" in out
    code, out, _ = command(server, "down", *words)
    assert code == 0 and out.count("stopped, process") == 2
    assert not any(map(is_running, pids)) and not list(data.rglob("*.pid"))
    code, out, _ = command(server, "down", *words)
    assert code == 0 and out.count("did not run") == 2
    assert "no nodes" in command(server, "nodes")[1]


@needs_redis
def test_a_node_that_dies_at_once_is_shown_with_the_end_of_its_log_and_the_others_run(
    server: Server, program: str, tmp_path: Path, data: Path
) -> None:
    file = listed(tmp_path, f"local {data}/broken\nlocal {data}/fine\n")
    code, out, _ = command(server, "up", "--nodes", str(file), "--program", program)
    assert code == 1 and "failed: windrow: this node is broken" in out and out.count("started") == 1
    assert not list((data / "broken").glob("*.pid"))
    assert command(server, "down", "--nodes", str(file))[0] == 0


@needs_redis
def test_the_address_of_a_storage_reaches_a_node_and_no_list_of_processes(
    server: Server, program: str, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "postgresql://user:secret@127.0.0.1/corpus?a=b'c"
    monkeypatch.setenv("WINDROW_STORE_TO", address)
    file = listed(tmp_path, f"local {data}\n")
    assert command(server, "up", "--nodes", str(file), "--program", program, "--store-captures")[0] == 0
    assert (data / "storage").read_text() == address
    assert command(server, "down", "--nodes", str(file))[0] == 0
    monkeypatch.delenv("WINDROW_STORE_TO", raising=False)
    refused = command(server, "up", "--nodes", str(file), "--program", program, "--store-captures")
    assert refused[0] == 2 and "say where with --store-to" in refused[2]


@needs_redis
def test_a_node_that_does_not_end_is_reported_and_left_alone(
    server: Server, program: str, tmp_path: Path, data: Path
) -> None:
    file = listed(tmp_path, f"local {data}/deaf\n")
    assert command(server, "up", "--nodes", str(file), "--program", program)[0] == 0
    code, out, _ = command(server, "down", "--nodes", str(file), "--wait", "1")
    assert code == 1 and "has not ended after 1 seconds" in out
    (pid,) = (data / "deaf").glob("*.pid")
    assert is_running(int(pid.read_text()))


@needs_redis
def test_a_pid_file_of_another_process_is_not_believed(server: Server, tmp_path: Path, data: Path) -> None:
    data.mkdir()
    place = data / f"node-{socket.gethostname()}.pid"
    other = subprocess.Popen(["sleep", "60"])
    try:
        place.write_text(f"{other.pid}\n")
        file = listed(tmp_path, "local\n")
        code, out, _ = command(server, "down", "--nodes", str(file), "--dir", str(data))
        assert code == 0 and "did not run" in out and not place.exists()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@needs_redis
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--dir", "data"], "is not an absolute path"),
        ([], "names no data directory for local"),
        (["--dir", "/proc/no"], "failed: the directory /proc/no cannot be written"),
        (["--dir", "/tmp", "--program", "/no/windrow"], "there is no program /no/windrow"),
    ],
)
def test_nothing_is_started_where_it_cannot_work(
    server: Server, tmp_path: Path, words: list[str], sentence: str
) -> None:
    file = listed(tmp_path, "local\n")
    code, out, err = command(server, "up", "--nodes", str(file), *words)
    assert code in (1, 2) and sentence in out + err


def test_a_file_of_hosts_that_is_missing_is_refused_with_its_form(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file .*hosts.txt; write one host per line"):
        hosts.read(tmp_path / "hosts.txt")


def test_a_server_that_does_not_answer_is_refused_before_anything_is_started(tmp_path: Path) -> None:
    file = listed(tmp_path, "local\n")
    place = tmp_path / "data"
    done = crashing.run(["cluster", "up", "--nodes", str(file), "--dir", str(place), "--redis", "redis://127.0.0.1:1"])
    assert done.code == 2 and "no Redis answers" in done.err and not place.exists()


@needs_redis
def test_other_hosts_are_reached_by_ssh_without_questions(
    server: Server, program: str, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "ssh").write_text(
        f'#!/bin/sh\necho "$@" >>{calls}\ncase "$*" in *unreachable*) echo "ssh: no route" >&2; exit 255;; esac\n'
        'for last; do :; done\nexec sh -c "$last"\n'
    )
    (bin / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin}:{os.environ['PATH']}")
    file = listed(tmp_path, f"me@n1 {data}/one 3\nunreachable {data}/two\n")
    code, out, err = command(server, "up", "--nodes", str(file), "--program", program)
    assert code == 1 and "n1 (me@n1): started" in out and "unreachable (unreachable): failed: ssh: no route" in out
    assert "the URL of Redis names this machine" in err
    assert "BatchMode=yes" in calls.read_text() and "me@n1 sh -s" in calls.read_text()
    assert str(server.socket) not in calls.read_text(), "the URL of Redis may have a password"
    assert " 3 " in " ".join(command(server, "nodes")[1].split())
    code, out, _ = command(server, "down", "--nodes", str(file))
    assert code == 1 and "n1 (me@n1): stopped" in out


@contextlib.contextmanager
def sshd(place: Path) -> Iterator[Path]:
    """Run sshd on loopback with keys of its own; yield a program `ssh` that connects to it."""
    place.mkdir()
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / key)], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (place / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {place}/host\nAuthorizedKeysFile {place}/user.pub\n"
        "StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nPidFile none\n"
    )
    (place / "ssh_config").write_text(
        f"Host *\nPort {port}\nIdentityFile {place}/user\nIdentitiesOnly yes\nStrictHostKeyChecking no\n"
        f"UserKnownHostsFile {place}/known\nLogLevel ERROR\n"
    )
    program = place / "ssh"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {place}/ssh_config "$@"\n')
    program.chmod(0o755)
    Path("/run/sshd").mkdir(exist_ok=True)
    process = subprocess.Popen([str(SSHD), "-D", "-e", "-f", str(place / "sshd_config")], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60.0
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                break
            assert process.poll() is None and time.monotonic() < end, "sshd does not answer"
            time.sleep(0.02)
        yield program
    finally:
        process.terminate()
        process.wait()


@needs_redis
@pytest.mark.skipif(
    SSHD is None or shutil.which("ssh") is None or os.geteuid() != 0,
    reason="needs ssh, sshd and root; Debian: openssh-server",
)
def test_a_node_outlives_the_connection_of_a_real_ssh(
    server: Server, program: str, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sshd(tmp_path / "sshd") as ssh:
        monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
        file = listed(tmp_path, f"{getpass.getuser()}@127.0.0.1 {data}\n")
        code, out, err = command(server, "up", "--nodes", str(file), "--program", program)
        assert code == 0 and "started" in out, (out, err)
        pid = int((data / "node-127.0.0.1.pid").read_text())
        assert is_running(pid) and os.getsid(pid) == pid, "it has a session of its own"
        lines = command(server, "nodes")[1].splitlines()
        assert [line.endswith("alive") for line in lines if line.startswith("127.0.0.1 ")] == [True]
        code, out, _ = command(server, "down", "--nodes", str(file))
        assert code == 0 and "stopped" in out and not is_running(pid)
