"""A spider for the tests, in a process of its own: the reactor of Twisted runs once per process.

    python -m tests.scrapy.spider '{"urls": [...], "settings": {...}, "items": "items.jsonl"}'

It follows all links, and writes one item per page with what the request had when the callback saw it.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from twisted.python.failure import Failure


class Walker(scrapy.Spider):
    name = "walker"

    def __init__(self, urls: list[str], **options: Any) -> None:
        super().__init__(**options)
        self.start_urls = urls

    def parse(self, response: Response, **above: str) -> Iterator[Any]:
        request = response.request
        assert request is not None
        yield {
            "url": response.url,
            "status": response.status,
            "text": response.text,
            "method": request.method,
            "body": request.body.decode(),
            "priority": request.priority,
            "meta": {key: value for key, value in request.meta.items() if key in ("kind", "depth", "redirect_urls")},
            "above": above,
        }
        for link in response.css("a"):
            kind = link.attrib.get("class", "")
            follow = getattr(self, f"follow_{kind}", self.follow)
            yield from follow(response, link.attrib["href"])

    def follow(self, response: Response, href: str) -> Iterator[Any]:
        yield response.follow(href, self.parse, cb_kwargs={"above": response.url}, meta={"kind": "link"})

    def follow_post(self, response: Response, href: str) -> Iterator[Any]:
        for body in ("one", "two", "one"):
            yield response.follow(
                href,
                self.parse,
                method="POST",
                body=body,
                headers={"X-Test": ["a", "b"]},
                cookies={"cookie": "value"},
                meta={"kind": "post"},
                cb_kwargs={"above": response.url},
                priority=7,
            )

    def follow_again(self, response: Response, href: str) -> Iterator[Any]:
        if not response.meta.get("depth"):
            yield response.follow(href, self.parse, dont_filter=True)

    def follow_bad(self, response: Response, href: str) -> Iterator[Any]:
        yield response.follow(href, self.parse, errback=self.failed)

    def follow_object(self, response: Response, href: str) -> Iterator[Any]:
        yield response.follow(href, self.parse, meta={"object": object()})

    def failed(self, failure: Failure) -> Iterator[Any]:
        yield {"url": failure.request.url, "failed": type(failure.value).__name__}  # type: ignore[attr-defined]


class DropMiddleware:
    """Drops requests before they are sent, as OffsiteMiddleware does."""

    def process_request(self, request: scrapy.Request) -> None:
        if request.url.endswith("/dropped"):
            raise scrapy.exceptions.IgnoreRequest("dropped")


def main(order: dict[str, Any]) -> None:
    process = CrawlerProcess(
        {
            "LOG_LEVEL": "WARNING",
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "FEEDS": {order["items"]: {"format": "jsonlines"}},
            **order["settings"],
        }
    )
    process.crawl(Walker, urls=order["urls"])
    process.start()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
