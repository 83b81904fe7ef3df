"""Files: when records are on disk, which lengths are returned, and what happens if the disk fails."""

import errno
import os
import resource
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.archive.captures import INFO, capture, files, write
from tests.syncing import synced
from windrow import archive
from windrow.archive import Members, Writer, fields
from windrow.config import ArchiveOptions, ConfigError
from windrow.records import Capture

PAGES = [capture(f"http://example.org/{number}", os.urandom(500).hex().encode()) for number in range(40)]


def contents(directory: Path) -> list[Capture]:
    """Return every capture on disk, in order of seq."""
    entries = [entry for path in files(directory) for entry in archive.read(path)]
    return [entry.capture for entry in sorted(entries, key=lambda entry: entry.seq)]


def lengths(directory: Path) -> dict[str, int]:
    return {f"{path.parent.name}/{path.name}": path.stat().st_size for path in files(directory)}


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path, ArchiveOptions(), "n0", INFO)
    yield made
    made.close()


def test_each_file_begins_with_the_options_of_its_crawl(tmp_path: Path) -> None:
    write(tmp_path, [capture(), capture(status=404), capture(file="robots")])
    assert len(files(tmp_path)) == 3
    for path in files(tmp_path):
        first = next(archive.records(path))
        info = fields.decode(first.block)
        assert first.type == "warcinfo" and first.offset == 0 and first.header("WARC-Filename") == path.name
        assert {name: info[name] for name in INFO} == INFO
        assert info["format"] == "WARC File Format 1.1" and info["layout"] == "request response metadata"


def test_every_record_names_the_warcinfo_of_its_file(tmp_path: Path) -> None:
    write(tmp_path, PAGES, ArchiveOptions(max_bytes=5000))
    assert len(files(tmp_path)) > 3
    for path in files(tmp_path):
        first, *rest = archive.records(path)
        assert {found.header("WARC-Warcinfo-ID") for found in rest} == {first.header("WARC-Record-ID")}


def test_members_compressed_before_a_new_file_began_are_bound_to_it(tmp_path: Path) -> None:
    writer = Writer(tmp_path, ArchiveOptions(max_bytes=5000), "n0", INFO)
    made = [writer.compress(page) for page in PAGES]
    places = [writer.append(page, seq) for seq, page in enumerate(made, 1)]
    writer.flush()
    assert [archive.open_place(tmp_path, place) for place in places] == PAGES
    for path in files(tmp_path):
        first, *rest = archive.records(path)
        assert {found.header("WARC-Warcinfo-ID") for found in rest} == {first.header("WARC-Record-ID")}


def test_files_are_numbered_and_end_with_the_capture_that_fills_them(tmp_path: Path) -> None:
    write(tmp_path, PAGES, ArchiveOptions(max_bytes=5000))
    assert [path.name for path in files(tmp_path)] == [
        f"WINDROW-n0-20251115094640-{number:05}.warc.gz" for number in range(len(files(tmp_path)))
    ]
    for path in files(tmp_path)[:-1]:
        last = max(found.offset for found in archive.records(path) if found.type == "request")
        assert last < 5000 <= path.stat().st_size
    assert contents(tmp_path) == PAGES


def test_a_file_holds_at_least_one_capture_however_small_the_limit(tmp_path: Path) -> None:
    write(tmp_path, PAGES[:5], ArchiveOptions(max_bytes=1))
    assert [sum(1 for _ in archive.read(path)) for path in files(tmp_path)] == [1] * 5


def test_nothing_is_on_disk_before_flush(tmp_path: Path, writer: Writer) -> None:
    writer.append(writer.compress(PAGES[0]), 1)
    assert files(tmp_path) == []
    writer.flush()
    assert contents(tmp_path) == PAGES[:1] and writer.flush() == {}


def test_flush_returns_the_length_of_each_file_that_changed(tmp_path: Path, writer: Writer) -> None:
    for seq, page in enumerate([capture(), capture(status=404)]):
        writer.append(writer.compress(page), seq)
    assert writer.flush() == lengths(tmp_path)
    assert writer.flush() == {}
    place = writer.append(writer.compress(PAGES[0]), 3)
    assert writer.flush() == {place.file: lengths(tmp_path)[place.file]}


def test_flush_returns_the_length_of_a_file_filled_since_the_last_flush(tmp_path: Path) -> None:
    writer = Writer(tmp_path, ArchiveOptions(max_bytes=3000), "n0", {})
    for seq, page in enumerate(PAGES):
        writer.append(writer.compress(page), seq)
    assert writer.flush() == lengths(tmp_path) and len(lengths(tmp_path)) > 5


def test_an_existing_file_is_never_overwritten(tmp_path: Path, writer: Writer) -> None:
    place = writer.append(writer.compress(PAGES[0]), 1)
    (tmp_path / "warc").mkdir()
    (tmp_path / place.file).write_bytes(b"someone else's")
    with pytest.raises(FileExistsError):
        writer.flush()
    assert (tmp_path / place.file).read_bytes() == b"someone else's"


