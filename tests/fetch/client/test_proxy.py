"""Requests through a proxy: HTTP, HTTPS by CONNECT, and SOCKS5 with names resolved by the proxy."""

import ssl
from pathlib import Path

import pytest

from tests import proxy, web
from tests.fetch.client.support import CRAWLER, fetch, get
from windrow import config
from windrow.fetch.client import Client
from windrow.records import Capture, Failure, Reason

ADDRESS = "a.test@proxy"  # as the resolver gives it


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_a_page_comes_through_the_proxy(site: web.Site, log: list[web.Request], scheme: str) -> None:
    with proxy.serve(site.port) as through:
        answer = get("http://a.test/x?y", ADDRESS, fetch(proxy=f"{scheme}://127.0.0.1:{through.port}"))
    assert isinstance(answer, Capture), answer
    assert through.log == [{"http": "GET http://a.test/x?y", "socks5h": "SOCKS a.test:80"}[scheme]]
    assert answer.request == log[-1].raw  # nothing of the proxy is in it
    assert answer.ip == ""
    assert b"X-Proxy" not in answer.head


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_the_proxy_gets_user_and_password_from_a_file(
    site: web.Site, log: list[web.Request], tmp_path: Path, scheme: str
) -> None:
    (tmp_path / "login").write_text("anna:s3cret:x\n")
    site.page("a.test", "/")
    with proxy.serve(site.port, login="anna:s3cret:x") as through:
        options = {"proxy": f"{scheme}://127.0.0.1:{through.port}", "proxy_login_file": str(tmp_path / "login")}
        answer = get("http://a.test/", ADDRESS, fetch(**options))
        assert isinstance(answer, Capture) and answer.status == 200, answer
        assert b"s3cret" not in answer.request + answer.head
        assert "s3cret" not in config.dump(config.Config(fetch=fetch(**options)))
        refused = get("http://a.test/", ADDRESS, fetch(proxy=options["proxy"]))
    assert isinstance(refused, Failure) and refused.reason is Reason.CONNECT


def test_https_goes_through_a_tunnel(secure: tuple[web.Site, Path]) -> None:
    site, _ = secure
    site.page("a.test", "/")
    with proxy.serve(site.port) as through:
        options = fetch(proxy=f"http://127.0.0.1:{through.port}", verify_tls=False)
        answer = get("https://a.test/", ADDRESS, options)
    assert isinstance(answer, Capture) and answer.status == 200, answer
    assert through.log == ["CONNECT a.test:443"]
    assert answer.request == site.log[-1].raw
    assert b"X-Proxy" not in answer.head and answer.cipher.startswith("tls/")


def test_the_connection_to_a_proxy_may_be_encrypted(site: web.Site, secure: tuple[web.Site, Path]) -> None:
    certificate = secure[1]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.parent / "key.pem")
    site.page("a.test", "/")
    with proxy.serve(site.port, tls=context) as through:
        place = f"https://127.0.0.1:{through.port}"
        answer = get("http://a.test/", ADDRESS, fetch(proxy=place, verify_tls=False))
        assert isinstance(answer, Capture) and answer.status == 200, answer
        assert through.log == ["GET http://a.test/"]
        refused = get("http://a.test/", ADDRESS, fetch(proxy=place))
        assert isinstance(refused, Failure) and refused.reason is Reason.TLS, refused


def test_a_proxy_that_does_not_answer_is_a_failed_connection() -> None:
    answer = get("http://a.test/", ADDRESS, fetch(proxy="http://127.0.0.1:9"))
    assert isinstance(answer, Failure) and answer.reason is Reason.CONNECT


def test_a_proxy_needs_a_contact_and_no_hosts_file(tmp_path: Path) -> None:
    with pytest.raises(config.ConfigError, match="set contact"):
        Client(fetch(proxy="http://127.0.0.1:9"), config.IdentityOptions())
    with pytest.raises(config.ConfigError, match="hosts_file"):
        Client(fetch(proxy="http://127.0.0.1:9", hosts_file="hosts"), CRAWLER)


@pytest.mark.parametrize("text", ["127.0.0.1:3128", "http://anna:secret@127.0.0.1:3128", "socks5://h:1", "ftp://h"])
def test_a_proxy_with_a_password_or_another_scheme_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(config.ConfigError, match="proxy_login_file"):
        config.make([f"fetch.proxy={text}"], tmp_path)


@pytest.mark.parametrize("text", ["", "anna", "a:b\nc:d"])
def test_a_login_that_cannot_be_used_is_refused_without_showing_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "login").write_text(text)
    with pytest.raises(config.ConfigError, match="user:password") as caught:
        get("http://a.test/", ADDRESS, fetch(proxy="http://127.0.0.1:9", proxy_login_file=str(tmp_path / "login")))
    assert "anna" not in str(caught.value) and "c:d" not in str(caught.value)
