"""`windrow dedup`: remove near-duplicates from document files, as onion does, in the order in which they are named.

The table of n-grams bounds the memory. The output depends on the input and the options alone. No input file is changed.

If the files of several crawls are read, a page of a later crawl is removed if an earlier one has its URL, whatever its
text is now; and each document names its crawl, because its place is relative to the directory of that crawl.
"""

import contextlib
import dataclasses
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from windrow import config, streams, takedown, urls
from windrow.batch import sources
from windrow.batch.committed import Lengths
from windrow.config import ConfigError
from windrow.corpus import detect, reader
from windrow.corpus import document as documents
from windrow.corpus.formats.format import DocumentRecord
from windrow.dedup import ngrams, onion
from windrow.dedup.earlier import EarlierKeys
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.onion import DuplicateRule, Marks
from windrow.dedup.table import NgramTable
from windrow.takedown import Takedown

BATCH = 1 << 19  # bytes of documents hashed in one batch
LEVELS = ("paragraph", "document")
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


@dataclasses.dataclass(frozen=True, slots=True)
class FilePlan:
    """An output file and the input files that go into it, in order."""

    output: Path
    inputs: tuple[Path, ...]

    @property
    def temporary(self) -> Path:
        return self.output.with_name(f".new.{self.output.name}")


def run(plans: Sequence[FilePlan], options: DedupJob, watch: Watch) -> DedupSummary:
    """Remove near-duplicates. The output files appear when all of them are complete, or not at all."""
    work = _Deduplicator(options, watch, _crawls(plans))
    with contextlib.ExitStack() as undo:
        for plan in plans:
            for folder in _missing(plan.output.parent):
                folder.mkdir()
                undo.callback(_remove_empty, folder)
            undo.callback(plan.temporary.unlink, missing_ok=True)
            work.write(plan)
        for plan in plans:
            plan.temporary.replace(plan.output)
        undo.pop_all()
    return work.finish()


def _missing(folder: Path) -> list[Path]:
    """Return the directories to make, the outermost first."""
    found = []
    while not folder.is_dir():
        found.append(folder)
        folder = folder.parent
    return found[::-1]


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # another process has put something there
        folder.rmdir()


class _Deduplicator:
    """The table, and the counts so far."""

    def __init__(self, options: DedupJob, watch: Watch, crawls: Mapping[Path, str]) -> None:
        """`crawls`: the name of each file's crawl, if there are several crawls."""
        self.options, self.watch = options, watch
        self._crawls = crawls
        self._crawl = ""  # name of the crawl whose file is being read; "" if there is only one
        self._earlier = EarlierKeys()  # URLs
        self.rule = DuplicateRule.of(options.dedup)
        self.table = NgramTable(options.dedup.table_bytes)
        self.summary = DedupSummary()
        self._length = Lengths()

    def write(self, plan: FilePlan) -> None:
        with streams.create(plan.temporary) as file:
            for number, path in enumerate(plan.inputs):
                format = self.options.format or detect.detect(path)
                if format == "text" and self.options.takedown:
                    raise ConfigError(f"{path}: plain text has no URLs, so no takedown list can be applied to it")
                if number and format == "text":
                    file.write(b"\n")
                self._enter(self._crawls.get(path, ""))
                for records in self._batches(path, format):
                    self._write_batch(records, format == "vertical", file)
                self.summary.files += 1

    def _enter(self, crawl: str) -> None:
        if crawl != self._crawl:
            self._earlier.next()
        self._crawl = crawl

    def finish(self) -> DedupSummary:
        table, summary = self.table, self.summary
        summary.documents_removed = summary.documents_in - summary.documents_out
        summary.paragraphs_out = summary.paragraphs_in - summary.paragraphs_removed
        summary.tokens_out = summary.tokens_in - summary.tokens_removed
        summary.ngrams, summary.ngrams_forgotten, summary.table_bytes = len(table), table.forgotten, table.nbytes
        return summary

    def _batches(self, path: Path, format: str) -> Iterator[list[DocumentRecord]]:
        """Yield the file's documents in batches of about BATCH bytes."""
        records: list[DocumentRecord] = []
        size = shown = 0
        for record, position in detect.read(path, format, self._length(path)):
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
        self.watch(path.stat().st_size - shown)

    def _listed(self, text: str) -> bool:
        url = urls.parse(text) if text else None
        if url is None or not self.options.takedown.covers(url.text):
            return False
        self.summary.documents_listed += 1
        return True

    def _write_batch(self, records: list[DocumentRecord], tokens: bool, file: BinaryIO) -> None:
        marks = [self._mark(record, tokens) if record.strip else None for record in records]
        self.table.take()  # discard the entries for a redo file: this command does not resume
        pairs = zip(records, marks, strict=True)
        file.writelines([self._stripped(record, mark) if mark else record.raw for record, mark in pairs])

    def _mark(self, record: DocumentRecord, tokens: bool) -> Marks:
        document = ngrams.of_octets(record.paragraphs, self.rule.ngram, tokens)
        if self.options.level == "document":
            document = ngrams.joined(document)
        if not (self._crawl and record.url):
            return onion.mark(self.table, document, self.rule)
        key = urls.key(record.url)
        if self._earlier.has(key):
            self.summary.documents_repeated += 1
            return _all_marked(document)
        self._earlier.add([key])
        return onion.mark(self.table, document, self.rule)

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


