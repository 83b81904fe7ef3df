"""A server that speaks the wire protocol of MongoDB, as far as `windrow store` uses it, on a thread of its own.

It is not MongoDB: it shows that the real client sends commands that mean the right thing, and what happens when the
connection is lost. `mongodb` in servers.py is the real one, where it is installed.
"""

import contextlib
import socket
import struct
import threading
from typing import Any

import bson

_HEADER = struct.Struct("<iiii")
_MESSAGE, _QUERY, _REPLY = 2013, 2004, 1
_HELLO = {
    "ismaster": True,
    "isWritablePrimary": True,
    "helloOk": True,
    "maxBsonObjectSize": 16 << 20,
    "maxMessageSizeBytes": 48_000_000,
    "maxWriteBatchSize": 100_000,
    "minWireVersion": 0,
    "maxWireVersion": 21,
    "readOnly": False,
    "ok": 1.0,
}


class MongoServer:
    """Collections by name, each with its documents by _id."""

    def __init__(self) -> None:
        self.collections: dict[str, dict[str, dict[str, Any]]] = {}
        self._clients: list[socket.socket] = []
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"mongodb://127.0.0.1:{self.port}/corpus"

    def start(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def kill(self) -> None:
        """Close every connection. What was written stays."""
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        with self._lock:
            for client in self._clients:
                with contextlib.suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)
                client.close()
            self._clients.clear()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                with self._lock:
                    self._clients.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                length, request, _, code = _HEADER.unpack(_exactly(client, _HEADER.size))
                data = _exactly(client, length - _HEADER.size)
                if code == _QUERY:
                    body = bson.encode(_HELLO)
                    reply = struct.pack("<iqii", 8, 0, 0, 1) + body
                    client.sendall(_HEADER.pack(_HEADER.size + len(reply), 0, request, _REPLY) + reply)
                    continue
                assert code == _MESSAGE
                with self._lock:
                    answer = self._answer(_command(data))
                reply = struct.pack("<IB", 0, 0) + bson.encode(answer)
                client.sendall(_HEADER.pack(_HEADER.size + len(reply), 0, request, _MESSAGE) + reply)

    def _answer(self, command: dict[str, Any]) -> dict[str, Any]:
        verb, name = next(iter(command.items()))
        rows = self.collections.setdefault(str(name), {})
        if verb == "update":
            matched = 0
            for update in command["updates"]:
                assert not any(key.startswith("$") for key in update["u"]), "a replacement"
                found = rows.get(update["q"]["_id"])
                if update.get("upsert") or (found and _matches(found, update["q"])):
                    rows[update["q"]["_id"]] = update["u"]
                    matched += 1
            return {"n": matched, "nModified": 0, "ok": 1.0}
        if verb == "insert":
            (row,) = command["documents"]
            if rows.setdefault(row["_id"], row) is not row:
                return {"n": 0, "writeErrors": [{"index": 0, "code": 11000, "errmsg": "duplicate key"}], "ok": 1.0}
            return {"n": 1, "ok": 1.0}
        if verb == "delete":
            (deletion,) = command["deletes"]
            gone = [own for own, row in rows.items() if _matches(row, deletion["q"])]
            for own in gone:
                del rows[own]
            return {"n": len(gone), "ok": 1.0}
        if verb == "find":
            wanted = command.get("filter", {})
            found = [row for row in rows.values() if _matches(row, wanted)]
            return {"cursor": {"id": 0, "ns": f"corpus.{name}", "firstBatch": found}, "ok": 1.0}
        return _HELLO if verb.lower() in ("hello", "ismaster") else {"ok": 1.0}


def _matches(row: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(
        row.get(key) in value["$in"] if isinstance(value, dict) else row.get(key) == value
        for key, value in wanted.items()
    )


def _command(data: bytes) -> dict[str, Any]:
    """Return the command of a message, with the lists that are sent beside it."""
    at, lists, body = 4, {}, {}
    while at < len(data):
        kind, at = data[at], at + 1
        (size,) = struct.unpack_from("<i", data, at)
        part, at = data[at : at + size], at + size
        if not kind:
            body = bson.decode(part)
            continue
        name, _, rest = part[4:].partition(b"\0")
        lists[name.decode()] = bson.decode_all(rest)
    return {**body, **lists}


def _exactly(client: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = client.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data
