"""A crawl that dies while it carries out orders carries out each of them once, and loses nothing."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth
from tests.crashing import DEAD, Plan
from tests.world import QUICK, World
from windrow import orders
from windrow.crawler.orders import give


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(seed=3, pages=6, hosts=2, kinds=QUICK) as world:
        yield world


@pytest.fixture(scope="module")
def blocked(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that is done while orders block every host but that of the first seed. Tests work on a copy."""
    directory = truth.prepare(tmp_path_factory.mktemp("blocked") / "crawl", world)
    give.block(directory, names(world))
    result = crashing.run(["crawl", str(directory)])
    assert result.code == 0, result.err
    assert status(directory)["finished"]["blocked"]
    return directory


def names(world: World) -> list[str]:
    hosts = sorted({url.split("/")[2].partition(":")[0] for url in world.expected.must_have})
    return hosts[1:]


def ready(blocked: Path, directory: Path, world: World) -> Path:
    """Copy the crawl and give the orders that let everything in, change an option, and pause for a moment."""
    shutil.copytree(blocked, directory)
    config = directory / "crawl.toml"
    config.write_text(config.read_text().replace(str(blocked), str(directory)))
    give.change(directory, ["fetch.delay=0.011"])
    give.pause(directory)
    give.unblock(directory, names(world))
    give.resume(directory)
    return directory


def status(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = crashing.run(["status", str(directory), "--json"]).json
    truth.assert_reconciled(found, done=False)
    return found


def check(directory: Path, world: World) -> None:
    """Check that each order is in the log once, that its file is gone, and that every page is archived once."""
    given = [order for head, *_ in truth.frames(directory) for order in head.get("orders", ())]
    complete = Counter(order["verb"] for order in given if "end" not in order)
    assert complete == {"block": 1, "set": 1, "pause": 1, "unblock": 1, "resume": 1}
    assert len({order["id"] for order in given}) == 5
    assert [path for path in (directory / orders.DIRECTORY).iterdir() if path.suffix == ".json"] == []
    found = status(directory)
    assert (found["waiting"], found["running"]) == (0, False)
    assert "blocked" not in found["finished"]
    assert found["controls"]["options"] == {"fetch.delay": "0.011"}
    assert not found["controls"].get("blocked") and not found["controls"].get("paused")
    pages = truth.pages(directory)
    assert set(pages.values()) == {1}
    assert {url for url in pages if not world.graph.trapped(url)} == world.expected.must_have


def die_and_check(directory: Path, world: World, plan: Plan) -> bool:
    died = crashing.run(["crawl", str(directory)], plan)
    if died.code == 0:
        check(directory, world)
        return False
    assert died.code == DEAD, died.err
    status(directory)
    after = crashing.run(["crawl", str(directory)])
    assert after.code == 0, after.err
    check(directory, world)
    return True


@pytest.fixture(scope="module")
def trace(blocked: Path, world: World, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    directory = ready(blocked, tmp_path_factory.mktemp("trace") / "crawl", world)
    whole = crashing.run(["crawl", str(directory)])
    assert whole.code == 0, whole.err
    check(directory, world)
    return whole.trace


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("which", [0, 2])
def test_a_crawl_that_dies_when_it_removes_an_order_does_not_carry_it_out_again(
    which: int, how: str, trace: list[str], blocked: Path, world: World, tmp_path: Path
) -> None:
    """The order to change an option, and the order to unblock: both are committed by then."""
    removals = [at for at, entry in enumerate(trace, 1) if entry.startswith("unlink orders/")]
    assert len(removals) == 4
    assert die_and_check(ready(blocked, tmp_path / "crawl", world), world, Plan(at=removals[which], how=how))


@pytest.mark.parametrize("which", [0, 2, 3])
def test_a_crawl_that_dies_while_it_commits_an_order_carries_it_out_at_the_next_start(
    which: int, trace: list[str], blocked: Path, world: World, tmp_path: Path
) -> None:
    removals = [at for at, entry in enumerate(trace, 1) if entry.startswith("unlink orders/")]
    commits = [at for at, entry in enumerate(trace, 1) if entry.startswith("write log/") and at < removals[which]]
    directory = ready(blocked, tmp_path / "crawl", world)
    assert die_and_check(directory, world, Plan(at=commits[-1], how="half"))


def test_a_power_loss_while_orders_are_carried_out_loses_none(
    trace: list[str], blocked: Path, world: World, tmp_path: Path
) -> None:
    removals = [at for at, entry in enumerate(trace, 1) if entry.startswith("unlink orders/")]
    directory = ready(blocked, tmp_path / "crawl", world)
    assert die_and_check(directory, world, Plan(at=removals[2] + 1, how="half", power=5))


@pytest.mark.long
@pytest.mark.parametrize("suspend", [False, True], ids=["plain", "suspending"])
@pytest.mark.parametrize("part", range(16))
def test_a_crawl_with_orders_may_die_at_every_operation(
    part: int, suspend: bool, blocked: Path, world: World, tmp_path: Path
) -> None:
    at = part + 1
    while True:
        plan = Plan(at=at, how=("before", "half", "after")[at % 3], suspend=suspend)
        if not die_and_check(ready(blocked, tmp_path / str(at), world), world, plan):
            break
        at += 16
    assert at > 40


@pytest.mark.long
@pytest.mark.parametrize("part", range(12))
def test_a_retry_in_parts_may_die_at_every_operation(part: int, blocked: Path, world: World, tmp_path: Path) -> None:
    """Every row is looked at in a part of its own."""
    at = part + 1
    while die_and_check(ready(blocked, tmp_path / str(at), world), world, Plan(at=at, how="half", small_parts=True)):
        at += 12
    assert at > 60
