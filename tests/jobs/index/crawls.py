"""Crawl directories with an archive of known captures."""

from pathlib import Path

from tests import logs
from tests.archive import captures as made
from windrow.config import ArchiveOptions
from windrow.jobs import engine
from windrow.jobs.index import build, sources
from windrow.jobs.index.build import IndexOptions, IndexSummary
from windrow.records import Capture, Frame

HTML = b"<html><head><title>%s</title></head><body><p>%s</p></body></html>"
SITE = [
    made.capture("http://example.org/robots.txt", b"User-agent: *\nDisallow:\n", file="robots"),
    made.capture("http://www.example.org/", HTML % (b"Home", b"The wind blows over the field. " * 300)),
    made.capture("http://example.org/gone", b"", 404),
    made.capture("http://listed.example/a", HTML % (b"A", b"secret")),
    made.capture("https://news.bbc.co.uk:8443/x/y.html?b=1&a=2", HTML % (b"X", b"news")),
    made.capture("http://192.0.2.7/ip", HTML % (b"I", b"address")),
]


def commit(directory: Path, number: int = 1) -> None:
    """Commit everything that is in the archive now, and leave half a record behind it."""
    lengths = {path.relative_to(directory).as_posix(): path.stat().st_size for path in made.files(directory)}
    logs.write(directory / "log", Frame(number, 1000.0, (), lengths))


def write(directory: Path, captures: list[Capture] = SITE, max_bytes: int = 1 << 30) -> Path:
    """Make a crawl directory."""
    made.write(directory, captures, ArchiveOptions(max_bytes=max_bytes))
    (directory / "crawl.toml").write_text("")
    commit(directory)
    return directory


def index(*inputs: Path, output: Path | None = None, crawl: str = "TEST-2026-01", **others: object) -> IndexSummary:
    target = output or sources.output(inputs)
    options = IndexOptions(output=target, **others)  # type: ignore[arg-type]
    return build.run(options, sources.find(inputs, crawl), lambda work: engine.open("local", work, workers=1))
