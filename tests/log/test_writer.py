"""Frames are appended whole, and a long log continues in the next file."""

from pathlib import Path

import msgspec
import pytest

from tests.logs import frame, ok, write
from windrow import log
from windrow.log import writer as writer


def test_a_long_log_continues_in_the_next_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LONGEST", 100)
    frames = [frame(number, ok(number, str(number))) for number in range(1, 6)]
    positions = write(tmp_path, *frames)
    assert len({name for name, _ in positions}) == 5
    assert [found for found, _ in log.frames(tmp_path)] == frames
    assert [found for found, _ in log.frames(tmp_path, positions[2])] == frames[3:]


def test_a_failed_write_leaves_the_log_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = writer.Log(tmp_path, ("", 0))
    first = file.append(log.encode(frame(1)))
    written = writer.os.write

    def fails(handle: int, data: bytes) -> int:
        written(handle, bytes(data[:5]))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer.os, "write", fails)
    with pytest.raises(OSError, match="No space"):
        file.append(log.encode(frame(2)))
    monkeypatch.undo()
    assert (tmp_path / first[0]).stat().st_size == first[1]
    file.append(log.encode(frame(2)))
    file.close()
    assert [found.number for found, _ in log.frames(tmp_path)] == [1, 2]


def test_a_log_that_begins_apart_ends_the_file_before_where_it_was_read(tmp_path: Path) -> None:
    first = writer.Log(tmp_path, ("", 0))
    position = first.append(log.encode(frame(1)))
    second = writer.Log(tmp_path, position, apart=True)
    assert second.follows == position
    first.append(log.encode(frame(2, ok(1, "late"))))  # it does not know that it was replaced
    assert [found.number for found, _ in log.frames(tmp_path)] == [1, 2], "nobody has begun after it yet"
    own = msgspec.structs.replace(frame(2, ok(1, "own")), follows=second.follows)
    second.append(log.encode(own))
    first.append(log.encode(frame(3)))
    assert [found for found, _ in log.frames(tmp_path)] == [frame(1), own]
    assert [head.frame for head, _, _ in log.raw_frames(tmp_path)] == [1, 2]
    assert log.ends(tmp_path, position[0]) == position[1] and log.ends(tmp_path, "00001.jsonl.gz") is None
    with pytest.raises(FileExistsError):  # never into a file of another process
        writer.Log(tmp_path, position, apart=True)
    first.close()
    second.close()


def test_a_log_that_is_full_does_not_continue_in_a_file_of_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "LONGEST", 10)
    first = writer.Log(tmp_path, ("", 0))
    second = writer.Log(tmp_path, first.append(log.encode(frame(1))), apart=True)
    with pytest.raises(FileExistsError):
        first.append(log.encode(frame(2)))
    first.close()
    second.close()
