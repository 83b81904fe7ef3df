"""Refine the pages of an archive file, of any program: the part of a rebuild that needs one page at a time.

`rows` gives what the owner of the order needs of each page, and what of the file could not be read. `batches` is the
same as a job for an engine: plain values in msgpack, never pickle, because the worker has parsed hostile input.
"""

import base64
import functools
import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from windrow import archive, config
from windrow.archive import Damage, Originals, ReadOptions, StoredCapture, revisits
from windrow.config import Config, ConfigError
from windrow.extraction.readers import plain
from windrow.io import storage
from windrow.io.storage import AnyPath
from windrow.jobs.rebuild import captured, judging
from windrow.records import Kind, Place, Url
from windrow.refine import Refined, Refiner

if TYPE_CHECKING:
    import pyarrow

_DAMAGES = 100  # of a file that are named; a hostile file may have millions
_BATCH = 64  # rows
_SHA1 = re.compile(r"[A-Z2-7]{32}")


class RefinedRow(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """A page, as far as it can be judged without the others."""

    url: Url
    place: Place
    digest: str  # SHA-1 of the stored payload in base32
    ip: str
    time: float
    truncated: str
    id: str  # of its record
    refined: Refined


class DamageRow(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """A part of the file that was skipped, or put right."""

    damage: Damage


Row = RefinedRow | DamageRow
encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Row).decode


def options(file: str, settings: tuple[str, ...]) -> Config:
    """Return the options of a file, or the defaults if there is none, changed by the settings."""
    return config.load(Path(file), settings) if file else config.make(settings, Path())


@functools.lru_cache(1)
def _refiner(file: str, settings: tuple[str, ...]) -> Refiner:
    return Refiner(judging.without_links(options(file, settings)))


@functools.lru_cache(1)
def _originals(file: str) -> Originals | None:
    return Originals.load(Path(file)) if file else None


def asked(source: str) -> list[int]:
    """Return the keys that the revisits of a file ask for; see archive/revisits.py."""
    return revisits.asked(storage.place(source))


def offered(source: str, keys: str, version: str) -> list[tuple[int, int]]:
    """Return the records of a file that have one of the keys in the file `keys`. `version`: of these."""
    return revisits.offered(storage.place(source), _keys(keys, version))


@functools.lru_cache(1)
def _keys(file: str, version: str) -> set[int]:
    return msgspec.msgpack.decode(Path(file).read_bytes(), type=set[int])


def rows(path: AnyPath, options: str, settings: tuple[str, ...], originals: str = "") -> Iterator[Row]:
    """Yield the pages of a file in order, refined by these options, with the damage between them.

    `originals`: the file with the places to which revisits point; "" if there are no revisits.
    """
    refine = _refiner(options, settings)
    damages: list[Damage] = []
    told = pages = 0

    def report(damage: Damage) -> None:
        damages.append(msgspec.structs.replace(damage, file=str(path)))

    reading = ReadOptions(resources=True, conversions=True, originals=_originals(originals), report=report)
    for stored in archive.captures(path, reading):
        while told < min(len(damages), _DAMAGES):
            yield DamageRow(damages[told])
            told += 1
        pages += 1
        if _is_page(stored):
            yield row(stored, refine)
    if not pages and not archive.is_archive(path):
        what = damages[0].what if damages else "the file is empty"
        raise ConfigError(f"this is not an archive file: {what}")
    yield from (DamageRow(damage) for damage in damages[told:_DAMAGES])
    if len(damages) > _DAMAGES:
        more = f"{len(damages) - _DAMAGES:,} more places from here on are not as they should be"
        yield DamageRow(Damage(str(path), damages[_DAMAGES].start, damages[-1].end, more))


def batches(source: str, options: str, settings: tuple[str, ...], originals: str) -> "Iterator[pyarrow.RecordBatch]":
    """Yield `rows` as record batches with one binary column."""
    return _batched(rows(storage.place(source), options, settings, originals))


class CrawlPart(msgspec.Struct, frozen=True, array_like=True):
    """Some pages of a crawl, in the order of its log."""

    pages: list[tuple[Place, int]]  # with the number of a text
    texts: list[str]  # with which origins say that there is no such page; the first one is empty


decode_part = msgspec.msgpack.Decoder(CrawlPart).decode


def crawl_batches(
    source: str, directory: str, settings: tuple[str, ...], version: str
) -> "Iterator[pyarrow.RecordBatch]":
    """Yield the refined pages of a part of a crawl, which is the file of a CrawlPart.

    `version`: of the crawl's options; with other options it is another job.
    """
    part = decode_part(Path(source).read_bytes())
    refine = _refiner(str(Path(directory) / "crawl.toml"), settings)
    return _batched(row(captured.read(Path(directory), where), refine, part.texts[n]) for where, n in part.pages)


def _batched(rows: Iterable[Row]) -> "Iterator[pyarrow.RecordBatch]":
    import pyarrow

    held: list[bytes] = []
    for item in rows:
        held.append(encode(item))
        if len(held) == _BATCH:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array(held, pyarrow.binary())], schema=schema())
            held = []
    if held:
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array(held, pyarrow.binary())], schema=schema())


def schema() -> "pyarrow.Schema":
    import pyarrow

    return pyarrow.schema([pyarrow.field("row", pyarrow.binary(), nullable=False)])


def _is_page(stored: StoredCapture) -> bool:
    """Return whether a capture may go into a corpus. Of our own, only what was requested as a page."""
    task = stored.capture.task
    return task.kind is Kind.PAGE and not task.embed and 200 <= stored.capture.status < 300


def row(stored: StoredCapture, refine: Refiner, probe: str = "") -> RefinedRow:
    """`probe`: the text with which the page's origin says that there is no such page."""
    capture = stored.capture
    texted = stored.type == "conversion"
    refined = refine.judged(capture, plain.extract(capture)) if texted else refine(capture, probe)
    place = stored.place
    digest = stored.digest
    if not _SHA1.fullmatch(digest):  # none, or in another form
        digest = base64.b32encode(hashlib.sha1(capture.stored, usedforsecurity=False).digest()).decode()
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{place.file}#{place.offset}")  # records of ARC files have no id
    return RefinedRow(
        url=capture.task.url,
        place=place,
        digest=digest,
        ip=capture.ip,
        time=capture.time,
        truncated=capture.truncated,
        id=stored.id or f"<urn:uuid:{name}>",
        refined=msgspec.structs.replace(refined, links=(), refused={}, embeds=()),
    )
