"""A client of the user's own: one file, named in crawl.toml. Everything else is a crawl like any other."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth, web
from windrow.config import Config, ConfigError, FetchOptions
from windrow.fetch import clients
from windrow.records import Reason

MEMORY = '''
import time

from windrow.records import Capture, Failure, Reason


class Memory:
    """A client without a network: it answers from a table."""

    def __init__(self, pages):
        self.pages = pages

    async def get(self, request):
        if request.url.endswith("/down"):
            return Failure(request.task, Reason.PROTOCOL, detail="no such wire", time=time.time())
        body = self.pages.get(request.url)
        status = 404 if body is None else 200
        body = (body or "no such page").encode()
        head = f"HTTP/1.1 {status} Text\\r\\nContent-Type: text/html\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n"
        return Capture(
            task=request.task,
            status=status,
            request=f"GET {request.url} HTTP/1.1\\r\\n\\r\\n".encode(),
            head=head.encode(),
            body=body,
            time=round(time.time(), 3),
            seconds=0.0,
            ip="",
            protocol="http/1.1",
            downloaded=len(head) + len(body),
        )

    def close(self):
        pass


def memory(options, inner):
    return Memory(options["pages"])
'''
PAGES = {
    "http://a.test/": '<a href="/1">x</a><a href="http://b.test/">x</a><a href="/gone">x</a><a href="/down">x</a>',
    "http://a.test/1": '<a href="http://b.test/private">x</a>',
    "http://b.test/": "<p>the end",
    "http://b.test/robots.txt": "User-agent: *\nDisallow: /private\n",
}
ENDS = {
    "http://a.test/": "ok",
    "http://a.test/1": "ok",
    "http://a.test/gone": "not-found",
    "http://a.test/down": "protocol",
    "http://b.test/": "ok",
    "http://b.test/private": "robots",
}
TAGGED = """
import msgspec


class Tagged:
    def __init__(self, inner, tag):
        self.inner, self.tag = inner, tag

    async def get(self, request):
        return await self.inner.get(msgspec.structs.replace(request, headers=(("X-Study", self.tag),)))

    def close(self):
        self.inner.close()


def tagged(options, inner):
    return Tagged(inner, options["tag"])
"""


def prepare(directory: Path, code: str, name: str, section: dict[str, Any]) -> Path:
    directory.mkdir()
    (directory / f"{name}.py").write_text(code)
    (directory / "seeds.txt").write_text("http://a.test/\n")
    fetch = f'[fetch]\nclient = "{name}:{name}"\nhosts_file = "hosts"\ndelay = 0\nip_delay = 0\nallow_private = true\n'
    pairs = "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in section.items())
    plain = '[extract]\nextractor = "none"\n[scope]\nhomepages = false\n'
    (directory / "crawl.toml").write_text(f"{fetch}{plain}[plugins.{name}]\n{pairs}")
    return directory


def test_a_client_in_one_file_crawls_a_web_that_is_a_table(tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", MEMORY, "memory", {})
    pages = "".join(f"{json.dumps(url)} = {json.dumps(text)}\n" for url, text in PAGES.items())
    with (directory / "crawl.toml").open("a") as file:
        file.write(f"[plugins.memory.pages]\n{pages}")
    (directory / "hosts").write_text("*.test\t127.0.0.1:1\n")  # where nobody answers
    result = crashing.run(["crawl", str(directory), "--json", "--set", "fetch.backoff=0.01"])
    assert result.code == 0, result.err
    lines = [line for frame in truth.frames(directory) for line in frame[1:]]
    pages_of_log = [line for line in lines if not line.get("kind") and line.get("final", True)]
    assert {line["url"]: line["reason"] for line in pages_of_log} == ENDS
    archived = b"".join(gzip.decompress(path.read_bytes()) for path in directory.glob("warc/*.warc.gz"))
    assert archived.count(b"WARC-Type: response") == sum(reason == "ok" for reason in ENDS.values())
    assert b"\r\n\r\n<p>the end\r\n" in archived


def test_a_client_can_wrap_the_usual_one(tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", TAGGED, "tagged", {"tag": "winds of 2026"})
    with web.serve() as site:
        site.page("a.test", "/", b"<p>a page")
        site.hosts_file(directory / "hosts")
        result = crashing.run(["crawl", str(directory), "--json"])
        assert result.code == 0, result.err
        assert {request.path for request in site.log} == {"/robots.txt", "/"}
        assert all(b"\r\nX-Study: winds of 2026\r\n" in request.raw for request in site.log)


def test_without_an_option_the_client_is_curl() -> None:
    assert [*clients.CLIENTS] == [FetchOptions().client] == ["curl"]
    client = clients.build(Config())
    assert type(client).__module__ == "windrow.fetch.client.session"
    client.close()


def test_a_client_that_does_not_exist_is_refused_before_the_first_request(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"fetch\.client.*curl"):
        clients.build(Config(fetch=FetchOptions(client="firefox")))
    directory = prepare(tmp_path / "crawl", MEMORY, "memory", {})
    (directory / "hosts").write_text("*.test\t127.0.0.1:1\n")
    result = crashing.run(["crawl", str(directory), "--set", "fetch.client=memory:memroy"])
    assert result.code == 2 and "memroy" in result.err, result.err
    assert not truth.frames(directory)


@pytest.mark.parametrize(
    ("line", "message"),
    [("1 / 0", "ZeroDivisionError"), ("return b''", "the client returned bytes, not a Capture or a Failure")],
)
def test_an_error_of_a_client_ends_the_crawl_and_burns_no_url(line: str, message: str, tmp_path: Path) -> None:
    """What is under way goes back: with the error corrected, the crawl continues where it was."""
    get = "    async def get(self, request):\n"
    broken = MEMORY.replace(get, f"{get}        {line}\n")
    directory = prepare(tmp_path / "crawl", broken, "memory", {})
    with (directory / "crawl.toml").open("a") as file:
        file.write(f"[plugins.memory.pages]\n{json.dumps('http://a.test/')} = 'the page'\n")
    (directory / "hosts").write_text("*.test\t127.0.0.1:1\n")
    result = crashing.run(["crawl", str(directory)])
    assert result.code != 0 and message in result.err and "memory.py, line " in result.err
    assert not truth.committed(directory)
    (directory / "memory.py").write_text(MEMORY)
    assert crashing.run(["crawl", str(directory), "--json"]).json["why"] == "done"
    assert truth.committed(directory) == {"http://a.test/": 1}
    assert Reason.OK.value in json.dumps(truth.frames(directory))
