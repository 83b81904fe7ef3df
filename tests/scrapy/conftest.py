from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("scrapy", reason="Scrapy is not installed: pip install 'windrow-corpus[scrapy]'")

from tests import web
from tests.scrapy.spiders import Spiders


@pytest.fixture
def spiders(tmp_path: Path) -> Iterator[Spiders]:
    with web.serve(("127.0.0.1", "127.0.0.2")) as site:
        yield Spiders(site, tmp_path)
