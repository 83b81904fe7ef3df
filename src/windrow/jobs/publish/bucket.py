"""`windrow publish DIR s3://…`: an archive in the folders of Common Crawl, with lists of paths and indexes.

    crawl-data/CRAWL/segments/SEGMENT/{warc,robotstxt,crawldiagnostics,wat,wet}/NAME
    crawl-data/CRAWL/*.paths.gz                                  the paths of all files, by kind
    cc-index/collections/CRAWL/indexes/cdx-*.gz, cluster.idx     ZipNum
    cc-index/table/cc-main/warc/crawl=CRAWL/subset=…/*.parquet   the table

Only committed bytes are published. Records of pages on the takedown list are left out of the copies, and the indexes
have the offsets in the copies. A run copies what is new; lists come last, so that they name only what is there.
"""

import bisect
import functools
import gzip
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from windrow import archive, takedown, urls
from windrow.archive import ArchiveError, cdxj, names
from windrow.config import ConfigError
from windrow.io import storage
from windrow.jobs.engine.runs import SortedLines
from windrow.jobs.index import manifest, merge, sources, zipnum
from windrow.jobs.index.manifest import IndexedFile
from windrow.jobs.index.sources import IndexSource
from windrow.takedown import Takedown

STATE = "published.json"  # beside the lists: what a later run need not copy again
DERIVED = ("wat", "wet")
LISTS = {"crawldiagnostics": "non200responses"}  # subset -> name of its list, where that differs
_OBJECT_STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs")  # they have no folders; to make one could make a bucket
_PIECE = 1 << 20  # bytes copied at once


class BucketOptions(msgspec.Struct, frozen=True, kw_only=True):
    directory: Path
    target: str  # URL or directory
    crawl: str = ""  # empty: the name of the directory
    takedown: Path | None = None


class BucketSummary(msgspec.Struct, kw_only=True):
    target: str
    files: int = 0  # archive files at the target
    copied: int = 0  # of these, by this run
    captures: int = 0
    left_out: int = 0  # records of pages on the takedown list, in the files of this run
    bytes: int = 0  # copied


class PublishedFile(msgspec.Struct, frozen=True, kw_only=True):
    source: int  # bytes of the file here that were copied, without those of the takedown list
    takedown: str  # fingerprint of the lists
    length: int


def run(options: BucketOptions, watch: Callable[[int], None]) -> BucketSummary:
    """Bring the target up to date."""
    inputs = sources.find([options.directory], options.crawl)
    if not inputs.crawls:
        raise ConfigError(f"{options.directory} has no crawl.toml, so it is not a crawl's directory; name another")
    crawl = options.crawl or options.directory.resolve().name
    files = {names.published(crawl, source.name): source for source in inputs.sources}
    for directory in dict.fromkeys((options.directory.absolute(), *inputs.crawls)):
        files |= dict(_derived(directory, crawl))
    work = _Bucket(options, crawl, inputs.crawls)
    try:
        with tempfile.TemporaryDirectory(prefix="windrow-") as scratch:
            work.copy(files, Path(scratch), watch)
            work.index({path: file for path, file in files.items() if file.subset not in DERIVED}, Path(scratch))
    except ArchiveError as error:
        raise ConfigError(f"{error}; restore the file from a copy") from None
    work.lists(list(files))
    return work.summary


def _derived(directory: Path, crawl: str) -> Iterator[tuple[str, IndexSource]]:
    """Yield the WAT and WET files, in the segment of the archive file they were made of."""
    for kind in DERIVED:
        for path in storage.walk(directory / kind, f".warc.{kind}.gz"):
            name = path.relative_to(directory).as_posix()
            segment = names.segment(name)
            yield (
                f"crawl-data/{crawl}/segments/{segment}/{kind}/{path.name}",
                IndexSource(
                    path=str(path),
                    name=name,
                    length=path.stat().st_size,
                    crawl=crawl,
                    subset=kind,
                    segment=segment,
                ),
            )


