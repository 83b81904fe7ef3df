"""Heads are those of the full reader, whatever the file is."""

import gzip
import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.archive.captures import any_capture, capture, files, write
from tests.jobs import warcs
from windrow.archive import ArchiveError, Damage, WarcRecord, records
from windrow.archive.reading import skim
from windrow.archive.reading.skim import Wanted
from windrow.records import Capture

ALL: Wanted = {kind: () for kind in (b"warcinfo", b"request", b"response", b"revisit", b"metadata", b"resource")}


def assert_equal(path: Path, end: int | None = None) -> None:
    """Compare with the full reader: the same records, each with a part of its block."""
    for whole, head in zip(records(path, end=end), skim.read(path, ALL, end), strict=True):
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
    [found] = [one for one in skim.read(files(tmp_path)[0], ALL) if one.type == "response"]
    assert len(found.block) < 10_000 < found.size
    assert b"\r\n\r\n" in found.block


def test_a_body_that_contains_gzip_members_does_not_end_its_record(tmp_path: Path) -> None:
    inner = gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    stored = b"".join(inner + number.to_bytes(4, "little") for number in range(3000))
    path = tmp_path / "a.warc.gz"
    record = warcs.record("http://a.example/", stored)
    path.write_bytes(gzip.compress(record, 0) + gzip.compress(record))
    assert_equal(path)
    assert len(list(skim.read(path, ALL))) == 2


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
    assert dict(list(skim.read(path, ALL))[1].headers)["X-Folded"] == "a b"


def test_an_http_head_longer_than_the_first_step_is_complete(tmp_path: Path) -> None:
    made = warcs.record("http://a.example/", b"a", X_Long="y" * 20_000)
    path = warcs.write(tmp_path / "a.warc.gz", [made, made])
    assert [b"y" * 20_000 in found.block for found in skim.read(path, ALL)] == [True, True]
    assert_equal(path)


def test_only_the_committed_part_is_read(tmp_path: Path) -> None:
    write(tmp_path, [capture("http://a.example/"), capture("http://b.example/")])
    path = files(tmp_path)[0]
    end = next(one for one in records(path) if one.type == "metadata")
    with path.open("ab") as file:
        file.write(b"\x1f\x8b\x08 half a record")
    assert_equal(path, end.offset + end.length)
    assert [one.target for one in skim.read(path, {b"response": ()}, end.offset + end.length)] == ["http://a.example/"]


def test_an_empty_file_has_no_record(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"")
    assert list(skim.read(path, ALL)) == []


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_torn_file_gives_what_is_whole_and_then_the_place_of_the_damage(tmp_path: Path, cut: int) -> None:
    write(tmp_path, [capture("http://a.example/"), capture("http://b.example/")])
    path = files(tmp_path)[0]
    path.write_bytes(path.read_bytes()[:-cut])
    assert outcome(lambda: skim.read(path, ALL)) == outcome(lambda: records(path))


def test_garbage_between_records_is_damage_at_its_place(tmp_path: Path) -> None:
    one = gzip.compress(warcs.record("http://a.example/", b"a"))
    path = tmp_path / "a.warc.gz"
    path.write_bytes(one + b"garbage" + one)
    assert outcome(lambda: skim.read(path, ALL)) == outcome(lambda: records(path))


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
    assert [one.type for one in skim.read(path, {b"response": ()})] == ["response"]
    assert [one.type for one in skim.read(path, {b"metadata": (b"via: ",)})] == ["metadata"]
    assert list(skim.read(path, {b"metadata": (b"no such text",)})) == []
    plain = warcs.write(tmp_path / "plain.warc", [warcs.record("http://a.example/", b"a")], "")
    assert list(skim.read(plain, {b"response": (b"no such text",)})) == []


RECORD = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
PAIRS = tuple((kind, tuple(texts)) for kind, texts in ALL.items())
LEVELS = [(level, strategy) for level in (0, 1, 6, 9) for strategy in range(5)]  # of zlib, with its five strategies


def packed(data: bytes, level: int, strategy: int) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, 31, 8, strategy)
    return packer.compress(data) + packer.flush()


