"""Scrapy with the settings of its documentation for broad crawls, writing WARC files with warcio.

python scrapy_spider.py SEEDS HOSTS OUTPUT PAGES [text]

PAGES 0 crawls all pages. Without `text` the spider extracts only links; with it, also the text of each page with
jusText.
"""

import gzip
import io
import json
import sys
from collections.abc import Iterator
from typing import Any, ClassVar

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Request, Response
from scrapy.linkextractors import LinkExtractor
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

SETTINGS = {
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "CONCURRENT_REQUESTS": 100,
    "REACTOR_THREADPOOL_MAXSIZE": 20,
    "LOG_LEVEL": "WARNING",
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "DOWNLOAD_TIMEOUT": 15,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_MAXSIZE": 1 << 20,
    # As in Windrow: obey robots.txt, and crawl breadth first.
    "ROBOTSTXT_OBEY": True,
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}


class HostsMiddleware:
    """Sends each request to the address of its host in the hosts file.

    The address is used as a proxy: no other way keeps the URL, the Host header and the connection pool per host
    unchanged.
    """

    hosts: ClassVar[dict[str, str]] = {}

    def process_request(self, request: Request) -> None:
        address = self.hosts.get(request.url.split("/", 3)[2])
        if address is None:
            raise scrapy.exceptions.IgnoreRequest
        request.meta["proxy"] = f"http://{address}"


class Spider(scrapy.Spider):
    name = "peer"
    extractor = LinkExtractor(allow_domains=["test"])

    def __init__(self, seeds: str, output: str, text: bool = False, **options: Any) -> None:
        super().__init__(**options)
        with open(seeds, encoding="utf-8") as lines:
            self.start_urls = lines.read().split()
        self.stream = open(output, "wb")  # noqa: SIM115  # open for the whole crawl
        self.writer = WARCWriter(self.stream, gzip=True)
        self.words = None
        if text:
            import justext  # only for this: other benchmarks use the settings of this file

            self.words = frozenset(justext.get_stoplist("English"))
        self.texts = gzip.open(f"{output}.jsonl.gz", "wt", encoding="utf-8") if text else None  # noqa: SIM115

    def parse(self, response: Response) -> Iterator[Request]:
        self.write(response)
        if isinstance(response, HtmlResponse):
            self.take_text(response)
            for link in self.extractor.extract_links(response):
                if not link.nofollow:
                    yield Request(link.url)

    def take_text(self, response: Response) -> None:
        if self.texts is None or not response.body:
            return
        import justext

        paragraphs = justext.justext(response.body, self.words)
        good = [paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate]
        self.texts.write(json.dumps({"url": response.url, "text": "\n".join(good)}) + "\n")

    def write(self, response: Response) -> None:
        fields = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
        ]
        head = StatusAndHeaders(f"{response.status} OK", fields, protocol="HTTP/1.1")
        self.writer.write_record(
            self.writer.create_warc_record(
                response.url, "response", payload=io.BytesIO(response.body), http_headers=head
            )
        )

    def closed(self, reason: str) -> None:
        self.stream.close()
        if self.texts is not None:
            self.texts.close()


def main(seeds: str, hosts: str, output: str, pages: str, text: str = "") -> None:
    with open(hosts, encoding="utf-8") as lines:
        HostsMiddleware.hosts = dict(line.split() for line in lines)
    process = CrawlerProcess(
        {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {HostsMiddleware: 50}, "CLOSESPIDER_PAGECOUNT": int(pages)}
    )
    process.crawl(Spider, seeds=seeds, output=output, text=bool(text))
    process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
