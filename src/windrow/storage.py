"""Files that are elsewhere: s3://, https:// and everything else for which fsspec has a driver.

Only this module imports fsspec. A path without a scheme is a file here and needs no library. The settings of a driver
(keys, endpoint, region) come from where its users keep them: the environment and configuration files of AWS for s3.
"""

import datetime
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from windrow.config import ConfigError

FileSystem = Any  # of fsspec, which has no types

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://")
_DRIVERS = {"s3": "s3", "s3a": "s3", "http": "s3", "https": "s3"}  # scheme -> extra that has the driver


def is_remote(place: str) -> bool:
    """Return whether a place is a URL."""
    return _SCHEME.match(place) is not None


def scheme(place: str) -> str:
    found = _SCHEME.match(place)
    return found[1] if found else ""


def without_password(place: str) -> str:
    """Return an address as it may be shown."""
    return re.sub(r"([?&;]password=)[^&;]*", r"\1…", re.sub(r"(://[^:/@]*):[^/]*@", r"\1@", place))


def path(place: str) -> str:
    """Return the path of a place in its file system: of http the URL itself, of others what follows the scheme."""
    return place.partition("://")[2] if scheme(place) not in ("", "http", "https") else place


def filesystem(place: str) -> tuple[FileSystem, str]:
    """Return the file system of a URL, and the path of the URL in it."""
    name = scheme(place)
    extra = _DRIVERS.get(name, "s3")
    try:
        import fsspec

        found, name_there = fsspec.core.url_to_fs(place)
    except ImportError as error:
        fix = f"install it with: pip install 'windrow-corpus[{extra}]'"
        raise ConfigError(f"{place}: reading and writing {name}:// needs another library ({error}); {fix}") from None
    except ValueError as error:
        raise ConfigError(f"{place}: {error}; known are for example s3:// and https://") from None
    return found, str(name_there)


def attempt(place: str, action: Callable[[], Any]) -> Any:
    """Do something with a remote file; an error of any driver becomes one sentence."""
    try:
        return action()
    except ConfigError:
        raise
    except FileNotFoundError:
        raise ConfigError(f"{place}: there is no such file or folder; check the address") from None
    except Exception as error:  # each driver has its own exceptions
        raise ConfigError(f"{place} cannot be reached: {describe(error)}; check the address and the keys") from None


def describe(error: BaseException) -> str:
    """Return the text of an error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def find(place: str, suffix: str) -> list[str]:
    """Return the URLs of the files below a remote folder, or of the one file that the URL names, in order."""
    if place.endswith(suffix):
        return [place]
    system, folder = filesystem(place)
    found: Sequence[str] = attempt(place, lambda: system.find(folder))
    return [str(system.unstrip_protocol(name)) for name in sorted(found) if name.endswith(suffix)]


def for_duckdb(place: str) -> FileSystem:
    """Return the file system of a URL as DuckDB accepts it: it asks for a time of change, which http does not know."""
    system, _ = filesystem(place)
    if scheme(place) in ("http", "https"):
        system.modified = lambda path: datetime.datetime.fromtimestamp(0, datetime.UTC)
    return system


def walk(folder: Path, suffixes: str | tuple[str, ...]) -> list[Path]:
    """Return the files below a folder here whose names end in this way, in order; skip what vanishes meanwhile."""
    found = (Path(parent) / name for parent, _, names in os.walk(folder) for name in names if name.endswith(suffixes))
    return sorted(path for path in found if path.is_file())
