"""The lines of all archive files, sorted, to the files of the index: in one pass, with bounded memory."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from windrow import files
from windrow.io.streams import ByteStream
from windrow.jobs.engine.runs import SortedLines
from windrow.jobs.index import cdx, table
from windrow.jobs.index.manifest import IndexedFile
from windrow.jobs.index.table import TableWriter
from windrow.jobs.index.zipnum import ZipNumWriter

FLAT = "index.cdxj"
TABLE = "table"
NEW = "new"  # directory of the files while they are written


def merge(directory: Path, indexed: Sequence[IndexedFile]) -> None:
    """Write the sorted lines as one file, as shards and as a table, and put these into the place of earlier ones."""
    new = directory / NEW
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    with SortedLines() as lines:
        for path in (cdx.file(directory, file.name) for file in indexed):
            for line in lines_of(path) if path.exists() else ():  # it is missing if its archive file could not be read
                lines.add(line)
        write(new, lines, indexed)
    _replace(directory, new)


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a CDXJ file."""
    stream = ByteStream(path)
    try:
        yield from stream.parts(b"")
    finally:
        stream.close()


def write(new: Path, lines: SortedLines, indexed: Sequence[IndexedFile]) -> None:
    """Write the lines of these files, sorted, in every form into an empty directory."""
    wide = table.wide([file.length for file in indexed])
    places = {file.name: table.partition(file.crawl, file.subset) for file in indexed}
    segments = {file.name: file.segment for file in indexed}
    tables: dict[str, TableWriter] = {}
    shards = ZipNumWriter(new)
    with files.replacing(new / FLAT) as flat:
        for line in lines:
            flat.write(line)
            shards.add(line)
            parsed = table.parse(line)
            name = parsed.fields.filename
            location = places[name]
            if location not in tables:
                tables[location] = TableWriter(new / TABLE / location, wide)
            tables[location].add(table.row(parsed, segments[name]))
    shards.close()
    for writer in tables.values():
        writer.close()
    (new / TABLE).mkdir(exist_ok=True)


def _replace(directory: Path, new: Path) -> None:
    """Put the new files into their place. Only when index.json says so, a reader may rely on them."""
    for path in directory.glob("cdx-*.gz"):
        path.unlink()
    shutil.rmtree(directory / TABLE, ignore_errors=True)
    for path in new.iterdir():
        path.replace(directory / path.name)
    new.rmdir()
    files.sync_directory(directory)
