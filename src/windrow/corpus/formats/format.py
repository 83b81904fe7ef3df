"""The record of a format: how documents become the bytes of a file and, for `windrow dedup`, how they are read back.

A format of your own needs a suffix and a function that encodes one document:

    def row(item: Item, options: FormatOptions) -> bytes:
        return f"{item.document.url}\\t{item.document.title}\\n".encode()

    tsv = Format(".tsv.gz", each(row, header=b"url\\ttitle\\n"))
"""

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Protocol

import msgspec

from windrow.corpus.segment import tokens
from windrow.corpus.segment.tokens import Cut
from windrow.io.streams import ByteStream
from windrow.records import Document

Names = Callable[[str], str]  # ISO 639-3 code -> English name
Share = Callable[[str, str], float | None]  # text, ISO 639-3 code -> share of the text in it, 0 to 1; None: unknown
Strip = Callable[[Sequence[bool]], bytes]  # which paragraphs stay -> the document without the others


class Item(msgspec.Struct, frozen=True):
    """One document to write."""

    document: Document
    line: bytes  # its line in the corpus
    number: int  # its position in the export, from 1
    dump: str  # the name of its crawl


class FormatOptions(msgspec.Struct, frozen=True):
    """The options of an export that change how a document is written."""

    names: Names
    style: str = "both"  # jsonl: one of jsonl.STYLES
    places: bool = False  # prevertical and vertical: add attributes that say where a document's bytes are
    cut: Cut = tokens.builtin  # vertical: splits scripts without spaces into words
    share: Share | None = None  # measures each paragraph; None: each paragraph has its document's lang_diff
    whole: Share | None = None  # measures each document; where it is None or returns None, the document's score counts


class Encoder(Protocol):
    """Writes the documents of one output file to its stream."""

    def add(self, item: Item) -> int: ...  # bytes of the document before compression: the size of a file counts these
    def close(self) -> None: ...  # writes the end of the file; the caller closes the stream


Encode = Callable[[Item, FormatOptions], bytes]
Open = Callable[[BinaryIO, FormatOptions], Encoder]  # called once per output file; ConfigError: a library is missing


class DocumentRecord(msgspec.Struct, frozen=True):
    """A document of a file; without `strip`, the bytes between two documents, which stay as they are."""

    raw: bytes  # with the end of its last line
    paragraphs: list[bytes] = []  # UTF-8; in vertical, one token per line
    strip: Strip | None = None
    url: str = ""  # as the file has it; empty if it has none


class Format(msgspec.Struct, frozen=True):
    suffix: str  # of the files in an output directory; if it ends in .gz or .zst, they are compressed
    open: Open
    columnar: bool = False  # keeps documents in memory: at most MOST_TABLES files at once, and not to standard output
    read: Callable[[ByteStream], Iterator[DocumentRecord]] | None = None  # how `windrow dedup` reads it
    numbered: bytes = b""  # how each document begins, with %d for its number, if its bytes depend on that
    suffixes: tuple[str, ...] = ()  # with `read`: names of such files end in one of these, or in one and .gz or .zst


def each(encode: Encode, header: bytes = b"", footer: bytes = b"") -> Open:
    """Return the `open` of a format that encodes each document alone, between a header and a footer per file."""
    return lambda stream, options: _Each(stream, options, encode, (header, footer))


class _Each:
    def __init__(self, stream: BinaryIO, options: FormatOptions, encode: Encode, frame: tuple[bytes, bytes]) -> None:
        self._write, self._options, self._encode = stream.write, options, encode
        header, self._footer = frame
        if header:
            stream.write(header)

    def add(self, item: Item) -> int:
        data = self._encode(item, self._options)
        self._write(data)
        return len(data)

    def close(self) -> None:
        if self._footer:
            self._write(self._footer)
