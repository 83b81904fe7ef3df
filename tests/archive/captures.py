"""Captures for tests: one with a few parameters, and a strategy for any capture."""

from pathlib import Path

from hypothesis import strategies as st

from windrow import urls
from windrow.archive import Writer
from windrow.config import ArchiveOptions
from windrow.records import Capture, Kind, Place, Task, Url

INFO = {
    "software": "windrow/0",
    "operator": "Jürgen Müller",
    "options": '[fetch]\ndelay = 5.0\n\n[identity]\nname = "windrow"',
}


def url(text: str) -> Url:
    parsed = urls.parse(text)
    assert parsed is not None
    return parsed


def head(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d Fine\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % (status, len(body))


def capture(
    text: str = "http://example.org/", body: bytes = b"<html>hello</html>", status: int = 200, file: str = ""
) -> Capture:
    """Return a capture of a page, or of the well-known file of this name."""
    request = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"
    kind = Kind.FILE if file else Kind.PAGE
    task = Task(url(text), kind, file=file, via="http://example.org/from", depth=2)
    return Capture(
        task, status, request, head(status, body), body, 1763200000.123, 0.258, "192.0.2.7", "http/1.1", downloaded=321
    )


def write(directory: Path, captures: list[Capture], config: ArchiveOptions | None = None) -> list[Place]:
    """Write a crawl directory with these captures, numbered from 1."""
    writer = Writer(directory, config or ArchiveOptions(), "n0", INFO)
    places = [writer.append(writer.compress(one), seq) for seq, one in enumerate(captures, 1)]
    writer.flush()
    writer.sync()
    writer.close()
    return places


def files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*/*.warc.gz"))


_paths = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_.~/", max_size=40)
_hosts = st.sampled_from(
    [
        "example.org",
        "www.example.co.uk",
        "xn--bcher-kva.example",
        "192.0.2.1",
        "[2001:db8::1]:8080",
        "a.b.c.example.com",
    ]
)
_urls = (
    st.builds("{}://{}/{}".format, st.sampled_from(["http", "https"]), _hosts, _paths)
    .map(urls.parse)
    .filter(lambda found: found is not None)
)
_small = st.integers(0, 1 << 20)
_kinds = st.sampled_from([(Kind.PAGE, ""), (Kind.SESSION_REDIRECT, ""), (Kind.FILE, "robots"), (Kind.FILE, "soft404")])
_tasks = st.builds(
    lambda kind, **fields: Task(kind=kind[0], file=kind[1], **fields),
    _kinds,
    url=_urls,
    priority=st.integers(0, 255),
    depth=_small,
    distance=_small,
    redirects=st.integers(0, 10),
    via=st.one_of(st.just(""), _urls.map(lambda found: found.text if found else "")),
    attempt=st.integers(0, 9),
)
_lines = st.lists(st.binary(max_size=30), max_size=5).map(lambda parts: b"\r\n".join([*parts, b""]))
_heads = st.one_of(
    st.builds(lambda status, lines: b"HTTP/1.1 %d OK\r\n" % status + lines + b"\r\n", st.integers(100, 599), _lines),
    st.binary(max_size=60),
    st.just(b"HTTP/1.0 200\r\n\r\n"),
    st.just(b"HTTP/1.1 200 OK\nServer: old\n\nX: \r\n\r\n"),
)
_milliseconds = st.integers(0, 4_000_000_000_000).map(lambda number: number / 1000)
any_capture = st.builds(
    Capture,
    _tasks,
    st.one_of(st.sampled_from([200, 204, 301, 404, 500]), st.integers(0, 999)),
    st.binary(max_size=200),
    _heads,
    st.one_of(st.binary(max_size=3000), st.just(b"\r\n\r\nWARC/1.1\r\n\r\n"), st.integers(0, 400_000).map(bytes)),
    _milliseconds,
    st.integers(0, 10_000_000).map(lambda number: number / 1000),
    st.sampled_from(["192.0.2.7", "2001:db8::7", ""]),
    st.sampled_from(["http/1.0", "http/1.1", "h2"]),
    st.sampled_from(["", "tls/1.3 TLS_AES_256_GCM_SHA384", "tls/1.2 ECDHE-RSA-AES128-GCM-SHA256"]),
    st.sampled_from(["", "length", "time", "disconnect"]),
    st.integers(0, 1 << 40),
    st.booleans(),
)
