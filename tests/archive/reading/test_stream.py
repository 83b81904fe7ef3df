"""Archive files with zstd, one frame per record, with and without a dictionary; damage is named, with its offset."""

from pathlib import Path

import pytest
import zstandard

from windrow import archive
from windrow.archive import ArchiveError

RECORD = b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:%d>\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"


def records(count: int) -> list[bytes]:
    return [RECORD % (number, 7 * number, b"payload" * number) for number in range(1, count + 1)]


def write(path: Path, frames: list[bytes], before: bytes = b"", known: bytes = b"") -> list[int]:
    """Write a file; return the offset of each frame."""
    dictionary = zstandard.ZstdCompressionDict(known) if known else None
    packed = [zstandard.ZstdCompressor(dict_data=dictionary).compress(frame) for frame in frames]
    path.write_bytes(before + b"".join(packed))
    return [len(before) + sum(map(len, packed[:number])) for number in range(len(packed))]


def skipped(data: bytes, magic: bytes = b"\x5d\x2a\x4d\x18") -> bytes:
    return magic + len(data).to_bytes(4, "little") + data


def test_records_have_the_offsets_and_lengths_of_their_frames(tmp_path: Path) -> None:
    offsets = write(tmp_path / "a", records(4))
    found = list(archive.records(tmp_path / "a"))
    assert [record.offset for record in found] == offsets
    assert [record.block for record in found] == [b"payload" * number for number in range(1, 5)]
    assert found[-1].offset + found[-1].length == (tmp_path / "a").stat().st_size
    assert [record.offset for record in archive.records(tmp_path / "a", offsets[2])] == offsets[2:]


def test_a_dictionary_serves_every_offset(tmp_path: Path) -> None:
    known = zstandard.train_dictionary(3000, records(300)).as_bytes()
    offsets = write(tmp_path / "a", records(300), skipped(known), known)
    assert [record.offset for record in archive.records(tmp_path / "a")] == offsets
    assert next(archive.records(tmp_path / "a", offsets[250])).block == b"payload" * 251


def test_other_skipped_frames_are_skipped(tmp_path: Path) -> None:
    offsets = write(tmp_path / "a", records(2), skipped(b"note", b"\x50\x2a\x4d\x18"))
    assert [record.offset for record in archive.records(tmp_path / "a")] == offsets


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[:-5], "the file ends inside the zstd frame that begins here"),
        (lambda data: data[:-20] + b"\xff" * 20, "damaged|expected a WARC record|followed by"),
    ],
)
def test_damage_is_an_error_after_the_intact_records(damage: object, words: str, tmp_path: Path) -> None:
    offsets = write(tmp_path / "a", records(3))
    (tmp_path / "a").write_bytes(damage((tmp_path / "a").read_bytes()))  # type: ignore[operator]
    found = []
    with pytest.raises(ArchiveError, match=words) as raised:
        found.extend(archive.records(tmp_path / "a"))
    assert raised.value.offset == offsets[2]


def test_a_dictionary_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(skipped(b"\x28\xb5\x2f\xfdbroken") + b"\x28\xb5\x2f\xfd")
    with pytest.raises(ArchiveError, match="dictionary of the file is damaged"):
        next(archive.records(tmp_path / "a"))
    assert not archive.is_archive(tmp_path / "a")


def test_a_frame_that_grows_a_thousandfold_is_read_whole(tmp_path: Path) -> None:
    size = 40 << 20
    compressor = zstandard.ZstdCompressor().compressobj()
    head = b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: %d\r\n\r\n" % size
    packed = [compressor.compress(head)] + [compressor.compress(bytes(1 << 20)) for _ in range(40)]
    (tmp_path / "a").write_bytes(b"".join([*packed, compressor.compress(b"\r\n\r\n"), compressor.flush()]))
    (record,) = archive.records(tmp_path / "a")
    assert (record.size, len(record.block)) == (size, size)
