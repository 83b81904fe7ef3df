"""Files that are elsewhere: s3://, https:// and everything else for which fsspec has a driver.

Only this module imports fsspec. A path without a scheme is a file here and needs no library. The settings of a driver
(keys, endpoint, region) come from where its users keep them: the environment and configuration files of AWS for s3.

`place` makes a path of a text: a `Path`, or a `RemotePath`, which has the members of a `Path` that readers use. So a
reader of files reads addresses too, block by block and without a copy.
"""

import datetime
import functools
import hashlib
import io
import itertools
import os
import random
import re
import tempfile
import time
import urllib.parse
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, TypeVar, cast

import msgspec

from windrow.config import ConfigError
from windrow.io import drivers

FileSystem = Any  # of fsspec, which has no types
Result = TypeVar("Result")

ATTEMPTS = 5
WAIT = 1.0  # seconds before the second attempt; each further wait is twice as long
BLOCK = 4 << 20  # bytes of a remote file that are read at once
BLOCKS = 3  # of a file that stay in memory
FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)  # repeating does not help

ESCAPES = "/, ?, #, @, [ and ] in a password are written as %2F, %3F, %23, %40, %5B and %5D"
DATABASES = "and in windrow store the databases postgresql://, mysql://, mongodb:// and sqlite:///"
_DATABASES = ("postgresql", "postgres", "mysql", "mariadb", "mongodb", "mongodb+srv")
_LOGIN = re.compile(r"(://[^:/@]*):[^/]*@")
_ANY_LOGIN = re.compile(r"(://[^:/@]*):.*@")
_CUT_LOGIN = re.compile(r"://[^:/@]*:(?!\d*[/?#])[^@/?#]*[][/?#].*@")  # not: a port, and "@" somewhere behind it
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://")
_DRIVERS = {"s3": "s3", "s3a": "s3", "http": "s3", "https": "s3", "hdfs": "query", "webhdfs": "hdfs"}  # scheme -> extra
_HOSTED = ("hdfs", "webhdfs")  # a path in the file system begins behind the host
_MISSING = (404, 410)  # statuses of http
_STATE = ("ETag", "LastModified", "Last-Modified", "mtime", "modificationTime", "fileId")  # they change with a file


class RemotePath(msgspec.Struct, frozen=True):
    """An address, where a reader expects the path of a file."""

    address: str

    def __str__(self) -> str:
        return self.address

    @property
    def name(self) -> str:
        return self.address.rstrip("/").rpartition("/")[2]

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> "RemotePath":
        return RemotePath(self.address.rstrip("/").rpartition("/")[0])

    def __truediv__(self, name: str) -> "RemotePath":
        return RemotePath(f"{self.address.rstrip('/')}/{name}")

    def absolute(self) -> "RemotePath":
        return self

    def as_posix(self) -> str:
        return self.address

    def is_file(self) -> bool:
        return state(self.address)[0] >= 0

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open the file for reading. It may be read from any offset."""
        blocks = _open.get(self.address)
        if blocks is None:
            blocks = _open[self.address] = _Blocks(self.address)
        return cast(BinaryIO, io.BufferedReader(_RemoteFile(blocks), 1 << 18))


AnyPath = Path | RemotePath


def place(text: str) -> AnyPath:
    """Return the path that a text names: of a file here, or an address."""
    if scheme(text) == "file":
        return Path(urllib.parse.unquote(text.removeprefix("file://")))
    return RemotePath(text) if is_remote(text) else Path(text)


class _Blocks:
    """The bytes of a remote file, in blocks. Readers of the same file share them while one of them is open."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.readers = 0
        self._system, self._path = filesystem(address)
        opened = lambda: self._system.open(self._path, "rb", cache_type="none")  # noqa: E731 - asks for the size, once
        self._file: IO[bytes] = attempt(address, lambda: persistently(opened))
        self._known: OrderedDict[int, bytes] = OrderedDict()
        size = getattr(self._file, "size", None)
        self.size: int = self._copy() if size is None else size

    def block(self, number: int) -> bytes:
        data = self._known.get(number)
        if data is None:
            data = self._known[number] = self._read(number * BLOCK, min(BLOCK, self.size - number * BLOCK))
            if len(self._known) > BLOCKS:
                self._known.popitem(last=False)
        return data

    def _read(self, start: int, length: int) -> bytes:
        def read() -> bytes:
            self._file.seek(start)
            return self._file.read(length)

        try:
            data = persistently(read)
        except Exception as error:  # each driver has its own exceptions
            if not (start and _without_ranges(error)):
                raise _broken(self.address, start, describe(error)) from None
            self._copy()
            data = read()
        if len(data) < length:
            raise _broken(self.address, start, f"it ends after {start + len(data)} of {self.size} bytes")
        return data

    def _copy(self) -> int:
        """Make a local copy of a file whose server sends all of it or nothing; return its size."""
        copy = tempfile.NamedTemporaryFile(prefix="windrow-")  # noqa: SIM115 - closed with the last reader
        attempt(self.address, lambda: persistently(lambda: self._system.get_file(self._path, copy.name)))
        self._file = cast(IO[bytes], copy)
        return os.stat(copy.name).st_size


