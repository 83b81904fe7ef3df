"""Archive files to derive from, and what was derived, read back."""

import gzip
import json
import tarfile
from pathlib import Path
from typing import Any

import pyarrow.parquet

from tests.shared import shared
from windrow import archive
from windrow.archive import WarcRecord
from windrow.jobs.derive import job
from windrow.jobs.derive.job import DeriveOptions


def derived(source: Path, output: Path, **wanted: Any) -> dict[str, Any]:
    """Derive from a source; return its account."""
    batches = list(job.derive(DeriveOptions(output=str(output), **wanted), str(source)))
    (row,) = [row for batch in batches for row in batch.to_pylist()]
    return dict(row)


def records(folder: Path) -> list[WarcRecord]:
    """Return the records of the one file in a folder."""
    (path,) = folder.iterdir()
    return list(archive.records(path))


def envelopes(output: Path) -> list[dict[str, Any]]:
    """Return what WAT records say, without the first record of the file."""
    return [json.loads(record.block) for record in records(output / "wat")[1:]]


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    return list(pyarrow.parquet.read_table(folder).to_pylist())


def documents(crawl: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts and the languages of the documents, by the id of the response record."""
    texts, languages = {}, {}
    for path in sorted((crawl / "corpus").rglob("*.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            found = json.loads(line)
            texts[found["id"]] = "\n".join(paragraph["text"] for paragraph in found["paragraphs"])
            languages[found["id"]] = found["language"]
    return texts, languages


def sample(directory: Path, name: str) -> Path:
    """Return a file of Common Crawl's own, from the reference data."""
    with tarfile.open(shared("conformance/warc.tar.xz")) as tar:
        member = tar.extractfile(f"warc/whirlwind-python/{name}")
        assert member is not None
        path = directory / name
        path.write_bytes(member.read())
    return path
