"""The committed frames of a crawl as batches for a storage, from a position on.

A frame names the length of every corpus file, so the documents of a frame are the bytes between two lengths. Which of
them belong to the frame is said by the reports: a purge may have joined the gzip members of several frames.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from windrow import log, takedown, urls
from windrow import sharding as divided
from windrow.config import ConfigError
from windrow.corpus import document as documents
from windrow.corpus import purge, shards
from windrow.jobs.store.protocol import CaptureRow, DocumentRow, Gone, StorageBatch, StoragePosition, StorageTaken
from windrow.log import purges
from windrow.records import Document, Frame, Report

ROWS = 2000  # documents and captures of a batch, about
TEXT = 16 << 20  # bytes of text of a batch, about
_MARK = 512  # bytes of a log that no other log begins with

Places = dict[tuple[str, int], str]  # archive file and offset -> URL


def named(directory: Path, name: str) -> str:
    """Return the name of a crawl in a storage: the given one, or that of its directory; of a shard CRAWL/NNN."""
    if "/" in name or name in (".", ".."):
        raise ConfigError(f"--name {name!r} cannot be the name of a folder; use letters, digits, '-' and '_'")
    path = directory.resolve()
    if path.parent.name == "shards" and divided.identity(path) is not None:
        return f"{name or path.parent.parent.name}/{path.name}"
    return name or path.name


class Feed:
    """Reads one crawl. merged.py has the same verbs for a merged corpus."""

    def __init__(self, directory: Path, name: str = "", captures: bool = False) -> None:
        """`name`: of the crawl in the storage; "": that of its directory."""
        self._directory = directory
        self._log = directory / "log"
        self._captures = captures
        self.name = named(directory, name)
        identity = divided.identity(directory)
        self._job = identity.job.id if identity is not None and identity.shard >= 0 else ""

    def start(self) -> StoragePosition | None:
        """Return the position before the first frame; None if nothing is committed yet."""
        for frame, _ in log.frames(self._log):
            return StoragePosition(
                crawl=self.name,
                first=frame.time,
                captures=self._captures,
                job=self._job,
                log=frame.incarnation,
            )
        return None

    def mark(self) -> bytes:
        """Return what changes if the log is replaced by another one: its first bytes, which have its time."""
        for name in log.names(self._log)[:1]:
            with (self._log / name).open("rb") as file:
                return file.read(_MARK)
        return b""

    def resume(self, stored: StoragePosition) -> StoragePosition | None:
        """Return where to continue, if a storage is at this position; None: this log has no frame yet.

        The position of another crawl is refused. Of a shard that has lost its directory, or frames that its storage
        has, everything is to be stored again (`clearing`).
        """
        own = self.start()
        if self._job and stored.job == self._job:
            if own is None:
                return None
            if own.log != stored.log:
                return self._begin_again(own, stored)
        fix = "store this crawl under another name with --name"
        if own is None or own.first != stored.first or stored.job != self._job:
            raise ConfigError(f"the storage has another crawl with the name {self.name}; {fix}")
        path = self._log / stored.file
        if stored.file and (not path.exists() or path.stat().st_size < stored.offset):
            problem = f"the storage has {self.name} up to frame {stored.frame}, which is not in {self._log}"
            raise ConfigError(f"{problem}: was it restored from an older copy? If so, {fix}")
        end = log.ends(self._log, stored.file) if stored.file else None
        if end is not None and end < stored.offset:  # a process that was replaced had written these frames
            return msgspec.structs.replace(own, clearing=True, incarnation=stored.incarnation)
        if stored.captures != self._captures:
            other = "with captures; add --captures" if stored.captures else "without captures; leave out --captures"
            raise ConfigError(f"the storage has {self.name} {other}, or store it under another name with --name")
        return stored

    def _begin_again(self, own: StoragePosition, stored: StoragePosition) -> StoragePosition:
        """Two directories have had this shard. The one with the higher incarnation has it now."""
        latest = max(head.incarnation for head, _, _ in log.raw_frames(self._log))
        if latest < stored.incarnation:
            problem = f"{self._directory} is not {self.name} any more: the shard was begun again in another directory"
            raise StorageTaken(f"{problem}, which is stored; move this one away")
        return msgspec.structs.replace(own, clearing=True, incarnation=latest)

    def batches(self, position: StoragePosition, listed: Gone) -> Iterator[StorageBatch]:
        """Yield what is committed behind a position, without the pages that are listed."""
        takedown.check_purged(self._directory)
        held: list[tuple[Frame, log.Position]] = []
        size = rows = 0
        for frame, end in self._frames(position):
            held.append((frame, end))
            rows += len(frame.entries)
            size += sum(entry.report.kept for entry in frame.entries)
            if rows >= ROWS or size >= TEXT or _removed(frame):
                batch = self._batch(held, position, listed)
                yield batch
                held, size, rows, position = [], 0, 0, batch.position
        if held:
            yield self._batch(held, position, listed)

    def _frames(self, position: StoragePosition) -> Iterator[tuple[Frame, log.Position]]:
        """A frame that is still in the memory of the system could vanish with the power: make it durable first."""
        start = (position.file, position.offset)
        ends: dict[str, int] = {position.file: position.offset} if position.file else {}
        for name in log.names(self._log):
            if name >= position.file and (self._log / name).stat().st_size > ends.setdefault(name, 0):
                _sync(self._log / name)
        for frame, end in log.frames(self._log, start, position.frame or None):
            ends[end[0]] = end[1]
            yield frame, end
        for name, end_there in ends.items():
            lost = log.lost_frame(self._log / name, end_there)
            if lost is not None and lost > end_there:
                problem = f"{self._log / name}, byte {end_there}: damaged, and whole frames follow"
                raise ConfigError(f"{problem}; restore the file from a copy")

    def _batch(
        self, frames: Sequence[tuple[Frame, log.Position]], before: StoragePosition, listed: Gone
    ) -> StorageBatch:
        reports = [entry.report for frame, _ in frames for entry in frame.entries]
        lengths = {
            name: length
            for frame, _ in frames
            for name, length in frame.lengths.items()
            if name.startswith(f"{shards.DIRECTORY}/")
        }
        last, (file, offset) = frames[-1]
        position = msgspec.structs.replace(
            before,
            frame=last.number,
            file=file,
            offset=offset,
            lengths={**before.lengths, **lengths},
            incarnation=max(before.incarnation, *(frame.incarnation for frame, _ in frames)),
        )
        wanted: Places = {
            (report.place.file, report.place.offset): report.task.url.text
            for report in reports
            if report.kept and report.place is not None
        }
        removed = frozenset(url for frame, _ in frames for url in _removed(frame))
        rows = self._documents(lengths, before.lengths, wanted) if wanted else []
        captures = (
            [self._capture(report) for report in reports if report.seq and report.place] if self._captures else []
        )
        return StorageBatch(
            documents=tuple(row for row in rows if row.url not in removed and not listed(row.url)),
            captures=tuple(row for row in captures if row.url not in removed and not listed(row.url)),
            removed=removed,
            first=frames[0][0].number,
            position=position,
        )

    def _documents(self, lengths: Mapping[str, int], before: Mapping[str, int], wanted: Places) -> list[DocumentRow]:
        rows = []
        missing = dict(wanted)
        for name in sorted(lengths):
            for line, location in _lines(self._directory / name, before.get(name, 0), lengths[name]):
                document = documents.read(line, location)
                if missing.pop((document.place.file, document.place.offset), ""):
                    rows.append(document_row(document, line, self.name))
        if missing:
            gone = log.purged(self._log)
            lost = next((url for url in missing.values() if url not in gone), "")
            if lost:
                problem = f"the log has a document of {lost}, and {self._directory / shards.DIRECTORY} has none"
                raise ConfigError(f"{problem}; restore the corpus from a copy")
        return rows

    def _capture(self, report: Report) -> CaptureRow:
        assert report.place is not None
        return CaptureRow(
            crawl=self.name,
            seq=report.seq,
            url=report.task.url.text,
            kind=report.task.kind.name.lower().replace("_", "-"),
            time=documents.moment(report.time),
            status=report.status,
            reason=report.reason.value,
            detail=report.detail.replace("\0", ""),  # PostgreSQL has no such character
            language=report.language,
            digest=report.digest,
            warc_filename=report.place.file,
            warc_record_offset=report.place.offset,
            warc_record_length=report.place.length,
            downloaded=report.downloaded,
            kept=report.kept,
        )


def document_row(document: Document, line: bytes, crawl: str) -> DocumentRow:
    return DocumentRow(
        id=document.id,
        crawl=crawl,
        url=document.url,
        domain=urls.domain(urls.host_of(document.url)),
        time=document.time,
        language=document.language,
        title=document.title,
        author=document.author,
        date=document.date,
        text=document.text,
        document=line.decode().rstrip("\n"),
    )


def _removed(frame: Frame) -> list[str]:
    """Return the URLs of the pages that a purge removed with this frame."""
    return [url for order in frame.orders if order.verb == purges.VERB for url in purges.split(order)[1]]


def _lines(path: Path, start: int, end: int) -> Iterator[tuple[bytes, str]]:
    """Yield the documents of a part of a corpus file, and their places for error messages."""
    try:
        members = list(purge.members(path, end, start))
    except ConfigError:  # a purge has joined the member that begins here with the one before
        members = [member for member in purge.members(path, end) if member[1] > start]
    for at, _, text in members:
        for line in text.splitlines(keepends=True):
            if not line.isspace():
                yield line, f"{path}, in the gzip member at byte {at}"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
