"""Export directories, read by the programs for which they are made: datasets, datatrove, duckdb, pandas, pyarrow.

These packages are large (datasets and datatrove with what they need: 340 MB, 45 s to install), so they are not in the
extra `dev`. To run these tests: pip install datasets datatrove orjson duckdb pandas, then make test-long.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.corpus import samples
from tests.corpus.samples import SAMPLES, Sample
from tests.jobs import exports
from windrow.records import Signal

pytestmark = pytest.mark.long

# Documents that differ in everything that may be missing, so that a file of each alone has other types than the rest.
VARIED = (
    Sample("http://a.example/", "eng", ("No date, no signal.",), scores={"language": 1.0}),
    Sample("http://b.example/", "eng", ("Only a date.",), date="2024-02-29", scores={"other": 1.0}),
    Sample("http://c.example/", "eng", ("A signal.",), signals=(Signal("meta", "noai", "", "robots"),), scores={}),
    *SAMPLES,
)


def made(directory: Path, format: str, **others: Any) -> Path:
    """Export each document into a file of its own."""
    crawl = samples.crawl(directory / "crawl", VARIED)
    exports.run(crawl, directory / "out", format, shard_bytes=1, **others)
    return directory / "out"


def urls() -> list[str]:
    return sorted(sample.url for sample in VARIED)


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    found = pytest.importorskip("datasets", reason="needs datasets: pip install datasets")
    monkeypatch.setattr(found.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return found


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_datasets_loads_the_directory_by_its_card(tmp_path: Path, datasets: Any, format: str) -> None:
    found = datasets.load_dataset(str(made(tmp_path, format)), split="train")
    rows = list(found)
    assert sorted(row["url"] if format == "parquet" else row["metadata"]["url"] for row in rows) == urls()


@pytest.mark.parametrize(("format", "builder"), [("parquet", "parquet"), ("jsonl", "json")])
def test_datasets_loads_the_directory_as_files_of_a_kind(
    tmp_path: Path, datasets: Any, format: str, builder: str
) -> None:
    found = datasets.load_dataset(builder, data_dir=str(made(tmp_path, format)), split="train")
    assert found.num_rows == len(VARIED)


def test_datasets_loads_one_part_of_a_split_corpus(tmp_path: Path, datasets: Any) -> None:
    directory = str(made(tmp_path, "parquet", by="language"))
    assert set(datasets.get_dataset_config_names(directory)) == {"default", "ces", "deu", "eng", "zho"}
    found = datasets.load_dataset(directory, "deu", split="train")
    assert {row["language"] for row in found} == {"deu"} and found.num_rows == 2


def test_datatrove_reads_the_documents(tmp_path: Path) -> None:
    readers = pytest.importorskip("datatrove.pipeline.readers", reason="needs datatrove: pip install datatrove orjson")
    found = list(readers.ParquetReader(str(made(tmp_path / "a", "parquet") / "data"))())
    assert sorted(one.metadata["url"] for one in found) == urls() and all(one.text and one.id for one in found)
    for style, folder in (("both", "data"), ("datatrove", "data"), ("dolma", "documents")):
        found = list(readers.JsonlReader(str(made(tmp_path / style, "jsonl", style=style) / folder))())
        assert sorted(one.metadata["url"] for one in found) == urls()
        scores = [json.loads(one.metadata["scores"]) for one in found]
        assert {"other": 1.0} in scores and {"language": 1.0} in scores


def test_duckdb_reads_the_documents(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb: pip install duckdb")
    parquet, jsonl = made(tmp_path / "a", "parquet"), made(tmp_path / "b", "jsonl")
    query = "select url from read_parquet($1)"
    assert sorted(row[0] for row in duckdb.execute(query, [f"{parquet}/data/*.parquet"]).fetchall()) == urls()
    query = "select metadata.url from read_json($1)"
    assert sorted(row[0] for row in duckdb.execute(query, [f"{jsonl}/data/*.jsonl.gz"]).fetchall()) == urls()


def test_pandas_and_pyarrow_read_the_documents(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    dataset = pytest.importorskip("pyarrow.dataset")
    data = made(tmp_path, "parquet") / "data"
    assert sorted(pandas.read_parquet(data)["url"]) == urls()
    assert dataset.dataset(data).count_rows() == len(VARIED)
