"""The small shared web in a network of its own, whose cable can be pulled and whose name server can be cut off.

Two network namespaces of the kernel are joined by a pair of devices. In one of them nginx serves the web and a name
server answers for its hosts; in the other one a crawl runs. Nothing can leave this machine. It needs root.

As a program (`python tests/netns.py MAP ADDRESS`) this file is the name server.
"""

import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NAME_SERVER = "10.2.0.53"
HERE, THERE = "10.9.0.2", "10.9.0.1"  # the two ends of the cable
NO_SUCH_NAME, ADDRESS_RECORD = 3, 1


def possible() -> bool:
    """Return whether this machine can create network namespaces, and has nginx."""
    if os.geteuid() != 0 or not shutil.which("nginx") or not shutil.which("ip"):
        return False
    made = subprocess.run(["ip", "netns", "add", f"try{os.getpid()}"], capture_output=True).returncode == 0
    if made:
        subprocess.run(["ip", "netns", "del", f"try{os.getpid()}"], check=True)
    return made


class Wired:
    """A running web, and the network namespace from which it can be crawled."""

    def __init__(self, directory: Path, number: int) -> None:
        self.directory = directory
        self._here, self._there = f"windrow-crawl{number}", f"windrow-web{number}"
        self._device = f"wr{number % 100000}"
        self._names: subprocess.Popen[bytes] | None = None

    def ip(self, *arguments: str, inside: str = "") -> None:
        subprocess.run(["ip", *(["-n", inside] if inside else []), *arguments], check=True, capture_output=True)

    def start(self, serve: Path) -> None:
        for name in (self._here, self._there):
            self.ip("netns", "add", name)
            self.ip("link", "set", "lo", "up", inside=name)
        ends = ("link", "add", f"{self._device}a", "netns", self._here, "type", "veth")
        self.ip(*ends, "peer", "name", f"{self._device}b", "netns", self._there)
        for name, device, address in ((self._here, "a", HERE), (self._there, "b", THERE)):
            self.ip("addr", "add", f"{address}/24", "dev", f"{self._device}{device}", inside=name)
            self.ip("link", "set", f"{self._device}{device}", "up", inside=name)
        self.ip("route", "add", "default", "via", THERE, inside=self._here)
        self.ip("route", "add", "local", "10.1.0.0/16", "dev", "lo", inside=self._there)
        self.route_names()
        unpack = ["tar", "-xJf", str(serve.parent / "small.tar.xz"), "-C", str(self.directory)]
        subprocess.run([*unpack, "--strip-components=1", "--no-same-owner"], check=True)
        for name in ("nginx.conf.in", "hosts.map"):
            path = self.directory / name
            path.write_text(path.read_text().replace("127.1.", "10.1."))
        self._run(self._there, [str(serve), "start", "small", str(self.directory), "80"])
        server = [sys.executable, __file__, str(self.directory / "hosts.map"), NAME_SERVER]
        self._names = subprocess.Popen(["ip", "netns", "exec", self._there, *server])
        (self.directory / "resolv.conf").write_text(f"nameserver {NAME_SERVER}\noptions timeout:2 attempts:2\n")

    def _run(self, name: str, command: list[str]) -> None:
        subprocess.run(["ip", "netns", "exec", name, *command], check=True, capture_output=True)

    def launch(self, *arguments: str, **given: Any) -> "subprocess.Popen[str]":
        """Start a command of Windrow where the web can be reached. The process is the command's own."""
        names = self.directory / "resolv.conf"
        command = ["ip", "netns", "exec", self._here, "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"']
        windrow = [sys.executable, "-m", "windrow.cli", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        return subprocess.Popen([*command, str(names), *windrow], env=environment, text=True, **given)

    def cut_cable(self) -> None:
        self.ip("link", "set", f"{self._device}b", "down", inside=self._there)

    def join_cable(self) -> None:
        self.ip("link", "set", f"{self._device}b", "up", inside=self._there)

    def cut_names(self) -> None:
        """Let no packet reach the name server."""
        self.ip("route", "del", "local", f"{NAME_SERVER}/32", "table", "local", inside=self._there)
        self.ip("route", "add", "blackhole", f"{NAME_SERVER}/32", "table", "local", inside=self._there)

    def join_names(self) -> None:
        self.ip("route", "del", "blackhole", f"{NAME_SERVER}/32", "table", "local", inside=self._there)
        self.route_names()

    def route_names(self) -> None:
        self.ip("route", "add", "local", f"{NAME_SERVER}/32", "dev", "lo", inside=self._there)

    def stop(self) -> None:
        if self._names is not None:
            self._names.kill()
            self._names.wait()
        pid = self.directory / "nginx.pid"
        if pid.exists():
            os.kill(int(pid.read_text()), 15)
        for name in (self._here, self._there):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@contextmanager
def wired(serve: Path, directory: Path) -> Iterator[Wired]:
    """Serve the small web into a network namespace of its own, from files in `directory`."""
    web = Wired(directory, os.getpid())
    try:
        web.start(serve)
        time.sleep(0.5)
        yield web
    finally:
        web.stop()


def answer(question: bytes, hosts: dict[str, str]) -> bytes:
    """Return the answer to a DNS question (RFC 1035): the address of a host, or that there is no such host."""
    labels, at = [], 12
    while length := question[at]:
        labels.append(question[at + 1 : at + 1 + length].decode("ascii", "replace").lower())
        at += 1 + length
    kind = struct.unpack(">H", question[at + 1 : at + 3])[0]
    found = hosts.get(".".join(labels))
    records = b""
    if found and kind == ADDRESS_RECORD:
        records = struct.pack(">HHHIH", 0xC00C, ADDRESS_RECORD, 1, 60, 4) + socket.inet_aton(found)
    flags = 0x8180 | (0 if found else NO_SUCH_NAME)
    return question[:2] + struct.pack(">HHHHH", flags, 1, bool(records), 0, 0) + question[12 : at + 5] + records


def main(names: str, address: str) -> None:
    """Answer for the hosts of a file, for ever."""
    hosts = dict(line.split() for line in Path(names).read_text().splitlines())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, 53))
        while True:
            question, asker = server.recvfrom(512)
            server.sendto(answer(question, hosts), asker)


if __name__ == "__main__":
    main(*sys.argv[1:])
