import pytest

from tests.world import World


@pytest.fixture
def world(shared: World) -> World:
    """The world of a file (its fixture `shared`), which has not received a request yet."""
    shared.reset()
    return shared
