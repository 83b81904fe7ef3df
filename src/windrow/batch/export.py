"""`windrow export`: write the documents of a corpus that pass the filters, in a format that other programs read.

It reads only what the crawl has committed, so a crawl may run meanwhile. The output depends on the corpus and the
options alone.
"""

import dataclasses
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

import windrow
from windrow import takedown, urls
from windrow.batch.committed import Lengths
from windrow.batch.filters import Filter, Wanted
from windrow.config import ConfigError
from windrow.config.kinds import Plugin
from windrow.corpus import document as documents
from windrow.corpus import formats, outputs, reader
from windrow.corpus.formats import jsonl
from windrow.corpus.formats.format import Format, FormatOptions, Item
from windrow.corpus.outputs import Output, Target
from windrow.corpus.reader import ShardFile
from windrow.corpus.segment import icu, tokens
from windrow.corpus.segment.tokens import Cut
from windrow.corpus.sink import Sink
from windrow.data import Document
from windrow.judge.language import codes, detect, trigrams
from windrow.takedown import Takedown

PARTS: dict[str, Callable[[Document], str]] = {  # --by -> the part of the corpus that a document belongs to
    "tld": lambda document: urls.tld(urls.host_of(document.url)) or "none",
    "language": lambda document: document.language or codes.UNKNOWN,
    "domain": lambda document: urls.domain(urls.host_of(document.url)) or "none",
}
WORDS: dict[str, Cut] = {"builtin": tokens.builtin, "icu": icu.cut}  # word segmenters for scripts without spaces
LANGDIFFS = ("paragraph", "document")  # a paragraph's langdiff: its own, or its document's

Watch = Callable[[int], None]  # called with the bytes of the corpus that were read since the last call


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    inputs: Sequence[Path]
    output: Path
    format: str  # one of formats.FORMATS, or "package.module:name"
    wanted: Wanted = dataclasses.field(default_factory=Wanted)
    style: str = "both"  # jsonl: one of jsonl.STYLES
    by: str = ""  # one of PARTS: one file per part
    places: bool = False  # prevertical and vertical: add attributes that say where a document's bytes are
    words: str = "builtin"  # vertical: one of WORDS
    langdiff: str = "paragraph"  # prevertical and vertical: one of LANGDIFFS
    models: Sequence[Path] = ()  # of languages: compute the difference from them, as SpiderLing does
    takedown: Path | None = None  # a list besides the crawl's own
    shard_bytes: int = 1 << 30
    force: bool = False

    def target(self, format: Format) -> Target:
        return Target(self.output, format, bool(self.by), self.shard_bytes, self.force)


@dataclasses.dataclass(slots=True)
class ExportSummary:
    documents_in: int = 0
    documents_out: int = 0
    paragraphs_out: int = 0
    bytes_out: int = 0  # before compression; in Parquet, of text
    left_out: dict[str, int] = dataclasses.field(default_factory=dict)  # rule -> documents that it left out
    files: dict[str, int] = dataclasses.field(default_factory=dict)  # file name -> documents


def check(options: ExportOptions) -> None:
    """Raise ConfigError for everything that can be wrong before a document is read."""
    chosen = (("--by", options.by, PARTS), ("--words", options.words, WORDS))
    for name, value, known in (*chosen, ("--langdiff", options.langdiff, LANGDIFFS)):
        if value not in known and not (name == "--by" and not value):
            raise ConfigError(f"{name} {value!r} is unknown; it must be one of {', '.join(known)}")
    jsonl.check_style(options.style)
    format = _format(options)
    format.open(io.BytesIO(), format_options(options))  # raises if a library that the format needs is missing
    if options.words == "icu":
        icu.check()
    if options.shard_bytes < 1:
        raise ConfigError(f"--shard-bytes {options.shard_bytes} is too small; it must be at least 1")
    outputs.check(options.target(format))
    _check_places(options)


def find(options: ExportOptions) -> list[tuple[ShardFile, str]]:
    """Return the shards to read, each with the name of its crawl, without those of languages that are not wanted."""
    languages = [codes.parse(code) for code in options.wanted.languages]
    found, length = [], Lengths()
    _check_inputs(options.inputs)
    for path in options.inputs:
        crawl = reader.crawl_of(path)
        dump = crawl.resolve().name if crawl else path.resolve().name.partition(".")[0]
        for shard in reader.find(path, length):
            folder = codes.find(shard.path.parent.name) if crawl else None
            if (
                not languages
                or folder in (None, codes.UNKNOWN)
                or any(codes.covers(code, folder or "") for code in languages)
            ):
                found.append((shard, dump))
    return found


def run(options: ExportOptions, found: Sequence[tuple[ShardFile, str]], watch: Watch) -> ExportSummary:
    """Write the output, whole or not at all."""
    format = _format(options)
    filter = Filter(options.wanted, _takedown(options))
    target = options.target(format)
    work = _Export(options, filter, Sink(format, format_options(options), target.standard_output))
    with outputs.opened(target) as output:
        try:
            for shard, dump in found:
                work.read(shard, dump, output, watch)
            if not output.files and not options.by:
                work.sink.touch(output.path(""))
                output.note(output.path(""))
            work.sink.close()
        except BaseException:
            work.sink.drop()
            raise
        if work.summary.documents_in and filter.unknown():
            raise ConfigError(_unknown_score(filter))
        work.summary.files = dict(sorted(output.files.items()))
        if target.directory:
            (output.root / outputs.NOTE).write_bytes(_note(options, work.summary))
    return work.summary


