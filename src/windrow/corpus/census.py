"""What an export contains, in counts: the figures of its dataset card."""

from collections.abc import Iterator

from windrow import urls
from windrow.corpus.formats import markup
from windrow.data import Document

# Different licences counted separately. Languages, top-level domains and names of signals are few; a licence is any URL
# that a page links, so only this many are remembered and the rest is counted as OTHER.
MOST_LICENCES = 10_000
OTHER = "other"
NONE = "none stated"


class Census:
    """Counts documents. A signal that a document has twice counts once."""

    def __init__(self) -> None:
        self.documents = 0
        self.characters = 0
        self.languages: dict[str, list[int]] = {}  # ISO 639-3 code -> documents, characters of text
        self.tlds: dict[str, int] = {}
        self.licences: dict[str, int] = {}
        self.signals: dict[str, int] = {}  # "source: name=value" -> documents
        self.first = ""  # time of the earliest request
        self.last = ""

    def add(self, document: Document) -> None:
        size = sum([len(paragraph.text) for paragraph in document.paragraphs])
        self.documents += 1
        self.characters += size
        counts = self.languages.setdefault(document.language, [0, 0])
        counts[0] += 1
        counts[1] += size
        _count(self.tlds, urls.tld(urls.host_of(document.url)) or "none")
        licence = markup.licence(document) or NONE
        known = licence in self.licences or len(self.licences) < MOST_LICENCES
        _count(self.licences, licence if known else OTHER)
        for name in set(_signals(document)):
            _count(self.signals, name)
        self.first = min(self.first or document.time, document.time)
        self.last = max(self.last, document.time)


def _signals(document: Document) -> Iterator[str]:
    """Yield the names of the signals. The value is part of the name if it is a choice, and not a URL."""
    for signal in document.signals:
        yield f"{signal.source}: {signal.name}{f'={signal.value}' if len(signal.value) == 1 else ''}"


def _count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1
