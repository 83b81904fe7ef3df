"""A shelf in LMDB and one append-only file, laid out so that 20 million URLs cost as little each as one million.

- `urls.dat` holds the URL texts, in the order they were found. A text's offset is the URL's reference: it orders the queue,
  breadth first, and costs six bytes wherever a URL is meant. A retried URL is written again, behind all others.
- Keys in `seen` and `queue` begin with the host's number: a page's links mostly stay on its host, so the pages of the
  tree that are touched are few and warm, however large the tree (measured: 3.3 to 5.1 µs a URL from 1 to 20 million).
- The map is written in place (writemap): a dirty page is a page of the file, not private memory. The file is sparse and is
  cut to its used length on close. One write transaction stays open from checkpoint to checkpoint; a crash falls back to
  the last checkpoint, and the log brings the rest.
"""

import os
import struct
from collections.abc import Container
from pathlib import Path

import lmdb
import msgspec

from windrow import urls
from windrow.config import ConfigError
from windrow.data import Robots, Task, Url
from windrow.frontier.shelf import Domain, Host, Meta

VERSION = 1
_MAGIC = b"windrow urls 1\n\0"
_PAGE = 4096
_ROOM = 64 << 20  # bytes of map beyond twice the live pages: what new URLs may take until the next checkpoint
_MANY = 200_000  # new URLs after which a checkpoint is due, so that they fit into that room

_KEY = struct.Struct(">IQ")  # host, url key
_ROW = struct.Struct(">HIBI")  # ref (high, low), code, frame
_SPOT = struct.Struct(">IBHI")  # host, rank, ref (high, low)
_TEXT = struct.Struct(">BHBBBHIH")  # priority, depth, distance, redirects, attempt, via ref (high, low), length
_TICKET = struct.Struct(">Q")
_LINE = struct.Struct(">IQ")  # domain, ticket


