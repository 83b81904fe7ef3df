"""Step 3: a corpus file again, without what the owner removed. A document that loses nothing stays byte for byte."""

from collections.abc import Iterator

import msgspec
import pyarrow

from windrow.corpus import document as documents
from windrow.decide import NEAR
from windrow.io import streams
from windrow.jobs.merge import decide
from windrow.jobs.merge.collect import MergeWork, lines
from windrow.jobs.merge.decide import Change

SCHEMA = pyarrow.schema([pyarrow.field("documents", pyarrow.int64(), nullable=False)])


def rewrite(source: str, work: MergeWork) -> Iterator[pyarrow.RecordBatch]:
    """Write the file, and yield how many documents it has. Without any there is no file."""
    number = work.numbers[source]
    output = work.output(work.files[number])
    output.parent.mkdir(parents=True, exist_ok=True)
    temporary = output.with_name(f".new.{output.name}")
    count = 0
    with streams.create(temporary) as file:
        for line in _left(work, number):
            file.write(line)
            count += 1
    if count:
        temporary.replace(output)
    else:
        temporary.unlink()
    yield pyarrow.RecordBatch.from_pylist([{"documents": count}], schema=SCHEMA)


def _left(work: MergeWork, number: int) -> Iterator[bytes]:
    file = work.files[number]
    name = work.shards[file.shard].name
    changed = decide.changes(work, number)
    for location, line, _ in lines(file):
        change = changed.get(location)
        if change is not None and change.rule:
            continue
        left = line if change is None else shortened(line, change)
        yield documents.with_crawl(left, name) if name else left


def shortened(line: bytes, change: Change) -> bytes:
    """Return a document without the paragraphs that are removed, with its new share of near-duplicates."""
    document = msgspec.json.decode(line)
    document["paragraphs"] = [
        paragraph for paragraph, stays in zip(document["paragraphs"], change.stays, strict=True) if stays == "1"
    ]
    document["scores"] = {**document["scores"], NEAR: change.share}
    return msgspec.json.encode(document) + b"\n"
