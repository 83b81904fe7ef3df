"""One connection to Redis: many commands in one round trip, scripts, and what is wrong with a server in one sentence.

It is made of redis-py's connection, without its client: a client connects again in silence, and this one must know when
the server is another process, because that may have lost what the one before it held.
"""

import asyncio
import functools
import hashlib
import importlib.resources
import secrets
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import hiredis
import redis.exceptions
from redis.asyncio.connection import AbstractConnection, Connection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from windrow.config import ConfigError
from windrow.nodes.redis.keys import JOBS
from windrow.shards.transport import Unavailable

_ESCAPED = "%2F, %3F, %23, %40, %5B and %5D"
OLDEST = (6, 2)  # of Redis: XTRIM MINID, and ranges that exclude their first message
CONNECT, ANSWER = 2.0, 5.0  # seconds
_TRIAL = "return redis.call('EXISTS', KEYS[1])"  # whether scripts may run here, and use our keys
_AUTHORITY = "ssl_ca_certs"  # a parameter of the URL, as the library calls it

Command = tuple[str | bytes | int, ...]
_pack: Callable[[Command], bytes] = hiredis.pack_command  # type: ignore[assignment]  # its stub: a tuple of one


class Script(NamedTuple):
    """A script of the server: its text, and the digest under which the server remembers it."""

    text: str
    digest: str


@functools.cache
def script(name: str) -> Script:
    text = (importlib.resources.files(__package__) / "scripts" / f"{name}.lua").read_text("utf-8")
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


class _Cancellation:
    """Whether the running task has been cancelled since this was made.

    redis-py sends with `asyncio.wait_for`, which in Python 3.11 loses a cancellation that arrives when the bytes have
    just been sent. A loop that never sees its cancellation never ends.
    """

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._before = self._task.cancelling() if self._task is not None else 0

    def heed(self) -> None:
        if self._task is not None and self._task.cancelling() > self._before:
            raise asyncio.CancelledError


class RedisClient:
    """A connection that is made when it is needed, and made again after it broke."""

    def __init__(self, url: str) -> None:
        self.place = _place(url)
        self._connection = _connection(url, self.place)
        self._lock = asyncio.Lock()
        self.server = ""  # run id of the server process; empty: not connected

    async def run(self, *commands: Command, server: str = "") -> list[Any]:
        """Send commands and return their answers; an error of one of them is its answer.

        `server`: the server process that they are meant for; another one does not get them.
        """
        async with self._lock:
            cancelled = _Cancellation()
            try:
                await self._connect()
                if server and server != self.server:
                    raise Unavailable(f"Redis at {self.place} has started again")
                answers = await self._exchange(commands)
                cancelled.heed()
                return answers
            except (redis.exceptions.RedisError, OSError, ValueError) as error:
                await self._drop()
                cancelled.heed()
                raise Unavailable(f"Redis at {self.place} does not answer: {_brief(error)}") from error
            except Unavailable:
                raise
            except BaseException:  # cancelled: an answer may still be under way, and the next one would be mistaken
                await self._drop()
                raise

    async def call(
        self, name: str, keys: Sequence[str], arguments: Sequence[str | bytes | int], server: str = ""
    ) -> Any:
        """Run a script; return its answer. A server that does not know it, as after a restart, gets its text."""
        (answer,) = await self.run(evalsha(name, keys, arguments), server=server)
        if isinstance(answer, redis.exceptions.NoScriptError):
            (answer,) = await self.run(("EVAL", script(name).text, len(keys), *keys, *arguments), server=server)
        return self.checked(answer)

    def checked(self, answer: Any) -> Any:
        """Return an answer; Unavailable if it is an error. Whatever Redis refuses now may succeed later."""
        if isinstance(answer, Exception):
            raise Unavailable(f"Redis at {self.place} refuses to work: {_brief(answer)}") from answer
        return answer

    async def _connect(self) -> None:
        if self._connection.is_connected:
            return
        self.server = ""
        await self._connection.connect()  # type: ignore[no-untyped-call]
        (info,) = await self._exchange([("INFO", "server")])
        self.server = _fields(info).get("run_id", "") or secrets.token_hex(8)

    async def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        packed = b"".join([_pack(command) for command in commands])
        await self._connection.send_packed_command(packed, check_health=False)
        answers = []
        for _ in commands:
            try:
                answers.append(await self._connection.read_response())
            except redis.exceptions.ResponseError as error:
                answers.append(error)
        return answers

    async def _drop(self) -> None:
        self.server = ""
        await self._connection.disconnect(nowait=True)

    async def close(self) -> None:
        async with self._lock:
            await self._drop()

    async def check(self) -> str:
        """Return the version of the server; ConfigError if it cannot be used. Only for the start of a command."""
        try:
            return await self.examine()
        except Unavailable as error:
            raise ConfigError(self._explained(error)) from None

    async def examine(self) -> str:
        """Return the version of the server. ConfigError: it can never be used; Unavailable: not now."""
        try:
            info, tried = await self.run(("INFO",), ("EVAL", _TRIAL, 1, JOBS))
        except Unavailable as error:
            if self._refused(error):
                raise ConfigError(self._explained(error)) from None
            raise
        if isinstance(info, Exception):
            raise ConfigError(self._refusal(info))
        fields = _fields(info)
        wrong = _unsuitable(fields, self.place)
        if wrong:
            raise ConfigError(wrong)
        if fields.get("role") == "slave":  # it may become the master
            followed = f"{fields.get('master_host', '?')}:{fields.get('master_port', '?')}"
            raise Unavailable(
                f"Redis at {self.place} is a replica of {followed}, which takes no orders; write that into the URL"
            )
        if isinstance(tried, Exception):
            raise ConfigError(self._refusal(tried))
        return fields["redis_version"]

    def _refused(self, error: Unavailable) -> bool:
        """Return whether a server has answered, and never will in another way."""
        kinds = (redis.exceptions.InvalidResponse, redis.exceptions.AuthenticationError, redis.exceptions.ResponseError)
        return any(isinstance(cause, kinds) for cause in _causes(error))

    def _explained(self, error: Unavailable) -> str:
        causes = list(_causes(error))
        for cause in causes:
            if isinstance(cause, redis.exceptions.InvalidResponse):
                return f"the server at {self.place} is not Redis or Valkey; check the URL"
            if isinstance(cause, redis.exceptions.AuthenticationError | redis.exceptions.ResponseError):
                return self._refusal(cause)
            if isinstance(cause, ssl.SSLCertVerificationError):
                return (
                    f"the certificate of Redis at {self.place} cannot be verified ({cause.verify_message}); "
                    f"name the file of its authority in the URL: rediss://HOST:6379?{_AUTHORITY}=/PATH/ca.crt"
                )
        if not causes:
            return str(error)
        why = _brief(causes[0])
        return f"no Redis answers at {self.place} ({why}); start one with: redis-server, or correct the URL"

    def _refusal(self, error: BaseException) -> str:
        text = _brief(error)
        if "without any password configured" in text:
            return f"Redis at {self.place} has no password; leave it out of the URL: redis://HOST:6379"
        if isinstance(error, redis.exceptions.AuthenticationError) or text.startswith(("NOAUTH", "WRONGPASS")):
            return (
                f"Redis at {self.place} refuses the password ({text}); write it into the URL: "
                "redis://:PASSWORD@HOST:6379, or redis://USER:PASSWORD@HOST:6379"
            )
        return f"Redis at {self.place} cannot be used ({text}); correct the URL, or the configuration of that server"


