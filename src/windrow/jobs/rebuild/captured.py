"""The pages of a crawl as they were downloaded: from the log, in its order, and the archive. Nothing is downloaded."""

from pathlib import Path

from windrow import archive
from windrow.archive import ArchiveError, StoredCapture
from windrow.config import ConfigError
from windrow.log import PurgeNote
from windrow.records import Kind, Place, Reason, Report

_UNREAD = (Reason.PARSE_TIMEOUT, Reason.PARSE_MEMORY, Reason.PARSE_CRASH)  # pages that broke a worker would break us


def is_page(report: Report) -> bool:
    """Return whether a report is about a page that can be read again."""
    ended = report.final and report.reason not in _UNREAD
    return report.task.kind is Kind.PAGE and not report.task.embed and ended and 200 <= report.status < 300


def is_purged(report: Report, frame: int, purged: dict[str, PurgeNote]) -> bool:
    """Return whether a page of this frame was removed from the archive later."""
    note = purged.get(report.task.url.text)
    return note is not None and frame < note.frame


def read(directory: Path, place: Place) -> StoredCapture:
    """Return a capture; ConfigError where the archive is damaged."""
    try:
        return archive.open_entry(directory, place)
    except ArchiveError as error:
        raise ConfigError(f"{error}; restore the file from a copy") from None
