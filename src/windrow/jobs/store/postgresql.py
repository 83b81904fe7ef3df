"""PostgreSQL, through psycopg. The address is that of libpq, which also reads PGPASSWORD and ~/.pgpass."""

import urllib.parse
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from windrow.jobs.store.sql import Connection, Dialect, SqlStorage

_TIMEOUT = 10  # seconds to connect
_FETCHED = 10_000  # rows at a time


def open(target: str, captures: bool) -> SqlStorage:
    return SqlStorage(DIALECT, target, captures)


def _connect(target: str) -> Connection:
    if urllib.parse.urlsplit(target).netloc.count("@") > 1:  # libpq takes what follows the first one for the host
        raise ValueError("the password has an @")
    return psycopg.connect(target, connect_timeout=_TIMEOUT)


def _rows(connection: Connection, query: str, values: Sequence[object]) -> Iterator[Sequence[Any]]:
    with connection.cursor(name="windrow") as cursor:  # a cursor with a name stays on the server
        cursor.itersize = _FETCHED
        cursor.execute(query, values)
        yield from cursor


DIALECT = Dialect(
    connect=_connect,
    error=psycopg.Error,
    exists=psycopg.errors.UniqueViolation,
    lost=(psycopg.OperationalError, psycopg.InterfaceError),
    types={
        "key": "text",
        "text": "text",
        "long": "text",
        "integer": "bigint",
        "time": "timestamp with time zone",
        "json": "jsonb",
    },
    mark="%s",
    upsert="ON CONFLICT ({key}) DO UPDATE SET {changed}",
    update="{0} = excluded.{0}",
    moment=lambda text: text,
    rows=_rows,
)
