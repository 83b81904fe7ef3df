"""A document of the corpus: one JSON object per line.

It is made in two steps. A worker has the text and makes a Draft, encoded paragraph by paragraph. The driver knows which
paragraphs are duplicates and where the bytes are, and joins the line without encoding any text again.
"""

import functools
import itertools
import math
import re
import time
from collections.abc import Iterable, Sequence

import msgspec

from windrow.config import ConfigError
from windrow.records import Document, DocumentPlace, Mark, Page, Paragraph, Place, Signal

FORMAT = 1  # raised when a reader of the old format would misread the new one; an added member does not raise it

# Never in a line: single surrogates, which are not Unicode; control characters; what would break a line or an XML file.
_FOREIGN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_FOREIGN_IN_LINE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")  # not the tab
_CONTROL = re.compile(b"\xc2[\x80-\x9f]")
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"


class Draft(msgspec.Struct, frozen=True, array_like=True):
    """The part of a document that a worker knows, as JSON in pieces."""

    head: bytes  # members from title to signals; the list of signals is not closed yet
    paragraphs: list[bytes]  # one object each
    sizes: list[int]  # UTF-8 bytes of each paragraph's text


class Source(msgspec.Struct, frozen=True):
    """The part of a document that the driver knows."""

    id: str  # of the response record: <urn:uuid:…>
    url: str
    time: float  # epoch seconds of the request
    ip: str
    place: Place
    digest: str  # sha1 of the payload in base32
    language: str  # of the document, ISO 639-3
    scores: dict[str, float]
    truncated: str = ""  # see Capture
    page_language: str = ""  # if it differs


class _PageMembers(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    title: str
    author: str
    date: str
    charset: str
    declared: str
    licence: str
    site: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    image: str = ""
    signals: Sequence[Signal]  # the last: those of the origin are appended


class _SourceMembers(msgspec.Struct, frozen=True, omit_defaults=True):
    format: int
    id: str
    url: str
    time: str
    place: DocumentPlace
    ip: str
    language: str
    scores: dict[str, float]
    truncated: str = ""
    page_language: str = ""


class _ParagraphMembers(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, rename={"kind": "class"}):
    text: str
    kind: str
    own: str = ""
    heading: bool = False
    language: str = ""
    structure: str = ""
    lines: str = ""
    marks: tuple[Mark, ...] = ()


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Document).decode
_signals = msgspec.json.Decoder(list[Signal]).decode


def draft(
    page: Page, paragraphs: Sequence[Paragraph], language: str, languages: Sequence[str], signals: Sequence[Signal]
) -> Draft:
    """Encode the paragraphs that may be kept, whose languages are `languages`; `language` is the document's."""
    rows = [
        _ParagraphMembers(
            text=paragraph.text,
            kind=paragraph.kind,
            own=paragraph.own,
            heading=paragraph.heading,
            language="" if own == language else own,
            structure=paragraph.structure,
            lines=paragraph.lines,
            marks=paragraph.marks,
        )
        for paragraph, own in zip(paragraphs, languages, strict=True)
    ]
    encoded = _encoded(rows)
    if _foreign(encoded, [row.text for row in rows], [row.lines for row in rows if row.lines]):
        rows = [_clean_row(row) for row in rows]
        encoded = _encoded(rows)
    sizes = [len(row.text) if row.text.isascii() else len(row.text.encode()) for row in rows]
    return Draft(_head(page, signals), encoded, sizes)


def signals(draft: Draft) -> list[Signal]:
    """Return the usage signals of the page itself."""
    # A JSON string never contains an unescaped quote, so no text can look like this member.
    return _signals(b"[" + draft.head.partition(b'"signals":[')[2] + b"]")


def line(draft: Draft, source: Source, kept: Sequence[bool] | None = None, signals: Sequence[Signal] = ()) -> bytes:
    """Return the document's line. `kept`: which paragraphs stay, None for all; `signals`: those of its origin."""
    place = source.place
    origin = DocumentPlace(place.file, place.offset, place.length, source.digest)
    front = _encode(
        _SourceMembers(
            format=FORMAT,
            id=source.id,
            url=source.url,
            time=moment(source.time),
            place=origin,
            ip=source.ip,
            language=source.language,
            scores=source.scores,
            truncated=source.truncated,
            page_language=source.page_language,
        )
    )
    if b":null" in front and len(finite := _finite(source.scores)) < len(source.scores):
        return line(draft, msgspec.structs.replace(source, scores=finite), kept, signals)
    further = b",".join(map(_signal, signals))
    if further and draft.head[-1:] != b"[":
        further = b"," + further
    paragraphs = draft.paragraphs if kept is None else itertools.compress(draft.paragraphs, kept)
    return b"".join((front[:-1], b",", draft.head, further, b'],"paragraphs":[', b",".join(paragraphs), b"]}\n"))


def read(line: bytes, location: str) -> Document:
    """Decode a line. Errors name it by `location`, such as "corpus/deu/n0-00000.jsonl.gz, line 3"."""
    try:
        document = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{location}: {_problem(line, error)}") from None
    if document.format != FORMAT:
        raise ConfigError(f"{location}: {unreadable(document.format)}")
    return document


