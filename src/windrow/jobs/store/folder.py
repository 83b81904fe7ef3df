"""The files of an object storage, in verbs that hold for every file system.

`create` is what the rest stands on: of several processes that create the same file, on any machines, one succeeds. S3
does it with a condition, a directory with a hard link, WebHDFS with a rename, which needs a free name there. A file
system that has none of these looks first, and writes then: `exclusive` is False.
"""

import contextlib
import functools
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from windrow import files
from windrow.config import ConfigError
from windrow.io import drivers, storage
from windrow.jobs.store.protocol import StorageLost

# How a complete file gets its name, by the protocol of the file system: an object is written whole; a file here is
# renamed over the old one; elsewhere (HDFS) a rename needs a name that is free.
_WHOLE = ("s3", "s3a", "gs", "gcs", "abfs", "az", "memory")
_RENAMED = ("file", "local")
_EXCLUSIVE = ("s3", "s3a", "file", "local", "webhdfs")
_NEW, _READY = ".new", ".ready"  # being written; complete, and newer than the file without this suffix
_REFUSED = ("PreconditionFailed", "ConditionalRequestConflict")  # codes of S3: the file exists
_UNKNOWN = ("NotImplemented",)  # an older server that speaks the language of S3


class Folder:
    """A folder of a file system. Paths are whole ones. `shown`: its address for messages."""

    def __init__(self, system: Any, root: str, shown: str) -> None:
        self._system, self.root, self.shown = system, root, shown
        protocol = drivers.protocol(system)
        self._whole, self._renamed = protocol in _WHOLE, protocol in _RENAMED
        self.exclusive = protocol in _EXCLUSIVE
        self.writer = secrets.token_hex(4)  # a name for this process

    def check(self) -> None:
        """Refuse an address that cannot be written."""
        own = f"{self.root}/.windrow"
        if not self._whole and not self._renamed:
            own = f"{own}.{self.writer}"  # two processes may do this at the same time
            self._system.makedirs(self.root, exist_ok=True)
            self._system.pipe_file(own, b"windrow store\n")
            self._system.rm_file(own)
        else:
            self._replace(own, b"windrow store\n")

    def read(self, path: str) -> bytes:
        """Return the content of a file; empty: there is none."""
        try:
            return bytes(self._tried(lambda: self._system.cat_file(path)))
        except FileNotFoundError:
            return b""

    def names(self, *folders: str) -> list[str]:
        """Return the paths of the files below some folders, in order."""
        self._tried(self._system.invalidate_cache)
        paths = []
        for folder in folders:
            with contextlib.suppress(FileNotFoundError):
                paths += self._tried(functools.partial(drivers.below, self._system, folder))
        return sorted(paths)

    def replace(self, path: str, data: bytes) -> None:
        """Write a file. A reader sees the old content or the new one, or for a moment none."""
        self._tried(lambda: self._replace(path, data))

    def create(self, path: str, data: bytes) -> bool:
        """Write a file that does not exist; return False if another process has done so.

        A driver repeats a request whose answer was lost, and the second one finds what the first one has written.
        """
        return bool(self._tried(lambda: self._create(path, data))) or self.read(path) == data

    def delete(self, path: str) -> None:
        """Remove a file, if there is one."""
        self._tried(self._system.invalidate_cache)
        with contextlib.suppress(FileNotFoundError):
            self._tried(lambda: self._system.rm_file(path))

    def recover(self, *folders: str) -> None:
        """Finish or undo what a kill has interrupted."""
        if self._whole:
            return
        for path in self.names(*folders):
            if path.endswith(_NEW):
                self.delete(path)
            elif path.endswith(_READY):
                self._tried(functools.partial(self._finish, path.removesuffix(_READY)))

    def _create(self, path: str, data: bytes) -> bool:
        if self.exclusive:
            done = self._conditional if self._whole else self._linked if self._renamed else self._moved
            made = done(path, data)
            if made is not None:
                return made
            self.exclusive = False
        if self.read(path):
            return False
        self._replace(path, data)
        return True

    def _conditional(self, path: str, data: bytes) -> bool | None:
        """Create an object; None: the server has no conditional writes."""
        try:
            self._system.pipe_file(path, data, IfNoneMatch="*")
        except Exception as error:  # the driver makes several of them
            code = getattr(error.__cause__, "response", {}).get("Error", {}).get("Code", "")
            if code in _UNKNOWN:
                return None
            if code in _REFUSED:
                return False
            raise
        return True

    def _linked(self, path: str, data: bytes) -> bool | None:
        """Create a file here; None: its file system has no hard links."""
        with self._own(path) as own:
            files.write(Path(own), data)
            try:
                os.link(own, path)
            except FileExistsError:
                return False
            except FileNotFoundError:
                raise
            except OSError:  # each file system has a code of its own for this
                return None
            finally:
                Path(own).unlink(missing_ok=True)
            self._sync(path)
        return True

    def _moved(self, path: str, data: bytes) -> bool:
        with self._own(path) as own:
            self._system.pipe_file(own, data)
            try:
                self._system.mv(own, path)
            except FileExistsError:
                self.delete(own)
                return False
        return True

    def _replace(self, path: str, data: bytes) -> None:
        if self._whole:
            self._system.pipe_file(path, data)
            return
        with self._own(path) as own:
            if self._renamed:
                files.write(Path(own), data)  # fsspec does not sync
                Path(own).replace(path)
                return self._sync(path)
            self._system.pipe_file(own, data)
            self._system.mv(own, f"{path}{_READY}")
            self._finish(path)

    @contextlib.contextmanager
    def _own(self, path: str) -> Iterator[str]:
        """Give the name under which this process writes a file, before it gets its own."""
        self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        own = f"{path}.{self.writer}{_NEW}"
        try:
            yield own
        except FileNotFoundError:  # another process has taken it for that of a dead one
            raise StorageLost(f"{self.shown}: another process has removed {own}") from None

    def _sync(self, path: str) -> None:
        files.sync_directory(Path(path).parent)
        files.sync_directory(Path(path).parent.parent)

    def _finish(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._system.rm_file(path)
        self._system.mv(f"{path}{_READY}", path)

    def _tried(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except (FileNotFoundError, ConfigError):
            raise
        except Exception as error:  # each driver has its own exceptions
            raise StorageLost(f"{self.shown} is lost: {storage.describe(error)[:300]}") from None
