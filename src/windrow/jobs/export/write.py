"""`windrow export`: write the documents of a corpus that pass the filters, in a format that other programs read.

It reads only what the crawl has committed, so a crawl may run meanwhile. The output depends on the corpus and the
options alone.
"""

import dataclasses
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

import windrow
from windrow import config, urls
from windrow.config import ConfigError
from windrow.config.kinds import Plugin
from windrow.corpus import formats, outputs, reader
from windrow.corpus.census import Census
from windrow.corpus.formats import jsonl
from windrow.corpus.formats.format import Format, FormatOptions, Item
from windrow.corpus.outputs import Output, Target
from windrow.corpus.segment import icu, tokens
from windrow.corpus.segment.tokens import Cut
from windrow.corpus.sink import Sink
from windrow.jobs.export import companions, ordering
from windrow.jobs.export.companions import Exported
from windrow.jobs.inputs import sources
from windrow.jobs.inputs.filters import Filter, Wanted
from windrow.jobs.inputs.selection import Selected, Selection, Watch, listed
from windrow.jobs.inputs.sources import CorpusSource
from windrow.judge.language import codes, detect, trigrams
from windrow.records import Document

PARTS: dict[str, Callable[[Document], str]] = {  # --by -> the part of the corpus that a document belongs to
    "tld": lambda document: urls.tld(urls.host_of(document.url)) or "none",
    "language": lambda document: document.language or codes.UNKNOWN,
    "domain": lambda document: urls.domain(urls.host_of(document.url)) or "none",
}
WORDS: dict[str, Cut] = {"builtin": tokens.builtin, "icu": icu.cut}  # word segmenters for scripts without spaces
LANGDIFFS = ("paragraph", "document")  # a paragraph's langdiff: its own, or its document's
DOLMA = "documents"  # where dolma expects the documents of a dataset
SMALL = 8 << 20  # bytes of corpus below which one process is done before others have started


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    inputs: Sequence[Path]
    output: Path
    format: str  # one of formats.FORMATS, or "package.module:name"
    wanted: Wanted = dataclasses.field(default_factory=Wanted)
    style: str = "both"  # jsonl: one of jsonl.STYLES
    by: str = ""  # one of PARTS: one file per part
    sort: str = ""  # name of a score: the best documents first
    places: bool = False  # prevertical and vertical: add attributes that say where a document's bytes are
    words: str = "builtin"  # vertical: one of WORDS
    langdiff: str = "paragraph"  # prevertical and vertical: one of LANGDIFFS
    models: Sequence[Path] = ()  # of languages: compute the difference from them, as SpiderLing does
    takedown: Path | None = None  # a list besides the crawl's own
    shard_bytes: int = 1 << 30
    force: bool = False

    def target(self, format: Format) -> Target:
        folder = DOLMA if self.format == "jsonl" and self.style == "dolma" else outputs.DATA
        return Target(
            output=self.output,
            format=format,
            split=bool(self.by),
            shard_bytes=self.shard_bytes,
            force=self.force,
            folder=folder,
        )


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
    for name, value, allowed in (*chosen, ("--langdiff", options.langdiff, LANGDIFFS)):
        if value not in allowed and not (name == "--by" and not value):
            raise ConfigError(f"{name} {value!r} is unknown; it must be one of {', '.join(allowed)}")
    jsonl.check_style(options.style)
    format = _format(options)
    format.open(io.BytesIO(), format_options(options))  # raises if a library that the format needs is missing
    if options.words == "icu":
        icu.check()
    if options.shard_bytes < 1:
        raise ConfigError(f"--shard-bytes {options.shard_bytes} is too small; it must be at least 1")
    outputs.check(options.target(format))
    _check_places(options)


def find(options: ExportOptions) -> list[CorpusSource]:
    """Return what to read, without the shards of languages that are not wanted."""
    return sources.find(options.inputs, [codes.parse(code) for code in options.wanted.languages])


def run(options: ExportOptions, sources: Sequence[CorpusSource], watch: Watch) -> ExportSummary:
    """Write the output, whole or not at all."""
    format = _format(options)
    selection = Selection(sources, options.wanted, listed(sources, options.takedown))
    target = options.target(format)
    work = _Export(options, Sink(format, format_options(options), target.standard_output), target.directory)
    with outputs.opened(target) as output:
        try:
            chosen = selection.read(watch)
            for selected in ordering.ordered(chosen, options.sort) if options.sort else chosen:
                work.write(selected, output)
            close(work.sink, output, options)
        except BaseException:
            work.sink.drop()
            raise
        work.summary.documents_in, work.summary.left_out = selection.documents_in, selection.left_out
        complete(output, options, sources, work.summary, (work.census, selection.filter))
    return work.summary


