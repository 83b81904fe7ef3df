"""All outputs of one archive file: the function that the engine runs for each source."""

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, Self

import msgspec
import pyarrow
import pyarrow.parquet

import windrow
from windrow import archive, files, sharding, takedown
from windrow.archive import ArchiveError, WarcRecord, derived, names
from windrow.archive.derived import DescribedRecord
from windrow.io import storage
from windrow.io.storage import AnyPath
from windrow.jobs.derive import wat, wet
from windrow.jobs.derive.container import Container
from windrow.jobs.derive.exchange import MOST, PageReader, ReadRecord
from windrow.jobs.derive.links import SCHEMA as LINKS
from windrow.jobs.derive.links import LinkRows
from windrow.jobs.derive.pages import SCHEMA as PAGES
from windrow.jobs.derive.pages import PageRows
from windrow.jobs.derive.wet import WetText
from windrow.takedown import Takedown

# The account of a source.
SCHEMA = pyarrow.schema(
    [
        ("source", pyarrow.string()),
        *[(name, pyarrow.int64()) for name in ("records", "wat", "wet", "links", "pages", "left_out", "failed")],
        ("bytes", pyarrow.int64()),  # of the outputs
        ("problem", pyarrow.string()),  # where the file is damaged: the outputs have the intact records; empty: whole
    ]
)
_BUFFER = 1 << 20  # bytes
_GROUP = 16 << 20  # bytes of rows in a group of a table


class DeriveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The outputs that are made of each source, and where they go."""

    output: str
    wat: bool = False
    wet: str = ""  # "", or one of wet.FORMS
    links: bool = False
    pages: bool = False
    languages: bool = False  # detect those of pages whose archive notes none
    crawl: str = ""  # directory of the crawl whose options and takedown list hold
    takedown: str = ""  # file of another list
    settings: tuple[str, ...] = ()  # options for the text of the form `main`
    ends: tuple[tuple[str, int], ...] = ()  # sources that grow, and the bytes of them that are committed


class DerivedCounts(msgspec.Struct):
    """The account of a source: a row of SCHEMA."""

    source: str
    records: int = 0
    wat: int = 0  # records written
    wet: int = 0
    links: int = 0  # rows written
    pages: int = 0
    left_out: int = 0  # records on the takedown list, or purged
    failed: int = 0  # pages whose text could not be extracted, or not in time
    bytes: int = 0
    problem: str = ""


class DerivedFile(Protocol):
    """One output file of a source."""

    def add(self, source: ReadRecord, about: DescribedRecord) -> None: ...
    def close(self) -> None: ...


def derive(options: DeriveOptions, source: str) -> Iterator[pyarrow.RecordBatch]:
    """Write the outputs of a source; yield one row. A function of the engine."""
    counts = DerivedCounts(source)
    path = storage.place(source)
    linked = options.wat or options.links or options.pages  # text alone takes a quarter less time without links
    listed = _listed(options.crawl, options.takedown)
    reader = PageReader(path, dict(options.ends).get(source), listed, MOST if linked else 0)
    with contextlib.ExitStack() as stack:
        stack.enter_context(path.open("rb"))  # open while it is read: a remote file is then read once
        if not archive.is_archive(path):
            raise ArchiveError(path, 0, "this is no archive file: it does not begin with a record")
        outputs = _opened(options, path, counts, stack)
        for read in _with_languages(reader.records(), options.languages):
            counts.records += 1
            about = _about(read.record, path)
            for output in outputs:
                output.add(read, about)
        for output in outputs:
            output.close()
    counts.problem = reader.problem()
    counts.left_out = reader.left_out
    counts.bytes = sum(target.stat().st_size for target in targets(options, path).values())
    row = {name: [value] for name, value in msgspec.structs.asdict(counts).items()}
    yield pyarrow.RecordBatch.from_pydict(row, schema=SCHEMA)


def _with_languages(records: Iterator[ReadRecord], wanted: bool) -> Iterator[ReadRecord]:
    if not wanted:
        return records
    from windrow.jobs.derive import languages  # imports the judges, which take a second to load

    return map(languages.detected, records)


def prepare(options: DeriveOptions) -> None:
    """Read the lists and load the models of the options; raise ConfigError if that fails."""
    _listed(options.crawl, options.takedown)
    if options.wet == "main":
        wet.kept_text(options.crawl, options.settings)


def targets(options: DeriveOptions, source: AnyPath) -> dict[str, Path]:
    """Return the files that are made of a source, by kind."""
    output = Path(options.output)
    targets_by_kind = {}
    if options.wat:
        targets_by_kind["wat"] = output / "wat" / names.derived(source.name, "wat")
    if options.wet:
        targets_by_kind["wet"] = output / "wet" / names.derived(source.name, "wet")
    if options.links:
        targets_by_kind["links"] = output / "links.parquet" / names.derived(source.name, "links")
    if options.pages:
        targets_by_kind["pages"] = output / "pages.parquet" / names.derived(source.name, "pages")
    return targets_by_kind


def _opened(
    options: DeriveOptions, source: AnyPath, counts: DerivedCounts, stack: contextlib.ExitStack
) -> list[DerivedFile]:
    """Open the outputs of a source. Each appears under its name when all are complete."""
    opened: list[DerivedFile] = []
    container = stack.enter_context(Container(source)) if options.wat else None
    for kind, target in targets(options, source).items():
        target.parent.mkdir(parents=True, exist_ok=True)
        file = stack.enter_context(files.replacing(target))
        if container is not None and kind == "wat":
            opened.append(_Wat(_Members(file, target.name), container, counts))
        elif kind == "wet":
            opened.append(_Wet(_Members(file, target.name), options, counts))
        elif kind == "links":
            opened.append(_Links(names.place(source), stack.enter_context(_TableFile(file, LINKS)), counts))
        else:
            opened.append(_Pages(names.place(source), stack.enter_context(_TableFile(file, PAGES)), counts))
    return opened


class _Members:
    """A WARC file of records about those of another."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self._waiting: list[bytes] = []
        self._size = 0
        self.begun = False

    def begin(self, date: str, pairs: list[tuple[str, str]]) -> None:
        """Write the first record. Its date is that of the archive: equal input gives equal bytes."""
        self.begun = True
        software = [("Software-Info", f"windrow/{windrow.__version__}"), ("Extracted-Date", derived.http_date(date))]
        self.write(derived.info(self._name, date, software + pairs))

    def write(self, member: bytes) -> None:
        self._waiting.append(member)
        self._size += len(member)
        if self._size > _BUFFER:
            self.flush()

    def flush(self) -> None:
        self._file.write(b"".join(self._waiting))
        self._waiting, self._size = [], 0


