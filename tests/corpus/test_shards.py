"""Shards: when lines reach the disk, what a flush returns, and what a failing disk costs."""

import contextlib
import errno
import gzip
import os
import resource
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.syncing import synced
from windrow.config import ConfigError, CorpusOptions
from windrow.corpus import shards
from windrow.corpus.shards import Shards

LINES = [b'{"number": %d, "text": "%s"}\n' % (number, os.urandom(300).hex().encode()) for number in range(40)]


def files(directory: Path) -> list[Path]:
    return sorted((directory / "corpus").rglob("*.jsonl.gz"))


def contents(directory: Path, language: str = "*") -> list[bytes]:
    found = sorted((directory / "corpus").glob(f"{language}/*.jsonl.gz"))
    return [line for path in found for line in gzip.decompress(path.read_bytes()).splitlines(keepends=True)]


def lengths(directory: Path) -> dict[str, int]:
    return {path.relative_to(directory).as_posix(): path.stat().st_size for path in files(directory)}


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Shards]:
    with contextlib.closing(Shards(tmp_path, CorpusOptions(), "n0")) as found:
        yield found


def test_each_language_has_its_own_shards_and_nothing_is_on_disk_before_a_flush(tmp_path: Path, made: Shards) -> None:
    made.append("deu", LINES[0])
    made.append("ces", LINES[1])
    made.append("deu", LINES[2])
    assert files(tmp_path) == []
    assert made.flush() == lengths(tmp_path)
    assert list(lengths(tmp_path)) == ["corpus/ces/n0-00000.jsonl.gz", "corpus/deu/n0-00000.jsonl.gz"]
    assert contents(tmp_path, "deu") == [LINES[0], LINES[2]] and contents(tmp_path, "ces") == [LINES[1]]
    assert made.flush() == {}


def test_a_flush_adds_one_gzip_member_and_returns_only_changed_shards(tmp_path: Path, made: Shards) -> None:
    made.append("deu", LINES[0])
    made.append("ces", LINES[1])
    before = made.flush()
    assert made.flush() == {}
    made.append("deu", LINES[2])
    name = "corpus/deu/n0-00000.jsonl.gz"
    assert made.flush() == {name: lengths(tmp_path)[name]}
    assert gzip.decompress((tmp_path / name).read_bytes()[before[name] :]) == LINES[2]


def test_equal_documents_give_equal_bytes(tmp_path: Path) -> None:
    for name in "ab":
        with contextlib.closing(Shards(tmp_path / name, CorpusOptions(), "n0")) as made:
            for number, line in enumerate(LINES):
                made.append("deu", line)
                if number % 7 == 0:
                    made.flush()
            made.flush()
    assert [path.read_bytes() for path in files(tmp_path / "a")] == [
        path.read_bytes() for path in files(tmp_path / "b")
    ]


@pytest.mark.parametrize("language", ["", "../../etc", "de/u", "DEU", "x" * 100, ".", "deu\n"])
def test_a_language_that_cannot_be_a_directory_is_undetermined(tmp_path: Path, made: Shards, language: str) -> None:
    made.append(language, LINES[0])
    made.append("und", LINES[1])
    assert list(made.flush()) == ["corpus/und/n0-00000.jsonl.gz"]
    assert contents(tmp_path, "und") == LINES[:2]


def test_a_node_that_cannot_be_part_of_a_file_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"crawl\.node"):
        Shards(tmp_path, CorpusOptions(), "../n0")


def test_a_full_shard_is_closed_and_the_next_begins(tmp_path: Path) -> None:
    made = Shards(tmp_path, CorpusOptions(shard_bytes=1500), "n0")
    before = descriptors()
    for line in LINES:
        made.append("deu", line)
        made.flush()
    assert len(files(tmp_path)) > 5 and contents(tmp_path) == LINES
    assert [path.name for path in files(tmp_path)] == [
        f"n0-{number:05}.jsonl.gz" for number in range(len(files(tmp_path)))
    ]
    assert all(path.stat().st_size >= 1500 for path in files(tmp_path)[:-1])
    made.sync()
    made.flush()
    assert descriptors() <= before + 1
    made.close()
    assert descriptors() == before


def test_an_existing_file_is_never_overwritten(tmp_path: Path, made: Shards) -> None:
    path = tmp_path / "corpus" / "deu" / "n0-00000.jsonl.gz"
    path.parent.mkdir(parents=True)
    made.append("deu", LINES[0])
    path.write_bytes(b"someone else's")
    assert list(made.flush()) == ["corpus/deu/n0-00001.jsonl.gz"]
    assert path.read_bytes() == b"someone else's"


