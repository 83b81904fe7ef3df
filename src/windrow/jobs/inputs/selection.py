"""Read the documents of one or more corpora that pass the filters, each page once.

If several sources are read, a document of a later one is left out if an earlier one has its URL, its payload or its
text: the first source that is named wins. Only documents that passed the filters count, so that a filter by time can
choose another version of a page. Within a source nothing is compared: its crawl has decided which pages to keep.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow import dedup, takedown, urls
from windrow.corpus import document as documents
from windrow.corpus import reader
from windrow.corpus.reader import ShardFile
from windrow.dedup.earlier import EarlierKeys
from windrow.jobs.inputs.filters import Filter, Wanted
from windrow.jobs.inputs.sources import CorpusSource
from windrow.records import Document
from windrow.takedown import Takedown

Watch = Callable[[int], None]  # called with the bytes of the corpus that were read since the last call
# In the order of the keys of a document.
REPEATED = ("same URL in an earlier crawl", "same payload in an earlier crawl", "same text in an earlier crawl")


class Selected(msgspec.Struct, frozen=True):
    document: Document
    line: bytes  # in the corpus; with the name of its crawl, if several are read
    dump: str  # name of its crawl


class Selection:
    """Reads sources and counts what is left out."""

    def __init__(self, sources: Sequence[CorpusSource], wanted: Wanted, taken_down: Takedown) -> None:
        self.sources = sources
        self.filter = Filter(wanted, taken_down)
        self.documents_in = 0
        self.left_out: dict[str, int] = {}  # rule -> documents
        self._earlier = EarlierKeys() if len(sources) > 1 else None

    def read(self, watch: Watch) -> Iterator[Selected]:
        for number, source in enumerate(self.sources):
            if number and self._earlier is not None:
                self._earlier.next()
            last = number == len(self.sources) - 1
            for shard in source.shards:
                yield from self._shard(source, shard, last, watch)

    def _shard(self, source: CorpusSource, shard: ShardFile, last: bool, watch: Watch) -> Iterator[Selected]:
        shown = 0
        for line, location, position in reader.lines(shard):
            document = documents.read(line, location)
            self.documents_in += 1
            rule = self._rule(document, last)
            if rule:
                self.left_out[rule] = self.left_out.get(rule, 0) + 1
            else:
                yield selected(source.name, self._earlier is not None, document, line)
            if position > shown:
                watch(position - shown)
                shown = position
        watch(shard.length - shown)

    def _rule(self, document: Document, last: bool) -> str:
        """Return the rule that leaves the document out; "" if there is none."""
        rule = refused(self.filter, document)
        if rule or self._earlier is None:
            return rule
        return repeated(self._earlier, keys(document), last)


def refused(filter: Filter, document: Document) -> str:
    """Return the rule that leaves out the document, whatever the others are; "" if there is none."""
    rule = filter.refuses(document)
    return rule or ("" if any(paragraph.text for paragraph in document.paragraphs) else "no text")


def repeated(earlier: EarlierKeys, keys: Sequence[int], last: bool) -> str:
    """Return the rule by which a document with these keys repeats one of an earlier source; "" if it does not.

    `last`: its source is the last one, so the keys need not be remembered.
    """
    for key, rule in zip(keys, REPEATED, strict=True):
        if earlier.has(key):
            return rule
    if not last:
        earlier.add(keys)
    return ""


def selected(name: str, several: bool, document: Document, line: bytes) -> Selected:
    """Return a document of the source of this name; if several are read, it says of which it is."""
    dump = document.place.crawl or name
    if not several or document.place.crawl:
        return Selected(document, line, dump)
    location = msgspec.structs.replace(document.place, crawl=dump)
    return Selected(msgspec.structs.replace(document, place=location), documents.with_crawl(line, dump), dump)


def keys(document: Document) -> tuple[int, int, int]:
    """Return the keys of URL, payload and text.

    A document without a digest, made by another program, gets the key of its URL twice.
    """
    url = urls.key(document.url)
    text = dedup.text_key([paragraph.text for paragraph in document.paragraphs])
    digest = document.place.digest
    return url, urls.key(f"sha1:{digest}") if digest else url, text


def listed(sources: Sequence[CorpusSource], more: Path | None = None) -> Takedown:
    """Join the takedown lists of the crawls and merged corpora that are read and the list that the user named."""
    return takedown.of(*dict.fromkeys(source.root for source in sources), extra=more)
