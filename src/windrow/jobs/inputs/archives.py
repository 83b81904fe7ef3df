"""The files that a batch job reads: files, directories, crawls, addresses, and lists of paths as Common Crawl has them.

Most jobs read archive files. A job that asks for them gets the shards of a corpus too: files of documents.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath, PurePosixPath

from windrow import archive, log
from windrow.config import ConfigError
from windrow.corpus import reader, shards
from windrow.io import storage
from windrow.io.storage import AnyPath, RemotePath
from windrow.io.streams import ByteStream

SUFFIXES = (".warc", ".wat", ".wet", ".arc")  # before a suffix of compression
PACKED = (".gz", ".zst")
LIST = (".paths", ".txt")  # a file with one path per line
_NAMES = (*SUFFIXES, *[f"{suffix}{packed}" for suffix in SUFFIXES for packed in PACKED])
_LONGEST = 4096  # bytes of a line of a list
_BUCKET = "crawl-data/"  # where the paths in the lists of a published archive begin, below the bucket


def find(inputs: Sequence[str | Path], subset: str = "warc", base: str = "", documents: bool = False) -> list[str]:
    """Return paths and addresses of archive files, each once, in the order of the inputs; within a directory by name.

    Of a crawl directory only this subset is read: "warc", "robotstxt" or "diagnostics". `base`: where the relative
    paths of lists begin. `documents`: the subset may be "corpus", and a directory without archive files gives its
    document files.
    """
    places = [storage.place(os.fspath(given)) for given in inputs]
    paths = [path for given in places for path in _of(given, subset, base, documents)]
    if not paths:
        shown = ", ".join(map(str, inputs))
        more = ", files of documents" if documents else ""
        raise ConfigError(f"there is no archive file in {shown}; name WARC, WAT, WET or ARC files{more}, or a crawl")
    return list(dict.fromkeys(map(str, paths)))


def is_named(path: PurePath) -> bool:
    """Return whether the name of a file says that it is an archive."""
    return path.name.lower().endswith(_NAMES)


def is_documents(source: str) -> bool:
    """Return whether the name of a file says that it holds documents."""
    return source.endswith(reader.SUFFIXES)


def _of(given: AnyPath, subset: str, base: str, documents: bool) -> Iterator[AnyPath]:
    if isinstance(given, Path) and given.is_dir():
        yield from _of_directory(given, subset, documents)
    elif isinstance(given, Path) and not given.exists():
        raise ConfigError(f"there is no file or directory {given}; check the path")
    elif not is_named(PurePosixPath(given.name)) and _is_list(given):
        yield from _listed(given, base)
    elif isinstance(given, RemotePath) and not (is_named(PurePosixPath(given.name)) or is_documents(given.name)):
        yield from map(RemotePath, _below(given.address, documents))
    else:
        yield given


def _of_directory(given: Path, subset: str, documents: bool) -> Iterator[Path]:
    crawl = bool(log.names(given / "log"))
    if documents and crawl and subset == shards.DIRECTORY:
        yield from (shard.path for shard in reader.find(given))
        return
    root = given / subset if crawl else given
    paths = sorted(path for path in root.rglob("*") if is_named(path) and path.is_file())
    yield from paths
    if documents and not paths and not crawl:
        yield from storage.walk(given, reader.SUFFIXES)


def _below(address: str, documents: bool) -> list[str]:
    """Return the files of a remote folder."""
    names = storage.find(address, _NAMES)
    return names or (storage.find(address, reader.SUFFIXES) if documents else [])


def _is_list(given: AnyPath) -> bool:
    name = PurePosixPath(given.name)
    stem = PurePosixPath(name.stem) if name.suffix.lower() in PACKED else name
    return stem.suffix.lower() in LIST and not archive.is_archive(given)


def _listed(given: AnyPath, base: str) -> Iterator[AnyPath]:
    """Yield the paths of a list."""
    stream = ByteStream(given)
    try:
        for number, line in enumerate(stream.parts(b""), 1):
            text = line.decode("utf-8", "replace").strip()[:_LONGEST]
            if not text or text.startswith("#"):
                continue
            path = storage.place(text) if storage.is_remote(text) else _start(given, text, base) / text
            if isinstance(path, Path) and not path.is_file():
                fix = "correct the list, or name the place where its paths begin with --base"
                raise ConfigError(f"{given}, line {number}: there is no file {path}; {fix}")
            yield path
    finally:
        stream.close()


def _start(given: AnyPath, text: str, base: str) -> AnyPath:
    """Return where a relative path of a list begins: at the base, at the bucket, or at the directory of the list."""
    if base:
        return storage.place(base)
    before, bucket, _ = str(given.absolute()).rpartition(f"/{_BUCKET}")
    return storage.place(before) if bucket and text.startswith((_BUCKET, "cc-index/")) else given.parent
