import gzip
from pathlib import Path

import pytest

from tests.corpus import samples
from tests.corpus.samples import SAMPLES
from windrow.config import ConfigError
from windrow.corpus import reader


def test_documents_come_shard_by_shard_or_in_the_order_of_the_crawl(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl")
    urls = [sample.url for sample in SAMPLES]
    by_shard = [sample.url for sample in sorted(SAMPLES, key=lambda sample: sample.language)]
    assert [found.url for found in reader.documents(crawl)] == by_shard
    assert [found.url for found in reader.documents(crawl, ordered=True)] == urls
    assert [found.url for found in reader.documents(crawl / "corpus" / "deu")] == [urls[0], urls[4]]
    assert [found.url for found in reader.documents(crawl / "corpus" / "ces" / "n0-00000.jsonl.gz")] == [urls[1]]


def test_a_file_that_is_not_gzipped_is_read(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(b"".join(samples.line(sample, 0) for sample in SAMPLES) + b"\n")
    assert [found.url for found in reader.documents(path)] == [sample.url for sample in SAMPLES]
    assert [shard.name for shard in reader.find(tmp_path)] == ["some.jsonl"]


def test_only_committed_bytes_are_read(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl")
    shard = crawl / "corpus" / "ces" / "n0-00000.jsonl.gz"
    length = shard.stat().st_size
    with shard.open("ab") as file:
        file.write(gzip.compress(b"half")[:9])
    with pytest.raises(ConfigError, match=r"n0-00000\.jsonl\.gz, line \d: the gzip data ends here"):
        list(reader.documents(shard))
    assert len(list(reader.documents(shard, length=lambda path: length))) == 1
    assert list(reader.documents(shard, length=lambda path: 0)) == []
    with pytest.raises(ConfigError, match="shorter than"):
        list(reader.documents(shard, length=lambda path: length + 100))


def test_a_path_without_a_corpus_is_refused(tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    with pytest.raises(ConfigError, match="is not a crawl's directory"):
        reader.find(tmp_path / "crawl")
    (tmp_path / "crawl" / "crawl.toml").touch()
    with pytest.raises(ConfigError, match="has no corpus yet"):
        reader.find(tmp_path / "crawl")
    with pytest.raises(ConfigError, match="does not exist"):
        reader.find(tmp_path / "other")


def test_the_crawl_directory_of_a_path_is_found_above_it(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl")
    assert reader.crawl_of(crawl) == crawl
    assert reader.crawl_of(crawl / "corpus" / "ces" / "n0-00000.jsonl.gz") == crawl
    assert reader.crawl_of(tmp_path) is None
