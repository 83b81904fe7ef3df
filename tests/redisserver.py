"""A Redis or Valkey server for tests: on a socket of its own, without persistence unless wanted, killed at will."""

import contextlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAMS = [program for program in ("redis-server", "valkey-server") if shutil.which(program)]
needs_redis = pytest.mark.skipif(not PROGRAMS, reason="there is no redis-server here; Debian has it: redis-server")
each_redis = pytest.mark.parametrize("server", PROGRAMS, indirect=True)  # the tests run with each program that is here


class Server:
    """A server that can be ended in any way and started again in the same place."""

    def __init__(self, directory: Path, program: str, *options: str) -> None:
        self.directory = directory
        self.socket = directory / "s"
        self.url = f"unix://{self.socket}"
        self._command = [program, "--port", "0", "--unixsocket", str(self.socket), "--dir", str(directory)]
        self._command += ["--save", "", "--appendonly", "no", *options]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.socket.unlink(missing_ok=True)
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(1000):
            with contextlib.suppress(OSError):
                self.command("PING")
                return
            assert self._process.poll() is None, f"{self._command[0]} has ended at once"
            time.sleep(0.01)
        raise AssertionError("the server does not answer")

    def command(self, *words: str) -> bytes:
        """Send one command on a connection of its own; return the first bytes of the answer."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(30.0)
            link.connect(str(self.socket))
            parts = b"".join(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words)
            link.sendall(b"*%d\r\n%s" % (len(words), parts))
            return link.recv(1 << 16)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def restart(self) -> None:
        self.kill()
        self.start()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.signal(signal.SIGCONT)
            self.kill()


@contextlib.contextmanager
def serve(*options: str, program: str = "") -> Iterator[Server]:
    """Run a server; its directory has a short name, because that of a socket may have only 107 characters."""
    directory = Path(tempfile.mkdtemp(prefix="windrow-redis-"))
    server = Server(directory, program or PROGRAMS[0], *options)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)
