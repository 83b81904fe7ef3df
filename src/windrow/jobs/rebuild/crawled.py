"""`windrow rebuild DIR`: the pages of a crawl, refined on the engine in parts of its log.

A part is some pages in a row, whichever archive files they are in, so that a crawl with one file occupies all workers.
The owner of what depends on order (rebuild.py) takes the rows one after another: the corpus is that of one process.
"""

import functools
import hashlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import msgspec

from windrow import config, files, log
from windrow.config import Config, ConfigError
from windrow.jobs.engine.protocol import Engine
from windrow.jobs.rebuild import ordered, refining
from windrow.jobs.rebuild.refining import CrawlPart, RefinedRow
from windrow.records import Place

PART = 256  # pages of a part


def rows(
    directory: Path, options: Config, settings: tuple[str, ...], engine: Engine, scratch: Path
) -> Iterator[RefinedRow]:
    """Yield all pages of a crawl that the archive still has, in the order of the log.

    `scratch`: a directory that the workers see; with a resumable engine, in its work directory. `settings`: those that
    made the options.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    sources = [str(_saved(part, scratch / f"{number:06}")) for number, part in enumerate(parts(directory))]
    version = hashlib.sha256(config.dump(options).encode()).hexdigest()[:16]
    work = functools.partial(
        refining.crawl_batches, directory=str(directory.absolute()), settings=settings, version=version
    )
    table = engine.map(sources, work, refining.schema())
    if table.bad:
        raise ConfigError(table.bad[0].problem)
    for batch in table.batches():
        for data in batch.column(0).to_pylist():
            row = refining.decode(data)
            assert isinstance(row, RefinedRow)
            yield row


def parts(directory: Path) -> Iterator[CrawlPart]:
    """Cut the pages of a crawl."""
    pages = _pages(directory)
    while some := list(itertools.islice(pages, PART)):
        texts = ["", *dict.fromkeys(text for _, text in some if text)]
        numbers = {text: number for number, text in enumerate(texts)}
        yield CrawlPart([(where, numbers[text]) for where, text in some], texts)


def _pages(directory: Path) -> Iterator[tuple[Place, str]]:
    for report, origin_record, purged in ordered.pages(directory, log.purged(directory / "log")):
        if not purged and report.place is not None:
            yield report.place, ordered.probe(origin_record)


def _saved(part: CrawlPart, path: Path) -> Path:
    """Write a part to its file. One that is there already stays as it is: its rows count if it has not changed."""
    data = msgspec.msgpack.encode(part)
    if not path.exists() or path.read_bytes() != data:
        files.write(path, data)
    return path
