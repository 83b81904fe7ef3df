"""Real database servers on loopback, in a directory of their own, which can be killed and started again.

A server that is not installed skips the test. None of them outlives it.
"""

import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

SECONDS = 60  # for a server to answer; a busy machine needs some


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """One process. `answers` returns whether it accepts a client; it raises or returns False until then."""

    def __init__(self, command: Sequence[str], answers: Callable[[], object], user: str | None) -> None:
        self._command, self._answers, self._user = command, answers, user
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=self._user, start_new_session=True
        )
        end = time.monotonic() + SECONDS
        while True:
            try:
                if self._answers():
                    return
            except Exception as error:  # each library has its own
                if time.monotonic() > end or self._process.poll() is not None:
                    raise RuntimeError(f"{self._command[0]} does not answer: {error}") from error
            time.sleep(0.1)

    def kill(self) -> None:
        """End it at once, with its children."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


class Database:
    """A server, its address, and its files."""

    def __init__(self, folder: Path, url: str, server: Server) -> None:
        self.folder, self.url, self.server = folder, url, server

    def close(self) -> None:
        self.server.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def postgresql() -> Database:
    psycopg = pytest.importorskip("psycopg")
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [str(Path(shutil.which("initdb") or "/none").parent)]
    if not Path(found[-1], "initdb").exists():
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    user = "postgres" if os.getuid() == 0 else None  # it refuses to run as root
    folder = _folder(user)
    initialise = [f"{found[-1]}/initdb", "-D", f"{folder}/data", "-U", "windrow", "-A", "scram-sha-256", "--no-sync"]
    (folder / "password").write_text("p@ss/word")
    (folder / "password").chmod(0o644)
    initialise += ["--pwfile", f"{folder}/password", "-E", "UTF8", "--locale", "C"]
    subprocess.run(initialise, check=True, stdout=subprocess.DEVNULL, user=user, timeout=SECONDS)
    port = free_port()
    command = [f"{found[-1]}/postgres", "-D", f"{folder}/data", "-p", str(port), "-k", str(folder)]
    url = f"postgresql://windrow:p%40ss%2Fword@127.0.0.1:{port}/postgres"
    server = Server(
        [*command, "-h", "127.0.0.1"], lambda: psycopg.connect(url, connect_timeout=2).close() or True, user
    )
    return Database(folder, url, server)


def mysql() -> Database:
    pymysql = pytest.importorskip("pymysql")
    install, program = (
        shutil.which("mariadb-install-db"),
        shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin"),
    )
    if not install or not program or not shutil.which("my_print_defaults"):  # mariadb-install-db runs the last one
        pytest.skip("MariaDB is not installed (Debian: mariadb-server-core and mariadb-client-core)")
    folder = _folder(None)
    user = [f"--user={'root' if os.getuid() == 0 else os.environ.get('USER', 'nobody')}"]
    made = ["--auth-root-authentication-method=normal", "--skip-test-db", f"--datadir={folder}/data"]
    subprocess.run(
        [install, "--no-defaults", *made, *user],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=4 * SECONDS,
    )
    port = free_port()
    command = [program, "--no-defaults", *user, f"--datadir={folder}/data", f"--socket={folder}/socket"]
    command += [f"--port={port}", "--bind-address=127.0.0.1", f"--pid-file={folder}/pid"]

    def root() -> "pymysql.Connection":
        return pymysql.connect(unix_socket=f"{folder}/socket", user="root", connect_timeout=2)

    server = Server(command, lambda: root().close() or True, None)
    with root() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE corpus")
        cursor.execute("CREATE USER windrow@'127.0.0.1' IDENTIFIED BY 'p@ss/word'")
        cursor.execute("GRANT ALL ON corpus.* TO windrow@'127.0.0.1'")
    return Database(folder, f"mysql://windrow:p%40ss%2Fword@127.0.0.1:{port}/corpus", server)


def mongodb() -> Database:
    pymongo = pytest.importorskip("pymongo")
    program = shutil.which("mongod")
    if not program:
        pytest.skip("MongoDB is not installed (no Debian package; mongod must be on the path)")
    folder = _folder(None)
    port = free_port()
    url = f"mongodb://127.0.0.1:{port}/corpus"

    def answers() -> bool:
        with pymongo.MongoClient(url, serverSelectionTimeoutMS=2000) as client:
            return bool(client.admin.command("ping"))

    (folder / "data").mkdir()
    server = Server(
        [program, "--dbpath", f"{folder}/data", "--port", str(port), "--bind_ip", "127.0.0.1"], answers, None
    )
    return Database(folder, url, server)


def _folder(user: str | None) -> Path:
    """Return a directory that the user of the server may enter; those of pytest are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="windrow-server-"))
    folder.chmod(0o755)
    if user is not None:
        shutil.chown(folder, user)
    return folder
