"""The demo web, served on loopback by a thread of this process."""

import asyncio
import contextlib
import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future

from windrow.demo import site
from windrow.demo.server import Reply, Request, Server

ADDRESS = "127.0.0.1"


@dataclasses.dataclass(frozen=True, slots=True)
class Web:
    port: int
    seeds: list[str]
    hosts: dict[str, str]  # host -> address:port, what `fetch.hosts_file` wants to know
    pages: frozenset[str]  # URLs that a crawl of the seeds must archive, each once
    disallowed: frozenset[str]  # URLs that robots.txt forbids
    requests: list[Request]  # what was asked for, in order; grows while the web is served


@contextlib.contextmanager
def serve() -> Iterator[Web]:
    truth = site.build()
    requests: list[Request] = []
    asked: Counter[tuple[str, str]] = Counter()

    def handle(request: Request) -> Reply:
        requests.append(request)
        place = (request.host, request.path)
        asked[place] += 1
        return site.answer(truth, asked[place] - 1, request)

    with _listening(Server(handle)) as port:
        hosts = {host: f"{ADDRESS}:{port}" for host in site.HOSTS}
        yield Web(port, [f"http://{site.LIBRARY}/"], hosts, truth.pages, truth.disallowed, requests)


@contextlib.contextmanager
def _listening(server: Server) -> Iterator[int]:
    """Runs the server in a thread with a loop of its own; gives the port."""
    started: Future[tuple[int, Callable[[], object]]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_run(server, started)), name="demo web", daemon=True)
    thread.start()
    port, stop = started.result()
    try:
        yield port
    finally:
        stop()
        thread.join()


async def _run(server: Server, started: Future[tuple[int, Callable[[], object]]]) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    try:
        port = await server.start([ADDRESS])
    except OSError as error:
        started.set_exception(error)
        return
    started.set_result((port, lambda: loop.call_soon_threadsafe(over.set)))
    await over.wait()
    server.close()
    await asyncio.sleep(0)  # lets the connections end before their loop does
