"""`windrow node` as monitoring sees it: one endpoint for all its shards, and lines of JSON."""

import json
import signal
from pathlib import Path

import pytest

from tests import crashing
from tests.crawler.test_metrics import place_of_metrics, samples, scrape, until
from tests.nodes.nodes import JOB, job_of
from tests.redisserver import needs_redis, serve
from tests.world import World

pytestmark = needs_redis
SECRET = "S3CRET"  # the user "default" of a new server may have any


def below(pid: int) -> list[int]:
    """Return the processes that a process has started, and all that these have started."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return children + [process for child in children for process in below(child)]


def test_a_node_serves_the_metrics_of_its_shards_and_prints_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serve() as server,
        World(seed=61, pages=60, hosts=8, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 2, "fetch.delay=2", "fetch.ip_delay=0") as nodes,
    ):
        data = tmp_path / "data"
        words = ["--dir", str(data), "--name", "n1", "--metrics", "127.0.0.1:0", "--log-json"]
        monkeypatch.setenv("WINDROW_REDIS", server.url.replace("unix://", f"unix://default:{SECRET}@"))
        process = crashing.launch("node", *words)
        try:
            url = place_of_metrics(process)
            until(url, lambda found: all(found.get(("windrow_urls_seen_total", one)) for one in ("000", "001")))
            (known,) = nodes.ask(lambda registry: registry.nodes())
            assert known.metrics == url
            assert {key[1] for key in scrape(url)} == {"000", "001"}
            started = [Path(f"/proc/{pid}") for pid in below(process.pid)]
            kinds = [(b"shard" in (place / "cmdline").read_bytes().split(b"\0"), place) for place in started]
            assert sum(is_shard for is_shard, _ in kinds) == 2 and len(kinds) > 2, "and their workers"
            for is_shard, place in kinds:
                assert SECRET.encode() not in (place / "cmdline").read_bytes()
                assert (SECRET.encode() in (place / "environ").read_bytes()) is is_shard
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=90)
        assert process.returncode == 0 and SECRET not in err, err
        found = [json.loads(line) for line in err.splitlines()]
        assert {line["node"] for line in found if "shard" in line} == {"n1"}
        assert {(line["crawl"], line["shard"]) for line in found if "shard" in line} == {(JOB, "000"), (JOB, "001")}
        assert {"started", "lease-given"} & {line["event"] for line in found}
        logged = samples(crashing.run(["status", str(data / JOB), "--format", "prometheus"]).out)
        assert {key[1] for key in logged} == {"000", "001"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--slots", "0"], "--slots 0 cannot be used; give 1 or more"),
        (["--slots", "-1"], "--slots -1 cannot be used; give 1 or more"),
        (["--lost-after", "-1"], "--lost-after -1 cannot be used; give 0 seconds or more"),
        ([], "no Redis answers at 127.0.0.1:1"),
    ],
)
def test_a_node_that_cannot_start_says_so_in_one_sentence_and_makes_nothing(
    words: list[str], sentence: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    done = crashing.run(["node", "--dir", str(data), "--redis", "redis://127.0.0.1:1", *words])
    assert done.code == 2 and sentence in done.err and done.err.count("\n") == 1
    assert not data.exists()