class _Bucket:
    """A target, and what is at it."""

    def __init__(self, options: BucketOptions, crawl: str, crawls: Sequence[Path]) -> None:
        """`crawls`: the directory of the crawl, or those of its shards."""
        self.summary = BucketSummary(target=options.target)
        self._crawl, self._lists = crawl, manifest.fingerprint(crawls, options.takedown)
        self._takedown = takedown.of(*crawls, extra=options.takedown)
        self._target = options.target.rstrip("/")
        self._system, self._root = storage.filesystem(self._target)
        self._omitted: dict[str, list[tuple[int, int]]] = {}  # path -> offset and length of what is left out

    def copy(self, files: Mapping[str, IndexSource], scratch: Path, watch: Callable[[int], None]) -> None:
        """Copy the files that the target does not have as they are now."""
        state = self._state()
        done: dict[str, PublishedFile] = {}
        for path, source in files.items():
            omitted = self._omitted[path] = list(_listed(source, self._takedown))
            length = source.length - sum(size for _, size in omitted)
            done[path] = PublishedFile(source=source.length, takedown=self._lists, length=length)
            if state.get(path) != done[path] or not self._has(path, length):
                self._put(_copied(source, omitted, scratch / "copy"), path)
                self.summary.copied += 1
                self.summary.bytes += length
                self.summary.left_out += len(omitted)
            watch(source.length)
        self.summary.files = len(files)
        (scratch / STATE).write_bytes(msgspec.json.format(msgspec.json.encode(done)))
        self._put(scratch / STATE, f"crawl-data/{self._crawl}/{STATE}")

    def index(self, files: Mapping[str, IndexSource], scratch: Path) -> None:
        """Write the indexes of the copies."""
        indexed = []
        with SortedLines() as lines:
            for path, source in files.items():
                count = 0
                for count, line in enumerate(self._lines(path, source), 1):  # noqa: B007 - the last one is the count
                    lines.add(line)
                indexed.append(_entry(path, source, self._crawl, count))
                self.summary.captures += count
            new = scratch / "index"
            new.mkdir()
            merge.write(new, lines, indexed)
        collection = f"cc-index/collections/{self._crawl}/indexes"
        shards = [*new.glob("cdx-*.gz"), new / zipnum.CLUSTER]
        self._replace(collection, {f"{collection}/{path.name}": path for path in shards})
        tables = storage.walk(new / merge.TABLE, ".parquet")
        home = "cc-index/table/cc-main/warc"
        inner = {f"{home}/{path.relative_to(new / merge.TABLE).as_posix()}": path for path in tables}
        self._replace(f"{home}/crawl={self._crawl}", inner)

    def lists(self, paths: Sequence[str]) -> None:
        """Write the lists of paths, one per kind."""
        kinds: dict[str, list[str]] = {"segments": sorted({path.rsplit("/", 2)[0] for path in paths})}
        for path in paths:
            subset = path.split("/")[-2]
            kinds.setdefault(LISTS.get(subset, subset), []).append(path)
        kinds["cc-index"] = self._found(f"cc-index/collections/{self._crawl}/indexes")
        kinds["cc-index-table"] = self._found(f"cc-index/table/cc-main/warc/crawl={self._crawl}")
        for kind, files in kinds.items():
            data = gzip.compress("".join(f"{path}\n" for path in sorted(files)).encode(), mtime=0)
            location = f"{self._target}/crawl-data/{self._crawl}/{kind}.paths.gz"
            storage.attempt(location, functools.partial(self._system.pipe_file, storage.path(location), data))

    def _lines(self, path: str, source: IndexSource) -> Iterator[bytes]:
        """Yield the index lines of a file, with the offsets in its copy."""
        starts, before = [0], [0]
        for offset, length in self._omitted[path]:
            starts.append(offset)
            before.append(before[-1] + length)
        refuses = (lambda url: _covers(self._takedown, url)) if self._takedown else None
        for line in cdxj.CdxLines(Path(source.path), path, source.length).read(refuses):
            if len(before) > 1:
                key, moment, values = line.split(b" ", 2)
                fields = json.loads(values)
                offset = int(fields["offset"])
                fields["offset"] = str(offset - before[bisect.bisect_right(starts, offset) - 1])
                line = b"%b %b %b\n" % (key, moment, json.dumps(fields).encode())
            yield line

    def _state(self) -> dict[str, PublishedFile]:
        location = f"{self._target}/crawl-data/{self._crawl}/{STATE}"
        try:
            data = self._system.cat_file(storage.path(location))
            return msgspec.json.decode(data, type=dict[str, PublishedFile])
        except FileNotFoundError:
            return {}
        except msgspec.MsgspecError:
            return {}  # a damaged state costs a second copy, and nothing else
        except Exception as error:  # each driver has its own exceptions
            fix = "check the address and the keys"
            raise ConfigError(f"{location} cannot be read: {storage.describe(error)}; {fix}") from None

    def _has(self, path: str, length: int) -> bool:
        location = f"{self._target}/{path}"
        there = storage.path(location)
        try:
            return bool(self._system.size(there) == length)
        except FileNotFoundError:
            return False

    def _put(self, local: Path, path: str) -> None:
        location = f"{self._target}/{path}"
        there = storage.path(location)

        def put() -> None:
            if storage.scheme(location) not in _OBJECT_STORES:
                self._system.makedirs(there.rpartition("/")[0], exist_ok=True)
            self._system.put_file(str(local), there)

        storage.attempt(location, put)

    def _replace(self, folder: str, wanted: Mapping[str, Path]) -> None:
        """Put files into a folder, and remove those that an earlier run left there."""
        for path, local in wanted.items():
            self._put(local, path)
        for path in set(self._found(folder)) - set(wanted):
            location = f"{self._target}/{path}"
            storage.attempt(location, functools.partial(self._system.rm_file, storage.path(location)))

    def _found(self, folder: str) -> list[str]:
        """Return the files of a folder, relative to the target."""
        location = f"{self._target}/{folder}"
        self._system.invalidate_cache()
        names: Sequence[str] = storage.attempt(location, lambda: self._system.find(storage.path(location)))
        return sorted(path[len(self._root) :].lstrip("/") for path in names)


