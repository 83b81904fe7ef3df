"""`windrow.scrapy.Addon`: one line in the settings of a Scrapy project sets everything that the scheduler needs."""

from scrapy.settings import BaseSettings

from windrow.fetch.client.request import user_agent
from windrow.scrapy import settings as ours
from windrow.scrapy.archiving import ArchiveMiddleware
from windrow.scrapy.middleware import BESIDE_DOWNLOADER, BESIDE_ENGINE, DownloaderMiddleware, SpiderMiddleware
from windrow.scrapy.names import Names
from windrow.scrapy.scheduler import Scheduler

_FORCED = "cmdline"  # a priority above that of the project: two programs must not both be in charge

# In Windrow's order, what Windrow does itself, and Scrapy would do a second time without regard to the first.
_WINDROW_DOES = {
    "ROBOTSTXT_OBEY": False,
    "RETRY_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "TWISTED_DNS_RESOLVER": Names,
}


class Addon:
    def update_settings(self, settings: BaseSettings) -> None:
        settings.set("SCHEDULER", Scheduler, _FORCED)
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", DownloaderMiddleware, BESIDE_DOWNLOADER
        )
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", SpiderMiddleware, BESIDE_ENGINE)
        if ours.order(settings) == "fifo":
            if settings.get("WINDROW_DIR"):
                before = BESIDE_DOWNLOADER - 1
                settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", ArchiveMiddleware, before)
        else:
            for name, value in _WINDROW_DOES.items():
                settings.set(name, value, _FORCED)
            _, options = ours.directory(settings)
            settings.set("USER_AGENT", user_agent(options.identity), _FORCED)
