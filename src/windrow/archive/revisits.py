"""The records to which the revisit records of a set of files point.

Most programs write a revisit record without its payload, and name the earlier record by its id, or by its URL and date.
Neither says where that record is. `Originals` reads the files once to see what is wanted, and once more to find it: its
memory grows with the revisits, not with the archive.
"""

import contextlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import msgspec

from windrow import urls
from windrow.archive.reading.repair import Damage
from windrow.archive.reading.scan import records
from windrow.archive.record import WarcRecord
from windrow.config import ConfigError
from windrow.io import storage
from windrow.io.storage import AnyPath


class Originals:
    """Finds the payloads of revisits within a set of files."""

    def __init__(self, paths: Sequence[AnyPath], places: Mapping[int, tuple[int, int]] | None = None) -> None:
        """`places`: what is known, as `joined` returns it; by default the files are read."""
        self._paths: list[AnyPath] = list(paths)
        self._places: Mapping[int, tuple[int, int]]  # key -> number of the file, offset
        if places is None:
            keys = {key for path in paths for key in asked(path)}
            places = joined([offered(path, keys) for path in paths] if keys else [])
        self._places = places

    def __bool__(self) -> bool:
        return bool(self._places)

    def save(self, path: Path) -> None:
        """Write what was found, for other processes."""
        path.write_bytes(msgspec.msgpack.encode(([str(name) for name in self._paths], self._places)))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return what `save` wrote."""
        names, places = msgspec.msgpack.decode(
            path.read_bytes(), type=tuple[list[str], dict[int, tuple[int, int]]], strict=False
        )
        return cls([storage.place(name) for name in names], places)

    def find(self, revisit: WarcRecord) -> WarcRecord | None:
        """Return the response to which a revisit points; None if it is not in these files.

        The payloads must have the same digest, if both records have one.
        """
        for key in _asked(revisit):
            place = self._places.get(key)
            if place is None:
                continue
            original = self._at(place, key)
            if original is not None and _agree(original, revisit):
                return original
        return None

    def _at(self, place: tuple[int, int], key: int) -> WarcRecord | None:
        """Return the record at a place; it may share its member with others."""
        number, offset = place
        for record in records(self._paths[number], offset, report=_silent):
            if record.offset != offset:
                return None
            if record.type in ("response", "resource") and key in _offered(record):
                return record
        return None


def asked(path: AnyPath) -> list[int]:
    """Return the keys of the records to which the revisits of a file point."""
    revisits = (record for record in _records(path) if record.type == "revisit")
    return list(dict.fromkeys(key for record in revisits for key in _asked(record)))


def offered(path: AnyPath, keys: Container[int]) -> list[tuple[int, int]]:
    """Return the records of a file that have one of these keys: key and offset."""
    newest: dict[int, int] = {}
    for record in _records(path):
        if record.type in ("response", "resource"):
            for key in _offered(record):
                if key in keys:
                    newest.setdefault(key, record.offset)
    return list(newest.items())


def joined(offers: Iterable[Sequence[tuple[int, int]]]) -> dict[int, tuple[int, int]]:
    """Return the places of keys, from what each file offers. The first one counts, as for the program that wrote the
    revisit."""
    places: dict[int, tuple[int, int]] = {}
    for number, offer in enumerate(offers):
        for key, offset in offer:
            places.setdefault(key, (number, offset))
    return places


def _records(path: AnyPath) -> Iterator[WarcRecord]:
    """Yield the records that can be read. Where the files are read for their pages, the others are reported."""
    with contextlib.suppress(OSError, ConfigError):
        yield from records(path, report=_silent)


def _silent(damage: Damage) -> None:
    """Report nothing."""


def _asked(revisit: WarcRecord) -> list[int]:
    """Return the keys of the record that a revisit points to, the surest first."""
    target = revisit.header("WARC-Refers-To-Target-URI").strip("<>")
    date, digest = revisit.header("WARC-Refers-To-Date"), revisit.header("WARC-Payload-Digest")
    texts = [f"id {name}" for name in [revisit.header("WARC-Refers-To")] if name]
    if target and date:
        texts.append(f"at {target} {_moment(date)}")
    if digest:
        texts.append(f"of {digest.lower()}")
    return [urls.key(text) for text in texts]


def _offered(record: WarcRecord) -> list[int]:
    """Return the keys under which a revisit may ask for a record."""
    texts = [f"id {record.header('WARC-Record-ID')}", f"at {record.target} {_moment(record.header('WARC-Date'))}"]
    digest = record.header("WARC-Payload-Digest")
    if digest:
        texts.append(f"of {digest.lower()}")
    return [urls.key(text) for text in texts]


def _moment(date: str) -> str:
    """Return a date in seconds: some programs write fractions in one of the two records only."""
    return date.partition(".")[0].rstrip("Zz")


def _agree(original: WarcRecord, revisit: WarcRecord) -> bool:
    digest, other = original.header("WARC-Payload-Digest").lower(), revisit.header("WARC-Payload-Digest").lower()
    return not digest or not other or digest.partition(":")[0] != other.partition(":")[0] or digest == other
