"""Rows as bytes, for a store on disk."""

import struct
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.frontier.store.rows import CODES, READABLE, REASONS, VERSION, DomainRow, HostRow, Meta
from windrow.records import History, Origin

_encode = msgspec.msgpack.Encoder().encode
_host = msgspec.msgpack.Decoder(HostRow)
_domain = msgspec.msgpack.Decoder(DomainRow)
_origin = msgspec.msgpack.Decoder(Origin)

# visits, reason, fetches, changes, first, last, unchanged, digest, modified, attempt; the ETag follows
_HISTORY = struct.Struct(">HBHHIIIQIB")
_SHORT, _LONG = (1 << 16) - 1, (1 << 32) - 1


def pack_host(host: HostRow) -> bytes:
    """Return a host's row. Its name is the key; its domain is the end of its name, so the length is enough."""
    length = len(host.domain) if host.name.endswith(host.domain) else 0
    return bytes([length]) + _encode(msgspec.structs.replace(host, name="", domain="" if length else host.domain))


def host(name: str, row: bytes) -> HostRow:
    unpacked = _host.decode(row[1:])
    unpacked.name = name
    if row[0]:
        unpacked.domain = name[-row[0] :]
    return unpacked


def pack_domain(domain: DomainRow) -> bytes:
    return _encode(msgspec.structs.replace(domain, name=""))


def domain(name: str, row: bytes) -> DomainRow:
    unpacked = _domain.decode(row)
    unpacked.name = name
    return unpacked


def pack_origin(origin: Origin) -> bytes:
    return _encode(origin)


def origin(row: bytes) -> Origin:
    return _origin.decode(row)


def pack_history(history: History) -> bytes:
    """Return a history as 32 bytes and its ETag. A count too large for its field is kept as the largest that fits."""
    numbers = (
        min(history.visits, _SHORT),
        CODES[history.reason],
        min(history.fetches, _SHORT),
        min(history.changes, _SHORT),
        history.first,
        history.last,
        min(history.unchanged, _LONG),
        history.digest,
        history.modified if 0 <= history.modified <= _LONG else 0,
        min(history.attempt, 255),
    )
    return _HISTORY.pack(*numbers) + history.etag.encode()


def history(row: bytes) -> History:
    visits, code, fetches, changes, first, last, unchanged, digest, modified, attempt = _HISTORY.unpack_from(row)
    return History(
        visits=visits,
        reason=REASONS[code - 1],
        fetches=fetches,
        changes=changes,
        first=first,
        last=last,
        unchanged=unchanged,
        digest=digest,
        etag=row[_HISTORY.size :].decode(),
        modified=modified,
        attempt=attempt,
    )


def pack_meta(meta: Meta, length: int) -> bytes:
    """`length`: of the file of URL texts."""
    return msgspec.json.encode((meta, length))


def meta(row: bytes, directory: Path) -> tuple[Meta, int]:
    version = msgspec.json.decode(row)[0].get("version", 0)
    if version not in READABLE:
        raise ConfigError(
            f"{directory} has state version {version}, but this Windrow reads versions {READABLE[0]} to {VERSION}; "
            "use the Windrow that wrote it, or move the directory away to have it rebuilt from log/"
        )
    unpacked, length = msgspec.json.decode(row, type=tuple[Meta, int])
    unpacked.version = VERSION
    return unpacked, length
