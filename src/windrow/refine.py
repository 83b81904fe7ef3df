"""Capture -> Refined: extract, then the rules that need nothing but the page.

Pure, so that a crawl runs it in worker processes and a batch job over files, with the same result.
"""

import msgspec

from windrow.config import Config
from windrow.data import Capture, Link, Page, Url
from windrow.extract import html
from windrow.frontier import scope

_REMEMBERED = 1 << 14  # links


class Refined(msgspec.Struct, frozen=True, array_like=True, tag=0):
    page: Page  # with the links that may be followed, and no others
    refused: dict[str, int]  # the other links, counted by the rule that refused them

    @property
    def links(self) -> tuple[Link, ...]:
        return self.page.links

    @property
    def shape(self) -> int:
        return self.page.shape


class Refiner:
    """Holds the compiled rules; the same capture always gives the same answer."""

    def __init__(self, config: Config) -> None:
        self._max_links = config.extract.max_links
        self._agent = config.crawler.name
        self._obedient = not config.scope.follow_nofollow
        self._scope = scope.Scope(config.scope)
        self._known: dict[int, str] = {}  # key -> rule: two of three links were met on another page of the site

    def __call__(self, capture: Capture) -> Refined:
        page = html.extract(capture, self._max_links, self._agent)
        if not page.links:
            return Refined(page, {})
        if page.nofollow and self._obedient:
            return Refined(_with(page, ()), {"nofollow": len(page.links)})
        refused: dict[str, int] = {}
        kept: list[Link] = []
        known = self._known
        for link in page.links:
            rule = known.get(link.url.key)
            if rule is None:
                rule = self._judge(link.url)
            if link.rel and "nofollow" in link.rel and self._obedient:
                rule = "nofollow"
            if rule:
                refused[rule] = refused.get(rule, 0) + 1
            else:
                kept.append(link)
        return Refined(_with(page, tuple(kept)) if refused else page, refused)

    def _judge(self, url: Url) -> str:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        rule = self._known[url.key] = self._scope.refuses(url)
        return rule


def _with(page: Page, links: tuple[Link, ...]) -> Page:
    return msgspec.structs.replace(page, links=links)
