"""A document of the corpus: one JSON object a line.

It is made in two steps, because two know it. A worker has the text and makes a Draft, encoded paragraph by paragraph; the driver knows
which paragraphs were met before and where the bytes lie, and joins the line without touching text again.
"""

import functools
import itertools
import math
import re
import time
from collections.abc import Iterable, Sequence

import msgspec

from windrow.config import ConfigError
from windrow.data import Document, DocumentPlace, Page, Paragraph, Place, Signal

FORMAT = 1  # rises when a reader of the old form would misread the new one; a member that is added does not raise it

# What no line may hold: half surrogates, which are not Unicode; controls; and what would break a line or an XML file.
_FOREIGN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_CONTROL = re.compile(b"\xc2[\x80-\x9f]")
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"


class Draft(msgspec.Struct, frozen=True, array_like=True):
    """What a worker knows of a document, as JSON in pieces."""

    head: bytes  # members from title to signals, whose list is open
    paragraphs: list[bytes]  # an object each
    sizes: list[int]  # UTF-8 bytes of each paragraph's text


class Source(msgspec.Struct, frozen=True):
    """What the driver knows of it."""

    id: str  # of the response record: <urn:uuid:…>
    url: str
    time: float  # epoch seconds of the request
    ip: str
    place: Place
    digest: str  # sha1 of the payload in base32
    language: str  # ISO 639-3
    scores: dict[str, float]


class _Head(msgspec.Struct, frozen=True):
    title: str
    author: str
    date: str
    charset: str
    declared: str
    licence: str
    signals: Sequence[Signal]


class _Front(msgspec.Struct, frozen=True):
    format: int
    id: str
    url: str
    time: str
    place: DocumentPlace
    ip: str
    language: str
    scores: dict[str, float]


class _Row(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, rename={"kind": "class"}):
    text: str
    kind: str
    own: str = ""
    heading: bool = False
    language: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Document).decode
_signals = msgspec.json.Decoder(list[Signal]).decode


def draft(
    page: Page, paragraphs: Sequence[Paragraph], language: str, languages: Sequence[str], signals: Sequence[Signal]
) -> Draft:
    """`paragraphs` are those of the page that may be kept, `languages` theirs; `language` is the page's."""
    rows = [
        _Row(paragraph.text, paragraph.kind, paragraph.own, paragraph.heading, "" if own == language else own)
        for paragraph, own in zip(paragraphs, languages, strict=True)
    ]
    encoded = _encoded(rows)
    if _foreign(encoded, [row.text for row in rows]):
        rows = [msgspec.structs.replace(row, text=_clean(row.text)) for row in rows]
        encoded = _encoded(rows)
    sizes = [len(row.text) if row.text.isascii() else len(row.text.encode()) for row in rows]
    return Draft(_head(page, signals), encoded, sizes)


def signals(draft: Draft) -> list[Signal]:
    """What the page itself says of its use."""
    return _signals(b"[" + draft.head.partition(b'"signals":[')[2] + b"]")  # no string of JSON has a bare quote in it


def line(draft: Draft, source: Source, kept: Sequence[bool] | None = None, signals: Sequence[Signal] = ()) -> bytes:
    """The document with its end of line. `kept`: which paragraphs stay, None for all; `signals`: those of its origin."""
    place = source.place
    origin = DocumentPlace(place.file, place.offset, place.length, source.digest)
    front = _encode(
        _Front(FORMAT, source.id, source.url, moment(source.time), origin, source.ip, source.language, source.scores)
    )
    if b":null" in front and len(finite := _finite(source.scores)) < len(source.scores):
        return line(draft, msgspec.structs.replace(source, scores=finite), kept, signals)
    further = b",".join(map(_signal, signals))
    if further and draft.head[-1:] != b"[":
        further = b"," + further
    paragraphs = draft.paragraphs if kept is None else itertools.compress(draft.paragraphs, kept)
    return b"".join((front[:-1], b",", draft.head, further, b'],"paragraphs":[', b",".join(paragraphs), b"]}\n"))