_open: dict[str, _Blocks] = {}  # by address


class _RemoteFile(io.RawIOBase):
    """A remote file as a file object."""

    def __init__(self, blocks: _Blocks) -> None:
        self._blocks, self._at = blocks, 0
        blocks.readers += 1

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._blocks.size}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        """Release the blocks with the last reader: if the file is opened again, it is read again."""
        if not self.closed:
            self._blocks.readers -= 1
            if not self._blocks.readers:
                _open.pop(self._blocks.address, None)
        super().close()

    def readinto(self, buffer: Any) -> int:
        if self._at >= self._blocks.size:
            return 0
        number, inside = divmod(self._at, BLOCK)
        piece = memoryview(self._blocks.block(number))[inside : inside + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def read(location: str, offset: int, length: int) -> bytes:
    """Return a range of bytes of a file here or elsewhere, with one request; fewer bytes where the file ends."""
    if not is_remote(location):
        with open(location, "rb") as file:
            file.seek(offset)
            return file.read(length)
    system = _system(scheme(location), location.split("/", 3)[2])
    return bytes(system.cat_file(path(location), start=offset, end=offset + length))


@functools.lru_cache(16)
def _system(scheme: str, host: str) -> FileSystem:
    return filesystem(f"{scheme}://{host}/")[0]


def persistently(
    action: Callable[[], Result], attempts: int = ATTEMPTS, sleep: Callable[[float], None] = time.sleep
) -> Result:
    """Repeat an action that fails, after waits that double; raise the last error, and at once one that is final."""
    for attempt in itertools.count(1):
        try:
            return action()
        except Exception as error:  # each driver has its own exceptions
            if attempt >= attempts or isinstance(_cause(error), FINAL) or _without_ranges(error):
                raise
            sleep(WAIT * 2 ** (attempt - 1) * random.uniform(1.0, 1.2))  # noqa: S311 - clients must not return together
    raise AssertionError("unreachable")


def _cause(error: Exception) -> Exception:
    """Return what an error is about: the driver of http calls every answer, and no answer, a file that is missing."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and isinstance(cause, Exception):
        of_http = type(cause).__module__.startswith("aiohttp")
        return cause if of_http and getattr(cause, "status", 0) not in _MISSING else error
    return error


def _without_ranges(error: Exception) -> bool:
    """Return whether a server does not know the range, or ranges at all."""
    return "range" in str(error).lower()


def _broken(address: str, at: int, what: str) -> ConfigError:
    return ConfigError(f"{address}, byte {at}: cannot be read ({what}); run the command again, or copy the file here")


def state(location: str) -> tuple[int, int]:
    """Return the size of a file here or elsewhere, and a number that changes with its content; -1 and 0: there is none.

    An address that does not answer counts as missing: its reader says what is wrong.
    """
    if not is_remote(location):
        try:
            status = os.stat(location)
        except OSError:
            return -1, 0
        return status.st_size, status.st_mtime_ns
    system, there = filesystem(location)
    try:
        info = system.info(there)
    except Exception:  # each driver has its own exceptions
        return -1, 0
    if info.get("type") == "directory":
        return -1, 0
    marks = repr([str(info[name]) for name in _STATE if info.get(name)]).encode()
    return info.get("size") or 0, int.from_bytes(hashlib.blake2b(marks, digest_size=7).digest(), "little")


def is_remote(location: str) -> bool:
    """Return whether a place is a URL."""
    return _SCHEME.match(location) is not None


def scheme(location: str) -> str:
    match = _SCHEME.match(location)
    return match[1] if match else ""


def without_password(location: str) -> str:
    """Return an address as it may be shown. The password of a database may be anything, also what ends a login."""
    login = _ANY_LOGIN if scheme(location) in _DATABASES else _LOGIN
    return login.sub(r"\1@", re.sub(r"([?&;]password=)[^&;]*", r"\1…", location))


def is_cut_login(location: str) -> bool:
    """Return whether a driver would take a part of the password of a database for something else, and name it."""
    return scheme(location) in _DATABASES and _CUT_LOGIN.search(location) is not None


def path(location: str) -> str:
    """Return the path of a place in its file system: of http the URL, of others what follows the scheme or host."""
    if scheme(location) in _HOSTED:
        return f"/{location.split('://', 1)[1].partition('/')[2]}"
    return location.partition("://")[2] if scheme(location) not in ("", "http", "https") else location


def _address(system: FileSystem, location: str, path: str) -> str:
    """Return the address of a path in the file system of a place."""
    if scheme(location) in _HOSTED:  # the driver does not know the host any more
        return f"{scheme(location)}://{location.split('/', 3)[2]}{path}"
    return str(system.unstrip_protocol(path))


def filesystem(location: str) -> tuple[FileSystem, str]:
    """Return the file system of a URL, and the path of the URL in it."""
    name = scheme(location)
    extra = _DRIVERS.get(name, "s3")
    try:
        import fsspec

        system, name_there = fsspec.core.url_to_fs(location)
    except ImportError as error:
        fix = f"install it with: pip install 'windrow-corpus[{extra}]'"
        raise ConfigError(f"{location}: reading and writing {name}:// needs another library ({error}); {fix}") from None
    except ValueError as error:
        raise ConfigError(f"{location}: {error}; known are for example s3:// and https://, {DATABASES}") from None
    drivers.prepare(system)
    return system, path(location) if name == "webhdfs" else str(name_there)  # its driver cuts a name at "?"


def attempt(location: str, action: Callable[[], Any]) -> Any:
    """Do something with a remote file; an error of any driver becomes one sentence."""
    try:
        return action()
    except ConfigError:
        raise
    except Exception as error:  # each driver has its own exceptions
        cause = _cause(error)
        if isinstance(cause, FileNotFoundError):
            raise ConfigError(f"{location}: there is no such file or folder; check the address") from None
        raise ConfigError(f"{location} cannot be reached: {describe(cause)}; check the address and the keys") from None


def describe(error: BaseException) -> str:
    """Return the text of an error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def find(location: str, suffix: str | tuple[str, ...]) -> list[str]:
    """Return the URLs of the files below a remote folder, or of the one file that the URL names, in order."""
    if location.endswith(suffix):
        return [location]
    system, folder = filesystem(location)
    names: Sequence[str] = attempt(location, lambda: drivers.below(system, folder))
    return [_address(system, location, name) for name in names if name.endswith(suffix)]


def for_duckdb(location: str) -> FileSystem:
    """Return the file system of a URL as DuckDB accepts it: it asks for a time of change, which http does not know."""
    system, _ = filesystem(location)
    if scheme(location) in ("http", "https"):
        system.modified = lambda path: datetime.datetime.fromtimestamp(0, datetime.UTC)
    return system


def walk(folder: Path, suffixes: str | tuple[str, ...]) -> list[Path]:
    """Return the files below a folder here whose names end in this way, in order; skip what vanishes meanwhile."""
    paths = (Path(parent) / name for parent, _, names in os.walk(folder) for name in names if name.endswith(suffixes))
    return sorted(path for path in paths if path.is_file())
