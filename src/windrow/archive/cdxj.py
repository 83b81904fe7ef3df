"""CDXJ: the index of an archive by URL and time, one line per http response.

A line is the sort key of the URL, the time with 14 digits, and a JSON object. Sorted by their bytes, the lines of all
files are one index. `line` writes the JSON of a WACZ file, as cdxj-indexer does; `CdxLines` that of Common Crawl, with
what the metadata record after a response adds.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from windrow import urls
from windrow.archive import fields
from windrow.archive.members import base32
from windrow.archive.reading import sniff
from windrow.archive.reading.answers import CHARSET, LANGUAGES, Answer, Answers
from windrow.archive.reading.repair import Report
from windrow.archive.record import WarcRecord
from windrow.io.storage import AnyPath

REVISIT = "warc/revisit"
CLD2 = "languages-cld2"
_NOTE = re.compile(rb"(?m)^(%b|%b|%b):[ \t]*([^\r\n]*)" % (CHARSET.encode(), LANGUAGES.encode(), CLD2.encode()))
_DIGITS = re.compile(r"\D")
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
    values: Mapping[str, str] = {
        "url": record.target,
        "mime": mime(record),
        "status": str(fields.status(record.block)),
        "digest": record.header("WARC-Payload-Digest"),
        "length": str(record.length),
        "offset": str(offset),
        "filename": file,
    }
    return b"%b %b %b\n" % (urls.surt(url.text).encode(), moment(record).encode(), _encode(values))


class CdxLines:
    """The lines of one archive file, as Common Crawl writes them, in the order of the file.

    A damaged file ends in ArchiveError, after the lines of everything before the damage. With `report` the damage is
    reported, and the lines of the intact records behind it follow.
    """

    def __init__(
        self, path: AnyPath, file: str, end: int | None = None, check: bool = False, report: Report | None = None
    ) -> None:
        """`file`: the name of the archive file in the lines. `check`: unpack each record and compare its digest."""
        self._answers = Answers(path, end, check, report)
        self._file = _quoted(file)

    def read(self, refuses: Refuses | None = None) -> Iterator[bytes]:
        """Yield the lines, without those of URLs that are refused."""
        for answer in self._answers.read():
            record = answer.record
            if _is_http(record):
                key = urls.sort_key(record.target)
                if not key or (refuses is not None and refuses(record.target)):
                    continue
                if record.length:
                    yield self._line(key, answer)
                else:
                    self._answers.shared(answer)

    def _line(self, key: str, answer: Answer) -> bytes:
        record, target = answer.record, answer.record.target
        head, payload = fields.split(record.block, {})
        status, location = fields.status(head), fields.location(head)
        media = REVISIT if record.type == "revisit" else fields.media_type(head) or "unk"
        identified, digest = record.header("WARC-Identified-Payload-Type"), record.header("WARC-Payload-Digest")
        if record.type == "response" and not identified and not fields.encoded(head):
            identified = sniff.identify(head, payload)
        if record.type == "response" and not digest:
            whole = fields.split(self._answers.block(answer), {})[1]
            digest = base32(hashlib.sha1(whole, usedforsecurity=False).digest()).decode()
        digest, truncated = digest.removeprefix("sha1:"), record.header("WARC-Truncated")
        charset, codes = _noted(answer.notes) if answer.notes else ("", "")
        redirect = _redirect(target, status, location) if location is not None else ""
        values = (target, media, identified, digest, charset, codes, truncated, redirect)
        if not _is_plain("".join(values)):
            target, media, identified, digest, charset, codes, truncated, redirect = map(_quoted, values)
        before = f'"mime-detected": "{identified}", "status": "{status}"' if identified else f'"status": "{status}"'
        if digest:
            before = f'{before}, "digest": "{digest}"'
        more = f', "charset": "{charset}"' if charset else ""
        if codes:
            more = f'{more}, "languages": "{codes}"'
        if truncated:
            more = f'{more}, "truncated": "{truncated}"'
        if redirect:
            more = f'{more}, "redirect": "{redirect}"'
        position = f'"length": "{record.length}", "offset": "{record.offset}", "filename": "{self._file}"'
        return (
            f'{key} {moment(record)} {{"url": "{target}", "mime": "{media}", {before}, {position}{more}}}\n'
        ).encode()


def mime(record: WarcRecord) -> str:
    """Return the media type that the server stated, in small letters; for a revisit, the one that CDX files use."""
    if record.type == "revisit":
        return REVISIT
    return fields.media_type(fields.split(record.block, {})[0]) or "unk"


def moment(record: WarcRecord) -> str:
    """Return the time of the record with 14 digits."""
    date = record.header("WARC-Date")
    digits = f"{date[:4]}{date[5:7]}{date[8:10]}{date[11:13]}{date[14:16]}{date[17:19]}"  # 2026-11-15T10:44:21.123Z
    if len(digits) == 14 and digits.isdigit() and digits.isascii():
        return digits
    return _DIGITS.sub("", date)[:14].ljust(14, "0")


def _is_plain(text: str) -> bool:
    """Return whether a text is the same in JSON as Common Crawl writes it: with nothing but ASCII."""
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


def _quoted(text: str) -> str:
    return _escaped(text)[1:-1]


def languages(notes: Mapping[str, str]) -> str:
    """Return the languages in the fields of a metadata record, most frequent first: ISO 639-3 codes with commas."""
    if CLD2 not in notes:
        return notes.get(LANGUAGES, "")
    try:
        detected = msgspec.json.decode(notes[CLD2], type=_Cld2)
    except msgspec.MsgspecError:
        return ""
    return ",".join(language.code for language in detected.languages)


class _Cld2Language(msgspec.Struct):
    code: str = msgspec.field(name="code-iso-639-3")


class _Cld2(msgspec.Struct):
    languages: list[_Cld2Language]


def _noted(block: bytes) -> tuple[str, str]:
    """Return charset and languages from a metadata record; empty where it does not say."""
    notes = {name.decode(): value.decode("utf-8", "replace") for name, value in _NOTE.findall(block)}
    return notes.get(CHARSET, ""), languages(notes)


def _is_http(record: WarcRecord) -> bool:
    """Return whether a record is of an http exchange. The block of a revisit may be anything: it has no payload."""
    kind = record.type
    return kind == "revisit" or (kind == "response" and "/http" in record.header("Content-Type").lower())


def _redirect(url: str, status: int, location: str) -> str:
    return urls.target(url, location.strip()) if 300 <= status < 400 and status != 304 else ""
