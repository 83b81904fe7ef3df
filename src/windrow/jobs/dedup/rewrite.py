"""Write document files again without their near-duplicates, in the order in which they are named: onion's rule.

The table of n-grams bounds the memory.
"""

import contextlib
import dataclasses
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from windrow import config, takedown, urls
from windrow.config import ConfigError
from windrow.corpus import detect, reader
from windrow.corpus import document as documents
from windrow.corpus.formats.format import DocumentRecord
from windrow.dedup import ngrams, onion, table
from windrow.dedup.earlier import EarlierKeys
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.onion import DuplicateRule, Marks
from windrow.dedup.table import NgramTable
from windrow.io import streams
from windrow.io.storage import AnyPath
from windrow.jobs.dedup import outputs
from windrow.jobs.dedup.outputs import FilePlan
from windrow.jobs.inputs.committed import Lengths
from windrow.takedown import Takedown

BATCH = 1 << 19  # bytes of documents hashed in one batch
LEVELS = ("paragraph", "document")
RULES = ("onion", "all-earlier")
PARALLEL = "all-earlier"  # earlier.py
PURE = "dedup.max_seen=1"  # the default of this command: onion's rule and no other

Watch = Callable[[int], None]  # called with the bytes of the input files that were read since the last call


@dataclasses.dataclass(frozen=True, slots=True)
class DedupJob:
    dedup: config.DedupOptions
    level: str = "paragraph"  # the unit that is kept or removed: "paragraph" or "document"
    format: str = ""  # of all input files; empty: detected per file
    takedown: Takedown = dataclasses.field(default_factory=Takedown)  # documents that are not read


@dataclasses.dataclass(slots=True)
class DedupSummary:
    files: int = 0
    documents_in: int = 0
    documents_out: int = 0
    documents_removed: int = 0
    documents_listed: int = 0  # on a takedown list: not read, and not counted above
    documents_repeated: int = 0  # of these, pages whose URL an earlier crawl has
    paragraphs_in: int = 0
    paragraphs_out: int = 0
    paragraphs_removed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_removed: int = 0
    ngrams: int = 0  # in the table at the end
    ngrams_forgotten: int = 0  # more than 0: the table could not hold all of them
    table_bytes: int = 0  # memory of the table at the end


def run(plans: Sequence[FilePlan], options: DedupJob, watch: Watch) -> DedupSummary:
    """Remove near-duplicates. The output files appear when all of them are complete, or not at all."""
    marker = _InOrder(options)
    work = Rewriter(options, watch, outputs.crawls(plans), marker)
    with appearing(plans):
        for plan in plans:
            work.write(plan)
    summary = work.finish()
    table = marker.table
    summary.ngrams, summary.ngrams_forgotten, summary.table_bytes = len(table), table.forgotten, table.nbytes
    return summary


@contextlib.contextmanager
def appearing(plans: Sequence[FilePlan]) -> Iterator[None]:
    """Make the directories of temporary files; at the end, rename all of these, or leave nothing behind."""
    with contextlib.ExitStack() as undo:
        for plan in plans:
            for folder in _missing(plan.output.parent):
                folder.mkdir()
                undo.callback(_remove_empty, folder)
            undo.callback(plan.temporary.unlink, missing_ok=True)
        yield
        for plan in plans:
            plan.temporary.replace(plan.output)
        undo.pop_all()


def _missing(folder: Path) -> list[Path]:
    """Return the directories to make, the outermost first."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    return missing[::-1]


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # another process has put something there
        folder.rmdir()


class Marker(Protocol):
    """Knows the documents before this one."""

    def enter(self, path: AnyPath, other: bool) -> None:
        """Begin a file. `other`: it is of another crawl than the one before."""

    def repeats(self, key: int) -> bool:
        """Return whether an earlier crawl has the page with this key of its URL; if not, remember it."""

    def mark(self, document: Ngrams) -> Marks:
        """Mark the duplicate paragraphs of a document, and remember it."""


class _InOrder:
    """Onion's rule: what was removed is not remembered, so every document depends on all before it."""

    def __init__(self, options: DedupJob) -> None:
        self._rule = DuplicateRule.of(options.dedup)
        self._earlier = EarlierKeys()  # URLs
        self.table = NgramTable(options.dedup.table_bytes)

    def enter(self, path: AnyPath, other: bool) -> None:
        if other:
            self._earlier.next()

    def repeats(self, key: int) -> bool:
        if self._earlier.has(key):
            return True
        self._earlier.add([key])
        return False

    def mark(self, document: Ngrams) -> Marks:
        marks = onion.mark(self.table, document, self._rule)
        self.table.take()  # discard the entries for a redo file: this command does not resume
        return marks