class LmdbShelf:
    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        size = (directory / "data.mdb").stat().st_size if (directory / "data.mdb").exists() else 0
        self._env = lmdb.open(
            str(directory), map_size=2 * size + _ROOM, max_dbs=16, writemap=True, metasync=True, meminit=False, readahead=False
        )
        names = ("seen", "queue", "hosts", "domains", "lines", "line", "robots", "claims", "meta")
        self._dbs = {name: self._env.open_db(name.encode()) for name in names}
        self._seen, self._queue = self._dbs["seen"], self._dbs["queue"]
        self._txn = self._env.begin(write=True)
        self._added = 0
        stored = self._txn.get(b"meta", db=self._dbs["meta"])
        self._meta, length = _decode_meta(stored, directory) if stored else (Meta(), len(_MAGIC))
        self._texts = _Texts(directory / "urls.dat", length)

    def meta(self) -> Meta:
        return self._meta

    def load_host(self, name: str) -> Host | None:
        row = self._txn.get(name.encode(), db=self._dbs["hosts"])
        return _host.decode(row) if row else None

    def save_host(self, host: Host) -> None:
        self._txn.put(host.name.encode(), _encode(host), db=self._dbs["hosts"])

    def load_domain(self, name: str) -> Domain | None:
        row = self._txn.get(name.encode(), db=self._dbs["domains"])
        return _domain.decode(row) if row else None

    def save_domain(self, domain: Domain) -> None:
        self._txn.put(domain.name.encode(), _encode(domain), db=self._dbs["domains"])

    def add(self, host: int, task: Task, via: int) -> int:
        ref = self._texts.length
        high, low = ref >> 32, ref & 0xFFFFFFFF
        if not self._txn.put(_KEY.pack(host, task.url.key), _ROW.pack(high, low, 0, 0), overwrite=False, db=self._seen):
            return 0
        self._texts.append(task, via)
        self._txn.put(_SPOT.pack(host, task.priority, high, low), b"", db=self._queue)
        self._added += 1
        return ref

    def requeue(self, host: int, task: Task, ref: int) -> int:
        via = self._leave(host, ref)
        new = self._texts.append(task, via)
        high, low = new >> 32, new & 0xFFFFFFFF
        self._txn.put(_KEY.pack(host, task.url.key), _ROW.pack(high, low, 0, 0), db=self._seen)
        self._txn.put(_SPOT.pack(host, task.priority, high, low), b"", db=self._queue)
        return new

    def finish(self, host: int, task: Task, ref: int, code: int, frame: int) -> None:
        high, low = ref >> 32, ref & 0xFFFFFFFF
        self._txn.delete(_SPOT.pack(host, task.priority, high, low), db=self._queue)
        self._txn.put(_KEY.pack(host, task.url.key), _ROW.pack(high, low, code, frame), db=self._seen)

    def _leave(self, host: int, ref: int) -> int:
        priority, via, _ = self._texts.header(ref)
        self._txn.delete(_SPOT.pack(host, priority, ref >> 32, ref & 0xFFFFFFFF), db=self._queue)
        return via

    def look(self, host: int, key: int) -> tuple[int, int, int] | None:
        row = self._txn.get(_KEY.pack(host, key), db=self._seen)
        if row is None:
            return None
        high, low, code, frame = _ROW.unpack(row)
        return high << 32 | low, code, frame

    def read(self, ref: int, host: Host) -> Task:
        return self._texts.read(ref, host)

    def head(self, host: int, skip: Container[int], most: int) -> list[tuple[int, int]]:
        spots: list[tuple[int, int]] = []
        prefix = host.to_bytes(4, "big")
        with self._txn.cursor(self._queue) as cursor:
            if cursor.set_range(prefix):
                for spot in cursor.iternext(keys=True, values=False):
                    if spot[:4] != prefix:
                        break
                    ref = int.from_bytes(spot[5:], "big")
                    if ref not in skip:
                        spots.append((spot[4], ref))
                        if len(spots) == most:
                            break
        return spots

    def list_host(self, domain: int, ticket: int, name: str) -> None:
        self._txn.put(_LINE.pack(domain, ticket), name.encode(), db=self._dbs["lines"])

    def unlist_host(self, domain: int, ticket: int) -> None:
        self._txn.delete(_LINE.pack(domain, ticket), db=self._dbs["lines"])

    def next_host(self, domain: int, after: int) -> tuple[int, str] | None:
        with self._txn.cursor(self._dbs["lines"]) as cursor:
            if cursor.set_range(_LINE.pack(domain, after + 1)):
                line, ticket = _LINE.unpack(cursor.key())
                if line == domain:
                    return ticket, cursor.value().decode()
        return None

    def list_domain(self, ticket: int, name: str) -> None:
        self._txn.put(_TICKET.pack(ticket), name.encode(), db=self._dbs["line"])

    def unlist_domain(self, ticket: int) -> None:
        self._txn.delete(_TICKET.pack(ticket), db=self._dbs["line"])

    def next_domain(self, after: int) -> tuple[int, str] | None:
        with self._txn.cursor(self._dbs["line"]) as cursor:
            if cursor.set_range(_TICKET.pack(after + 1)):
                return _TICKET.unpack(cursor.key())[0], cursor.value().decode()
        return None

    def robots(self, origin: str) -> Robots | None:
        row = self._txn.get(origin.encode(), db=self._dbs["robots"])
        return _robots.decode(row) if row else None

    def save_robots(self, robots: Robots) -> None:
        self._txn.put(robots.origin.encode(), _encode(robots), db=self._dbs["robots"])

    def claim(self, digest: int, key: int) -> int:
        row = _TICKET.pack(digest)
        if self._txn.put(row, _TICKET.pack(key), overwrite=False, db=self._dbs["claims"]):
            return key
        return int.from_bytes(self._txn.get(row, db=self._dbs["claims"]) or b"", "big")

    def crowded(self) -> bool:
        return self._added >= _MANY

    def checkpoint(self, meta: Meta) -> None:
        """All until now becomes what a restart finds. Blocks for the sync of the map."""
        length = self._texts.sync()
        self._txn.put(b"meta", msgspec.json.encode((meta, length)), db=self._dbs["meta"])
        self._txn.commit()
        self._added = 0
        # A page of the map may be copied once until the next checkpoint, so twice the live pages always suffice.
        need = 2 * (self._env.info()["last_pgno"] + 1) * _PAGE + _ROOM
        if self._env.info()["map_size"] < need:
            self._env.set_mapsize(need + need // 4)
        self._txn = self._env.begin(write=True)

    def close(self) -> None:
        """Ends without a checkpoint: what came after the last one is in the log."""
        self._txn.abort()
        used = (self._env.info()["last_pgno"] + 1) * _PAGE
        self._env.close()
        self._texts.close()
        os.truncate(self._directory / "data.mdb", used)


class _Texts:
    """`urls.dat`: appended through a buffer, read by offset."""

    def __init__(self, path: Path, length: int) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if os.fstat(self._file).st_size == 0:
            os.write(self._file, _MAGIC)
        os.ftruncate(self._file, length)  # what lies behind the last checkpoint is replayed from the log
        os.lseek(self._file, length, os.SEEK_SET)
        self._written = length
        self._buffer = bytearray()
        self.length = length

    def append(self, task: Task, via: int) -> int:
        text = task.url.text.encode()
        ref = self.length
        self._buffer += _TEXT.pack(
            task.priority,
            min(task.depth, 65535),
            min(task.distance, 255),
            min(task.redirects, 255),
            min(task.attempt, 255),
            via >> 32,
            via & 0xFFFFFFFF,
            len(text),
        )
        self._buffer += text
        self.length = self._written + len(self._buffer)
        if len(self._buffer) > 1 << 17:
            self._flush()
        return ref

    def header(self, ref: int) -> tuple[int, int, int]:
        """Priority, reference of the page that held the link, number of tries."""
        priority, _, _, _, attempt, high, low, _ = _TEXT.unpack(self._bytes(ref, _TEXT.size))
        return priority, high << 32 | low, attempt

    def read(self, ref: int, host: Host) -> Task:
        raw = self._bytes(ref, 320)
        priority, depth, distance, redirects, attempt, high, low, length = _TEXT.unpack_from(raw)
        text = self._text(raw, ref, length)
        via = self.text(high << 32 | low)
        url = Url(text, host.name, host.domain, urls.key(text))
        return Task(url, priority=priority, depth=depth, distance=distance, redirects=redirects, via=via, attempt=attempt)

    def text(self, ref: int) -> str:
        if not ref:
            return ""
        raw = self._bytes(ref, 320)
        return self._text(raw, ref, int.from_bytes(raw[_TEXT.size - 2 : _TEXT.size], "big"))

    def _text(self, raw: bytes, ref: int, length: int) -> str:
        if len(raw) < _TEXT.size + length:
            raw = self._bytes(ref, _TEXT.size + length)
        return raw[_TEXT.size : _TEXT.size + length].decode()

    def _bytes(self, ref: int, length: int) -> bytes:
        if ref >= self._written:
            start = ref - self._written
            return bytes(self._buffer[start : start + length])
        return os.pread(self._file, length, ref)  # whole records are flushed: none lies half in the buffer

    def _flush(self) -> None:
        view = memoryview(self._buffer)
        done = 0
        while done < len(view):
            done += os.pwrite(self._file, view[done:], self._written + done)
        view.release()
        self._written += done
        self._buffer.clear()

    def sync(self) -> int:
        self._flush()
        os.fdatasync(self._file)
        return self._written

    def close(self) -> None:
        os.close(self._file)


_encode = msgspec.msgpack.Encoder().encode
_host = msgspec.msgpack.Decoder(Host)
_domain = msgspec.msgpack.Decoder(Domain)
_robots = msgspec.msgpack.Decoder(Robots)


def _decode_meta(stored: bytes, directory: Path) -> tuple[Meta, int]:
    version = msgspec.json.decode(stored)[0].get("version", 0)
    if version != VERSION:
        raise ConfigError(
            f"{directory} has state version {version}, this Windrow reads version {VERSION}; "
            "use the Windrow that wrote it, or move the folder away to have it rebuilt from log/"
        )
    meta, length = msgspec.json.decode(stored, type=tuple[Meta, int])
    return meta, length
