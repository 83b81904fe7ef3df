"""The archive files that a batch job reads: files, directories, crawls, and lists of paths as Common Crawl has them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from windrow import archive, log
from windrow.config import ConfigError
from windrow.streams import ByteStream

SUFFIXES = (".warc", ".wat", ".wet", ".arc")  # before a suffix of compression
PACKED = (".gz", ".zst")
LIST = (".paths", ".txt")  # a file with one path per line
_LONGEST = 4096  # bytes of a line of such a file


def find(inputs: Sequence[Path], subset: str = "warc") -> list[str]:
    """Return the paths of archive files, each once, in the order of the inputs; within a directory by name.

    Of a crawl directory only this subset is read: "warc", "robotstxt" or "diagnostics".
    """
    found = [path for given in inputs for path in _of(given, subset)]
    if not found:
        shown = ", ".join(map(str, inputs))
        raise ConfigError(f"there is no archive file in {shown}; name WARC, WAT, WET or ARC files, or a crawl")
    return list(dict.fromkeys(map(str, found)))


def is_named(path: Path) -> bool:
    """Return whether the name of a file says that it is an archive."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return bool(suffixes) and (suffixes[-1] in SUFFIXES or (suffixes[0] in SUFFIXES and suffixes[-1] in PACKED))


def _of(given: Path, subset: str) -> Iterator[Path]:
    if given.is_dir():
        root = given / subset if log.names(given / "log") else given
        yield from sorted(path for path in root.rglob("*") if is_named(path) and path.is_file())
    elif not given.exists():
        raise ConfigError(f"there is no file or directory {given}; check the path")
    elif not is_named(given) and _is_list(given):
        yield from _listed(given)
    else:
        yield given


def _is_list(given: Path) -> bool:
    stem = Path(given.stem) if given.suffix.lower() in PACKED else given
    return stem.suffix.lower() in LIST and not archive.is_archive(given)


def _listed(given: Path) -> Iterator[Path]:
    """Yield the paths of a list. A relative one begins at the directory of the list."""
    stream = ByteStream(given)
    try:
        for number, line in enumerate(stream.parts(b""), 1):
            text = line.decode("utf-8", "replace").strip()
            if not text or text.startswith("#"):
                continue
            path = given.parent / text[:_LONGEST]
            if not path.is_file():
                raise ConfigError(f"{given}, line {number}: there is no file {path}; lists name files of this machine")
            yield path
    finally:
        stream.close()
