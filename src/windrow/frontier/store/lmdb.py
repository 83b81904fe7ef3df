"""A store in LMDB and one append-only file, laid out so that 20 million URLs cost as little each as one million.

- `urls.dat` holds the URL texts, in the order of their discovery. The offset of a text is the reference of its URL:
  it orders the queue, breadth first, and takes six bytes per row that names a URL. A retried URL is written again,
  behind all others.
- The table `urls` holds, per host, first the keys of its URLs and then its queue. Most links of a page stay on its
  host, so a web page touches few pages of the tree, and these are in memory, however large the tree is. A link to any
  other host touches one of them, not two.
- The table `due` holds the URLs that are to be visited again, per host and in the order of their times, with what
  their visits have shown. Without revisits it is empty, and the rows of `urls` are as short as they can be.
- The map is written in place (writemap): a dirty page is a page of the file, not private memory. One write transaction
  stays open from checkpoint to checkpoint. After a crash the store is at its last checkpoint; the log holds the rest.
- The file is sparse and larger than its contents (see `_fit`); `close` cuts it to its used length. Its blocks are
  allocated a little ahead of use (see `ahead`), because writing into a map on a full disk ends the process.
"""

import contextlib
import errno
import itertools
import struct
from collections.abc import Container
from pathlib import Path

import lmdb
import msgspec

from windrow.config import ConfigError
from windrow.frontier.store import packing
from windrow.frontier.store.ahead import PAGE, Ahead
from windrow.frontier.store.rows import DomainRow, DueUrl, HostRow, Meta
from windrow.frontier.store.texts import UrlTexts
from windrow.records import Origin, Task

ROOM = 1 << 30  # bytes of the map, not of the disk, for new pages until the next checkpoint
MANY = ROOM >> 3  # bytes of new pages after which a checkpoint is due
_COMMIT = 256  # writes that a commit itself may need, for the list of free pages
_TABLES = ("urls", "due", "hosts", "domains", "host_backlogs", "domain_backlog", "origins", "fingerprints", "meta")

_KEY = struct.Struct(">IQ")  # twice the host id, url key: the key of a URL's row
_ROW = struct.Struct(">HIB")  # reference (high, low), code; of a URL that is due again, the time follows
_DUE = struct.Struct(">IIHI")  # host id, epoch seconds, reference (high, low): the key of a URL that is due again
_ENTRY = struct.Struct(">IBHI")  # twice the host id plus one, rank, reference (high, low): an entry of the host's queue
_NUMBER = struct.Struct(">Q")
_BACKLOG = struct.Struct(">IQ")  # domain id, position


