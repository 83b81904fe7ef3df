"""`windrow export`: the documents of a corpus, filtered, in the form that somebody else's program reads.

What a crawl has not committed is not exported, so a crawl may run meanwhile. The output depends on the corpus and the options alone.
"""

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

import windrow
from windrow import urls
from windrow.batch.committed import Lengths
from windrow.batch.filters import TAKEDOWN, Filter, Takedown, Wanted
from windrow.config import ConfigError
from windrow.corpus import document as documents
from windrow.corpus import icu, jsonl, outputs, parquet, prevertical, reader, tokens
from windrow.corpus.outputs import Encode, Output, Place, Sink
from windrow.corpus.prevertical import Form
from windrow.corpus.reader import Shard
from windrow.corpus.segment.tokens import Cut
from windrow.data import Document
from windrow.judge.language import codes, detect, trigrams

FORMATS = tuple(outputs.SUFFIXES)
PARTS: dict[str, Callable[[Document], str]] = {  # what a corpus is parted by -> a document's part
    "tld": lambda document: urls.tld(documents.host(document.url)) or "none",
    "language": lambda document: document.language or codes.UNKNOWN,
    "domain": lambda document: urls.domain(documents.host(document.url)) or "none",
}

WORDS: dict[str, Cut] = {"own": tokens.plain, "icu": icu.cut}  # who finds words where there are no blanks
LANGDIFFS = ("paragraph", "document")  # whose difference from the language a paragraph has

Watch = Callable[[int], None]  # told how many bytes of the corpus were read since the last call


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    inputs: Sequence[Path]
    output: Path
    form: str  # one of FORMATS
    wanted: Wanted = dataclasses.field(default_factory=Wanted)
    style: str = "both"  # of jsonl
    by: str = ""  # one of PARTS: a file for each
    places: bool = False  # in prevertical and vertical: further attributes, which say where a document's bytes are
    words: str = "own"  # in vertical: one of WORDS
    langdiff: str = "paragraph"  # in prevertical and vertical: one of LANGDIFFS
    models: Sequence[Path] = ()  # of languages, by which the difference is told as in SpiderLing
    takedown: Path | None = None  # besides the crawl's own
    shard_bytes: int = 1 << 30
    force: bool = False

    @property
    def place(self) -> Place:
        return Place(self.output, self.form, bool(self.by), self.shard_bytes, self.force)


@dataclasses.dataclass(slots=True)
class Summary:
    documents_in: int = 0
    documents_out: int = 0
    paragraphs_out: int = 0
    bytes_out: int = 0  # before compression; in Parquet, of text
    left_out: dict[str, int] = dataclasses.field(default_factory=dict)  # documents, by the rule that decided
    files: dict[str, int] = dataclasses.field(default_factory=dict)  # documents, by name of the file


def check(options: Options) -> None:
    """Everything that can be wrong before a document is read."""
    chosen = (("--format", options.form, FORMATS), ("--by", options.by, ("", *PARTS)))
    for name, value, known in (*chosen, ("--words", options.words, WORDS), ("--langdiff", options.langdiff, LANGDIFFS)):
        if value not in known:
            raise ConfigError(f"{name} {value!r} is unknown; it must be one of {', '.join(filter(None, known))}")
    jsonl.check(options.style)
    if options.form == "parquet":
        parquet.schema()  # which needs the library
    if options.words == "icu":
        icu.check()  # the same
    for path in options.models:
        trigrams.read(path)
    if options.shard_bytes < 1:
        raise ConfigError(f"--shard-bytes {options.shard_bytes} is too small; it must be at least 1")
    outputs.check(options.place)
    _check_places(options)


def find(options: Options) -> list[tuple[Shard, str]]:
    """The shards to read, each with the name of its crawl. Those of other languages are passed over unread."""
    languages = [codes.parse(code) for code in options.wanted.languages]
    found, length = [], Lengths()
    _check_inputs(options.inputs)
    for path in options.inputs:
        home = reader.home(path)
        dump = home.resolve().name if home else path.resolve().name.partition(".")[0]
        for shard in reader.find(path, length):
            folder = codes.find(shard.path.parent.name) if home else None
            if (
                not languages
                or folder in (None, codes.UNKNOWN)
                or any(codes.covers(code, folder or "") for code in languages)
            ):
                found.append((shard, dump))
    return found


def run(options: Options, found: Sequence[tuple[Shard, str]], watch: Watch) -> Summary:
    """Writes the output, whole or not at all."""
    filter = Filter(options.wanted, _takedown(options))
    work = Work(options, filter)
    with outputs.opened(options.place) as output:
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
        if options.place.directory:
            (output.root / outputs.NOTE).write_bytes(_note(options, work.summary))
    return work.summary


