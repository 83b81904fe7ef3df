"""The table of n-grams: it grows, forgets, is saved, and is rebuilt from its redo file."""

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings

from tests.dedup.tables import content
from windrow.config import ConfigError
from windrow.dedup import table as tables
from windrow.dedup.table import NgramTable

Hashes = npt.NDArray[np.uint64]


def hashes(seed: int, count: int) -> Hashes:
    return np.random.default_rng(seed).integers(0, 1 << 64, count, dtype=np.uint64)


def filled(count: int, limit: int = 1 << 30, batch: int = 700) -> tuple[NgramTable, Hashes]:
    table, all_hashes = NgramTable(limit), hashes(1, count)
    for start in range(0, count, batch):
        table.add(all_hashes[start : start + batch])
    return table, all_hashes


def test_only_added_ngrams_are_found_while_the_table_doubles() -> None:
    table, worst = NgramTable(1 << 30), 0.0
    known, foreign = hashes(1, 1_700_000), hashes(2, 20_000)
    for start in range(0, len(known), 1000):
        table.add(known[start : start + 1000])
        if len(table) > 500_000:
            worst = max(worst, table.nbytes / len(table))
        if start % 50_000 == 0:
            assert table.find(known[: start + 1000]).seen.all()
            assert not table.find(known[start + 1000 : start + 9000]).seen.any()
            assert not table.find(foreign).seen.any()
    assert len(table) == len(known)
    assert 5 < table.nbytes / len(table) <= worst <= 12


def test_a_full_young_generation_becomes_the_old_one_and_the_old_is_forgotten() -> None:
    table, known = filled(2_000_000, 16 << 20)
    seen = table.find(known).seen
    assert table.forgotten > 0
    assert len(table) + table.forgotten == len(known)
    assert seen[table.forgotten :].all() and not seen[: table.forgotten].any()
    assert table.nbytes <= 16 << 20


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.integers(0, 40).map(lambda number: number * 0x0123456789ABCDEF % (1 << 64)), max_size=30),
        max_size=8,
    )
)
def test_the_table_is_a_set(batches: list[list[int]]) -> None:
    table, expected = NgramTable(16 << 20), set()
    for batch in batches:
        array = np.array(batch, np.uint64)
        assert table.find(array).seen.tolist() == [number >> 16 in expected for number in batch]
        table.add(array)
        expected |= {number >> 16 for number in batch}
        assert len(table) == len(expected)


def test_a_hash_whose_fingerprint_is_zero_is_found() -> None:
    table = NgramTable(1 << 28)
    odd = np.array([0, 5 << 48, (7 << 48) + (1 << 47), 9 << 40], np.uint64)
    assert not table.find(odd).seen.any()
    table.add(odd)
    table.add(hashes(3, 900_000))
    assert table.find(odd).seen.all()


def test_a_crowded_bucket_overflows_and_loses_nothing() -> None:
    table = NgramTable(1 << 28)
    crowd = np.arange(3000, dtype=np.uint64) << np.uint64(16)
    table.add(crowd)
    assert table.find(crowd).seen.all()
    assert not table.find(crowd + np.uint64(3000 << 16)).seen.any()
    table.add(hashes(4, 1_000_000))
    assert table.find(crowd).seen.all()


@pytest.mark.parametrize(
    ("count", "limit"), [(0, 16 << 20), (5000, 16 << 20), (760_000, 1 << 28), (1_900_000, 16 << 20)]
)
def test_a_saved_table_is_read_back_equal_and_stays_equal(tmp_path: Path, count: int, limit: int) -> None:
    table, _ = filled(count, limit)
    table.save(tmp_path / "table", 77)
    again, redo = tables.load(tmp_path / "table", limit)
    assert (redo, len(again), again.forgotten, content(again)) == (77, len(table), table.forgotten, content(table))
    for either in (table, again):
        either.add(hashes(9, 40_000))
    assert content(again) == content(table)
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_a_table_saved_with_more_room_is_read_with_less(tmp_path: Path) -> None:
    table, known = filled(1_700_000, 1 << 30)
    table.save(tmp_path / "table")
    again, _ = tables.load(tmp_path / "table", 16 << 20)
    assert again.find(known).seen.all()


def write_redo(path: Path, table: NgramTable, seeds: range) -> list[int]:
    """Append a record for each seed; return the length of the file after each."""
    lengths = []
    with path.open("ab") as file:
        if not file.tell():
            file.write(tables.REDO)
        for seed in seeds:
            table.add(hashes(seed, 9000))
            table.add(hashes(seed, 10))
            file.write(table.take())
            lengths.append(file.tell())
    return lengths


def test_replaying_the_redo_file_gives_the_same_table_across_generations(tmp_path: Path) -> None:
    table, redo = NgramTable(16 << 20), tmp_path / "redo"
    lengths = write_redo(redo, table, range(200))
    assert table.forgotten and table.take() == b""
    again = NgramTable(16 << 20)
    assert again.replay(redo) == lengths[-1]
    assert (content(again), again.forgotten, again.take()) == (content(table), table.forgotten, b"")


def test_a_saved_table_and_the_rest_of_the_redo_file_give_the_same_table(tmp_path: Path) -> None:
    table, redo = NgramTable(16 << 20), tmp_path / "redo"
    middle = write_redo(redo, table, range(90))[-1]
    table.save(tmp_path / "table", middle)
    end = write_redo(redo, table, range(90, 120))[-1]
    again, start = tables.load(tmp_path / "table", 16 << 20)
    assert again.replay(redo, start) == end
    assert content(again) == content(table)
    assert again.replay(redo, start) == end
    assert content(again) == content(table)


@pytest.mark.parametrize("cut", [1, 15, 17, 40_000])
def test_a_record_cut_short_is_ignored(tmp_path: Path, cut: int) -> None:
    redo = tmp_path / "redo"
    first, second = write_redo(redo, NgramTable(16 << 20), range(2))
    redo.write_bytes(redo.read_bytes()[: second - cut])
    table = NgramTable(16 << 20)
    assert table.replay(redo) == first
    assert table.find(hashes(0, 9000)).seen.all() and not table.find(hashes(1, 9000)).seen.any()


@pytest.mark.parametrize("damage", ["foreign", "short", "flipped", "empty"])
def test_a_damaged_table_is_rejected_in_one_sentence(tmp_path: Path, damage: str) -> None:
    table, _ = filled(5000, 16 << 20)
    path = tmp_path / "table"
    table.save(path)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-3000] ^= 1
    path.write_bytes(
        {"foreign": b"PK\x03\x04" * 99, "short": whole[:-9000], "flipped": bytes(flipped), "empty": b""}[damage]
    )
    with pytest.raises(ConfigError, match="table is not a whole table of n-grams"):
        tables.load(path)


def test_a_file_that_is_no_redo_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "redo").write_bytes(b"something else entirely")
    with pytest.raises(ConfigError, match="not a redo file"):
        NgramTable(16 << 20).replay(tmp_path / "redo")
