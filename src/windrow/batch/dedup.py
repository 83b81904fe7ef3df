"""`windrow dedup`: onion as a post-process over files of documents, in the order in which they are named.

Memory is bounded by the table of n-grams; the output depends on the input and the options alone. Nothing that was there is written to.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from windrow import config
from windrow.batch.committed import Lengths
from windrow.config import ConfigError
from windrow.corpus import formats
from windrow.corpus.formats import Record
from windrow.dedup import ngrams, onion
from windrow.dedup.onion import DuplicateRule, Marks
from windrow.dedup.table import NgramTable

BATCH = 1 << 19  # bytes of documents hashed in one go
LEVELS = ("paragraph", "document")
PURE = "dedup.max_seen=1"  # onion's rule and no other, where nothing else is said

Watch = Callable[[int], None]  # told how many bytes of the input files were read since the last call


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    dedup: config.Dedup
    level: str = "paragraph"  # what is kept or removed: "paragraph" or "document"
    form: str = ""  # the format of all input files; empty: told from each


@dataclasses.dataclass(slots=True)
class Summary:
    """What came in, what went out."""

    files: int = 0
    documents_in: int = 0
    documents_out: int = 0
    documents_removed: int = 0
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
class Job:
    """An output file and the input files that go into it, in order."""

    output: Path
    inputs: tuple[Path, ...]

    @property
    def temporary(self) -> Path:
        return self.output.with_name(f".new.{self.output.name}")


def run(jobs: Sequence[Job], options: Options, watch: Watch) -> Summary:
    """Removes near-duplicates. The output files appear when all of them are complete, or not at all."""
    work = Work(options, watch)
    with contextlib.ExitStack() as undo:
        for job in jobs:
            for folder in _missing(job.output.parent):
                folder.mkdir()
                undo.callback(_remove_empty, folder)
            undo.callback(job.temporary.unlink, missing_ok=True)
            work.write(job)
        for job in jobs:
            job.temporary.replace(job.output)
        undo.pop_all()
    return work.ended()


def _missing(folder: Path) -> list[Path]:
    """The directories that have to be made, the outermost first."""
    found = []
    while not folder.is_dir():
        found.append(folder)
        folder = folder.parent
    return found[::-1]


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # somebody else has put something there
        folder.rmdir()


class Work:
    """The table, and the counts so far."""

    def __init__(self, options: Options, watch: Watch) -> None:
        dedup = options.dedup
        self.options, self.watch = options, watch
        self.rule = DuplicateRule.of(dedup)
        self.table = NgramTable(dedup.table_bytes)
        self.summary = Summary()
        self._length = Lengths()

    def write(self, job: Job) -> None:
        with formats.writing(job.temporary) as file:
            for number, path in enumerate(job.inputs):
                form = self.options.form or formats.tell(path)
                if number and form == "text":
                    file.write(b"\n")
                for records in self._batches(path, form):
                    self._settle(records, form == "vertical", file)
                self.summary.files += 1

    def ended(self) -> Summary:
        table, summary = self.table, self.summary
        summary.documents_removed = summary.documents_in - summary.documents_out
        summary.paragraphs_out = summary.paragraphs_in - summary.paragraphs_removed
        summary.tokens_out = summary.tokens_in - summary.tokens_removed
        summary.ngrams, summary.ngrams_forgotten, summary.table_bytes = len(table), table.forgotten, table.nbytes
        return summary

    def _batches(self, path: Path, form: str) -> Iterator[list[Record]]:
        """The file's documents in lots of about BATCH bytes."""
        records: list[Record] = []
        size = shown = 0
        for record, position in formats.read(path, form, self._length(path)):
            records.append(record)
            size += len(record.raw)
            if size >= BATCH:
                yield records
                records, size = [], 0
                self.watch(position - shown)
                shown = position
        yield records
        self.watch(path.stat().st_size - shown)

    def _settle(self, records: list[Record], tokens: bool, file: BinaryIO) -> None:
        made = [ngrams.of_octets(record.paragraphs, self.rule.ngram, tokens) for record in records if record.strip]
        if self.options.level == "document":
            made = [ngrams.joined(document) for document in made]
        rulings = iter([onion.mark(self.table, document, self.rule) for document in made])
        self.table.take()  # no restart, so no redo file
        file.writelines([self._stripped(record, next(rulings)) if record.strip else record.raw for record in records])

    def _stripped(self, record: Record, ruling: Marks) -> bytes:
        """The document without its duplicates; empty where nothing is left."""
        summary = self.summary
        filled = len(record.paragraphs) if self.options.level == "document" else sum(map(bool, ruling.lengths))
        gone = sum(
            1 for length, duplicate in zip(ruling.lengths, ruling.duplicate, strict=True) if length and duplicate
        )
        summary.documents_in += 1
        summary.paragraphs_in += filled
        summary.paragraphs_removed += filled if not ruling.left else gone
        summary.tokens_in += ruling.words
        summary.tokens_removed += ruling.words - ruling.left
        if not ruling.left or record.strip is None:
            return b""
        summary.documents_out += 1
        return record.strip([not duplicate for duplicate in ruling.duplicate]) if ruling.removed else record.raw


