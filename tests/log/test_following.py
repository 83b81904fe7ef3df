"""A log is read in pieces, and gives the same as when it is read at once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import entry, frame, ok, page, task, write
from windrow import log
from windrow.log import START, Bookmark, Hosts, Meter, Removals, Totals, writer
from windrow.log.following import follow
from windrow.log.writer import Log
from windrow.records import Frame, Order, Reason
from windrow.takedown import Takedown


class Numbers:
    """A fold that remembers which frames it got."""

    reads = ("url",)

    def __init__(self) -> None:
        self.frames: list[int] = []

    def add(self, head: log.Head, lines: Sequence[log.Line]) -> None:
        self.frames.append(head.frame)


def folds() -> tuple[Any, ...]:
    return Totals(), Hosts(), Meter(), Removals(Takedown())


def some(number: int) -> Frame:
    """Return frame n: seeds, pages, failures, orders, each in some frames only."""
    entries = [ok(number, f"{number}", f"{number}/a", f"{number}/b", kept=10 * number, clean=20 * number)]
    entries += [page(f"{number}/x", f"h{number}.example", reason=Reason.QUALITY)] * (number % 3)
    entries += [entry(task(f"{number}/y"), Reason.TIMEOUT, seconds=1.0, final=False)] * (number % 2)
    block = Order(str(number), float(number), "block", (f"h{number}.example",))
    return frame(number, *entries, seeds=(task(f"s{number}"),), orders=(block,) * (number % 4 == 1))


def files(path: Path, count: int) -> list[tuple[str, bytes]]:
    """Return the members of a log, each with the name of its file."""
    home = path / "made"
    home.mkdir()
    ends = write(home, *[some(number) for number in range(1, count + 1)])
    members, before = [], ("", 0)
    for name, end in ends:
        start = before[1] if before[0] == name else 0
        members.append((name, (home / name).read_bytes()[start:end]))
        before = (name, end)
    return members


@pytest.mark.parametrize("longest", [64 << 20, 700])
def test_a_log_that_is_read_at_every_frame_while_it_is_written_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, longest: int
) -> None:
    monkeypatch.setattr(writer, "LONGEST", longest)
    members = files(tmp_path, 12)
    assert (len({name for name, _ in members}) > 1) == (longest == 700)
    home = tmp_path / "crawl" / "log"
    home.mkdir(parents=True)
    pieces, position = folds(), START
    for name, member in members:
        for at in (0, len(member) // 2):  # a frame that is half written does not exist
            with (home / name).open("ab") as file:
                file.write(member[at : len(member) // 2 if at == 0 else None])
            moved = follow(home.parent, position, *pieces)
            assert moved is not None
            assert (moved == position) == (at == 0)
            position = moved
    whole = folds()
    assert follow(home.parent, START, *whole) == position
    assert pieces == whole
    assert position.frame == 12 and not position.notes


@given(st.lists(st.integers(1, 4), max_size=8), st.integers(200, 3000))
def test_pieces_of_any_length_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int], longest: int
) -> None:
    path = tmp_path_factory.mktemp("log")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "LONGEST", longest)
        number, end = 1, ("", 0)
        pieces, position = folds(), START
        for step in steps:
            journal = Log(path / "log", end)
            for _ in range(step):
                end = journal.append(log.encode(some(number)))
                number += 1
            journal.close()
            stored = msgspec.msgpack.encode(position)  # positions and folds are data
            copies = tuple(msgspec.msgpack.decode(msgspec.msgpack.encode(fold), type=type(fold)) for fold in pieces)
            pieces = copies
            moved = follow(path, msgspec.msgpack.decode(stored, type=Bookmark), *pieces)
            assert moved is not None
            position = moved
        whole = folds()
        (path / "log").mkdir(exist_ok=True)
        assert follow(path, START, *whole) == position
    assert pieces == whole and position.frame == number - 1


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    home = tmp_path / "log"
    numbers = Numbers()
    write(home, frame(1, ok(1, "a")), frame(2, ok(2, "b")))
    position = follow(tmp_path, START, numbers)
    assert position is not None and follow(tmp_path, position, numbers) == position
    write(home, frame(3, ok(3, "c")))
    read: list[int] = []
    later = follow(tmp_path, position, numbers, watch=read.append)
    assert numbers.frames == [1, 2, 3]
    assert later is not None and read == [later.offset - position.offset]


def test_a_position_in_a_log_that_recovery_has_cut_is_gone(tmp_path: Path) -> None:
    home = tmp_path / "log"
    positions = write(home, *[some(number) for number in range(1, 5)])
    path = home / positions[0][0]
    position = follow(tmp_path, START)
    assert position is not None
    content = path.read_bytes()
    path.write_bytes(content[: positions[1][1]])
    assert follow(tmp_path, position) is None, "the file is shorter"
    with path.open("ab") as file:  # a frame of the same length and another one, as after a restart
        file.write(log.encode(msgspec.structs.replace(some(3), time=7.0)) + log.encode(some(4)) * 2)
    assert follow(tmp_path, position) is None, "the frame is another one"
    path.write_bytes(content)
    assert follow(tmp_path, position) == position


def test_a_position_in_another_log_is_gone(tmp_path: Path) -> None:
    for name, time in (("one", 5.0), ("two", 6.0)):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "log", msgspec.structs.replace(frame(1), time=time))
    position = follow(tmp_path / "one", START)
    assert position is not None and follow(tmp_path / "two", position) is None
    (tmp_path / "two" / "log" / position.file).unlink()
    assert follow(tmp_path / "two", position) is None


def test_a_file_before_the_position_that_has_gone_or_changed_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "LONGEST", 100)
    write(tmp_path / "log", *[some(number) for number in range(1, 4)])
    position = follow(tmp_path, START)
    assert position is not None and position.file == "00002.jsonl.gz"
    first = tmp_path / "log" / "00000.jsonl.gz"
    content = first.read_bytes()
    first.write_bytes(content[:-1])
    assert follow(tmp_path, position) is None
    first.unlink()
    assert follow(tmp_path, position) is None
    first.write_bytes(content)
    assert follow(tmp_path, position) == position


def test_frames_of_a_process_that_had_lost_the_crawl_are_gone(tmp_path: Path) -> None:
    home = tmp_path / "log"
    ends = write(home, some(1), some(2))
    numbers = Numbers()
    position = follow(tmp_path, START, numbers)
    assert position is not None and numbers.frames == [1, 2]
    journal = Log(home, ends[0], apart=True)  # another process has the log from the first frame on
    journal.append(log.encode(msgspec.structs.replace(some(2), follows=journal.follows)))
    journal.close()
    assert follow(tmp_path, position) is None
    again = Numbers()
    later = follow(tmp_path, START, again)
    assert again.frames == [1, 2] and later is not None and later.file == "00001.jsonl.gz"


def test_a_gap_is_noted_and_stays_noted(tmp_path: Path) -> None:
    write(tmp_path / "log", frame(1), frame(4))
    position = follow(tmp_path, START)
    assert position is not None
    note = "frame 4 follows frame 1: the frames between them are lost or damaged, and are not counted"
    assert position.notes == (note,)
    write(tmp_path / "log", frame(5))
    later = follow(tmp_path, position)
    assert later is not None and later.notes == (note,)


def test_damage_in_a_file_that_is_complete_is_noted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LONGEST", 100)
    ends = write(tmp_path / "log", *[some(number) for number in range(1, 4)])
    damaged = tmp_path / "log" / ends[1][0]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    position = follow(tmp_path, START)
    assert position is not None and position.file == ends[2][0]
    expected = (
        "frame 3 follows frame 1: the frames between them are lost or damaged, and are not counted",
        f"log/{ends[1][0]}: {ends[1][1] - 1:,} bytes after the last whole frame were left out",
    )
    assert position.notes == expected
    assert follow(tmp_path, position) == position


def test_a_stored_position_is_checked_as_it_is_read() -> None:
    for wrong in ({"file": "../../etc/passwd"}, {"file": "00000.jsonl.gz\n"}, {"offset": -1}, {"offset": 1 << 63}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, Bookmark)
