"""Files elsewhere: addresses, drivers and their errors."""

import random
import socket
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.jobs import ranges
from windrow.config import ConfigError
from windrow.io import storage


def test_a_place_with_a_scheme_is_remote() -> None:
    assert [storage.is_remote(place) for place in ("s3://b/k", "https://a/", "/a/b", "a:b", "C:/x")] == [
        *(True, True, False, False, False),
    ]
    assert storage.path("s3://bucket/key") == "bucket/key"
    assert storage.path("https://a.example/x") == "https://a.example/x"


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("postgresql://me:p%40ss@host:5432/db", "postgresql://me@host:5432/db"),
        ("mysql://me:p@ss@host/db?x=1", "mysql://me@host/db?x=1"),
        ("postgresql://host/db?user=me&password=secret&x=1", "postgresql://host/db?user=me&password=…&x=1"),
        ("postgresql://me:se/cr@et@host/db", "postgresql://me@host/db"),
        ("mysql://me:3/se?cret@host/db", "mysql://me@host/db"),
        ("mongodb://host:27017/db?password=se@cret", "mongodb://host:27017/db?password=…"),
        ("https://a.example:80/x@y", "https://a.example:80/x@y"),
        ("s3://bucket/a:b@c", "s3://bucket/a:b@c"),
        ("/a/b:c@d", "/a/b:c@d"),
    ],
)
def test_an_address_is_shown_without_its_password(place: str, shown: str) -> None:
    assert storage.without_password(place) == shown


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(ConfigError, match="nonesuch://x"):
        storage.filesystem("nonesuch://x/y")


def test_a_file_that_is_missing_on_a_server_is_named(tmp_path: Path) -> None:
    with ranges.serve(tmp_path) as server:
        place = f"{server.url}/none.txt"
        system, path = storage.filesystem(place)
        with pytest.raises(ConfigError, match=r"none\.txt: there is no such file"):
            storage.attempt(place, lambda: system.cat_file(path))


def test_an_error_of_a_driver_is_one_sentence() -> None:
    def fail() -> None:
        raise RuntimeError("first\nsecond")

    with pytest.raises(ConfigError, match="s3://b cannot be reached: RuntimeError: first second; check"):
        storage.attempt("s3://b", fail)


def test_files_below_a_folder_are_found_in_order(tmp_path: Path) -> None:
    for name in ("b/2.x", "a/1.x", "a/1.y", "3.x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert [path.relative_to(tmp_path).as_posix() for path in storage.walk(tmp_path, ".x")] == ["3.x", "a/1.x", "b/2.x"]


def reading(server: ranges.RangeServer, name: str) -> BinaryIO:
    return storage.RemotePath(f"{server.url}/{name}").open()


def test_a_remote_file_is_read_in_blocks_from_any_offset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "BLOCK", 1000)
    data = random.Random(1).randbytes(2500)
    (tmp_path / "a.bin").write_bytes(data)
    with ranges.serve(tmp_path) as server, reading(server, "a.bin") as file:
        assert file.read(4) == data[:4]
        assert (file.seek(0, 2), file.read()) == (2500, b"")
        file.seek(990)
        assert file.read(1020) == data[990:2010]
        file.seek(0)
        assert file.read() == data
        blocks = [wanted for _, wanted in server.requests]
        assert blocks == ["bytes=0-999", "bytes=1000-1999", "bytes=2000-2499"]  # each one once: the last three stay


def test_readers_of_the_same_file_share_its_blocks(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"abc")
    with ranges.serve(tmp_path) as server, reading(server, "a.bin") as one, reading(server, "a.bin") as other:
        assert (one.read(), other.read()) == (b"abc", b"abc")
        assert len(server.requests) == 1


def test_of_a_server_without_ranges_a_copy_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "BLOCK", 1000)
    data = random.Random(1).randbytes(2500)
    (tmp_path / "a.bin").write_bytes(data)
    with ranges.serve(tmp_path) as server:
        server.ranges = False
        with reading(server, "a.bin") as file:
            assert file.read() == data


def test_a_request_that_fails_is_repeated_and_a_file_that_breaks_off_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "BLOCK", 1000)
    monkeypatch.setattr(storage, "WAIT", 0.0)
    (tmp_path / "a.bin").write_bytes(bytes(2500))
    with ranges.serve(tmp_path) as server, reading(server, "a.bin") as file:
        server.failures = 3
        assert len(file.read(1000)) == 1000
        server.breaks = 1500
        with pytest.raises(ConfigError, match=r"a\.bin, byte 1000: cannot be read \(.*\); run the command again"):
            file.read()


def test_a_missing_remote_file_and_a_server_that_does_not_answer_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "WAIT", 0.0)
    with ranges.serve(tmp_path) as server:
        with pytest.raises(ConfigError, match=r"none\.bin: there is no such file"):
            reading(server, "none.bin")
        assert not storage.RemotePath(f"{server.url}/none.bin").is_file()
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}/a.bin"
    with pytest.raises(ConfigError, match=r"a\.bin cannot be reached: .*; check the address"):
        storage.RemotePath(address).open()


def test_a_server_that_is_busy_is_not_taken_for_a_missing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "WAIT", 0.0)
    (tmp_path / "a.bin").write_bytes(b"abc")
    with ranges.serve(tmp_path) as server:
        server.failures = 5
        with reading(server, "a.bin") as file:
            assert file.read() == b"abc"
        server.failures = 99
        with pytest.raises(ConfigError, match=r"a\.bin cannot be reached: .*503"):
            reading(server, "a.bin")


def test_an_address_has_the_parts_of_a_path() -> None:
    path = storage.place("s3://bucket/warc/a.warc.gz")
    assert (path.name, path.suffix, path.parent.name, str(path.parent.parent / "b")) == (
        *("a.warc.gz", ".gz", "warc", "s3://bucket/b"),
    )
    assert storage.place("file:///a%20b/c") == Path("/a b/c")
    assert storage.place("a/b") == Path("a/b")
