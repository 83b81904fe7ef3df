"""Document files as people have them: jsonl, prevertical, vertical and plain text, gzipped or not, read one document at a time.

A reader gives each document's paragraphs for judging and remembers the bytes it came from; `strip` writes it back without some of them, and
a document that loses nothing comes out byte for byte as it went in.
"""

import contextlib
import functools
import gzip
import io
import json
import os
import re
import typing
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from isal import igzip, isal_zlib

from windrow.config import ConfigError
from windrow.corpus import document as own

SNIFF = 1 << 18  # bytes looked at to tell a format
LEVEL = 2  # of isal, 0 to 3
CHUNK = 1 << 20  # bytes read at once
MOST = 256 << 20  # bytes of one document; a longer one is a missing <doc> or a foreign file
TEXT_MOST = (
    8 << 20
)  # bytes of plain text taken for one document: files of plain text know no documents, and memory is bounded
TEXTS = ("text", "raw_content", "content")  # datatrove, dolma and most others; CCNet; OSCAR
SUFFIXES = {".jsonl": "jsonl", ".json": "jsonl", ".ndjson": "jsonl", ".vert": "vertical", ".vertical": "vertical"} | {
    ".prevert": "prevertical",
    ".prevertical": "prevertical",
    ".txt": "text",
    ".text": "text",
}

_BROKEN = (
    EOFError,
    gzip.BadGzipFile,
    zlib.error,
    typing.cast(type[Exception], isal_zlib.error),
)  # its stub has no class
Strip = Callable[[Sequence[bool]], bytes]  # which paragraphs stay -> the document without the others


class Record(msgspec.Struct, frozen=True):
    """A document of a file; or, without `strip`, what stands between documents and stays as it is."""

    raw: bytes  # with the end of its line
    paragraphs: list[bytes] = []  # UTF-8; in vertical a token a line
    strip: Strip | None = None


class Stream:
    """A file's bytes, unpacked, with what is needed to name a place in it."""

    def __init__(self, path: Path, length: int | None = None) -> None:
        """`length`: bytes of the file that count; None: all."""
        self.path = path
        self.line = 0  # where the reader is
        self._given = 0  # lines given out by `parts`
        self._plain = path.open("rb")
        packed = self._plain.read(2) == b"\x1f\x8b"
        self._plain.seek(0)
        plain = self._plain if length is None else typing.cast(BinaryIO, io.BufferedReader(_Front(self._plain, length)))
        self._file = _packed("rb", plain) if packed else typing.cast(io.BufferedReader, plain)
        self._ahead = b""
        self._broken = ""

    @property
    def position(self) -> int:
        """Bytes of the file itself that were read, for progress."""
        return self._plain.tell()

    def close(self) -> None:
        self._plain.close()

    def read(self) -> bytes:
        ahead, self._ahead = self._ahead, b""
        if ahead:
            return ahead
        try:
            return b"" if self._broken else self._file.read1(CHUNK)
        except _BROKEN as error:
            self._broken = str(error) or type(error).__name__
            return b""

    def peek(self, size: int) -> bytes:
        """The next bytes, which are read again."""
        ahead = bytearray()
        while len(ahead) < size and (chunk := self.read()):
            ahead += chunk
        self._ahead = bytes(ahead)
        return self._ahead[:size]

    def parts(self, border: bytes) -> Iterator[bytes]:
        """The bytes in parts, each ending after a line end that is followed by `border`; `border` empty: lines."""
        kept, mark = b"", b"\n" + border
        while chunk := self.read():
            start, searched = 0, max(0, len(kept) - len(mark))
            kept += chunk
            while (end := kept.find(mark, searched)) >= 0:
                part, start = kept[start : end + 1], end + 1
                searched = start
                self._given += part.count(b"\n")
                yield part
            kept = kept[start:]
            if len(kept) > MOST:
                raise self.error(
                    f"more than {MOST >> 20} MB without an end of the document; if the format was mistaken, name it"
                )
        if self._broken:
            self.line = self._given + kept.count(b"\n") + 1
            raise self.error(f"the gzip data breaks off here ({self._broken}); the file is cut short or damaged")
        if kept:
            yield kept

    def error(self, problem: str) -> ConfigError:
        return ConfigError(f"{self.path}, line {max(1, self.line)}: {problem}")


