"""Whole frames are read from any position, and a frame cut short does not exist."""

from pathlib import Path

import pytest

from tests.logs import frame, ok, task, url, write
from windrow import log
from windrow.config import ConfigError


def test_frames_are_read_from_any_position(tmp_path: Path) -> None:
    frames = [frame(number, ok(number, str(number))) for number in (1, 2, 3)]
    positions = write(tmp_path, *frames)
    assert list(log.frames(tmp_path)) == list(zip(frames, positions, strict=True))
    assert list(log.frames(tmp_path, positions[0])) == list(zip(frames[1:], positions[1:], strict=True))
    assert list(log.frames(tmp_path, positions[2])) == []


def test_a_frame_cut_at_any_byte_does_not_exist(tmp_path: Path) -> None:
    frames = [frame(1, ok(1, "a", "b")), frame(2, ok(2, "b"))]
    positions = write(tmp_path, *frames)
    path = tmp_path / positions[0][0]
    whole = path.read_bytes()
    for length in range(positions[0][1], len(whole)):
        path.write_bytes(whole[:length])
        assert [found.number for found, _ in log.frames(tmp_path)] == [1], length
    path.write_bytes(whole + b"\0" * 100)
    assert [found.number for found, _ in log.frames(tmp_path)] == [1, 2]


def test_a_gap_between_frames_is_refused(tmp_path: Path) -> None:
    write(tmp_path, frame(1), frame(3))
    with pytest.raises(ConfigError, match="frame 3 follows frame 1"):
        list(log.frames(tmp_path))


def test_mentions_are_where_a_url_was_found_and_its_reports(tmp_path: Path) -> None:
    page = ok(1, "a", "b")
    end = ok(2, "b")
    write(tmp_path, frame(1, seeds=(task("a"),)), frame(2, page), frame(3, end))
    assert [(found.frame, found.via, found.entry) for found in log.mentions(tmp_path, url("b").text)] == [
        (2, url("a").text, None),
        (3, None, end),
    ]
    assert [found.via for found in log.mentions(tmp_path, url("a").text)] == ["", None]
    assert list(log.mentions(tmp_path, url("ab").text)) == []
