import asyncio
import errno
import json
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
import types
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import web
from tests.shared import shared
from windrow import config, urls
from windrow.data import Capture, Failure, Kind, Reason, Task, Url
from windrow.fetch import address, client
from windrow.fetch.client import Client

CRAWLER = config.Identity(name="testbot", contact="https://example.org/bot")
QUICK: dict[str, object] = {
    "allow_private": True,
    "header_timeout": 2.0,
    "timeout": 3.0,
}  # much longer than an honest answer takes
WELL_FORMED = re.compile(rb"HTTP/1\.[01] [1-9][0-9][0-9]( [^\0\r\n]*)?\r\n([!-9;-~]+:[^\0\r\n]*\r\n)*\r\n")


@pytest.fixture(scope="module")
def site() -> Iterator[web.Site]:
    web.packed_bomb("gzip")  # not while others wait
    with web.serve() as served:
        yield served


@pytest.fixture
def log(site: web.Site) -> list[web.Request]:
    site.log.clear()
    return site.log


def task(url: str, kind: Kind = Kind.PAGE) -> Task:
    parsed = urls.parse(url)
    assert parsed is not None
    return Task(parsed, kind)


def fetch(**options: object) -> config.Fetch:
    return config.Fetch(**{"allow_private": True, **options})  # type: ignore[arg-type]


def use(
    job: Callable[[Client], Awaitable[None]], options: config.Fetch | None = None, identity: config.Identity = CRAWLER
) -> None:
    async def run() -> None:
        one = Client(options or fetch(), identity)
        try:
            await job(one)
        finally:
            one.close()

    asyncio.run(run())


def get(
    url: str, address: str, options: config.Fetch | None = None, identity: config.Identity = CRAWLER
) -> Capture | Failure:
    found: list[Capture | Failure] = []

    async def job(one: Client) -> None:
        found.append(await one.get(task(url), address))

    use(job, options, identity)
    return found[0]


def captured(url: str, address: str, options: config.Fetch | None = None) -> Capture:
    answer = get(url, address, options)
    assert isinstance(answer, Capture), answer
    return answer


def failed(url: str, address: str, options: config.Fetch | None = None, identity: config.Identity = CRAWLER) -> Failure:
    answer = get(url, address, options, identity)
    assert isinstance(answer, Failure), answer
    return answer


def test_a_page_becomes_a_capture(site: web.Site, log: list[web.Request]) -> None:
    site.page("a.test", "/page?x=1", b"hello", headers=[("X-One", "1")])
    before = time.time()
    answer = captured("http://a.test/page?x=1", site.address)
    assert answer.task == task("http://a.test/page?x=1")
    assert (answer.status, answer.body, answer.ip, answer.protocol) == (200, b"hello", "127.0.0.1", "http/1.1")
    assert answer.head == b"HTTP/1.1 200 Whatever\r\nX-One: 1\r\nContent-Length: 5\r\n\r\n"
    assert (answer.truncated, answer.encoded, answer.cipher) == ("", False, "")
    assert answer.downloaded == len(answer.head) + 5
    assert before - 0.001 <= answer.time <= time.time() and 0 <= answer.seconds <= time.time() - before
    assert round(answer.time, 3) == answer.time and round(answer.seconds, 3) == answer.seconds


def test_the_request_is_kept_as_it_was_sent(site: web.Site, log: list[web.Request]) -> None:
    answer = captured("http://a.test/some/path?and=query", site.address, fetch(accept_language="cs,sk;q=0.5"))
    assert answer.request == log[-1].raw
    assert answer.request.startswith(
        b"GET /some/path?and=query HTTP/1.1\r\nHost: a.test\r\nUser-Agent: Mozilla/5.0 (compatible; testbot/"
    )
    assert b"\r\nAccept-Language: cs,sk;q=0.5\r\n" in answer.request
    assert b"\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n" in answer.request


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="#\\"), max_size=60))
def test_no_path_is_changed_on_the_way(site: web.Site, path: str) -> None:
    url = Url(f"http://paths.test/{path}", "paths.test", "paths.test", 0)
    found: list[Capture | Failure] = []

    async def job(one: Client) -> None:
        found.append(await one.get(Task(url), site.address))

    if not path.startswith("bad/"):
        use(job)
        (answer,) = found
        assert isinstance(answer, Capture)
        assert answer.request == site.log[-1].raw
        assert site.log[-1].path == f"/{path}"


