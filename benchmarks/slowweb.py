"""A slow web on one loopback address per site, for benchmarks whose time must be that of waiting and not of the CPU.

    python slowweb.py PORT SITES PAGES SECONDS

Every page is answered after so many seconds. Pages of a site are a tree, and each links to three other sites. The
server prints a line of JSON when it gets a line on standard input: what it has answered since the last line.
"""

import asyncio
import collections
import itertools
import json
import random
import sys
import time

_WORDS = "Heu wird nach dem Schnitt gewendet und zu Schwaden gerecht , bevor es in die Scheune kommt .".split()


def address(site: int) -> str:
    return f"127.7.{site // 200}.{1 + site % 200}"


def name(site: int) -> str:
    return f"www.site{site}.test"


def page(site: int, number: int, sites: int, pages: int) -> bytes:
    """Return a page; the same one each time."""
    chance = random.Random(f"{site}/{number}")
    links = [f"/p{child}" for child in (2 * number + 1, 2 * number + 2) if child < pages]
    for _ in range(3):
        other = chance.randrange(sites)
        links.append(f"http://{name(other)}/p{chance.randrange(min(pages, 4))}")
    text = " ".join(chance.choices(_WORDS, k=900))
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    body = f"<html><head><title>{site}/{number}</title></head><body><p>{text}</p><ul>{anchors}</ul></body></html>"
    return body.encode()


class Answers:
    """What was answered since the last time somebody asked."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = collections.defaultdict(list)  # of the beginnings, by host
        self.counts: collections.Counter[str] = collections.Counter()  # by URL
        self.last = 0.0

    def line(self, delay: float) -> str:
        """Return the line, and begin anew. Gaps are between the beginnings of two requests to a host."""
        times = [sorted(one) for one in self.times.values()]
        gaps = [later - sooner for one in times for sooner, later in itertools.pairwise(one)]
        first = min((one[0] for one in times), default=0.0)
        made = {
            "pages": len(self.counts),
            "requests": self.counts.total(),
            "seconds": self.last - first,
            "gaps": len(gaps),
            "short": sum(gap < delay - 0.002 for gap in gaps),  # the clock of the crawler is another one
        }
        self.__init__()  # type: ignore[misc]
        return json.dumps(made)


class Connection(asyncio.Protocol):
    """HTTP/1.1 without bodies in requests, also as a proxy: the URL may be absolute."""

    def __init__(self, answers: Answers, sites: int, pages: int, seconds: float) -> None:
        self.answers, self.sites, self.pages, self.seconds = answers, sites, pages, seconds
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            path = lines[0].split(" ")[1]
            host = next(line[5:].strip() for line in lines if line.lower().startswith("host:"))
            if path.startswith("http://"):
                path = "/" + path.split("/", 3)[3]
            if path != "/robots.txt":
                self.answers.times[host].append(time.monotonic())
            asyncio.get_running_loop().call_later(self.seconds, self.answer, host.split(":")[0], path)

    def answer(self, host: str, path: str) -> None:
        if self.transport.is_closing():  # type: ignore[attr-defined]
            return
        number = int(path[2:]) if path.startswith("/p") and path[2:].isdecimal() else -1
        if not 0 <= number < self.pages:
            self.transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")  # type: ignore[attr-defined]
            return
        body = page(int(host.split(".")[1][4:]), number, self.sites, self.pages)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)  # type: ignore[attr-defined]
        self.answers.counts[host + path] += 1
        self.answers.last = time.monotonic()


async def serve(port: int, sites: int, pages: int, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    answers = Answers()
    for site in range(sites):
        await loop.create_server(lambda: Connection(answers, sites, pages, seconds), address(site), port, backlog=512)
    print("ready", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(answers.line(float(line)), flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    asyncio.run(serve(int(given[0]), int(given[1]), int(given[2]), float(given[3])))
