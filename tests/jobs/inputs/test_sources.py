from pathlib import Path

from tests.corpus import samples
from windrow.jobs.inputs import sources


def test_inputs_of_one_crawl_are_one_source(tmp_path: Path) -> None:
    crawl, other = samples.crawl(tmp_path / "a"), samples.crawl(tmp_path / "b")
    shards = sorted((crawl / "corpus").rglob("*.gz"))
    found = sources.find([shards[1], other, shards[0]])
    assert [source.name for source in found] == ["a", "b"]
    assert [shard.path for shard in found[0].shards] == [shards[1], shards[0]]
    assert found[0].size == shards[0].stat().st_size + shards[1].stat().st_size


def test_sources_of_the_same_name_are_named_with_their_parents(tmp_path: Path) -> None:
    crawls = [samples.crawl(tmp_path / "x" / "crawl"), samples.crawl(tmp_path / "y" / "crawl")]
    assert [source.name for source in sources.find(crawls)] == ["x/crawl", "y/crawl"]


def test_a_file_is_named_without_its_suffixes(tmp_path: Path) -> None:
    for folder in ("a", "b.2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "part.1.jsonl").write_bytes(samples.line(samples.SAMPLES[0], 0))
    files = [tmp_path / folder / "part.1.jsonl" for folder in ("a", "b.2")]
    assert [source.name for source in sources.find(files[:1])] == ["part"]
    assert [source.name for source in sources.find(files)] == ["a/part", "b.2/part"]
    assert sources.find(files)[0].crawl is None
