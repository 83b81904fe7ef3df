"""`windrow rebuild ARCHIVE… -o DIR`: a corpus from archive files of any program, the same on every run."""

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.batch import warcs
from windrow import config, demo
from windrow.batch import archived, engine
from windrow.batch.archived import ArchivesOptions, ArchivesSummary
from windrow.config import ConfigError
from windrow.crawl import loop
from windrow.demo import web

WORDS = (
    "The old mill stands at the river, and its wheel has turned for more than two hundred years without a rest. "
    "People from the villages around it still bring their grain there in autumn, because the flour is better. "
)


def page(number: int, text: str = "") -> bytes:
    own = text or " ".join(f"Story {number} tells of the {word} number {number}." for word in WORDS.split())
    return f"<html><head><title>Page {number}</title></head><body><p>{WORDS}</p><p>{own}</p></body></html>".encode()


def run(inputs: list[Path], output: Path, *settings: str, workers: int = 1, options: str = "") -> ArchivesSummary:
    chosen = ArchivesOptions(inputs=[str(path) for path in inputs], output=output, config=options, settings=settings)
    sources = archived.find(chosen.inputs)
    if workers == 1:
        return archived.corpus(chosen, sources, None, lambda pages: None)
    with engine.open("local", workers=workers) as opened:
        return archived.corpus(chosen, sources, opened, lambda pages: None)


def documents(directory: Path) -> Iterator[tuple[str, dict[str, object]]]:
    for path in sorted((directory / "corpus").rglob("*.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            yield path.relative_to(directory).as_posix(), json.loads(line)


def files(directory: Path) -> dict[str, bytes]:
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.gz")}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of the demo web without probes for soft-404 pages: what they say is in the log only."""
    directory = tmp_path_factory.mktemp("archived") / "crawl"
    directory.mkdir()
    with web.serve() as site:
        (directory / "seeds.txt").write_text("\n".join(site.seeds) + "\n")
        (directory / "hosts").write_text("".join(f"{host}\t{place}\n" for host, place in site.hosts.items()))
        (directory / "crawl.toml").write_text(demo.OPTIONS)
        settings = ["crawl.max_pages=120", "frontier.order=breadth", "archive.max_bytes=200000"]
        options = config.load(directory / "crawl.toml", settings)
        loop.execute(loop.run(directory, options, lambda running, resumed: None))
    return directory


def test_the_archive_of_a_crawl_gives_the_corpus_of_the_crawl(crawl: Path, tmp_path: Path) -> None:
    done = run([crawl / "warc"], tmp_path / "out", options=str(crawl / "crawl.toml"))
    assert list(documents(tmp_path / "out")) == list(documents(crawl))
    assert done.files > 1 and done.documents == len(list(documents(crawl))) > 40
    assert (done.damages, done.bad) == ([], [])
