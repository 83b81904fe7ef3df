"""Frames are appended whole, and a long log continues in the next file."""

from pathlib import Path

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
