"""Run the command line with a network that can be unplugged: a file says what fails at this moment.

    PLUG=/tmp/plug python -m tests.plug crawl DIR

The file holds words: "hosts" (no connection can be opened), "names" (DNS does not answer), "lies" (DNS says that no
host exists). An empty or missing file: everything works. Loopback counts as a network here, names come from the file
`hosts` of the crawl directory as if DNS had been asked, and the detector waits for tenths of seconds.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests import crashing
from windrow.cli import main
from windrow.crawler.machine import network, outage
from windrow.fetch import reach
from windrow.fetch.client import Client
from windrow.fetch.resolve import Resolver, read_hosts
from windrow.records import Capture, Failure, Reason, Request

DNS = (  # options of a crawl that asks DNS for its names
    "fetch.hosts_file=",
    "identity.contact=https://example.org/bot",
    "fetch.no_such_host_seconds=0.2",
    "fetch.dns_negative_ttl=0.05",
    "fetch.dns_ttl=0.3",
)


class Plug:
    """What the file says, seen from a test."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pull(self, *words: str) -> None:
        self._path.write_text(" ".join(words))

    def join(self) -> None:
        self._path.write_text("")

    def launch(self, *arguments: str) -> "subprocess.Popen[str]":
        environment = {**os.environ, "PLUG": str(self._path), "PYTHONPATH": f"{crashing.ROOT}:{crashing.ROOT / 'src'}"}
        command = [sys.executable, "-m", "tests.plug", *arguments]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=crashing.ROOT, env=environment, start_new_session=True, **pipes)


def wait_for(process: "subprocess.Popen[str]", holds: Any) -> None:
    """Wait until something holds while a process runs."""
    while not holds():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def pulled() -> str:
    path = Path(os.environ["PLUG"])
    return path.read_text() if path.exists() else ""


def install(directory: Path) -> None:
    """Put the plug between the program and the network."""
    hosts = read_hosts(directory / "hosts")
    get, connects = Client.get, reach.connects

    async def plugged_get(self: Client, request: Request) -> Capture | Failure:
        answer = await get(self, request)
        if "hosts" in pulled():  # also if it was pulled while the answer was on its way
            return Failure(request.task, Reason.CONNECT, detail="unplugged", time=time.time())
        return answer

    async def plugged_connects(*arguments: Any) -> bool:
        return "hosts" not in pulled() and await connects(*arguments)

    def lookup(name: str) -> list[str]:
        if "names" in pulled():
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        if "lies" in pulled() or name not in hosts:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [hosts[name]]

    Client.get = plugged_get  # type: ignore[method-assign]
    reach.connects = plugged_connects
    Resolver.__init__.__defaults__ = (lookup,)
    network.local = lambda place: False
    outage.PATIENCE = network.PATIENCE = 0.1
    outage.SPACING = 0.3
    outage.SHORTEST, outage.LONGEST = 0.1, 0.4


if __name__ == "__main__":
    install(Path(sys.argv[2]))
    main()
