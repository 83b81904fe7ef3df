"""With many shards everything happens less often, so that Redis is not asked more than it can answer."""

import asyncio

import pytest

from tests.shards.bus import Bus
from tests.shards.simulation import Cluster, Web
from windrow.nodes.redis import registry
from windrow.shards import pace
from windrow.shards.transport import Survey


class CountedBus(Bus):
    surveys = 0

    async def survey(self) -> Survey:
        self.surveys += 1
        return await super().survey()


@pytest.mark.parametrize(("shards", "factor"), [(1, 1.0), (32, 1.0), (64, 2.0), (1024, 32.0)])
def test_rounds_are_further_apart_above_32_shards(shards: int, factor: float) -> None:
    assert pace.factor(shards) == factor


@pytest.mark.parametrize("lost", [False, True])
def test_the_end_of_many_shards_is_found_by_the_first_and_in_case_of_need_by_others(lost: bool) -> None:
    bus = CountedBus()
    cluster = Cluster(Web(5, pages=80), bus, pace.FEW + 1)

    async def main() -> int:
        if lost:  # the first shard never sees the end

            async def blind(now: float) -> bool:
                process = cluster.processes[0]
                answered = await process.courier.call(now, process.standing())
                if all(other.ended for other in cluster.processes[1:]):
                    process.ended = cluster.processes[1].ended
                return answered

            cluster.processes[0].call = blind  # type: ignore[method-assign]
        return await cluster.run_to_end()

    rounds = asyncio.run(main())
    cluster.check_result()
    assert bus.surveys - rounds < 60, "besides that of the test itself in each round, few shards read everything"


@pytest.mark.parametrize(("nodes", "seconds"), [(1, 1.0), (250, 1.0), (500, 2.0), (1000, 4.0), (9999, 4.0)])
def test_many_nodes_look_more_rarely_and_stay_alive_for_the_others(nodes: int, seconds: float) -> None:
    assert pace.between_looks(nodes) == seconds
    beats = max(registry.BEAT, seconds)
    assert 2 * beats < registry.ALIVE, "one sign of life may be late"
