"""Whatever is wrong with a server is said in one sentence, and nothing else happens."""

import asyncio
import contextlib
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.redisserver import needs_redis, serve
from windrow.config import ConfigError
from windrow.nodes.redis.client import RedisClient


def check(url: str) -> str:
    async def run() -> str:
        client = RedisClient(url)
        try:
            return await client.check()
        finally:
            await client.close()

    return asyncio.run(run())


@contextlib.contextmanager
def answering(*answers: bytes) -> Iterator[str]:
    """Run a server that says the same to every command."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="not redis", daemon=True)
    thread.start()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while request := await reader.read(1 << 16):
                for command in re.split(rb"\*\d+\r\n", request)[1:]:  # several may come at once
                    writer.write(answers[-1] if b"INFO" in command and b"SETINFO" not in command else answers[0])
                await writer.drain()
        writer.close()

    async def start() -> asyncio.Server:
        return await asyncio.start_server(connected, "127.0.0.1", 0)

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(asyncio.sleep(0))
        for task in asyncio.all_tasks(loop):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                loop.run_until_complete(task)
        loop.close()


def info(text: str) -> bytes:
    return b"$%d\r\n%s\r\n" % (len(text), text.encode())


@needs_redis
def test_a_server_that_can_be_used_says_its_version() -> None:
    with serve() as server:
        assert int(check(server.url).split(".")[0]) >= 6


@pytest.mark.parametrize("url", ["nonsense", "http://localhost:6379", "redis://localhost:port"])
def test_a_text_that_is_no_url_of_redis_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"is not the URL of a Redis server; write redis://HOST:6379$"):
        check(url)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:S3CRET@127.0.0.1:1",
        "redis://:S3/CRET@127.0.0.1:1",
        "redis://me:3/S3CRET@127.0.0.1:1",
        "redis://:S3#CRET@127.0.0.1:1",
        "redis://:S3?CRET@127.0.0.1:1",
        "redis://:S3@CRET@127.0.0.1:1",
        "redis://:S3[CRET]@127.0.0.1:1",
        "redis://:[S3CRET]@",
        "redis://127.0.0.1:1?password=S3@CRET",
        "unix:///nowhere/s?password=S3CRET",
        "redis://:S3CRET@",
        "redis://:S3CRET",
        "redis://:S3CRET/0",
        "me:S3CRET@127.0.0.1",
    ],
)
def test_no_message_has_a_part_of_the_password(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check(url)
    assert "S3" not in str(refused.value) and "CRET" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("redis://127.0.0.1:1/news", r"^127\.0\.0\.1:1/news names no database of Redis; write its number, as redis://"),
        ("redis://127.0.0.1:1?S3CRET=S3CRET", r"^the URL of Redis at 127\.0\.0\.1:1 has a parameter .*; leave it out$"),
        ("unix:///nowhere/s?protocol=3", r"^the URL of Redis at /nowhere/s has a parameter .*; leave it out$"),
    ],
)
def test_a_url_that_says_more_than_a_server_needs_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence) as refused:
        check(url)
    assert "S3CRET" not in str(refused.value)


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/2", "redis://127.0.0.1:1/", "redis://127.0.0.1:1?db=2"])
def test_a_url_may_name_a_database(url: str) -> None:
    with pytest.raises(ConfigError, match="no Redis answers"):
        check(url)


@needs_redis
def test_a_password_and_a_database_that_a_server_has_not_are_named() -> None:
    with serve() as server:
        with pytest.raises(ConfigError, match="has no password; leave it out of the URL"):
            check(server.url.replace("unix://", "unix://:S3CRET@"))
        with pytest.raises(ConfigError, match=r"cannot be used \(.*DB index.*\); correct the URL"):
            check(f"{server.url}?db=99")


def test_a_place_where_nothing_answers_is_named() -> None:
    with pytest.raises(ConfigError, match=r"no Redis answers at 127\.0\.0\.1:1 \(.*Error 111.*\); start one with"):
        check("redis://127.0.0.1:1")


def test_a_server_that_is_not_redis_is_named() -> None:
    with (
        answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url,
        pytest.raises(ConfigError, match="is not Redis or Valkey"),
    ):
        check(url)


def test_a_server_that_only_looks_like_redis_is_named() -> None:
    with answering(b"+OK\r\n", info("# Server\r\n")) as url, pytest.raises(ConfigError, match="is not Redis or Valkey"):
        check(url)


NEW = "redis_version:7.2.4\r\n"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (NEW, "is not Redis or Valkey"),  # without a run id, every connection would look like another server
        (f"{NEW}run_id:abc\r\nredis_mode:sentinel\r\n", "runs as a sentinel, which keeps no data"),
        (f"{NEW}run_id:abc\r\nserver_mode:cluster\r\n", "runs as a cluster"),
        (f"{NEW}run_id:abc\r\nrole:slave\r\nmaster_host:r\r\nmaster_port:9\r\n", "is a replica of r:9"),
    ],
)
def test_a_server_of_another_kind_is_refused(fields: str, sentence: str) -> None:
    with answering(b"+OK\r\n", info(f"# Server\r\n{fields}")) as url, pytest.raises(ConfigError, match=sentence):
        check(url)


@needs_redis
def test_a_cluster_and_a_replica_are_refused() -> None:
    with serve("--cluster-enabled", "yes") as server, pytest.raises(ConfigError, match="runs as a cluster"):
        check(server.url)
    with serve("--replicaof", "127.0.0.1", "1") as server:
        with pytest.raises(ConfigError, match=r"a replica of 127\.0\.0\.1:1"):
            check(server.url)
        server.command("REPLICAOF", "NO", "ONE")
        assert check(server.url)


@needs_redis
@pytest.mark.parametrize("rules", [("~*", "+@all", "-@scripting"), ("~other:*", "+@all"), ("~*", "+@all", "-info")])
def test_a_user_that_may_not_do_what_is_needed_is_refused(rules: tuple[str, ...]) -> None:
    with serve() as server:
        server.command("ACL", "SETUSER", "bob", "on", ">pw", *rules)
        with pytest.raises(ConfigError, match="cannot be used"):
            check(server.url.replace("unix://", "unix://bob:pw@"))
        server.command("ACL", "SETUSER", "bob", "resetkeys", "~windrow:*", "+@all")
        assert check(server.url.replace("unix://", "unix://bob:pw@"))


@needs_redis
@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here, which makes the certificate")
def test_a_server_with_a_certificate_of_its_own_is_used_with_the_file_of_the_authority(tmp_path: Path) -> None:
    key, own = tmp_path / "key", tmp_path / "crt"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(own)]
    words += ["-subj", "/CN=a", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(words, check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--tls-port", str(port), "--tls-cert-file", str(own), "--tls-key-file", str(key)]
    with serve(*options, "--tls-ca-cert-file", str(own), "--tls-auth-clients", "no"):
        url = f"rediss://127.0.0.1:{port}"
        with pytest.raises(ConfigError, match=r"certificate .* cannot be verified .*: rediss://.*\?ssl_ca_certs="):
            check(url)
        assert check(f"{url}?ssl_ca_certs={own}")


def test_a_server_that_is_too_old_is_named_with_its_version() -> None:
    old = info("# Server\r\nredis_version:5.0.7\r\nrun_id:abc\r\n")
    with (
        answering(b"+OK\r\n", old) as url,
        pytest.raises(ConfigError, match=r"Redis 5\.0\.7 at .* is too old; use Redis 6\.2"),
    ):
        check(url)


@needs_redis
@pytest.mark.parametrize("login", ["", ":wrong@"])
def test_a_wrong_password_is_refused_and_not_repeated(login: str) -> None:
    with serve("--requirepass", "secret") as server:
        with pytest.raises(ConfigError, match="refuses the password") as refused:
            check(server.url.replace("unix://", f"unix://{login}"))
        assert "wrong" not in str(refused.value).partition("(")[0]
        assert check(server.url.replace("unix://", "unix://:secret@"))


@needs_redis
def test_a_server_that_evicts_keys_is_refused() -> None:
    evicting = serve("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    with evicting as server, pytest.raises(ConfigError, match="maxmemory-policy noeviction"):
        check(server.url)


@needs_redis
@pytest.mark.parametrize("fails", [False, True])
def test_a_cancellation_that_the_library_loses_is_heeded(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main(url: str) -> None:
        client = RedisClient(url)
        await client.run(("PING",))
        connection = client._connection
        send, sending = connection.send_packed_command, asyncio.Event()

        async def deaf(*words: object, **options: object) -> None:
            sending.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
            if fails:
                raise OSError("gone")
            await send(*words, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(connection, "send_packed_command", deaf)
        running = asyncio.create_task(client.run(("PING",)))
        await sending.wait()
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled()
        monkeypatch.undo()
        assert await client.run(("PING",)) == [b"PONG"], "no answer is mistaken for that of another command"
        await client.close()

    with serve() as server:
        asyncio.run(main(server.url))
