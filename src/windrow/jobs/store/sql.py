"""A database with tables: documents, captures, and one row per crawl that says how far it is stored.

What differs between databases is a `Dialect`. Rows and position are written in one transaction. It begins with the
position, which must still be the one that this process knows: that locks its row, so of two processes that store the
same crawl one waits for the other, and then finds that it is late.
"""

# ruff: noqa: S608 - names of tables and columns are constants of this module; every value is a parameter
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from windrow.config import ConfigError
from windrow.io import storage
from windrow.jobs.store.protocol import CaptureRow, DocumentRow, Gone, StorageBatch, StorageLost, StoragePosition, taken

Connection = Any  # of a library with the interface of PEP 249
_MANY = 500  # rows per statement that removes


class Dialect(NamedTuple):
    connect: Callable[[str], Connection]  # takes the address
    error: type[Exception]  # of every error of the library
    exists: type[Exception]  # of a row whose key is there already
    lost: tuple[type[Exception], ...]  # of errors that may pass
    types: dict[str, str]  # of columns, see TABLES
    mark: str  # for a value in a statement
    upsert: str  # what follows an INSERT, with a place for the key
    update: str  # of one column in it, with places for its name
    moment: Callable[[str], str]  # a time in UTC as the database reads it
    rows: Callable[[Connection, str, Sequence[object]], Iterator[Sequence[Any]]]  # of a SELECT, with bounded memory
    fix: str = "check that the server runs, and the address, the user and the password"


class TableForm(NamedTuple):
    name: str
    columns: dict[str, str]  # name -> type
    key: tuple[str, ...]


DOCUMENTS = TableForm(
    "windrow_documents",
    {
        **{"id": "key", "crawl": "key", "url": "text", "domain": "text", "time": "time", "language": "text"},
        **{"title": "text", "author": "text", "date": "text", "text": "long", "document": "json"},
    },
    ("id",),
)
CAPTURES = TableForm(
    "windrow_captures",
    {
        **{"crawl": "key", "seq": "integer", "url": "text", "kind": "text", "time": "time", "status": "integer"},
        **{"reason": "text", "detail": "text", "language": "text", "digest": "text"},
        **{"warc_filename": "text", "warc_record_offset": "integer", "warc_record_length": "integer"},
        **{"downloaded": "integer", "kept": "integer"},
    },
    ("crawl", "seq"),
)
POSITIONS = TableForm("windrow_positions", {"crawl": "key", "position": "long"}, ("crawl",))