def _crawls(plans: Sequence[FilePlan]) -> dict[Path, str]:
    """Return the name of each input file's crawl; empty if fewer than two crawls are read."""
    found = {path: crawl.resolve() for plan in plans for path in plan.inputs if (crawl := reader.crawl_of(path))}
    roots = list(dict.fromkeys(found.values()))
    names = sources.names(roots) if len(roots) > 1 else {}
    return {path: names[root] for path, root in found.items() if names}


def options(level: str, format: str, dedup: config.DedupOptions, listed: Takedown | None = None) -> DedupJob:
    """Check the options of the command."""
    for name, value, known in (("--level", level, LEVELS), ("--format", format, ("", *detect.READERS))):
        if value not in known:
            raise ConfigError(f"{name} {value!r} is unknown; it must be one of {', '.join(filter(None, known))}")
    return DedupJob(dedup, level, format, listed or Takedown())


def listed(inputs: Sequence[Path], extra: Path | None) -> Takedown:
    """Join the takedown lists of the crawls that are read and the list that the user named."""
    crawls = {crawl.resolve(): crawl for path in inputs if (crawl := reader.crawl_of(path))}
    return takedown.of(*crawls.values(), extra=extra)


def size(plans: Sequence[FilePlan]) -> int:
    """Return the bytes of all input files."""
    return sum(path.stat().st_size for plan in plans for path in plan.inputs)


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
        twice = 2 * options.dedup.table_bytes
        lines.append(
            f"The table of n-grams was too small and forgot {summary.ngrams_forgotten:,} of them, so later copies of "
            f"that text stayed. Use more memory: --set dedup.table_bytes={twice}"
        )
    return "\n".join(lines)


def plan(inputs: Sequence[Path], output: Path, format: str = "", force: bool = False) -> list[FilePlan]:
    """Return which input files become which output files. `force`: existing files may be replaced.

    One input file, or several and an output named like a document file, become one output file. Otherwise the output is
    a directory in which each file keeps its name; if several directories are read, below the name of its directory.
    """
    if not output.is_dir():
        streams.check_suffix(output)
    folders = [path.resolve() for path in inputs if path.is_dir()]
    names = sources.names(folders) if len(folders) > 1 else {}
    found = [(file, names.get(path.resolve(), "") / name) for path in inputs for file, name in _files(path)]
    if not found:
        suffixes = ", ".join(detect.SUFFIXES)
        where = ", ".join(map(str, inputs))
        raise ConfigError(
            f"there are no document files in {where}; their names end in {suffixes}, with or without .gz or .zst"
        )
    files = [path for path, _ in found]
    single = len(inputs) == 1 and inputs[0].is_file()
    if not output.is_dir() and (single or detect.by_name(output)):
        plans = [FilePlan(output, tuple(files))]
        _check_formats(files, format)
    else:
        plans = [FilePlan(output / name, (path,)) for path, name in found]
    _check_places(plans, inputs, output)
    existing = next((plan.output for plan in plans if plan.output.exists()), None)
    if existing and not force:
        raise ConfigError(f"{existing} already exists; name another output, or replace it with --force")
    return plans


def _files(path: Path) -> list[tuple[Path, Path]]:
    """Return a file, or the files of a directory in order, each with its name in an output directory.

    Of a crawl's directory, these are the files of its corpus.
    """
    if not path.is_dir():
        path.stat()  # raises FileNotFoundError
        return [(path, Path(path.name))]
    root = path / "corpus" if (path / "crawl.toml").exists() else path
    files = (
        file
        for file in sorted(root.rglob("*"))
        if file.is_file() and detect.by_name(file) and not file.name.startswith(".")
    )
    return [(file, file.relative_to(root)) for file in files]


def _check_formats(files: Sequence[Path], format: str) -> None:
    """Refuse to join files of several formats in one output."""
    found = {format or detect.detect(path): path for path in files}
    if len(found) > 1:
        differing = ", ".join(f"{path} is {name}" for name, path in found.items())
        raise ConfigError(f"files of several formats cannot be joined ({differing}); name a directory as output")


def _check_places(plans: Sequence[FilePlan], inputs: Sequence[Path], output: Path) -> None:
    """Refuse an output that overwrites an input, is written twice, or that the next run would read as input."""
    read = {path.resolve() for plan in plans for path in plan.inputs}
    written = [plan.output.resolve() for plan in plans]
    for path in written:
        if path in read:
            raise ConfigError(f"{path} is an input and would be overwritten; name another output")
        if written.count(path) > 1:
            raise ConfigError(
                f"two input files have the name {path.name}; name their directories as input, or run the command twice"
            )
    for path in inputs:
        if path.is_dir() and path.resolve() in (output.resolve(), *output.resolve().parents):
            raise ConfigError(f"{output} lies in the input {path}; name an output outside of it")
