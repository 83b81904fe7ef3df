"""Capture -> Refined: extract, then the rules that need nothing but the page. Pure, so that a crawl runs it in workers and a batch job over files."""

import msgspec

from windrow.config import Config
from windrow.data import Capture, Link, Page
from windrow.extract import html
from windrow.frontier import scope


class Refined(msgspec.Struct, frozen=True, array_like=True, tag=0):
    page: Page  # with the links that may be followed, and no others
    refused: dict[str, int]  # the other links, counted by the rule that refused them


class Refiner:
    """Holds the compiled rules; the same capture always gives the same answer."""

    def __init__(self, config: Config) -> None:
        self._max_links = config.extract.max_links
        self._agent = config.crawler.name
        self._obedient = not config.scope.follow_nofollow
        self._scope = scope.Scope(config.scope)

    def __call__(self, capture: Capture) -> Refined:
        page = html.extract(capture, self._max_links, self._agent)
        if not page.links:
            return Refined(page, {})
        if page.nofollow and self._obedient:
            return Refined(_with(page, ()), {"nofollow": len(page.links)})
        refused: dict[str, int] = {}
        kept: list[Link] = []
        refuses = self._scope.refuses
        for link in page.links:
            rule = "nofollow" if self._obedient and link.rel and "nofollow" in link.rel else refuses(link.url)
            if rule:
                refused[rule] = refused.get(rule, 0) + 1
            else:
                kept.append(link)
        return Refined(_with(page, tuple(kept)) if refused else page, refused)


def _with(page: Page, links: tuple[Link, ...]) -> Page:
    return msgspec.structs.replace(page, links=links)
