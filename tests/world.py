"""A generated web of known truth, served by a process of its own.

`World(seed=7, pages=60)` makes a link graph; the same arguments always make the same graph. The pages that a crawl must
archive, and those that it must not even request, are computed from the graph. The server runs in its own session, so
that a test can kill a crawler with its whole process group. The server logs each request to a file before it answers.

    with World(seed=7, pages=40, kinds=("absent", "flaky")) as world:
        ...crawl world.seeds with world.hosts...
        assert archived == world.expected.must_have
        assert not world.requested().keys() & world.expected.must_not_request
"""

import asyncio
import dataclasses
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urljoin, urlsplit

from windrow.demo import server
from windrow.demo.server import Reply

ROOT = Path(__file__).resolve().parents[1]
KINDS = (  # special hosts, one of each kind
    "absent",  # robots.txt is 404: everything is allowed
    "broken",  # robots.txt is 500: the host is closed
    "silent",  # robots.txt is never answered: the host is closed
    "moved",  # robots.txt redirects to another host, whose file forbids /private/ on this one
    "throttled",  # the first requests are answered 429 with Retry-After
    "slow",  # every answer is delayed
    "flaky",  # every second page fails once or twice with 503
    "trap",  # an endless calendar and a path that grows
    "mirror",  # an exact copy of the first host
)
QUICK = ("absent", "broken", "moved", "trap", "mirror")  # those that make a crawl wait for nothing
CLOSED = ("broken", "silent")
TDMREP = "/.well-known/tdmrep.json"
RULES = "User-agent: *\nDisallow: /private/\nAllow: /private/open\n"
SESSIONS = re.compile(r";jsessionid=\w+|\?PHPSESSID=\w+")
TRAP = re.compile(r"/(\d+)/(\d+)|/deep(/a/b)+/?")
ALPHABETS = {
    "utf-8": "abcdefghijklmnoprstuvzčěřžåøλπ",
    "iso-8859-1": "abcdefghiklmnoprstuwäöüßéèñ",
    "windows-1251": "абвгдежзиклмнопрстухцчшя",
    "shift_jis": "あいうえおかきくけこさしすせそ",
    "utf-16-le": "abcdeéèêλμν",  # declared as utf-16, with a byte order mark
}

TEXTS = {  # the longer paragraphs of the Declaration of Human Rights
    language: [
        line
        for line in (ROOT / f"src/windrow/demo/texts/{language}.txt").read_text("utf-8").splitlines()
        if len(line) > 90
    ]
    for language in ("cs", "de", "en", "es")
}


class Anchor(NamedTuple):
    href: str
    nofollow: bool = False


@dataclasses.dataclass(slots=True)
class Place:
    """A page or redirect that a host serves."""

    status: int = 200
    text: str = ""
    charset: str = "utf-8"
    anchors: list[Anchor] = dataclasses.field(default_factory=list)
    nofollow: bool = False  # the whole page
    target: str = ""  # of a redirect
    fails: int = 0  # how many requests are answered 503 before the page is served

    def body(self) -> bytes:
        meta = f'<meta charset="{self.charset.removesuffix("-le")}">' + (
            '<meta name="robots" content="nofollow">' if self.nofollow else ""
        )
        links = "".join(
            f'<a href="{a.href}"{" rel=nofollow" if a.nofollow else ""}>{self.text[:8]}</a>\n' for a in self.anchors
        )
        head = f"<head>{meta}<title>{self.text[:20]}</title></head>"
        page = f"<!DOCTYPE html>\n<html>{head}<body><p>{self.text}</p>\n{links}</body></html>\n"
        mark = "\ufeff" if self.charset.startswith("utf-16") else ""
        return (mark + page).encode(self.charset)


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The description of a web to generate."""

    seed: int = 1
    pages: int = 60  # on all well-behaved hosts together
    hosts: int = 4  # well-behaved ones
    kinds: tuple[str, ...] = KINDS
    addresses: int = 2  # loopback addresses that the hosts share
    slow: float = 0.05  # seconds per answer of the slow host
    retry_after: int = 1  # seconds in the Retry-After of the throttled host
    throttles: int = 2  # requests that it answers 429
    # Pages are paragraphs of real languages, and some paragraphs are on several pages; otherwise random letters.
    prose: bool = dataclasses.field(default=False, repr=False)
    # Each well-behaved host has a registered domain of its own; otherwise they share one.
    domains: bool = dataclasses.field(default=False, repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Expected:
    """The outcome of a crawl that obeys robots.txt and nofollow; URLs without session ids and fragments."""

    must_have: frozenset[str]  # archived with status 200, exactly once
    redirects: frozenset[str]  # answered 3xx
    missing: frozenset[str]  # answered 404
    unresolved: frozenset[str]  # on hosts that do not exist
    must_not_request: frozenset[str]  # forbidden, on a closed host, or linked only from such pages or by nofollow


@dataclasses.dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A line of the request log."""

    monotonic: float  # seconds
    wall: float  # epoch seconds
    address: str  # of the server
    host: str
    connection: int
    status: int  # 0: no answer was sent
    path: str

    @property
    def url(self) -> str:
        return canonical(f"http://{self.host}{self.path}")


