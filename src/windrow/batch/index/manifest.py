"""index.json: what an index was made of."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from windrow import files, storage, takedown
from windrow.config import ConfigError
from windrow.storage import AnyPath

FILE = "index.json"
FORMAT = 1


class IndexedFile(msgspec.Struct, frozen=True, kw_only=True):
    """An archive file in the index."""

    name: str  # relative to the base
    length: int  # bytes that were indexed
    crawl: str
    subset: str
    segment: str
    captures: int = 0
    problem: str = ""  # where the file is damaged: everything before that is indexed


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    format: int = FORMAT
    base: str = ""  # directory of the names of the archive files; relative to that of the index, if that is below it
    takedown: str = ""  # fingerprint of the takedown lists that were respected
    merged: bool = False  # whether shards and table have exactly these files
    files: tuple[IndexedFile, ...] = ()

    def root(self, directory: Path) -> AnyPath:
        """Return the directory or the address of the archive files."""
        return storage.place(self.base) if storage.is_remote(self.base) else directory / self.base

    def known(self) -> Mapping[str, IndexedFile]:
        return {file.name: file for file in self.files}


def read(directory: Path) -> Manifest | None:
    """Return the manifest of an index; None if there is none."""
    try:
        found = msgspec.json.decode((directory / FILE).read_bytes(), type=Manifest)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(f"{directory / FILE} cannot be read ({error}); delete {directory} and index again") from None
    if found.format != FORMAT:
        raise ConfigError(f"{directory / FILE}: a newer Windrow wrote this index; delete {directory} and index again")
    return found


def write(directory: Path, manifest: Manifest) -> None:
    files.write(directory / FILE, msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")


def fingerprint(crawls: Sequence[Path], extra: Path | None) -> str:
    """Return a text that changes with the takedown lists; empty if there is none."""
    lists = [crawl / takedown.FILE for crawl in crawls] + ([extra] if extra is not None else [])
    held = [path.read_bytes() for path in lists if path.exists()]
    return hashlib.sha256(b"\0".join(held)).hexdigest()[:16] if held else ""
