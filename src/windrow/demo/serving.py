"""`windrow demo --serve`: keep the demo web running, so that any crawl on this machine can visit it."""

import contextlib
import shlex
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.demo import web
from windrow.signals import STOPS

DIRECTORY = Path("windrow-web")
_HOSTS, _SEEDS = "hosts", "seeds.txt"
_stopped = threading.Event()


class Served(msgspec.Struct, frozen=True):
    """The demo web, as a crawl has to be made for it."""

    port: int
    hosts: int
    hosts_file: str  # absolute: crawl.toml may be in any directory
    seeds: str
    options: list[str]  # for --set of `windrow init`

    def command(self, directory: str) -> str:
        """Return the command that makes a crawl of this web."""
        settings = [word for option in self.options for word in ("--set", option)]
        return shlex.join(["windrow", "init", directory, "--seeds", self.seeds, *settings])


@contextlib.contextmanager
def serve(directory: Path) -> Iterator[Served]:
    """Serve the web, and write its names and its seed into a directory. An earlier one is replaced: the port is new."""
    if directory.exists() and {path.name for path in directory.iterdir()} - {_HOSTS, _SEEDS}:
        raise ConfigError(f"{directory} holds other files; name another directory: windrow demo --serve --dir DIR")
    # A handler holds for every thread. A mask would not: threads of libraries, which began before, would be killed.
    _stopped.clear()
    earlier = {number: signal.signal(number, lambda *_: _stopped.set()) for number in STOPS}
    try:
        with web.serve() as site:
            directory.mkdir(parents=True, exist_ok=True)
            (directory / _HOSTS).write_text("".join(f"{name}\t{address}\n" for name, address in site.hosts.items()))
            (directory / _SEEDS).write_text("\n".join(site.seeds) + "\n")
            hosts_file = str((directory / _HOSTS).resolve())
            yield Served(
                port=site.port,
                hosts=len(site.hosts),
                hosts_file=hosts_file,
                seeds=str(directory / _SEEDS),
                options=[
                    f"fetch.hosts_file={hosts_file}",
                    "fetch.allow_private=true",
                    "fetch.delay=0.01",
                    "fetch.ip_delay=0",
                ],
            )
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def wait() -> None:
    """Wait for Ctrl-C or SIGTERM."""
    _stopped.wait()
