"""A shard gets every pause and every order once, with the seeds that are its own."""

import time
from pathlib import Path

from windrow import orders, sharding, urls
from windrow.nodes import forward
from windrow.nodes.directories import ShardRecord
from windrow.nodes.redis import job
from windrow.nodes.redis.order import ClusterOrder
from windrow.nodes.redis.state import JobState
from windrow.records import Order

URLS = [f"http://site{number}.test/" for number in range(20)]
RECORD = ShardRecord(job.make("test", 2, "0", 1.0), 1)
NOW = int(time.time() * 1000)


def waiting(place: Path) -> list[Order]:
    return [orders.decode(path.read_bytes()) for path in sorted((place / "orders").glob("*.json"))]


def own(text: str) -> bool:
    url = urls.parse(text)
    assert url is not None
    return sharding.shard_of(url.domain, 2) == 1


def test_an_order_is_given_once_and_only_with_the_seeds_of_the_shard(tmp_path: Path) -> None:
    given = [ClusterOrder(NOW, "add", "\n".join(["# comment", *URLS])), ClusterOrder(NOW + 1, "set", "fetch.delay=3")]
    for _ in range(2):
        passed = forward.forward(tmp_path, RECORD, JobState("run", 1), given)
        assert passed.done == NOW - 1 and not passed.refused
        add, change = waiting(tmp_path)
        assert add.verb == "add" and list(add.values) == [text for text in URLS if own(text)]
        assert change.verb == "set" and change.values == ("fetch.delay=3",) and change.id != add.id
    (tmp_path / "orders" / orders.file_name(add)).unlink()  # the crawl has carried it out
    assert forward.forward(tmp_path, RECORD, JobState("run", 1), given).done == NOW
    (tmp_path / "orders" / orders.file_name(change)).unlink()
    assert forward.forward(tmp_path, RECORD, JobState("run", 1), given).done == NOW + 1
    assert not waiting(tmp_path)


def test_an_order_about_other_shards_is_carried_out_at_once(tmp_path: Path) -> None:
    foreign = next(text for text in URLS if not own(text))
    assert forward.forward(tmp_path, RECORD, JobState("run", 1), [ClusterOrder(NOW, "add", foreign)]).done == NOW
    assert not waiting(tmp_path)


def test_an_order_about_some_hosts_is_given_for_these(tmp_path: Path) -> None:
    given = [
        ClusterOrder(NOW, "retry", "timeout\n", ("site1.test",)),
        ClusterOrder(NOW + 1, "block", "a.test\nb.test\n"),
    ]
    forward.forward(tmp_path, RECORD, JobState("run", 1), given)
    retry, block = waiting(tmp_path)
    assert (retry.verb, retry.values, retry.hosts) == ("retry", ("timeout",), ("site1.test",))
    assert (block.verb, block.values, block.hosts) == ("block", ("a.test", "b.test"), ())


def test_an_order_that_no_crawl_can_carry_out_is_named_and_does_not_hold_up_the_next(tmp_path: Path) -> None:
    given = [
        ClusterOrder(7, "set", "fetch.dely=3"),
        ClusterOrder(8, "dance", ""),
        ClusterOrder(9, "set", "fetch.delay=3"),
    ]
    passed = forward.forward(tmp_path, RECORD, JobState("run", 1), given)
    assert "did you mean" in passed.refused[0] and "does not know orders of this kind" in passed.refused[1]
    assert [order.values for order in waiting(tmp_path)] == [("fetch.delay=3",)] and passed.done == 8


def test_a_pause_is_given_when_it_begins_and_when_it_ends(tmp_path: Path) -> None:
    for wanted in ("run", "pause", "pause", "stop", "run", "run"):
        forward.forward(tmp_path, RECORD, JobState(wanted, 1), [])
    assert [order.verb for order in waiting(tmp_path)] == ["pause", "resume"]
