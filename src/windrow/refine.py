"""Capture -> Refined: extract, then all that can be said of the page by itself.

Pure, so that a crawl runs it in worker processes and a batch job over files, with the same result. What depends on other pages is decided
after it, by whoever owns their order.
"""

import re

import msgspec

from windrow import extract
from windrow.config import Config
from windrow.corpus import document
from windrow.corpus.document import Draft
from windrow.data import Capture, Link, Page, Reason, Url, Verdict
from windrow.dedup.ngrams import Grams
from windrow.frontier.policy import scope
from windrow.judge import soft404
from windrow.judge.pages import Judge

_REMEMBERED = 1 << 14  # links
_TELLING = re.compile(
    rb"(?im)^(?:x-robots-tag|tdm-reservation|tdm-policy|content-usage|link|x-[a-z-]*translat[a-z-]*)[ \t]*:"
)


class Refined(msgspec.Struct, frozen=True, array_like=True, tag=0):
    links: tuple[Link, ...]  # those that may be followed, and no others
    shape: int  # see Page
    refused: dict[str, int]  # the other links, counted by the rule that refused them
    verdict: Verdict | None = None  # None: no text was taken
    draft: Draft | None = None  # of the document, where the verdict is OK
    grams: Grams | None = None  # of its paragraphs, where near-duplicates are looked for
    probe: str = ""  # of the answer for a page that cannot exist, where this is one


class Refiner:
    """Holds the compiled rules and the models; the same capture always gives the same answer."""

    def __init__(self, config: Config) -> None:
        self._extract = extract.extractor(config)
        self._judge = Judge(config) if config.extract.extractor != "none" else None
        self._soft = config.quality.soft_404
        self._obedient = not config.scope.follow_nofollow
        self._scope = scope.Scope(config.scope)
        self._known: dict[int, str] = {}  # key -> rule: two of three links were met on another page of the site

    def sketch(self, capture: Capture) -> str:
        found = soft404.sketch(self._extract(capture))
        return "" if found == soft404.NONE else found

    def __call__(self, capture: Capture, probe: str = "") -> Refined:
        """`probe`: what the host answers for a page that cannot exist, where that is known; soft404.ASKED: this is that answer."""
        page = self._extract(capture)
        if probe == soft404.ASKED:
            return Refined((), 0, {}, probe=soft404.sketch(page))
        links, refused = self._links(page) if page.links else ((), {})
        if self._judge is None:
            return Refined(links, page.shape, refused)
        ruling = self._judge(page, _headers(capture))
        verdict, draft = soft404.judged(ruling.verdict, page, probe, self._soft) if probe else ruling.verdict, None
        if verdict.reason is Reason.OK:
            draft = document.draft(page, ruling.paragraphs, verdict.language, ruling.languages, ruling.signals)
        return Refined(links, page.shape, refused, verdict, draft, ruling.grams if draft is not None else None)

    def _links(self, page: Page) -> tuple[tuple[Link, ...], dict[str, int]]:
        """Those that may be followed, and how many others there are by rule."""
        if page.nofollow and self._obedient:
            return (), {"nofollow": len(page.links)}
        refused: dict[str, int] = {}
        kept: list[Link] = []
        known = self._known
        for link in page.links:
            rule = known.get(link.url.key)
            if rule is None:
                rule = self._refusal(link.url)
            if link.rel and "nofollow" in link.rel and self._obedient:
                rule = "nofollow"
            if rule:
                refused[rule] = refused.get(rule, 0) + 1
            else:
                kept.append(link)
        return tuple(kept) if refused else page.links, refused

    def _refusal(self, url: Url) -> str:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        rule = self._known[url.key] = self._scope.refuses(url)
        return rule


def _headers(capture: Capture) -> list[tuple[str, str]]:
    """The headers that say something of the page's use; hardly any page has one."""
    if not _TELLING.search(capture.head):
        return []
    lines = [line.partition(b":") for line in capture.head.split(b"\r\n")[1:]]
    return [(name.strip().decode("latin-1"), value.strip().decode("latin-1")) for name, colon, value in lines if colon]
