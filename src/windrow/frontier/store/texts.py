"""`urls.dat`: the texts of all URLs in the order of their discovery, appended through a buffer and read by offset."""

import contextlib
import os
import struct
from pathlib import Path

from windrow import files, urls
from windrow.config import ConfigError
from windrow.frontier.store.rows import HostRow
from windrow.records import Task, Url

MAGIC = b"windrow urls 2\n\0"
# priority, depth, distance, redirects, attempt (with `embed` in its two high bits: no page is tried 64 times),
# reference of the page with the link (high, low), length of the text, length of the hints, which follow it. A line end
# within the text ends the URL: the request of another program follows, see Task.
_HEAD = struct.Struct(">BHBBBHIHB")
_END = b"\n"  # of a URL with a request; no URL contains it
_USUAL = 320  # bytes read at once: few URLs are longer
_BUFFER = 1 << 17


def _attempt(task: Task) -> int:
    return min(task.attempt, 63) | min(task.embed, 3) << 6


class UrlTexts:
    """Records of URLs. The offset of a record is the reference of its URL."""

    def __init__(self, path: Path, length: int) -> None:
        """Open the file and cut it to this length (0: a new file). The log holds what came later."""
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if length and os.fstat(self._file).st_size < length:
            os.close(self._file)
            raise ConfigError(
                f"{path} is shorter than data.mdb in the same directory says; "
                f"move {path.parent} away to have it rebuilt from log/"
            )
        os.ftruncate(self._file, length)
        if not length:
            files.sync_directory(path.parent)  # after a power loss data.mdb must not exist without this file
        self._buffer = bytearray(b"" if length else MAGIC)
        self._written = length
        self.length = length + len(self._buffer)

    def append(self, task: Task, via: int) -> int:
        text = task.url.text.encode() if not task.request else task.url.text.encode() + _END + task.request
        ref = self.length
        rest = (via >> 32, via & 0xFFFFFFFF, len(text), len(task.hints))
        try:
            attempt = _attempt(task) if task.embed or task.attempt > 63 else task.attempt
            head = _HEAD.pack(task.priority, task.depth, task.distance, task.redirects, attempt, *rest)
        except struct.error:  # a count too large for its field is stored as the largest that fits
            depth, distance = min(task.depth, 65535), min(task.distance, 255)
            head = _HEAD.pack(task.priority, depth, distance, min(task.redirects, 255), _attempt(task), *rest)
        self._buffer += head
        self._buffer += text
        self._buffer += task.hints
        self.length = ref + _HEAD.size + len(text) + len(task.hints)
        if len(self._buffer) > _BUFFER:
            with contextlib.suppress(OSError):  # the buffer keeps it on a full disk; a checkpoint reports that
                self._flush()
        return ref

    def head(self, ref: int) -> tuple[int, int, int]:
        """Return the priority of a URL, its attempts, and the reference of the page that holds the link."""
        priority, _, _, _, attempt, high, low, _, _ = _HEAD.unpack(self._bytes(ref, _HEAD.size))
        return priority, attempt, high << 32 | low

    def read(self, ref: int, host: HostRow) -> Task:
        raw = self._bytes(ref, _USUAL)
        priority, depth, distance, redirects, attempt, high, low, length, more = _HEAD.unpack_from(raw)
        end = _HEAD.size + length
        if len(raw) < end + more:
            raw = self._bytes(ref, end + more)
        written, _, request = raw[_HEAD.size : end].partition(_END)
        text = written.decode()
        return Task(
            Url(text, host.name, host.domain, urls.key(text)),
            priority=priority,
            depth=depth,
            distance=distance,
            redirects=redirects,
            via=self._page(high << 32 | low),
            attempt=attempt & 63,
            embed=attempt >> 6,
            hints=raw[end : end + more],
            request=request,
        )

    def _page(self, ref: int) -> str:
        if not ref:
            return ""
        raw = self._bytes(ref, _USUAL)
        end = _HEAD.size + _HEAD.unpack_from(raw)[7]
        if len(raw) < end:
            raw = self._bytes(ref, end)
        return raw[_HEAD.size : end].partition(_END)[0].decode()

    def _bytes(self, ref: int, length: int) -> bytes:
        if ref >= self._written:
            start = ref - self._written
            return bytes(self._buffer[start : start + length])
        return os.pread(self._file, length, ref)  # only whole records are flushed: none lies partly in the buffer

    def _flush(self) -> None:
        self._written = files.append(self._file, self._buffer, self._written, self._path)
        self._buffer.clear()

    def sync(self) -> int:
        """Make all records durable; return the length of the file."""
        self._flush()
        os.fdatasync(self._file)
        return self._written

    def close(self) -> None:
        os.close(self._file)
