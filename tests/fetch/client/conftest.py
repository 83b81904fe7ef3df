"""The server that the client tests talk to."""

from collections.abc import Iterator

import pytest

from tests import web


@pytest.fixture(scope="module")
def site() -> Iterator[web.Site]:
    web.packed_bomb("gzip")  # slow to make: not while other tests wait
    with web.serve() as served:
        yield served


@pytest.fixture
def log(site: web.Site) -> list[web.Request]:
    site.log.clear()
    return site.log
