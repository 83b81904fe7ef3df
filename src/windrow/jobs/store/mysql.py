"""MySQL and MariaDB, through PyMySQL: mysql://USER:PASSWORD@HOST:PORT/DATABASE, or …/DATABASE?unix_socket=PATH."""

import urllib.parse
from collections.abc import Iterator, Sequence
from typing import Any

import pymysql
import pymysql.constants.CLIENT
import pymysql.cursors

from windrow.config import ConfigError
from windrow.jobs.store.sql import Connection, Dialect, SqlStorage

_TIMEOUT = 10  # seconds to connect
_READ = 300  # seconds for an answer


def open(target: str, captures: bool) -> SqlStorage:
    return SqlStorage(DIALECT, target, captures)


def _connect(target: str) -> Connection:
    parts = urllib.parse.urlsplit(target)
    database = parts.path.strip("/")
    if not database:
        raise ConfigError("the address of MySQL must end in the name of a database: mysql://USER@HOST/DATABASE")
    further = dict(urllib.parse.parse_qsl(parts.query))
    socket = {"unix_socket": further["unix_socket"]} if "unix_socket" in further else {}
    return pymysql.connect(
        host=parts.hostname or "localhost",
        port=parts.port or 3306,
        user=urllib.parse.unquote(parts.username or "") or None,
        password=urllib.parse.unquote(parts.password or ""),
        database=database,
        charset="utf8mb4",
        connect_timeout=_TIMEOUT,
        read_timeout=_READ,
        write_timeout=_READ,
        client_flag=pymysql.constants.CLIENT.FOUND_ROWS,  # an UPDATE counts the rows that it has found, changed or not
        init_command="SET SESSION sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00'",
        **socket,
    )


def _rows(connection: Connection, query: str, values: Sequence[object]) -> Iterator[Sequence[Any]]:
    with connection.cursor(pymysql.cursors.SSCursor) as cursor:  # rows stay on the server
        cursor.execute(query, values)
        yield from cursor


_TEXT = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

DIALECT = Dialect(
    connect=_connect,
    error=pymysql.Error,
    exists=pymysql.err.IntegrityError,
    lost=(pymysql.OperationalError, pymysql.InterfaceError),
    types={
        "key": f"varchar(190) {_TEXT}",
        "text": f"longtext {_TEXT}",  # a hostile page has a title of any length
        "long": f"longtext {_TEXT}",
        "integer": "bigint",
        "time": "datetime(3)",
        "json": "json",
    },
    mark="%s",
    upsert="ON DUPLICATE KEY UPDATE {changed}",
    update="{0} = VALUES({0})",
    moment=lambda text: text.rstrip("Z").replace("T", " "),
    rows=_rows,
)
