"""One exchange: allowed addresses, limits of size and time, sockets and TLS."""

import errno
import re
import socket
import threading
import types
from pathlib import Path

import pytest

from tests import web
from tests.fetch.client.support import captured, failed, fetch, get, task, use
from windrow import config
from windrow.fetch import address
from windrow.fetch.client import Client, exchange
from windrow.records import Capture, Failure, Reason, Request


@pytest.mark.parametrize(
    "place", ["127.0.0.1:{port}", "169.254.169.254", "10.0.0.1", "::ffff:127.0.0.1", "0.0.0.0:{port}", "", "localhost"]
)
def test_the_client_never_connects_to_a_forbidden_address(site: web.Site, log: list[web.Request], place: str) -> None:
    answer = failed("http://a.test/", place.format(port=site.port), fetch(allow_private=False))
    assert answer.reason is Reason.BLOCKED_ADDRESS
    assert log == []


def test_without_a_contact_the_client_connects_only_to_loopback(site: web.Site) -> None:
    anonymous = config.IdentityOptions()
    assert isinstance(get("http://a.test/", site.address, fetch(), anonymous), Capture)
    assert failed("http://a.test/", "198.51.100.1", fetch(), anonymous).reason is Reason.BLOCKED_ADDRESS
    assert (
        failed("http://a.test/", site.address, fetch(allow_private=False), anonymous).reason is Reason.BLOCKED_ADDRESS
    )


def test_the_address_is_checked_again_when_the_socket_is_opened(
    site: web.Site, log: list[web.Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    def allowed(ip: str, private: bool, loopback_only: bool) -> bool:
        checked.append(ip)
        return len(checked) == 1

    monkeypatch.setattr(address, "allowed", allowed)
    assert failed("http://a.test/", site.address).reason is Reason.BLOCKED_ADDRESS
    assert checked == ["127.0.0.1", "127.0.0.1"]
    assert log == []


@pytest.mark.parametrize("path", ["endless", "endless-chunks", "big?bytes=200001"])
def test_a_long_body_is_cut_at_the_limit(site: web.Site, path: str) -> None:
    answer = captured(f"http://a.test/bad/{path}", site.address, fetch(max_bytes=200_000))
    assert (len(answer.body), answer.truncated) == (200_000, "length")


def test_a_body_as_long_as_the_limit_is_whole(site: web.Site) -> None:
    answer = captured("http://a.test/bad/big?bytes=200000", site.address, fetch(max_bytes=200_000))
    assert (len(answer.body), answer.truncated) == (200_000, "")


def test_a_call_may_set_its_own_limit_of_the_body(site: web.Site) -> None:
    async def job(one: Client) -> None:
        answer = await one.get(Request(task("http://a.test/bad/big?bytes=600000"), site.address, limit=512_000))
        assert isinstance(answer, Capture)
        assert (len(answer.body), answer.truncated) == (512_000, "length")

    use(job, fetch(max_bytes=1000))


def test_a_server_slower_than_the_minimum_rate_is_cut_off(site: web.Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "RATE_WINDOW", 0.2)
    answer = captured(
        "http://a.test/bad/drip-body", site.address, fetch(header_timeout=1.0, timeout=30.0, min_rate=1000)
    )
    assert (answer.truncated, set(answer.body)) == ("time", {ord("x")})


def test_a_server_that_is_fast_enough_is_not_cut_off(site: web.Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "RATE_WINDOW", 0.05)
    answer = captured("http://a.test/bad/drip-body", site.address, fetch(header_timeout=0.4, timeout=0.4, min_rate=1))
    assert answer.truncated == "time" and len(answer.body) > 5


def test_a_socket_that_cannot_be_opened_is_a_failure_to_connect(
    site: web.Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("windrow.fetch.client.exchange.socket", types.SimpleNamespace(socket=full))
    answer = failed("http://a.test/", site.address)
    assert (answer.reason, answer.detail) == (Reason.CONNECT, "Too many open files")


def test_a_port_without_a_listener_is_a_failure_to_connect() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        answer = failed("http://a.test/", f"127.0.0.1:{free.getsockname()[1]}")
    assert answer.reason is Reason.CONNECT


def test_a_connection_that_the_server_never_accepts_times_out() -> None:
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


def test_a_certificate_without_a_known_authority_is_refused(secure: tuple[web.Site, Path]) -> None:
    site, _ = secure
    site.log.clear()
    answer = failed("https://a.site.test/", site.address)
    assert answer.reason is Reason.TLS and "certificate" in answer.detail
    assert site.log == []


def test_a_bad_certificate_is_accepted_only_by_option(secure: tuple[web.Site, Path]) -> None:
    site, _ = secure
    answer = captured("https://elsewhere.test/", site.address, fetch(verify_tls=False))
    assert answer.status == 404 and site.log[-1].host == "elsewhere.test"


def test_every_capture_names_the_cipher_of_its_connection(
    secure: tuple[web.Site, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    site, certificate = secure
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    async def job(one: Client) -> None:
        for _ in range(2):
            answer = await one.get(Request(task("https://a.site.test/"), site.address))
            assert isinstance(answer, Capture)
            assert re.fullmatch(r"tls/1\.[23] [A-Z0-9_-]+", answer.cipher)
            assert answer.request == site.log[-1].raw
        other = await one.get(Request(task("https://other.test/"), site.address))
        assert isinstance(other, Failure) and other.reason is Reason.TLS

    use(job)


def test_plain_http_on_a_tls_port_is_a_tls_failure() -> None:
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