class _Front(io.RawIOBase):
    """The beginning of a file."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self._file = file
        self._left = length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)


def read(path: Path, form: str = "", length: int | None = None) -> Iterator[tuple[Record, int]]:
    """The documents of a file in order, and how far into it each of them ends. `form`: one of READERS; empty: told from the content.
    `length`: bytes of the file that count; None: all."""
    with contextlib.closing(Stream(path, length)) as stream:
        for record in READERS[form or _told(stream)](stream):
            yield record, stream.position


def tell(path: Path) -> str:
    """The format of a file, by its content and, where that says nothing, its name."""
    with contextlib.closing(Stream(path)) as stream:
        return _told(stream)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A new file, gzipped if its name says so, on the disk when this ends. Equal content gives equal bytes."""
    try:
        with path.open("wb") as plain:
            if path.suffix == ".gz":
                with _packed("wb", plain) as packed:
                    yield packed
            else:
                yield plain
            plain.flush()
            os.fsync(plain.fileno())
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk is told of without a name
        raise


def _packed(mode: str, plain: BinaryIO) -> io.BufferedReader:
    return typing.cast(io.BufferedReader, igzip.IGzipFile("", mode, LEVEL, plain, 0))  # type: ignore[no-untyped-call]


def _told(stream: Stream) -> str:
    start = stream.peek(SNIFF)
    if b"\0" in start or start.startswith((b"PAR1", b"BZh", b"\x28\xb5\x2f\xfd", b"%PDF")):
        raise stream.error("not text; expected are jsonl, prevertical, vertical or plain text, as they are or gzipped")
    lines = [line for line in start.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    if not lines:
        return named(stream.path) or "text"
    if lines[0].lstrip()[:1] == b"{":
        return "jsonl"
    if not re.match(rb"<[?!/A-Za-z]", lines[0]):
        return "vertical" if named(stream.path) == "vertical" else _plain(stream, lines)
    tokens = [line for line in (lines[:-1] or lines) if line[:1] != b"<"]
    if b"<g/>" in lines or any(b"\t" in line for line in tokens):
        return "vertical"
    return "prevertical" if any(b" " in line.strip() for line in tokens) else named(stream.path) or "vertical"


def _plain(stream: Stream, lines: list[bytes]) -> str:
    if named(stream.path) not in ("", "text"):
        expected = named(stream.path)
        raise stream.error(
            f"{_shown(lines[0])} does not begin a {expected} file; if it is one of another kind, name its format"
        )
    return "text"


def named(path: Path) -> str:
    """The format that a file's name promises; empty: none."""
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    return SUFFIXES.get(suffixes[-1], "") if suffixes else ""


def _shown(line: bytes) -> str:
    return repr(line[:40].decode("utf-8", "replace"))


def _check(stream: Stream, raw: bytes) -> None:
    """Refuses what is not UTF-8, naming its line; counts the lines."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        stream.line += 1 + raw.count(b"\n", 0, error.start)
        raise stream.error("not UTF-8; convert the file to UTF-8") from None
    stream.line += raw.count(b"\n")


def _jsonl(stream: Stream) -> Iterator[Record]:
    for number, raw in enumerate(stream.parts(b"")):
        stream.line = number + 1
        line = raw.removeprefix(b"\xef\xbb\xbf") if not number else raw
        if not line.strip():
            continue
        try:
            document = _decoded(line)
        except (ValueError, RecursionError) as error:
            raise stream.error(
                f'not a JSON document ({error}); each line must be one object, such as {{"text": "…"}}'
            ) from None
        _check_format(stream, document)
        record = _json_record(raw if raw.endswith(b"\n") else raw + b"\n", document)
        if record is None:
            raise stream.error(f"a JSON document without 'paragraphs' or text ({', '.join(TEXTS)})")
        yield record


def _check_format(stream: Stream, found: Any) -> None:
    """Refuses a document of a Windrow corpus of another version; other people's documents have no place."""
    if (
        isinstance(found, dict)
        and "place" in found
        and isinstance(number := found.get("format"), int)
        and number != own.FORMAT
    ):
        raise stream.error(own.other(number))


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(line)  # knows what Python writes beyond JSON: NaN, halves of surrogate pairs


def _encoded(document: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(document) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(document).encode() + b"\n"


def _json_record(raw: bytes, document: Any) -> Record | None:
    if not isinstance(document, dict):
        return None
    paragraphs = document.get("paragraphs")
    if isinstance(paragraphs, list):
        found = [paragraph.get("text") if isinstance(paragraph, dict) else paragraph for paragraph in paragraphs]
        texts = [_octets(text) for text in found if isinstance(text, str)]
        return Record(raw, texts, functools.partial(_strip_paragraphs, document)) if len(texts) == len(found) else None
    for name in TEXTS:
        if isinstance(text := document.get(name), str):
            lines = _octets(text).split(b"\n")
            paragraphs = [line for line in lines if line and not line.isspace()]
            return Record(raw, paragraphs, functools.partial(_strip_text, document, name, lines))
    return None


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _strip_paragraphs(document: dict[str, Any], kept: Sequence[bool]) -> bytes:
    left = [paragraph for paragraph, keep in zip(document["paragraphs"], kept, strict=True) if keep]
    changed = {**document, "paragraphs": left}
    if isinstance(document.get("text"), str):
        changed["text"] = "\n".join(
            paragraph["text"] if isinstance(paragraph, dict) else paragraph for paragraph in left
        )
    return _encoded(changed)


def _strip_text(document: dict[str, Any], name: str, lines: list[bytes], kept: Sequence[bool]) -> bytes:
    """Each paragraph that stays brings the blank lines before it."""
    flags = iter(kept)
    left: list[bytes] = []
    blank: list[bytes] = []
    for line in lines:
        if not line or line.isspace():
            blank.append(line)
            continue
        if next(flags):
            left += [*blank, line] if left else [line]
        blank.clear()
    return _encoded({**document, name: b"\n".join(left).decode("utf-8", "surrogatepass")})


def _text(stream: Stream) -> Iterator[Record]:
    """Paragraphs are parted by blank lines; the file is one document, or several of at most TEXT_MOST bytes."""
    lines: list[bytes] = []
    size = 0
    for line in stream.parts(b""):
        lines.append(line)
        size += len(line)
        if size > TEXT_MOST and (not line.strip() or size > 4 * TEXT_MOST):
            yield _text_record(stream, b"".join(lines))
            lines, size = [], 0
    if lines:
        yield _text_record(stream, b"".join(lines))


def _text_record(stream: Stream, raw: bytes) -> Record:
    _check(stream, raw)
    paragraphs = [paragraph for paragraph in re.split(rb"\n[ \t\r]*(?=\n)", raw) if paragraph.strip()]
    paragraphs = [paragraph.strip(b"\r\n") for paragraph in paragraphs]
    end = b"\n\n" if raw.endswith((b"\n\n", b"\n\r\n")) else b"\n"
    return Record(raw, paragraphs, functools.partial(_strip_plain, paragraphs, end))


def _strip_plain(paragraphs: list[bytes], end: bytes, kept: Sequence[bool]) -> bytes:
    return b"\n\n".join(paragraph for paragraph, keep in zip(paragraphs, kept, strict=True) if keep) + end


def _lines(stream: Stream) -> Iterator[Record]:
    """Vertical and prevertical: documents from <doc> to </doc>; what is outside is a document too if it is not markup alone."""
    _check_lines(stream)
    for part in stream.parts(b"<doc"):
        end = part.rfind(b"\n</doc>")
        line_end = part.find(b"\n", end + 1) + 1 if end >= 0 else 0
        for raw in (part[:line_end], part[line_end:]) if line_end else (part,):
            if raw:
                _check(stream, raw)
                yield _lines_record(raw)


def _check_lines(stream: Stream) -> None:
    """Refuses jsonl that somebody has called otherwise: each of its documents would be one word."""
    first = stream.peek(SNIFF).lstrip().partition(b"\n")[0]
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        if first[:1] == b"{" and isinstance(msgspec.json.decode(first), dict):
            raise stream.error(
                "a JSON document, where a line of markup or a word was expected; name the format jsonl, or none"
            )


def _lines_record(raw: bytes) -> Record:
    """Its lines as segments, each a paragraph or structure that stays. A paragraph runs from <p> to </p>, or is what stands outside."""
    segments: list[list[bytes]] = [[]]
    for line in io.BytesIO(raw):
        if line[:1] != b"<":
            segments[-1].append(line)
        elif re.match(rb"<doc[ \t>]|</doc>", line):
            segments += [[line], []]
        elif re.match(rb"<p[ \t>]", line):
            segments.append([line])
        elif line.startswith(b"</p>"):
            segments[-1].append(line)
            segments.append([])
        else:
            segments[-1].append(line)
    texts = [b"".join(line for line in segment if line[:1] != b"<") for segment in segments]
    paragraphs = [text for text in texts if text.strip()]
    if not paragraphs and not re.match(rb"<doc[ \t>]", raw):
        return Record(raw)
    return Record(raw, paragraphs, functools.partial(_strip_lines, segments, texts))


def _strip_lines(segments: list[list[bytes]], texts: list[bytes], kept: Sequence[bool]) -> bytes:
    flags = iter(kept)
    return b"".join(
        b"".join(segment) for segment, text in zip(segments, texts, strict=True) if not text.strip() or next(flags)
    )


READERS: dict[str, Callable[[Stream], Iterator[Record]]] = {
    "jsonl": _jsonl,
    "prevertical": _lines,
    "vertical": _lines,
    "text": _text,
}