def test_we_say_who_we_are() -> None:
    by_url = config.Identity(name="testbot", contact="https://example.org/bot")
    by_mail = config.Identity(name="testbot", contact="mailto:crawl@example.org")
    assert re.fullmatch(
        r"Mozilla/5\.0 \(compatible; testbot/[0-9.]+; \+https://example\.org/bot\)", client.user_agent(by_url)
    )
    assert not any(line.startswith("From:") for line in client.fields(fetch(), by_url))
    assert "From: crawl@example.org" in client.fields(fetch(), by_mail)
    assert client.user_agent(config.Identity(user_agent="my own/1.0")) == "my own/1.0"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "naïve"])
def test_a_header_that_cannot_be_sent_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(config.ConfigError, match="User-Agent"):
        Client(fetch(), config.Identity(user_agent=value))
    with pytest.raises(config.ConfigError, match="Accept-Language"):
        Client(fetch(accept_language=value), CRAWLER)


def test_nothing_is_sent_that_was_not_asked_for(site: web.Site, log: list[web.Request]) -> None:
    site.page(
        "cookie.test", "/", b"x", headers=[("Set-Cookie", "id=1; Path=/"), ("WWW-Authenticate", "Basic")], status=401
    )

    async def job(one: Client) -> None:
        for _ in range(2):
            await one.get(task("http://cookie.test/"), site.address)

    use(job)
    names = {line.partition(":")[0] for request in log for line in request.raw.decode().split("\r\n")[1:] if line}
    assert names == {"Host", "User-Agent", "Accept", "Accept-Encoding"}


def test_a_user_name_in_the_url_is_never_sent(site: web.Site, log: list[web.Request]) -> None:
    async def job(one: Client) -> None:
        await one.get(Task(Url("http://user:secret@a.test/x#part", "a.test", "a.test", 1)), site.address)

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
def test_other_schemes_and_broken_urls_are_never_asked_for(site: web.Site, log: list[web.Request], text: str) -> None:
    async def job(one: Client) -> None:
        answer = await one.get(Task(Url(text, "a.test", "a.test", 1)), site.address)
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


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_capture_and_not_followed(site: web.Site, log: list[web.Request], code: int) -> None:
    answer = captured(f"http://a.test/bad/redirect?to=/elsewhere&code={code}", site.address)
    assert (answer.status, answer.header("location")) == (code, "/elsewhere")
    assert len(log) == 1


def test_the_given_address_is_called_whatever_the_name_says(site: web.Site, log: list[web.Request]) -> None:
    assert captured("http://no-such-name.invalid/", site.address).ip == "127.0.0.1"
    assert log[-1].raw.startswith(b"GET / HTTP/1.1\r\nHost: no-such-name.invalid\r\n")
    assert captured(f"http://no-such-name.invalid:{site.port}/", "127.0.0.1").ip == "127.0.0.1"
    assert f"\r\nHost: no-such-name.invalid:{site.port}\r\n".encode() in log[-1].raw


def test_ipv6_addresses_are_called() -> None:
    try:
        served = web.serve(["::1"])
        site = served.__enter__()
    except OSError:
        pytest.skip("this machine has no IPv6")
    try:
        assert captured("http://a.test/", f"[::1]:{site.port}").ip == "::1"
        assert captured(f"http://[::1]:{site.port}/", "0:0:0:0:0:0:0:1").ip == "::1"
    finally:
        served.__exit__(None, None, None)


@pytest.mark.parametrize(
    "place", ["127.0.0.1:{port}", "169.254.169.254", "10.0.0.1", "::ffff:127.0.0.1", "0.0.0.0:{port}", "", "localhost"]
)
def test_an_address_that_may_not_be_called_is_not(site: web.Site, log: list[web.Request], place: str) -> None:
    answer = failed("http://a.test/", place.format(port=site.port), fetch(allow_private=False))
    assert answer.reason is Reason.BLOCKED_ADDRESS
    assert log == []


