"""A merged corpus in a storage."""

from pathlib import Path

import pytest

from tests.corpus import samples
from tests.jobs.store.conftest import Kind
from tests.jobs.store.crawls import sample
from tests.jobs.store.test_storages import expected, store, texts
from windrow import log
from windrow.config import ConfigError
from windrow.jobs.store import feed, merged
from windrow.jobs.store.merged import MergedFeed


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Documents in three languages, and the note by which a merged corpus is known."""
    crawl = samples.crawl(tmp_path / "shard", [sample(number) for number in range(10)])
    (tmp_path / "merged").mkdir()
    (crawl / "corpus").rename(tmp_path / "merged" / "corpus")
    (tmp_path / "merged" / "merge.json").write_text('{"shards": []}')
    return tmp_path / "merged"


def test_it_is_stored_once_and_takedowns_reach_it(kind: Kind, corpus: Path) -> None:
    (corpus / "takedown.txt").write_text(f"{sample(3).url}\n")
    assert store(corpus, kind.url).documents == 9
    assert store(corpus, kind.url).documents == 0
    (corpus / "takedown.txt").write_text(f"{sample(3).url}\n{sample(4).url}\n")
    assert store(corpus, kind.url).removed == 1
    assert texts(kind) == expected(10, 3, 4)


def test_each_batch_begins_where_the_last_one_ended(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "ROWS", 2)
    found = list(MergedFeed(corpus).batches(MergedFeed(corpus).start(), lambda url: False))
    assert [len(batch.documents) for batch in found] == [2, 2, 2, 1, 2, 1]
    assert [batch.first for batch in found] == [1, 2, 3, 4, 5, 6]
    for number, batch in enumerate(found):
        assert list(MergedFeed(corpus).batches(batch.position, lambda url: False)) == found[number + 1 :]


def test_another_merge_under_the_same_name_is_refused(sqlite: Kind, corpus: Path) -> None:
    store(corpus, sqlite.url)
    (corpus / "merge.json").write_text('{"shards": [1]}')
    with pytest.raises(ConfigError, match="another merge, with the name merged"):
        store(corpus, sqlite.url)
    with pytest.raises(ConfigError, match="has no captures; store those of its shards"):
        store(corpus, sqlite.url, captures=True)


def test_commands_for_crawls_say_that_it_has_no_log(corpus: Path) -> None:
    assert merged.is_merged(corpus)
    with pytest.raises(ConfigError, match=r"is a merged corpus, which has no log; name one of its shards"):
        log.home(corpus)