class Rewriter:
    """The counts so far."""

    def __init__(self, options: DedupJob, watch: Watch, crawls: Mapping[AnyPath, str], marker: Marker) -> None:
        """`crawls`: the name of each file's crawl, if there are several crawls."""
        self.options, self.watch = options, watch
        self._crawls = crawls
        self._crawl = ""  # name of the crawl whose file is being read; "" if there is only one
        self._marker = marker
        self.summary = DedupSummary()
        self._length = Lengths()

    def write(self, plan: FilePlan) -> None:
        with streams.create(plan.temporary) as file:
            for number, path in enumerate(plan.inputs):
                format = self.format_of(path)
                if number and format == "text":
                    file.write(b"\n")
                for pairs in self.marked(path, format):
                    file.writelines([self._stripped(record, marks) if marks else record.raw for record, marks in pairs])
                self.summary.files += 1

    def format_of(self, path: AnyPath) -> str:
        format = self.options.format or detect.detect(path)
        if format == "text" and self.options.takedown:
            raise ConfigError(f"{path}: plain text has no URLs, so no takedown list can be applied to it")
        return format

    def marked(self, path: AnyPath, format: str) -> Iterator[list[tuple[DocumentRecord, Marks | None]]]:
        """Yield the documents of a file in batches, with their marks; without, what is between two documents."""
        crawl = self._crawls.get(path, "")
        self._marker.enter(path, crawl != self._crawl)
        self._crawl = crawl
        for records in self._batches(path, format):
            tokens = format == "vertical"
            yield [(record, self._mark(record, tokens) if record.strip else None) for record in records]

    def finish(self) -> DedupSummary:
        summary = self.summary
        summary.documents_removed = summary.documents_in - summary.documents_out
        summary.paragraphs_out = summary.paragraphs_in - summary.paragraphs_removed
        summary.tokens_out = summary.tokens_in - summary.tokens_removed
        return summary

    def _batches(self, path: AnyPath, format: str) -> Iterator[list[DocumentRecord]]:
        """Yield the file's documents in batches of about BATCH bytes."""
        records: list[DocumentRecord] = []
        size = shown = 0
        for record, position in detect.read(path, format, self._length(path) if isinstance(path, Path) else None):
            if self.options.takedown and self._listed(record.url):
                continue
            records.append(record)
            size += len(record.raw)
            if size >= BATCH:
                yield records
                records, size = [], 0
                self.watch(position - shown)
                shown = position
        yield records
        if isinstance(path, Path):
            self.watch(path.stat().st_size - shown)

    def _listed(self, text: str) -> bool:
        url = urls.parse(text) if text else None
        if url is None or not self.options.takedown.covers(url.text):
            return False
        self.summary.documents_listed += 1
        return True

    def _mark(self, record: DocumentRecord, tokens: bool) -> Marks:
        document = ngrams.of_octets(record.paragraphs, self.options.dedup.ngram, tokens)
        if self.options.level == "document":
            document = ngrams.joined(document)
        if self._crawl and record.url and self._marker.repeats(urls.key(record.url)):
            self.summary.documents_repeated += 1
            return _all_marked(document)
        return self._marker.mark(document)

    def _stripped(self, record: DocumentRecord, marks: Marks) -> bytes:
        """Return the document without its duplicate paragraphs; empty if none is left."""
        summary = self.summary
        filled = len(record.paragraphs) if self.options.level == "document" else sum(map(bool, marks.lengths))
        gone = sum(1 for length, duplicate in zip(marks.lengths, marks.duplicate, strict=True) if length and duplicate)
        summary.documents_in += 1
        summary.paragraphs_in += filled
        summary.paragraphs_removed += filled if not marks.left else gone
        summary.tokens_in += marks.words
        summary.tokens_removed += marks.words - marks.left
        if not marks.left or record.strip is None:
            return b""
        summary.documents_out += 1
        left = record.strip([not duplicate for duplicate in marks.duplicate]) if marks.removed else record.raw
        return documents.with_crawl(left, self._crawl) if self._crawl and record.url else left


def _all_marked(document: Ngrams) -> Marks:
    """Return the marks of a document that is removed whole, and of which nothing is remembered."""
    lengths = tuple(array("q", document.lengths))
    words = sum(lengths)
    return Marks(
        duplicate=(True,) * len(lengths),
        shares=(1.0,) * len(lengths),
        lengths=lengths,
        words=words,
        removed=words,
        left=0,
    )


def options(level: str, format: str, dedup: config.DedupOptions, listed: Takedown | None = None) -> DedupJob:
    """Check the options of the command."""
    for name, value, allowed in (("--level", level, LEVELS), ("--format", format, ("", *detect.READERS))):
        if value not in allowed:
            raise ConfigError(f"{name} {value!r} is unknown; it must be one of {', '.join(filter(None, allowed))}")
    return DedupJob(dedup, level, format, listed or Takedown())


def check_rule(rule: str, engine: str, workers: int) -> None:
    """Check the options that only one of the rules has."""
    if rule not in RULES:
        raise ConfigError(f"--rule {rule!r} is unknown; it must be one of {', '.join(RULES)}")
    if rule != PARALLEL and (engine != "local" or workers):
        raise ConfigError(f"--engine and --workers are for --rule {PARALLEL}: {rule} reads one document after another")


def listed(inputs: Sequence[AnyPath], extra: Path | None) -> Takedown:
    """Join the takedown lists of the crawls that are read and the list that the user named."""
    here = [path for path in inputs if isinstance(path, Path)]
    crawls = {crawl.resolve(): crawl for path in here if (crawl := reader.crawl_of(path))}
    return takedown.of(*crawls.values(), extra=extra)


def describe(summary: DedupSummary, options: DedupJob) -> str:
    """Return the summary as text."""
    lines = [f"{summary.files:,} files"]
    if summary.documents_repeated:
        pages = "page" if summary.documents_repeated == 1 else "pages"
        lines.append(f"{summary.documents_repeated:,} {pages} of a later crawl removed: same URL in an earlier crawl")
    for what in ("documents", "paragraphs", "tokens"):
        before, after, removed = (getattr(summary, f"{what}_{way}") for way in ("in", "out", "removed"))
        share = f" ({removed / before:.1%})" if before else ""
        lines.append(f"{what:<10} {before:>15,} in {after:>15,} out {removed:>15,} removed{share}")
    if summary.documents_listed:
        lines.append(f"documents on the takedown list, not read: {summary.documents_listed:,}")
    if summary.ngrams_forgotten:
        lines.append(table.too_small(summary.ngrams_forgotten, options.dedup.table_bytes))
    return "\n".join(lines)