def test_a_symbolic_link_with_the_name_of_a_shard_is_not_followed(tmp_path: Path, made: Shards) -> None:
    path = tmp_path / "corpus" / "deu" / "n0-00000.jsonl.gz"
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "elsewhere")
    made.append("deu", LINES[0])
    assert list(made.flush()) == ["corpus/deu/n0-00001.jsonl.gz"]
    assert not (tmp_path / "elsewhere").exists()


def test_two_processes_of_one_node_never_make_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them was replaced, and does not know it yet."""
    options = CorpusOptions(shard_bytes=1)  # each flush begins a file
    one, other = Shards(tmp_path, options, "n0"), Shards(tmp_path, options, "n0")
    for made, line in zip((one, other, other, one, one), LINES, strict=False):
        made.append("deu", line)
        made.flush()
    create = os.open

    def after_the_other(path: Path, *rest: int) -> int:
        monkeypatch.setattr(os, "open", create)
        other.append("deu", LINES[5])
        other.flush()  # between the choice of a number and the creation of the file
        return create(path, *rest)

    monkeypatch.setattr(os, "open", after_the_other)
    one.append("deu", LINES[6])
    one.flush()
    assert contents(tmp_path) == LINES[:7] and len(files(tmp_path)) == 7
    one.close()
    other.close()


def failing(error: int, calls: int, share: int = 2) -> Callable[..., int]:
    """Return a pwrite that writes a part of its data in the first calls and then fails."""
    left, pwrite = iter(range(calls)), os.pwrite

    def write(descriptor: int, data: memoryview, offset: int) -> int:
        if next(left, None) is not None:
            return pwrite(descriptor, data[: max(len(data) // share, 1)], offset)
        raise OSError(error, os.strerror(error))

    return write


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("calls", [0, 1, 5])
def test_a_failed_write_leaves_the_shard_unchanged_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Shards, error: int, calls: int
) -> None:
    made.append("deu", LINES[0])
    before = made.flush()
    for line in LINES[1:]:
        made.append("deu", line)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", failing(error, calls))
        for _ in range(2):
            with pytest.raises(OSError) as caught:
                made.flush()
            assert caught.value.errno == error and caught.value.filename == str(files(tmp_path)[0])
            assert lengths(tmp_path) == before
    made.append("deu", b"{}\n")
    assert made.flush() == lengths(tmp_path)
    assert contents(tmp_path) == [*LINES, b"{}\n"]


@pytest.mark.parametrize("calls", range(4))
def test_shards_written_before_a_failed_one_are_returned_by_the_next_successful_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Shards, calls: int
) -> None:
    for language, line in zip(("ces", "deu", "eng", "fra", "pol"), LINES, strict=False):
        made.append(language, line)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", failing(errno.ENOSPC, calls, share=1))
        with pytest.raises(OSError):
            made.flush()
    assert made.flush() == lengths(tmp_path)
    assert contents(tmp_path) == LINES[:5]


def test_a_file_size_limit_of_the_system_loses_nothing(tmp_path: Path, made: Shards) -> None:
    made.append("deu", LINES[0])
    before = made.flush()
    for line in LINES[1:]:
        made.append("deu", line)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
    try:
        with pytest.raises(OSError) as caught:
            made.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG and lengths(tmp_path) == before
    made.flush()
    assert contents(tmp_path) == LINES


def test_a_failure_to_make_the_directory_loses_nothing(tmp_path: Path, made: Shards) -> None:
    (tmp_path / "corpus").write_text("in the way")
    made.append("deu", LINES[0])
    with pytest.raises(OSError):
        made.flush()
    (tmp_path / "corpus").unlink()
    made.flush()
    assert contents(tmp_path) == LINES[:1]


def test_sync_makes_shards_and_their_names_durable_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Shards
) -> None:
    seen = synced(monkeypatch)
    made.append("deu", LINES[0])
    made.sync()
    assert seen == []
    made.flush()
    made.sync()
    shard = tmp_path / "corpus" / "deu" / "n0-00000.jsonl.gz"
    assert seen == [str(shard), *map(str, shard.parents[:3])]
    made.sync()
    assert len(seen) == 4
    made.append("deu", LINES[1])
    made.flush()
    made.sync()
    assert seen[4:] == [str(shard)]


def test_after_a_failed_sync_flush_and_sync_fail(monkeypatch: pytest.MonkeyPatch, made: Shards) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "disk on fire")

    made.append("deu", LINES[0])
    made.flush()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(OSError, match="disk on fire"):
            made.sync()
    for operation in (made.flush, made.sync):
        with pytest.raises(OSError, match="an earlier sync failed"):
            operation()


LANGUAGES = [f"q{first}{second}" for first in "abcdefghij" for second in "abcdefghijklmnopqrst"]


def test_the_number_of_open_files_is_bounded_for_any_number_of_languages(tmp_path: Path, made: Shards) -> None:
    before = descriptors()
    for turn in range(3):
        for language in LANGUAGES:
            made.append(language, LINES[turn])
        made.flush()
        assert descriptors() <= before + shards.OPEN
        if turn:
            made.sync()
    assert len(files(tmp_path)) == len(LANGUAGES)
    assert all(contents(tmp_path, language) == LINES[:3] for language in LANGUAGES)


def test_a_shard_is_synced_before_it_is_closed_to_free_a_descriptor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, made: Shards
) -> None:
    seen = synced(monkeypatch)
    for language in LANGUAGES:
        made.append(language, LINES[0])
    made.flush()
    made.sync()
    assert {str(path) for path in files(tmp_path)} <= set(seen)
    assert {str(tmp_path / "corpus" / language) for language in LANGUAGES} <= set(seen)


def test_a_failed_sync_during_a_flush_is_final_even_if_the_disk_was_full(
    monkeypatch: pytest.MonkeyPatch, made: Shards
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no room")

    for language in LANGUAGES:
        made.append(language, LINES[0])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError) as caught:
            made.flush()
    assert caught.value.errno == errno.EIO
    with pytest.raises(OSError, match="an earlier sync failed"):
        made.flush()


def test_appending_continues_while_another_thread_syncs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "OPEN", 4)
    made, stop = Shards(tmp_path, CorpusOptions(shard_bytes=3000), "n0"), threading.Event()
    failures: list[OSError] = []

    def sync() -> None:
        while not stop.is_set():
            try:
                made.sync()
            except OSError as error:
                failures.append(error)

    thread = threading.Thread(target=sync)
    thread.start()
    for number, line in enumerate(LINES * 10):
        made.append(LANGUAGES[number % 13], line)
        if number % 5 == 0:
            made.flush()
    made.flush()
    stop.set()
    thread.join()
    made.close()
    assert failures == []
    assert sorted(contents(tmp_path)) == sorted(LINES * 10)


def grown(directory: Path, lines: list[bytes], committed: dict[str, int] | None = None) -> dict[str, int]:
    made = Shards(directory, CorpusOptions(shard_bytes=3000), "n0")
    if committed is not None:
        made.resume(committed)
    for line in lines:
        made.append("deu", line)
    changed = made.flush()
    made.sync()
    made.close()
    return changed


def test_a_new_run_continues_the_newest_shard_at_its_committed_length(tmp_path: Path) -> None:
    committed = grown(tmp_path, LINES[:3])
    assert list(grown(tmp_path, LINES[3:5], committed)) == ["corpus/deu/n0-00000.jsonl.gz"]
    assert contents(tmp_path) == LINES[:5]


@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_shard_without_its_committed_length_is_not_continued(tmp_path: Path, wrong: int) -> None:
    committed = {name: length + wrong for name, length in grown(tmp_path, LINES[:3]).items()}
    assert list(grown(tmp_path, LINES[3:5], committed)) == ["corpus/deu/n0-00001.jsonl.gz"]


def test_a_full_shard_is_not_continued(tmp_path: Path) -> None:
    committed = grown(tmp_path, LINES[:20])
    assert list(grown(tmp_path, LINES[20:21], committed)) == ["corpus/deu/n0-00001.jsonl.gz"]


def test_new_shards_begin_without_resume_and_for_other_nodes(tmp_path: Path) -> None:
    committed = grown(tmp_path, LINES[:3])
    assert list(grown(tmp_path, LINES[3:4])) == ["corpus/deu/n0-00001.jsonl.gz"]
    other = Shards(tmp_path, CorpusOptions(), "n0-1")
    other.resume(committed)
    other.append("deu", LINES[0])
    assert list(other.flush()) == ["corpus/deu/n0-1-00000.jsonl.gz"]
    other.close()


def test_a_shard_truncated_by_another_program_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    committed = grown(tmp_path, LINES[:3])
    made = Shards(tmp_path, CorpusOptions(), "n0")
    made.resume(committed)
    whole = files(tmp_path)[0].read_bytes()
    os.truncate(files(tmp_path)[0], 10)
    made.append("deu", LINES[3])
    with pytest.raises(OSError, match="shorter than"):
        made.flush()
    files(tmp_path)[0].write_bytes(whole)
    made.flush()
    assert contents(tmp_path, "deu") == LINES[:4]
