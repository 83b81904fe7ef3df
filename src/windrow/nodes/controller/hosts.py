"""Starts and ends nodes on this machine and on others over ssh, from a file of hosts.

Each line: `local` or `[user@]host`, then optionally the data directory and the number of slots. The same script runs on
both: over ssh it is sent on standard input, so that no quotes pass through the shell of a user. A node has a pid file
and a log file in its data directory, named after it; both commands may be repeated at any time.
"""

import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, cast, get_args

import msgspec

from windrow.config import ConfigError

State = Literal["started", "running", "stopped", "not-running", "failed"]
LOCAL = "local"
GRACE = 60  # seconds in which a node stops its shards: requests in progress get 20
_HOST = re.compile(r"(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9._:-]*")
_AT_ONCE = 32  # hosts
_CONNECT = 10  # seconds
_SSH = ("ssh", "-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT}")
_NO_CONNECTION = 255  # exit code of ssh

_PREPARE = """\
command_line() {
    if [ -d /proc/self ]; then tr '\\0' ' ' <"/proc/$1/cmdline" 2>/dev/null; else ps -o args= -p "$1"; fi
}
state() {
    if [ -d /proc/self ]; then sed -n 's/^State:[^A-Z]*//p' "/proc/$1/status" 2>/dev/null
    else ps -o stat= -p "$1"; fi
}
alive() {
    [ -s "$PIDFILE" ] || return 1
    pid=$(cat "$PIDFILE")
    case "$(command_line "$pid") " in *" node "*"--name $NAME "*) return 0;; esac
    return 1
}
leaving() { # its memory and its command line are gone, its files and connections may not be
    [ -z "$(command_line "$pid")" ] || return 1
    case "$(state "$pid")" in ""|[ZX]*) return 1;; esac
}
"""
_UP = """\
mkdir -p "$DIR" && [ -w "$DIR" ] || { echo "failed: the directory $DIR cannot be written"; exit 0; }
if alive; then echo "running: $pid"; exit 0; fi
command -v "$1" >/dev/null 2>&1 || { echo "failed: there is no program $1; give its path with --program"; exit 0; }
leader=$(command -v setsid || true)
nohup $leader "$@" >>"$LOG" 2>&1 </dev/null &
pid=$!
echo "$pid" >"$PIDFILE"
for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.2
    if [ -z "$(command_line "$pid")" ]; then rm -f "$PIDFILE"; echo "failed: $(tail -n 1 "$LOG")"; exit 0; fi
done
echo "started: $pid"
"""
_DOWN = """\
if ! alive; then rm -f "$PIDFILE"; echo "not-running: no process of this node"; exit 0; fi
kill -TERM "$pid"
left=$((GRACE * 5))
while { alive || leaving; } && [ "$left" -gt 0 ]; do sleep 0.2; left=$((left - 1)); done
if alive; then echo "failed: process $pid has not ended after $GRACE seconds; see $LOG"; exit 0; fi
rm -f "$PIDFILE"
echo "stopped: $pid"
"""


class Host(msgspec.Struct, frozen=True):
    """One line of the file: where a node runs."""

    place: str  # "local", or what ssh connects to
    name: str  # of the node
    directory: str = ""
    slots: int = 0  # 0: as many as the node chooses


class HostResult(msgspec.Struct, frozen=True):
    """The outcome of one host."""

    name: str
    place: str
    state: State
    text: str  # the process id, or why it failed
    log: str


