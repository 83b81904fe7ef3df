"""Whether a host can be reached, without a request."""

import asyncio
import socket

import pytest

from tests import web
from windrow.fetch import reach


def connects(place: str, port: int = 80) -> bool:
    return asyncio.run(reach.connects(place, port, 5.0))


def test_a_server_that_listens_is_reached_and_gets_no_request() -> None:
    with web.serve() as site:
        assert connects(f"127.0.0.1:{site.port}")
        assert connects("127.0.0.1", site.port)
        assert not site.log


def test_a_port_without_a_server_is_not_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert not connects("127.0.0.1", port)


def test_what_is_no_address_is_not_reached() -> None:
    assert not connects("") and not connects("a.test")


def test_a_route_is_an_address_that_the_kernel_would_send_to(monkeypatch: pytest.MonkeyPatch) -> None:
    refused, loopback = ("255.255.255.255", socket.AF_INET), ("127.0.0.1", socket.AF_INET)
    monkeypatch.setattr(reach, "_NOWHERE", (refused,))
    assert not reach.routed()
    monkeypatch.setattr(reach, "_NOWHERE", (refused, loopback))
    assert reach.routed()