class Work:
    """The sink, and the counts so far."""

    def __init__(self, options: Options, filter: Filter) -> None:
        self.options, self.filter = options, filter
        self.summary = Summary()
        self.dump = ""  # name of the crawl that is being read
        self.sink = self._sink()

    def read(self, shard: Shard, dump: str, output: Output, watch: Watch) -> None:
        self.dump = dump
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
                self._write(document, line, output)
            if position > shown:
                watch(position - shown)
                shown = position
        watch(shard.length - shown)

    def _write(self, document: Document, line: bytes, output: Output) -> None:
        summary = self.summary
        summary.documents_out += 1
        summary.paragraphs_out += len(document.paragraphs)
        path = output.path(PARTS[self.options.by](document) if self.options.by else "")
        size = self.sink.add(path, document, line, summary.documents_out)
        summary.bytes_out += size
        if output.count(path, size):
            self.sink.finish(path)

    def _sink(self) -> Sink:
        if self.options.form == "parquet":
            return outputs.Tables(lambda: self.dump)
        encode = self._encode()
        return outputs.Stream(encode) if self.options.place.stream else outputs.Texts(encode)

    def _encode(self) -> Encode:
        form, style = self.options.form, self.options.style
        if form == "jsonl" and style == "windrow":
            return lambda document, line, number: line if line.endswith(b"\n") else line + b"\n"
        if form == "jsonl":
            return lambda document, line, number: jsonl.line(document, style, self.dump)
        if form == "text":
            return lambda document, line, number: jsonl.text(document).replace("\n", "\n\n").encode() + b"\n\n"
        write = prevertical.prevertical if form == "prevertical" else prevertical.vertical
        asked = _form(self.options)
        return lambda document, line, number: write(document, number, asked)


def _form(options: Options) -> Form:
    """Of prevertical and vertical."""
    models = {model.name: model for model in map(trigrams.read, options.models)}

    def whole(text: str, code: str) -> float | None:
        return 1 - trigrams.difference(text, models[code]) if code in models else None

    def share(text: str, code: str) -> float | None:
        return whole(text, code) if code in models else detect.share(text, code)

    own = share if models else detect.share
    return Form(
        codes.name,
        options.places,
        WORDS[options.words],
        own if options.langdiff == "paragraph" else None,
        whole if models else None,
    )


def told(summary: Summary) -> str:
    """The summary in words."""
    files = f"{len(summary.files):,} file{'' if len(summary.files) == 1 else 's'}"
    counts = f"{summary.documents_out:,} of {summary.documents_in:,} documents in {files}"
    lines = [f"{counts}, {summary.paragraphs_out:,} paragraphs, {summary.bytes_out:,} bytes"]
    lines += [f"{count:>12,} left out: {rule}" for rule, count in sorted(summary.left_out.items())]
    return "\n".join(lines)


def size(found: Sequence[tuple[Shard, str]]) -> int:
    return sum(shard.length for shard, _ in found)


def _takedown(options: Options) -> Takedown:
    """What the crawls of the inputs, and this command, say is not to be given on."""
    found = Takedown()
    homes = {home.resolve(): home for path in options.inputs if (home := reader.home(path))}
    for home in homes.values():
        if (home / TAKEDOWN).exists():
            found.read(home / TAKEDOWN)
    if options.takedown is not None:
        found.read(options.takedown)
    return found


def _check_inputs(inputs: Sequence[Path]) -> None:
    """No document is read twice."""
    for number, path in enumerate(inputs):
        own = path.resolve()
        for other in inputs[:number]:
            if own == other.resolve() or other.resolve() in own.parents or own in other.resolve().parents:
                raise ConfigError(f"{path} and {other} are, or hold, the same files; name each of them once")


def _check_places(options: Options) -> None:
    """Nothing is written over the corpus, or where the next export would take it for a part of it."""
    if options.place.stream:
        return
    output = options.output.resolve()
    for path in options.inputs:
        home = reader.home(path)
        root = home.resolve() / "corpus" if home else path.resolve()
        if output == root or root in output.parents or output in (path.resolve(), *path.resolve().parents):
            raise ConfigError(
                f"{options.output} is, holds or lies in the corpus that is read, {root}; name another output"
            )
    if options.takedown is not None and output == options.takedown.resolve():
        raise ConfigError(f"{options.output} is the list of takedowns; name another output")


def _unknown_score(filter: Filter) -> str:
    name = filter.unknown()
    known = ", ".join(sorted(filter.scores)) or "no scores at all"
    return f"{filter.asked[name]}: no document has a score {name!r}; there are {known}"


def _note(options: Options, summary: Summary) -> bytes:
    """What stands beside an export: how it was made."""
    asked = {name: value for name, value in dataclasses.asdict(options.wanted).items() if value}
    made = {
        "windrow": windrow.__version__,
        "format": options.form,
        "inputs": [os.fspath(path) for path in options.inputs],
    }
    made |= {"style": options.style} if options.form == "jsonl" else {}
    made |= {"by": options.by} if options.by else {}
    made |= {"words": options.words} if options.form == "vertical" else {}
    return msgspec.json.format(msgspec.json.encode({**made, "wanted": asked, **dataclasses.asdict(summary)})) + b"\n"
