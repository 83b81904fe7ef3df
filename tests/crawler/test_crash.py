"""A crawl keeps its promises if it dies at any file operation, loses power there, or if the disk refuses a write."""

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.crashing import DEAD, Plan
from tests.world import QUICK, World

SHORT = 3000  # bytes of a log file: even the smallest crawl writes several
IN_FLIGHT = 8  # crawl.in_flight, see truth.QUICK
WRITES = ("write", "pwrite")


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    with World(seed=3, pages=6, hosts=2, kinds=QUICK) as world:
        yield world


def crawl(directory: Path, plan: Plan | None = None) -> crashing.Result:
    return crashing.run(["crawl", str(directory)], plan or Plan(longest=SHORT))


def assert_kept(directory: Path, world: World, deaths: int) -> None:
    """Check P1 to P5 after a crawl that died this often and was then resumed to its end."""
    truth.assert_whole(directory, world)
    truth.assert_reconciled(crashing.run(["status", str(directory), "--json"]).json)
    truth.assert_polite(world, delay=0.01, ip_delay=0.005)
    assert truth.repeats(world.requests()) <= deaths * IN_FLIGHT


def die_and_go_on(directory: Path, world: World, plan: Plan) -> bool:
    """Return whether the planned death happened before the crawl was over."""
    died = crawl(directory, plan)
    if died.code == 0:
        return False
    assert died.code == DEAD, died.err
    before, done = len(world.requests()), truth.committed(directory)
    after = crawl(directory)
    assert after.code == 0, after.err
    assert not {row.url for row in world.requests()[before:]} & done.keys(), "what was committed is not asked for again"
    assert_kept(directory, world, deaths=1)
    return True


