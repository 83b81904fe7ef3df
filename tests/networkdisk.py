"""A disk over the network for tests: GlusterFS, served from one directory and mounted once per "machine".

Server and mounts are processes of this user, on 127.0.0.1. Each mount has caches of its own, as on separate machines,
and each machine has a boot id of its own, by which Windrow tells machines apart. It needs root and /dev/fuse.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

BOOT = "/proc/sys/kernel/random/boot_id"

# The translators of a mount that `gluster volume create` makes, those that cache and delay.
CACHES = ("write-behind", "open-behind", "quick-read", "md-cache")


def missing() -> str:
    """Return why there can be no network disk here; "" if there can."""
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        return "a network disk needs root and /dev/fuse"
    return "" if shutil.which("glusterfsd") else "there is no GlusterFS here; Debian has it: glusterfs-server"


needs_network_disk = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")


class NetworkDisk:
    """A server and its mounts."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._port = _free_port()

    def start(self) -> None:
        brick = self._place / "brick"
        brick.mkdir()
        server = [f"option directory {brick}"], ["option transport-type tcp", *self._server(brick)]
        volumes = [("storage/posix", server[0]), ("features/locks", []), ("protocol/server", server[1])]
        self._run("server", "glusterfsd", volumes, str(brick))

    def _server(self, brick: Path) -> list[str]:
        return [
            "option transport.socket.bind-address 127.0.0.1",
            f"option transport.socket.listen-port {self._port}",
            f"option auth.addr.{brick}.allow 127.0.0.1",
        ]

    def mount(self, name: str) -> Path:
        """Return the directory of a new mount."""
        made = self._place / name
        made.mkdir(exist_ok=True)
        remote = [f"option remote-port {self._port}", f"option remote-subvolume {self._place / 'brick'}"]
        client = ["option transport-type tcp", "option remote-host 127.0.0.1", *remote]
        volumes = [("protocol/client", client), *((f"performance/{cache}", []) for cache in CACHES)]
        self._run(name, "glusterfs", volumes, "mount", str(made))
        _until(lambda: os.path.ismount(made) and _answers(made))
        (self._place / f"{name}.boot").write_text(f"{uuid.uuid4()}\n")
        return made

    def machine(self, name: str) -> list[str]:
        """Return the words before a command that let it run on a machine of its own."""
        script = f'mount --bind {self._place / name}.boot {BOOT} && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", script, "sh"]

    def hang(self, seconds: float) -> None:
        """Let the server not answer for some time: every process that touches the disk waits."""
        os.kill(self._processes["server"].pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self._processes["server"].pid, signal.SIGCONT)

    def lose(self, name: str) -> None:
        """End a mount as a machine loses it: every call on its files fails from now on."""
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def unmount(self, name: str) -> None:
        subprocess.run(["umount", "--lazy", str(self._place / name)], check=True, capture_output=True)

    def end(self) -> None:
        for name in [name for name in self._processes if name != "server"]:
            self.unmount(name)
        for process in self._processes.values():
            process.kill()
            process.wait()

    def _run(self, name: str, program: str, volumes: list[tuple[str, list[str]]], last: str, *arguments: str) -> None:
        """Start a process whose volumes are a chain: each is below the next one."""
        text, below = "", ""
        for number, (kind, options) in enumerate(volumes):
            called = last if number == len(volumes) - 1 else f"{last}-{number}"
            lines = [f"volume {called}", f"type {kind}", *options, *([f"subvolumes {below}"] if below else [])]
            text += "\n".join([*lines, "end-volume\n"])
            below = called
        (self._place / f"{name}.vol").write_text(text)
        log = self._place / f"{name}.log"
        command = [program, "--no-daemon", f"--volfile={self._place / name}.vol", f"--log-file={log}", *arguments]
        self._processes[name] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _answers(place: Path) -> bool:
    with contextlib.suppress(OSError):
        return list(place.iterdir()) is not None
    return False


def _until(reached: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "the network disk does not answer"
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serve(place: Path) -> Iterator[NetworkDisk]:
    place.mkdir(parents=True)
    disk = NetworkDisk(place)
    disk.start()
    try:
        yield disk
    finally:
        disk.end()
