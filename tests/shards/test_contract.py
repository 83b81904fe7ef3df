"""Whatever a transport and the machines do, the shards together crawl what one crawl would, once, and see the end."""

import asyncio
import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.shards.bus import Bus
from tests.shards.simulation import Cluster, Web

COUNT = 3
SHARDS = st.integers(0, COUNT - 1)
PLACES = st.integers(0, 9)


class Faults(RuleBasedStateMachine):
    """Hypothesis chooses what happens next; at the end the crawl gets the time to finish."""

    @initialize(seed=st.integers(0, 1000))
    def begin(self, seed: int) -> None:
        self.loop = asyncio.Runner()
        self.bus = Bus()
        self.cluster = Cluster(Web(seed, pages=24), self.bus, COUNT)

    @rule(shard=SHARDS, steps=st.lists(st.sampled_from(["take", "fetch", "cut", "write"]), min_size=1, max_size=8))
    def work(self, shard: int, steps: list[str]) -> None:
        for step in steps:
            getattr(self.cluster.processes[shard], step)()

    @rule(shard=SHARDS, fail=st.sampled_from(["", "", "before", "after", "late"]))
    def call(self, shard: int, fail: str) -> None:
        self.bus.fail = fail
        self.loop.run(self.cluster.call(shard))

    @rule(seconds=st.sampled_from([0.1, 1.0, 4.0, 30.0]))
    def wait(self, seconds: float) -> None:
        self.cluster.now += seconds

    @rule()
    def work_everywhere(self) -> None:
        for shard in range(COUNT):
            self.work(shard, ["take", "fetch", "fetch", "cut", "write"])
            self.call(shard, "")

    @rule(shard=SHARDS, lose=st.booleans())
    def crash(self, shard: int, lose: bool) -> None:
        self.cluster.crash(shard, lose)

    @rule(step=st.sampled_from([1, 1000, -500]))
    def set_clock(self, step: int) -> None:
        self.cluster.clock = max(1, self.cluster.clock + step)

    @rule(shard=SHARDS)
    def replace(self, shard: int) -> None:
        self.cluster.replace(shard)

    @precondition(lambda self: self.cluster.zombies)
    @rule(index=PLACES)
    def zombie(self, index: int) -> None:
        zombies = self.cluster.zombies
        process = zombies[index % len(zombies)]
        self.loop.run(process.courier.call(self.cluster.now, process.standing()))

    @rule()
    def flush(self) -> None:
        self.bus.flush()

    @rule(receiver=SHARDS, index=PLACES, what=st.sampled_from(["drop", "repeat", "delay"]))
    def disturb(self, receiver: int, index: int, what: str) -> None:
        getattr(self.bus, what)(receiver, index)

    @rule(batches=st.integers(1, 4))
    def swallow(self, batches: int) -> None:
        self.bus.swallows += batches

    @rule(what=st.sampled_from(["save", "fail_over"]))
    def replicate(self, what: str) -> None:
        getattr(self.bus, what)()

    @rule(full=st.booleans())
    def fill(self, full: bool) -> None:
        self.bus.full = full

    @rule()
    def catch_up(self) -> None:
        self.bus.catch_up()

    @invariant()
    def logs_agree(self) -> None:
        self.cluster.check()
        self.cluster.check_end(self.bus.seen())

    def teardown(self) -> None:
        if not hasattr(self, "cluster"):
            return
        self.bus.full, self.bus.fail, self.bus.swallows = False, "", 0
        self.bus.catch_up()
        self.bus.swallows = 2  # without a trace: no later batch shows the gap
        self.loop.run(self.cluster.run_to_end())
        self.cluster.check_result()
        self.loop.close()


TestFaults = Faults.TestCase
TestFaults.settings = settings(max_examples=60, stateful_step_count=40)


def storm(seed: int, steps: int, lose: bool) -> Cluster:
    """Let chance choose: longer than Hypothesis would."""
    chance = random.Random(seed)
    bus = Bus()
    cluster = Cluster(Web(seed, pages=60), bus, count=chance.choice([2, 3, 5]))

    async def run() -> None:
        for _ in range(steps):
            shard = chance.randrange(cluster.count)
            process = cluster.processes[shard]
            for step in chance.choices(["take", "fetch", "cut", "write"], k=4):
                getattr(process, step)()
            cluster.now += chance.choice([0.05, 0.3, 2.0])
            bus.fail = chance.choice([""] * 8 + ["before", "after", "late"])
            await cluster.call(shard)
            _fault(chance, cluster, bus, lose)
            cluster.check()
            cluster.check_end(bus.seen())
        bus.full, bus.swallows = False, 0
        bus.catch_up()
        bus.swallows = chance.randrange(6)  # the last batches vanish without a trace
        await cluster.run_to_end()

    asyncio.run(run())
    cluster.check_result()
    return cluster


def _fault(chance: random.Random, cluster: Cluster, bus: Bus, lose: bool) -> None:
    what = chance.random()
    shard, index = chance.randrange(cluster.count), chance.randrange(9)
    if what < 0.02:
        bus.flush()
    elif what < 0.06:
        cluster.clock += chance.choice([1, 500, -700])
        cluster.crash(shard, lose and chance.random() < 0.3)
    elif what < 0.08:
        cluster.replace(shard)
    elif what < 0.3:
        getattr(bus, chance.choice(["drop", "repeat", "delay"]))(shard, index)
    elif what < 0.33:
        bus.full = not bus.full
    elif what < 0.36:
        bus.catch_up()
    elif what < 0.46:
        bus.swallows += chance.randrange(4)
    elif what < 0.5:
        chance.choice([bus.save, bus.fail_over])()


@pytest.mark.parametrize("seed", range(12))
def test_a_storm_of_faults_changes_no_result(seed: int) -> None:
    storm(seed, 150, lose=seed % 2 == 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 300))
def test_a_long_storm_of_faults_changes_no_result(seed: int) -> None:
    storm(seed, 600, lose=seed % 3 == 0)
