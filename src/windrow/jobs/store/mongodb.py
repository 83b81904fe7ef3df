"""MongoDB, through pymongo: mongodb://USER:PASSWORD@HOST:PORT/DATABASE.

A single server has no transactions. So the rows are written first, each by its id, and the position after them: a batch
that was interrupted is written again, and changes nothing where it was written already. The position is replaced only
if it is still the one that this process knows. Of two processes that store the same log at the same time both write the
same rows; rows of a log that was lost are taken back.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pymongo
import pymongo.errors

from windrow.config import ConfigError
from windrow.io import storage
from windrow.jobs.store.protocol import (
    CaptureRow,
    DocumentRow,
    Gone,
    StorageBatch,
    StorageLost,
    StoragePosition,
    StorageTaken,
    taken,
)

DOCUMENTS, CAPTURES, POSITIONS = "windrow_documents", "windrow_captures", "windrow_positions"
_TIMEOUT = 10_000  # milliseconds to find the server
_LARGEST = 15 << 20  # bytes of a document; the server refuses 16 MB
_LOST = (pymongo.errors.ConnectionFailure, pymongo.errors.WTimeoutError, pymongo.errors.ExecutionTimeout)


def open(target: str, captures: bool) -> "MongoStorage":
    shown = storage.without_password(target)
    fix = "check that the server runs, and the address, the user and the password"
    try:
        client: Any = pymongo.MongoClient(target, serverSelectionTimeoutMS=_TIMEOUT, w="majority", journal=True)
        database = client.get_default_database()
        database.command("ping")
    except pymongo.errors.ConfigurationError as error:
        example = "mongodb://HOST/DATABASE"
        raise ConfigError(f"{shown}: {storage.describe(error)}; the address must look like {example}") from None
    except ValueError:  # of a port; its text may have a part of the password
        raise ConfigError(f"{shown} is not an address; {storage.ESCAPES}") from None
    except pymongo.errors.PyMongoError as error:
        raise ConfigError(f"{shown} cannot be opened: {storage.describe(error)[:300]}; {fix}") from None
    return MongoStorage(database, shown, captures)


class MongoStorage:
    """See `Storage`."""

    seconds = 1.0

    def __init__(self, database: Any, shown: str, captures: bool) -> None:
        self._database, self._shown, self._captures = database, shown, captures
        self._known: dict[str, str] = {}  # by crawl: the position as it was read or written last

    def position(self, crawl: str) -> StoragePosition | None:
        stored = self._position(crawl)
        self._known.pop(crawl, None)
        if stored is None:
            return None
        self._known[crawl] = stored
        return msgspec.json.decode(stored, type=StoragePosition)

    def write(self, batch: StorageBatch) -> None:
        crawl = batch.position.crawl
        self._own(crawl)
        with self._checked():
            self._put(DOCUMENTS, [_document(row) for row in batch.documents])
            self._put(CAPTURES, [_capture(row) for row in batch.captures])
        try:
            self._advance(crawl, msgspec.json.encode(batch.position).decode())
        except StorageTaken:
            self._take_back(batch)
            raise

    def remove(self, crawl: str, gone: Gone) -> int:
        removed = 0
        self._own(crawl)
        with self._checked():
            for name in self._collections:
                rows = self._database[name].find({"crawl": crawl}, {"url": 1})
                own = [row["_id"] for row in rows if gone(row["url"])]
                if own:
                    self._database[name].delete_many({"_id": {"$in": own}})
                removed += len(own) if name == DOCUMENTS else 0
        return removed

    def clear(self, crawl: str) -> None:
        self._own(crawl)
        with self._checked():
            for name in self._collections:
                self._database[name].delete_many({"crawl": crawl})

    def close(self) -> None:
        self._database.client.close()

    @property
    def _collections(self) -> tuple[str, ...]:
        return (DOCUMENTS, CAPTURES) if self._captures else (DOCUMENTS,)

    def _position(self, crawl: str) -> str | None:
        with self._checked():
            row = self._database[POSITIONS].find_one({"_id": crawl})
        return row["position"] if row else None

    def _own(self, crawl: str) -> None:
        if self._position(crawl) != self._known.get(crawl):
            raise taken(self._shown, crawl)

    def _advance(self, crawl: str, position: str) -> None:
        version, positions = self._known.get(crawl), self._database[POSITIONS]
        with self._checked():
            if version is None:
                try:
                    positions.insert_one({"_id": crawl, "position": position})
                except pymongo.errors.DuplicateKeyError:
                    raise taken(self._shown, crawl) from None
            else:
                row = {"_id": crawl, "position": position}
                if positions.replace_one({"_id": crawl, "position": version}, row).matched_count != 1:
                    raise taken(self._shown, crawl)
        self._known[crawl] = position

    def _take_back(self, batch: StorageBatch) -> None:
        """Remove the documents of a batch, unless the process that has the crawl now stores the same log: then they are
        in its batches too."""
        stored = self._position(batch.position.crawl)
        if stored and msgspec.json.decode(stored, type=StoragePosition).first == batch.position.first:
            return
        own = [row.id for row in batch.documents]
        if own:
            with self._checked():
                self._database[DOCUMENTS].delete_many({"_id": {"$in": own}})

    def _put(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            requests = [pymongo.ReplaceOne({"_id": row["_id"]}, row, upsert=True) for row in rows]
            self._database[name].bulk_write(requests, ordered=False)

    @contextlib.contextmanager
    def _checked(self) -> Iterator[None]:
        try:
            yield
        except _LOST as error:
            raise StorageLost(f"{self._shown} is lost: {storage.describe(error)[:300]}") from None
        except pymongo.errors.PyMongoError as error:
            problem = f"{self._shown} refuses: {storage.describe(error)[:300]}"
            raise ConfigError(f"{problem}; fix that and run the same command again") from None


def _document(row: DocumentRow) -> dict[str, Any]:
    """Return the members of a document itself, with its text and its crawl; if that is too large, no paragraphs."""
    values: dict[str, Any] = msgspec.json.decode(row.document)
    values |= {"_id": row.id, "crawl": row.crawl, "domain": row.domain, "text": row.text}
    if len(row.document) + len(row.text) > _LARGEST // 4 and _size(values) > _LARGEST:
        del values["paragraphs"]
    return values


def _size(values: dict[str, Any]) -> int:
    return len(msgspec.json.encode(values)) * 11 // 10  # BSON is a little longer than JSON


def _capture(row: CaptureRow) -> dict[str, Any]:
    return {"_id": f"{row.crawl} {row.seq}", **msgspec.structs.asdict(row)}
