"""Capture -> Refined: extract the page, judge it, and hash its n-grams.

This is everything that can be said of a page without other pages. It is pure, so a crawl runs it in worker processes
and a batch job over archive files, with the same result. `dedup.decide` then compares the page with earlier ones.
"""

import re

import msgspec

import windrow.extract as extract
from windrow import dedup
from windrow.config import Config
from windrow.corpus import document
from windrow.corpus.document import Draft
from windrow.data import Capture, Link, Page, Reason, Url, Verdict
from windrow.dedup import ngrams
from windrow.dedup.ngrams import Ngrams
from windrow.extract import requisites
from windrow.frontier.policy import scope
from windrow.judge import soft404
from windrow.judge.panel import Judged, Panel
from windrow.judge.ruling import Headers

_REMEMBERED = 1 << 14  # links
# The headers that the built-in judges read.
_RELEVANT = re.compile(
    rb"(?im)^(?:x-robots-tag|tdm-reservation|tdm-policy|content-usage|link|x-[a-z-]*translat[a-z-]*)[ \t]*:"
)


class Refined(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """A page without regard to other pages."""

    links: tuple[Link, ...]  # those that may be followed, and no others
    shape: int  # see Page
    refused: dict[str, int]  # the other links, counted by the rule that refused them
    verdict: Verdict | None = None  # None: the crawl extracts no text
    draft: Draft | None = None  # of the document, if the verdict is OK
    embeds: tuple[Url, ...] = ()  # its requisites that may be requested
    ngrams: Ngrams | None = None  # of its paragraphs, if near-duplicates are to be found
    words: int = 0  # of its paragraphs, if `ngrams` does not say it


class Refiner:
    """Holds the compiled rules and the models. The same capture always gives the same result."""

    def __init__(self, config: Config) -> None:
        self._extract = extract.extractor(config)
        self._judge = Panel(config) if config.extract.extractor != "none" else None
        self._all_headers = bool(config.judge.judges)  # a user's judge may read any of them
        self._dedup = config.dedup
        self._obedient = not config.scope.follow_nofollow
        self._scope = scope.Scope(config.scope)
        self._requisites = config.extract.max_links if config.scope.requisites else 0  # of a page, at most
        self._known: dict[int, str] = {}  # key -> rule: two of three links occur on another page of the site too

    def __call__(self, capture: Capture, sketch: str = "") -> Refined:
        """Refine a page. `sketch`: the soft-404 sketch of its origin; "" if none is known."""
        page = self._extract(capture)
        links, refused = self._links(page) if page.links else ((), {})
        embeds = self._embeds(capture, links, refused) if self._requisites else ()
        if self._judge is None:
            return Refined(links=links, shape=page.shape, refused=refused, embeds=embeds)
        judged = self._judge(page, capture.task.url.text, self._headers(capture), sketch)
        if judged.verdict.reason is not Reason.OK:
            return Refined(links=links, shape=page.shape, refused=refused, verdict=judged.verdict, embeds=embeds)
        texts = [paragraph.text for paragraph in judged.paragraphs]
        return Refined(
            links=links,
            shape=page.shape,
            refused=refused,
            verdict=msgspec.structs.replace(judged.verdict, digest=dedup.text_key(texts)),
            draft=_draft(page, judged),
            embeds=embeds,
            ngrams=ngrams.of(texts, self._dedup.ngram) if self._dedup.near_duplicates else None,
            words=0 if self._dedup.near_duplicates else ngrams.words(texts),
        )

    def sketch(self, capture: Capture) -> str:
        """Return the soft-404 sketch of an origin's answer for a page that cannot exist; "" if it has no words."""
        return soft404.sketch(self._extract(capture))

    def _headers(self, capture: Capture) -> Headers:
        """Return the response headers, or none if no judge would read them: few pages have such a header."""
        if not self._all_headers and not _RELEVANT.search(capture.head):
            return ()
        lines = [line.partition(b":") for line in capture.head.split(b"\r\n")[1:]]
        return [
            (name.strip().decode("latin-1"), value.strip().decode("latin-1")) for name, colon, value in lines if colon
        ]

    def _links(self, page: Page) -> tuple[tuple[Link, ...], dict[str, int]]:
        """Return the links that may be followed, and the number of the others by rule."""
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

    def _embeds(self, capture: Capture, links: tuple[Link, ...], refused: dict[str, int]) -> tuple[Url, ...]:
        """Return the requisites of a page. A frame within the scope is a link: its own links are wanted too."""
        known = {link.url.key for link in links}
        kept = []
        for url in requisites.find(capture, self._requisites):
            rule = self._scope.refuses_requisite(url)
            if rule:
                refused[rule] = refused.get(rule, 0) + 1
            elif url.key not in known:
                kept.append(url)
        return tuple(kept)

    def _refusal(self, url: Url) -> str:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        rule = self._known[url.key] = self._scope.refuses(url)
        return rule


def _draft(page: Page, judged: Judged) -> Draft:
    return document.draft(page, judged.paragraphs, judged.verdict.language, judged.languages, judged.signals)
