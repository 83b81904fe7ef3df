"""Serve the demo web on loopback, in a thread of this process."""

import asyncio
import contextlib
import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future

from windrow.demo import site
from windrow.demo.server import DemoRequest, Reply, Server

ADDRESS = "127.0.0.1"


@dataclasses.dataclass(frozen=True, slots=True)
class Web:
    port: int
    seeds: list[str]
    hosts: dict[str, str]  # host -> address:port, the content of `fetch.hosts_file`
    pages: frozenset[str]  # URLs that a crawl of the seeds must archive, each once
    disallowed: frozenset[str]  # URLs that robots.txt forbids
    requests: list[DemoRequest]  # in the order of arrival; grows while the web is served


@contextlib.contextmanager
def serve() -> Iterator[Web]:
    truth = site.build()
    requests: list[DemoRequest] = []
    count: Counter[tuple[str, str]] = Counter()

    def handle(request: DemoRequest) -> Reply:
        requests.append(request)
        key = (request.host, request.path)
        count[key] += 1
        return site.answer(truth, count[key] - 1, request)

    with _listening(Server(handle)) as port:
        hosts = {host: f"{ADDRESS}:{port}" for host in site.HOSTS}
        yield Web(
            port=port,
            seeds=[f"http://{site.LIBRARY}/"],
            hosts=hosts,
            pages=truth.pages,
            disallowed=truth.disallowed,
            requests=requests,
        )


@contextlib.contextmanager
def _listening(server: Server) -> Iterator[int]:
    """Run the server in a thread with an event loop of its own; yield the port."""
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
    await asyncio.sleep(0)  # lets the connections close before the loop ends
