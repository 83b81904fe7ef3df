"""Every kind of storage, each with a reader that does not share our code."""

import contextlib
import gzip
import json
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem

from tests.hdfs import Hdfs
from tests.jobs.store import servers
from tests.jobs.store.mongo import MongoServer
from tests.jobs.store.servers import Database, Server
from windrow.jobs.store import folder as folders
from windrow.jobs.store import objects

Rows = list[dict[str, Any]]


class Kind(NamedTuple):
    """A storage that is empty at first."""

    name: str
    url: str
    rows: Callable[[str], Rows]  # of "documents" or "captures", as its own client reads them
    server: Server | MongoServer | Hdfs | None = None  # that can be killed and started again


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Database]:
    database = servers.postgresql()
    yield database
    database.close()


@pytest.fixture(scope="session")
def mysql() -> Iterator[Database]:
    database = servers.mysql()
    yield database
    database.close()


@pytest.fixture(scope="session")
def mongodb() -> Iterator[Database]:
    database = servers.mongodb()
    yield database
    database.close()


def of_table(connection: Any) -> Callable[[str], Rows]:
    """Read a table with a client of its own."""

    def rows(table: str) -> Rows:
        with connection() as client:
            cursor = client.cursor()
            cursor.execute(f"SELECT * FROM windrow_{table}")
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    return rows


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for a process that has compared a position and not replaced it: a test knows that there is none."""
    monkeypatch.setattr(objects, "_GRACE", 0.0)


def rename_as_hdfs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files here get their names as on HDFS: by a rename that is refused if the name is taken."""

    def move(own: object, source: str, target: str) -> None:
        if Path(target).exists():
            raise FileExistsError(target)
        Path(source).rename(target)

    monkeypatch.setattr(folders, "_RENAMED", ())
    monkeypatch.setattr(LocalFileSystem, "mv", move)


def of_files(system: Any, folder: str, written: tuple[str, ...] = ()) -> Callable[[str], Rows]:
    """`written`: how the names of files end that a process is writing now."""

    def contents(kind: str) -> list[bytes]:
        """Read all files; once more if one of them is removed meanwhile."""
        for _ in range(100):
            system.invalidate_cache()
            paths = [path for path in sorted(system.find(folder)) if f"/{kind}/" in path and not path.endswith(written)]
            assert not [path for path in paths if not path.endswith(".jsonl.gz")], "no half-written file is left"
            with contextlib.suppress(FileNotFoundError):
                return [gzip.decompress(system.cat_file(path)) for path in paths]
        raise AssertionError("files are removed without end")

    def rows(kind: str) -> Rows:
        lines = [line for content in contents(kind) for line in content.splitlines()]
        found = [json.loads(line) for line in lines]
        for row in found if kind == "documents" else []:
            row["text"] = "\n".join(paragraph["text"] for paragraph in row["paragraphs"])
        return found

    return rows


def of_collections(database: Any) -> Callable[[str], Rows]:
    return lambda name: [{**row, "id": row["_id"]} for row in database[f"windrow_{name}"].find()]


def _postgresql(request: pytest.FixtureRequest, path: Path) -> Kind:
    import psycopg

    database: Database = request.getfixturevalue("postgresql")
    schema = f"s{uuid.uuid4().hex[:12]}"
    with psycopg.connect(database.url, autocommit=True) as client:
        client.execute(f"CREATE SCHEMA {schema}")
    url = f"{database.url}?options=-csearch_path%3D{schema}"
    return Kind("postgresql", url, of_table(lambda: psycopg.connect(url)), database.server)


def _mysql(request: pytest.FixtureRequest, path: Path) -> Kind:
    import pymysql

    database: Database = request.getfixturevalue("mysql")
    host, _, port = database.url.partition("@")[2].partition("/")[0].partition(":")

    def connect() -> Any:
        return pymysql.connect(host=host, port=int(port), user="windrow", password="p@ss/word", database="corpus")

    with connect() as client, client.cursor() as cursor:
        for table in ("documents", "captures", "positions"):
            cursor.execute(f"DROP TABLE IF EXISTS windrow_{table}")
    return Kind("mysql", database.url, of_table(connect), database.server)


def _mongodb(request: pytest.FixtureRequest, path: Path) -> Kind:
    import pymongo

    database: Database = request.getfixturevalue("mongodb")
    client: Any = pymongo.MongoClient(database.url)
    request.addfinalizer(client.close)
    client.drop_database("corpus")
    return Kind("mongodb", database.url, of_collections(client["corpus"]), database.server)


def _mongo_wire(request: pytest.FixtureRequest, path: Path) -> Kind:
    """Not the real server, see mongo.py."""
    server = MongoServer()
    request.addfinalizer(server.kill)

    def rows(name: str) -> Rows:
        found = server.collections.get(f"windrow_{name}", {})
        return [{**row, "id": row["_id"]} for row in found.values()]

    return Kind("mongo-wire", server.url, rows, server)


def _sqlite(request: pytest.FixtureRequest, path: Path) -> Kind:
    return Kind("sqlite", f"sqlite:///{path}/corpus.db", of_table(lambda: sqlite3.connect(path / "corpus.db")))


def _directory(request: pytest.FixtureRequest, path: Path) -> Kind:
    return Kind("directory", str(path / "storage"), of_files(fsspec.filesystem("file"), str(path / "storage")))


def _s3(request: pytest.FixtureRequest, path: Path) -> Kind:
    monkeypatch = request.getfixturevalue("monkeypatch")
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": request.getfixturevalue("endpoint"),
        "AWS_CONFIG_FILE": str(path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(path / "none"),
    }.items():
        monkeypatch.setenv(name, value)
    request.addfinalizer(fsspec.get_filesystem_class("s3").clear_instance_cache)
    system = fsspec.filesystem("s3", skip_instance_cache=True)
    bucket = f"bucket-{uuid.uuid4().hex[:8]}"
    system.mkdir(bucket)
    return Kind("s3", f"s3://{bucket}/corpora", of_files(system, f"{bucket}/corpora"))


def _webhdfs(request: pytest.FixtureRequest, path: Path) -> Kind:
    server: Hdfs = request.getfixturevalue("hdfs")
    folder = f"{uuid.uuid4().hex[:8]} č&#?/corpora"
    host, _, port = server.web.partition(":")
    system = fsspec.filesystem("webhdfs", host=host, port=int(port), user="root", skip_instance_cache=True)
    return Kind("webhdfs", f"{server.url}/{folder}", of_files(system, f"/tests/{folder}", (".new", ".ready")), server)


KINDS = {
    "sqlite": _sqlite,
    "directory": _directory,
    "s3": _s3,
    "webhdfs": _webhdfs,
    "postgresql": _postgresql,
    "mysql": _mysql,
    "mongodb": _mongodb,
    "mongo-wire": _mongo_wire,
}


FILES = ("directory", "s3", "webhdfs")  # the kinds that store files
QUICK = ("sqlite", "directory", "mongo-wire")  # the others run the whole contract in `make test-long`


@pytest.fixture(params=[name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in KINDS])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    """Each kind, one after another."""
    return KINDS[request.param](request, tmp_path)


@pytest.fixture(params=[name for name in KINDS if name not in QUICK])
def real(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    """The kinds with a server of another project."""
    return KINDS[request.param](request, tmp_path)


@pytest.fixture
def sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    return _sqlite(request, tmp_path)
