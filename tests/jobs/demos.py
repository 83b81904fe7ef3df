"""Crawls of the demo web, for tests that need a real one."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from windrow import config, demo
from windrow.crawler.setup import start
from windrow.demo import web


def crawl(directory: Path, *settings: str, options: str = demo.OPTIONS) -> Path:
    """Crawl the demo web into a new directory, in an order that does not depend on time; return the directory."""
    directory.mkdir()
    with web.serve() as site:
        (directory / "seeds.txt").write_text("\n".join(site.seeds) + "\n")
        (directory / "hosts").write_text("".join(f"{host}\t{place}\n" for host, place in site.hosts.items()))
        (directory / "crawl.toml").write_text(options)
        chosen = config.load(directory / "crawl.toml", ["frontier.order=breadth", *settings])
        start.execute(start.run(directory, chosen, start.Observer()))
    return directory


def documents(directory: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each document of a corpus, with the name of its shard."""
    for path in sorted((directory / "corpus").rglob("*.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            yield path.relative_to(directory).as_posix(), json.loads(line)
