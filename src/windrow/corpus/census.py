"""What an export contains, in counts: the figures of its dataset card."""

from collections.abc import Iterator

import msgspec

from windrow import urls
from windrow.corpus.formats import markup
from windrow.records import Document

# Different licences counted separately. Languages, top-level domains and names of signals are few; a licence is any URL
# that a page links, so only this many are remembered and the rest is counted as OTHER.
MOST_LICENCES = 10_000
OTHER = "other"
NONE = "none stated"


class Census(msgspec.Struct):
    """Counts documents. A signal that a document has twice counts once."""

    documents: int = 0
    characters: int = 0
    languages: dict[str, list[int]] = {}  # ISO 639-3 code -> documents, characters of text
    tlds: dict[str, int] = {}
    licences: dict[str, int] = {}
    signals: dict[str, int] = {}  # "source: name=value" -> documents
    first: str = ""  # time of the earliest request
    last: str = ""

    def add(self, document: Document, most: int | None = None) -> None:
        """`most`: different licences to remember; None: MOST_LICENCES."""
        size = sum([len(paragraph.text) for paragraph in document.paragraphs])
        self.documents += 1
        self.characters += size
        counts = self.languages.setdefault(document.language, [0, 0])
        counts[0] += 1
        counts[1] += size
        _count(self.tlds, urls.tld(urls.host_of(document.url)) or "none")
        licence = markup.licence(document) or NONE
        _count(self.licences, licence if self._remembers(licence, MOST_LICENCES if most is None else most) else OTHER)
        for name in dict.fromkeys(_signals(document)):
            _count(self.signals, name)
        self.first = min(self.first or document.time, document.time)
        self.last = max(self.last, document.time)

    def join(self, later: "Census") -> None:
        """Add the counts of documents that follow these, as if each had been added here.

        They must remember all of their licences: which ones are remembered here depends on those before them.
        """
        self.documents += later.documents
        self.characters += later.characters
        for code, (documents, characters) in later.languages.items():
            counts = self.languages.setdefault(code, [0, 0])
            counts[0] += documents
            counts[1] += characters
        for name, count in later.licences.items():
            _count(self.licences, name if self._remembers(name, MOST_LICENCES) else OTHER, count)
        for own, more in ((self.tlds, later.tlds), (self.signals, later.signals)):
            for name, count in more.items():
                _count(own, name, count)
        self.first = min(filter(None, (self.first, later.first)), default="")
        self.last = max(self.last, later.last)

    def _remembers(self, licence: str, most: int) -> bool:
        return licence in self.licences or len(self.licences) < most


def _signals(document: Document) -> Iterator[str]:
    """Yield the names of the signals. The value is part of the name if it is a choice, and not a URL."""
    for signal in document.signals:
        yield f"{signal.source}: {signal.name}{f'={signal.value}' if len(signal.value) == 1 else ''}"


def _count(counts: dict[str, int], name: str, more: int = 1) -> None:
    counts[name] = counts.get(name, 0) + more
