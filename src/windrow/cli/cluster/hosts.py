"""`windrow cluster up` and `down`: nodes on this machine and, over ssh, on others."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from windrow.cli.corpus import storing
from windrow.cli.corpus.storing import NodeStoreTo, StoreCaptures
from windrow.cli.crawl.shards import REDIS, load_nodes
from windrow.cli.registry import RedisUrl, within
from windrow.cli.terminal import Json, note, out, print_json
from windrow.config import ConfigError

HostsFile = Annotated[
    Path,
    typer.Option("--nodes", help="File of hosts, one per line: local, or user@host DIR SLOTS.", metavar="FILE"),
]
DataDirectory = Annotated[
    str, typer.Option("--dir", help="Data directory of nodes whose line names none.", metavar="DIR")
]
_WORDS = {
    "started": "started, process {}",
    "running": "runs already, process {}",
    "stopped": "stopped, process {}",
    "not-running": "did not run",
    "failed": "failed: {}",
}


def up(
    hosts_file: HostsFile,
    directory: DataDirectory = "",
    redis: RedisUrl = "",
    slots: Annotated[
        int,
        typer.Option(
            help="Shards that a node runs at once, if its line does not say; default: as the node chooses.",
            metavar="N",
            min=0,
            show_default=False,
        ),
    ] = 0,
    program: Annotated[
        str, typer.Option(help="Path of windrow on the hosts; default: windrow on their PATH.", metavar="PATH")
    ] = "",
    wait: Annotated[
        float, typer.Option(help="Wait so long until nodes announce themselves.", metavar="SECONDS")
    ] = 30.0,
    store_to: NodeStoreTo = "",
    store_captures: StoreCaptures = False,
    as_json: Json = False,
) -> None:
    """Start a node on every host of a file, by ssh or here. Hosts whose node runs are left alone."""
    hosts = load_nodes("controller.hosts")
    listed = _read(hosts, hosts_file, directory)
    if _is_here(redis) and any(host.place != hosts.LOCAL for host in listed):
        note("warning: the URL of Redis names this machine, and nodes on other machines look for it on theirs")
    within(redis, _nothing)  # refuses a server that cannot be used, before anything is started
    where = storing.target(store_to, store_captures)
    arguments = [*(["--slots", str(slots)] if slots else []), *(["--store-captures"] if where.captures else [])]
    secrets = {REDIS: redis, **({storing.VARIABLE: where.url} if where.url else {})}
    results = hosts.up(listed, arguments, directory, program, secrets)
    started = [result.name for result in results if result.state != "failed"]
    missing = within(redis, lambda registry: _missing(registry, started, wait)) if started else []
    for result in results:
        if result.name in missing:
            note(f"warning: {result.name} has not announced itself after {wait:g} seconds; see {result.log}")
    _show(results, as_json, bool(missing))


def down(
    hosts_file: HostsFile,
    directory: DataDirectory = "",
    wait: Annotated[int, typer.Option(help="Wait so long for each node to end.", metavar="SECONDS", min=1)] = 60,
    as_json: Json = False,
) -> None:
    """End the nodes that `up` has started, by SIGTERM: their shards stop cleanly. Others are left alone."""
    hosts = load_nodes("controller.hosts")
    _show(hosts.down(_read(hosts, hosts_file, directory), directory, wait), as_json)


def _read(hosts: Any, path: Path, directory: str) -> Any:
    listed = hosts.read(path)
    if directory and not directory.startswith("/"):
        raise ConfigError(
            f"--dir {directory} is not an absolute path, and other machines have other working "
            "directories; write it from / on"
        )
    bare = next((host for host in listed if not host.directory and not directory), None)
    if bare is not None:
        raise ConfigError(f"{path} names no data directory for {bare.place}; write it there, or give --dir DIR")
    return listed


def _is_here(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "unix" or parts.hostname in ("localhost", "127.0.0.1", "::1")


async def _nothing(registry: Any) -> None:
    pass


async def _missing(registry: Any, names: Sequence[str], patience: float) -> list[str]:
    """Wait until nodes have announced themselves; return those that have not."""
    end = time.monotonic() + patience
    while True:
        alive = {node.name for node in await registry.nodes()}
        missing = [name for name in names if name not in alive]
        if not missing or time.monotonic() >= end:
            return missing
        await asyncio.sleep(0.2)


def _show(results: Sequence[Any], as_json: bool, failed: bool = False) -> None:
    if as_json:
        print_json(results)
    else:
        for result in results:
            out.print(f"{result.name} ({result.place}): {_WORDS[result.state].format(result.text)}")
    if failed or any(result.state == "failed" for result in results):
        raise typer.Exit(1)
