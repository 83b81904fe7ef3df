"""What a storage gets and does."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from windrow.config import ConfigError

Gone = Callable[[str], bool]  # URL -> whether its page must not be stored


class StorageLost(ConfigError):
    """The server does not answer any more, or refuses for now: the same call may succeed later."""


class StorageTaken(ConfigError):
    """Another process stores this crawl, or has stored more of it than this one knows. Nothing was written."""


def taken(shown: str, crawl: str) -> StorageTaken:
    return StorageTaken(f"another process stores {crawl} in {shown}; wait for its end and run the same command again")


class StoragePosition(msgspec.Struct, frozen=True, kw_only=True):
    """How far a crawl is stored: everything up to this frame of its log, nothing behind it."""

    crawl: str  # name in the storage
    first: float  # time of the first frame: by this a crawl is known
    frame: int = 0
    file: str = ""  # of the log, with the next field: where the next frame begins
    offset: int = 0
    lengths: dict[str, int] = {}  # bytes of each corpus file that are stored
    listed: str = ""  # digest of the takedown list whose pages were removed
    captures: bool = False  # whether captures are stored too
    # Only of a shard:
    job: str = ""  # id of the job
    log: int = 0  # the first incarnation in the log: a shard that has lost its directory begins another log
    incarnation: int = 0  # the last one of the frames that are stored
    clearing: bool = False  # the rows of a log that was lost are being removed


class DocumentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A document as storages keep it: what is searched most has a column; `document` is all of it, as JSON."""

    id: str
    crawl: str
    url: str
    domain: str
    time: str
    language: str
    title: str
    author: str
    date: str
    text: str
    document: str


class CaptureRow(msgspec.Struct, frozen=True, kw_only=True):
    """A capture: what was requested, what became of it, and where its record is in the archive."""

    crawl: str
    seq: int
    url: str
    kind: str
    time: str
    status: int
    reason: str
    detail: str
    language: str
    digest: str
    warc_filename: str  # this and the next two are named as in the index
    warc_record_offset: int
    warc_record_length: int
    downloaded: int
    kept: int


class StorageBatch(msgspec.Struct, frozen=True):
    """The rows of some frames, in order."""

    documents: tuple[DocumentRow, ...]
    captures: tuple[CaptureRow, ...]
    removed: frozenset[str]  # URLs of pages that a purge removed: to remove before these rows are written
    first: int  # number of the first frame
    position: StoragePosition  # behind the last frame


class Storage(Protocol):
    """A database or an object storage. StorageLost from any verb: nothing is known; open it again and ask.

    Several processes may have a crawl open at the same time, on several machines. One of them succeeds: a verb that
    changes something raises StorageTaken if the position is not the one that this object has read or written last.
    """

    seconds: float  # between two writes while a crawl is followed

    def position(self, crawl: str) -> StoragePosition | None:
        """Return how far a crawl is stored; None if it never was."""

    def write(self, batch: StorageBatch) -> None:
        """Make the rows and the position durable. The same batch again changes nothing."""

    def remove(self, crawl: str, gone: Gone) -> int:
        """Remove the rows of these pages; return how many documents there were."""

    def clear(self, crawl: str) -> None:
        """Remove all rows of a crawl. Its position stays."""

    def close(self) -> None: ...
