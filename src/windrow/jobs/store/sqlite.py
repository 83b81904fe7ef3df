"""SQLite, of Python itself: sqlite:///relative/path.db, sqlite:////absolute/path.db."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from windrow.jobs.store.sql import Connection, Dialect, SqlStorage

_TIMEOUT = 60  # seconds to wait for another process that writes


def open(target: str, captures: bool) -> SqlStorage:
    return SqlStorage(DIALECT, target, captures)


def _connect(target: str) -> Connection:
    connection = sqlite3.connect(target.partition("://")[2].removeprefix("/"), timeout=_TIMEOUT)
    connection.execute("PRAGMA synchronous = FULL")  # a commit survives a power loss
    return connection


def _rows(connection: Connection, query: str, values: Sequence[object]) -> Iterator[Sequence[Any]]:
    yield from connection.execute(query, values)


DIALECT = Dialect(
    connect=_connect,
    error=sqlite3.Error,
    exists=sqlite3.IntegrityError,
    lost=(),
    types={"key": "text", "text": "text", "long": "text", "integer": "integer", "time": "text", "json": "text"},
    mark="?",
    upsert="ON CONFLICT ({key}) DO UPDATE SET {changed}",
    update="{0} = excluded.{0}",
    moment=lambda text: text,
    rows=_rows,
    fix="check the path: its directory must exist, and both must be writable (sqlite:///FILE, sqlite:////ABSOLUTE/FILE)",
)
