"""Documents are removed from a shard, and its length stays."""

import gzip
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from isal import igzip_lib

from windrow.config import ConfigError
from windrow.corpus import detect, purge, reader
from windrow.corpus.purge import Replacement
from windrow.corpus.reader import ShardFile

chance = random.Random(5)
WORDS = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(500)]


def line(number: int, words: int = 80) -> bytes:
    text = " ".join(chance.choices(WORDS, k=words))
    place = f'{{"file":"warc/x.warc.gz","offset":{number},"length":9,"digest":"A"}}'
    return f'{{"format":1,"url":"http://a.test/{number}","place":{place},"paragraphs":["{text}"]}}\n'.encode()


def shard(path: Path, *members: list[bytes], level: int = 2) -> list[int]:
    """Write a shard; return where its members begin, and its length."""
    packed = [igzip_lib.compress(b"".join(lines), level, igzip_lib.COMP_GZIP) for lines in members]
    path.write_bytes(b"".join(packed))
    return [sum(map(len, packed[:count])) for count in range(len(packed) + 1)]


def apply(path: Path, gone: set[int]) -> list[Replacement]:
    found = list(purge.replacements(path, path.stat().st_size, lambda file, offset: offset in gone))
    with path.open("r+b") as file:
        for one in found:
            file.seek(one.offset)
            file.write(one.data)
    return found


def lines(path: Path) -> Iterator[bytes]:
    """Read the shard with each of our readers and with Python's own: all must agree."""
    found = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    assert [text for text, _, _ in reader.lines(ShardFile(path, path.stat().st_size, "x"))] == found
    if found:
        assert [record.raw for record, _ in detect.read(path)] == found
    return iter(found)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("gone", [{0}, {4}, {2, 9}, set(range(5)), set(range(15))], ids=str)
def test_the_listed_documents_go_and_all_others_and_the_length_stay(gone: set[int], level: int, tmp_path: Path) -> None:
    path = tmp_path / "n0-00000.jsonl.gz"
    documents = [line(number) for number in range(15)]
    starts = shard(path, documents[:5], documents[5:10], documents[10:], level=level)
    found = apply(path, gone)
    assert sum(one.documents for one in found) == len(gone)
    assert [one.offset for one in found] == sorted({starts[number // 5] for number in gone})
    assert path.stat().st_size == starts[-1]
    assert list(lines(path)) == [text for number, text in enumerate(documents) if number not in gone]
    assert apply(path, gone) == [], "a second time there is nothing to do"


def test_a_member_can_be_filled_up_by_any_number_of_bytes() -> None:
    text = line(1)
    shortest = next(length for length in range(2000) if purge.packed(text, length) is not None)
    for length in (*range(shortest, shortest + 40), shortest + 100_000):
        made = purge.packed(text, length)
        assert made is not None and len(made) == length and gzip.decompress(made) == text
        assert igzip_lib.decompress(made, igzip_lib.DECOMP_GZIP) == text
    assert purge.packed(text, shortest - 1) is None


@pytest.mark.parametrize(("gone", "begins", "ends"), [(0, 0, 2), (6, 1, 3), (12, 1, 3)])
def test_lines_that_do_not_fit_into_their_member_go_into_it_and_its_neighbour(
    gone: int, begins: int, ends: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "n0-00000.jsonl.gz"
    documents = [line(number) for number in range(15)]
    starts = shard(path, documents[:5], documents[5:10], documents[10:])
    room, packed = max(end - start for start, end in itertools.pairwise(starts)), purge.packed
    monkeypatch.setattr(purge, "packed", lambda text, length: packed(text, length) if length > room else None)
    (found,) = apply(path, {gone})
    assert (found.offset, found.offset + len(found.data)) == (starts[begins], starts[ends])
    assert list(lines(path)) == [text for number, text in enumerate(documents) if number != gone]


def test_a_shard_without_room_or_with_damage_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "n0-00000.jsonl.gz"
    shard(path, [line(1), line(2)])
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(ConfigError, match="byte 0: the file ends too early"):
        list(purge.replacements(path, len(whole), lambda file, offset: True))
    path.write_bytes(whole[:40] + bytes(40) + whole[80:])
    with pytest.raises(ConfigError, match="byte 0: damaged"):
        list(purge.replacements(path, len(whole), lambda file, offset: True))
    path.write_bytes(whole)
    monkeypatch.setattr(purge, "packed", lambda text, length: None)
    with pytest.raises(ConfigError, match="do not fit into"):
        list(purge.replacements(path, len(whole), lambda file, offset: True))
