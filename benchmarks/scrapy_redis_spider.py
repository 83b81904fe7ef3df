"""One spider of Scrapy with scrapy-redis: any number of them shares a queue and a filter of duplicates in Redis.

python scrapy_redis_spider.py HOSTS REDIS_URL DELAY CONNECTIONS

The seeds are in the list `peer:start_urls`. A spider that has had nothing to do for some seconds ends.
"""

import sys
from collections.abc import Iterator

from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Request, Response
from scrapy.linkextractors import LinkExtractor
from scrapy_redis.spiders import RedisSpider
from scrapy_spider import SETTINGS, HostsMiddleware

IDLE = 4  # seconds


class SharedSpider(RedisSpider):  # type: ignore[misc]
    name = "peer"
    redis_key = "peer:start_urls"
    redis_batch_size = 4
    max_idle_time = IDLE
    extractor = LinkExtractor(allow_domains=["test"])

    def parse(self, response: Response) -> Iterator[Request]:
        if isinstance(response, HtmlResponse):
            for link in self.extractor.extract_links(response):
                yield Request(link.url)


def main(hosts: str, redis: str, delay: str, connections: str) -> None:
    with open(hosts, encoding="utf-8") as lines:
        HostsMiddleware.hosts = dict(line.split() for line in lines)
    settings = {name: value for name, value in SETTINGS.items() if not name.startswith("SCHEDULER")}
    settings |= {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
        "REDIS_URL": redis,
        "DOWNLOADER_MIDDLEWARES": {HostsMiddleware: 50},
        "DOWNLOAD_DELAY": float(delay),
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "CONCURRENT_REQUESTS": int(connections),
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "ROBOTSTXT_OBEY": True,
    }
    process = CrawlerProcess(settings)
    process.crawl(SharedSpider)
    process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
