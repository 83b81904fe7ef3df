"""From committed frames to batches: what counts, what does not, and damage."""

from pathlib import Path
from typing import Any

import pytest

from tests.jobs.store.crawls import GrowingCrawl, growing, sample
from windrow.config import ConfigError
from windrow.corpus import purge
from windrow.jobs.store import feed as feeds
from windrow.jobs.store.feed import Feed
from windrow.jobs.store.protocol import StorageBatch, StoragePosition


def start(feed: Feed) -> StoragePosition:
    found = feed.start()
    assert found is not None
    return found


def batches(crawl: GrowingCrawl, position: StoragePosition | None = None) -> list[StorageBatch]:
    feed = Feed(crawl.directory)
    return list(feed.batches(position or start(feed), lambda url: False))


def urls(found: list[StorageBatch]) -> list[str]:
    return [row.url for batch in found for row in batch.documents]


def test_a_crawl_without_a_frame_has_nothing(tmp_path: Path) -> None:
    with growing(tmp_path / "c") as crawl:
        assert Feed(crawl.directory).start() is None


def test_uncommitted_documents_and_half_a_frame_are_not_read(tmp_path: Path) -> None:
    with growing(tmp_path / "c", frames=2, each=1) as crawl:
        for path in (crawl.directory / "corpus").rglob("*.gz"):
            path.write_bytes(path.read_bytes() + b"half a member")
        (log,) = (crawl.directory / "log").iterdir()
        log.write_bytes(log.read_bytes() + log.read_bytes()[:30])
        (batch,) = batches(crawl)
    assert sorted(urls([batch])) == [sample(0).url, sample(1).url]
    assert (batch.position.frame, batch.position.offset) == (2, log.stat().st_size - 30)


def test_the_log_is_synced_before_its_new_frames_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a power loss could take a frame from the log whose documents are stored already."""
    steps: list[str] = []
    sync, frames = feeds._sync, feeds.log.frames

    def synced(path: Path) -> None:
        steps.append(f"sync {path.name}")
        sync(path)

    def read(*given: Any) -> Any:
        steps.append("read")
        return frames(*given)

    with growing(tmp_path / "c", frames=1) as crawl:
        feed = Feed(crawl.directory)
        first = start(feed)
        monkeypatch.setattr(feeds, "_sync", synced)
        monkeypatch.setattr(feeds.log, "frames", read)
        (batch,) = feed.batches(first, lambda url: False)
        assert steps == [f"sync {batch.position.file}", "read"]
        steps.clear()
        assert list(feed.batches(batch.position, lambda url: False)) == []
        assert steps == ["read"]


def test_batches_end_at_a_limit_and_begin_where_the_last_one_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "ROWS", 4)
    with growing(tmp_path / "c", frames=5, each=2) as crawl:
        found = batches(crawl)
        assert [(batch.first, batch.position.frame, len(batch.documents)) for batch in found] == [
            (1, 2, 4),
            (3, 4, 4),
            (5, 5, 2),
        ]
        for number, batch in enumerate(found):
            assert batches(crawl, batch.position) == found[number + 1 :]


def test_a_purge_ends_a_batch_and_its_pages_are_in_none(tmp_path: Path) -> None:
    with growing(tmp_path / "c", frames=2, each=2) as crawl:
        crawl.purge(sample(1).url)
        crawl.commit([sample(4)])
        first, second = batches(crawl)
    assert (sorted(urls([first])), first.removed) == ([sample(0).url, sample(2).url, sample(3).url], {sample(1).url})
    assert (urls([second]), second.removed) == ([sample(4).url], frozenset())


def test_members_that_a_purge_has_joined_are_read_by_the_reports_of_their_frames(tmp_path: Path) -> None:
    with growing(tmp_path / "c") as crawl:
        for number in (0, 3, 6):  # all in one language, a gzip member each
            crawl.commit([sample(number)])
        (path,) = (crawl.directory / "corpus").rglob("*.gz")
        size = path.stat().st_size
        text = b"".join(part for _, _, part in purge.members(path, size))
        stored, _, last = _positions(crawl)
        path.write_bytes(purge.packed(text, size) or b"")
        assert urls(batches(crawl, stored)) == [sample(3).url, sample(6).url]
        assert urls(batches(crawl)) == [sample(0).url, sample(3).url, sample(6).url]
        assert batches(crawl, last) == []


def _positions(crawl: GrowingCrawl) -> list[StoragePosition]:
    """Return the position after each frame."""
    limit, feeds.ROWS = feeds.ROWS, 1
    try:
        return [batch.position for batch in batches(crawl)]
    finally:
        feeds.ROWS = limit


def test_a_document_that_the_log_has_and_the_corpus_has_not_is_reported(tmp_path: Path) -> None:
    with growing(tmp_path / "c", frames=1, each=2) as crawl:
        path = sorted((crawl.directory / "corpus").rglob("*.gz"))[0]
        path.write_bytes(purge.packed(b"", path.stat().st_size) or b"")
        with pytest.raises(ConfigError, match=f"the log has a document of {sample(0).url}.* restore the corpus"):
            batches(crawl)


def test_damage_in_the_middle_of_the_log_is_refused(tmp_path: Path) -> None:
    with growing(tmp_path / "c", frames=4, each=1) as crawl:
        (log,) = (crawl.directory / "log").iterdir()
        positions = _positions(crawl)
        data = bytearray(log.read_bytes())
        data[positions[1].offset + 12] ^= 255
        log.write_bytes(data)
        with pytest.raises(ConfigError, match="damaged, and whole frames follow; restore the file from a copy"):
            batches(crawl)


def test_an_interrupted_purge_is_finished_first(tmp_path: Path) -> None:
    with growing(tmp_path / "c", frames=1) as crawl:
        (crawl.directory / "purge.redo").write_bytes(b"")
        with pytest.raises(ConfigError, match="finish it with: windrow purge"):
            batches(crawl)