def test_without_a_contact_only_loopback_is_called(site: web.Site) -> None:
    nobody = config.Identity()
    assert isinstance(get("http://a.test/", site.address, fetch(), nobody), Capture)
    assert failed("http://a.test/", "198.51.100.1", fetch(), nobody).reason is Reason.BLOCKED_ADDRESS
    assert failed("http://a.test/", site.address, fetch(allow_private=False), nobody).reason is Reason.BLOCKED_ADDRESS


def test_the_address_is_checked_again_when_the_socket_is_opened(
    site: web.Site, log: list[web.Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def allowed(ip: str, private: bool, loopback_only: bool) -> bool:
        asked.append(ip)
        return len(asked) == 1

    monkeypatch.setattr(address, "allowed", allowed)
    assert failed("http://a.test/", site.address).reason is Reason.BLOCKED_ADDRESS
    assert asked == ["127.0.0.1", "127.0.0.1"]
    assert log == []


# Name of the misbehaviour -> status and truncation of the capture.
KEPT: dict[str, tuple[int, str]] = {
    "no-length": (200, ""),
    "short-body": (200, "disconnect"),
    "long-body": (200, ""),
    "length-huge": (200, ""),
    "length-twice": (200, ""),
    "length-list": (200, ""),
    "chunked": (200, ""),
    "chunk-extension": (200, ""),
    "chunk-trailer": (200, ""),
    "chunk-garbage": (200, "disconnect"),
    "chunk-huge": (200, "disconnect"),
    "chunk-no-end": (200, "disconnect"),
    "chunk-and-length": (200, ""),
    "chunked-twice": (200, ""),
    "header-fold": (200, ""),
    "header-fold-first": (200, ""),
    "header-lf": (200, ""),
    "header-no-name": (200, ""),
    "header-space": (200, ""),
    "header-latin": (200, ""),
    "header-none": (200, ""),
    "status-bare": (200, ""),
    "status-600": (600, ""),
    "status-999": (999, ""),
    "version-1.0": (200, ""),
    "early": (200, ""),
    "upgrade": (101, ""),
    "body-204": (204, ""),
    "body-304": (304, ""),
    "empty": (200, ""),
    "gzip": (200, ""),
    "x-gzip": (200, ""),
    "deflate": (200, ""),
    "deflate-raw": (200, ""),
    "br": (200, ""),
    "zstd": (200, ""),
    "gzip-twice": (200, ""),
    "gzip-thrice": (200, ""),
    "gzip-empty": (200, ""),
    "gzip-cut": (200, ""),
    "gzip-not": (200, ""),
    "gzip-checksum": (200, ""),
    "gzip-chunked": (200, ""),
    "gzip-short": (200, "disconnect"),
    "coding-unknown": (200, ""),
    "coding-charset": (200, ""),
    "poison": (200, ""),
    "poison-late": (200, ""),
    "poison-bytes": (200, ""),
    "poison-chunk": (200, ""),
    "poison-length": (200, ""),
    "poison-204": (204, ""),
    "in-pieces": (200, ""),
    "reset-body": (200, "disconnect"),
    "drip-body": (200, "time"),
    "stall": (200, "time"),
    "slow-close": (200, ""),
    "endless": (200, "length"),
    "endless-chunks": (200, "length"),
    "big": (200, "length"),
    "bomb": (200, "length"),
    "status": (503, ""),
    "redirect": (302, ""),
    "redirect-chain": (302, ""),
    "redirect-grow": (302, ""),
    **dict.fromkeys((name for name in web.RAW if name.startswith("redirect-") and name != "redirect-two"), (302, "")),
}

LOST: dict[str, Reason] = {
    "close": Reason.DISCONNECT,
    "partial-header": Reason.DISCONNECT,
    "garbage": Reason.PROTOCOL,
    "http09": Reason.PROTOCOL,
    "short-empty": Reason.DISCONNECT,
    "length-negative": Reason.PROTOCOL,
    "length-junk": Reason.PROTOCOL,
    "length-empty": Reason.PROTOCOL,
    "length-conflict": Reason.PROTOCOL,
    "length-list-conflict": Reason.PROTOCOL,
    "chunk-garbage-first": Reason.DISCONNECT,
    "chunked-not-last": Reason.PROTOCOL,
    "transfer-unknown": Reason.PROTOCOL,
    "transfer-gzip": Reason.PROTOCOL,
    "header-many": Reason.PROTOCOL,
    "header-long": Reason.PROTOCOL,
    "header-nul": Reason.PROTOCOL,
    "header-cr": Reason.PROTOCOL,
    "header-no-colon": Reason.PROTOCOL,
    "status-short": Reason.PROTOCOL,
    "status-long": Reason.PROTOCOL,
    "status-word": Reason.PROTOCOL,
    "version-7": Reason.PROTOCOL,
    "icy": Reason.PROTOCOL,
    "early-only": Reason.DISCONNECT,
    "redirect-two": Reason.PROTOCOL,
    "silent": Reason.TIMEOUT,
    "reset": Reason.DISCONNECT,
    "drip-header": Reason.TIMEOUT,
    "stall-empty": Reason.TIMEOUT,
    "endless-header": Reason.PROTOCOL,
    "endless-trailer": Reason.PROTOCOL,
    "endless-early": Reason.PROTOCOL,
}


@pytest.fixture(scope="module")
def misbehaved(site: web.Site) -> dict[str, Capture | Failure]:
    """Every misbehaviour at once, each on a host of its own."""
    found: dict[str, Capture | Failure] = {}

    async def job(one: Client) -> None:
        async def ask(name: str) -> None:
            found[name] = await one.get(task(f"http://{name}.bad.test/bad/{name}"), site.address)

        await asyncio.gather(*map(ask, [*web.RAW, *web.BAD]))

    use(job, config.Fetch(**QUICK))  # type: ignore[arg-type]
    return found


def test_every_misbehaviour_has_its_expected_end() -> None:
    assert {*KEPT, *LOST} == {*web.RAW, *web.BAD}
    assert not {*KEPT} & {*LOST}


@pytest.mark.parametrize("name", KEPT)
def test_what_can_be_kept_is_kept_and_marked(misbehaved: dict[str, Capture | Failure], name: str) -> None:
    answer = misbehaved[name]
    assert isinstance(answer, Capture), answer
    assert (answer.status, answer.truncated) == KEPT[name]
    assert WELL_FORMED.fullmatch(answer.head)
    assert answer.headers("content-length") == [str(len(answer.body))]
    assert answer.headers("transfer-encoding") == []
    assert bool(answer.headers("content-encoding")) == answer.encoded


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_has_a_reason_in_one_line(misbehaved: dict[str, Capture | Failure], name: str) -> None:
    answer = misbehaved[name]
    assert isinstance(answer, Failure), answer
    assert answer.reason is LOST[name]
    assert answer.detail and answer.detail.isprintable() and len(answer.detail) <= 200


@pytest.mark.parametrize(
    "name",
    [
        *(
            "no-length",
            "length-huge",
            "length-twice",
            "length-list",
            "chunked",
            "chunk-trailer",
            "chunk-and-length",
            "chunked-twice",
        ),
        *(
            "header-fold",
            "header-fold-first",
            "header-lf",
            "header-no-name",
            "header-space",
            "header-latin",
            "header-none",
            "early",
        ),
        *(
            "gzip",
            "x-gzip",
            "deflate",
            "deflate-raw",
            "br",
            "zstd",
            "gzip-twice",
            "gzip-checksum",
            "gzip-chunked",
            "coding-charset",
        ),
        *(
            "in-pieces",
            "slow-close",
            "poison",
            "poison-late",
            "poison-bytes",
            "poison-chunk",
            "short-body",
            "chunk-garbage",
            "chunk-no-end",
            "stall",
        ),
    ],
)
def test_the_page_itself_arrives(misbehaved: dict[str, Capture | Failure], name: str) -> None:
    answer = misbehaved[name]
    assert isinstance(answer, Capture)
    assert (answer.body, answer.encoded) == (web.PAGE, False)


@pytest.mark.parametrize(
    ("name", "body"), [("gzip-not", web.PAGE), ("gzip-cut", web.PACKED[:-20]), ("coding-unknown", web.PAGE)]
)
def test_a_body_that_cannot_be_decoded_is_kept_as_it_came(
    misbehaved: dict[str, Capture | Failure], name: str, body: bytes
) -> None:
    answer = misbehaved[name]
    assert isinstance(answer, Capture)
    assert (answer.body, answer.encoded) == (body, True)
    assert answer.header("content-encoding") in ("gzip", "compress")


def test_the_wire_form_is_told_in_renamed_fields(misbehaved: dict[str, Capture | Failure]) -> None:
    answer = misbehaved["gzip-chunked"]
    assert isinstance(answer, Capture)
    assert answer.header("x-crawler-transfer-encoding") == "chunked"
    assert answer.header("x-crawler-content-encoding") == "gzip"
    answer = misbehaved["short-body"]
    assert isinstance(answer, Capture)
    assert answer.header("x-crawler-content-length") == "1000"


def test_a_folded_field_is_one_line_and_a_trailer_is_no_header(misbehaved: dict[str, Capture | Failure]) -> None:
    folded, trailed = misbehaved["header-fold"], misbehaved["chunk-trailer"]
    assert isinstance(folded, Capture) and isinstance(trailed, Capture)
    assert folded.header("x-fold") == "first second third"
    assert trailed.header("x-trailer") is None


def test_the_protocol_is_told(misbehaved: dict[str, Capture | Failure]) -> None:
    old = misbehaved["version-1.0"]
    assert isinstance(old, Capture)
    assert (old.protocol, old.head[:9]) == ("http/1.0", b"HTTP/1.0 ")


def test_a_part_of_a_packed_body_is_decoded_as_far_as_it_goes(misbehaved: dict[str, Capture | Failure]) -> None:
    answer = misbehaved["gzip-short"]
    assert isinstance(answer, Capture)
    assert answer.body and (web.PAGE * 50).startswith(answer.body) and not answer.encoded


@pytest.mark.parametrize("path", ["endless", "endless-chunks", "big?bytes=200001"])
def test_a_long_body_is_cut_at_the_limit(site: web.Site, path: str) -> None:
    answer = captured(f"http://a.test/bad/{path}", site.address, fetch(max_bytes=200_000))
    assert (len(answer.body), answer.truncated) == (200_000, "length")


def test_a_body_as_long_as_the_limit_is_whole(site: web.Site) -> None:
    answer = captured("http://a.test/bad/big?bytes=200000", site.address, fetch(max_bytes=200_000))
    assert (len(answer.body), answer.truncated) == (200_000, "")


def test_a_robots_file_is_read_as_far_as_the_rfc_wants(site: web.Site) -> None:
    async def job(one: Client) -> None:
        answer = await one.get(task("http://a.test/bad/big?bytes=600000", Kind.ROBOTS), site.address)
        assert isinstance(answer, Capture)
        assert (len(answer.body), answer.truncated) == (512_000, "length")

    use(job, fetch(max_bytes=1000, robots_max_bytes=512_000))


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_cut_at_the_limit(site: web.Site, coding: str) -> None:
    answer = captured(f"http://a.test/bad/bomb?coding={coding}", site.address, fetch(max_decoded=300_000))
    assert (answer.body, answer.truncated, answer.encoded) == (b"0" * 300_000, "length", False)


def test_a_header_beyond_the_limit_is_refused(site: web.Site) -> None:
    site.page("large.test", "/", b"x", headers=[("X-Large", "x" * 2000)])
    assert captured("http://large.test/", site.address, fetch(max_header=3000)).status == 200
    assert failed("http://large.test/", site.address, fetch(max_header=2000)).reason is Reason.PROTOCOL


def test_256_fields_are_taken_and_one_more_is_refused(site: web.Site) -> None:
    for count, host in ((255, "many.test"), (256, "more.test")):  # and Content-Length
        site.page(host, "/", b"x", headers=[(f"X-{number}", "x") for number in range(count)])
    assert captured("http://many.test/", site.address).status == 200
    assert failed("http://more.test/", site.address).reason is Reason.PROTOCOL


def test_a_slow_server_is_cut_off_by_its_rate(site: web.Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "RATE_WINDOW", 0.2)
    answer = captured(
        "http://a.test/bad/drip-body", site.address, fetch(header_timeout=1.0, timeout=30.0, min_rate=1000)
    )
    assert (answer.truncated, set(answer.body)) == ("time", {ord("x")})


def test_a_server_that_is_fast_enough_is_not_cut_off(site: web.Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "RATE_WINDOW", 0.05)
    answer = captured("http://a.test/bad/drip-body", site.address, fetch(header_timeout=0.4, timeout=0.4, min_rate=1))
    assert answer.truncated == "time" and len(answer.body) > 5


def test_a_socket_that_cannot_be_opened_is_a_failure_to_connect(
    site: web.Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("windrow.fetch.client.socket", types.SimpleNamespace(socket=full))
    answer = failed("http://a.test/", site.address)
    assert (answer.reason, answer.detail) == (Reason.CONNECT, "Too many open files")


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        answer = failed("http://a.test/", f"127.0.0.1:{free.getsockname()[1]}")
    assert answer.reason is Reason.CONNECT


def test_a_connection_that_is_not_taken_up_times_out() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
            answer = failed("http://a.test/", f"127.0.0.1:{port}", fetch(connect_timeout=0.3))
        finally:
            for one in waiting:
                one.close()
    assert answer.reason is Reason.TIMEOUT


def test_a_connection_is_used_again(site: web.Site, log: list[web.Request]) -> None:
    async def job(one: Client) -> None:
        for path in ("one", "two", "three"):
            await one.get(task(f"http://a.test/{path}"), site.address)
        await one.get(task("http://b.test/"), site.address)

    use(job)
    first, second, third, other = (request.connection for request in log)
    assert first == second == third != other


def test_another_address_is_another_connection() -> None:
    with web.serve(["127.0.0.1", "127.0.0.2"]) as site:

        async def job(one: Client) -> None:
            for ip in ("127.0.0.1", "127.0.0.2", "127.0.0.1"):
                answer = await one.get(task("http://a.test/"), f"{ip}:{site.port}")
                assert isinstance(answer, Capture) and answer.ip == ip

        use(job)
        assert site.log[0].connection == site.log[2].connection != site.log[1].connection


@pytest.mark.parametrize("name", [name for name in web.BAD if name.startswith("poison")])
def test_an_answer_nobody_asked_for_is_never_paired_with_the_next_request(
    site: web.Site, log: list[web.Request], name: str
) -> None:
    host = f"{name}.test"
    for number in range(4):
        site.page(host, f"/{number}", b"page %d" % number)

    async def job(one: Client) -> None:
        await one.get(task(f"http://{host}/bad/{name}"), site.address)
        while not log[-1].ended:  # until the server has said all it had to say
            await asyncio.sleep(web.TICK)
        await asyncio.sleep(web.TICK)
        for number in range(4):
            answer = await one.get(task(f"http://{host}/{number}"), site.address)
            assert isinstance(answer, Capture) and answer.body == b"page %d" % number

    use(job)
    assert [request.path for request in log] == [f"/bad/{name}", "/0", "/1", "/2", "/3"]
    assert log[1].connection != log[0].connection


def test_a_server_that_hung_up_in_between_is_called_anew(site: web.Site, log: list[web.Request]) -> None:
    site.raw("gone.test", "/", web.whole(), keep=False)

    async def job(one: Client) -> None:
        for _ in range(3):
            answer = await one.get(task("http://gone.test/"), site.address)
            assert isinstance(answer, Capture) and answer.body == web.PAGE

    use(job)
    assert len({request.connection for request in log}) == 3


def test_a_broken_exchange_closes_its_connection(site: web.Site, log: list[web.Request]) -> None:
    async def job(one: Client) -> None:
        await one.get(task("http://cut.test/bad/endless"), site.address)
        await one.get(task("http://cut.test/"), site.address)

    use(job, fetch(max_bytes=1000))
    assert log[0].connection != log[1].connection


def test_a_cancelled_get_ends_its_exchange_and_the_client_goes_on(site: web.Site, log: list[web.Request]) -> None:
    site.page("a.test", "/", b"still here")

    async def job(one: Client) -> None:
        for name in ("silent", "stall", "drip-header"):
            waiting = asyncio.create_task(one.get(task(f"http://cancel.test/bad/{name}"), site.address))
            while not any(request.path.endswith(name) for request in log):
                await asyncio.sleep(web.TICK)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        answer = await one.get(task("http://a.test/"), site.address)
        assert isinstance(answer, Capture) and answer.body == b"still here"

    use(job)


def test_closing_the_client_cancels_who_waits(site: web.Site) -> None:
    async def run() -> None:
        one = Client(fetch(), CRAWLER)
        waiting = asyncio.create_task(one.get(task("http://a.test/bad/silent"), site.address))
        await asyncio.sleep(web.TICK)
        one.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        one.close()

    asyncio.run(run())


def test_many_hosts_are_asked_at_once(site: web.Site, log: list[web.Request]) -> None:
    for number in range(300):
        site.script(f"h{number}.test", "/", [web.Reply(b"page %d" % number, seconds=0.05)])

    async def job(one: Client) -> None:
        answers = await asyncio.gather(
            *(one.get(task(f"http://h{number}.test/"), site.address) for number in range(300))
        )
        assert [answer.body for answer in answers if isinstance(answer, Capture)] == [
            b"page %d" % number for number in range(300)
        ]

    use(job, fetch(connections=64))
    assert len({request.connection for request in log}) == 300


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[web.Site, Path]]:
    """A site with a certificate for *.site.test that nobody knows, and the certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=site.test", "-addext", "subjectAltName=DNS:site.test,DNS:*.site.test"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    subprocess.run(["openssl", "req", "-x509", *key, *subject, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    with web.serve(tls=context) as site:
        yield site, folder / "certificate.pem"


def test_a_certificate_that_nobody_vouches_for_is_refused(secure: tuple[web.Site, Path]) -> None:
    site, _ = secure
    site.log.clear()
    answer = failed("https://a.site.test/", site.address)
    assert answer.reason is Reason.TLS and "certificate" in answer.detail
    assert site.log == []


def test_a_bad_certificate_is_taken_by_option_alone(secure: tuple[web.Site, Path]) -> None:
    site, _ = secure
    answer = captured("https://elsewhere.test/", site.address, fetch(verify_tls=False))
    assert answer.status == 404 and site.log[-1].host == "elsewhere.test"


def test_the_cipher_is_told_on_every_connection(secure: tuple[web.Site, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    site, certificate = secure
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    async def job(one: Client) -> None:
        for _ in range(2):
            answer = await one.get(task("https://a.site.test/"), site.address)
            assert isinstance(answer, Capture)
            assert re.fullmatch(r"tls/1\.[23] [A-Z0-9_-]+", answer.cipher)
            assert answer.request == site.log[-1].raw
        other = await one.get(task("https://other.test/"), site.address)
        assert isinstance(other, Failure) and other.reason is Reason.TLS

    use(job)


def test_plain_http_where_tls_was_expected() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        server = threading.Thread(target=answer)
        server.start()
        assert failed("https://a.test/", f"127.0.0.1:{listener.getsockname()[1]}").reason is Reason.TLS
        server.join()


def replies() -> list[tuple[str, bytes]]:
    folder = shared("conformance")
    parsing = sorted((folder / "wpt-fetch/h1-parsing/resources").glob("*.asis"))
    lengths = json.loads((folder / "wpt-fetch/content-length/resources/content-lengths.json").read_text())
    cases = json.loads((folder / "llhttp/cases.json").read_text())["cases"]
    return [
        *((file.name, file.read_bytes()) for file in parsing),
        *(
            (case["title"], case["message"].encode("latin-1"))
            for case in cases
            if case["meta"]["type"].startswith("response")
        ),
        *(
            (str(case["input"]), b"HTTP/1.1 200 OK\r\n" + case["input"].encode("latin-1") + b"\r\n\r\n" + b"x" * 42)
            for case in lengths
        ),
    ]


@pytest.mark.parametrize("keep", [False, True])
def test_every_raw_reply_others_collected_ends_in_a_record(site: web.Site, keep: bool) -> None:
    collected = replies()

    async def job(one: Client) -> None:
        async def ask(number: int, raw: bytes) -> None:
            host = f"raw{number}-{int(keep)}.test"
            site.raw(host, "/", raw, keep)
            answer = await one.get(task(f"http://{host}/"), site.address)
            if isinstance(answer, Capture):
                assert WELL_FORMED.fullmatch(answer.head), answer.head
                assert answer.headers("content-length") == [str(len(answer.body))]

        await asyncio.gather(*(ask(number, raw) for number, (_, raw) in enumerate(collected)))

    assert len(collected) > 200
    use(job, config.Fetch(**QUICK))  # type: ignore[arg-type]
