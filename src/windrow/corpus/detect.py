"""Document files of any origin, for `windrow dedup`: detect the format of a file, and read one document at a time."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from windrow.corpus.formats import FORMATS
from windrow.corpus.formats.format import DocumentRecord
from windrow.io.storage import AnyPath
from windrow.io.streams import PACKERS, ByteStream

SNIFF = 1 << 18  # bytes looked at to detect a format
READERS = {name: format.read for name, format in FORMATS.items() if format.read}
SUFFIXES = {suffix: name for name, format in FORMATS.items() for suffix in format.suffixes}


def read(path: AnyPath, format: str = "", length: int | None = None) -> Iterator[tuple[DocumentRecord, int]]:
    """Yield the documents of a file in order, each with the position in the file where it ends.

    `format`: one of READERS; empty: detect it. `length`: read this many bytes of the file; None: all of it.
    """
    with contextlib.closing(ByteStream(path, length)) as stream:
        for record in READERS[format or _detect(stream)](stream):
            yield record, stream.position


def detect(path: AnyPath) -> str:
    """Return the format of a file, by its content and, where that decides nothing, by its name."""
    with contextlib.closing(ByteStream(path)) as stream:
        return _detect(stream)


def by_name(path: AnyPath) -> str:
    """Return the format that a file's name promises; empty: none."""
    suffixes = [suffix for suffix in PurePosixPath(path.name).suffixes if suffix.lower() not in PACKERS]
    return SUFFIXES.get(suffixes[-1], "") if suffixes else ""


def _detect(stream: ByteStream) -> str:
    start = stream.peek(SNIFF)
    if b"\0" in start or start.startswith((b"PAR1", b"BZh", b"\x28\xb5\x2f\xfd", b"%PDF")):
        raise stream.error(f"not text; expected {', '.join(READERS)}, plain, gzip or zstd")
    lines = [line for line in start.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    promised = by_name(stream.path)
    if not lines:
        return promised or "text"
    if lines[0].lstrip()[:1] == b"{":
        return "jsonl"
    if not re.match(rb"<[?!/A-Za-z]", lines[0]):
        return "vertical" if promised == "vertical" else _text(stream, lines[0], promised)
    tokens = [line for line in (lines[:-1] or lines) if line[:1] != b"<"]
    if b"<g/>" in lines or any(b"\t" in line for line in tokens):
        return "vertical"
    return "prevertical" if any(b" " in line.strip() for line in tokens) else promised or "vertical"


def _text(stream: ByteStream, line: bytes, promised: str) -> str:
    if promised not in ("", "text"):
        shown = repr(line[:40].decode("utf-8", "replace"))
        raise stream.error(f"{shown} does not begin a {promised} file; if it has another format, use --format")
    return "text"