class SqlStorage:
    """See `Storage`."""

    seconds = 1.0

    def __init__(self, dialect: Dialect, target: str, captures: bool) -> None:
        self._dialect, self._captures = dialect, captures
        self._shown = storage.without_password(target)
        self._known: dict[str, str] = {}  # by crawl: the position as it was read or written last
        try:
            self._connection = dialect.connect(target)
        except (dialect.error, OSError) as error:
            problem = storage.describe(error).partition(": ")[2] or storage.describe(error)
            raise ConfigError(f"{self._shown} cannot be opened: {problem}; {dialect.fix}") from None
        except ValueError:  # its text may have a part of the password
            raise ConfigError(f"{self._shown} is not an address; {storage.ESCAPES}") from None
        with self._checked(), self._transaction() as cursor:
            for table in (DOCUMENTS, POSITIONS, *((CAPTURES,) if captures else ())):
                self._ensure(cursor, table)

    def position(self, crawl: str) -> StoragePosition | None:
        with self._checked(), self._transaction() as cursor:
            cursor.execute(f"SELECT position FROM {POSITIONS.name} WHERE crawl = {self._dialect.mark}", (crawl,))
            row = cursor.fetchone()
        self._known.pop(crawl, None)
        if not row:
            return None
        self._known[crawl] = row[0]
        return msgspec.json.decode(row[0], type=StoragePosition)

    def write(self, batch: StorageBatch) -> None:
        position = msgspec.json.encode(batch.position).decode()
        with self._checked(), self._transaction() as cursor:
            self._advance(cursor, batch.position.crawl, position)
            self._put(cursor, DOCUMENTS, [self._values(row) for row in batch.documents])
            self._put(cursor, CAPTURES, [self._values(row) for row in batch.captures])
        self._known[batch.position.crawl] = position

    def remove(self, crawl: str, gone: Gone) -> int:
        removed = 0
        with self._checked(), self._transaction() as cursor:
            self._advance(cursor, crawl, self._known.get(crawl, ""))
            for table in self._tables:
                key, mark = table.key[-1], self._dialect.mark
                query = f"SELECT {key}, url FROM {table.name} WHERE crawl = {mark}"
                ids = [own for own, url in self._dialect.rows(self._connection, query, (crawl,)) if gone(url)]
                statement = f"DELETE FROM {table.name} WHERE crawl = {mark} AND {key} = {mark}"
                for start in range(0, len(ids), _MANY):
                    cursor.executemany(statement, [(crawl, own) for own in ids[start : start + _MANY]])
                removed += len(ids) if table is DOCUMENTS else 0
        return removed

    def clear(self, crawl: str) -> None:
        with self._checked(), self._transaction() as cursor:
            self._advance(cursor, crawl, self._known.get(crawl, ""))
            for table in self._tables:
                cursor.execute(f"DELETE FROM {table.name} WHERE crawl = {self._dialect.mark}", (crawl,))

    @property
    def _tables(self) -> tuple[TableForm, ...]:
        return (DOCUMENTS, CAPTURES) if self._captures else (DOCUMENTS,)

    def _advance(self, cursor: Any, crawl: str, position: str) -> None:
        """Replace the position that this process knows; the same one again locks its row."""
        mark, version = self._dialect.mark, self._known.get(crawl)
        if version is not None:
            statement = f"UPDATE {POSITIONS.name} SET position = {mark} WHERE crawl = {mark} AND position = {mark}"
            cursor.execute(statement, (position, crawl, version))
            if cursor.rowcount != 1:
                raise taken(self._shown, crawl)
        elif position:
            try:
                cursor.execute(f"INSERT INTO {POSITIONS.name} VALUES ({mark}, {mark})", (crawl, position))
            except self._dialect.exists:
                raise taken(self._shown, crawl) from None

    def close(self) -> None:
        with contextlib.suppress(self._dialect.error):  # it may be lost already
            self._connection.close()

    def _ensure(self, cursor: Any, table: TableForm) -> None:
        """Make a table, or refuse one that has other columns."""
        columns = [f"{name} {self._dialect.types[kind]} NOT NULL" for name, kind in table.columns.items()]
        columns.append(f"PRIMARY KEY ({', '.join(table.key)})")
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join(columns)})")
        cursor.execute(f"SELECT * FROM {table.name} WHERE 1 = 0")
        names = [column[0] for column in cursor.description]
        missing = [name for name in table.columns if name not in names]
        if missing:
            problem = f"{self._shown}: the table {table.name} has no column {missing[0]}, so it is not one of Windrow"
            raise ConfigError(f"{problem}, or of another version; rename it, or name another database")

    def _put(self, cursor: Any, table: TableForm, rows: Sequence[Sequence[object]]) -> None:
        if not rows:
            return
        names = list(table.columns)
        marks = ", ".join([self._dialect.mark] * len(names))
        changed = ", ".join(self._dialect.update.format(name) for name in names)
        end = self._dialect.upsert.format(key=", ".join(table.key), changed=changed)
        cursor.executemany(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks}) {end}", rows)

    def _values(self, row: DocumentRow | CaptureRow) -> list[object]:
        values = msgspec.structs.asdict(row)
        values["time"] = self._dialect.moment(row.time)
        return list(values.values())

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        cursor = self._connection.cursor()
        try:
            yield cursor
            self._connection.commit()
        except BaseException:
            with contextlib.suppress(self._dialect.error):  # the connection may be lost: then there is nothing to undo
                self._connection.rollback()
            raise
        finally:
            with contextlib.suppress(self._dialect.error):
                cursor.close()

    @contextlib.contextmanager
    def _checked(self) -> Iterator[None]:
        try:
            yield
        except self._dialect.lost as error:
            raise StorageLost(f"{self._shown} is lost: {storage.describe(error)}") from None
        except self._dialect.error as error:
            problem = f"{self._shown} refuses: {storage.describe(error)}"
            raise ConfigError(f"{problem}; fix that and run the same command again") from None
