"""ReadOptions behind damage: the next record is found, and what was skipped is named."""

import functools
import gzip
import os
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.archive.captures import capture, files, write
from windrow import archive
from windrow.archive import Damage, WarcRecord
from windrow.archive.reading import repair


def raw(number: int, block: bytes = b"", length: bytes = b"") -> bytes:
    block = block or b"block %d " % number * 20
    head = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:%d>\r\n" % number
    size = length or b"Content-Length: %d\r\n" % len(block)
    return head + size.replace(b"none", b"") + b"\r\n" + block + b"\r\n\r\n"


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


gzipped = functools.partial(gzip.compress, mtime=0)  # two calls give the same bytes
PACKINGS = pytest.mark.parametrize("pack", [bytes, gzipped, zstd], ids=["plain", "gzip", "zstd"])
Pack = Callable[[bytes], bytes]


def read(path: Path, data: bytes) -> tuple[list[WarcRecord], list[Damage]]:
    path.write_bytes(data)
    damages: list[Damage] = []
    return list(archive.records(path, report=damages.append)), damages


def ids(records: list[WarcRecord]) -> list[int]:
    return [int(record.id) for record in records]


@PACKINGS
@pytest.mark.parametrize(
    "garbage", [b"garbage" * 9, random.Random(1).randbytes(5000), b"\x1f\x8b\x08", b"WARC/", b"\x28\xb5\x2f\xfd"]
)
def test_garbage_between_records_is_skipped_and_named(tmp_path: Path, pack: Pack, garbage: bytes) -> None:
    before, after = pack(raw(1)) + pack(raw(2)), pack(raw(3)) + pack(raw(4))
    separator = b"\n" if pack is bytes else b""
    found, damages = read(tmp_path / "a", before + garbage + separator + after)
    assert ids(found) == [1, 2, 3, 4]
    assert (damages[0].start, damages[-1].end) == (len(before), len(before + garbage + separator))
    assert damages[0].file == str(tmp_path / "a")
    data = (tmp_path / "a").read_bytes()
    assert [data[one.offset : one.offset + one.length] for one in found] == [pack(raw(n)) for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("pack", [gzipped, zstd], ids=["gzip", "zstd"])
def test_a_damaged_member_costs_its_own_record_only(tmp_path: Path, pack: Pack) -> None:
    members = [pack(raw(number, os.urandom(3000))) for number in range(5)]
    members[2] = members[2][:1000] + bytes(500) + members[2][1500:]
    found, damages = read(tmp_path / "a", b"".join(members))
    assert ids(found) == [0, 1, 3, 4]
    start = len(members[0] + members[1])
    assert [(damage.start, damage.end) for damage in damages] == [(start, start + len(members[2]))]
    assert "damaged" in damages[0].what


@PACKINGS
@pytest.mark.parametrize("padding", [b"\0" * 4096, b"\r\n" * 9, b"\0"])
def test_padding_between_plain_records_and_at_the_end_is_no_damage(tmp_path: Path, pack: Pack, padding: bytes) -> None:
    found, damages = read(tmp_path / "a", pack(raw(1) + padding) + pack(padding + raw(2)) + pack(padding))
    assert (ids(found), damages) == ([1, 2], [])


def test_zeros_behind_the_last_member_are_named(tmp_path: Path) -> None:
    member = gzipped(raw(1))
    found, damages = read(tmp_path / "a", member + bytes(512))
    assert ids(found) == [1] and [(one.start, one.end) for one in damages] == [(len(member), len(member) + 512)]


@pytest.mark.parametrize("pack", [bytes, gzipped], ids=["plain", "gzip"])
def test_a_file_that_is_cut_gives_the_beginning_of_its_last_record(tmp_path: Path, pack: Pack) -> None:
    text = b"".join([b"text %d " % (number * number) for number in range(2000)])
    last = raw(2, text)
    whole = pack(raw(1)) + pack(last)
    found, damages = read(tmp_path / "a", whole[:-30])
    assert ids(found) == [1, 2]
    assert found[1].size == len(text) and text.startswith(found[1].block) and len(found[1].block) > 5000
    assert [(one.start, one.end) for one in damages] == [(len(pack(raw(1))), len(whole) - 30)]
    assert "the file ends inside the record" in damages[0].what


@pytest.mark.parametrize("shared", [False, True], ids=["one member per record", "one member"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("by", [-30, -1, 5, 100, 200])
def test_a_record_with_a_wrong_length_ends_where_the_next_begins(
    tmp_path: Path, by: int, packed: bool, shared: bool
) -> None:
    block = b"block 2 " * 20
    wrong = raw(2, length=b"Content-Length: %d\r\n" % (len(block) + by))
    parts = [raw(1), wrong, raw(3), raw(4)]
    if packed:
        parts = [gzipped(b"".join(parts))] if shared else list(map(gzipped, parts))
    found, damages = read(tmp_path / "a", b"".join(parts))
    assert ids(found) == [1, 2, 3, 4]
    assert [one.block for one in found] == [b"block %d " % number * 20 for number in range(1, 5)]
    assert len(damages) == 1 and "the record says that it has" in damages[0].what


@PACKINGS
@pytest.mark.parametrize("length", [b"none", b"Content-Length: many\r\n", b"Content-Length: -5\r\n"])
def test_a_record_without_a_length_ends_where_the_next_begins(tmp_path: Path, pack: Pack, length: bytes) -> None:
    found, damages = read(tmp_path / "a", pack(raw(1)) + pack(raw(2, length=length)) + pack(raw(3)))
    assert ids(found) == [1, 2, 3] and found[1].block == b"block 2 " * 20
    assert len(damages) == 1 and "Content-Length" in damages[0].what


def test_lines_that_begin_like_a_record_do_not_divide_an_intact_one(tmp_path: Path) -> None:
    inner = b"text\r\n\r\n" + raw(9) + b"text"
    for pack in (bytes, gzipped):
        found, damages = read(tmp_path / "a", pack(raw(1, inner)) + pack(raw(2)))
        assert (ids(found), damages) == ([1, 2], []) and found[0].block == inner


def test_damage_in_our_own_file_costs_the_captures_it_hits(tmp_path: Path) -> None:
    write(tmp_path, [capture(f"http://example.org/{number}", os.urandom(2000)) for number in range(5)])
    (path,) = files(tmp_path)
    whole = bytearray(path.read_bytes())
    third = [one for one in archive.records(path) if one.type == "response"][2]
    whole[third.offset + 600 : third.offset + 900] = bytes(300)
    path.write_bytes(whole)
    damages: list[Damage] = []
    found = archive.captures(path, archive.ReadOptions(report=damages.append))
    assert [one.capture.url[-1] for one in found] == ["0", "1", "3", "4"]
    assert any(one.start == third.offset and "damaged" in one.what for one in damages)
    assert any("lacks one of its records" in one.what for one in damages)


def test_memory_does_not_grow_with_a_record_that_is_too_large_to_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repair, "MAX_BLOCK", 1 << 20)
    path = tmp_path / "a"
    for length in (b"Content-Length: %d\r\n" % (48 << 20), b"none"):
        path.write_bytes(gzipped(raw(1, bytes(48 << 20), length)) + gzipped(raw(2)))
        tracemalloc.start()
        found = [(int(one.id), len(one.block)) for one in archive.records(path, report=lambda damage: None)]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert [number for number, _ in found] == [1, 2] and found[0][1] <= 1 << 20
        assert peak < 8 << 20


def test_a_file_that_lies_about_every_length_is_not_read_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repair, "_AGAIN", 0)
    given: list[int] = []
    give_back = repair.MemberStream.give_back
    monkeypatch.setattr(
        repair.MemberStream, "give_back", lambda self, data: (given.append(len(data)), give_back(self, data))[1]
    )
    data = b"".join(raw(number, length=b"Content-Length: 100000\r\n") for number in range(2000)) + b"x" * 100_000
    found, _ = read(tmp_path / "a", data)
    assert len(found) > 3 and sum(given) <= 4 * len(data)


def test_a_file_full_of_beginnings_of_members_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair, "_TRIES", 50)
    member, fakes = gzipped(raw(1)), b"\x1f\x8b\x08\xff" * 40
    found, damages = read(tmp_path / "a", member + fakes + member + fakes + member)
    assert ids(found) == [1, 1]
    assert damages[-1].end == (tmp_path / "a").stat().st_size
