"""MongoDB, through pymongo: mongodb://USER:PASSWORD@HOST:PORT/DATABASE.

A single server has no transactions. So the rows are written first, each by its id, and the position after them: a batch
that was interrupted is written again, and changes nothing where it was written already.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pymongo
import pymongo.errors

from windrow import storage
from windrow.batch.storages.protocol import (
    CaptureRow,
    DocumentRow,
    Gone,
    StorageBatch,
    StorageLost,
    StoragePosition,
)
from windrow.config import ConfigError

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
    except pymongo.errors.PyMongoError as error:
        raise ConfigError(f"{shown} cannot be opened: {storage.describe(error)[:300]}; {fix}") from None
    return MongoStorage(database, shown, captures)


class MongoStorage:
    """See `Storage`."""

    seconds = 1.0

    def __init__(self, database: Any, shown: str, captures: bool) -> None:
        self._database, self._shown, self._captures = database, shown, captures

    def position(self, crawl: str) -> StoragePosition | None:
        with self._checked():
            found = self._database[POSITIONS].find_one({"_id": crawl})
        return msgspec.json.decode(found["position"], type=StoragePosition) if found else None

    def write(self, batch: StorageBatch) -> None:
        position = batch.position
        with self._checked():
            self._put(DOCUMENTS, [_document(row) for row in batch.documents])
            self._put(CAPTURES, [_capture(row) for row in batch.captures])
            self._put(POSITIONS, [{"_id": position.crawl, "position": msgspec.json.encode(position).decode()}])

    def remove(self, crawl: str, gone: Gone) -> int:
        removed = 0
        with self._checked():
            for name in (DOCUMENTS, *((CAPTURES,) if self._captures else ())):
                found = self._database[name].find({"crawl": crawl}, {"url": 1})
                own = [row["_id"] for row in found if gone(row["url"])]
                if own:
                    self._database[name].delete_many({"_id": {"$in": own}})
                removed += len(own) if name == DOCUMENTS else 0
        return removed

    def close(self) -> None:
        self._database.client.close()

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
    found: dict[str, Any] = msgspec.json.decode(row.document)
    found |= {"_id": row.id, "crawl": row.crawl, "domain": row.domain, "text": row.text}
    if len(row.document) + len(row.text) > _LARGEST // 4 and _size(found) > _LARGEST:
        del found["paragraphs"]
    return found


def _size(found: dict[str, Any]) -> int:
    return len(msgspec.json.encode(found)) * 11 // 10  # BSON is a little longer than JSON


def _capture(row: CaptureRow) -> dict[str, Any]:
    return {"_id": f"{row.crawl} {row.seq}", **msgspec.structs.asdict(row)}
