"""Plain text. Written with one paragraph per line and an empty line after each document, as in CC-100.

Read with empty lines between paragraphs, because files of other origin may have wrapped lines. So of a file that was
written here, each document is read as one paragraph.
"""

import functools
import re
from collections.abc import Iterator, Sequence

from windrow.corpus.formats.format import DocumentRecord, FormatOptions, Item
from windrow.io.streams import ByteStream

# Bytes read as one document: plain text does not mark where a document ends, and memory must stay bounded.
MOST = 8 << 20


def encode(item: Item, options: FormatOptions) -> bytes:
    """Leave out empty paragraphs, which would end the document."""
    texts = [paragraph.text for paragraph in item.document.paragraphs if paragraph.text]
    return "\n".join([*texts, "\n"]).encode()


def read(stream: ByteStream) -> Iterator[DocumentRecord]:
    """Yield the file as one document, or as several of about MOST bytes that end at a blank line."""
    lines: list[bytes] = []
    size = 0
    for line in stream.parts(b""):
        lines.append(line)
        size += len(line)
        if size > MOST and (not line.strip() or size > 4 * MOST):
            yield _record(stream, b"".join(lines))
            lines, size = [], 0
    if lines:
        yield _record(stream, b"".join(lines))


def _record(stream: ByteStream, raw: bytes) -> DocumentRecord:
    stream.check(raw)
    paragraphs = [paragraph for paragraph in re.split(rb"\n[ \t\r]*(?=\n)", raw) if paragraph.strip()]
    paragraphs = [paragraph.strip(b"\r\n") for paragraph in paragraphs]
    end = b"\n\n" if raw.endswith((b"\n\n", b"\n\r\n")) else b"\n"
    return DocumentRecord(raw, paragraphs, functools.partial(_strip, paragraphs, end))


def _strip(paragraphs: list[bytes], end: bytes, kept: Sequence[bool]) -> bytes:
    return b"\n\n".join(paragraph for paragraph, keep in zip(paragraphs, kept, strict=True) if keep) + end