def test_a_symbolic_link_in_place_of_a_file_is_not_followed(tmp_path: Path, writer: Writer) -> None:
    place = writer.append(writer.compress(PAGES[0]), 1)
    (tmp_path / "warc").mkdir()
    (tmp_path / place.file).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        writer.flush()
    assert not (tmp_path / "elsewhere").exists()


def test_a_name_that_leads_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"crawl\.node"):
        Writer(tmp_path, ArchiveOptions(), "../../n0", {})


def failing(error: int, calls: int, share: int = 2) -> Callable[..., int]:
    """Return a pwrite that writes a share of its bytes a few times, and then fails."""
    left, pwrite = iter(range(calls)), os.pwrite

    def made(descriptor: int, data: memoryview, offset: int) -> int:
        if next(left, None) is not None:
            return pwrite(descriptor, data[: max(len(data) // share, 1)], offset)
        raise OSError(error, os.strerror(error))

    return made


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("calls", [0, 1, 5])
def test_a_write_that_fails_leaves_the_file_as_it_was_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Writer, error: int, calls: int
) -> None:
    writer.append(writer.compress(PAGES[0]), 1)
    before = writer.flush()
    for seq, page in enumerate(PAGES[1:], 2):
        writer.append(writer.compress(page), seq)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", failing(error, calls))
        for _ in range(2):
            with pytest.raises(OSError) as caught:
                writer.flush()
            assert caught.value.errno == error and caught.value.filename == str(files(tmp_path)[0])
            assert lengths(tmp_path) == before
    assert writer.flush() == lengths(tmp_path)
    assert contents(tmp_path) == PAGES


@pytest.mark.parametrize("calls", range(8))
def test_the_next_successful_flush_returns_files_written_before_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    writer = Writer(tmp_path, ArchiveOptions(max_bytes=4000), "n0", {})
    for seq, page in enumerate(PAGES):
        writer.append(writer.compress(page), seq)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", failing(errno.ENOSPC, calls, share=1))
        with pytest.raises(OSError):
            writer.flush()
    assert [length > 0 for length in lengths(tmp_path).values()] == [True] * calls + [False]
    assert writer.flush() == lengths(tmp_path)
    assert contents(tmp_path) == PAGES


def test_a_full_disk_loses_nothing(tmp_path: Path, writer: Writer) -> None:
    """The limit of the system on file sizes simulates a full disk: it causes a short write, then an error."""
    writer.append(writer.compress(PAGES[0]), 1)
    before = writer.flush()
    for seq, page in enumerate(PAGES[1:], 2):
        writer.append(writer.compress(page), seq)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8000, hard))
    try:
        with pytest.raises(OSError) as caught:
            writer.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG and lengths(tmp_path) == before
    writer.flush()
    assert contents(tmp_path) == PAGES


def test_a_write_of_zero_bytes_is_an_error_and_does_not_hang(monkeypatch: pytest.MonkeyPatch, writer: Writer) -> None:
    writer.append(writer.compress(PAGES[0]), 1)
    monkeypatch.setattr(os, "pwrite", lambda *_: 0)
    with pytest.raises(OSError):
        writer.flush()


def test_records_appended_while_the_disk_was_full_are_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Writer
) -> None:
    writer.append(writer.compress(PAGES[0]), 1)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", failing(errno.ENOSPC, 1))
        with pytest.raises(OSError):
            writer.flush()
    place = writer.append(writer.compress(PAGES[1]), 2)
    writer.flush()
    assert contents(tmp_path) == PAGES[:2] and archive.open_place(tmp_path, place) == PAGES[1]


def test_a_directory_that_cannot_be_created_loses_nothing(tmp_path: Path, writer: Writer) -> None:
    (tmp_path / "warc").write_text("in the way")
    writer.append(writer.compress(PAGES[0]), 1)
    with pytest.raises(OSError):
        writer.flush()
    (tmp_path / "warc").unlink()
    writer.flush()
    assert contents(tmp_path) == PAGES[:1]


def test_sync_makes_files_and_their_names_durable_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Writer
) -> None:
    seen = synced(monkeypatch)
    place = writer.append(writer.compress(PAGES[0]), 1)
    writer.sync()
    assert seen == []
    writer.flush()
    writer.sync()
    assert seen == [str(tmp_path / place.file), str(tmp_path / "warc"), str(tmp_path)]
    writer.sync()
    assert len(seen) == 3
    writer.append(writer.compress(PAGES[1]), 2)
    writer.flush()
    writer.sync()
    assert seen[3:] == [str(tmp_path / place.file)]


