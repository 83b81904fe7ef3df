"""What an index says of the responses of an archive file: each with what its headers and its metadata record say of it.

A metadata record follows its response, so a response is handed on when the next record is known. Damage is an error,
after everything before it; with `report` it is reported, and the records behind it are read too. A record that was put
right on the way has no answer: who opens it by its offset and length would find the damage.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from windrow.archive import fields
from windrow.archive.members import base32
from windrow.archive.reading import skim, sniff
from windrow.archive.reading.repair import Damage, Report
from windrow.archive.reading.scan import records
from windrow.archive.reading.skim import Start
from windrow.archive.reading.unpack import ArchiveError
from windrow.archive.record import WarcRecord, verify
from windrow.io.storage import AnyPath

try:
    from windrow.archive.reading import _skim
except ImportError:  # built without a compiler: the reference runs instead
    _skim = None  # type: ignore[assignment]

CHARSET, LANGUAGES = "charset-detected", "languages"  # begin the fields of a metadata record that an index has
WANTED = {b"response": (), b"revisit": (), b"metadata": (CHARSET.encode(), LANGUAGES.encode())}

# Of the WARC header: type in small letters, target, date, id, the ids of the records that it is concurrent to with line
# ends between them, content type, identified payload type, payload digest, truncated; "" where there is none. Of the
# http head: status or 0, media type in small letters or "", location or None. A plain tuple: the kernel makes one for
# each record.
About = tuple[str, str, str, str, str, str, str, str, str, int, str, str | None]


class Answer(msgspec.Struct, gc=False):
    """A response or a revisit. Its block is complete, or has at least the http head."""

    offset: int
    length: int  # 0 if it shares its member
    about: About
    source: Start | WarcRecord
    notes: bytes = b""  # block of its metadata record; empty if that has nothing for an index


class Answers:
    """The responses and revisits of one file, in its order."""

    def __init__(
        self, path: AnyPath, end: int | None = None, check: bool = False, report: Report | None = None
    ) -> None:
        """`check`: unpack each record and compare its digest."""
        self._path, self._end, self._check = path, end, check
        self._report = report
        self._damaged = -1  # offset of the last damage; a record that begins there was put right

    def read(self) -> Iterator[Answer]:
        """Yield each answer when its metadata record was read, if it has one."""
        with _opened(self._path) as self._file:
            yield from self._answers()

    def _answers(self) -> Iterator[Answer]:
        answer, damage = None, None
        try:
            for offset, length, about, source in self._described():
                if about[0] != "metadata":
                    if answer is not None:
                        yield answer
                    answer = Answer(offset, length, about, source)
                elif answer is not None and (about[4] == answer.about[3] or answer.about[3] in about[4].split("\n")):
                    answer.notes = _block(source)
                    yield answer
                    answer = None
        except ArchiveError as error:
            damage = error
        if answer is not None and (answer.length or damage is None):
            yield answer
        if damage is not None:
            raise damage

    def digest(self, answer: Answer) -> str:
        """Return the SHA-1 of the payload of a response that does not state it."""
        if answer.about[0] != "response":
            return ""
        return base32(hashlib.sha1(fields.split(self._whole(answer), {})[1]).digest()).decode()

    def identified(self, answer: Answer) -> str:
        """Return the media type by the payload itself; empty if that is missing, or has a coding."""
        head, body = fields.split(_block(answer.source), {})
        if answer.about[0] != "response" or fields.encoded(head):
            return ""
        return sniff.identify(head, body if len(body) >= skim.SNIFFED else fields.split(self._whole(answer), {})[1])

    def broken(self, answer: Answer, error: ArchiveError) -> None:
        """Say that the body of a record is damaged, which was found when it was unpacked."""
        self._damage(answer.offset, answer.offset + answer.length, error.what)

    def shared(self, answer: Answer) -> None:
        """Say that a record has no place of its own."""
        what = "the record that begins here shares its gzip member, so it has no length; compress the file again"
        self._damage(answer.offset, answer.offset, what)

    def _described(self) -> Iterator[tuple[int, int, About, Start | WarcRecord]]:
        path = self._path
        for found in self._checked() if self._check else skim.starts(path, WANTED, self._end, self._note):
            if isinstance(found, tuple):
                about = describe(found[2], found[3]) or self._unusual(found)
                if about is not None:
                    yield found[0], found[1], about, found
            elif found.offset != self._damaged:
                yield found.offset, found.length, reference_describe(found), found

    def _unusual(self, start: Start) -> About | None:
        """Return what an index says of a record that is not written as usual; None if it is damaged."""
        try:
            return reference_describe(skim.record(self._path, start))
        except ArchiveError as error:
            self._damage(start[0], start[0] + start[1], error.what)
            return None

    def _checked(self) -> Iterator[WarcRecord]:
        for record in records(self._path, 0, self._end, self._note):
            if verify(record) is False:
                what = "the block of this record does not match its digest"
                self._damage(record.offset, record.offset + record.length, what)
            elif record.type.encode() in WANTED:
                yield record

    @property
    def _note(self) -> Report | None:
        return self._noted if self._report is not None else None

    def _noted(self, damage: Damage) -> None:
        self._damaged = damage.start
        if self._report is not None:
            self._report(damage)

    def _damage(self, start: int, end: int, what: str) -> None:
        if self._report is None:
            raise ArchiveError(self._path, start, what)
        if start != self._damaged:
            self._noted(Damage(str(self._path), start, end, what))

    def _whole(self, answer: Answer) -> bytes:
        """Return all of a block."""
        source = answer.source
        block = _block(source)
        if isinstance(source, tuple) and len(block) < source[4]:
            return skim.block(self._file, self._path, source)
        return block


def _block(source: Start | WarcRecord) -> bytes:
    return source[2][source[3] :] if isinstance(source, tuple) else source.block


def reference_describe(record: WarcRecord) -> About:
    """Return what an index says of a record."""
    kind = record.type
    head = fields.split(record.block, {})[0] if kind in ("response", "revisit") else b""
    return (
        kind,
        record.target,
        record.header("WARC-Date"),
        record.header("WARC-Record-ID"),
        "\n".join(record.all("WARC-Concurrent-To")),
        record.header("Content-Type"),
        record.header("WARC-Identified-Payload-Type"),
        record.header("WARC-Payload-Digest"),
        record.header("WARC-Truncated"),
        fields.status(head),
        fields.media_type(head),
        fields.location(head),
    )


def _no_kernel(data: bytes, start: int) -> About | None:
    return None


describe = _skim.describe if _skim else _no_kernel


def _opened(path: AnyPath) -> BinaryIO:
    """Open a file whose records are unpacked one by one, from their offsets: buffers would read too much."""
    return cast(BinaryIO, path.open("rb", buffering=0)) if isinstance(path, Path) else path.open("rb")
