"""What a judge receives in addition to the page, and what it returns."""

from collections.abc import Callable, Collection, Sequence

import msgspec

from windrow.records import Page, Reason, Signal

Headers = Sequence[tuple[str, str]]


class Span(msgspec.Struct, frozen=True):
    """A part of a paragraph, to be marked, masked, or both."""

    paragraph: int  # position in `Facts.texts`
    start: int  # characters
    end: int
    label: str = ""  # a mark of this kind in the document; "": none
    mask: str = ""  # the text that takes its place in the corpus; "": it stays


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a page beyond the page itself: its response, its origin, and the findings of earlier judges."""

    url: str
    headers: Headers = ()  # names and values of the response headers
    sketch: str = ""  # of the page that its origin sends for a URL that cannot exist, see soft404; "": none is known
    texts: Sequence[str] = ()  # the main text: the page's good paragraphs, in order
    dropped: frozenset[int] = frozenset()  # positions in `texts` of the paragraphs that earlier judges dropped
    languages: Sequence[str] = ()  # ISO 639-3 code of each of `texts`; empty before the language is known
    signals: tuple[Signal, ...] = ()  # that the page itself states
    spans: tuple[Span, ...] = ()  # that earlier judges mark or mask; `texts` is the text without masks

    @property
    def kept(self) -> Sequence[str]:
        """The texts that no earlier judge dropped."""
        if not self.dropped:
            return self.texts
        return [text for index, text in enumerate(self.texts) if index not in self.dropped]


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge says of a page. By default it says nothing and keeps the page."""

    scores: dict[str, float] = {}  # by name; they are written to log and corpus
    reason: Reason = Reason.OK  # why the page is rejected; OK: this judge keeps it
    detail: str = ""  # one line for people, with the reason
    dropped: Collection[int] = ()  # positions in `Facts.texts` of paragraphs that do not go into the corpus
    spans: tuple[Span, ...] = ()  # parts of paragraphs to mark or to mask
    # Labels: what the page is, in words.
    language: str = ""  # of the page, ISO 639-3; without the paragraphs that this judge drops
    page_language: str = ""  # of the page with these paragraphs, if it differs
    languages: Sequence[str] = ()  # of each of `Facts.texts`
    signals: tuple[Signal, ...] = ()


Judge = Callable[[Page, Facts], Ruling]

KEPT = Ruling()