def test_full_files_are_synced_and_then_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, before = synced(monkeypatch), len(os.listdir("/proc/self/fd"))
    writer = Writer(tmp_path, ArchiveOptions(max_bytes=3000), "n0", {})
    for seq, page in enumerate(PAGES):
        writer.append(writer.compress(page), seq)
        if seq % 7 == 0:
            writer.flush()
    writer.flush()
    writer.sync()
    assert {str(path) for path in files(tmp_path)} <= set(seen)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    writer.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_appending_continues_while_another_thread_syncs(tmp_path: Path) -> None:
    writer, stop = Writer(tmp_path, ArchiveOptions(max_bytes=20_000), "n0", {}), threading.Event()
    failures: list[OSError] = []

    def sync() -> None:
        while not stop.is_set():
            try:
                writer.sync()
            except OSError as error:
                failures.append(error)

    thread = threading.Thread(target=sync)
    thread.start()
    for seq, page in enumerate(PAGES * 20):
        writer.append(writer.compress(page), seq)
        if seq % 5 == 0:
            writer.flush()
    writer.flush()
    stop.set()
    thread.join()
    assert failures == [] and contents(tmp_path) == PAGES * 20


def test_after_a_failed_sync_the_writer_refuses_to_work(monkeypatch: pytest.MonkeyPatch, writer: Writer) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "disk on fire")

    writer.append(writer.compress(PAGES[0]), 1)
    writer.flush()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(OSError, match="disk on fire"):
            writer.sync()
    writer.append(writer.compress(PAGES[1]), 2)
    with pytest.raises(OSError, match="start again"):
        writer.flush()
    with pytest.raises(OSError, match="start again"):
        writer.sync()


def test_a_resumed_crawl_continues_its_files(tmp_path: Path) -> None:
    write(tmp_path, PAGES[:3])
    before = lengths(tmp_path)
    writer = Writer(tmp_path, ArchiveOptions(), "n0", INFO)
    writer.resume(before)
    place = writer.append(writer.compress(PAGES[3]), 4)
    assert place.file in before and place.offset > before[place.file]
    writer.flush()
    assert contents(tmp_path) == PAGES[:4] and len(files(tmp_path)) == 1
    assert len({found.header("WARC-Warcinfo-ID") for found in archive.records(tmp_path / place.file)}) == 2


@pytest.mark.parametrize(
    ("config", "info", "shift"),
    [
        (ArchiveOptions(), INFO, -1),  # longer than its committed length
        (ArchiveOptions(), {**INFO, "options": "[fetch]\ndelay = 1.0"}, 0),  # made with other options
        (ArchiveOptions(max_bytes=1000), INFO, 0),  # full
    ],
)
def test_a_file_that_is_full_or_has_changed_is_not_continued(
    tmp_path: Path, config: ArchiveOptions, info: dict[str, str], shift: int
) -> None:
    write(tmp_path, PAGES[:3])
    writer = Writer(tmp_path, config, "n0", info)
    writer.resume({name: length + shift for name, length in lengths(tmp_path).items()})
    writer.append(writer.compress(PAGES[3]), 4)
    writer.flush()
    assert [path.name[-13:] for path in files(tmp_path)] == ["00000.warc.gz", "00001.warc.gz"]


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b broken", b"WARC/1.1\r\n"])
def test_a_damaged_file_is_not_continued(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, PAGES[:1])
    files(tmp_path)[0].write_bytes(content)
    writer = Writer(tmp_path, ArchiveOptions(), "n0", INFO)
    writer.resume(lengths(tmp_path))
    place = writer.append(writer.compress(PAGES[3]), 4)
    writer.flush()
    assert place.file.endswith("-00001.warc.gz") and files(tmp_path)[0].read_bytes() == content


def test_without_resume_new_files_begin_and_numbers_continue(tmp_path: Path) -> None:
    for seq in range(3):
        write(tmp_path, [PAGES[seq]])
    assert [path.name[-13:-8] for path in files(tmp_path)] == ["00000", "00001", "00002"]


def test_after_a_crash_in_a_write_the_file_is_cut_to_its_committed_length(tmp_path: Path) -> None:
    write(tmp_path, PAGES[:2])
    (path,) = files(tmp_path)
    committed = lengths(tmp_path)
    with open(path, "ab") as file:
        file.write(b"\x1f\x8b half a member")
    os.truncate(path, committed[f"warc/{path.name}"])
    writer = Writer(tmp_path, ArchiveOptions(), "n0", INFO)
    writer.resume(committed)
    writer.append(writer.compress(PAGES[2]), 3)
    writer.flush()
    assert contents(tmp_path) == PAGES[:3] and files(tmp_path) == [path]


def test_members_hold_only_the_compressed_form(writer: Writer) -> None:
    page: Members = writer.compress(capture(body=b"x" * 1_000_000))
    assert len(page.request) + len(page.response) < 20_000
