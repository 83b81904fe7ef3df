"""The log is the truth: the state can be made from it, bytes behind the last commit do not count, damage is refused."""

import json
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import lmdb
import pytest

from tests import crashing, truth, web
from tests.crashing import DEAD, Plan
from tests.world import QUICK, World

SHORT = 1000  # bytes of a log file
GARBAGE = b"\x1f\x8b\x08 what a crash left behind"


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    with World(seed=9, pages=8, hosts=2, kinds=QUICK) as world:
        yield world


@pytest.fixture(scope="module")
def halfway(shared: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that was stopped with work left. Tests work on a copy."""
    directory = truth.prepare(tmp_path_factory.mktemp("halfway") / "crawl", shared)
    assert crashing.run(["crawl", str(directory), "--max-pages", "12"], Plan(longest=SHORT)).code == 0
    return directory


@pytest.fixture
def half(halfway: Path, tmp_path: Path) -> Path:
    directory = tmp_path / "crawl"
    shutil.copytree(halfway, directory)
    return directory


def crawl(directory: Path, *options: str) -> crashing.Result:
    return crashing.run(["crawl", str(directory), "--json", *options], Plan(longest=SHORT))


def status(directory: Path) -> dict[str, object]:
    found: dict[str, object] = crashing.run(["status", str(directory), "--json"]).json
    return found


def counts(directory: Path) -> dict[str, object]:
    """Return what the store knows, without a request."""
    found: dict[str, object] = crawl(directory, "--max-seconds", "0.000001").json["counts"]
    return {name: value for name, value in found.items() if name in ("seen", "waiting", "finished", "hosts", "domains")}


def contents(directory: Path) -> dict[str, bytes]:
    """Return every file of a directory except the locks."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file() and "lock" not in path.name)
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def assert_refused(directory: Path, *words: str) -> None:
    """Check that a crawl refuses the directory with one sentence and changes nothing."""
    before = contents(directory)
    result = crashing.run(["crawl", str(directory)])
    assert (result.code, result.out) == (2, ""), result.err
    assert result.err.startswith("windrow: ") and result.err.count("\n") == 1
    assert all(word in result.err for word in words), result.err
    assert contents(directory) == before


def logs(directory: Path) -> list[Path]:
    found = sorted((directory / "log").iterdir())
    assert len(found) >= 3
    return found


def test_a_crawl_without_its_state_continues_as_with_it(half: Path, world: World) -> None:
    told, known = status(half), counts(half)
    shutil.rmtree(half / "state")
    assert counts(half) == known
    assert status(half) == told
    asked = len(truth.frames(half))
    assert crawl(half).code == 0
    assert len(truth.frames(half)) > asked
    assert set(truth.committed(half).values()) == {1}
    assert {url for url in truth.pages(half) if not world.graph.trapped(url)} == world.expected.must_have
    assert set(truth.pages(half).values()) == {1}


def test_rebuild_makes_the_state_from_the_log_and_keeps_the_old_one(half: Path, world: World) -> None:
    told, known = status(half), counts(half)
    result = crashing.run(["rebuild", str(half)])
    assert result.code == 0, result.err
    assert (half / "state.old1" / "data.mdb").exists()
    assert (status(half), counts(half)) == (told, known)
    before = truth.committed(half)
    assert crawl(half).code == 0
    assert not world.requested().keys() & before.keys()
    assert {url for url in truth.pages(half) if not world.graph.trapped(url)} == world.expected.must_have


def test_a_store_that_forgets_everything_is_filled_from_the_log_at_each_start(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world, "frontier.store=memory")
    for _ in range(2):
        assert crawl(directory, "--max-pages", "9").code == 0
    assert crawl(directory).code == 0
    truth.assert_whole(directory, world)
    assert truth.repeats(world.requests()) == 0
    assert not (directory / "state").exists()


def test_rebuild_may_die_and_be_run_again(half: Path) -> None:
    known = counts(half)
    for at in (3, 8, 14):
        assert crashing.run(["rebuild", str(half)], Plan(at=at)).code == DEAD
    assert crashing.run(["rebuild", str(half)]).code == 0
    assert counts(half) == known


def test_robots_txt_is_kept_across_restarts(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    for _ in range(3):
        assert crawl(directory, "--max-pages", "8").code == 0
    assert crawl(directory).code == 0
    asked = [row.host for row in world.requests() if row.path == "/robots.txt" and row.status in (200, 404)]
    assert len(asked) == len(set(asked))


def test_a_pause_that_a_host_wants_is_kept_across_a_kill(tmp_path: Path) -> None:
    with web.serve() as site:
        site.robots("a.test", "")
        site.script("a.test", "/", [web.Reply(status=429, headers=(("Retry-After", "2"),)), web.Reply()])
        site.hosts_file(tmp_path / "hosts")
        (tmp_path / "seeds.txt").write_text("http://a.test/\n")
        (tmp_path / "crawl.toml").write_text(
            '[fetch]\ndelay = 0.01\nip_delay = 0\nallow_private = true\nhosts_file = "hosts"\n'
            '[extract]\nextractor = "none"\n'
        )
        process = crashing.launch("crawl", str(tmp_path))
        while not any(line["reason"] == "throttled" for frame in truth.frames(tmp_path) for line in frame[1:]):
            assert process.poll() is None
        crashing.kill(process)
        assert crawl(tmp_path).json["tally"]["finished"] == {"ok": 1}
        first, second = site.requests("a.test", "/")
    assert second.time - first.time >= 2.0


def test_what_lies_behind_the_last_commit_is_moved_aside(half: Path) -> None:
    whole = contents(half)
    told = status(half)
    pages = sorted((half / "warc").iterdir())[-1]
    for path in (pages, logs(half)[-1]):
        with path.open("ab") as file:
            file.write(GARBAGE)
    (half / "warc" / "WINDROW-n0-20200101000000-09999.warc.gz").write_bytes(GARBAGE)
    assert status(half) == told, "status reads no further than the last commit"
    result = crawl(half, "--max-seconds", "0.000001")
    assert result.code == 0 and result.err.count("recovered: ") == 3
    after = contents(half)
    same = [name for name in whole if not name.startswith(("state", "crawl.log"))]  # each run adds its notes
    assert {name: after[name] for name in same} == {name: whole[name] for name in same}
    assert [path.read_bytes() for path in (half / "torn").iterdir()] == [GARBAGE] * 3


def test_zeros_behind_the_last_commit_do_not_count(half: Path, world: World) -> None:
    for path in (*half.glob("warc/*"), logs(half)[-1]):
        with path.open("ab") as file:
            file.write(bytes(5000))
    assert crawl(half).code == 0
    assert {url for url in truth.pages(half) if not world.graph.trapped(url)} == world.expected.must_have


def test_a_state_that_is_newer_than_the_log_is_refused(half: Path, world: World) -> None:
    last = logs(half)[-1]
    data = last.read_bytes()
    last.write_bytes(data[:-1])
    assert_refused(half, "is newer than the log", str(last), "restore it, or move")
    shutil.rmtree(half / "state")
    assert crawl(half).code == 0, "the frame that was cut short never happened"
    assert {url for url in truth.pages(half) if not world.graph.trapped(url)} == world.expected.must_have


def test_a_missing_end_of_the_log_is_refused(half: Path) -> None:
    logs(half)[-1].unlink()
    assert_refused(half, "is newer than the log")


@pytest.mark.parametrize("which", [0, 1])
def test_a_missing_part_of_the_log_is_refused(which: int, half: Path) -> None:
    shutil.rmtree(half / "state")
    logs(half)[which].unlink()
    before = contents(half)
    result = crashing.run(["crawl", str(half)])
    assert result.code == 2 and "a log file is missing or was changed" in result.err
    assert {name: data for name, data in contents(half).items() if not name.startswith("state")} == before


@pytest.mark.parametrize("which", [0, -1])
def test_damage_in_the_middle_of_the_log_is_refused_and_nothing_is_cut(which: int, half: Path) -> None:
    shutil.rmtree(half / "state")
    *files, last = logs(half)
    files[-1].write_bytes(
        files[-1].read_bytes() + last.read_bytes()
    )  # damage in the very last frame would be a frame cut short
    last.unlink()
    path = files[which]
    data = bytearray(path.read_bytes())
    data[len(data) // 4] ^= 0xFF
    path.write_bytes(data)
    before = contents(half)
    result = crashing.run(["crawl", str(half)])
    after = contents(half)
    assert result.code == 2 and result.err.count("\n") == 1
    assert {name: data for name, data in after.items() if not name.startswith("state")} == before
    assert f"{path} is damaged at byte" in result.err or "a log file is missing or was changed" in result.err


def test_an_archive_file_that_is_missing_or_too_short_is_refused(half: Path) -> None:
    path = sorted((half / "warc").iterdir())[0]
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    assert_refused(half, str(path), f"shorter than its {len(data)} committed bytes", "restore the file from a copy")
    path.unlink()
    assert_refused(half, str(path), "is missing")
    path.write_bytes(data)
    assert crawl(half).code == 0


def test_a_directory_of_a_newer_windrow_is_refused(half: Path) -> None:
    (half / "version").write_text("2\n")
    assert_refused(half, "version", "use a newer Windrow")


def test_a_version_file_that_a_crash_left_empty_is_written_again(half: Path) -> None:
    (half / "version").write_text("")
    assert crawl(half).code == 0
    assert (half / "version").read_text() == "1\n"


def test_a_state_of_a_newer_windrow_is_refused(half: Path) -> None:
    with lmdb.open(str(half / "state"), max_dbs=16) as store, store.begin(write=True) as transaction:
        table = store.open_db(b"meta", transaction)
        meta, length = json.loads(transaction.get(b"meta", db=table) or b"")
        transaction.put(b"meta", json.dumps([{**meta, "version": 99}, length]).encode(), db=table)
    result = crashing.run(["crawl", str(half)])
    assert result.code == 2 and result.err.count("\n") == 1
    assert "state version 99" in result.err and "rebuilt from log/" in result.err
    shutil.move(half / "state", half / "state.newer")
    assert crawl(half).code == 0


def test_a_file_that_is_not_a_store_is_refused(half: Path) -> None:
    (half / "state" / "data.mdb").write_bytes(b"not a store" * 1000)
    result = crashing.run(["crawl", str(half)])
    assert result.code == 2 and result.err.count("\n") == 1
    assert "move" in result.err and "rebuilt from log/" in result.err
    assert crashing.run(["rebuild", str(half)]).code == 0
    assert crawl(half).code == 0


def test_any_gzip_program_reads_the_frames_of_a_log(half: Path) -> None:
    text = b"".join(zlib.decompress(data, 31) for path in logs(half) for data in members(path))
    assert text.startswith(b'{"frame":1,')
    assert all(isinstance(json.loads(line), dict) for line in text.splitlines())


def members(path: Path) -> list[bytes]:
    data, found = path.read_bytes(), []
    while data:
        inflate = zlib.decompressobj(31)
        inflate.decompress(data)
        found.append(data[: len(data) - len(inflate.unused_data)])
        data = inflate.unused_data
    return found
