"""The files of an export while they are written: an encoder per file, and a limited number of open files."""

import contextlib
import io
import os
import signal
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from windrow.config import ConfigError
from windrow.corpus.formats.format import Encoder, Format, FormatOptions, Item
from windrow.io import streams

OPEN = 64  # files kept open
MOST_TABLES = 256  # files of a columnar format at once: each keeps rows in memory until it ends


class Sink:
    """Encodes documents into files, or into standard output."""

    def __init__(self, format: Format, options: FormatOptions, standard_output: bool = False) -> None:
        self._format, self._options = format, options
        self._encoders: dict[Path, Encoder] = {}
        self._streams: dict[Path, BinaryIO] = {}
        self._files: _Destination = _StandardOutput() if standard_output else _OpenFiles()

    def add(self, path: Path, item: Item) -> int:
        """Return the document's bytes before compression."""
        encoder = self._encoders.get(path) or self._open(path)
        return encoder.add(item)

    def put(self, path: Path, data: bytes) -> int:
        """Add a document that another process has encoded, in a format that encodes each document alone."""
        if path not in self._encoders:
            self._open(path)
        self._streams[path].write(data)
        return len(data)

    def touch(self, path: Path) -> None:
        """Make a file that holds no document."""
        self._open(path)

    def finish(self, path: Path) -> None:
        """Complete a file that gets no more documents."""
        self._encoders.pop(path).close()
        del self._streams[path]
        self._files.close(path)

    def close(self) -> None:
        for path in list(self._encoders):
            self.finish(path)

    def drop(self) -> None:
        """Close the files as they are: the export failed, and they will be removed."""
        self._files.drop()
        self._encoders.clear()
        self._streams.clear()

    def _open(self, path: Path) -> Encoder:
        if self._format.columnar and len(self._encoders) >= MOST_TABLES:
            problem = f"this format cannot write more than {MOST_TABLES} files at once"
            raise ConfigError(f"{problem}; split the corpus by tld or language, or filter it")
        stream = self._streams[path] = self._files.stream(path)
        opened = self._encoders[path] = self._format.open(stream, self._options)
        return opened


class _Destination(Protocol):
    def stream(self, path: Path) -> BinaryIO: ...  # a new, empty file
    def close(self, path: Path) -> None: ...
    def drop(self) -> None: ...


class _OpenFiles:
    """Files by path, of which OPEN are open at a time: a closed one is reopened at its end when more is written."""

    def __init__(self) -> None:
        self._open: dict[Path, BinaryIO] = {}  # the longest unused first
        self._dropped = False

    def stream(self, path: Path) -> BinaryIO:
        self._file(path, "wb")
        return typing.cast(BinaryIO, _EncoderStream(lambda data: self._write(path, data)))

    def close(self, path: Path) -> None:
        file = self._open.pop(path, None)
        if file is not None:
            file.close()

    def drop(self) -> None:
        self._dropped = True
        for file in self._open.values():
            with contextlib.suppress(OSError):  # the error that ended the export is reported, not this one
                file.close()
        self._open.clear()

    def _write(self, path: Path, data: bytes) -> None:
        if not self._dropped:  # pyarrow writes a footer when its writer is collected
            self._file(path, "ab").write(data)

    def _file(self, path: Path, mode: str) -> BinaryIO:
        file = self._open.pop(path, None)
        if file is None:
            if len(self._open) >= OPEN:
                self._open.pop(next(iter(self._open))).close()
            plain = typing.cast(BinaryIO, path.open(mode))
            pack = streams.packer(path)
            file = typing.cast(BinaryIO, _PackedEnd(plain, pack(plain))) if pack else plain
        self._open[path] = file
        return file


class _StandardOutput:
    def stream(self, path: Path) -> BinaryIO:
        return typing.cast(BinaryIO, _EncoderStream(write_out))

    def close(self, path: Path) -> None:
        flush_out()

    def drop(self) -> None:
        self.close(Path())


def write_out(data: bytes) -> None:
    """Write to standard output. End silently if its reader has closed it."""
    with _pipe():
        sys.stdout.buffer.write(data)


def flush_out() -> None:
    with _pipe():
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def _pipe() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Python flushes the rest of the buffer at exit: send it nowhere, or the same error is printed again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has closed the pipe: end silently, as other filters do
            raise SystemExit(128 + signal.SIGPIPE) from None
        raise OSError(error.errno, error.strerror, "standard output") from None


class _EncoderStream(io.RawIOBase):
    """The file object that an encoder writes to. The sink closes the file, so a library may close this object."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._write(data)
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position


class _PackedEnd:
    """A gzip member or a zstd frame at the end of a file."""

    def __init__(self, plain: BinaryIO, packed: BinaryIO) -> None:
        self._plain, self._file = plain, packed

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def close(self) -> None:
        self._file.close()
        self._plain.close()
