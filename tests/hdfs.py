"""A real HDFS for tests: one NameNode and one DataNode on loopback, killed and started again at will.

The programs are those in build/hadoop, where `make test-long` puts them, with Debian's Jersey. Without them, or without
a Java that runs them, a test is skipped.
"""

import getpass
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.store.servers import SECONDS, free_port

JARS = Path(__file__).parents[1] / "build" / "hadoop"
SYSTEM = Path("/usr/share/java")
DEBIAN = ("jersey1-core", "jersey1-server", "jersey1-servlet", "jsr311-api", "commons-daemon", "asm")
NEWEST_JAVA = 23  # this Hadoop asks for the security manager, which the next one does not have
HDFS = "org.apache.hadoop.hdfs.server"
OPENED = [f"--add-opens=java.base/{part}=ALL-UNNAMED" for part in ("java.lang", "java.util", "java.nio", "sun.nio.ch")]
SMALL = ["-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true"]


def missing() -> str:
    """Return why there can be no server; "": there can."""
    if not list(JARS.glob("hadoop-hdfs-*.jar")):
        return "there is no Hadoop in build/hadoop; make test-long downloads it"
    absent = [name for name in DEBIAN if not (SYSTEM / f"{name}.jar").exists()]
    if absent:
        return f"Debian's libjersey1-servlet-java, libcommons-daemon-java or libasm-java is missing: {absent}"
    if not _javas():
        return f"there is no Java of version 9 to {NEWEST_JAVA} (Debian: openjdk-17-jre-headless)"
    return ""


def _javas() -> list[str]:
    found = [*([shutil.which("java")] if shutil.which("java") else []), *sorted(glob.glob("/usr/lib/jvm/*/bin/java"))]
    return [str(program) for program in found if program and 9 <= _version(program) <= NEWEST_JAVA]


def _version(program: str) -> int:
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False, timeout=SECONDS).stderr
    number = re.search(r'version "(\d+)', said)
    return int(number[1]) if number else 0


class Hdfs:
    """`url`: of a folder in which everybody may write. `safe_mode`: seconds after a start in which nobody may."""

    def __init__(self, safe_mode: int = 0) -> None:
        if missing():
            pytest.skip(missing())
        self.folder = Path(tempfile.mkdtemp(prefix="windrow-hdfs-"))
        self.web = f"127.0.0.1:{free_port()}"
        self.url = f"webhdfs://windrow@{self.web}/tests"
        self._safe_mode = safe_mode
        self._processes: list[subprocess.Popen[bytes]] = []
        own = f"-Djava.io.tmpdir={self.folder}"  # Jetty leaves a directory there for each start
        self._command = [_javas()[0], *OPENED, *SMALL, own, "-cp", self._configured()]
        formatted = [*self._command, f"{HDFS}.namenode.NameNode", "-format", "-nonInteractive"]
        subprocess.run(formatted, check=True, capture_output=True, timeout=2 * SECONDS)
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        for what in ("MKDIRS", "SETPERMISSION"):
            self._ask(f"webhdfs/v1/tests?op={what}&permission=777&user.name={getpass.getuser()}", "PUT")

    def start(self) -> None:
        """Start both, and wait until files can be written; in safe mode, until they can be read."""
        for program in ("namenode.NameNode", "datanode.DataNode"):
            with (self.folder / f"{program}.log").open("ab") as log:
                self._processes.append(
                    subprocess.Popen(
                        [*self._command, f"{HDFS}.{program}"], stdout=log, stderr=log, start_new_session=True
                    )
                )
        end = time.monotonic() + 2 * SECONDS
        while not self._ready():
            assert time.monotonic() < end and not [one for one in self._processes if one.poll() is not None], (
                f"HDFS does not start; see {self.folder}"
            )
            time.sleep(0.1)

    def kill(self) -> None:
        """End both at once."""
        while self._processes:
            process = self._processes.pop()
            process.kill()
            process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def is_safe(self) -> bool:
        """Return whether it is in safe mode: files can be read and not written."""
        return bool(self._state()["FSState"] != "Operational")

    def _ready(self) -> bool:
        try:
            return self._state()["NumLiveDataNodes"] == 1 and (self._safe_mode > 0 or not self.is_safe())
        except (OSError, LookupError):
            return False

    def _state(self) -> dict[str, Any]:
        said = json.loads(self._ask("jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"))
        return dict(said["beans"][0])

    def _ask(self, path: str, method: str = "GET") -> bytes:
        request = urllib.request.Request(f"http://{self.web}/{path}", method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return bytes(answer.read())

    def _configured(self) -> str:
        """Write the configuration; return the class path."""
        place = self.folder / "etc"
        for name in ("hdfs", "datanode"):  # of their web sites only the interface for programs is wanted
            (place / "webapps" / name).mkdir(parents=True)
        options = {
            "fs.defaultFS": f"hdfs://127.0.0.1:{free_port()}",
            "hadoop.tmp.dir": self.folder / "data",
            "dfs.namenode.http-address": self.web,
            "dfs.datanode.hostname": "127.0.0.1",
            **{
                f"dfs.datanode.{kind}": f"127.0.0.1:{free_port()}"
                for kind in ("address", "http.address", "ipc.address")
            },
            "dfs.namenode.safemode.extension": 1000 * self._safe_mode,
            "dfs.replication": 1,
            "dfs.heartbeat.interval": 1,
        }
        rows = "".join(
            f"<property><name>{name}</name><value>{value}</value></property>" for name, value in options.items()
        )
        for name in ("core", "hdfs"):
            (place / f"{name}-site.xml").write_text(f"<configuration>{rows}</configuration>")
        (place / "log4j.properties").write_text(
            "log4j.rootLogger=WARN,a\nlog4j.appender.a=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.a.layout=org.apache.log4j.SimpleLayout\n"
        )
        return os.pathsep.join([str(place), f"{JARS}/*", *(str(SYSTEM / f"{name}.jar") for name in DEBIAN)])
