"""Jobs over small text files, for the tests of every engine. Worker processes import them from here."""

import datetime
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pyarrow

WORDS = pyarrow.schema([("file", pyarrow.string()), ("word", pyarrow.string()), ("count", pyarrow.int64())])


def words(source: str) -> Iterator[pyarrow.RecordBatch]:
    """Yield one row per word, one batch per line. A word that begins with an exclamation mark does what it says."""
    for line in Path(source).read_text(encoding="utf-8").splitlines():
        found = line.split()
        if "!raise" in found:
            raise ValueError("this line is bad")
        if "!die" in found:
            os.kill(os.getpid(), signal.SIGKILL)
        if "!exit" in found:
            os._exit(7)
        if "!hang" in found:
            signal.pause()
        rows = [{"file": Path(source).name, "word": word, "count": len(word)} for word in found]
        yield pyarrow.RecordBatch.from_pylist(rows, schema=WORDS)


def capitals(source: str, prefix: str) -> Iterator[pyarrow.RecordBatch]:
    """Yield the words in capital letters, with an option; leave a trace of each call beside the source."""
    with open(f"{source}.calls", "a", encoding="utf-8") as file:
        file.write(f"{prefix}\n")
    for batch in words(source):
        rows = [{**row, "word": prefix + row["word"].upper()} for row in batch.to_pylist()]
        yield pyarrow.RecordBatch.from_pylist(rows, schema=WORDS)


def lines(path: Path, batches: Iterator[pyarrow.RecordBatch]) -> str:
    """Write one line per row; the note is the first one."""
    rows = [f"{row['word']} {row['count']}" for batch in batches for row in batch.to_pylist()]
    if "!full" in " ".join(rows):
        raise OSError("no space left")
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return rows[0] if rows else ""


def sources(directory: Path, *texts: str) -> list[str]:
    """Write one file per text; return their paths."""
    found = []
    for number, text in enumerate(texts):
        path = directory / f"{number}.txt"
        path.write_text(text, encoding="utf-8")
        found.append(str(path))
    return found


TIMES = pyarrow.schema([("time", pyarrow.timestamp("us", tz="UTC"))])


def times(source: str) -> Iterator[pyarrow.RecordBatch]:
    """Yield the time in a file."""
    time = datetime.datetime.fromisoformat(Path(source).read_text() + "+00:00")
    yield pyarrow.RecordBatch.from_pylist([{"time": time}], schema=TIMES)
