"""Seed lists: which URLs are read, and the message for a line that cannot be read."""

import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from windrow.config import ConfigError
from windrow.frontier import seeds
from windrow.records import Kind


def write(folder: Path, content: bytes, name: str = "seeds.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def texts(path: Path | str) -> list[str]:
    return [url.text for url in seeds.read(path)]


def complaint(path: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        seeds.read(path)
    message = str(raised.value)
    assert "\n" not in message
    return message.replace(str(path), "seeds.txt")


LIST = """\ufeff# our seeds
http://example.org/#top

  https://example.com/a   # a comment
https://example.com/a#b
example.net/path
example.net:8080
127.0.0.1/x
bücher.example
HTTP://EXAMPLE.ORG
#http://example.edu/
"""
URLS = [
    "http://example.org/",
    "https://example.com/a",
    "http://example.net/path",
    "http://example.net:8080/",
    "http://127.0.0.1/x",
    "http://xn--bcher-kva.example/",
]


def test_a_list_is_read_in_its_order_and_each_url_once(tmp_path: Path) -> None:
    assert texts(write(tmp_path, LIST.encode())) == URLS


def test_windows_and_old_mac_line_ends_are_accepted(tmp_path: Path) -> None:
    assert texts(write(tmp_path, LIST.replace("\n", "\r\n").encode())) == URLS
    assert texts(write(tmp_path, LIST.replace("\n", "\r").encode())) == URLS


def test_a_compressed_list_is_read_whatever_its_name(tmp_path: Path) -> None:
    assert texts(write(tmp_path, gzip.compress(LIST.encode()), "seeds.txt.gz")) == URLS
    assert texts(write(tmp_path, gzip.compress(LIST.encode()), "seeds")) == URLS
    assert texts(write(tmp_path, LIST.encode(), "plain.gz")) == URLS


def test_a_dash_means_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(LIST.encode())))
    assert texts("-") == URLS


BAD = [
    "htp://example.org/",
    "ftp://example.org/",
    "mailto:me@example.org",
    "me@example.org",
    "example",
    "/path.html",
    "//example.org/",
    "http://",
    "http://exa mple.org/",
    "javascript:alert(1)",
    "example.org:port/",
    "http://example..org/",
]


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_is_named_with_its_number_and_the_fix(tmp_path: Path, line: str) -> None:
    assert complaint(write(tmp_path, f"# one\nhttp://a.org/\n {line}\n".encode())) == (
        f"seeds.txt, line 3: {line!r} is not an http or https URL; "
        "write it as https://example.org/page, or put # before the line"
    )


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    assert complaint(write(tmp_path, b"a\nhttp://a.org\nb\nc\n")).startswith(
        "seeds.txt, line 1: 'a' is not an http or https URL (and 2 more lines are not); "
    )


def test_a_long_bad_line_is_cut(tmp_path: Path) -> None:
    assert len(complaint(write(tmp_path, b"x" * 100000))) < 300


@pytest.mark.parametrize("content", [b"", b"\n \n", b"# nothing\n", b"\xef\xbb\xbf"])
def test_a_list_without_urls_is_an_error(tmp_path: Path, content: bytes) -> None:
    assert complaint(write(tmp_path, content)) == (
        "seeds.txt holds no URL; write at least one, one per line, such as https://example.org/"
    )


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    assert complaint(write(tmp_path, b"http://a.org/\nhttp://caf\xe9.org/\n")) == (
        "seeds.txt, line 2: b'http://caf\\xe9.org/' is not UTF-8; save the list as UTF-8"
    )


def test_a_list_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    assert complaint(tmp_path / "none.txt") == "there is no seed list seeds.txt; check the path"
    assert complaint(tmp_path) == "cannot read seed list seeds.txt: Is a directory; check the path and its permissions"


@pytest.mark.parametrize("cut", [4, 20, -1])
def test_an_incomplete_compressed_list_is_an_error(tmp_path: Path, cut: int) -> None:
    message = complaint(write(tmp_path, gzip.compress(LIST.encode())[:cut]))
    assert message.startswith("seed list seeds.txt is incomplete or damaged gzip (")
    assert message.endswith("; compress it again")


def test_a_damaged_compressed_list_is_an_error(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(LIST.encode()))
    for place in (12, 40, -6):
        damaged = bytes(whole[:place]) + bytes([whole[place] ^ 0xFF]) + bytes(whole[place:][1:])
        assert complaint(write(tmp_path, damaged)).startswith("seed list seeds.txt is incomplete or damaged gzip (")


def test_seeds_become_tasks_of_depth_zero(tmp_path: Path) -> None:
    found = seeds.read(write(tmp_path, LIST.encode()))
    tasks = seeds.tasks(found)
    assert [task.url for task in tasks] == found
    assert {(task.kind, task.depth, task.distance, task.priority, task.via, task.attempt) for task in tasks} == {
        (Kind.PAGE, 0, 0, 128, "", 0)
    }
