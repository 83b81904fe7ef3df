"""What a crawl needs: in proportion to one that was measured, or to the ratios of docs/sizing.md."""

from pathlib import Path

import pytest

from tests import crashing
from tests.finished import Finished
from windrow import config
from windrow.config import ConfigError
from windrow.inspect import sizes

OPTIONS = config.make([], Path())


def on_disk(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def test_a_crawl_as_large_as_the_measured_one_needs_what_that_one_has(finished: Finished) -> None:
    ratios = sizes.measured([finished.directory])
    found = sizes.needs(ratios, ratios.pages, 1, OPTIONS)
    assert found.disk == {
        name: on_disk(finished.directory / name) for name in ("warc", "diagnostics", "robotstxt", "log", "state")
    }
    assert found.disk_total == sum(found.disk.values())
    assert "n-grams" not in found.memory and found.table_bytes == 0  # no text was extracted


def test_two_shards_have_the_ratios_of_one_crawl(finished: Finished) -> None:
    once, twice = sizes.measured([finished.directory]), sizes.measured([finished.directory] * 2)
    assert twice.pages == 2 * once.pages and twice.disk == once.disk and twice.urls == once.urls


def test_a_crawl_without_pages_has_no_ratios(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("")
    with pytest.raises(ConfigError, match="no page of this crawl is committed yet"):
        sizes.measured([tmp_path])


def test_disk_grows_with_the_pages_but_the_table_of_ngrams_does_not() -> None:
    ratios = sizes.default(text=True, urls=10)
    few, many = (sizes.needs(ratios, pages, 1000, OPTIONS) for pages in (100_000, 10_000_000))
    assert many.disk["warc"] == 100 * few.disk["warc"]
    assert few.memory["n-grams"] == few.table_bytes < OPTIONS.dedup.table_bytes
    assert many.memory["n-grams"] == OPTIONS.dedup.table_bytes < many.table_bytes
    assert many.disk["seen"] == sizes.NGRAM * 450 * 10_000_000 + OPTIONS.dedup.table_bytes


def test_an_archive_without_text_has_neither_corpus_nor_ngrams() -> None:
    found = sizes.needs(sizes.default(text=False, urls=10), 1_000_000, 1000, OPTIONS)
    assert not {"corpus", "seen"} & found.disk.keys() and "n-grams" not in found.memory


@pytest.mark.parametrize(
    ("hosts", "setting", "seconds"),
    [
        (1000, "fetch.delay=5", 7500),  # 1.5 requests per page
        (10, "fetch.delay=5", 750_000),
        (1000, "fetch.delay=0", 1000),  # the one worker
        (1000, "workers.count=4", 7500),
    ],
)
def test_the_time_is_that_of_the_slowest_part(hosts: int, setting: str, seconds: int) -> None:
    options = config.make([setting], Path())
    assert sizes.needs(sizes.default(text=True, urls=10), 1_000_000, hosts, options).seconds == seconds


def test_the_command_takes_the_ratios_of_a_directory(finished: Finished) -> None:
    shown = crashing.run(["size", str(finished.directory), "--pages", "1K"])
    assert shown.code == 0 and f"pages of {finished.directory}" in shown.out
    assert "So few pages say little" in shown.out
