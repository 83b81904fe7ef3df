"""If a crawl that extracts text dies at any operation, its corpus still equals one made again from its archive."""

import random
import time
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.crashing import DEAD, Plan
from tests.world import World

SHORT = 3000  # bytes of a log file
DEATHS = [
    ("pwrite", "corpus/"),
    ("pwrite", "seen/"),
    ("fsync", "corpus/"),
    ("fsync", "seen/"),
    ("write", "log/"),
    ("mkdir", "corpus"),
    ("pwrite", "robotstxt/"),
]


@pytest.fixture
def world(prose_world: World) -> World:
    prose_world.reset()
    return prose_world


def prepare(directory: Path, world: World, *options: str) -> Path:
    return truth.prepare(directory, world, *truth.TEXT, *options)


def crawl(directory: Path, plan: Plan | None = None) -> crashing.Result:
    return crashing.run(["crawl", str(directory)], plan or Plan(longest=SHORT))


@pytest.fixture(scope="module")
def trace(prose_world: World, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the file operations of a crawl in order, nearly the same in each run."""
    directory = prepare(tmp_path_factory.mktemp("trace") / "crawl", prose_world)
    whole = crawl(directory)
    assert whole.code == 0, whole.err
    truth.assert_corpus(directory)
    status = crashing.run(["status", str(directory), "--json"]).json
    truth.assert_reconciled(status)
    assert {"ok", "duplicate"} <= status["finished"].keys() and 0 < status["kept"] < status["clean"]
    said = [
        [(entry["source"], entry.get("value")) for entry in document["signals"]]
        for document in truth.documents(directory)
    ]
    assert said and all(("tdmrep.json", "1") in entry for entry in said), (
        "of each host, whether its file was moved or not"
    )
    return whole.trace


@pytest.mark.parametrize(("verb", "file"), DEATHS)
@pytest.mark.parametrize("how", [pytest.param("before", marks=pytest.mark.long), "half"])
def test_a_crawl_that_dies_while_it_writes_the_corpus_loses_and_doubles_nothing(
    verb: str, file: str, how: str, trace: list[str], world: World, tmp_path: Path
) -> None:
    places = [number for number, entry in enumerate(trace, 1) if entry.startswith(f"{verb} {file}")]
    directory = prepare(tmp_path / "crawl", world)
    suspend = how == "half"  # every other case over a frontier that suspends
    died = crawl(directory, Plan(at=places[len(places) // 2], how=how, longest=SHORT, suspend=suspend))
    assert died.code == DEAD, died.err
    after = crawl(directory)
    assert after.code == 0, after.err
    truth.assert_whole(directory, world)
    truth.assert_corpus(directory)


@pytest.mark.parametrize("part", [0.35, 0.6, 0.85])
def test_a_power_loss_leaves_a_corpus_that_fits_its_archive(
    part: float, trace: list[str], world: World, tmp_path: Path
) -> None:
    at = round(part * len(trace))
    directory = prepare(tmp_path / "crawl", world)
    died = crawl(directory, Plan(at=at, how="half", power=at, longest=SHORT, suspend=part > 0.5))
    assert died.code in (0, DEAD), died.err
    after = crawl(directory)
    assert after.code == 0, after.err
    truth.assert_whole(directory, world)
    truth.assert_corpus(directory)


@pytest.mark.parametrize("file", ["/corpus/", "/seen/"])
def test_a_crawl_on_a_full_disk_waits_and_its_corpus_is_complete(file: str, world: World, tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", world)
    full = crawl(directory, Plan(fail="ENOSPC", first=2, count=2, only=file, longest=SHORT))
    assert full.code == 0, full.err
    truth.assert_whole(directory, world)
    truth.assert_corpus(directory)


def test_a_crawl_continues_without_the_copy_of_its_table(world: World, tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", world)
    assert crashing.run(["crawl", str(directory), "--max-pages", "9"]).code == 0
    copy = directory / "seen" / "ngrams.table"
    copy.write_bytes(copy.read_bytes()[:-1] + b"?")
    assert crawl(directory).code == 0
    truth.assert_corpus(directory)


@pytest.mark.long
def test_a_crawl_that_is_killed_at_random_moments_has_the_corpus_of_its_archive(world: World, tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", world, "fetch.delay=0.05", "fetch.ip_delay=0.02")
    chance = random.Random(7)
    for _ in range(12):
        process = crashing.launch("crawl", str(directory))
        time.sleep(0.5 + chance.random())
        over = process.poll() is not None
        crashing.kill(process)
        if over:
            break
    after = crawl(directory)
    assert after.code == 0, after.err
    truth.assert_whole(directory, world)
    truth.assert_corpus(directory)
