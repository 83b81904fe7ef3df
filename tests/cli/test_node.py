"""`windrow node` as monitoring sees it: one endpoint for all its shards, and lines of JSON."""

import json
import signal
from pathlib import Path

from tests import crashing
from tests.cluster.nodes import JOB, job_of
from tests.crawl.test_metrics import place_of_metrics, samples, scrape, until
from tests.redisserver import needs_redis, serve
from tests.world import World

pytestmark = needs_redis


def test_a_node_serves_the_metrics_of_its_shards_and_prints_json(tmp_path: Path) -> None:
    with (
        serve() as server,
        World(seed=61, pages=60, hosts=8, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 2, "fetch.delay=2", "fetch.ip_delay=0") as nodes,
    ):
        data = tmp_path / "data"
        words = ["--redis", server.url, "--dir", str(data), "--name", "n1", "--metrics", "127.0.0.1:0", "--log-json"]
        process = crashing.launch("node", *words)
        try:
            url = place_of_metrics(process)
            until(url, lambda found: all(found.get(("windrow_urls_seen_total", one)) for one in ("000", "001")))
            (known,) = nodes.ask(lambda registry: registry.nodes())
            assert known.metrics == url
            assert {key[1] for key in scrape(url)} == {"000", "001"}
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
        found = [json.loads(line) for line in err.splitlines()]
        assert {line["node"] for line in found if "shard" in line} == {"n1"}
        assert {(line["crawl"], line["shard"]) for line in found if "shard" in line} == {(JOB, "000"), (JOB, "001")}
        assert {"started", "lease-given"} & {line["event"] for line in found}
        logged = samples(crashing.run(["status", str(data / JOB), "--format", "prometheus"]).out)
        assert {key[1] for key in logged} == {"000", "001"}