@pytest.fixture(scope="module")
def trace(shared: World, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the file operations of a crawl in order, nearly the same in each run."""
    whole = crawl(truth.prepare(tmp_path_factory.mktemp("trace") / "crawl", shared))
    assert whole.code == 0, whole.err
    return whole.trace


# Samples of the operations: directory, store, frame, checkpoint, next log file, end.
@pytest.mark.parametrize(("at", "suspend"), [(24, False), (50, True), (50, False), (90, True)])
def test_a_crawl_that_dies_before_an_operation_loses_nothing(
    at: int, suspend: bool, world: World, tmp_path: Path
) -> None:
    """Also if the frontier suspends at every call: a page is committed whole by construction."""
    plan = Plan(at=at, longest=SHORT, suspend=suspend)
    assert die_and_go_on(truth.prepare(tmp_path / "crawl", world), world, plan)


@pytest.mark.parametrize(("verb", "file"), [("pwrite", "warc/"), ("write", "log/")])
def test_a_crawl_that_dies_in_the_middle_of_a_write_loses_nothing(
    verb: str, file: str, trace: list[str], world: World, tmp_path: Path
) -> None:
    places = [number for number, entry in enumerate(trace, 1) if entry.startswith(f"{verb} {file}")]
    plan = Plan(at=places[len(places) // 2], how="half", longest=SHORT)
    assert die_and_go_on(truth.prepare(tmp_path / "crawl", world), world, plan)


@pytest.mark.parametrize("at", [11, 19])
def test_a_recovery_that_dies_can_be_repeated(at: int, world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    assert crawl(directory, Plan(at=61, how="half", longest=SHORT)).code == DEAD
    died = crawl(directory, Plan(at=at, how="half", longest=SHORT))
    assert died.code == DEAD, died.err
    after = crawl(directory)
    assert after.code == 0, after.err
    assert_kept(directory, world, deaths=2)


@pytest.mark.long
def test_a_recovery_that_dies_again_and_again_ends_like_one_that_does_not_die(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world, "crawl.max_seconds=0.001")  # each start recovers and ends
    assert (
        crashing.run(["crawl", str(directory), "--max-seconds", "60"], Plan(at=75, how="half", longest=SHORT)).code
        == DEAD
    )
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    for part in (0.3, 0.5, 0.7):  # share of the recovery's operations; their number depends on the last death
        probe = tmp_path / f"probe{part}"
        shutil.copytree(directory, probe)
        whole = crawl(probe)
        assert whole.code == 0, whole.err
        assert crawl(directory, Plan(at=round(part * len(whole.trace)), how="half")).code == DEAD
    results = [crawl(directory), crawl(copy)]
    assert [result.code for result in results] == [0, 0]
    assert truth.frames(directory) == truth.frames(copy)
    assert all(truth.archive(directory, subset) == truth.archive(copy, subset) for subset in truth.SUBSETS)
    statuses = [crashing.run(["status", str(place), "--json"]).json for place in (directory, copy)]
    assert statuses[0] == statuses[1]


@pytest.mark.parametrize(("at", "suspend"), [(45, False), (98, True)])
def test_a_power_loss_loses_nothing_that_was_committed(at: int, suspend: bool, world: World, tmp_path: Path) -> None:
    plan = Plan(at=at, how="half", power=at, longest=SHORT, suspend=suspend)
    lose_power_and_go_on(truth.prepare(tmp_path / "crawl", world), world, plan)


def lose_power_and_go_on(directory: Path, world: World, plan: Plan) -> bool:
    died = crawl(directory, plan)
    if died.code == 0:
        return False
    assert died.code == DEAD, died.err
    after = crawl(directory)
    assert after.code == 0, after.err
    truth.assert_whole(directory, world)
    truth.assert_reconciled(crashing.run(["status", str(directory), "--json"]).json)
    return True


FULL = [
    Plan(fail="ENOSPC", first=9, count=2, longest=SHORT),
    Plan(fail="EDQUOT", first=20, count=2, longest=SHORT),
    Plan(fail="ENOSPC", first=2, count=1, only="/state/", longest=SHORT),
    Plan(fail="ENOSPC", first=3, count=3, verbs=("posix_fallocate",), longest=SHORT),
]


@pytest.mark.parametrize("plan", FULL, ids=["archive and log", "over quota", "store", "store's map"])
def test_a_crawl_waits_for_room_on_a_full_disk_and_continues(plan: Plan, world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    full = crawl(directory, plan)
    assert full.code == 0, full.err
    assert_kept(directory, world, deaths=0)


def test_a_nearly_full_disk_pauses_a_crawl_until_there_is_room(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    paused = crawl(directory, Plan(low=(6, 36), longest=SHORT))
    assert paused.code == 0, paused.err
    low = [float(entry.split()[1]) for entry in paused.trace if entry.startswith("low")]
    assert len(low) == 30
    late = low[0] + 0.1  # requests that were in flight have reached the server by then
    assert low[-1] > late
    assert not [row for row in world.requests() if late < row.monotonic < low[-1]]
    assert_kept(directory, world, deaths=0)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(fail="EIO", first=9),
        Plan(fail="EIO", first=2, verbs=("fsync",), only="/log/", count=1),
        Plan(fail="ENOSPC", first=3, verbs=("fsync",), only="/warc/", count=1),
        Plan(fail="EIO", first=4, verbs=("commit",), count=1),
    ],
    ids=["every write", "the log's sync", "a sync for want of room", "the store's commit"],
)
def test_a_broken_disk_ends_a_crawl_with_one_sentence_and_loses_nothing(
    plan: Plan, world: World, tmp_path: Path
) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    broken = crawl(directory, plan)
    assert broken.code == 2
    assert broken.err.startswith("windrow: ") and broken.err.count("\n") == 1
    assert "run the same command again" in broken.err
    before, done = len(world.requests()), truth.committed(directory)
    after = crawl(directory)
    assert after.code == 0, after.err
    assert not {row.url for row in world.requests()[before:]} & done.keys()
    assert_kept(directory, world, deaths=1)


@pytest.mark.parametrize("jump", [366 * 86400.0, -366 * 86400.0])
def test_a_clock_that_jumps_changes_nothing(jump: float, world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    moved = crawl(directory, Plan(jump=jump, after=0.3, longest=SHORT))
    assert moved.code == 0, moved.err
    assert_kept(directory, world, deaths=0)
    robots = [row for row in world.requests() if row.path == "/robots.txt" and row.status == 200]
    assert len(robots) == len({row.host for row in robots}), "rules that were fetched are believed"


@pytest.mark.parametrize("jump", [-3600.0, -366 * 86400.0])
def test_a_clock_that_is_set_back_before_a_resume_delays_no_host(jump: float, world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    assert crashing.run(["crawl", str(directory), "--max-pages", "8"]).code == 0
    after = crawl(directory, Plan(jump=jump, longest=SHORT))
    assert after.code == 0, after.err
    assert_kept(directory, world, deaths=0)


PARTS = range(8)  # the sweeps run in slices: one test may not take too long


@pytest.mark.long
@pytest.mark.parametrize("suspend", [False, True], ids=["plain", "suspending"])
@pytest.mark.parametrize("part", PARTS)
def test_a_crawl_may_die_before_every_operation(part: int, suspend: bool, world: World, tmp_path: Path) -> None:
    at = part + 1
    while die_and_go_on(truth.prepare(tmp_path / str(at), world), world, Plan(at=at, longest=SHORT, suspend=suspend)):
        world.reset()
        at += len(PARTS)
    assert at > 80


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_a_crawl_may_die_in_the_middle_of_every_write(
    part: int, trace: list[str], world: World, tmp_path: Path
) -> None:
    writes = [at for at, entry in enumerate(trace, 1) if entry.startswith(WRITES)]
    for at in writes[part :: len(PARTS)]:
        die_and_go_on(truth.prepare(tmp_path / str(at), world), world, Plan(at=at, how="half", longest=SHORT))
        world.reset()


@pytest.mark.long
@pytest.mark.parametrize("first", [30, 61, 90])
@pytest.mark.parametrize("part", range(3))
def test_a_recovery_may_die_at_every_operation(part: int, first: int, world: World, tmp_path: Path) -> None:
    for at in range(part + 1, 40, 3):
        directory = truth.prepare(tmp_path / str(at), world)
        assert crawl(directory, Plan(at=first, how="half", longest=SHORT)).code == DEAD
        assert crawl(directory, Plan(at=at, how="half", longest=SHORT)).code == DEAD
        after = crawl(directory)
        assert after.code == 0, after.err
        assert_kept(directory, world, deaths=2)
        world.reset()


@pytest.mark.long
@pytest.mark.parametrize("suspend", [False, True], ids=["plain", "suspending"])
@pytest.mark.parametrize("part", PARTS)
def test_the_power_may_fail_at_every_operation(part: int, suspend: bool, world: World, tmp_path: Path) -> None:
    at = part + 1
    how = random.Random(part)
    while True:
        moment = how.choice(["before", "half", "after"])
        plan = Plan(at=at, how=moment, power=how.getrandbits(32), longest=SHORT, suspend=suspend)
        if not lose_power_and_go_on(truth.prepare(tmp_path / str(at), world), world, plan):
            break
        world.reset()
        at += len(PARTS)
    assert at > 80


@pytest.mark.long
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
@pytest.mark.parametrize("part", range(3))
def test_every_write_may_fail(part: int, error: str, trace: list[str], world: World, tmp_path: Path) -> None:
    """Let each write fail once: a crawl waits for a full disk, ends on a broken one, and the next run continues."""
    writes = sum(entry.startswith(WRITES) for entry in trace)
    for first in range(part + 1, writes, 3):
        directory = truth.prepare(tmp_path / str(first), world)
        result = crawl(directory, Plan(fail=error, first=first, count=1, longest=SHORT))
        assert result.code in (0, 2) and "Traceback" not in result.err, result.err
        assert error == "EIO" or result.code == 0 or not world.requests(), (first, result.err)
        assert crawl(directory).code == 0
        assert_kept(directory, world, deaths=1)
        world.reset()


SMALL_DISK = """
set -e
mount -t tmpfs -o size=64m tmpfs "$1"
cp -r "$2/." "$1/"
head -c 60M /dev/zero > "$1/ballast"
PYTHONPATH="$4" "$3" -m windrow.cli crawl "$1" --set crawl.min_free_bytes=1000000 > "$2/out" 2> "$2/err" &
sleep 6
rm "$1/ballast"
wait $! && echo $? > "$2/code" || echo $? > "$2/code"
mkdir "$2/result"
cp -r "$1/log" "$1/warc" "$1/robotstxt" "$1/diagnostics" "$2/result/"
"""


@pytest.mark.long
def test_a_crawl_on_a_disk_that_fills_up_continues_when_there_is_room(tmp_path: Path) -> None:
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("needs the right to mount a file system of its own")
    with World(seed=8, pages=400, hosts=4, kinds=QUICK) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "archive.max_bytes=1000000")
        (tmp_path / "disk").mkdir()
        (directory / "crawl.toml").write_text(
            (directory / "crawl.toml").read_text().replace(str(directory), str(tmp_path / "disk"))
        )
        command = [
            "unshare",
            "-m",
            "sh",
            "-c",
            SMALL_DISK,
            "sh",
            tmp_path / "disk",
            directory,
            sys.executable,
            crashing.ROOT / "src",
        ]
        subprocess.run(list(map(str, command)), check=True, timeout=200)
        assert (directory / "code").read_text() == "0\n", (directory / "err").read_text()
        truth.assert_whole(directory / "result", world)
