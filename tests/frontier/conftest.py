"""The frontiers that the contract holds for."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.frontier.hand import Hand, do
from tests.frontier.simulation import START, Simulation, options
from tests.frontier.suspending import suspending
from tests.frontier.world import World
from windrow import frontier
from windrow.config import Config

Opener = Callable[..., Hand]


@pytest.fixture(params=["memory", "lmdb", "suspending"])
def store(request: pytest.FixtureRequest) -> str:
    """Name a frontier: in memory, in LMDB, or in LMDB and suspending at every call."""
    return str(request.param)


@pytest.fixture
def hand(store: str, tmp_path: Path) -> Iterator[Opener]:
    """Open a frontier with these options: `hand(delay=0.0, open_hosts=2)`."""
    opened: list[Hand] = []

    def opener(files: dict[str, str] | None = None, languages: tuple[str, ...] = (), **fields: object) -> Hand:
        kind = "memory" if store == "memory" else "lmdb"
        config = options(**{"store": kind, "ip_delay": 0.0, "order": "breadth", **fields})
        made = frontier.open(tmp_path / "state", config, START, files=files, languages=languages)
        opened.append(Hand(suspending(made) if store == "suspending" else made))
        return opened[-1]

    yield opener
    for each in opened:
        do(each.store.close())


def simulation(store: str, directory: Path, world: World, config: Config, seed: int) -> Simulation:
    """Make a simulation over the frontier of this name."""
    return Simulation(world, config, None if store == "memory" else directory, seed, suspend=store == "suspending")
