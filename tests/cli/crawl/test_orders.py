"""`windrow pause`, `resume`, `stop`, `block`, `unblock`, `add`, `set` and `retry` on the command line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.world import QUICK, World
from windrow import urls


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(seed=5, pages=8, hosts=2, kinds=QUICK) as world:
        yield world


@pytest.fixture
def directory(world: World, tmp_path: Path) -> Path:
    return truth.prepare(tmp_path / "crawl", world)


def said(*arguments: str) -> str:
    result = crashing.run(list(arguments))
    assert result.code == 0, result.err
    return " ".join(result.out.split())


def refused(*arguments: str) -> str:
    result = crashing.run(list(arguments))
    assert (result.code, result.out) == (2, "") and result.err.count("\n") == 1, result
    return result.err


def test_a_stopped_crawl_takes_its_orders_at_the_next_start_and_status_says_so(directory: Path) -> None:
    name = str(directory)
    assert said("pause", name).endswith("paused; the crawl is not running and takes this order at its next start.")
    assert said("block", name, "a.example", "b.example").startswith(f"{name}: blocked: a.example, b.example; ")
    assert "fetch.delay=0.02" in said("set", name, "fetch.delay=0.02")
    assert "orders that were not taken yet: 3" in said("status", name)
    assert crashing.run(["crawl", name, "--max-seconds", "0.3"]).code == 0
    shown = said("status", name)
    assert "paused since " in shown and f"windrow resume {name}" in shown
    assert "blocked: a.example, b.example" in shown and "fetch.delay = 0.02, set by an order" in shown
    assert "orders that were not taken yet" not in shown
    found = crashing.run(["status", name, "--json"]).json
    assert found["controls"]["blocked"] == ["a.example", "b.example"]


def test_a_running_crawl_confirms_its_orders(directory: Path, world: World) -> None:
    name = str(directory)
    process = crashing.launch("crawl", name, "--set", "fetch.delay=0.5")
    try:
        while not (directory / "log").exists() or not truth.frames(directory):
            assert process.poll() is None, process.communicate()
        assert said("pause", name) == f"{name}: paused."
        assert crashing.run(["resume", name, "--json"]).json["state"] == "taken"
        given = crashing.run(["block", name, "none.example", "--no-wait", "--json"]).json
        assert given["state"] in ("waiting", "taken")
        assert said("stop", name).startswith(f"{name}: stopping")
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out.startswith("stopped after"), err
    finally:
        crashing.kill(process)
    assert said("stop", name) == f"{name} is not running: there is nothing to stop."


def test_seeds_that_the_scope_refuses_are_named_with_the_rule(directory: Path, world: World, tmp_path: Path) -> None:
    host = urls.host_of(world.seeds[0])
    (tmp_path / "more.txt").write_text(f"http://{host}/more\nhttp://{host}/x.zip\n")
    result = crashing.run(["add", str(directory), str(tmp_path / "more.txt"), f"http://{host}:9/x"])
    assert result.code == 0, result.err
    assert f"rule 'suffix' of [scope] refuses http://{host}/x.zip" in result.err
    assert f"rule 'port' of [scope] refuses http://{host}:9/x" in result.err
    assert "seeds: 1; the crawl is not running" in result.out
    assert "[scope] refuses every URL" in crashing.run(["add", str(directory), f"http://{host}/x.zip"]).err
    assert "no contact is set" in refused("add", str(directory), "https://example.org/")
    assert "there is no file seeds.tx" in refused("add", str(directory), "seeds.tx")


def test_a_retry_says_how_many_urls_wait_again(directory: Path, world: World) -> None:
    name = str(directory)
    assert crashing.run(["crawl", name]).code == 0
    missing = crashing.run(["status", name, "--json"]).json["finished"]["not-found"]
    assert f"{missing} URLs would wait again: not-found {missing}, tls 0" in said(
        "retry", name, "--reason", "not-found,tls", "--dry-run"
    )
    assert crashing.run(["retry", name, "--reason", "not-found", "--dry-run", "--json"]).json == {"not-found": missing}
    assert "takes this order at its next start" in said("retry", name, "--reason", "not-found")
    assert crashing.run(["crawl", name]).code == 0
    found = crashing.run(["status", name, "--json"]).json
    truth.assert_reconciled(found)
    assert found["finished"]["not-found"] == missing, "they are still missing"
    ends = truth.committed(directory)
    assert sorted(ends.values())[-missing:] == [2] * missing and sum(ends.values()) == len(ends) + missing
    assert said("report", name), "its sums hold"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("retry", "DIR", "--reason", "host-ded"), "did you mean 'host-dead'?"),
        (("set", "DIR", "language.accepted=['ces']"), "cannot change while a crawl runs"),
        (("block", "DIR", "http://a.test/"), "is not a name"),
        (("pause", "nowhere"), "holds no crawl"),
        (("stop", "nowhere"), "holds no crawl"),
    ],
)
def test_orders_that_cannot_be_given_are_refused_in_one_sentence(
    arguments: tuple[str, ...], words: str, directory: Path
) -> None:
    assert words in refused(*[str(directory) if word == "DIR" else word for word in arguments])
    assert not (directory / "orders").exists()