def _unsuitable(fields: Mapping[str, str], address: str) -> str:
    """Return what is wrong with a server that says this of itself; empty if nothing is."""
    version = fields.get("redis_version", "")
    if not version or not fields.get("run_id"):  # without it, no loss would be noticed
        return f"the server at {address} is not Redis or Valkey; check the URL"
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return f"Redis {version} at {address} is too old; use Redis {oldest} or newer, or Valkey"
    mode = fields.get("redis_mode") or fields.get("server_mode", "standalone")
    if mode != "standalone":
        return (
            f"Redis at {address} runs as a {mode}, and keys that belong together would be on several servers; "
            "use a single server, without the option cluster-enabled"
            if mode == "cluster"
            else f"Redis at {address} runs as a {mode}, which keeps no data; write the server of the data into the URL"
        )
    policy = fields.get("maxmemory_policy", "noeviction")
    if policy != "noeviction" and fields.get("maxmemory", "0") != "0":
        return (
            f"Redis at {address} evicts keys when its memory is full ({policy}), also those that keep two "
            "shards from one address; give it the option: maxmemory-policy noeviction"
        )
    return ""


async def check(url: str) -> None:
    """ConfigError if there is no server at a URL that can be used."""
    client = RedisClient(url)
    try:
        await client.check()
    finally:
        await client.close()


def _connection(url: str, address: str) -> AbstractConnection:
    """Return the connection that a URL describes. Texts of the library are not shown: they may have the password."""
    supported = url.startswith(("redis://", "rediss://", "unix://"))
    try:
        options: dict[str, Any] = dict(parse_url(url))
    except ValueError:
        wrong = (
            f"/, ?, #, @, [ and ] in a password are written as {_ESCAPED}"
            if supported and not _has_bad_port(url)
            else ""
        )
        raise ConfigError(f"{address} is not the URL of a Redis server; {wrong or 'write redis://HOST:6379'}") from None
    if not url.startswith("unix://") and "/" in address and "db" not in options:  # the library would take database 0
        raise ConfigError(f"{address} names no database of Redis; write its number, as redis://HOST:6379/1, or no path")
    kind = options.pop("connection_class", Connection)
    try:
        made: AbstractConnection = kind(
            **options,
            protocol=2,
            socket_connect_timeout=CONNECT,
            socket_timeout=ANSWER,
            retry=Retry(NoBackoff(), 0),
        )
    except TypeError:  # the library hands every parameter on
        raise ConfigError(
            f"the URL of Redis at {address} has a parameter after its ? that cannot be used; leave it out"
        ) from None
    return made


def _has_bad_port(url: str) -> bool:
    """Return whether the port of a URL without a login is none."""
    _, colon, port = url.partition("://")[2].partition("/")[0].rpartition(":")
    return bool(colon) and "@" not in url and not port.isdecimal()


def evalsha(name: str, keys: Sequence[str], arguments: Sequence[str | bytes | int]) -> Command:
    return ("EVALSHA", script(name).digest, len(keys), *keys, *arguments)


def _place(url: str) -> str:
    """Return a URL without its password, for messages. A password may be anything, also what ends the host of a URL."""
    login, _, rest = url.rpartition("@")
    bare = rest.rpartition("://")[2].partition("?")[0].rstrip("/")
    if not bare or bare.startswith(":") or "?" in login:  # without a host, or with a "?": a password may be anywhere
        return "the URL"
    return bare


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield what is behind an error; redis-py wraps errors in others."""
    while (cause := error.__cause__ or error.__context__) is not None:
        yield cause
        error = cause


def _brief(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0].rstrip(".")
    return text or type(error).__name__


def _fields(info: Any) -> dict[str, str]:
    """Return the fields of an answer to INFO."""
    if not isinstance(info, bytes):
        return {}
    lines = [line.partition(":") for line in info.decode("utf-8", "replace").splitlines() if ":" in line]
    return {name: value for name, _, value in lines}