def read(line: bytes, place: str) -> Document:
    """A line back as a record. `place` names it in errors: "corpus/deu/n0-00000.jsonl.gz, line 3"."""
    try:
        document = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{place}: {_problem(line, error)}") from None
    if document.format != FORMAT:
        raise ConfigError(f"{place}: {unreadable(document.format)}")
    return document


def moment(epoch: float) -> str:
    """2026-11-15T10:44:21.123Z"""
    second, thousandths = divmod(round(epoch * 1000), 1000)
    return f"{_second(second)}.{thousandths:03}Z"


@functools.lru_cache(256)
def _second(epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch))


@functools.lru_cache(4096)  # hosts say the same of page after page
def _signal(signal: Signal) -> bytes:
    return _encode(_clean_signal(signal))


def _finite(scores: dict[str, float]) -> dict[str, float]:
    """JSON has neither infinity nor "not a number"."""
    return {name: score for name, score in scores.items() if math.isfinite(score)}


def _head(page: Page, signals: Sequence[Signal]) -> bytes:
    """Without its braces, and up to the last signal."""
    values = (page.title, page.author, page.date, page.charset, page.language, page.licence)
    head = _encoded([_Head(*values, signals)])
    if _foreign(head, (*values, *(signal.value for signal in signals))):
        title, author, date, charset, declared, licence = map(_clean, values)
        head = _encoded(
            [_Head(title, author, date, charset, declared, licence, [_clean_signal(signal) for signal in signals])]
        )
    return head[0][1:-2]


def _encoded(records: Sequence[_Row | _Head]) -> list[bytes]:
    """Each as JSON; none of them where one has half a surrogate pair."""
    try:
        return [_encode(record) for record in records]
    except UnicodeEncodeError:
        return []


def _foreign(encoded: list[bytes], texts: Iterable[str]) -> bool:
    """Whether there may be something to clean away. Told from the bytes where that is faster: in all, a fourth of isprintable()."""
    octets, text = b"".join(encoded), "".join(texts)
    if not encoded or b"\x7f" in octets or (b"\xc2" in octets and _CONTROL.search(octets)):
        return True
    if b"\\" in octets and b"\\" in octets.replace(b"\\\\", b"").replace(b'\\"', b""):  # an escape of something else
        return True
    return "\u2028" in text or "\u2029" in text or "\ufffe" in text or "\uffff" in text


def _clean_signal(signal: Signal) -> Signal:
    values = (getattr(signal, name) for name in Signal.__struct_fields__)
    return Signal(*map(_clean, values))


def _clean(text: str) -> str:
    """One line, single blanks, nothing that is not text."""
    return " ".join(_FOREIGN.sub(_instead, text).split()) if _FOREIGN.search(text) else text


def _instead(found: re.Match[str]) -> str:
    character = found[0]
    if character in _BLANKS:
        return " "
    return "\ufffd" if "\ud800" <= character <= "\udfff" else ""


def _problem(line: bytes, error: Exception) -> str:
    """Why a line is no document, and what to do."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as cause:
        return f"not a JSON document ({cause}); the file is damaged or of another kind"
    number = found.get("format") if isinstance(found, dict) else None
    if isinstance(number, int) and not isinstance(number, bool) and number != FORMAT:
        return unreadable(number)
    if number is None:
        return "not a document of a Windrow corpus: it has no member 'format'; name a crawl's directory or a file of its corpus/"
    return f"not a document as Windrow writes it ({error}); the file is damaged or was changed"


def unreadable(number: int) -> str:
    """What is wrong with a document of another format."""
    if number > FORMAT:
        return f"a document of format {number}, made by a newer Windrow; this one reads format {FORMAT}: install the newer one"
    return f"a document of format {number}, which Windrow never wrote; it reads format {FORMAT}"
