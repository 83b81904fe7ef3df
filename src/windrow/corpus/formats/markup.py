"""The common part of prevertical and vertical: a <doc> per page, a <p> per paragraph, and the attributes of both.

The attributes are those of SpiderLing in its order, so that tools made for its corpora read ours; further ones follow.
"""

import contextlib
import functools
import html
import io
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from windrow import urls
from windrow.corpus.formats.format import DocumentRecord, FormatOptions, Item, Share
from windrow.io.streams import ByteStream
from windrow.records import Document

TITLE = 300  # characters
BEGINNING = b'<doc id="%d"'  # of each document, with its number in the export
SNIFF = 1 << 18  # bytes among which the first line ends
_CLASSES = (
    (100, "0-100"),
    (500, "100-500"),
    (1000, "500-1k"),
    (5000, "1k-5k"),
    (10_000, "5k-10k"),
    (100_000, "10k-100k"),
    (1_000_000, "100k-1M"),
)
# The attributes of the structures, for the registry file of a vertical; those of PLACE only with --places.
DOC = (
    *("id", "title", "length", "crawl_date", "modified_date", "lang", "lang_diff", "ip", "url", "file_type"),
    *("enc_meta", "enc_chared", "domain", "tld", "author", "licence", "truncated"),
)
PLACE = ("crawl", "warc_filename", "warc_offset", "warc_length", "digest", "record_id")
P = ("heading", "class", "cfclass", "langdiff")
_OPTIONAL = ("modified_date", "domain", "tld", "author", "licence", "truncated")  # left out where a page states none

_FOREIGN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1b\x7f-\x84\x86-\x9f\ufffe\uffff]")  # not text, and not allowed in XML

_URL = re.compile(rb'<doc[ \t][^\n]*?[ \t]url="([^"\n]*)"')

Body = Callable[[str, str, FormatOptions], str]  # a paragraph's text, its language, options -> its lines


def encode(item: Item, options: FormatOptions, body: Body) -> bytes:
    """Return the document with its structures; empty if it has no text."""
    document = item.document
    filled = [(text, paragraph) for paragraph in document.paragraphs if (text := _line(paragraph.text))]
    if not filled:
        return b""
    distance = _distance(document, [text for text, _ in filled], options.whole)
    lines = [_doc(item, (sum(len(text) for text, _ in filled), distance), options)]
    for text, paragraph in filled:
        share = options.share(text, document.language) if options.share else None
        own = _difference(share) if share is not None else "1.00" if paragraph.language else distance
        inner = body(text, paragraph.language or document.language, options)
        lines += (_p(paragraph.heading, paragraph.kind, paragraph.own, own), inner, "</p>")
    lines.append("</doc>\n")
    return "\n".join(lines).encode()


def _doc(item: Item, measures: tuple[int, str], options: FormatOptions) -> str:
    """`measures`: characters, and the difference from the language."""
    document, (size, distance) = item.document, measures
    host = urls.host_of(document.url)
    values = (
        str(item.number),
        _line(document.title)[:TITLE].rstrip(),
        length(size),
        f"{document.time[:10]} {document.time[11:16]}",
        document.date,
        options.names(document.language),
        distance,
        document.ip,
        document.url,
        "html",
        document.charset.lower(),
        document.charset.lower().replace("-", "_"),
        urls.domain(host),
        urls.tld(host),
        _line(document.author)[:TITLE].rstrip(),
        licence(document),
        document.truncated,
    )
    attributes = list(zip(DOC, values, strict=True))
    if options.places:
        place = document.place
        where = (item.dump, place.file, str(place.offset), str(place.length), place.digest, document.id)
        attributes += zip(PLACE, where, strict=True)
    return _tag("doc", [(name, value) for name, value in attributes if value or name not in _OPTIONAL])


def licence(document: Document) -> str:
    """Return the licence that the page links or, if it links none, the first that a signal names."""
    named = (signal.value for signal in document.signals if signal.name == "license" and signal.value)
    return document.licence or next(named, "")


@functools.lru_cache(1024)
def _p(heading: bool, kind: str, own: str, distance: str) -> str:
    attributes = list(zip(P, ("yes", kind, own or kind, distance), strict=True))
    return _tag("p", attributes if heading else attributes[1:])


def length(characters: int) -> str:
    """Return SpiderLing's class of size."""
    return next((name for limit, name in _CLASSES if characters < limit), "1M+")


def _distance(document: Document, texts: Sequence[str], whole: Share | None) -> str:
    """Return SpiderLing's lang_diff: 0 for a text that is wholly in its language, where a score is 1."""
    share = whole("\n".join(texts), document.language) if whole else None
    return _difference(document.scores.get("language", 1.0) if share is None else share)


def _difference(share: float) -> str:
    return f"{min(1.0, max(0.0, 1 - share)):.2f}"


def _tag(name: str, attributes: list[tuple[str, str]]) -> str:
    pairs = "".join([f' {key}="{_quoted(value)}"' for key, value in attributes])
    return f"<{name}{pairs}>"


def escape(text: str) -> str:
    """Use str.replace: where there is nothing to replace, it is forty times as fast as str.translate."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _quoted(text: str) -> str:
    return escape(_line(text)).replace('"', "&quot;")


def _line(text: str) -> str:
    """Return the text on one line, with single spaces."""
    return " ".join((text if text.isprintable() else _FOREIGN.sub("", text)).split())


def read(stream: ByteStream) -> Iterator[DocumentRecord]:
    """Yield documents, from <doc> to </doc>. Text outside of them is a document too; markup alone is not."""
    _refuse_jsonl(stream)
    for part in stream.parts(b"<doc"):
        end = part.rfind(b"\n</doc>")
        line_end = part.find(b"\n", end + 1) + 1 if end >= 0 else 0
        for raw in (part[:line_end], part[line_end:]) if line_end else (part,):
            if raw:
                stream.check(raw)
                yield _record(raw)


def _refuse_jsonl(stream: ByteStream) -> None:
    """Refuse jsonl that was named otherwise: each of its documents would be read as one word."""
    first = stream.peek(SNIFF).lstrip().partition(b"\n")[0]
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        if first[:1] == b"{" and isinstance(msgspec.json.decode(first), dict):
            problem = "a JSON document, where a line of markup or a word was expected"
            raise stream.error(f"{problem}; use --format jsonl, or leave --format out")


def _record(raw: bytes) -> DocumentRecord:
    """Split a document into segments: each is one paragraph, from <p> to </p>, or the lines between two paragraphs."""
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
        return DocumentRecord(raw)
    match = _URL.match(raw)
    url = html.unescape(match[1].decode()) if match else ""
    return DocumentRecord(raw, paragraphs, functools.partial(_strip, segments, texts), url)


def _strip(segments: list[list[bytes]], texts: list[bytes], kept: Sequence[bool]) -> bytes:
    flags = iter(kept)
    return b"".join(
        b"".join(segment) for segment, text in zip(segments, texts, strict=True) if not text.strip() or next(flags)
    )
