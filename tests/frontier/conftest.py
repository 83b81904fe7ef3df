"""The stores that the contract holds for."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.frontier.hand import Hand, do
from tests.frontier.simulation import START, options
from windrow import frontier

Opener = Callable[..., Hand]


@pytest.fixture(params=["memory", "lmdb"])
def store(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def hand(store: str, tmp_path: Path) -> Iterator[Opener]:
    """Opens a frontier with these options: `hand(delay=0.0, open_hosts=2)`."""
    opened: list[Hand] = []

    def opener(**fields: object) -> Hand:
        opened.append(
            Hand(
                frontier.open(
                    tmp_path / "state",
                    options(**{"store": store, "ip_delay": 0.0, "order": "breadth", **fields}),
                    START,
                )
            )
        )
        return opened[-1]

    yield opener
    for each in opened:
        do(each.store.close())