def read(path: Path) -> list[Host]:
    """Return the hosts of a file; ConfigError if a line cannot be read, or if there is none."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        raise ConfigError(f"there is no file {path}; write one host per line: local, or user@host DIR SLOTS") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8; save it as UTF-8") from None
    hosts: list[Host] = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if words:
            hosts.append(_host(words, f"{path}, line {number}", [host.name for host in hosts]))
    if not hosts:
        raise ConfigError(f"{path} names no host; write one per line: local, or user@host DIR SLOTS")
    return hosts


def _host(words: Sequence[str], where: str, names: Sequence[str]) -> Host:
    address, directory, slots = (*words, "", "")[:3]
    if len(words) > 3 or not _HOST.fullmatch(address):
        raise ConfigError(f"{where}: {' '.join(words)!r} is not a host; write: local, or user@host DIR SLOTS")
    if directory and not directory.startswith("/"):
        raise ConfigError(f"{where}: {directory!r} is not an absolute path; write it from / on")
    if slots and not (slots.isascii() and slots.isdigit() and 1 <= int(slots) <= 4096):
        raise ConfigError(f"{where}: {slots!r} is not a number of slots; write 1 or more")
    bare = socket.gethostname() if address == LOCAL else address.rpartition("@")[2]
    bare = re.sub(r"[^A-Za-z0-9._-]", "-", bare).strip(".-_") or LOCAL
    name, count = bare, 1
    while name in names:  # several nodes on one machine
        count += 1
        name = f"{bare}-{count}"
    return Host(address, name, directory, int(slots or 0))


def up(
    hosts: Sequence[Host], arguments: Sequence[str], directory: str, program: str, secrets: Mapping[str, str]
) -> list[HostResult]:
    """Start the nodes that do not run. arguments: of `windrow node`; program: on other machines.

    secrets: variables of the environment of the nodes. They are sent on standard input too, so that no list of
    processes shows them, on any machine.
    """
    exports = "".join(f"{name}={shlex.quote(value)}\nexport {name}\n" for name, value in secrets.items())
    own = [sys.executable, "-m", "windrow.cli"]

    def start(host: Host) -> HostResult:
        slots = ["--slots", str(host.slots)] if host.slots else []
        words = own if host.place == LOCAL and not program else [program or "windrow"]
        path = host.directory or directory
        command = [*words, "node", *arguments, *slots, "--dir", path, "--name", host.name]
        return _run(host, path, f"{exports}set -- {shlex.join(command)}\n{_PREPARE}{_UP}", _CONNECT + 30)

    return _each(hosts, start)


def down(hosts: Sequence[Host], directory: str, grace: int = GRACE) -> list[HostResult]:
    """End the nodes that run, by SIGTERM, and wait for them."""
    return _each(
        hosts,
        lambda host: _run(
            host, host.directory or directory, f"GRACE={grace}\n{_PREPARE}{_DOWN}", _CONNECT + grace + 30
        ),
    )


def _each(hosts: Sequence[Host], act: Callable[[Host], HostResult]) -> list[HostResult]:
    with ThreadPoolExecutor(min(_AT_ONCE, len(hosts))) as pool:
        return list(pool.map(act, hosts))


def _run(host: Host, directory: str, script: str, patience: float) -> HostResult:
    """Run a script on a host. Its last line is the state and a text."""
    log = f"{directory}/node-{host.name}.log"
    names = {"DIR": directory, "NAME": host.name, "LOG": log, "PIDFILE": f"{directory}/node-{host.name}.pid"}
    head = "".join(f"{name}={shlex.quote(value)}\n" for name, value in names.items())
    command = ["sh", "-s"] if host.place == LOCAL else [*_SSH, host.place, "sh -s"]
    try:
        done = subprocess.run(
            command, input=head + script, capture_output=True, text=True, errors="replace", timeout=patience
        )
    except FileNotFoundError:
        return HostResult(host.name, host.place, "failed", text=f"there is no program {command[0]} here", log=log)
    except subprocess.TimeoutExpired:
        return HostResult(host.name, host.place, "failed", text=f"no answer after {patience:g} seconds", log=log)
    state, _, text = (done.stdout.strip().splitlines() or [""])[-1].partition(": ")
    if done.returncode == 0 and state in get_args(State):
        return HostResult(host.name, host.place, cast(State, state), text=text, log=log)
    complaint = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    if done.returncode == _NO_CONNECTION and host.place != LOCAL and "ssh" not in complaint:
        complaint = f"ssh: {complaint}"
    return HostResult(host.name, host.place, "failed", text=complaint, log=log)