class _Wat:
    def __init__(self, file: _Members, container: Container, counts: DerivedCounts) -> None:
        self._file, self._container, self._counts = file, container, counts

    def add(self, read: ReadRecord, about: DescribedRecord) -> None:
        if not self._file.begun:
            self._file.begin(about.date, wat.info())
        self._file.write(wat.member(read, self._container, about))
        self._counts.wat += 1

    def close(self) -> None:
        self._file.flush()


class _Wet:
    def __init__(self, file: _Members, options: DeriveOptions, counts: DerivedCounts) -> None:
        self._file, self._counts = file, counts
        self._text = wet.kept_text(options.crawl, options.settings) if options.wet == "main" else wet.all_text

    def add(self, read: ReadRecord, about: DescribedRecord) -> None:
        if not self._file.begun:
            self._file.begin(about.date, wet.info(read.record))
        if read.page is None or not 200 <= read.status < 300:
            return
        text: WetText = self._text(read)
        self._counts.failed += text.problem
        if text.text:
            self._file.write(wet.member(about, text))
            self._counts.wet += 1

    def close(self) -> None:
        self._file.flush()


class _TableFile:
    """A Parquet file of rows, in groups that are large enough to be read quickly."""

    def __init__(self, file: BinaryIO, schema: pyarrow.Schema) -> None:
        self._writer = pyarrow.parquet.ParquetWriter(file, schema, compression="zstd")
        self._schema = schema
        self._held: list[pyarrow.RecordBatch] = []
        self._size = 0

    def write(self, batches: Iterator[pyarrow.RecordBatch]) -> None:
        for batch in batches:
            self._held.append(batch)
            self._size += batch.nbytes
            if self._size >= _GROUP:
                self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pyarrow.Table.from_batches(self._held, self._schema))
        self._held, self._size = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Finish the file. After an error too: the writer would try it later, when the file is closed."""
        self._flush()
        self._writer.close()


class _Links:
    def __init__(self, source: str, file: _TableFile, counts: DerivedCounts) -> None:
        self._rows, self._file, self._counts = LinkRows(source), file, counts

    def add(self, read: ReadRecord, about: DescribedRecord) -> None:
        self._file.write(self._rows.add(read))

    def close(self) -> None:
        self._file.write(self._rows.rest())
        self._counts.links = self._rows.count


class _Pages:
    def __init__(self, source: str, file: _TableFile, counts: DerivedCounts) -> None:
        self._rows, self._file, self._counts = PageRows(source), file, counts

    def add(self, read: ReadRecord, about: DescribedRecord) -> None:
        self._file.write(self._rows.add(read))

    def close(self) -> None:
        self._file.write(self._rows.rest())
        self._counts.pages = self._rows.count


def _about(record: WarcRecord, source: AnyPath) -> DescribedRecord:
    position = f"{source.name} {record.offset}"
    if record.length == 0:
        position += f" {record.header('WARC-Record-ID')}"  # several records share the gzip member at this offset
    return DescribedRecord(record.target, record.header("WARC-Date"), record.header("WARC-Record-ID"), position)


@functools.lru_cache(1)
def _listed(crawl: str, extra: str) -> Takedown:
    crawls = sharding.places(Path(crawl)) if crawl else []
    return takedown.of(*crawls, extra=Path(extra) if extra else None)
