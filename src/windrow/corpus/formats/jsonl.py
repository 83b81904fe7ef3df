"""jsonl: one JSON object per line.

Written with one text per document, under the names that datatrove and dolma read. datatrove needs text, id and
metadata; dolma needs id, text and source, and knows added, created and metadata. Both ignore other members, so the
style "both" has all of these.

Every member of these styles has one JSON type, in every document: `datasets` and pyarrow infer the types from the first
documents and refuse a later one that differs. So a member is never null or left out; scores and signals, whose members
differ from document to document, and tags, of which there may be none, are JSON in a string; and a date of publication
is written with a time, because pyarrow reads a bare date as a timestamp and then refuses the empty string.

Read with the text in any of the members that common datasets use.
"""

import functools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from windrow import urls
from windrow.config import ConfigError
from windrow.corpus import document as corpus
from windrow.corpus.formats.format import DocumentRecord, FormatOptions, Item
from windrow.io.streams import ByteStream
from windrow.records import Document

STYLES = ("both", "datatrove", "dolma", "windrow")
TEXTS = ("text", "raw_content", "content")  # datatrove, dolma and most others; CCNet; OSCAR
_MEMBERS = {"both": ("id", "text", "source", "added", "created", "metadata"), "datatrove": ("text", "id", "metadata")}
_MEMBERS["dolma"] = _MEMBERS["both"]

_encode = msgspec.json.Encoder().encode


def encode(item: Item, options: FormatOptions) -> bytes:
    if options.style == "windrow":
        return item.line if item.line.endswith(b"\n") else item.line + b"\n"
    document = item.document
    members: dict[str, Any] = {
        "id": document.id,
        "text": document.text,
        "source": item.dump,
        "added": document.time,
        "created": _day(document.date) or document.time,
        "metadata": metadata(document, item.dump),
    }
    return _encode({name: members[name] for name in _MEMBERS[options.style]}) + b"\n"


def metadata(document: Document, dump: str) -> dict[str, Any]:
    """`dump`: the name of the crawl."""
    place = document.place
    host = urls.host_of(document.url)
    return {
        "url": document.url,
        "date": document.time,
        "dump": dump,
        "file_path": place.file,
        "language": document.language,
        "language_score": document.scores.get("language", 0.0),
        "page_language": document.page_language or document.language,
        "title": document.title,
        "author": document.author,
        "published": _day(document.date),
        "host": host,
        "domain": urls.domain(host),
        "tld": urls.tld(host),
        "licence": document.licence,
        "site": document.site,
        "description": document.description,
        "tags": _encode(document.tags).decode(),
        "image": document.image,
        "scores": _encode(document.scores).decode(),
        "signals": _encode(document.signals).decode(),
        "offset": place.offset,
        "length": place.length,
        "digest": place.digest,
        "truncated": document.truncated,
    }


def _day(date: str) -> str:
    return f"{date}T00:00:00.000Z" if date else ""


def check_style(style: str) -> None:
    if style not in STYLES:
        raise ConfigError(f"--style {style!r} is unknown; it must be one of {', '.join(STYLES)}")


def read(stream: ByteStream) -> Iterator[DocumentRecord]:
    for number, raw in enumerate(stream.parts(b"")):
        stream.line = number + 1
        line = raw.removeprefix(b"\xef\xbb\xbf") if not number else raw
        if not line.strip():
            continue
        try:
            value = _decoded(line)
        except (ValueError, RecursionError) as error:
            problem = f"not a JSON document ({error})"
            raise stream.error(f'{problem}; each line must be one object, such as {{"text": "…"}}') from None
        _check_version(stream, value)
        record = _record(raw if raw.endswith(b"\n") else raw + b"\n", value)
        if record is None:
            raise stream.error(f"a JSON document without 'paragraphs' or text ({', '.join(TEXTS)})")
        yield record


def _check_version(stream: ByteStream, value: Any) -> None:
    """Refuse a document of a Windrow corpus of another version. Only such documents have a "place"."""
    if not isinstance(value, dict) or "place" not in value:
        return
    number = value.get("format")
    if isinstance(number, int) and number != corpus.FORMAT:
        raise stream.error(corpus.unreadable(number))


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(line)  # also reads the additions of Python to JSON: NaN, single surrogates


def _encoded(document: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(document) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(document).encode() + b"\n"


def _record(raw: bytes, document: Any) -> DocumentRecord | None:
    """Return None if the object has no text."""
    if not isinstance(document, dict):
        return None
    paragraphs = document.get("paragraphs")
    if isinstance(paragraphs, list):
        plain = [paragraph.get("text") if isinstance(paragraph, dict) else paragraph for paragraph in paragraphs]
        texts = [_octets(text) for text in plain if isinstance(text, str)]
        strip = functools.partial(_strip_paragraphs, document)
        return DocumentRecord(raw, texts, strip, _url(document)) if len(texts) == len(plain) else None
    for name in TEXTS:
        if isinstance(text := document.get(name), str):
            lines = _octets(text).split(b"\n")
            paragraphs = [line for line in lines if line and not line.isspace()]
            strip = functools.partial(_strip_text, document, name, lines)
            return DocumentRecord(raw, paragraphs, strip, _url(document))
    return None


def _url(document: dict[str, Any]) -> str:
    """Return the URL, which most datasets have in the document itself and some in its metadata."""
    metadata = document.get("metadata")
    url = document.get("url") or (metadata.get("url") if isinstance(metadata, dict) else "")
    return url if isinstance(url, str) else ""


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _strip_paragraphs(document: dict[str, Any], kept: Sequence[bool]) -> bytes:
    left = [paragraph for paragraph, keep in zip(document["paragraphs"], kept, strict=True) if keep]
    changed = {**document, "paragraphs": left}
    if isinstance(document.get("text"), str):
        texts = (paragraph["text"] if isinstance(paragraph, dict) else paragraph for paragraph in left)
        changed["text"] = "\n".join(texts)
    return _encoded(changed)


def _strip_text(document: dict[str, Any], name: str, lines: list[bytes], kept: Sequence[bool]) -> bytes:
    """Keep the blank lines before each paragraph that stays."""
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