def close(sink: Sink, output: Output, options: ExportOptions) -> None:
    """End the files of an output. It has one even if no document was written."""
    if not output.files and not options.by:
        sink.touch(output.path(""))
        output.note(output.path(""))
    sink.close()


def complete(
    output: Output,
    options: ExportOptions,
    sources: Sequence[CorpusSource],
    summary: ExportSummary,
    seen: tuple[Census, Filter],
) -> None:
    """Complete the summary and write the files beside the documents. `seen`: the filter has seen all documents."""
    census, filter = seen
    if summary.documents_in and filter.unknown():
        raise ConfigError(_unknown_score(filter))
    summary.left_out = dict(sorted(summary.left_out.items()))
    summary.files = dict(sorted(output.files.items()))
    if output.target.directory:
        _describe(output.root, options, sources, summary, census)


def pays(options: ExportOptions, size: int) -> bool:
    """Return whether several processes write this many bytes of corpus sooner than one, on any machine.

    A vertical costs so much per document that starting the workers and passing bytes on adds 7 %. For prevertical it
    adds a quarter, for other formats as much as the work itself: there, --workers decides.
    """
    return options.format == "vertical" and not serial(options) and size >= SMALL


def serial(options: ExportOptions) -> str:
    """Return why an export must be written by one process; "" if its documents can be encoded in parallel."""
    if options.format not in formats.FORMATS:
        return "formats of your own are written by one process"
    if formats.FORMATS[options.format].columnar:
        return f"{options.format} is written by one process"
    if options.sort:
        return "--sort orders all documents in one process"
    return "standard output is written by one process" if str(options.output) == "-" else ""


class _Export:
    """Writes documents into the sink and counts."""

    def __init__(self, options: ExportOptions, sink: Sink, counted: bool) -> None:
        self.sink = sink
        self.summary = ExportSummary()
        self.census = Census()
        self._counted = counted  # only the card of a directory needs the census
        self._part = PARTS.get(options.by)

    def write(self, selected: Selected, output: Output) -> None:
        summary, document = self.summary, selected.document
        summary.documents_out += 1
        summary.paragraphs_out += len(document.paragraphs)
        path = output.path(self._part(document) if self._part else "")
        size = self.sink.add(path, Item(document, selected.line, summary.documents_out, selected.dump))
        summary.bytes_out += size
        if self._counted:
            self.census.add(document)
        if output.count(path, size):
            self.sink.finish(path)


def _format(options: ExportOptions) -> Format:
    """Return the format. The module of a user's own format may lie beside crawl.toml or in the current directory."""
    name = options.format
    sections: dict[str, dict[str, Any]] = {}
    if name not in formats.FORMATS:
        crawls = [crawl.resolve() for path in options.inputs if (crawl := reader.crawl_of(path))]
        located = (Plugin().apply(name, "--format", directory) for directory in (*crawls, Path.cwd()))
        name = next((reference for reference in located if reference != name), name)
        for crawl in crawls:
            sections |= config.plugins_of(crawl)
    return formats.find(name, sections)


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


def size(sources: Sequence[CorpusSource]) -> int:
    return sum(source.size for source in sources)


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
    hint = f"the scores are {', '.join(sorted(filter.scores))}" if filter.scores else "there are no scores at all"
    return f"{filter.score_options[name]}: no document has a score {name!r}; {hint}"


def _describe(
    root: Path, options: ExportOptions, sources: Sequence[CorpusSource], summary: ExportSummary, census: Census
) -> None:
    """Write the files of an output directory that say what it is."""
    made = _made(options)
    note = {**made, "inputs": [os.fspath(path) for path in options.inputs], **dataclasses.asdict(summary)}
    (root / outputs.NOTE).write_bytes(msgspec.json.format(msgspec.json.encode(note)) + b"\n")
    exported = Exported(
        output=Path(os.path.abspath(options.output)),
        format=options.format,
        made=made,
        sources=sources,
        census=census,
        files=summary.files,
        left_out=summary.left_out,
        split=bool(options.by),
        places=options.places,
        loadable=options.format != "jsonl" or options.style != "windrow",
    )
    companions.write(root, exported)


def _made(options: ExportOptions) -> dict[str, Any]:
    """Return how the export was made."""
    made: dict[str, Any] = {"windrow": windrow.__version__, "format": options.format}
    made |= {"style": options.style} if options.format == "jsonl" else {}
    made |= {"by": options.by} if options.by else {}
    made |= {"sort": options.sort} if options.sort else {}
    made |= {"words": options.words} if options.format == "vertical" else {}
    return made | {"wanted": {name: value for name, value in dataclasses.asdict(options.wanted).items() if value}}