def with_crawl(line: bytes, name: str) -> bytes:
    """Return the line with the name of its crawl in `place`, unless it is there."""
    # A JSON string never contains an unescaped quote, so no text can look like this member.
    head, member, rest = line.partition(b'"place":{')
    if not member or b'"crawl":' in rest.partition(b"}")[0]:
        return line
    return b"".join((head, member, b'"crawl":', _encode(name), b",", rest))


def moment(epoch: float) -> str:
    """Return a time as documents write it: 2026-11-15T10:44:21.123Z."""
    second, thousandths = divmod(round(epoch * 1000), 1000)
    return f"{_second(second)}.{thousandths:03}Z"


@functools.lru_cache(256)
def _second(epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch))


@functools.lru_cache(4096)  # a host sends the same signals with every page
def _signal(signal: Signal) -> bytes:
    return _encode(_clean_signal(signal))


def _finite(scores: dict[str, float]) -> dict[str, float]:
    """Leave out infinity and NaN, which JSON does not have."""
    return {name: score for name, score in scores.items() if math.isfinite(score)}


def _head(page: Page, signals: Sequence[Signal]) -> bytes:
    """Return the JSON without its braces, up to the last signal."""
    members = _PageMembers(
        title=page.title,
        author=page.author,
        date=page.date,
        charset=page.charset,
        declared=page.language,
        licence=page.licence,
        site=page.site,
        description=page.description,
        tags=page.tags,
        image=page.image,
        signals=signals,
    )
    head = _encoded([members])
    texts = (page.title, page.author, page.date, page.charset, page.language, page.licence)
    further = (page.site, page.description, page.image, *page.tags)
    if _foreign(head, (*texts, *further, *(signal.value for signal in signals))):
        head = _encoded([_clean_members(members)])
    return head[0][1:-2]


def _clean_members(members: _PageMembers) -> _PageMembers:
    return _PageMembers(
        title=_clean(members.title),
        author=_clean(members.author),
        date=_clean(members.date),
        charset=_clean(members.charset),
        declared=_clean(members.declared),
        licence=_clean(members.licence),
        site=_clean(members.site),
        description=_clean(members.description),
        tags=tuple(map(_clean, members.tags)),
        image=_clean(members.image),
        signals=[_clean_signal(signal) for signal in members.signals],
    )


def _encoded(records: Sequence[_ParagraphMembers | _PageMembers]) -> list[bytes]:
    """Return each record as JSON; an empty list if one of them contains a single surrogate."""
    try:
        return [_encode(record) for record in records]
    except UnicodeEncodeError:
        return []


def _foreign(encoded: list[bytes], texts: Iterable[str], lines: Sequence[str] = ()) -> bool:
    """Return whether there may be characters to remove. `lines` may hold line ends and tabs, which `texts` may not.

    The bytes are searched where that is faster; all in all this takes a fourth of the time of isprintable().
    """
    octets, text = b"".join(encoded), "".join((*texts, *lines) if lines else texts)
    if not encoded or b"\x7f" in octets or (b"\xc2" in octets and _CONTROL.search(octets)):
        return True
    # Look for an escape other than those of quotes, backslashes, and line ends and tabs in `lines`.
    if b"\\" in octets:
        escapes = octets.replace(b"\\\\", b"").replace(b'\\"', b"").count(b"\\")
        if escapes != sum([line.count("\n") + line.count("\t") for line in lines]):
            return True
    return "\u2028" in text or "\u2029" in text or "\ufffe" in text or "\uffff" in text


def _clean_signal(signal: Signal) -> Signal:
    values = (getattr(signal, name) for name in Signal.__struct_fields__)
    return Signal(*map(_clean, values))


def _clean_row(row: _ParagraphMembers) -> _ParagraphMembers:
    """Return a paragraph without characters that are not text. Marks refer to places in the text as it was."""
    text = _clean(row.text)
    return msgspec.structs.replace(
        row,
        text=text,
        structure=_clean(row.structure),
        lines="\n".join(_FOREIGN_IN_LINE.sub(_instead, line).rstrip() for line in row.lines.split("\n")),
        marks=tuple(
            Mark(mark.start, mark.end, _clean(mark.kind), _clean(mark.target)) for mark in row.marks if text == row.text
        ),
    )


def _clean(text: str) -> str:
    """Return the text on one line, with single spaces and without characters that are not text."""
    return " ".join(_FOREIGN.sub(_instead, text).split()) if _FOREIGN.search(text) else text


def _instead(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SPACES:
        return " "
    return "\ufffd" if "\ud800" <= character <= "\udfff" else ""


def _problem(line: bytes, error: Exception) -> str:
    """Return why a line is not a document, and how to fix it."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as cause:
        return f"not a JSON document ({cause}); the file is damaged or has another format"
    number = value.get("format") if isinstance(value, dict) else None
    if isinstance(number, int) and not isinstance(number, bool) and number != FORMAT:
        return unreadable(number)
    if number is None:
        problem = "not a document of a Windrow corpus: it has no member 'format'"
        return f"{problem}; name a crawl's directory or a file of its corpus/"
    return f"not a document as Windrow writes it ({error}); the file is damaged or was edited"


def unreadable(number: int) -> str:
    """Return why this version cannot read a document of this format number."""
    if number > FORMAT:
        return f"a document of format {number}, made by a newer Windrow than this, which reads {FORMAT}; install it"
    return f"a document of format {number}, which Windrow never wrote; it reads format {FORMAT}"
