"""A crawl to derive from, made once."""

from pathlib import Path

import pytest

from windrow import config, demo
from windrow.crawl import loop
from windrow.demo import web


@pytest.fixture(scope="package")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl the demo web without near-duplicate removal, so that a document has the whole text of its page."""
    directory = tmp_path_factory.mktemp("derive") / "crawl"
    directory.mkdir()
    with web.serve() as site:
        (directory / "seeds.txt").write_text("\n".join(site.seeds) + "\n")
        (directory / "hosts").write_text("".join(f"{host}\t{place}\n" for host, place in site.hosts.items()))
        (directory / "crawl.toml").write_text(demo.OPTIONS)
        given = ["crawl.max_pages=80", "frontier.order=breadth", "dedup.near_duplicates=false"]
        options = config.load(directory / "crawl.toml", given)
        loop.execute(loop.run(directory, options, lambda running, resumed: None))
    return directory
