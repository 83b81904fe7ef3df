"""The responses of an archive file, each with its metadata record: what an index says a line about.

A metadata record follows its response, so a response is handed on when the next record is known. Damage is an error,
after everything before it; with `report` it is reported, and the records behind it are read too. A record that was put
right on the way has no answer: who opens it by its offset and length would find the damage.
"""

from collections.abc import Iterator

import msgspec

from windrow.archive.reading.repair import Damage, Report
from windrow.archive.reading.scan import records
from windrow.archive.reading.unpack import ArchiveError
from windrow.archive.record import WarcRecord, verify
from windrow.io.storage import AnyPath

CHARSET, LANGUAGES = "charset-detected", "languages"  # begin the fields of a metadata record that an index has
_TYPES = ("response", "revisit", "metadata")


class Answer(msgspec.Struct, gc=False):
    record: WarcRecord  # a response or a revisit; its length is 0 if it shares its member
    notes: bytes = b""  # block of its metadata record; empty if it has none


class Answers:
    """The responses and revisits of one file, in its order."""

    def __init__(
        self, path: AnyPath, end: int | None = None, check: bool = False, report: Report | None = None
    ) -> None:
        """`check`: compare each record with its digest."""
        self._path, self._end, self._check = path, end, check
        self._report = report
        self._damaged = -1  # offset of the last damage; a record that begins there was put right

    def read(self) -> Iterator[Answer]:
        """Yield each answer when its metadata record was read, if it has one."""
        answer, damage = None, None
        try:
            for record in self._records():
                if record.type != "metadata":
                    if answer is not None:
                        yield answer
                    answer = Answer(record)
                elif answer is not None and answer.record.header("WARC-Record-ID") in record.all("WARC-Concurrent-To"):
                    answer.notes = record.block
                    yield answer
                    answer = None
        except ArchiveError as error:
            damage = error
        if answer is not None and (answer.record.length or damage is None):
            yield answer
        if damage is not None:
            raise damage

    def block(self, answer: Answer) -> bytes:
        """Return all of a block; what was read of a damaged file is cut earlier than what is read by its place."""
        record = answer.record
        if len(record.block) == record.size:
            return record.block
        return next(records(self._path, record.offset, record.offset + record.length)).block

    def shared(self, answer: Answer) -> None:
        """Say that a record has no place of its own."""
        what = "the record that begins here shares its gzip member, so it has no length; compress the file again"
        self._damage(answer.record.offset, answer.record.offset, what)

    def _records(self) -> Iterator[WarcRecord]:
        for record in records(self._path, 0, self._end, self._note if self._report is not None else None):
            if self._check and verify(record) is False:
                what = "the block of this record does not match its digest"
                self._damage(record.offset, record.offset + record.length, what)
            elif record.type in _TYPES and record.offset != self._damaged:
                yield record

    def _note(self, damage: Damage) -> None:
        self._damaged = damage.start
        if self._report is not None:
            self._report(damage)

    def _damage(self, start: int, end: int, what: str) -> None:
        if self._report is None:
            raise ArchiveError(self._path, start, what)
        if start != self._damaged:
            self._note(Damage(str(self._path), start, end, what))
