"""A shard of which no host answers, beside shards that get pages."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests import crashing, plug, truth
from tests.nodes.process.test_supervisor import crawled
from tests.plug import Plug
from tests.redisserver import needs_redis, serve
from tests.world import World
from windrow import config
from windrow.nodes import directories

pytestmark = needs_redis


def divided(place: Path, world: World) -> Path:
    """Make a crawl with two shards in which every host of the world is a seed."""
    directory = truth.prepare(place, world, *plug.DNS, "crawl.offline_few_seconds=0.5", "fetch.ip_delay=0")
    (directory / "seeds.txt").write_text("".join(f"http://{host}/\n" for host in world.hosts))
    for one in directories.prepare(directory, config.load(directory / "crawl.toml"), 2):
        (one / "hosts").write_text((directory / "hosts").read_text())
    return directory


def ending(process: "subprocess.Popen[str]") -> dict[str, Any]:
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_shard_without_any_answer_ends_with_the_others_that_have_pages(tmp_path: Path) -> None:
    with World(seed=35, pages=20, hosts=4, domains=True, kinds=()) as world, serve() as server:
        directory = divided(tmp_path / "crawl", world)
        both = crawled(directory)
        outlets = [Plug(tmp_path / f"plug{number}") for number in range(2)]
        words = ["--redis", server.url, "--json"]
        first = outlets[0].launch("shard", str(both[0]), *words)
        plug.wait_for(first, lambda: truth.committed(both[0]))
        outlets[1].pull("hosts")
        second = outlets[1].launch("shard", str(both[1]), *words)
        try:
            found = [ending(process) for process in (second, first)]
        finally:
            for process in (first, second):
                crashing.kill(process)
    assert [one["why"] for one in found] == ["done", "done"]
    assert found[0]["tally"]["finished"] and not found[0]["tally"]["captures"], "its hosts were given up"