def options(level: str, form: str, dedup: config.Dedup) -> Options:
    """What was asked for, checked."""
    for name, value, known in (("--level", level, LEVELS), ("--format", form, ("", *formats.READERS))):
        if value not in known:
            raise ConfigError(f"{name} {value!r} is unknown; it must be one of {', '.join(filter(None, known))}")
    return Options(dedup, level, form)


def size(jobs: Sequence[Job]) -> int:
    """Bytes of all input files."""
    return sum(path.stat().st_size for job in jobs for path in job.inputs)


def told(summary: Summary, options: Options) -> str:
    """The summary in words."""
    lines = [f"{summary.files:,} files"]
    for what in ("documents", "paragraphs", "tokens"):
        came, left, gone = (getattr(summary, f"{what}_{way}") for way in ("in", "out", "removed"))
        share = f" ({gone / came:.1%})" if came else ""
        lines.append(f"{what:<10} {came:>15,} in {left:>15,} out {gone:>15,} removed{share}")
    if summary.ngrams_forgotten:
        twice = 2 * options.dedup.table_bytes
        lines.append(
            f"The table of n-grams was too small and forgot {summary.ngrams_forgotten:,} of them: later copies of that text stayed; "
            f"with more memory: --set dedup.table_bytes={twice}"
        )
    return "\n".join(lines)


def plan(inputs: Sequence[Path], output: Path, form: str = "", force: bool = False) -> list[Job]:
    """Which files become which. One file, or several and an output named like a document file: one output. Otherwise the output is a
    directory in which each file has its name. `force`: what is there may be replaced."""
    found = [pair for path in inputs for pair in _files(path)]
    if not found:
        suffixes = ", ".join(formats.SUFFIXES)
        raise ConfigError(
            f"there are no document files in {', '.join(map(str, inputs))}; expected are {suffixes}, or these with .gz"
        )
    files = [path for path, _ in found]
    single = len(inputs) == 1 and inputs[0].is_file()
    if not output.is_dir() and (single or formats.named(output)):
        jobs = [Job(output, tuple(files))]
        _check_forms(files, form)
    else:
        jobs = [Job(output / name, (path,)) for path, name in found]
    _check_places(jobs, inputs, output)
    there = next((job.output for job in jobs if job.output.exists()), None)
    if there and not force:
        raise ConfigError(f"{there} exists already; name another output, or replace it with --force")
    return jobs


def _files(path: Path) -> list[tuple[Path, Path]]:
    """A file, or those of a directory in order, each with its name in an output directory. Of a crawl's directory, its corpus."""
    if not path.is_dir():
        path.stat()
        return [(path, Path(path.name))]
    root = path / "corpus" if (path / "crawl.toml").exists() else path
    files = (
        file
        for file in sorted(root.rglob("*"))
        if file.is_file() and formats.named(file) and not file.name.startswith(".")
    )
    return [(file, file.relative_to(root)) for file in files]


def _check_forms(files: Sequence[Path], form: str) -> None:
    """Files that go into one output are of one format."""
    told = {form or formats.tell(path): path for path in files}
    if len(told) > 1:
        differing = ", ".join(f"{path} is {kind}" for kind, path in told.items())
        raise ConfigError(f"files of several formats cannot be joined ({differing}); name a directory as output")


def _check_places(jobs: Sequence[Job], inputs: Sequence[Path], output: Path) -> None:
    """Nothing is written over an input, or twice, or where the next run would take it for input."""
    taken = {path.resolve() for job in jobs for path in job.inputs}
    outputs = [job.output.resolve() for job in jobs]
    for path in outputs:
        if path in taken:
            raise ConfigError(f"{path} is input and would be written over; name another output")
        if outputs.count(path) > 1:
            raise ConfigError(
                f"two input files have the name {path.name}; dedup their directories, or one after the other"
            )
    for path in inputs:
        if path.is_dir() and path.resolve() in (output.resolve(), *output.resolve().parents):
            raise ConfigError(f"{output} lies in the input {path}; name an output outside of it")
