"""The job of an index: one archive file to its CDXJ file, and one row that says how many captures it has."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow

from windrow import files, takedown, urls
from windrow.archive import Damage
from windrow.archive.cdxj import CdxLines
from windrow.io import storage, streams
from windrow.jobs.engine.runs import SortedLines
from windrow.jobs.index.sources import IndexSource

NAMED = 100  # places of a damaged file that are named; the others are counted
SCHEMA = pyarrow.schema(
    [
        ("path", pyarrow.string()),
        ("captures", pyarrow.int64()),
        ("damaged", pyarrow.int64()),  # places
        ("damages", pyarrow.string()),  # the first of them, as JSON
    ]
)


class CdxPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What the job needs besides the path of a file. It is in a file itself: a cluster has the same one everywhere."""

    output: str  # directory of the index
    crawls: tuple[str, ...]  # directories whose takedown lists hold
    takedown: str  # another list
    check: bool  # whether every record is unpacked and compared with its digest
    sources: tuple[IndexSource, ...]


def file(directory: Path, name: str) -> Path:
    """Return the CDXJ file of an archive file with this name in the index."""
    return directory / "cdx" / f"{name.removesuffix('.warc.gz')}.cdx.gz"


def index(source: str, plan: str, version: str) -> Iterator[pyarrow.RecordBatch]:
    """Write the CDXJ file of an archive file. `version` makes a job with another plan another job."""
    options, listed, refuses = _loaded(plan, version)
    of = listed[source]
    target = file(Path(options.output), of.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    captures, damages = 0, CountedDamages()
    with SortedLines() as lines, files.replacing(target) as plain, streams.gzipped(plain, "wb") as packed:
        path, end = storage.place(source), max(of.length, 0) or None
        for line in CdxLines(path, of.name, end, options.check, damages.add).read(refuses):
            lines.add(line)
            captures += 1
        packed.writelines(lines)
    first = msgspec.json.encode(damages.first).decode()
    row = {"path": source, "captures": captures, "damaged": damages.count, "damages": first}
    yield pyarrow.RecordBatch.from_pylist([row], SCHEMA)


class CountedDamages:
    """The damaged places of a file; the first ones are kept."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Damage] = []

    def add(self, damage: Damage) -> None:
        self.count += 1
        if self.count <= NAMED:
            self.first.append(damage)


@functools.lru_cache(1)
def _loaded(plan: str, version: str) -> tuple[CdxPlan, dict[str, IndexSource], Callable[[str], bool] | None]:
    decoded = msgspec.json.decode(Path(plan).read_bytes(), type=CdxPlan)
    listed = takedown.of(*map(Path, decoded.crawls), extra=Path(decoded.takedown) if decoded.takedown else None)

    def refuses(url: str) -> bool:
        parsed = urls.parse(url)
        return parsed is not None and listed.covers(parsed.text)

    return decoded, {source.path: source for source in decoded.sources}, refuses if listed else None
