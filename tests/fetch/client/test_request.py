"""The request: header fields, path and URL."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import web
from tests.fetch.client.support import CRAWLER, captured, fetch, task, use
from windrow import config
from windrow.fetch.client import Client, request
from windrow.records import Capture, Failure, Reason, Request, Task, Url


def test_the_request_is_kept_as_it_was_sent(site: web.Site, log: list[web.Request]) -> None:
    answer = captured("http://a.test/some/path?and=query", site.address, fetch(accept_language="cs,sk;q=0.5"))
    assert answer.request == log[-1].raw
    assert answer.request.startswith(
        b"GET /some/path?and=query HTTP/1.1\r\nHost: a.test\r\nUser-Agent: Mozilla/5.0 (compatible; testbot/"
    )
    assert b"\r\nAccept-Language: cs,sk;q=0.5\r\n" in answer.request
    assert b"\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n" in answer.request


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="#\\"), max_size=60))
def test_no_path_is_changed_in_a_request(site: web.Site, path: str) -> None:
    url = Url(f"http://paths.test/{path}", "paths.test", "paths.test", 0)
    found: list[Capture | Failure] = []

    async def job(one: Client) -> None:
        found.append(await one.get(Request(Task(url), site.address)))

    if not path.startswith("bad/"):
        use(job)
        (answer,) = found
        assert isinstance(answer, Capture)
        assert answer.request == site.log[-1].raw
        assert site.log[-1].path == f"/{path}"


def test_the_request_header_identifies_us() -> None:
    by_url = config.IdentityOptions(name="testbot", contact="https://example.org/bot")
    by_mail = config.IdentityOptions(name="testbot", contact="mailto:crawl@example.org")
    assert re.fullmatch(
        r"Mozilla/5\.0 \(compatible; testbot/[0-9.]+; \+https://example\.org/bot\)", request.user_agent(by_url)
    )
    assert not any(line.startswith("From:") for line in request.fields(fetch(), by_url))
    assert "From: crawl@example.org" in request.fields(fetch(), by_mail)
    assert request.user_agent(config.IdentityOptions(user_agent="my own/1.0")) == "my own/1.0"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "naïve"])
def test_a_header_that_cannot_be_sent_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(config.ConfigError, match="User-Agent"):
        Client(fetch(), config.IdentityOptions(user_agent=value))
    with pytest.raises(config.ConfigError, match="Accept-Language"):
        Client(fetch(accept_language=value), CRAWLER)


def test_no_cookie_and_no_credentials_are_sent(site: web.Site, log: list[web.Request]) -> None:
    site.page(
        "cookie.test", "/", b"x", headers=[("Set-Cookie", "id=1; Path=/"), ("WWW-Authenticate", "Basic")], status=401
    )

    async def job(one: Client) -> None:
        for _ in range(2):
            await one.get(Request(task("http://cookie.test/"), site.address))

    use(job)
    names = {line.partition(":")[0] for request in log for line in request.raw.decode().split("\r\n")[1:] if line}
    assert names == {"Host", "User-Agent", "Accept", "Accept-Encoding"}


def test_a_header_of_one_request_reaches_the_server_and_nothing_else_changes(
    site: web.Site, log: list[web.Request]
) -> None:
    etag = ("If-None-Match", '"abc", W/"d e"')
    answers: list[Capture | Failure] = []

    async def job(one: Client) -> None:
        for headers in ((), (etag,), (etag, ("X-Second", "2")), ()):  # the same connection and handle
            answers.append(await one.get(Request(task("http://a.test/"), site.address, headers=headers)))
        one._peers.read_leniently("a.test")
        answers.append(await one.get(Request(task("http://a.test/"), site.address, headers=(etag,))))

    use(job)
    assert [answer.request for answer in answers if isinstance(answer, Capture)] == [each.raw for each in log[-5:]]
    plain, one, two, last, lenient = (each.raw for each in log[-5:])
    line = b'If-None-Match: "abc", W/"d e"\r\n'
    assert one == plain[:-2] + line + b"\r\n"
    assert two == plain[:-2] + line + b"X-Second: 2\r\n\r\n"
    assert last == plain, "the next request of the handle has none of it"
    assert lenient == plain[:-2] + line + b"Connection: close\r\n\r\n"


@pytest.mark.parametrize("header", [("X", "a\r\nX-Evil: 1"), ("X", "a\0"), ("X", "naïve"), ("X", ""), ("X Y", "z")])
def test_a_header_that_cannot_be_sent_is_no_request_and_no_exception(
    site: web.Site, log: list[web.Request], header: tuple[str, str]
) -> None:
    async def job(one: Client) -> None:
        answer = await one.get(Request(task("http://a.test/"), site.address, headers=(header,)))
        assert isinstance(answer, Failure) and answer.reason is Reason.PROTOCOL

    before = len(log)
    use(job)
    assert len(log) == before


def test_a_user_name_in_the_url_is_never_sent(site: web.Site, log: list[web.Request]) -> None:
    async def job(one: Client) -> None:
        await one.get(Request(Task(Url("http://user:secret@a.test/x#part", "a.test", "a.test", 1)), site.address))

    use(job)
    assert log[-1].path == "/x" and b"secret" not in log[-1].raw and b"Authorization" not in log[-1].raw


@pytest.mark.parametrize(
    "text",
    [
        "ftp://a.test/",
        "file:///etc/passwd",
        "http://a.test/a b",
        "http://a.test/\r\nX: y",
        "http:///x",
        "gopher://a.test/",
        "",
    ],
)
def test_other_schemes_and_broken_urls_are_never_requested(site: web.Site, log: list[web.Request], text: str) -> None:
    async def job(one: Client) -> None:
        answer = await one.get(Request(Task(Url(text, "a.test", "a.test", 1)), site.address))
        assert isinstance(answer, Failure) and answer.reason is Reason.PROTOCOL

    use(job)
    assert log == []


def test_proxies_of_the_environment_are_ignored(
    site: web.Site, log: list[web.Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert captured("http://a.test/", site.address).status == 404
    assert log[-1].raw.startswith(b"GET / HTTP/1.1\r\n")
