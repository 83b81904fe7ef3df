"""The endpoint answers on a port and on a socket, joins processes, and is disturbed by nobody."""

import asyncio
import platform
import socket
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from windrow import metrics
from windrow.config import ConfigError
from windrow.metrics import Family, endpoint


async def one() -> list[Family]:
    return [metrics.single("windrow_frames_total", 3)]


def get(url: str, accept: str = "", method: str = "GET") -> tuple[int, str, bytes]:
    request = urllib.request.Request(url, headers={"Accept": accept} if accept else {}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read()


def asked(collect: endpoint.Collect, ask: Callable[[str], Any]) -> Any:
    """Serve, and call `ask` with the URL in a thread."""

    async def main() -> Any:
        async with endpoint.serve("127.0.0.1:0", collect) as url:
            return await asyncio.to_thread(ask, url)

    return asyncio.run(main())


def test_the_format_is_that_which_the_client_prefers() -> None:
    status, kind, body = asked(one, get)
    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8") and b"# EOF" not in body
    prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
    prometheus += "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
    status, kind, body = asked(one, lambda url: get(url, prometheus))
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8" and body.endswith(b"# EOF\n")


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", False),
        ("*/*", False),
        ("text/plain", False),
        ("application/openmetrics-text", True),
        ("text/plain;q=0.5, application/openmetrics-text; version=1.0.0", True),
        ("text/plain, application/openmetrics-text;q=0.2", False),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;version=2.0.0", False),
        ("application/openmetrics-text;q=high", False),
    ],
)
def test_openmetrics_is_chosen_by_the_weights_of_accept(accept: str, wanted: bool) -> None:
    assert endpoint.prefers_open(accept) is wanted


def test_other_paths_methods_and_errors_have_a_status_of_their_own() -> None:
    async def broken() -> list[Family]:
        raise RuntimeError("private")

    assert asked(one, lambda url: get(url.replace("/metrics", "/healthz"))) == (200, "text/plain", b"ok\n")
    assert asked(one, lambda url: get(url.replace("/metrics", "/")))[0] == 404
    assert asked(one, lambda url: get(url, method="POST"))[0] == 405
    assert asked(one, lambda url: get(url, method="HEAD"))[::2] == (200, b"")
    status, _, body = asked(broken, get)
    assert status == 503 and b"private" not in body


def test_clients_that_send_nothing_or_too_much_do_not_keep_others_from_an_answer() -> None:
    def ask(url: str) -> list[int]:
        host, port = url.removeprefix("http://").removesuffix("/metrics").split(":")
        silent = [socket.create_connection((host, int(port))) for _ in range(10)]
        with socket.create_connection((host, int(port))) as noisy:
            noisy.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n")
            noisy.settimeout(10)
            with pytest.raises(ConnectionError):
                while noisy.recv(1 << 16):
                    pass
                raise ConnectionError("closed")
        found = [get(url)[0] for _ in range(3)]
        for one in silent:
            one.close()
        return found

    assert asked(one, ask) == [200, 200, 200]


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("9464", "127.0.0.1", 9464),
        ("0.0.0.0:80", "0.0.0.0", 80),
        ("[::1]:9", "::1", 9),
        ("localhost:1", "localhost", 1),
    ],
)
def test_an_address_is_a_port_with_or_without_a_host(address: str, host: str, port: int) -> None:
    assert endpoint.place(address) == endpoint.MetricsPlace(host=host, port=port)


@pytest.mark.parametrize("address", ["x", "", ":9464", "host:", "host:99999", "70000", "１２", "host:-1"])
def test_an_address_that_cannot_be_one_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="is no address; write PORT or HOST:PORT"):
        endpoint.place(address)


def test_the_url_of_every_address_has_the_name_of_the_machine() -> None:
    async def main() -> str:
        async with endpoint.serve("0.0.0.0:0", one) as url:
            return url

    assert asyncio.run(main()).startswith(f"http://{platform.node()}:")


def test_a_port_that_is_taken_is_named() -> None:
    async def main() -> None:
        async with endpoint.serve("0", one) as url:
            port = url.removesuffix("/metrics").rpartition(":")[2]
            with pytest.raises(ConfigError, match=rf"--metrics {port} cannot be served .* choose another port"):
                async with endpoint.serve(port, one):
                    pass

    asyncio.run(main())


def of(shard: str) -> endpoint.Collect:
    async def collect() -> list[Family]:
        return metrics.labelled([metrics.single("windrow_frames_total", 3)], {"crawl": "c", "shard": shard})

    return collect


async def with_sockets(paths: dict[str, endpoint.Collect], then: Callable[[], Awaitable[Any]]) -> Any:
    if not paths:
        return await then()
    (path, collect), *rest = paths.items()
    async with endpoint.serve(path, collect):
        return await with_sockets(dict(rest), then)


def test_connections_that_are_open_at_the_end_leave_no_error_behind() -> None:
    errors: list[dict[str, Any]] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(context))
        begun = asyncio.Event()

        async def hang() -> list[Family]:
            begun.set()
            await asyncio.sleep(60)
            return []

        async with endpoint.serve("0", hang) as url:
            host, port = url.removeprefix("http://").removesuffix("/metrics").split(":")
            silent, asking = [await asyncio.open_connection(host, int(port)) for _ in range(2)]
            asking[1].write(b"GET /metrics HTTP/1.1\r\n\r\n")
            await begun.wait()
        for _, writer in (silent, asking):
            writer.close()

    asyncio.run(main())
    assert errors == []


def test_one_endpoint_joins_all_processes_and_leaves_out_those_that_have_died_or_hang(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hang() -> list[Family]:
        await asyncio.sleep(60)
        return []

    async def main() -> tuple[int, str, bytes]:
        async with endpoint.joint("0", of("own")) as served:
            (option, directory) = served.arguments
            assert option == "--metrics" and directory.endswith("/")
            dead = socket.socket(socket.AF_UNIX)
            dead.bind(f"{directory}dead")
            dead.close()
            Path(directory, "junk").write_text("no socket")
            paths = {f"{directory}1": of("000"), f"{directory}2": of("001"), f"{directory}3": hang}
            answer = await with_sockets(paths, lambda: asyncio.to_thread(get, served.url))
            assert sorted(path.name for path in Path(directory).iterdir()) == ["junk"], "dead sockets are removed"
            return answer  # type: ignore[no-any-return]

    monkeypatch.setattr(endpoint, "_ASKING", 0.3)
    status, _, body = asyncio.run(main())
    assert status == 200
    assert body.decode().splitlines()[2:] == [
        f'windrow_frames_total{{crawl="c",shard="{shard}"}} 3.0' for shard in ("own", "000", "001")
    ]


def test_a_directory_as_address_gets_a_socket_of_this_process(tmp_path: Path) -> None:
    async def main() -> None:
        async with endpoint.serve(f"{tmp_path}/", one) as url:
            (made,) = tmp_path.iterdir()
            assert url == f"unix://{made}"
            assert await endpoint.ask(str(made)) == await one()
        assert list(tmp_path.iterdir()) == []

    asyncio.run(main())


def test_a_file_in_the_place_of_a_socket_is_never_removed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("precious")

    async def main() -> None:
        async with endpoint.serve(str(path), one):
            pass

    with pytest.raises(ConfigError):
        asyncio.run(main())
    assert path.read_text() == "precious"
