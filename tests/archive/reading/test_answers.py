"""Responses with their metadata, from files of every kind, also behind damage."""

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.archive.captures import any_capture, capture, files, write
from tests.jobs import warcs
from windrow.archive import ArchiveError, Damage, records
from windrow.archive.reading import repair
from windrow.archive.reading.answers import Answers
from windrow.records import Capture

RECORD = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"


@given(st.lists(any_capture, min_size=1, max_size=4))
def test_each_response_is_an_answer_with_its_metadata(
    tmp_path_factory: pytest.TempPathFactory, made: list[Capture]
) -> None:
    directory = tmp_path_factory.mktemp("crawl")
    write(directory, made)
    for path in files(directory):
        written = list(records(path))
        answers = list(Answers(path).read())
        assert [answer.record for answer in answers] == [one for one in written if one.type in ("response", "revisit")]
        assert [answer.notes for answer in answers] == [one.block for one in written if one.type == "metadata"]


@pytest.mark.parametrize("packing", ["", "gzip", "zstd"])
def test_files_of_other_programs_are_read_in_any_packing(tmp_path: Path, packing: str) -> None:
    made = [warcs.record(f"http://a.example/{number}", b"<p>x</p>" * number) for number in (1, 10, 5000)]
    path = warcs.write(tmp_path / "a.warc", made, packing)
    assert [answer.record for answer in Answers(path).read()] == list(records(path))


def test_only_the_committed_part_is_read(tmp_path: Path) -> None:
    write(tmp_path, [capture("http://a.example/"), capture("http://b.example/")])
    path = files(tmp_path)[0]
    end = next(one for one in records(path) if one.type == "metadata")
    with path.open("ab") as file:
        file.write(b"\x1f\x8b\x08 half a record")
    assert [answer.record.target for answer in Answers(path, end.offset + end.length).read()] == ["http://a.example/"]


def test_an_empty_file_has_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"")
    assert list(Answers(path).read()) == []


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_torn_file_gives_what_is_whole_and_then_the_place_of_the_damage(tmp_path: Path, cut: int) -> None:
    """What is cut has no length: nothing can be opened by its place."""
    made = [gzip.compress(warcs.record(f"http://{name}.example/", b"x" * 3000)) for name in "ab"]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(made)[:-cut])
    damages: list[Damage] = []
    whole = [answer.record.target for answer in Answers(path, report=damages.append).read() if answer.record.length]
    assert (whole, [damage.start for damage in damages]) == (["http://a.example/"], [len(made[0])])
    with pytest.raises(ArchiveError, match=f"byte {len(made[0])}"):
        list(Answers(path).read())


@pytest.mark.parametrize("size", [5, 60_000])
def test_a_flipped_bit_is_damage_wherever_it_is(tmp_path: Path, size: int) -> None:
    """In the checksum of a member, or in its body."""
    made = gzip.compress(warcs.record("http://a.example/", random.Random(1).randbytes(size)), 1, mtime=0)
    path = tmp_path / "a.warc.gz"
    for at in (-8, -len(made) // 3):
        broken = bytearray(made)
        broken[at] ^= 1
        path.write_bytes(made + broken + made)
        found, damages = read(path)
        assert len(found) == 2
        assert [(damage.start, damage.end) for damage in damages] == [(len(made), 2 * len(made))]


def test_garbage_between_two_records_of_the_same_length_is_damage(tmp_path: Path) -> None:
    """The end of the second one has the length of the first."""
    parts = [gzip.compress(RECORD % (3000, letter * 3000)) for letter in (b"a", b"b")]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(parts[0] + b"garbage" + parts[1])
    found, damages = read(path)
    assert len(found) == 2
    assert [(damage.start, damage.end) for damage in damages] == [(len(parts[0]), len(parts[0]) + 7)]
    path.write_bytes(parts[0][:-9] + parts[1])
    found, damages = read(path)
    assert (len(found), [damage.start for damage in damages]) == (1, [0])


def test_a_block_that_was_cut_is_read_in_full_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair, "MAX_BLOCK", 1 << 19)
    path = warcs.write(tmp_path / "a.warc.gz", [warcs.record("http://a.example/", b"hello" * 200_000)] * 2)
    reading = Answers(path, report=lambda damage: None)
    answers = list(reading.read())
    assert [len(answer.record.block) for answer in answers] == [1 << 19] * 2
    assert [reading.block(answer) for answer in answers] == [record.block for record in records(path)]


def read(path: Path, check: bool = False) -> tuple[list[str], list[Damage]]:
    damages: list[Damage] = []
    return [answer.record.target for answer in Answers(path, check=check, report=damages.append).read()], damages


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("packing", ["", "gzip", "zstd"])
def test_what_is_behind_damage_is_read_too(tmp_path: Path, packing: str, check: bool) -> None:
    made = [warcs.record(f"http://{name}.example/", name.encode() * 3000) for name in "abc"]
    parts = [warcs.write(tmp_path / "part", [one], packing).read_bytes() for one in made]
    path = tmp_path / "a.warc"
    path.write_bytes(parts[0] + b"garbage\r\n" + parts[1] + parts[2][:-40])
    found, damages = read(path, check)
    assert found == ["http://a.example/", "http://b.example/"]
    assert [damage.start for damage in damages] == [len(parts[0]), len(parts[0]) + 9 + len(parts[1])]
    assert damages[0].end == len(parts[0]) + 9
    with pytest.raises(ArchiveError, match=f"byte {len(parts[0])}"):
        list(Answers(path, check=check).read())


def test_a_record_with_a_wrong_length_is_named_and_has_no_answer(tmp_path: Path) -> None:
    """Who opens it by its place would find the damage."""
    good, bad = (warcs.record(f"http://{name}.example/", b"x" * 3000) for name in ("good", "bad"))
    parts = [gzip.compress(one) for one in (good, bad.replace(b"Content-Length: 3", b"Content-Length: 2", 1), good)]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(parts))
    found, damages = read(path)
    assert found == ["http://good.example/"] * 2
    assert [(damage.start, damage.file) for damage in damages] == [(len(parts[0]), str(path))]


def test_records_that_share_a_member_are_named_once(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    shared = gzip.compress(b"".join(warcs.record(f"http://{name}.example/", b"x") for name in "abc"))
    path.write_bytes(gzip.compress(warcs.record("http://own.example/", b"x")) + shared)
    damages: list[Damage] = []
    reading = Answers(path, report=damages.append)
    for answer in reading.read():
        if not answer.record.length:
            reading.shared(answer)
    [damage] = damages
    assert "shares its gzip member" in damage.what and damage.start == path.stat().st_size - len(shared)


def test_a_record_that_does_not_match_its_digest_is_skipped_when_everything_is_checked(tmp_path: Path) -> None:
    made = warcs.record("http://a.example/", b"abc" * 1000)
    wrong = made.replace(b"abcabc", b"abcabd", 1)
    path = warcs.write(tmp_path / "a.warc.gz", [made, wrong, made])
    assert (len(read(path)[0]), read(path)[1]) == (3, [])
    found, [damage] = read(path, check=True)
    assert len(found) == 2
    assert (damage.start, damage.end) == (len(gzip.compress(made)), len(gzip.compress(made) + gzip.compress(wrong)))
