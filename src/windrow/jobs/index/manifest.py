"""index.json: what an index was made of."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from windrow import files, takedown
from windrow.archive import Damage
from windrow.config import ConfigError
from windrow.io import storage
from windrow.io.storage import AnyPath

FILE = "index.json"
FORMAT = 2  # 1: a damaged file was indexed up to its first damage


class IndexedFile(msgspec.Struct, frozen=True, kw_only=True):
    """An archive file in the index."""

    name: str  # relative to the base
    length: int  # bytes that were indexed
    crawl: str
    subset: str
    segment: str
    captures: int = 0
    problem: str = ""  # why the file could not be read at all
    damaged: int = 0  # places that were skipped; the records before and behind them are indexed
    damages: tuple[Damage, ...] = ()  # the first of them

    def problems(self) -> list[str]:
        """Return what is wrong with the file, in one sentence per place."""
        more = self.damaged - len(self.damages)
        rest = [f"{self.damages[-1].file}: {more:,} more places are damaged"] if more else []
        return [*([self.problem] if self.problem else []), *map(str, self.damages), *rest]


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
    """Return the manifest of an index; None if there is none, or an older version wrote it: all is read again."""
    try:
        manifest = msgspec.json.decode((directory / FILE).read_bytes(), type=Manifest)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(f"{directory / FILE} cannot be read ({error}); delete {directory} and index again") from None
    if manifest.format > FORMAT:
        raise ConfigError(f"{directory / FILE}: a newer Windrow wrote this index; delete {directory} and index again")
    return manifest if manifest.format == FORMAT else None


def write(directory: Path, manifest: Manifest) -> None:
    files.write(directory / FILE, msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")


def fingerprint(crawls: Sequence[Path], extra: Path | None) -> str:
    """Return a text that changes with the takedown lists; empty if there is none."""
    lists = takedown.lists(*crawls) + ([extra] if extra is not None else [])
    held = [path.read_bytes() for path in lists if path.exists()]
    return hashlib.sha256(b"\0".join(held)).hexdigest()[:16] if held else ""
