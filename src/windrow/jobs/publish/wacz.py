"""`windrow publish`: the archive of a crawl as one WACZ file, which ReplayWeb.page and pywb replay.

Only committed bytes are read, so the crawl may run. The WARC files are copied as they are, except that every record of
a page on the takedown list is left out; the index has the offsets in the copies. A record is a gzip member of its own,
so what is copied stays valid. The list of pages has a title for each HTML page and, if wanted, its main text.
"""

import gzip
import hashlib
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

import windrow
from windrow import archive, config, files, sharding, takedown, urls
from windrow.archive import ArchiveError, WarcRecord, cdxj
from windrow.config import ConfigError
from windrow.extraction import Extractor, readers
from windrow.jobs.engine.runs import SortedLines
from windrow.jobs.inputs import committed
from windrow.jobs.publish.package import Package
from windrow.takedown import Takedown

SUBSETS = ("warc", "robotstxt", "diagnostics")
INDEX, BLOCKS, PAGES = "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"
BLOCK = 300  # lines of the index in one gzip member
_PIECE = 1 << 20  # bytes copied at once
_HTML = ("text/html", "application/xhtml+xml")
_HEAD = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
_NO_LINKS = "extract.max_links=0"

Watch = Callable[[int], None]  # called with the bytes of the archive that were read since the last call


class PublishOptions(msgspec.Struct, frozen=True, kw_only=True):
    directory: Path
    output: Path
    title: str = ""
    description: str = ""
    text: bool = False  # whether the list of pages has their main text
    takedown: Path | None = None  # a list besides the crawl's own
    force: bool = False


class PublishSummary(msgspec.Struct):
    files: int = 0  # WARC files
    captures: int = 0  # lines of the index
    pages: int = 0  # in the list of pages
    left_out: int = 0  # records of pages on the takedown list
    bytes: int = 0  # of the WACZ file


class ArchiveFile(msgspec.Struct, frozen=True):
    path: Path
    length: int  # bytes that are committed

    @property
    def name(self) -> str:
        return self.path.name


def check(options: PublishOptions) -> None:
    """Raise ConfigError for everything that can be wrong before a record is read."""
    if options.output.suffix != ".wacz":
        raise ConfigError(f"{options.output}: the name of a WACZ file must end in .wacz; name it {options.output}.wacz")
    if options.output.is_dir():
        raise ConfigError(f"{options.output} is a directory; name another file")
    if options.output.exists() and not options.force:
        raise ConfigError(f"{options.output} already exists; name another file, or replace it with --force")


def find(options: PublishOptions) -> list[ArchiveFile]:
    """Return the files of the archive, by subset, shard and name."""
    directory = options.directory
    if not (directory / "crawl.toml").is_file():
        raise ConfigError(f"{directory} has no crawl.toml, so it is not a crawl's directory; name another")
    places = [(shard, committed.lengths(shard) or {}) for shard in sharding.places(directory)]
    files = [
        ArchiveFile(shard / name, lengths[name])
        for subset in SUBSETS
        for shard, lengths in places
        for name in sorted(lengths)
        if name.startswith(f"{subset}/") and lengths[name]
    ]
    if not files:
        raise ConfigError(f"{directory} has no archive yet; make it with: windrow crawl {directory}")
    return files


def run(options: PublishOptions, found: Sequence[ArchiveFile], now: float, watch: Watch) -> PublishSummary:
    """Write the file, whole or not at all."""
    listed = takedown.of(*sharding.places(options.directory), extra=options.takedown)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            files.replacing(options.output) as file,
            Package(file, now) as package,
            SortedLines() as index,
            tempfile.TemporaryFile() as pages,
        ):
            work = _Publisher(package, _Lists(index, pages), listed, _reader(options))
            for source in found:
                work.add(source, watch)
            work.finish(_facts(options, work.first))
    except ArchiveError as error:
        raise ConfigError(f"{error}; restore the file from a copy") from None
    except OSError as error:
        error.filename = error.filename or str(options.output)  # the system reports a full disk without a file name
        raise
    work.summary.bytes = options.output.stat().st_size
    return work.summary


class _Lists(NamedTuple):
    """The lists that are written after the archive: until then they are on disk."""

    captures: SortedLines  # lines of the index
    pages: IO[bytes]