class LmdbStore:
    """Implements `Store`."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / "data.mdb"
        try:
            # Given so small a map, LMDB uses the length of the data and drops what a crash left behind the data.
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
        self._meta, length = packing.meta(stored, directory) if stored else (Meta(), 0)
        self._texts = UrlTexts(directory / "urls.dat", length)
        if self.fresh:
            self.checkpoint(self._meta)  # from here on, the next start knows that a crawl used this directory

    def meta(self) -> Meta:
        return self._meta

    def load_host(self, name: str) -> HostRow | None:
        row = self._txn.get(name.encode(), db=self._tables["hosts"])
        return packing.host(name, row) if row else None

    def save_host(self, host: HostRow) -> None:
        self._put("hosts", host.name.encode(), packing.pack_host(host))

    def load_domain(self, name: str) -> DomainRow | None:
        row = self._txn.get(name.encode(), db=self._tables["domains"])
        return packing.domain(name, row) if row else None

    def save_domain(self, domain: DomainRow) -> None:
        self._put("domains", domain.name.encode(), packing.pack_domain(domain))

    def add(self, host: int, task: Task, via: int) -> int:
        ref = self._texts.length
        high, low = ref >> 32, ref & 0xFFFFFFFF
        put = self._txn.put  # key, value, dupdata, overwrite, append, db: by position, for speed
        if not put(_KEY.pack(host << 1, task.url.key), _ROW.pack(high, low, 0), True, False, False, self._urls):
            return 0
        self._texts.append(task, via)
        put(_ENTRY.pack(host << 1 | 1, task.priority, high, low), b"", True, True, False, self._urls)
        self._ahead.writes += 2
        return ref

    def requeue(self, host: int, task: Task, ref: int) -> int:
        priority, _, via = self._texts.head(ref)
        self._txn.delete(_ENTRY.pack(host << 1 | 1, priority, ref >> 32, ref & 0xFFFFFFFF), db=self._urls)
        new = self._texts.append(task, via)
        high, low = new >> 32, new & 0xFFFFFFFF
        self._txn.put(_KEY.pack(host << 1, task.url.key), _ROW.pack(high, low, 0), db=self._urls)
        self._txn.put(_ENTRY.pack(host << 1 | 1, task.priority, high, low), b"", db=self._urls)
        self._ahead.writes += 3
        return new

    def finish(self, host: int, task: Task, ref: int, code: int, due: DueUrl | None = None) -> None:
        high, low = ref >> 32, ref & 0xFFFFFFFF
        key, row = _KEY.pack(host << 1, task.url.key), _ROW.pack(high, low, code)
        if task.again:
            entry = self._due_key(host, key)
            assert entry is not None, "a URL is visited again that was not due"
            self._delete("due", entry)
        else:
            priority = self._texts.head(ref)[0]  # a replayed task has the rank of its lease, its entry an earlier one
            self._txn.delete(_ENTRY.pack(host << 1 | 1, priority, high, low), db=self._urls)
        if due is not None:
            row += due.at.to_bytes(4, "big")
            self._put("due", _DUE.pack(host, due.at, high, low), packing.pack_history(due.history))
        self._txn.put(key, row, db=self._urls)
        self._ahead.writes += 2

    def _due_key(self, host: int, key: bytes) -> bytes | None:
        """Return the key of a URL in the table `due`; None if it is not to be visited again."""
        row = self._txn.get(key, db=self._urls) or b""
        return host.to_bytes(4, "big") + row[_ROW.size :] + row[:6] if len(row) > _ROW.size else None

    def reopen(self, host: HostRow, key: int, ref: int) -> int:
        priority, attempt, via = self._texts.head(ref)
        if attempt:  # the records of urls.dat do not change: one without attempts is written behind all others
            ref = self._texts.append(msgspec.structs.replace(self._texts.read(ref, host), attempt=0), via)
        high, low = ref >> 32, ref & 0xFFFFFFFF
        self._txn.put(_KEY.pack(host.id << 1, key), _ROW.pack(high, low, 0), db=self._urls)
        self._txn.put(_ENTRY.pack(host.id << 1 | 1, priority, high, low), b"", db=self._urls)
        self._ahead.writes += 2
        return priority

    def find(self, host: int, key: int) -> tuple[int, int] | None:
        row = self._txn.get(_KEY.pack(host << 1, key), db=self._urls)
        if row is None:
            return None
        return int.from_bytes(row[:6], "big"), row[6]

    def again(self, host: int, key: int) -> DueUrl | None:
        entry = self._due_key(host, _KEY.pack(host << 1, key))
        return _due(entry, self._txn.get(entry, db=self._tables["due"]) or b"") if entry is not None else None

    def due(self, host: int, skip: Container[int], most: int) -> list[DueUrl]:
        urls: list[DueUrl] = []
        prefix = host.to_bytes(4, "big")
        with self._txn.cursor(self._tables["due"]) as cursor:
            if cursor.set_range(prefix):
                for entry, row in cursor:
                    if entry[:4] != prefix or len(urls) == most:
                        break
                    if int.from_bytes(entry[8:], "big") not in skip:
                        urls.append(_due(entry, row))
        return urls

    def read(self, ref: int, host: HostRow) -> Task:
        return self._texts.read(ref, host)

    def head(self, host: int, skip: Container[int], most: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        prefix = (host << 1 | 1).to_bytes(4, "big")
        with self._txn.cursor(self._urls) as cursor:
            if cursor.set_range(prefix):
                for entry in cursor.iternext(keys=True, values=False):
                    if entry[:4] != prefix:
                        break
                    ref = int.from_bytes(entry[5:], "big")
                    if ref not in skip:
                        found.append((entry[4], ref))
                        if len(found) == most:
                            break
        return found

    def hosts(self, start: str, most: int) -> list[str]:
        with self._txn.cursor(self._tables["hosts"]) as cursor:
            if not cursor.set_range(start.encode() or b"\0"):
                return []
            return [name.decode() for name in itertools.islice(cursor.iternext(values=False), most)]

    def ends(self, host: int, start: int, most: int) -> list[tuple[int, int, int]]:
        prefix = (host << 1).to_bytes(4, "big")
        found: list[tuple[int, int, int]] = []
        with self._txn.cursor(self._urls) as cursor:
            if cursor.set_range(_KEY.pack(host << 1, start)):
                for key, row in itertools.islice(cursor.iternext(), most):
                    if key[:4] != prefix:
                        break
                    code = row[6] if len(row) == _ROW.size else 0
                    found.append((int.from_bytes(key[4:], "big"), int.from_bytes(row[:6], "big"), code))
        return found

    def enter_host(self, domain: int, position: int, name: str) -> None:
        self._put("host_backlogs", _BACKLOG.pack(domain, position), name.encode())

    def leave_host(self, domain: int, position: int) -> None:
        self._delete("host_backlogs", _BACKLOG.pack(domain, position))

    def next_host(self, domain: int, after: int) -> tuple[int, str] | None:
        with self._txn.cursor(self._tables["host_backlogs"]) as cursor:
            if cursor.set_range(_BACKLOG.pack(domain, after + 1)):
                owner, position = _BACKLOG.unpack(cursor.key())
                if owner == domain:
                    return position, cursor.value().decode()
        return None

    def enter_domain(self, position: int, name: str) -> None:
        self._put("domain_backlog", _NUMBER.pack(position), name.encode())

    def leave_domain(self, position: int) -> None:
        self._delete("domain_backlog", _NUMBER.pack(position))

    def next_domain(self, after: int) -> tuple[int, str] | None:
        with self._txn.cursor(self._tables["domain_backlog"]) as cursor:
            if cursor.set_range(_NUMBER.pack(after + 1)):
                return _NUMBER.unpack(cursor.key())[0], cursor.value().decode()
        return None

    def origin(self, name: str) -> Origin | None:
        row = self._txn.get(name.encode(), db=self._tables["origins"])
        return packing.origin(row) if row else None

    def save_origin(self, origin: Origin) -> None:
        self._put("origins", origin.name.encode(), packing.pack_origin(origin))

    def first_seen(self, fingerprint: int, key: int) -> int:
        row = _NUMBER.pack(fingerprint)
        if self._txn.put(row, _NUMBER.pack(key), overwrite=False, db=self._tables["fingerprints"]):
            self._ahead.writes += 1
            return key
        return int.from_bytes(self._txn.get(row, db=self._tables["fingerprints"]) or b"", "big")

    def blob(self, name: str) -> bytes:
        return self._txn.get(f"blob {name}".encode(), db=self._tables["meta"]) or b""

    def save_blob(self, name: str, data: bytes) -> None:
        self.reserve(2 + len(data) // PAGE)
        self._put("meta", f"blob {name}".encode(), data)

    def reserve(self, writes: int) -> None:
        self._ahead.reserve(writes)

    def crowded(self) -> bool:
        return (self._pages() - self._pages_before) * PAGE > MANY

    def checkpoint(self, meta: Meta) -> None:
        """Make the present state the one that a restart finds. Blocks while the map is synced."""
        self.reserve(_COMMIT)
        length = self._texts.sync()
        self._put("meta", b"meta", packing.pack_meta(meta, length))
        try:
            self._txn.commit()
            self._free_pages()
            self._fit()
        except (lmdb.Error, OSError) as error:  # no transaction is open any more: only a new start helps
            raise OSError(errno.EIO, str(error), str(self._path)) from error
        self._begin()

    def close(self) -> None:
        """Close without a checkpoint. The log holds everything since the last one."""
        with contextlib.suppress(lmdb.Error):  # after a failed checkpoint no transaction is open
            self._txn.abort()
        used = self._used()
        self._env.close()
        self._ahead.cut(used)
        self._ahead.close()
        self._texts.close()

    def _begin(self) -> None:
        self._txn = self._env.begin(write=True)
        self._pages_before = self._pages()

    def _free_pages(self) -> None:
        """Commit once more: LMDB reuses the pages that an earlier commit freed, but not those of the last one."""
        with self._env.begin(write=True) as txn:
            txn.put(b"turned over", b"", db=self._tables["meta"])

    def _fit(self) -> None:
        """Fit the map to the data: twice the used pages, plus room for new ones, never fills.

        Between two checkpoints LMDB copies a page at most once.
        """
        used = self._used()
        need = 2 * used + ROOM
        if self._env.info()["map_size"] < need:
            self._env.set_mapsize(need + need // 4)
        self._ahead.start(used)

    def _used(self) -> int:
        return int(self._env.info()["last_pgno"] + 1) * PAGE

    def _pages(self) -> int:
        """Return the number of pages of all tables, as they are now."""
        stats = [self._txn.stat(table) for table in self._tables.values()]
        return sum(stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"] for stat in stats)

    def _put(self, table: str, key: bytes, value: bytes) -> None:
        self._txn.put(key, value, db=self._tables[table])
        self._ahead.writes += 1 + len(value) // PAGE

    def _delete(self, table: str, key: bytes) -> None:
        self._txn.delete(key, db=self._tables[table])
        self._ahead.writes += 1


def _due(entry: bytes, row: bytes) -> DueUrl:
    return DueUrl(
        at=int.from_bytes(entry[4:8], "big"), ref=int.from_bytes(entry[8:], "big"), history=packing.history(row)
    )
