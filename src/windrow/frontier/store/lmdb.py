"""A shelf in LMDB and one append-only file, laid out so that 20 million URLs cost as little each as one million.

- `urls.dat` holds the URL texts, in the order they were found. A text's offset is the URL's reference: it orders the queue,
  breadth first, and costs six bytes wherever a URL is meant. A retried URL is written again, behind all others.
- The table `urls` holds for each host first the keys of its URLs, then its queue: a page's links mostly stay on its host, so the
  pages of the tree that are touched are few and warm, however large the tree, and a link to any other host touches one, not two.
- The map is written in place (writemap): a dirty page is a page of the file, not private memory. One write transaction stays open
  from checkpoint to checkpoint; a crash falls back to the last checkpoint, and the log brings the rest.
- The file is sparse and larger than its contents, see `_fit`; it is cut to its used length on close. Blocks are allocated a
  little ahead of use (`ahead`), for in a map a full disk is not an error but the end of the process.
"""

import contextlib
import errno
import os
import struct
from collections.abc import Container
from pathlib import Path

import lmdb
import msgspec

from windrow.config import ConfigError
from windrow.data import Robots, Task
from windrow.frontier.store.ahead import PAGE, Ahead
from windrow.frontier.store.base import Domain, Host, Meta
from windrow.frontier.store.texts import Texts

VERSION = 1
ROOM = 1 << 30  # bytes of map for what is new until the next checkpoint; not of disk
MANY = ROOM >> 3  # bytes of new pages after which a checkpoint is due
_COMMIT = 256  # writes that a commit may need of its own, for the list of free pages
_TABLES = ("urls", "hosts", "domains", "lines", "line", "robots", "claims", "meta")

_KEY = struct.Struct(">IQ")  # twice the host, url key: what became of a URL
_ROW = struct.Struct(">HIBI")  # reference (high, low), code, frame
_SPOT = struct.Struct(">IBHI")  # twice the host and one, rank, reference (high, low): a place in its queue
_TICKET = struct.Struct(">Q")
_LINE = struct.Struct(">IQ")  # domain, ticket