class _Publisher:
    """Copies files into the package, and lists their captures and pages."""

    def __init__(self, package: Package, lists: _Lists, listed: Takedown, read: Extractor) -> None:
        self.summary = PublishSummary()
        self.first: dict[str, str] = {}  # URL and time of the first page
        self._package, self._lists, self._listed, self._read = package, lists, listed, read

    def add(self, file: ArchiveFile, watch: Watch) -> None:
        """Index a file and copy it without the records that are left out."""
        kept: list[tuple[int, int]] = []  # from, to
        position = 0  # in the copy
        for record in archive.records(file.path, end=file.length):
            if not record.length:
                raise ArchiveError(file.path, record.offset, "the record that begins here shares its gzip member")
            end = record.offset + record.length
            if self._taken_down(record):
                self.summary.left_out += 1
                continue
            self._list(record, file, position)
            position += record.length
            if kept and kept[-1][1] == record.offset:
                kept[-1] = (kept[-1][0], end)
            else:
                kept.append((record.offset, end))
        self._package.add(f"archive/{file.name}", _copied(file, kept, watch))
        self.summary.files += 1

    def finish(self, facts: Mapping[str, Any]) -> None:
        blocks: list[bytes] = []
        self._package.add(INDEX, _blocks(self._lists.captures, blocks))
        self._package.add(BLOCKS, blocks)
        self._lists.pages.seek(0)
        self._package.add(PAGES, _pieces(self._lists.pages))
        self._package.close(facts)

    def _taken_down(self, record: WarcRecord) -> bool:
        url = urls.parse(record.target) if self._listed and record.target else None
        return url is not None and self._listed.covers(url.text)

    def _list(self, record: WarcRecord, file: ArchiveFile, position: int) -> None:
        line = cdxj.line(record, file.name, position)
        if not line:
            return
        self._lists.captures.add(line)
        self.summary.captures += 1
        if file.path.parent.name == SUBSETS[0] and cdxj.mime(record) in (*_HTML, cdxj.REVISIT):
            if not self.summary.pages:
                self.first = {"mainPageUrl": record.target, "mainPageDate": record.header("WARC-Date")}
            self._lists.pages.write(_page(record, self._read, first=not self.summary.pages))
            self.summary.pages += 1


def _page(record: WarcRecord, read: Extractor, first: bool) -> bytes:
    """Return the line of a page; the first one with the head of the list before it."""
    page = {"id": record.id.decode(), "url": record.target, "ts": record.header("WARC-Date")}
    url = urls.parse(record.target)
    capture = archive.decoded(archive.capture_of(record, url)) if record.type == "response" and url else None
    if capture is not None and not capture.encoded:
        found = read(capture)
        text = "\n".join(paragraph.text for paragraph in found.paragraphs if paragraph.kept)
        page |= {"title": found.title} if found.title else {}
        page |= {"text": text} if text else {}
    line = msgspec.json.encode(page) + b"\n"
    return msgspec.json.encode(_HEAD) + b"\n" + line if first else line


def _blocks(lines: Iterable[bytes], idx: list[bytes]) -> Iterator[bytes]:
    """Yield the index in gzip members of BLOCK lines, and list each in `idx`: its first key, its place and its hash."""
    idx.append(b'!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}\n')
    offset = 0
    for block in _batches(lines):
        packed = gzip.compress(b"".join(block), mtime=0)
        key = b" ".join(block[0].split(b" ", 2)[:2])
        digest = hashlib.sha256(packed).hexdigest().encode()
        idx.append(b'%b {"offset":%d,"length":%d,"digest":"sha256:%b"}\n' % (key, offset, len(packed), digest))
        offset += len(packed)
        yield packed


def _batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    remaining = iter(lines)
    while block := list(itertools.islice(remaining, BLOCK)):
        yield block


def _copied(file: ArchiveFile, ranges: Sequence[tuple[int, int]], watch: Watch) -> Iterator[bytes]:
    seen = 0
    with file.path.open("rb") as source:
        for start, end in ranges:
            source.seek(start)
            while start < end and (piece := source.read(min(_PIECE, end - start))):
                start += len(piece)
                yield piece
                watch(start - seen)
                seen = start
    watch(file.length - seen)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def _reader(options: PublishOptions) -> Extractor:
    """Return the extractor for the list of pages: without text, only titles are read."""
    chosen = config.load(options.directory / "crawl.toml")
    wanted = options.text and chosen.extract.extractor != "none"
    name = chosen.extract.extractor if wanted else config.ExtractOptions().extractor if options.text else "none"
    settings = [f"extract.extractor={name}", _NO_LINKS]
    return readers.table(config.load(options.directory / "crawl.toml", settings)).page


def _facts(options: PublishOptions, first: Mapping[str, str]) -> dict[str, Any]:
    name = options.directory.resolve().name
    facts = {"title": options.title or name, "software": f"windrow/{windrow.__version__}", **first}
    return facts | ({"description": options.description} if options.description else {})
