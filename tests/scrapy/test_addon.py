"""One line in the settings sets everything, also against the settings of a project template."""

import json
from pathlib import Path

import pytest
from scrapy.settings import Settings

from windrow import config
from windrow.config import ConfigError
from windrow.scrapy import Addon, ArchiveMiddleware, Scheduler, settings
from windrow.scrapy.middleware import BESIDE_DOWNLOADER, DownloaderMiddleware, SpiderMiddleware
from windrow.scrapy.names import Names

TEMPLATE = {"ROBOTSTXT_OBEY": True, "DOWNLOAD_DELAY": 1, "USER_AGENT": "mine", "RETRY_ENABLED": True}


def applied(**chosen: object) -> Settings:
    found = Settings({**TEMPLATE, **chosen})
    Addon().update_settings(found)
    return found


def test_in_windrows_order_scrapy_does_not_do_what_windrow_does(tmp_path: Path) -> None:
    found = applied(WINDROW_DIR=str(tmp_path / "crawl"), WINDROW_CONTACT="https://example.org/bot")
    assert found["SCHEDULER"] is Scheduler
    assert (found["ROBOTSTXT_OBEY"], found["RETRY_ENABLED"], found["DOWNLOAD_DELAY"]) == (False, False, 0)
    assert "+https://example.org/bot" in found["USER_AGENT"], "robots.txt was read for this name"
    assert found["TWISTED_DNS_RESOLVER"] is Names
    assert found.getdict("DOWNLOADER_MIDDLEWARES") == {DownloaderMiddleware: BESIDE_DOWNLOADER}
    assert SpiderMiddleware in found.getdict("SPIDER_MIDDLEWARES")


def test_with_a_shared_queue_politeness_stays_scrapys(tmp_path: Path) -> None:
    found = applied(WINDROW_ORDER="fifo")
    assert (found["ROBOTSTXT_OBEY"], found["DOWNLOAD_DELAY"], found["USER_AGENT"]) == (True, 1, "mine")
    assert ArchiveMiddleware not in found.getdict("DOWNLOADER_MIDDLEWARES")
    archiving = applied(WINDROW_ORDER="fifo", WINDROW_DIR=str(tmp_path / "crawl"))
    assert ArchiveMiddleware in archiving.getdict("DOWNLOADER_MIDDLEWARES")


def test_a_new_directory_keeps_its_options_and_later_ones_hold_for_a_run(tmp_path: Path) -> None:
    chosen = {"WINDROW_DIR": str(tmp_path / "crawl"), "WINDROW_OPTIONS": {"fetch.delay": 2.5, "scope.tlds": ["cz"]}}
    _, made = settings.directory(Settings(chosen))
    assert (made.fetch.delay, made.scope.tlds, made.frontier.order) == (2.5, ("cz",), "breadth")
    assert config.load(tmp_path / "crawl" / "crawl.toml") == made
    _, later = settings.directory(Settings({**chosen, "WINDROW_OPTIONS": {"fetch.delay": 7.0}}))
    assert (later.fetch.delay, later.scope.tlds) == (7.0, ("cz",))
    assert config.load(tmp_path / "crawl" / "crawl.toml") == made


@pytest.mark.parametrize(
    ("chosen", "message"),
    [({}, "WINDROW_DIR is not set"), ({"WINDROW_ORDER": "lifo"}, "write 'windrow' or 'fifo'")],
)
def test_a_wrong_setting_is_named(chosen: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        applied(**chosen)


def test_a_directory_that_a_spider_cannot_use_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="file, which is a file; name another directory"):
        applied(WINDROW_DIR=str(tmp_path / "file"))
    job = {"name": "news", "id": "1234", "shards": 2}
    (tmp_path / "whole" / "shards" / "001").mkdir(parents=True)
    (tmp_path / "whole" / "job.json").write_text(json.dumps({"job": job}))
    (tmp_path / "whole" / "shards" / "001" / "job.json").write_text(json.dumps({"job": job, "shard": 1}))
    for place in (tmp_path / "whole", tmp_path / "whole" / "shards" / "001"):
        with pytest.raises(ConfigError, match="run: windrow crawl"):
            applied(WINDROW_DIR=str(place))
        assert not (place / "crawl.toml").exists()


@pytest.mark.parametrize("value", ["x", "0", -1, "inf", "nan"])
def test_a_lease_that_is_no_time_is_named(value: object) -> None:
    with pytest.raises(ConfigError, match=r"WINDROW_LEASE_SECONDS is .*; write a number of seconds above 0"):
        settings.lease(Settings({"WINDROW_LEASE_SECONDS": value}), 60.0)
    assert settings.lease(Settings({}), 60.0) == 60.0
    assert settings.lease(Settings({"WINDROW_LEASE_SECONDS": "2.5"}), 60.0) == 2.5


def test_a_merged_corpus_is_no_directory_of_a_crawl(tmp_path: Path) -> None:
    (tmp_path / "merge.json").touch()
    with pytest.raises(ConfigError, match="which is a merged corpus"):
        Addon().update_settings(Settings({"WINDROW_DIR": str(tmp_path)}))
    assert [path.name for path in tmp_path.iterdir()] == ["merge.json"]
