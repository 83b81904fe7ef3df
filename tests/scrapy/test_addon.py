"""One line in the settings sets everything, also against the settings of a project template."""

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
