import gzip
import itertools
import os
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


def test_a_shard_is_cut_where_a_member_and_a_line_begin(tmp_path: Path) -> None:
    members = [
        gzip.compress(b'{"number": %d, "bytes": "%b"}\n' % (n, os.urandom(300).hex().encode())) for n in range(40)
    ]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(b"".join(members))
    shard = reader.ShardFile(path, path.stat().st_size, path.name)
    borders = set(itertools.accumulate(map(len, members)))
    found = reader.cuts(shard, 2000)
    assert set(found) <= borders and len(found) > 3
    assert all(later - first >= 2000 for first, later in itertools.pairwise([0, *found]))
    ends = [*found[1:], shard.length]
    parts = [list(reader.lines_of(path, end - start, start)) for start, end in zip(found, ends, strict=True)]
    first = list(reader.lines_of(path, found[0]))
    assert [line for part in (first, *parts) for line, _, _ in part] == [line for line, _, _ in reader.lines(shard)]
    assert parts[0][1][1] == f"{path}, behind byte {found[0]}, line 2"


def test_a_file_of_one_member_or_without_compression_is_not_cut(tmp_path: Path) -> None:
    lines = b'{"a": 1}\n' * 10000
    for name, data in (("a.jsonl.gz", gzip.compress(os.urandom(20000))), ("b.jsonl", lines)):
        (tmp_path / name).write_bytes(data)
        assert reader.cuts(reader.ShardFile(tmp_path / name, len(data), name), 1000) == []