def canonical(url: str) -> str:
    return SESSIONS.sub("", url).partition("#")[0]


def host_of(url: str) -> str:
    return urlsplit(url).netloc


class Graph:
    """The places of a world by URL, and the truth that follows. The test and the server make it from the same plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = random.Random(repr(plan))
        self.places: dict[str, Place] = {}
        own = "-" if plan.domains else "."
        self.plain = [f"host{i}{own}world{plan.seed}.test" for i in range(plan.hosts)]
        self.kinds = {f"{kind}.other{plan.seed}.test": kind for kind in plan.kinds}
        self.seeds = [f"http://{self.plain[0]}/"]
        for i, host in enumerate(self.plain):
            self._host(host, plan.pages // plan.hosts + (i < plan.pages % plan.hosts))
        for host in self.plain:
            self._peculiar(host)
        for host, kind in self.kinds.items():
            self._other(host, kind)

    @property
    def hosts(self) -> list[str]:
        return [*self.plain, *self.kinds]

    def robots(self, host: str) -> str:
        """Return the rules of robots.txt that hold for this host."""
        return "" if self.kinds.get(host) in ("absent", "trap", "mirror") else RULES

    def allowed(self, url: str) -> bool:
        host, path = host_of(url), urlsplit(url).path
        if self.kinds.get(host) in CLOSED:
            return False
        return not self.robots(host) or not path.startswith("/private/") or path.startswith("/private/open")

    def trapped(self, url: str) -> bool:
        return self.kinds.get(host_of(url)) == "trap" and TRAP.fullmatch(urlsplit(url).path) is not None

    def targets(self, url: str) -> set[str]:
        place = self.places[url]
        if place.target:
            return {urljoin(url, place.target)}
        return {canonical(urljoin(url, a.href)) for a in place.anchors if not a.nofollow and not place.nofollow}

    def expected(self) -> Expected:
        reached = self._reach()
        known = {url for url in reached if url in self.places}
        status = {url: self.places[url].status for url in known}
        lost = {url for url in reached - known if not self.trapped(url)}
        return Expected(
            must_have=frozenset(url for url in known if status[url] == 200),
            redirects=frozenset(url for url in known if 300 <= status[url] < 400),
            missing=frozenset(url for url in lost if host_of(url) in self.hosts),
            unresolved=frozenset(url for url in lost if host_of(url) not in self.hosts),
            must_not_request=frozenset(self.places.keys() - known),
        )

    def _reach(self) -> set[str]:
        reached, queue = set(self.seeds), list(self.seeds)
        while queue:
            url = queue.pop()
            new = (
                {target for target in self.targets(url) if self.allowed(target)} - reached
                if url in self.places
                else set()
            )
            reached |= new
            queue += new
        return reached

    def _host(self, host: str, count: int) -> None:
        """Make pages in a random tree with random cross links, and a link to the host from an earlier host."""
        root = f"http://{host}/"
        earlier = list(self.places)
        if earlier:
            self._link(self.random.choice(earlier), root)
        urls = [root, *(f"http://{host}/{self.random.choice('abc')}/{i}.html" for i in range(1, count))]
        for i, url in enumerate(urls):
            self.places[url] = self._page()
            if i:
                self._link(urls[self.random.randrange(i)], url)
        for url in urls:
            for other in self.random.sample([*earlier, *urls], min(2, len(urls))):
                self._link(url, other)

    def _peculiar(self, host: str) -> None:
        """Add the special cases of an ordinary site: forbidden and unfollowed pages, redirects, errors, copies."""
        root = f"http://{host}/"
        pages = [url for url, place in self.places.items() if host_of(url) == host and place.status == 200]
        links: dict[str, Place] = {
            "private/1.html": self._page(Anchor("/hidden/1.html")),
            "private/open.html": self._page(Anchor("/")),
            "dead-end.html": self._page(Anchor("/beyond.html"), nofollow=True),
            "copy.html": self.places[pages[-1]],  # the same object, so it stays a copy when links are added
            "go/1": Place(301, target="/go/2"),
            "go/2": Place(302, target="3"),
            "go/3": Place(307, target=f"http://{host}/behind.html"),
            "go/private": Place(302, target="/private/2.html"),
            "loop/a": Place(302, target="/loop/b"),
            "loop/b": Place(308, target="/loop/a"),
        }
        unlinked = {
            "hidden/1.html": self._page(),
            "beyond.html": self._page(),
            "private/2.html": self._page(),
            "behind.html": self._page(Anchor("/")),
        }
        for path, place in links.items():
            self.places[root + path] = place
            self._link(self.random.choice(pages), root + path)
        self.places |= {root + path: place for path, place in unlinked.items()}
        self.places[root + "unfollowed.html"] = self._page()
        self.places[pages[0]].anchors += [
            Anchor("/unfollowed.html", nofollow=True),
            Anchor("/gone.html"),
            Anchor("http://nowhere.test/"),
        ]

    def _other(self, host: str, kind: str) -> None:
        first = f"http://{self.plain[0]}/"
        reached = self._reach()
        pages = [
            url
            for url, place in self.places.items()
            if url in reached and host_of(url) in self.plain and place.status == 200
        ]
        self._link(self.random.choice([url for url in pages if not self.places[url].nofollow]), f"http://{host}/")
        if kind == "mirror":
            own = [url for url in self.places if host_of(url) == self.plain[0]]
            self.places |= {url.replace(self.plain[0], host): self.places[url] for url in own}
            return
        paths = ["", "1.html", "2.html", "3.html"]
        for i, path in enumerate(paths):
            fails = i % 2 * (1 + i // 2) if kind == "flaky" else 0
            onward = [Anchor(f"/{paths[i + 1]}")] if i + 1 < len(paths) else [Anchor(first)]
            self.places[f"http://{host}/{path}"] = self._page(*onward, fails=fails)
        if kind == "trap":
            self.places[f"http://{host}/"].anchors += [Anchor("/2026/1"), Anchor("/deep/a/b/")]
        if kind == "moved":
            self.places[f"http://{host}/"].anchors.append(Anchor("/private/1.html"))
            self.places[f"http://{host}/private/1.html"] = self._page()

    def _link(self, source: str, target: str) -> None:
        """Add a link, written in one of the usual forms."""
        path = urlsplit(target).path
        forms = [
            target,
            target.removeprefix("http:"),
            f"{target}#part",
            f"{target};jsessionid={self._token()}",
            f"{target}?PHPSESSID={self._token()}",
        ]
        near = [path, path, f"{path}#top"] if host_of(source) == host_of(target) else []
        self.places[source].anchors.append(Anchor(self.random.choice(near + forms)))

    def _token(self) -> str:
        return f"{self.random.getrandbits(128):032x}"

    def _page(self, *anchors: Anchor, nofollow: bool = False, fails: int = 0) -> Place:
        if self.plan.prose:
            lines = TEXTS[self.random.choice(sorted(TEXTS))]
            text = "</p>\n<p>".join(self.random.sample(lines, self.random.randint(1, 4)))
            return Place(text=text, anchors=list(anchors), nofollow=nofollow, fails=fails)
        charset = self.random.choice(list(ALPHABETS))
        words = (
            "".join(self.random.choices(ALPHABETS[charset], k=self.random.randint(2, 9)))
            for _ in range(self.random.randint(20, 120))
        )
        return Place(text=" ".join(words), charset=charset, anchors=list(anchors), nofollow=nofollow, fails=fails)


class World:
    """A graph and the process that serves it; its options are the fields of `Plan`."""

    def __init__(self, seed: int = 1, pages: int = 60, hosts: int = 4, **options: object) -> None:
        # The dataclass refuses an unknown name.
        self.plan = Plan(seed=seed, pages=pages, hosts=hosts, **options)  # type: ignore[arg-type]
        self.graph = Graph(self.plan)
        self.seeds = self.graph.seeds
        self.expected = self.graph.expected()
        self.port = 0

    @property
    def hosts(self) -> dict[str, str]:
        """Return host -> address:port; each address has several hosts."""
        return {host: f"{_address(i % self.plan.addresses)}:{self.port}" for i, host in enumerate(self.graph.hosts)}

    def __enter__(self) -> Self:
        self._directory = tempfile.TemporaryDirectory(prefix="windrow-world-")
        self.log = Path(self._directory.name) / "requests.tsv"
        command = [sys.executable, "-m", "tests.world", json.dumps(dataclasses.asdict(self.plan)), str(self.log)]
        path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        # A session of its own: killing the crawler's process group does not end it; closing its standard input does.
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.port = int(self._line())
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate(timeout=20)
        self._directory.cleanup()

    def reset(self) -> None:
        """Forget all requests, as if none had arrived."""
        assert self._process.stdin
        self._process.stdin.write(b"reset\n")
        self._process.stdin.flush()
        assert self._line() == b"ok\n"

    def _line(self) -> bytes:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the server of the world did not start; its error is above")
        return line

    def write(self, directory: Path) -> tuple[Path, Path]:
        """Write the seed file and the hosts file for a crawl."""
        seeds, hosts = directory / "seeds.txt", directory / "hosts"
        seeds.write_text("".join(f"{url}\n" for url in self.seeds))
        hosts.write_text("".join(f"{host}\t{address}\n" for host, address in self.hosts.items()))
        return seeds, hosts

    def requests(self) -> list[LoggedRequest]:
        return [_parse(line) for line in self.log.read_text(encoding="latin-1").splitlines()]

    def requested(self) -> Counter[str]:
        """Return how often each page was requested."""
        return Counter(row.url for row in self.requests() if row.path != "/robots.txt")

    def traps(self) -> int:
        """Return how many requests went to a trap."""
        return sum(count for url, count in self.requested().items() if self.graph.trapped(url))

    def gaps(self, by: str = "host") -> dict[str, float]:
        """Return the shortest time between two requests to each host, or address (by="address"), in seconds."""
        times: dict[str, list[float]] = {}
        for row in self.requests():
            times.setdefault(getattr(row, by), []).append(row.monotonic)
        return {name: min(b - a for a, b in itertools.pairwise(row)) for name, row in times.items() if len(row) > 1}


def _address(number: int) -> str:
    return f"127.0.0.{number + 1}"


def _parse(line: str) -> LoggedRequest:
    monotonic, wall, address, host, connection, status, path = line.split("\t")
    return LoggedRequest(
        monotonic=float(monotonic),
        wall=float(wall),
        address=address,
        host=host,
        connection=int(connection),
        status=int(status),
        path=path,
    )


class Answers:
    """The answers of the server: the graph, and how often each place was requested."""

    def __init__(self, graph: Graph, log: str) -> None:
        self._graph = graph
        self._count: Counter[str] = Counter()
        self._log = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_TRUNC)

    def reset(self) -> None:
        self._count.clear()
        os.ftruncate(self._log, 0)

    def handle(self, request: server.DemoRequest) -> Reply | None:
        reply = self._reply(request)
        row = (
            f"{request.monotonic:.6f}",
            f"{request.wall:.6f}",
            request.address,
            request.host,
            request.connection,
            reply.status if reply else 0,
        )
        os.write(self._log, "\t".join([*map(str, row), f"{request.path}\n"]).encode("latin-1"))
        return reply

    def _reply(self, request: server.DemoRequest) -> Reply | None:
        kind = self._graph.kinds.get(request.host, "")
        if request.path == "/robots.txt":
            return self._robots(request.host, kind)
        if request.path == "/robots-for-another.txt":
            return _text(RULES)
        if request.path == TDMREP and self._graph.plan.prose:
            return self._reserved(request.host)
        if kind == "throttled" and self._count[kind] < self._graph.plan.throttles:
            self._count[kind] += 1
            return Reply(429, (("Retry-After", str(self._graph.plan.retry_after)),))
        reply = self._page(canonical(f"http://{request.host}{request.path}"))
        return reply._replace(delay=self._graph.plan.slow) if kind == "slow" else reply

    def _robots(self, host: str, kind: str) -> Reply | None:
        match kind:
            case "absent":
                return Reply(404)
            case "broken":
                return Reply(500)
            case "silent":
                return None
            case "moved":
                return Reply(301, (("Location", f"http://{self._graph.plain[0]}/robots-for-another.txt"),))
        return _text(self._graph.robots(host))

    def _reserved(self, host: str) -> Reply:
        """Answer tdmrep.json: the first host has a reservation, and the other hosts redirect to it."""
        first = self._graph.plain[0]
        return (
            _text('[{"location": "/", "tdm-reservation": 1}]')
            if host == first
            else Reply(302, (("Location", f"http://{first}{TDMREP}"),))
        )

    def _page(self, url: str) -> Reply:
        place = self._graph.places.get(url)
        self._count[url] += 1
        if place and self._count[url] <= place.fails:
            return Reply(503)
        if place and place.target:
            return Reply(place.status, (("Location", place.target),))
        if place:
            return Reply(200, (("Content-Type", "text/html"),), place.body())
        if self._graph.trapped(url):
            return Reply(200, (("Content-Type", "text/html"),), _trap(urlsplit(url).path))
        return Reply(404, (("Content-Type", "text/html"),), b"<p>Nothing here.</p>")


def _trap(path: str) -> bytes:
    match = TRAP.fullmatch(path)
    assert match
    if match[1] is None:
        return f'<p>Deeper and deeper.</p><a href="{path.rstrip("/")}/a/b/">on</a>'.encode()
    year, month = int(match[1]) + int(match[2]) // 12, int(match[2]) % 12 + 1
    return f'<p>Month {match[2]} of {match[1]}: nothing.</p><a href="/{year}/{month}">next month</a>'.encode()


def _text(rules: str) -> Reply:
    return Reply(200, (("Content-Type", "text/plain"),), rules.encode())


async def _serve(plan: Plan, log: str) -> None:
    answers = Answers(Graph(plan), log)
    listening = server.Server(answers.handle)
    print(await listening.start([_address(i) for i in range(plan.addresses)]), flush=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async for _ in reader:  # each line is a request to reset; the end of the input ends the server
        answers.reset()
        print("ok", flush=True)
    listening.close()


def _main(arguments: list[str]) -> None:
    options = json.loads(arguments[0])
    asyncio.run(_serve(Plan(**{**options, "kinds": tuple(options["kinds"])}), arguments[1]))


if __name__ == "__main__":
    _main(sys.argv[1:])