class LmdbShelf:
    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / "data.mdb"
        try:
            # With this small a map LMDB takes the length of the data; it drops what a crash left behind it.
            self._env = lmdb.open(
                str(directory),
                map_size=1 << 16,
                max_dbs=16,
                writemap=True,
                metasync=True,
                meminit=False,
                readahead=False,
            )
        except lmdb.Error as error:
            fix = f"if it is damaged, move {directory} away to have it rebuilt from log/"
            raise ConfigError(f"cannot open the store: {error}; {fix}") from None
        self._ahead = Ahead(self._path)
        try:
            self._load(directory)
        except Exception:
            self._env.close()
            self._ahead.close()
            raise

    def _load(self, directory: Path) -> None:
        self._fit()
        self.reserve(_COMMIT)
        self._tables = {name: self._env.open_db(name.encode()) for name in _TABLES}
        self._urls = self._tables["urls"]
        self._begin()
        stored = self._txn.get(b"meta", db=self._tables["meta"])
        self.fresh = stored is None
        self._meta, length = _decode_meta(stored, directory) if stored else (Meta(), 0)
        self._texts = Texts(directory / "urls.dat", length)
        if self.fresh:
            self.checkpoint(self._meta)  # whatever happens from here on, the next start knows that a crawl was here

    def meta(self) -> Meta:
        return self._meta

    def load_host(self, name: str) -> Host | None:
        row = self._txn.get(name.encode(), db=self._tables["hosts"])
        return _read_host(name, row) if row else None

    def save_host(self, host: Host) -> None:
        self._put("hosts", host.name.encode(), _written_host(host))

    def load_domain(self, name: str) -> Domain | None:
        row = self._txn.get(name.encode(), db=self._tables["domains"])
        return _read_domain(name, row) if row else None

    def save_domain(self, domain: Domain) -> None:
        self._put("domains", domain.name.encode(), _encode(msgspec.structs.replace(domain, name="")))

    def add(self, host: int, task: Task, via: int) -> int:
        ref = self._texts.length
        high, low = ref >> 32, ref & 0xFFFFFFFF
        put = self._txn.put  # key, value, dupdata, overwrite, append, db: by position, for speed
        if not put(_KEY.pack(host << 1, task.url.key), _ROW.pack(high, low, 0, 0), True, False, False, self._urls):
            return 0
        self._texts.append(task, via)
        put(_SPOT.pack(host << 1 | 1, task.priority, high, low), b"", True, True, False, self._urls)
        self._ahead.writes += 2
        return ref

    def requeue(self, host: int, task: Task, ref: int) -> int:
        priority, via = self._texts.origin(ref)
        self._txn.delete(_SPOT.pack(host << 1 | 1, priority, ref >> 32, ref & 0xFFFFFFFF), db=self._urls)
        new = self._texts.append(task, via)
        high, low = new >> 32, new & 0xFFFFFFFF
        self._txn.put(_KEY.pack(host << 1, task.url.key), _ROW.pack(high, low, 0, 0), db=self._urls)
        self._txn.put(_SPOT.pack(host << 1 | 1, task.priority, high, low), b"", db=self._urls)
        self._ahead.writes += 3
        return new

    def finish(self, host: int, task: Task, ref: int, code: int, frame: int) -> None:
        high, low = ref >> 32, ref & 0xFFFFFFFF
        self._txn.delete(_SPOT.pack(host << 1 | 1, task.priority, high, low), db=self._urls)
        self._txn.put(_KEY.pack(host << 1, task.url.key), _ROW.pack(high, low, code, frame), db=self._urls)
        self._ahead.writes += 2

    def look(self, host: int, key: int) -> tuple[int, int, int] | None:
        row = self._txn.get(_KEY.pack(host << 1, key), db=self._urls)
        if row is None:
            return None
        high, low, code, frame = _ROW.unpack(row)
        return high << 32 | low, code, frame

    def read(self, ref: int, host: Host) -> Task:
        return self._texts.read(ref, host)

    def head(self, host: int, skip: Container[int], most: int) -> list[tuple[int, int]]:
        spots: list[tuple[int, int]] = []
        prefix = (host << 1 | 1).to_bytes(4, "big")
        with self._txn.cursor(self._urls) as cursor:
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
        self._put("lines", _LINE.pack(domain, ticket), name.encode())

    def unlist_host(self, domain: int, ticket: int) -> None:
        self._delete("lines", _LINE.pack(domain, ticket))

    def next_host(self, domain: int, after: int) -> tuple[int, str] | None:
        with self._txn.cursor(self._tables["lines"]) as cursor:
            if cursor.set_range(_LINE.pack(domain, after + 1)):
                line, ticket = _LINE.unpack(cursor.key())
                if line == domain:
                    return ticket, cursor.value().decode()
        return None

    def list_domain(self, ticket: int, name: str) -> None:
        self._put("line", _TICKET.pack(ticket), name.encode())

    def unlist_domain(self, ticket: int) -> None:
        self._delete("line", _TICKET.pack(ticket))

    def next_domain(self, after: int) -> tuple[int, str] | None:
        with self._txn.cursor(self._tables["line"]) as cursor:
            if cursor.set_range(_TICKET.pack(after + 1)):
                return _TICKET.unpack(cursor.key())[0], cursor.value().decode()
        return None

    def robots(self, origin: str) -> Robots | None:
        row = self._txn.get(origin.encode(), db=self._tables["robots"])
        return _robots.decode(row) if row else None

    def save_robots(self, robots: Robots) -> None:
        self._put("robots", robots.origin.encode(), _encode(robots))

    def claim(self, digest: int, key: int) -> int:
        row = _TICKET.pack(digest)
        if self._txn.put(row, _TICKET.pack(key), overwrite=False, db=self._tables["claims"]):
            self._ahead.writes += 1
            return key
        return int.from_bytes(self._txn.get(row, db=self._tables["claims"]) or b"", "big")

    def reserve(self, writes: int) -> None:
        self._ahead.reserve(writes)

    def crowded(self) -> bool:
        return (self._pages() - self._pages_before) * PAGE > MANY

    def checkpoint(self, meta: Meta) -> None:
        """All until now becomes what a restart finds. Blocks for the sync of the map."""
        self.reserve(_COMMIT)
        length = self._texts.sync()
        self._put("meta", b"meta", msgspec.json.encode((meta, length)))
        try:
            self._txn.commit()
            self._turn_over()
            self._fit()
        except (
            lmdb.Error,
            OSError,
        ) as error:  # there is no transaction any more: whatever it was, only a new start helps
            raise OSError(errno.EIO, str(error), str(self._path)) from error
        self._begin()

    def close(self) -> None:
        """Ends without a checkpoint: what came after the last one is in the log."""
        with contextlib.suppress(lmdb.Error):  # a checkpoint that failed has left none
            self._txn.abort()
        used = self._used()
        self._env.close()
        self._ahead.close()
        self._texts.close()
        os.truncate(self._path, used)

    def _begin(self) -> None:
        self._txn = self._env.begin(write=True)
        self._pages_before = self._pages()

    def _turn_over(self) -> None:
        """LMDB does not reuse the pages that the last commit freed, only those of earlier ones; a second, small one keeps it small."""
        with self._env.begin(write=True) as txn:
            txn.put(b"turned over", b"", db=self._tables["meta"])

    def _fit(self) -> None:
        """Between two checkpoints a page is copied at most once: a map of twice the used pages, with room for new ones, never fills."""
        used = self._used()
        need = 2 * used + ROOM
        if self._env.info()["map_size"] < need:
            self._env.set_mapsize(need + need // 4)
        self._ahead.start(used)

    def _used(self) -> int:
        return int(self._env.info()["last_pgno"] + 1) * PAGE

    def _pages(self) -> int:
        """Pages of all tables as they now are."""
        stats = [self._txn.stat(table) for table in self._tables.values()]
        return sum(stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"] for stat in stats)

    def _put(self, table: str, key: bytes, value: bytes) -> None:
        self._txn.put(key, value, db=self._tables[table])
        self._ahead.writes += 1 + len(value) // PAGE

    def _delete(self, table: str, key: bytes) -> None:
        self._txn.delete(key, db=self._tables[table])
        self._ahead.writes += 1


_encode = msgspec.msgpack.Encoder().encode
_host = msgspec.msgpack.Decoder(Host)
_domain = msgspec.msgpack.Decoder(Domain)
_robots = msgspec.msgpack.Decoder(Robots)


def _written_host(host: Host) -> bytes:
    """A host's name is its key, and the end of its name its domain: of that the length is kept."""
    length = len(host.domain) if host.name.endswith(host.domain) else 0
    return bytes([length]) + _encode(msgspec.structs.replace(host, name="", domain="" if length else host.domain))


def _read_host(name: str, row: bytes) -> Host:
    host = _host.decode(row[1:])
    host.name = name
    if row[0]:
        host.domain = name[-row[0] :]
    return host


def _read_domain(name: str, row: bytes) -> Domain:
    domain = _domain.decode(row)
    domain.name = name
    return domain


def _decode_meta(stored: bytes, directory: Path) -> tuple[Meta, int]:
    version = msgspec.json.decode(stored)[0].get("version", 0)
    if version != VERSION:
        raise ConfigError(
            f"{directory} has state version {version}, this Windrow reads version {VERSION}; "
            "use the Windrow that wrote it, or move the folder away to have it rebuilt from log/"
        )
    meta, length = msgspec.json.decode(stored, type=tuple[Meta, int])
    return meta, length
