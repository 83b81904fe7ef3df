"""Durable files: all of a write or none of it."""

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
def test_data_is_appended(file: tuple[int, Path], data: bytes | bytearray) -> None:
    descriptor, path = file
    assert files.append(descriptor, data, 6, path) == 16
    assert path.read_bytes() == b"before and after"


def test_a_buffer_may_be_cleared_after_it_was_written(file: tuple[int, Path]) -> None:
    data = bytearray(b"!")
    files.append(file[0], data, 6, file[1])
    data.clear()
    assert files.append(file[0], data, 7, file[1]) == 7


def test_a_partial_write_is_continued(file: tuple[int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    pwrite = Pwrite(3)
    monkeypatch.setattr(os, "pwrite", pwrite)
    assert files.append(file[0], b" and after", 6, file[1]) == 16
    assert (file[1].read_bytes(), pwrite.calls) == (b"before and after", 4)


@pytest.mark.parametrize(("how", "number"), [(errno.ENOSPC, errno.ENOSPC), (None, errno.EIO)])
def test_a_write_that_fails_midway_leaves_nothing(
    file: tuple[int, Path], monkeypatch: pytest.MonkeyPatch, how: int | None, number: int
) -> None:
    monkeypatch.setattr(os, "pwrite", Pwrite(3, fails=3, how=how))
    with pytest.raises(OSError) as caught:
        files.append(file[0], b" and after", 6, file[1])
    assert (caught.value.errno, caught.value.filename) == (number, str(file[1]))
    assert file[1].read_bytes() == b"before"


def test_the_next_write_overwrites_what_could_not_be_cut(
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


def test_only_a_directory_can_be_synced_as_one(file: tuple[int, Path]) -> None:
    with pytest.raises(NotADirectoryError):
        files.sync_directory(file[1])


def test_a_file_is_replaced_in_one_step_and_synced_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path.resolve() / "state"
    path.write_bytes(b"old")
    with files.replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert synced == [f"{path}.new", str(path.parent)]
    files.write(path, b"newer")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("state", b"newer")]


def test_a_replacement_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state"
    path.write_bytes(b"old")

    def refuse(descriptor: int) -> None:
        raise OSError(errno.EIO, "no")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="no"):
        files.write(path, b"new")
    with pytest.raises(ZeroDivisionError), files.replacing(path) as file:
        file.write(b"new")
        raise ZeroDivisionError
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("state", b"old")]
