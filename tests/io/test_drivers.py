"""What is put right in drivers of fsspec. The real HDFS is in tests/jobs/test_hdfs.py."""

import contextlib
import http.server
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import fsspec
import pytest

from windrow.config import ConfigError
from windrow.io import drivers, storage
from windrow.jobs.store.folder import Folder
from windrow.jobs.store.protocol import StorageLost


@contextlib.contextmanager
def nowhere() -> Iterator[str]:
    """Give a host and port where nothing answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    yield address


class NameNode(http.server.BaseHTTPRequestHandler):
    """It has files /a, /b, and a folder /folder; a rename is refused; what its DataNode says of a file is an error."""

    def do_GET(self) -> None:
        if "datanode" in self.path:
            return self._answer({"RemoteException": {"exception": "FileNotFoundException", "message": "gone"}}, 404)
        if "op=OPEN" in self.path:
            host, port = self.server.server_address[:2]
            return self._answer({}, 307, f"http://{host!s}:{port}/datanode?op=OPEN")
        if "op=LISTSTATUS" in self.path and "/folder/inner" in self.path:
            return self._answer({"RemoteException": {"exception": "StandbyException", "message": "not now"}}, 403)
        if "op=LISTSTATUS" in self.path:
            rows = [{"pathSuffix": "inner", "type": "DIRECTORY", "length": 0}]
            return self._answer({"FileStatuses": {"FileStatus": rows}})
        self._answer({"FileStatus": {"pathSuffix": "", "type": "FILE", "length": 5}})

    def do_PUT(self) -> None:
        self._answer({"boolean": False})

    def _answer(self, said: Any, status: int = 200, location: str = "") -> None:
        data = json.dumps(said).encode()
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *values: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), NameNode)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"webhdfs://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()
    fsspec.get_filesystem_class("webhdfs").clear_instance_cache()


@pytest.mark.parametrize("scheme", ["webhdfs", "http"])
def test_a_folder_of_a_server_that_does_not_answer_is_not_empty(scheme: str) -> None:
    with nowhere() as there, pytest.raises(ConfigError, match="cannot be reached"):
        storage.find(f"{scheme}://{there}/folder/", ".gz")


def test_a_folder_inside_that_cannot_be_listed_is_not_empty(address: str) -> None:
    with pytest.raises(ConfigError, match="not now"):
        storage.find(f"{address}/folder", ".gz")
    system, folder = storage.filesystem(f"{address}/folder")
    with pytest.raises(StorageLost, match="not now"):
        Folder(system, folder, address).names(folder)


def test_what_a_datanode_says_of_an_error_is_not_taken_for_the_file(address: str) -> None:
    with pytest.raises(OSError, match="404 Client Error"):
        storage.read(f"{address}/a", 0, 5)


def test_a_rename_that_is_refused_is_an_error(address: str) -> None:
    system, _ = storage.filesystem(f"{address}/a")
    with pytest.raises(FileExistsError, match="/a cannot be renamed to /b: one is missing, or the other exists"):
        system.mv("/a", "/b")


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "_PATIENCE", (5.0, 0.05))
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        there = f"webhdfs://127.0.0.1:{deaf.getsockname()[1]}/folder"
        with pytest.raises(ConfigError, match="cannot be reached: ReadTimeout"):
            storage.find(there, ".gz")


def test_an_address_in_hdfs_has_its_host_and_a_path_behind_it(address: str) -> None:
    place = "webhdfs://me@host:9870/folder/a?b#c.gz"
    assert storage.path(place) == "/folder/a?b#c.gz"
    system, path = storage.filesystem(place)
    assert (path, system.user, system.url) == ("/folder/a?b#c.gz", "me", "http://host:9870/webhdfs/v1")
    assert storage.path("hdfs://host/a") == "/a"
