"""CDXJ: the index of an archive by URL and time, one line per http response.

A line is the sort key of the URL, the time with 14 digits, and a JSON object. Sorted by their bytes, the lines of all
files are one index. `line` writes the JSON of a WACZ file, as cdxj-indexer does; `CdxLines` that of Common Crawl, with
what the metadata record after a response adds.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from windrow import urls
from windrow.archive import fields, sniff
from windrow.archive.members import base32
from windrow.archive.record import WarcRecord, verify
from windrow.archive.scan import records
from windrow.archive.skim import heads
from windrow.archive.unpack import ArchiveError
from windrow.storage import AnyPath

REVISIT = "warc/revisit"
CHARSET, LANGUAGES, CLD2 = "charset-detected", "languages", "languages-cld2"  # fields of a metadata record
WANTED = {b"response": (), b"revisit": (), b"metadata": (CHARSET.encode(), LANGUAGES.encode())}
_NOTE = re.compile(rb"(?m)^(%b|%b|%b):[ \t]*([^\r\n]*)" % (CHARSET.encode(), LANGUAGES.encode(), CLD2.encode()))
_DIGITS = re.compile(r"\D")
_CONTENT_TYPE = re.compile(rb"(?im)^content-type:[ \t]*([^;\s,]+)")
_LOCATION = re.compile(rb"(?im)^location:[ \t]*([^\r\n]*)")
_NAMES = frozenset(  # of headers, as programs spell them; others are compared in small letters
    "WARC-Type WARC-Date WARC-Record-ID Content-Length Content-Type WARC-Warcinfo-ID WARC-Concurrent-To "
    "WARC-IP-Address WARC-Target-URI WARC-Protocol WARC-Cipher-Suite WARC-Payload-Digest WARC-Block-Digest "
    "WARC-Truncated WARC-Identified-Payload-Type WARC-Refers-To WARC-Refers-To-Target-URI WARC-Refers-To-Date "
    "WARC-Profile WARC-Refers-To-Filename WARC-Refers-To-File-Offset".split()
)
_SPELLED = {name.lower(): name for name in _NAMES}
_SNIFFED = 1 << 10  # bytes of a body by which its type is identified
_encode = msgspec.json.Encoder().encode
_escaped = json.JSONEncoder().encode

Refuses = Callable[[str], bool]  # whether a URL is to be left out


def line(record: WarcRecord, file: str, offset: int) -> bytes:
    """Return the line of a record at this offset of a file; empty for a record that is no http response."""
    if not _is_http(record):
        return b""
    url = urls.parse(record.target)
    if url is None:
        return b""
    found: Mapping[str, str] = {
        "url": record.target,
        "mime": mime(record),
        "status": str(fields.status(record.block)),
        "digest": record.header("WARC-Payload-Digest"),
        "length": str(record.length),
        "offset": str(offset),
        "filename": file,
    }
    return b"%b %b %b\n" % (urls.surt(url.text).encode(), moment(record).encode(), _encode(found))


class CdxLines:
    """The lines of one archive file, as Common Crawl writes them, in the order of the file.

    A damaged file ends in ArchiveError, after the lines of everything before the damage.
    """

    def __init__(self, path: AnyPath, file: str, end: int | None = None, check: bool = False) -> None:
        """`file`: the name of the archive file in the lines. `check`: unpack each record and compare its digest."""
        self._path, self._file, self._end = path, file, end
        self._check = check

    def read(self, refuses: Refuses | None = None) -> Iterator[bytes]:
        """Yield the lines, without those of URLs that are refused."""
        for record, notes in self._answers():
            if _is_http(record):
                target = record.target
                key = urls.sort_key(target)
                if key and not (refuses is not None and refuses(target)):
                    yield self._line(key, target, record, _notes(notes) if notes else {})

    def _answers(self) -> Iterator[tuple[WarcRecord, bytes]]:
        """Yield each response with the block of its metadata record, if that has something for the index."""
        answer, damage = None, None
        try:
            for record in self._records():
                if record.type != "metadata":
                    if answer is not None:
                        yield answer, b""
                    answer = record
                elif answer is not None and answer.header("WARC-Record-ID") in record.all("WARC-Concurrent-To"):
                    yield answer, record.block
                    answer = None
        except ArchiveError as error:
            damage = error
        if answer is not None and (answer.length or damage is None):
            yield answer, b""
        if damage is not None:
            raise damage

    def _line(self, key: str, target: str, record: WarcRecord, notes: Mapping[str, str]) -> bytes:
        if not record.length:
            what = "the record that begins here shares its gzip member, so it has no length; compress the file again"
            raise ArchiveError(self._path, record.offset, what)
        head, body = fields.split(record.block, {})
        status = fields.status(head)
        written = dict(reversed(record.headers))
        if not written.keys() <= _NAMES:
            written = {_SPELLED.get(name.lower(), name): value for name, value in reversed(record.headers)}
        found = {"url": target, "mime": _mime(record.type, head)}
        if identified := written.get("WARC-Identified-Payload-Type") or self._identified(record, head, body):
            found["mime-detected"] = identified
        found["status"] = str(status)
        if digest := written.get("WARC-Payload-Digest") or self._digest(record):
            found["digest"] = digest.removeprefix("sha1:")
        found |= {"length": str(record.length), "offset": str(record.offset), "filename": self._file}
        if notes:
            found |= {"charset": notes[CHARSET]} if notes.get(CHARSET) else {}
            found |= {"languages": codes} if (codes := languages(notes)) else {}
        if "WARC-Truncated" in written:
            found["truncated"] = written["WARC-Truncated"]
        if redirect := _redirect(target, status, head):
            found["redirect"] = redirect
        return f"{key} {_moment(written.get('WARC-Date', ''))} {_json(found)}\n".encode()

    def _records(self) -> Iterable[WarcRecord]:
        if not self._check:
            yield from heads(self._path, WANTED, self._end)
            return
        for record in records(self._path, end=self._end):
            if verify(record) is False:
                raise ArchiveError(self._path, record.offset, "the block of this record does not match its digest")
            if record.type.encode() in WANTED:
                yield record

    def _whole(self, record: WarcRecord) -> WarcRecord:
        """Return a record with all of its block."""
        return record if len(record.block) == record.size else next(records(self._path, record.offset, self._end))

    def _digest(self, record: WarcRecord) -> str:
        """Return the SHA-1 of the payload of a response that does not state it."""
        if record.type != "response":
            return ""
        return base32(hashlib.sha1(fields.split(self._whole(record).block, {})[1]).digest()).decode()

    def _identified(self, record: WarcRecord, head: bytes, body: bytes) -> str:
        """Return the media type by the payload itself; empty if that is missing, or has a coding."""
        if record.type != "response" or fields.encoded(head):
            return ""
        return sniff.identify(head, body if len(body) >= _SNIFFED else fields.split(self._whole(record).block, {})[1])


def mime(record: WarcRecord) -> str:
    """Return the media type that the server stated, in small letters; for a revisit, the one that CDX files use."""
    return _mime(record.type, fields.split(record.block, {})[0])


def _mime(kind: str, head: bytes) -> str:
    if kind == "revisit":
        return REVISIT
    match = _CONTENT_TYPE.search(head)
    return match[1].decode("latin-1").lower() if match else "unk"


def moment(record: WarcRecord) -> str:
    """Return the time of the record with 14 digits."""
    return _moment(record.header("WARC-Date"))


def _moment(date: str) -> str:
    digits = f"{date[:4]}{date[5:7]}{date[8:10]}{date[11:13]}{date[14:16]}{date[17:19]}"  # 2026-11-15T10:44:21.123Z
    if len(digits) == 14 and digits.isdigit() and digits.isascii():
        return digits
    return _DIGITS.sub("", date)[:14].ljust(14, "0")


def _json(found: Mapping[str, str]) -> str:
    """Return JSON as Common Crawl writes it: blanks after separators, and nothing but ASCII."""
    text = "".join(found.values())
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return "{" + ", ".join([f'"{name}": "{value}"' for name, value in found.items()]) + "}"
    return _escaped(found)


def languages(notes: Mapping[str, str]) -> str:
    """Return the languages in the fields of a metadata record, most frequent first: ISO 639-3 codes with commas."""
    if CLD2 not in notes:
        return notes.get(LANGUAGES, "")
    try:
        found = msgspec.json.decode(notes[CLD2], type=_Cld2)
    except msgspec.MsgspecError:
        return ""
    return ",".join(language.code for language in found.languages)


class _Cld2Language(msgspec.Struct):
    code: str = msgspec.field(name="code-iso-639-3")


class _Cld2(msgspec.Struct):
    languages: list[_Cld2Language]


def _notes(block: bytes) -> dict[str, str]:
    """Return the fields of a metadata record that an index needs."""
    return {name.decode(): value.decode("utf-8", "replace") for name, value in _NOTE.findall(block)}


def _is_http(record: WarcRecord) -> bool:
    """Return whether a record is of an http exchange. The block of a revisit may be anything: it has no payload."""
    kind = record.type
    return kind == "revisit" or (kind == "response" and "/http" in record.header("Content-Type").lower())


def _redirect(url: str, status: int, head: bytes) -> str:
    found = _LOCATION.search(head) if 300 <= status < 400 and status != 304 else None
    return urls.target(url, found[1].decode("latin-1").strip()) if found else ""
