"""Records from files: complete, irregular, torn and hostile."""

import base64
import gzip
import hashlib
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.archive.captures import capture, files, write
from windrow import archive
from windrow.archive import warc
from windrow.archive.reading import unpack


def raw(block: bytes, version: bytes = b"WARC/1.0", end: bytes = b"\r\n", tail: bytes = b"\r\n\r\n") -> bytes:
    header = [
        version,
        b"WARC-Type: resource",
        b"WARC-Record-ID: <urn:uuid:%d>" % len(block),
        b"Content-Length: %d" % len(block),
    ]
    return end.join([*header, b"", b""]) + block + tail


def blocks(path: Path) -> list[bytes]:
    return [found.block for found in archive.records(path)]


def until_error(path: Path) -> tuple[list[archive.WarcRecord], archive.ArchiveError | None]:
    found = []
    try:
        for one in archive.records(path):
            found.append(one)
    except archive.ArchiveError as error:
        return found, error
    return found, None


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A small file of ours: warcinfo and two captures."""
    write(tmp_path, [capture(), capture("http://example.org/2", b"second" * 50)])
    return files(tmp_path)[0]


THREE = [b"one", b"", b"three\r\n\r\nWARC/1.0\r\n"]


@pytest.mark.parametrize("version", [b"WARC/0.17", b"WARC/0.18", b"WARC/1.0", b"WARC/1.1", b"warc/1.0", b"WARC/1.1 "])
@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_plain_files_of_every_version_are_read(tmp_path: Path, version: bytes, end: bytes) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join(raw(block, version, end) for block in THREE))
    assert blocks(path) == THREE
    assert all(
        path.read_bytes()[one.offset :][: one.length] == raw(one.block, version, end) for one in archive.records(path)
    )


def test_one_member_per_record_gives_offsets_and_lengths(tmp_path: Path) -> None:
    path, members = tmp_path / "x.warc.gz", [gzip.compress(raw(block)) for block in THREE]
    path.write_bytes(b"".join(members))
    found = list(archive.records(path))
    assert [one.block for one in found] == THREE
    assert [path.read_bytes()[one.offset :][: one.length] for one in found] == members


def test_one_member_for_the_whole_file_is_read_without_lengths(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gzip.compress(b"".join(map(raw, THREE))))
    assert [(one.block, one.offset, one.length) for one in archive.records(path)] == [(block, 0, 0) for block in THREE]


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_members_may_be_cut_anywhere(tmp_path: Path, size: int) -> None:
    path, whole = tmp_path / "x.warc.gz", b"".join(map(raw, THREE))
    path.write_bytes(b"".join(gzip.compress(whole[at : at + size]) for at in range(0, len(whole), size)))
    assert blocks(path) == THREE


@pytest.mark.parametrize("piece", [1, 2, 3, 19, 1 << 16])
@pytest.mark.parametrize("unpacked", [1, 5, 1 << 18])
def test_pieces_of_any_size_give_the_same_records(
    own: Path, monkeypatch: pytest.MonkeyPatch, piece: int, unpacked: int
) -> None:
    expected = list(archive.records(own))
    monkeypatch.setattr(unpack, "PIECE", piece)
    monkeypatch.setattr(unpack, "UNPACKED", unpacked)
    assert list(archive.records(own)) == expected


@pytest.mark.parametrize("tail", [b"", b"\n", b"\r\n", b"\n\n\n\n\n\n\n\n\n"])
def test_irregular_ends_of_records_are_accepted(tmp_path: Path, tail: bytes) -> None:
    for path, pack in ((tmp_path / "x.warc", bytes), (tmp_path / "x.warc.gz", gzip.compress)):
        path.write_bytes(b"".join(pack(raw(block, tail=tail)) for block in THREE))
        assert blocks(path) == THREE


def test_gzip_members_with_name_extra_and_comment_are_read(tmp_path: Path) -> None:
    path, packed = tmp_path / "x.warc.gz", gzip.compress(raw(b"one"), mtime=0)
    path.write_bytes(
        (packed[:3] + b"\x1c" + packed[4:10] + b"\x04\x00abcd" + b"name\x00" + b"comment\x00" + packed[10:]) * 2
    )
    assert blocks(path) == [b"one", b"one"]


def test_folded_and_repeated_headers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(
        b"WARC/1.0\r\nwarc-type: Metadata\r\nX: a\r\n b\r\n\tc\r\nx:d\r\n"
        b"no header\r\nCONTENT-LENGTH: 2\r\n\r\nhi\r\n\r\n"
    )
    (found,) = archive.records(path)
    assert (
        found.type == "metadata"
        and found.all("x") == ["a b c", "d"]
        and found.header("X") == "a b c"
        and found.header("none") == ""
    )


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    (tmp_path / "x.warc.gz").touch()
    assert blocks(tmp_path / "x.warc.gz") == [] and archive.tail(tmp_path / "x.warc.gz") == 0


def test_a_file_cut_at_any_byte_is_reported_and_its_tail_found(own: Path, tmp_path: Path) -> None:
    whole, cut = own.read_bytes(), tmp_path / "cut.warc.gz"
    ends = [0, *(one.offset + one.length for one in archive.records(own))]
    assert ends[-1] == len(whole) and len(ends) == 8
    for size in range(len(whole) + 1):
        cut.write_bytes(whole[:size])
        last = max(end for end in ends if end <= size)
        found, error = until_error(cut)
        assert len(found) == ends.index(last)
        assert (error is None) == (size == last) and (error is None or error.offset == last)
        assert archive.tail(cut) == last


def test_the_tail_ends_where_a_record_has_no_end_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(
        gzip.compress(raw(b"one")) + gzip.compress(raw(b"two") + raw(b"three")) + gzip.compress(raw(b"four"))
    )
    assert archive.tail(path) == len(gzip.compress(raw(b"one")))
    path.write_bytes(raw(b"one") + raw(b"two", tail=b"\r\n\r"))
    assert archive.tail(path) == len(raw(b"one"))


@pytest.mark.parametrize("size", [1, 2, 17, 18, 4096, 100_000])
@pytest.mark.parametrize("fill", [b"\x00", b"\xff", b"\x1f\x8b", b"\x1f\x8b\x08", b"garbage", b"WARC/1.1\r\n", b"\r\n"])
def test_other_bytes_after_the_last_record_are_reported(own: Path, fill: bytes, size: int) -> None:
    whole = own.read_bytes()
    own.write_bytes(whole + (fill * size)[:size])
    found, error = until_error(own)
    assert len(found) == 7 and error is not None and error.offset == len(whole) and str(own) in str(error)
    assert archive.tail(own) == len(whole)


@pytest.mark.parametrize("bit", [0x01, 0x20, 0x80])
def test_every_flipped_bit_is_detected_or_changes_nothing(own: Path, tmp_path: Path, bit: int) -> None:
    whole, spoilt = own.read_bytes(), tmp_path / "spoilt.warc.gz"
    expected = list(archive.records(own))
    for at in range(len(whole)):
        spoilt.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
        found, error = until_error(spoilt)
        checked = [one for one in found if one.length]
        assert error is not None or checked == expected
        assert checked == expected[: len(checked)]


def test_the_tail_ends_before_a_block_that_differs_from_its_digest(tmp_path: Path) -> None:
    write(tmp_path, [capture()])
    plain = tmp_path / "x.warc"
    plain.write_bytes(gzip.decompress(files(tmp_path)[0].read_bytes()))
    assert archive.tail(plain) == plain.stat().st_size
    assert [archive.verify(one) for one in archive.records(plain)] == [None, None, True, None]
    second = [one.offset for one in archive.records(plain)][2]
    plain.write_bytes(plain.read_bytes().replace(b"<html>hello", b"<html>hullo"))
    assert archive.tail(plain) == second
    assert [archive.verify(one) for one in archive.records(plain)] == [None, None, False, None]


@pytest.mark.parametrize(
    ("digest", "verdict"),
    [
        ("sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N", False),
        ("SHA-1:f7ff9e8b7bb2e09b70935a5d785e0cc5d9d0abf0", True),
        ("sha1:677Z5C33WLQJW4ETLJOXQXQMYXM5BK7Q", True),
        ("sha1:677z5c33wlqjw4etljoxqxqmyxm5bk7q", True),
        ("md5:8b1a9953c4611296a827abf8c47804d7", True),
        ("sha1:9/+ei3uy4Jtwk1pdeF4MxdnQq/A=", True),
        ("sha1:9_-ei3uy4Jtwk1pdeF4MxdnQq_A", True),
        ("sha1:9/+ei3uy4Jtwk1pdeF4MxdnQq/E=", False),
        ("sha1:9/+ei3uy4Jtwk1pd", False),
        ("sha1:f7ff9e8b7bb2e09b70935a5d785e0cc5d9d0abfx", False),
        ("sha1:\N{LATIN SMALL LETTER E WITH ACUTE}", False),
        ("sha1:=", False),
        ("sha1:not base 32!", False),
        ("xxh3:00", None),
        ("", None),
    ],
)
def test_a_digest_is_read_in_the_encoding_that_its_length_tells(
    tmp_path: Path, digest: str, verdict: bool | None
) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(b"WARC/1.0\r\nWARC-Block-Digest: %b\r\nContent-Length: 5\r\n\r\nHello\r\n\r\n" % digest.encode())
    assert [archive.verify(one) for one in archive.records(path)] == [verdict]


@pytest.mark.parametrize("algorithm", ["md5", "MD5", "sha1", "sha-1", "sha256", "SHA-256", "sha384", "sha512"])
@pytest.mark.parametrize(
    "encode", [base64.b16encode, bytes.hex, base64.b32encode, base64.b64encode, base64.urlsafe_b64encode]
)
def test_every_usual_digest_is_checked_with_and_without_padding(
    tmp_path: Path, algorithm: str, encode: Callable[[bytes], bytes | str]
) -> None:
    written = []
    for block in (b"Hello", b"Hullo"):
        text = encode(hashlib.new(algorithm.replace("-", ""), block).digest())
        written.append(text if isinstance(text, str) else text.decode())
    path = tmp_path / "x.warc"
    found = []
    for text in (*written, *(text.rstrip("=") for text in written)):
        header = f"WARC/1.0\r\nWARC-Block-Digest: {algorithm}:{text}\r\nContent-Length: 5\r\n\r\n"
        path.write_bytes(header.encode() + b"Hello\r\n\r\n")
        found += [archive.verify(one) for one in archive.records(path)]
    assert found == [True, False, True, False]


@pytest.mark.parametrize(
    "length",
    [
        b"99999999999999999999",
        b"999999999999999999",
        b"-1",
        b"+3",
        b"0x10",
        b"3 3",
        "٣".encode(),
        b"",
        b"1e3",
        b"9" * 5000,
    ],
)
def test_an_absurd_length_is_refused_without_using_memory(tmp_path: Path, length: bytes) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(b"WARC/1.0\r\nContent-Length: %b\r\n\r\nabc\r\n\r\n" % length)
    found, error = until_error(path)
    assert found == [] and error is not None and error.offset == 0


def test_an_endless_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gzip.compress(b"WARC/1.0\r\n" + b"X: y\r\n" * 1_000_000))
    found, error = until_error(path)
    assert found == [] and error is not None and "header" in error.what


def test_the_rest_of_a_block_too_large_to_keep_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "MAX_BLOCK", 1000)
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gzip.compress(raw(bytes(3_000_000))) + gzip.compress(raw(b"next")))
    assert [(len(one.block), one.size) for one in archive.records(path)] == [(1000, 3_000_000), (4, 4)]
    assert [archive.verify(one) for one in archive.records(path)] == [None, None]


def test_a_bomb_is_unpacked_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, packer = tmp_path / "x.warc.gz", zlib.compressobj(9, wbits=31)
    packed = packer.compress(b"WARC/1.0\r\nContent-Length: 999999999999\r\n\r\n") + b"".join(
        packer.compress(bytes(1 << 20)) for _ in range(64)
    )
    path.write_bytes(packed + packer.flush())
    monkeypatch.setattr(warc, "MAX_BLOCK", 1 << 20)
    tracemalloc.start()
    found, error = until_error(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [] and error is not None and f"of {999999999999} bytes" in error.what
    assert peak < 4 << 20


def test_nothing_beyond_the_end_is_read(own: Path) -> None:
    whole = list(archive.records(own))
    own.write_bytes(own.read_bytes() + b"\x1f\x8bnot committed")
    for count, one in enumerate(whole):
        assert list(archive.records(own, end=one.offset)) == whole[:count]
        assert list(archive.records(own, one.offset, one.offset + one.length)) == [one]