def texts(size: int, letters: int, seed: int) -> bytes:
    """Return bytes that need codes of many lengths: the more letters, the less can be packed."""
    draw = random.Random(seed)
    words = [draw.randbytes(draw.randint(1, 12)) for _ in range(letters)]
    return b"".join(draw.choices(words, [1 / (1 + rank) for rank in range(letters)], k=size // 4))[:size]


def found(find: Callable[..., skim.Start | int], data: bytes) -> list[skim.Start | int]:
    """Return all that is found in a file, up to its end or to the first record that must be read in full."""
    result: list[skim.Start | int] = []
    at = 0
    while at < len(data):
        one = find(data, at, len(data), PAIRS)
        result.append(one)
        if isinstance(one, int):
            break
        at = one[0] + one[1]
    return result


@pytest.mark.parametrize(("level", "strategy"), LEVELS)
def test_the_kernel_equals_its_reference_in_every_packing(level: int, strategy: int) -> None:
    bodies = [texts(size, letters, size) for size in (0, 1, 900, 5000, 90_000) for letters in (1, 40, 2000)]
    made = [warcs.record(f"http://a.example/{number}", body) for number, body in enumerate(bodies)]
    made += [warcs.resource("http://a.example/resource", texts(3000, 300, 7))]
    data = b"".join(packed(one, level, strategy) for one in made)
    result = found(skim.find, data)
    assert result == found(skim.reference_find, data)
    assert len(result) == len(made) and all(isinstance(one, tuple) for one in result)


@given(st.data())
def test_the_kernel_equals_its_reference_where_bytes_are_wrong(data: st.DataObject) -> None:
    """A damaged head or small record must be read in full; a damaged body is not noticed by either."""
    level, strategy = data.draw(st.sampled_from(LEVELS))
    sizes = data.draw(st.lists(st.sampled_from([0, 10, 700, 6000]), min_size=1, max_size=3))
    made = [packed(RECORD % (len(body), body), level, strategy) for body in (texts(size, 60, size) for size in sizes)]
    whole = bytearray(b"".join(made))
    for _ in range(data.draw(st.integers(0, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))])
    ours, theirs = found(skim.find, cut), found(skim.reference_find, cut)
    both = list(zip(ours, theirs, strict=False))
    assert [one for one, _ in both[:-1]] == [other for _, other in both[:-1]]
    if both and both[-1][0] != both[-1][1]:  # one of the two may be more careful, and then it reads the record in full
        assert any(isinstance(one, int) for one in both[-1])


@given(st.binary(max_size=400))
def test_the_kernel_survives_any_bytes(data: bytes) -> None:
    for start in (b"", b"\x1f\x8b\x08\0" + bytes(6)):
        assert isinstance(skim.find(start + data, 0, 1 << 20, PAIRS), int)


def test_the_kernel_refuses_what_is_no_place() -> None:
    record = gzip.compress(warcs.record("http://a.example/", b"a"), mtime=0)
    for find in (skim.find, skim.reference_find):
        assert find(record, len(record), 1 << 20, PAIRS) == len(record)
        assert find(record, 1, 1 << 20, PAIRS) == 1
        assert find(record, 0, 0, PAIRS) == 0


def test_a_member_with_a_file_name_is_read_in_full(tmp_path: Path) -> None:
    record = warcs.record("http://a.example/", b"a")
    named = gzip.compress(record)[:3] + b"\x08" + gzip.compress(record, mtime=0)[4:10] + b"name\0"
    named += gzip.compress(record, mtime=0)[10:]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(record, mtime=0) + named + gzip.compress(record, mtime=0))
    assert_equal(path)
    assert len(list(skim.read(path, ALL))) == 3


def test_a_small_record_with_a_flipped_bit_is_damage(tmp_path: Path) -> None:
    one = gzip.compress(warcs.record("http://a.example/", b"<p>hello</p>"), 1, mtime=0)
    broken = bytearray(one)
    broken[-8] ^= 1  # of the checksum
    path = tmp_path / "a.warc.gz"
    path.write_bytes(one + broken + one)
    damages: list[Damage] = []
    assert [found.offset for found in skim.read(path, ALL, report=damages.append)] == [0, 2 * len(one)]
    assert [(damage.start, damage.end) for damage in damages] == [(len(one), 2 * len(one))]
    with pytest.raises(ArchiveError, match=f"byte {len(one)}"):
        list(skim.read(path, ALL))


def test_garbage_between_two_records_of_the_same_length_is_damage(tmp_path: Path) -> None:
    """The end of the second one has the length of the first."""
    parts = [packed(RECORD % (3000, letter * 3000), 6, 0) for letter in (b"a", b"b")]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(parts[0] + b"garbage" + parts[1])
    damages: list[Damage] = []
    assert [one.offset for one in skim.read(path, ALL, report=damages.append)] == [0, len(parts[0]) + 7]
    assert [(damage.start, damage.end) for damage in damages] == [(len(parts[0]), len(parts[0]) + 7)]
    path.write_bytes(parts[0][:-9] + parts[1])
    assert outcome(lambda: skim.read(path, ALL)) == outcome(lambda: records(path))


@pytest.mark.parametrize("size", [5, 5000, 9_000_000])
def test_a_block_is_read_in_full_by_its_place(tmp_path: Path, size: int) -> None:
    made = [warcs.record("http://a.example/", b"hello" * (size // 5)) for _ in range(2)]
    path = warcs.write(tmp_path / "a.warc.gz", made)
    with path.open("rb") as file:
        for record, start in zip(records(path), skim.starts(path, ALL), strict=True):
            assert isinstance(start, tuple)
            assert skim.block(file, path, start) == record.block
