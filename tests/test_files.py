"""Growing files: all of a write or none of it."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from windrow import files


@pytest.fixture
def file(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    path = tmp_path / "grown"
    path.write_bytes(b"before")
    descriptor = os.open(path, os.O_RDWR)
    yield descriptor, path
    os.close(descriptor)


class Pwrite:
    """os.pwrite that takes at most `most` bytes at once and fails at the nth call."""

    def __init__(self, most: int, fails: int = 0, how: int | None = errno.ENOSPC) -> None:
        self._real, self._most, self._fails, self._how = os.pwrite, most, fails, how
        self.calls = 0

    def __call__(self, descriptor: int, data: memoryview, offset: int) -> int:
        self.calls += 1
        if self.calls == self._fails:
            if self._how is None:
                return 0
            raise OSError(self._how, os.strerror(self._how))
        return self._real(descriptor, data[: self._most], offset)


@pytest.mark.parametrize("data", [b" and after", bytearray(b" and after")])
def test_data_is_written_behind_what_was_there(file: tuple[int, Path], data: bytes | bytearray) -> None:
    descriptor, path = file
    assert files.append(descriptor, data, 6, path) == 16
    assert path.read_bytes() == b"before and after"


def test_a_buffer_may_be_cleared_when_it_was_written(file: tuple[int, Path]) -> None:
    data = bytearray(b"!")
    files.append(file[0], data, 6, file[1])
    data.clear()
    assert files.append(file[0], data, 7, file[1]) == 7


def test_a_write_that_takes_a_part_is_gone_on_with(file: tuple[int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    pwrite = Pwrite(3)
    monkeypatch.setattr(os, "pwrite", pwrite)
    assert files.append(file[0], b" and after", 6, file[1]) == 16
    assert (file[1].read_bytes(), pwrite.calls) == (b"before and after", 4)


@pytest.mark.parametrize(("how", "number"), [(errno.ENOSPC, errno.ENOSPC), (None, errno.EIO)])
def test_a_write_that_fails_on_the_way_leaves_nothing(
    file: tuple[int, Path], monkeypatch: pytest.MonkeyPatch, how: int | None, number: int
) -> None:
    monkeypatch.setattr(os, "pwrite", Pwrite(3, fails=3, how=how))
    with pytest.raises(OSError) as caught:
        files.append(file[0], b" and after", 6, file[1])
    assert (caught.value.errno, caught.value.filename) == (number, str(file[1]))
    assert file[1].read_bytes() == b"before"


def test_a_file_that_cannot_be_cut_back_is_written_over_by_the_next_try(
    file: tuple[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, length: int) -> None:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", Pwrite(3, fails=3))
        patch.setattr(os, "ftruncate", refuse)
        with pytest.raises(OSError, match="No space left"):
            files.append(file[0], b" and after", 6, file[1])
    assert files.append(file[0], b" and after", 6, file[1]) == 16
    assert file[1].read_bytes() == b"before and after"


def test_the_names_of_a_directory_are_synced_and_the_descriptor_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []

    def fsync(descriptor: int) -> None:
        synced.append((descriptor, os.readlink(f"/proc/self/fd/{descriptor}")))
        raise OSError(errno.EIO, "no")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="no"):
        files.sync_directory(tmp_path)
    assert [path for _, path in synced] == [str(tmp_path.resolve())]
    with pytest.raises(OSError):
        os.fstat(synced[0][0])


def test_a_file_is_no_directory(file: tuple[int, Path]) -> None:
    with pytest.raises(NotADirectoryError):
        files.sync_directory(file[1])
