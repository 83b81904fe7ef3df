"""Files elsewhere: addresses, drivers and their errors."""

from pathlib import Path

import pytest

from tests.batch import ranges
from windrow import storage
from windrow.config import ConfigError


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
