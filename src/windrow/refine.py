"""Capture -> Refined: read the page, judge it, and hash its n-grams.

This is everything that can be said of a page without other pages. It is pure, so a crawl runs it in worker processes
and a batch job over archive files, with the same result. `dedup.decide` then compares the page with earlier ones.
"""

import re
from collections.abc import Callable

import msgspec

from windrow import dedup
from windrow.config import Config
from windrow.corpus import document
from windrow.corpus.document import Draft
from windrow.dedup import ngrams
from windrow.dedup.ngrams import Ngrams
from windrow.extraction import readers
from windrow.extraction.readers import Reader
from windrow.frontier.policy import hints, scope
from windrow.judge import soft404
from windrow.judge.focus import topic
from windrow.judge.panel import Judged, Panel
from windrow.judge.ruling import Headers
from windrow.records import Capture, Link, Listing, Page, Reason, Url, Verdict

_REMEMBERED = 1 << 14  # links
_LISTED = 50_000  # entries of a listing that are read, as many as the protocol of sitemaps allows
# The headers that the built-in judges read.
_RELEVANT = re.compile(
    rb"(?im)^(?:x-robots-tag|tdm-reservation|tdm-policy|content-usage|link|x-[a-z-]*translat[a-z-]*)[ \t]*:"
)


class Refined(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """A page without regard to other pages."""

    links: tuple[Link, ...]  # those that may be followed, and no others; only URLs and hints
    shape: int  # see Page
    refused: dict[str, int]  # the other links, counted by the rule that refused them
    verdict: Verdict | None = None  # None: the crawl extracts no text
    draft: Draft | None = None  # of the document, if the verdict is OK
    embeds: tuple[Url, ...] = ()  # its requisites that may be requested
    ngrams: Ngrams | None = None  # of its paragraphs, if near-duplicates are to be found
    words: int = 0  # of its paragraphs, if `ngrams` does not say it
    charset: str = ""  # with which it was decoded
    # Of a listing: when the page of each link was last changed, as the listing says, in epoch seconds; 0: it does not.
    # Nothing reads it yet; it is here for crawls that request pages again.
    changed: tuple[float, ...] = ()


class Refiner:
    """Holds the compiled rules and the models.

    The same capture always gives the same result, except for the hints of a link: they are those of the first page on
    which this refiner finds it. Two of three links occur on an earlier page too.
    """

    def __init__(self, config: Config, score: Callable[[str], float] | None = None) -> None:
        """`score`: how probably some words are on the topic, 0 to 1; for the hints."""
        self._hinting = hinting(config)
        self._score = score or (topic.words_scorer(config.focus) if self._hinting else None)
        self._judge = Panel(config) if config.extract.extractor != "none" else None
        self._all_headers = bool(config.judge.judges)  # a user's judge may read any of them
        self._dedup = config.dedup
        self._obedient = not config.scope.follow_nofollow
        self._scope = scope.Scope(config.scope)
        self._requisites = config.extract.max_links if config.scope.requisites else 0  # of a page, at most
        self._known: dict[int, Link | str] = {}  # key -> the link as it is sent, or the rule that refuses it
        self._read = readers.table(config, self._known if self._hinting else None)
        self.reader = self._read.reader  # of a capture: its limits are the worker's affair

    def __call__(self, capture: Capture, sketch: str = "", reader: Reader | None = None) -> Refined:
        """Refine a page. `sketch`: the soft-404 sketch of its origin; "" if none is known. `reader`: if it is known."""
        result = self._read(capture, reader)
        if isinstance(result, Listing):
            return self._listed(capture, result, sketch)
        return self.judged(capture, result, sketch)

    def judged(self, capture: Capture, page: Page, sketch: str = "") -> Refined:
        """Refine a page whose text was extracted already, by this extractor or another program."""
        links, refused = self._links(page) if page.links else ((), {})
        embeds = self._embeds(capture, links, refused) if self._requisites else ()
        if self._judge is None:
            return Refined(links=links, shape=page.shape, refused=refused, embeds=embeds, charset=page.charset)
        judged = self._judge(page, capture.task.url.text, self._headers(capture), sketch)
        if judged.verdict.reason is not Reason.OK:
            return Refined(
                links=links,
                shape=page.shape,
                refused=refused,
                verdict=judged.verdict,
                embeds=embeds,
                charset=page.charset,
            )
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
            charset=page.charset,
        )

    def sketch(self, capture: Capture) -> str:
        """Return the soft-404 sketch of an origin's answer for a page that cannot exist; "" if it has no words."""
        return soft404.sketch(self._read.page(capture))

    def _listed(self, capture: Capture, listing: Listing, sketch: str) -> Refined:
        """Refine a listing: a page without text, whose links are followed like those of any page."""
        entries = {entry.url.key: entry for entry in listing.links[:_LISTED]}
        links = tuple([Link(entry.url) for entry in entries.values()])
        refined = self.judged(capture, Page(links=links, nofollow=listing.nofollow), sketch)
        changed = tuple([entries[link.url.key].changed for link in refined.links])
        return msgspec.structs.replace(refined, changed=changed)

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
            sent = known.get(link.url.key)
            if sent is None:
                sent = self._examine(link)
            if link.rel and "nofollow" in link.rel and self._obedient:
                sent = "nofollow"
            if isinstance(sent, str):
                refused[sent] = refused.get(sent, 0) + 1
            else:
                kept.append(sent)
        return tuple(kept), refused

    def _examine(self, link: Link) -> Link | str:
        """Return a link as it is sent, or the rule that refuses it, and remember that."""
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        sent: Link | str = self._scope.refuses(link.url) or Link(link.url, hints=self._hints(link))
        self._known[link.url.key] = sent
        return sent

    def _hints(self, link: Link) -> bytes:
        if not self._hinting:
            return b""
        return hints.of(link, self._score(hints.text(link)) if self._score is not None else None)

    def _embeds(self, capture: Capture, links: tuple[Link, ...], refused: dict[str, int]) -> tuple[Url, ...]:
        """Return the requisites of a page. A frame within the scope is a link: its own links are wanted too."""
        # With the parser: the driver imports this module, and never parses.
        from windrow.extraction.page import requisites

        followed = {link.url.key for link in links}
        kept = []
        for url in requisites.find(capture, self._requisites):
            rule = self._scope.refuses_requisite(url)
            if rule:
                refused[rule] = refused.get(rule, 0) + 1
            elif url.key not in followed:
                kept.append(url)
        return tuple(kept)


def hinting(config: Config) -> bool:
    """Return whether what pages say of their links is read: only if the frontier orders links by their value, and not
    without text, because nothing would be learned of the pages behind the links."""
    wanted = config.extract.link_context and config.extract.max_links > 0
    return wanted and config.extract.extractor != "none" and config.frontier.order == "value"


def _draft(page: Page, judged: Judged) -> Draft:
    return document.draft(page, judged.paragraphs, judged.verdict.language, judged.languages, judged.signals)
