"""The stores against each other, and killed crawls against others: the same random crawl must reach the same end."""

import asyncio
import random
from pathlib import Path

import msgspec
import pytest

from tests.frontier import ledger
from tests.frontier.simulation import Simulation, by_key, check_blocks, check_politeness, durable, local, options, task
from tests.frontier.world import World, world
from windrow.config import Config
from windrow.frontier.local import admission, control, rows
from windrow.frontier.policy.revisit import Policy, never
from windrow.records import Counts, Kind, Reason, Task


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep very few rows and keys in memory, so that rows are dropped and read back all the time."""
    monkeypatch.setattr(rows, "MOST", 2)
    monkeypatch.setattr(admission, "RECENT", 5)
    monkeypatch.setattr(control, "_ROWS", 3)
    monkeypatch.setattr(control, "MOST_URLS", 4)


@pytest.fixture(params=[False, True], ids=["plain", "suspending"])
def suspend(request: pytest.FixtureRequest) -> bool:
    """Run a test over a frontier as it is, and over one that suspends at every call."""
    return bool(request.param)


def policy(seed: int) -> Policy:
    """Return the policy of a crawl: in those with the seeds 40 to 99, 140 to 199 …, some URLs are visited again."""
    return by_key if seed % 100 >= 40 else never


def drawn(seed: int, **fields: object) -> tuple[World, Config]:
    """Draw a world, and options for it."""
    rng = random.Random(seed)
    config = options(
        delay=rng.choice([0.0, 0.1, 1.0, 5.0]),
        ip_delay=rng.choice([0.0, 0.5, 2.0]),
        quantum=rng.choice([1, 3, 500]),
        open_domains=rng.choice([1, 2, 100]),
        open_hosts=rng.choice([1, 2, 3, 100]),
        max_host_urls=rng.choice([0, 0, 5]),
        max_domain_urls=rng.choice([0, 0, 8]),
        max_domain_hosts=rng.choice([0, 2, 64]),
        same_pages=0,
        yield_threshold=rng.choice(["off", "0.01,0", "0.1,0"]),
        yield_form=rng.choice(["bytes", "pages"]),
        order=rng.choice(["yield", "breadth"]),
        explore=rng.choice([1, 8]),
        segments=rng.choice([True, False]),
        grace_pages=rng.choice([1, 3]),
        grace_bytes=rng.choice([0, 2500]),
        **fields,
    )
    return world(seed, hosts=rng.choice([1, 5, 12])), config


@pytest.mark.parametrize("seed", range(100, 155))
def test_both_stores_give_the_same_leases_counts_and_fates(tmp_path: Path, seed: int, suspend: bool) -> None:
    async def run(directory: Path | None) -> tuple[object, ...]:
        web, config = drawn(seed, checkpoint=1e9)
        sim = Simulation(web, config, directory, seed, suspend=suspend, orders=2 * (seed % 5), policy=policy(seed))
        assert await sim.run()
        check_blocks(sim)
        seen = (
            sim.leases,
            await sim.frontier.counts(),
            await sim.fates(),
            [ledger.of(sim.frontier, f"d{n}.org") for n in range(6)],
        )
        await sim.frontier.close()
        return seen

    assert asyncio.run(run(None)) == asyncio.run(run(tmp_path))


@pytest.mark.parametrize("seed", range(200, 255))
def test_a_crawl_that_is_killed_many_times_ends_like_any_other(tmp_path: Path, seed: int, suspend: bool) -> None:
    async def run() -> None:
        rng = random.Random(seed)
        web, config = drawn(seed, checkpoint=rng.choice([2.0, 20.0, 1e9]))
        sim = Simulation(web, config, tmp_path, seed, suspend=suspend, orders=2 * (seed % 5), policy=policy(seed))
        kills = 0
        while not await sim.run(rng.randint(1, 80) if kills < 12 else 20_000):
            kills += 1
            await sim.crash(later=rng.choice([0.0, 0.1, 3.0]), again=rng.choice([1, 2]))
        check_politeness(sim)
        check_blocks(sim)
        if not seed % 5:  # an order may open again what was closed
            check_closings(sim)
        counts = await sim.frontier.counts()
        assert (counts.waiting, counts.in_flight, counts.seen) == (0, 0, len(sim.finished))
        visits = {text: 1 + (task(text).url.key % 4 if seed % 100 >= 40 else 0) for text in sim.finished}
        assert all(1 <= len(ends) <= visits[text] for text, ends in sim.finished.items())
        if not seed % 5:  # an order may let a URL begin again
            assert sum(map(len, sim.finished.values())) == sum(counts.finished.values()) + sum(counts.earlier.values())
        await sim.frontier.close()

    asyncio.run(run())


@pytest.mark.parametrize("seed", [*range(300, 330), *range(340, 355)])
def test_a_killed_crawl_resumes_with_exactly_what_it_had_committed(tmp_path: Path, seed: int, suspend: bool) -> None:
    async def run() -> None:
        rng = random.Random(seed)
        web, config = drawn(seed, checkpoint=rng.choice([2.0, 20.0, 1e9]))
        settings = {"suspend": suspend, "policy": policy(seed)}
        sim = Simulation(web, config, tmp_path / "killed", seed, orders=2 * (seed % 5), **settings)
        for _ in range(4):
            done = await sim.run(rng.randint(1, 120))
            await sim.commit()
            before = await outlasting(sim), await states(sim), await ledgers(sim)
            await sim.crash(again=rng.choice([1, 2]))
            assert (await outlasting(sim), await states(sim), await ledgers(sim)) == before
            if done:
                break
        await sim.frontier.close()
        rebuilt = Simulation(web, config, tmp_path / "rebuilt", seed, **settings)
        rebuilt.frames = sim.frames
        await rebuilt.replay(rebuilt.frontier)
        await rebuilt.add_seeds()
        assert (await outlasting(rebuilt), await states(rebuilt), await ledgers(rebuilt)) == before
        await rebuilt.frontier.close()

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(400, 410))
def test_kills_lose_no_page_of_a_working_host(tmp_path: Path, seed: int, suspend: bool) -> None:
    async def run() -> None:
        rng = random.Random(seed)
        web = world(seed, hosts=8, kinds=False)
        config = options(delay=0.2, quantum=3, open_domains=2, checkpoint=3.0)
        sim = Simulation(web, config, tmp_path, seed, suspend=suspend)
        while not await sim.run(rng.randint(20, 100)):
            await sim.crash()
        assert sim.finished == {text: [Reason.OK] for text in web.reachable()}
        await sim.frontier.close()

    asyncio.run(run())


def check_closings(sim: Simulation) -> None:
    """Check that a closed part of a host gets no more requests, even for tasks that were leased before."""
    closed: dict[str, float] = {}
    for frame in sim.frames:
        for report in (entry.report for entry in frame.entries):
            if report.reason is Reason.LOW_YIELD:
                closed.setdefault(part(report.task), report.time)
    pages = [request for request in sim.requests if request.task.kind is Kind.PAGE]
    assert [request for request in pages if request.start > closed.get(part(request.task), 9e9)] == []


def part(each: Task) -> str:
    return each.url.text.rpartition("/")[0]


async def outlasting(sim: Simulation) -> Counts:
    """Return the counts that outlive a process. A seed that is refused at each start may meet another rule by then: an
    order can block it."""
    found = durable(await sim.frontier.counts())
    return msgspec.structs.replace(found, refused={}) if sim.seed % 5 else found


async def states(sim: Simulation) -> dict[str, tuple[object, ...]]:
    """Return the fate of every page, as far as it outlives a process."""
    seen: dict[str, tuple[object, ...]] = {}
    for text, fate in (await sim.fates()).items():
        if fate is not None:
            host = sim.world.hosts[task(text).url.host].name
            waiting = fate.state != "finished"
            closed = local(sim.frontier).ledgers.closed(fate.task.url)
            seen[text] = (
                host,
                "waiting" if waiting else "finished",
                None if waiting else fate.reason,
                fate.task,
                closed,
            )
    return seen


async def ledgers(sim: Simulation) -> list[object]:
    domains = sorted({task(page).url.domain for host in sim.world.hosts.values() for page in host.pages})
    meta = local(sim.frontier).meta
    return [*[ledger.of(sim.frontier, domain) for domain in domains], meta.account, meta.controls]
