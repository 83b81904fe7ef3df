"""A crawl to derive from, made once."""

from pathlib import Path

import pytest

from tests.jobs import demos


@pytest.fixture(scope="package")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl the demo web without near-duplicate removal, so that a document has the whole text of its page."""
    directory = tmp_path_factory.mktemp("derive") / "crawl"
    return demos.crawl(directory, "crawl.max_pages=80", "dedup.near_duplicates=false")
