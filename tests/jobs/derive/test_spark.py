"""The same files on Spark."""

from pathlib import Path

import pytest

from tests.jobs import warcs
from windrow.jobs import engine
from windrow.jobs.derive import run
from windrow.jobs.derive.run import DeriveRequest, DeriveSummary
from windrow.jobs.engine import SparkOptions


def derive(name: str, sources: list[Path], folder: Path) -> tuple[DeriveSummary, dict[str, bytes]]:
    output = folder / name
    request = DeriveRequest(inputs=sources, output=output, wat=True, wet="all", links=True, pages=True)
    spark = SparkOptions("local[2]") if name == "spark" else None
    with engine.open(name, folder / f"{name}.work", workers=2, spark=spark) as opened:
        summary = run.run(request, opened)
    return summary, {
        path.relative_to(output).as_posix(): path.read_bytes() for path in output.rglob("*.*") if path.is_file()
    }


@pytest.mark.long
def test_spark_writes_the_same_bytes_and_names_the_same_bad_file(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    sources = [
        warcs.write(
            tmp_path / f"{name}.warc.gz",
            [
                warcs.record(f"http://a.example/{name}{page}", b"<title>%d</title><a href=x>y</a>" % page)
                for page in range(5)
            ],
        )
        for name in "ab"
    ]
    (tmp_path / "none.warc.gz").write_bytes(b"this is no archive")
    here, there = (derive(name, [*sources, tmp_path / "none.warc.gz"], tmp_path) for name in ("local", "spark"))
    assert there == here
    assert len(there[1]) == 8
    assert [found.source for found in there[0].bad] == [str(tmp_path / "none.warc.gz")]