def _entry(path: str, source: IndexSource, crawl: str, captures: int) -> IndexedFile:
    return IndexedFile(
        name=path,
        length=source.length,
        crawl=crawl,
        subset=source.subset,
        segment=source.segment,
        captures=captures,
    )


def _covers(listed: Takedown, target: str) -> bool:
    url = urls.parse(target)
    return url is not None and listed.covers(url.text)


def _listed(source: IndexSource, listed: Takedown) -> Iterator[tuple[int, int]]:
    """Yield offset and length of the records of a file that are on the takedown list."""
    if not listed:
        return
    for record in archive.records(Path(source.path), end=source.length):
        if record.target and _covers(listed, record.target):
            if not record.length:
                what = "the record that begins here shares its gzip member, so it cannot be left out"
                raise ArchiveError(Path(source.path), record.offset, what)
            yield record.offset, record.length


def _copied(source: IndexSource, omitted: Sequence[tuple[int, int]], copy: Path) -> Path:
    """Return a file with what is to be published: the file itself, if that is all of it."""
    path = Path(source.path)
    if not omitted and path.stat().st_size == source.length:
        return path
    starts = [0, *(offset + length for offset, length in omitted)]
    ends = [*(offset for offset, _ in omitted), source.length]
    with path.open("rb") as file, copy.open("wb") as out:
        for start, end in zip(starts, ends, strict=True):
            file.seek(start)
            while start < end and (piece := file.read(min(_PIECE, end - start))):
                out.write(piece)
                start += len(piece)
    return copy
