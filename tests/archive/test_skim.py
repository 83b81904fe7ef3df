"""Heads are those of the full reader, whatever the file is."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.archive.captures import any_capture, capture, files, write
from tests.batch import warcs
from windrow.archive import ArchiveError, WarcRecord, records
from windrow.archive.skim import Wanted
from windrow.archive.skim import read as heads
from windrow.data import Capture

ALL: Wanted = {kind: () for kind in (b"warcinfo", b"request", b"response", b"revisit", b"metadata", b"resource")}


def assert_equal(path: Path, end: int | None = None) -> None:
    """Compare with the full reader: the same records, each with a part of its block."""
    for whole, head in zip(records(path, end=end), heads(path, ALL, end), strict=True):
        assert (head.offset, head.length, head.version) == (whole.offset, whole.length, whole.version)
        assert (head.headers, head.size) == (whole.headers, whole.size)
        assert whole.block.startswith(head.block)
        if whole.type not in ("response", "revisit"):
            assert head.block == whole.block


@given(st.lists(any_capture, min_size=1, max_size=4))
def test_heads_equal_those_of_the_full_reader(tmp_path_factory: pytest.TempPathFactory, made: list[Capture]) -> None:
    directory = tmp_path_factory.mktemp("crawl")
    write(directory, made)
    for path in files(directory):
        assert_equal(path)


def test_a_body_is_not_unpacked(tmp_path: Path) -> None:
    write(tmp_path, [capture(body=bytes(range(256)) * 4000)])
    [found] = [one for one in heads(files(tmp_path)[0], ALL) if one.type == "response"]
    assert len(found.block) < 10_000 < found.size
    assert b"\r\n\r\n" in found.block


def test_a_body_that_contains_gzip_members_does_not_end_its_record(tmp_path: Path) -> None:
    inner = gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    stored = b"".join(inner + number.to_bytes(4, "little") for number in range(3000))
    path = tmp_path / "a.warc.gz"
    record = warcs.record("http://a.example/", stored)
    path.write_bytes(gzip.compress(record, 0) + gzip.compress(record))
    assert_equal(path)
    assert len(list(heads(path, ALL))) == 2


@pytest.mark.parametrize("packing", ["", "gzip", "zstd"])
def test_files_of_other_programs_are_read_in_any_packing(tmp_path: Path, packing: str) -> None:
    made = [warcs.record(f"http://a.example/{number}", b"<p>x</p>" * number) for number in (1, 10, 5000)]
    assert_equal(warcs.write(tmp_path / "a.warc", made, packing))


def test_records_that_share_a_member_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(warcs.record("http://a.example/", b"a") + warcs.record("http://b.example/", b"b")))
    assert_equal(path)


def test_a_header_with_folded_lines_and_blanks_is_that_of_the_full_reader(tmp_path: Path) -> None:
    header = b"WARC/1.0\r\nWARC-Type: response\r\nX-Folded: a\r\n b\r\nX-Blank:   c \r\nContent-Length: 4\r\n\r\n"
    made = [warcs.record("http://a.example/", b"a"), header + b"body\r\n\r\n", warcs.record("http://b.example/", b"b")]
    path = warcs.write(tmp_path / "a.warc.gz", made)
    assert_equal(path)
    assert dict(list(heads(path, ALL))[1].headers)["X-Folded"] == "a b"


def test_an_http_head_longer_than_the_first_step_is_complete(tmp_path: Path) -> None:
    made = warcs.record("http://a.example/", b"a", X_Long="y" * 20_000)
    path = warcs.write(tmp_path / "a.warc.gz", [made, made])
    assert [b"y" * 20_000 in found.block for found in heads(path, ALL)] == [True, True]
    assert_equal(path)


def test_only_the_committed_part_is_read(tmp_path: Path) -> None:
    write(tmp_path, [capture("http://a.example/"), capture("http://b.example/")])
    path = files(tmp_path)[0]
    end = next(one for one in records(path) if one.type == "metadata")
    with path.open("ab") as file:
        file.write(b"\x1f\x8b\x08 half a record")
    assert_equal(path, end.offset + end.length)
    assert [one.target for one in heads(path, {b"response": ()}, end.offset + end.length)] == ["http://a.example/"]


def test_an_empty_file_has_no_record(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"")
    assert list(heads(path, ALL)) == []


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_torn_file_gives_what_is_whole_and_then_the_place_of_the_damage(tmp_path: Path, cut: int) -> None:
    write(tmp_path, [capture("http://a.example/"), capture("http://b.example/")])
    path = files(tmp_path)[0]
    path.write_bytes(path.read_bytes()[:-cut])
    assert outcome(lambda: heads(path, ALL)) == outcome(lambda: records(path))


def test_garbage_between_records_is_damage_at_its_place(tmp_path: Path) -> None:
    one = gzip.compress(warcs.record("http://a.example/", b"a"))
    path = tmp_path / "a.warc.gz"
    path.write_bytes(one + b"garbage" + one)
    assert outcome(lambda: heads(path, ALL)) == outcome(lambda: records(path))


def outcome(read: Callable[[], Iterator[WarcRecord]]) -> tuple[list[int], int]:
    """Return the offsets of the records, and that of the damage."""
    found: list[WarcRecord] = []
    try:
        found.extend(one for one in read())
    except ArchiveError as error:
        return [one.offset for one in found], error.offset
    return [one.offset for one in found], -1


def test_records_that_are_not_wanted_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, [capture("http://a.example/")])
    path = files(tmp_path)[0]
    assert [one.type for one in heads(path, {b"response": ()})] == ["response"]
    assert [one.type for one in heads(path, {b"metadata": (b"via: ",)})] == ["metadata"]
    assert list(heads(path, {b"metadata": (b"no such text",)})) == []
    plain = warcs.write(tmp_path / "plain.warc", [warcs.record("http://a.example/", b"a")], "")
    assert list(heads(plain, {b"response": (b"no such text",)})) == []
