"""Cookies from a file, and more fields of the request header: who gets them, and who never sees them."""

from pathlib import Path

import pytest

from tests import web
from tests.fetch.client.support import CRAWLER, captured, fetch, task, use
from windrow import config
from windrow.fetch.client import Client, request
from windrow.fetch.cookies import Cookies
from windrow.records import Capture, Request

FILE = """# Netscape HTTP Cookie File
.a.test\tTRUE\t/\tFALSE\t0\tall\t1
a.test\tFALSE\t/\tFALSE\t2000000000\thost\t2
#HttpOnly_.a.test\tTRUE\t/deep\tFALSE\t2000000000\tdeep\t3=4
.a.test\tTRUE\t/\tTRUE\t2000000000\tsecure\t5
.a.test\tTRUE\t/\tFALSE\t1000000000\told\t6
.b.test\tTRUE\t/\tFALSE\t2000000000\tother\t
"""
NOW = 1_800_000_000.0


@pytest.fixture
def cookies(tmp_path: Path) -> Cookies:
    (tmp_path / "cookies.txt").write_text(FILE)
    return Cookies(fetch(cookies_file=str(tmp_path / "cookies.txt")))


SENT = {
    "http://a.test/": "all=1; host=2",
    "https://a.test/": "all=1; host=2; secure=5",
    "http://a.test/deep": "deep=3=4; all=1; host=2",
    "http://a.test/deep/er?x": "deep=3=4; all=1; host=2",
    "http://a.test/deep?x": "deep=3=4; all=1; host=2",
    "http://a.test/deeper": "all=1; host=2",
    "http://www.a.test/": "all=1",
    "http://nota.test/": "",
    "http://test/": "",
    "http://b.test/": "other=",
}


@pytest.mark.parametrize("url", SENT)
def test_a_cookie_goes_to_its_hosts_and_paths_until_it_expires(cookies: Cookies, url: str) -> None:
    scheme, _, host, path = url.split("/", 3)
    assert cookies.header(scheme.rstrip(":"), host, "/" + path, NOW) == SENT[url]


def test_a_cookie_that_never_expires_or_has_expired(cookies: Cookies) -> None:
    assert cookies.header("http", "a.test", "/", 900_000_000.0) == "all=1; host=2; old=6"
    assert cookies.header("http", "a.test", "/", 3_000_000_000.0) == "all=1"


FAULTS = [
    "a.test TRUE / FALSE 0 secret 1",
    "a.test\tYES\t/\tFALSE\t0\tsecret\t1",
    "a.test\tTRUE\t/\tFALSE\tx\tsecret\t1",
]


@pytest.mark.parametrize("line", [*FAULTS, "\tTRUE\t/\tFALSE\t0\tsecret\t1", "a.test\tTRUE\tx\tFALSE\t0\tsecret\t1"])
def test_a_line_that_is_no_cookie_is_named_and_not_shown(tmp_path: Path, line: str) -> None:
    (tmp_path / "cookies.txt").write_text(f"# one\n{line}\n")
    with pytest.raises(config.ConfigError, match=r"cookies.txt, line 2: not a cookie; write seven columns") as caught:
        Cookies(fetch(cookies_file=str(tmp_path / "cookies.txt")))
    assert "secret" not in str(caught.value)


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(config.ConfigError, match=r"fetch.cookies_file: cannot read .*nothing"):
        Cookies(fetch(cookies_file=str(tmp_path / "nothing")))


def test_the_server_gets_the_cookie_and_the_archive_does_not(tmp_path: Path) -> None:
    (tmp_path / "cookies.txt").write_text("a.test\tFALSE\t/\tFALSE\t0\tid\ttop-secret\n")
    with web.serve() as site:
        site.page("a.test", "/")
        options = fetch(cookies_file=str(tmp_path / "cookies.txt"))
        answer = captured("http://a.test/", site.address, options)
        (got,) = site.requests("a.test")
        captured("http://b.test/", site.address, options)
        (other,) = site.requests("b.test")
    assert b"\r\nCookie: id=top-secret\r\n" in got.raw
    assert answer.request == got.raw.replace(b"id=top-secret", b"withheld")
    assert b"ookie" not in other.raw
    assert "top-secret" not in config.dump(config.Config(fetch=options))


def test_a_cookie_is_sent_when_headers_are_read_leniently(tmp_path: Path) -> None:
    (tmp_path / "cookies.txt").write_text("a.test\tFALSE\t/\tFALSE\t0\tid\ttop-secret\n")

    async def job(one: Client) -> None:
        await one.get(Request(task("http://a.test/bad/header-no-colon"), site.address))
        answer = await one.get(Request(task("http://a.test/bad/header-no-colon"), site.address))
        assert isinstance(answer, Capture)
        assert b"Cookie: id=top-secret\r\n" in site.log[-1].raw
        assert answer.request == site.log[-1].raw.replace(b"id=top-secret", b"withheld")

    with web.serve() as site:
        use(job, fetch(cookies_file=str(tmp_path / "cookies.txt")))


def test_more_header_fields_are_sent_and_archived(tmp_path: Path) -> None:
    options = config.make(['fetch.headers=["DNT: 1", "X-Research:  corpus "]'], tmp_path).fetch
    assert request.fields(options, CRAWLER)[-2:] == ["DNT: 1", "X-Research: corpus"]
    with web.serve() as site:
        answer = captured("http://a.test/", site.address, fetch(headers=options.headers))
        assert answer.request == site.log[0].raw
    assert b"\r\nDNT: 1\r\nX-Research: corpus\r\n\r\n" in answer.request


REFUSED = {
    "Host: a": "Windrow itself writes",
    "Connection: close": "Windrow itself writes",
    "Accept-Encoding: br": "Windrow itself writes",
    "If-None-Match: x": "Windrow itself writes",
    "Proxy-Connection: x": "Windrow itself writes",
    "Accept-Language: cs": "fetch.accept_language",
    "user-agent: x": "identity.user_agent",
    "Cookie: a=b": "fetch.cookies_file",
    "Authorization: Basic x": "a secret",
    "no colon": "not a header field",
    "Na me: x": "not a header field",
    "X:": "not a header field",
    "X: é": "not a header field",
}


@pytest.mark.parametrize("field", REFUSED)
def test_a_header_field_that_cannot_be_added_is_refused(field: str, tmp_path: Path) -> None:
    with pytest.raises(config.ConfigError, match=REFUSED[field]):
        config.make([f'fetch.headers=["{field}"]'], tmp_path)
