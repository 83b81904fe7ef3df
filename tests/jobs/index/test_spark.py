"""The same index on Spark."""

import gzip
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.jobs import warcs
from tests.jobs.index import crawls
from windrow.jobs import engine
from windrow.jobs.engine import SparkOptions
from windrow.jobs.index import build, sources
from windrow.jobs.index.build import IndexOptions, IndexSummary

DATA = (".cdxj", ".gz", ".idx", ".loc", ".json")


def index(
    name: str, inputs: list[Path], folder: Path
) -> tuple[IndexSummary, dict[str, bytes], list[dict[str, object]]]:
    output = folder / name
    spark = SparkOptions("local[2]") if name == "spark" else None
    options = IndexOptions(output=output)
    summary = build.run(
        options,
        sources.find(inputs, "TEST-2026-01"),
        lambda work: engine.open(name, work, workers=2, spark=spark),
    )
    summary.output = ""
    files = {path.relative_to(output).as_posix(): path for path in output.rglob("*.*") if path.is_file()}
    rows = [
        row
        for path in sorted(output.rglob("*.parquet"))
        for row in pyarrow.parquet.ParquetFile(path).read().to_pylist()
    ]
    return summary, {name: path.read_bytes() for name, path in files.items() if name.endswith(DATA)}, rows


@pytest.mark.long
def test_spark_writes_the_same_index_and_names_the_same_damage(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    crawl = crawls.write(tmp_path / "crawl", max_bytes=3000)
    parts = [gzip.compress(warcs.record(f"http://d.example/{number}", b"x" * 5000)) for number in range(3)]
    damaged = tmp_path / "damaged.warc.gz"
    damaged.write_bytes(parts[0] + b"garbage" + parts[1] + parts[2][:-9])
    here, there = (index(name, [crawl, damaged], tmp_path) for name in ("local", "spark"))
    assert there == here
    assert there[0].captures == len(there[2]) == len(crawls.SITE) + 2
    assert len(there[0].damaged) == 1 and len(there[0].damaged["damaged.warc.gz"]) == 2