class _Export:
    """Reads shards into the sink and counts."""

    def __init__(self, options: ExportOptions, filter: Filter, sink: Sink) -> None:
        self.filter, self.sink = filter, sink
        self.summary = ExportSummary()
        self._part = PARTS.get(options.by)

    def read(self, shard: ShardFile, dump: str, output: Output, watch: Watch) -> None:
        shown = 0
        for line, place, position in reader.lines(shard):
            document = documents.read(line, place)
            self.summary.documents_in += 1
            rule = self.filter.refuses(document) or (
                "" if any(paragraph.text for paragraph in document.paragraphs) else "no text"
            )
            if rule:
                self.summary.left_out[rule] = self.summary.left_out.get(rule, 0) + 1
            else:
                self._write(document, line, dump, output)
            if position > shown:
                watch(position - shown)
                shown = position
        watch(shard.length - shown)

    def _write(self, document: Document, line: bytes, dump: str, output: Output) -> None:
        summary = self.summary
        summary.documents_out += 1
        summary.paragraphs_out += len(document.paragraphs)
        path = output.path(self._part(document) if self._part else "")
        size = self.sink.add(path, Item(document, line, summary.documents_out, dump))
        summary.bytes_out += size
        if output.count(path, size):
            self.sink.finish(path)


def _format(options: ExportOptions) -> Format:
    """Return the format. The module of a user's own format may lie beside crawl.toml or in the current directory."""
    name = options.format
    if ":" in name:
        crawls = [crawl.resolve() for path in options.inputs if (crawl := reader.crawl_of(path))]
        located = (Plugin().apply(name, "--format", directory) for directory in (*crawls, Path.cwd()))
        name = next((reference for reference in located if reference != name), name)
    return formats.find(name)


def format_options(options: ExportOptions) -> FormatOptions:
    models = {model.name: model for model in map(trigrams.read, options.models)}

    def whole(text: str, code: str) -> float | None:
        return 1 - trigrams.difference(text, models[code]) if code in models else None

    def share(text: str, code: str) -> float | None:
        return whole(text, code) if code in models else detect.share(text, code)

    own = share if models else detect.share
    return FormatOptions(
        names=codes.name,
        style=options.style,
        places=options.places,
        cut=WORDS[options.words],
        share=own if options.langdiff == "paragraph" else None,
        whole=whole if models else None,
    )


def describe(summary: ExportSummary) -> str:
    """Return the summary as text."""
    files = f"{len(summary.files):,} file{'' if len(summary.files) == 1 else 's'}"
    counts = f"{summary.documents_out:,} of {summary.documents_in:,} documents in {files}"
    lines = [f"{counts}, {summary.paragraphs_out:,} paragraphs, {summary.bytes_out:,} bytes"]
    lines += [f"{count:>12,} left out: {rule}" for rule, count in sorted(summary.left_out.items())]
    return "\n".join(lines)


def size(found: Sequence[tuple[ShardFile, str]]) -> int:
    return sum(shard.length for shard, _ in found)


def _takedown(options: ExportOptions) -> Takedown:
    """Join the lists of the crawls that are read and the list that the user named."""
    crawls = {crawl.resolve(): crawl for path in options.inputs if (crawl := reader.crawl_of(path))}
    return takedown.of(*crawls.values(), extra=options.takedown)


def _check_inputs(inputs: Sequence[Path]) -> None:
    """Refuse inputs by which a document would be read twice."""
    for number, path in enumerate(inputs):
        own = path.resolve()
        for other in inputs[:number]:
            if own == other.resolve() or other.resolve() in own.parents or own in other.resolve().parents:
                raise ConfigError(f"{path} and {other} contain the same files; name each of them once")


def _check_places(options: ExportOptions) -> None:
    """Refuse to write over the corpus, or where the next export would read the output as a part of the corpus."""
    if str(options.output) == "-":
        return
    output = options.output.resolve()
    for path in options.inputs:
        crawl = reader.crawl_of(path)
        root = crawl.resolve() / "corpus" if crawl else path.resolve()
        if output == root or root in output.parents or output in (path.resolve(), *path.resolve().parents):
            raise ConfigError(f"{options.output} and the corpus {root} overlap; name another output")
    if options.takedown is not None and output == options.takedown.resolve():
        raise ConfigError(f"{options.output} is the takedown list; name another output")


def _unknown_score(filter: Filter) -> str:
    name = filter.unknown()
    known = f"the scores are {', '.join(sorted(filter.scores))}" if filter.scores else "there are no scores at all"
    return f"{filter.score_options[name]}: no document has a score {name!r}; {known}"


def _note(options: ExportOptions, summary: ExportSummary) -> bytes:
    """Return the content of export.json: how the export was made."""
    wanted = {name: value for name, value in dataclasses.asdict(options.wanted).items() if value}
    made = {
        "windrow": windrow.__version__,
        "format": options.format,
        "inputs": [os.fspath(path) for path in options.inputs],
    }
    made |= {"style": options.style} if options.format == "jsonl" else {}
    made |= {"by": options.by} if options.by else {}
    made |= {"words": options.words} if options.format == "vertical" else {}
    return msgspec.json.format(msgspec.json.encode({**made, "wanted": wanted, **dataclasses.asdict(summary)})) + b"\n"
