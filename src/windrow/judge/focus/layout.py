"""A model as one block of bytes: hash tables that are used where they lie, so that processes share one mapped file.

An n-gram is found from its end: the slot of "b c" with the word "a" gives the key of "a b c". So a probability takes at
most one look-up per order, no two n-grams have the same key, and the n-grams can be read again from their keys.

    magic, version, length of the header   16 bytes
    header (JSON), its CRC-32
    sections, each at a multiple of 64     words, index of words, order 1, order 2, …
"""

import itertools
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from windrow.config import ConfigError
from windrow.judge.focus import hashing, tables
from windrow.judge.focus.hashing import Keys, Slots
from windrow.judge.focus.tables import Level, ModelOrigin, NgramTables, Numbers
from windrow.judge.focus.tokens import Tokeniser

MAGIC = b"windrlm\n"
VERSION = 1
_START = struct.Struct("<8sII")
_CHECK = struct.Struct("<I")
_ALIGN = 64
_WORD_ROOM = 2.0  # slots per word: every word of a text is looked up here

WORD = np.dtype([("key", "<u8"), ("number", "<u4")])  # a row of the index of words: its hash, its number
SINGLE = np.dtype([("log10", "<f4"), ("backoff", "<f4")])  # a word, at its number
MIDDLE = np.dtype([("key", "<u8"), ("log10", "<f4"), ("backoff", "<f4")])
HIGHEST = np.dtype([("key", "<u8"), ("log10", "<f4")])  # an n-gram of the highest order is no context

Rows = NDArray[Any]


class BlockSection(msgspec.Struct, frozen=True):
    """A part of the block."""

    offset: int
    length: int  # bytes
    slots: int = 0  # of a hash table: keys name one of these; rows that find it taken lie behind it
    check: int = 0  # CRC-32


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What the block holds."""

    counts: list[int]  # n-grams of each order
    tokeniser: Tokeniser
    origin: ModelOrigin
    seed: int  # of the hash of words
    sections: list[BlockSection]


class ModelBlock(msgspec.Struct):
    """A model in memory or mapped from a file, ready for look-ups."""

    header: Header
    data: Any  # the bytes
    plan: bytes  # where the C kernel finds the tables
    text: bytes  # the words, one per line
    index: Rows
    levels: list[Rows]


def build(model: NgramTables) -> Iterator[bytes | memoryview]:
    """Yield the block in parts."""
    text = "\n".join(model.words).encode("utf-8", "surrogatepass")
    if text.count(b"\n") >= len(model.words):
        raise ValueError("a word holds a line end")
    sections: list[tuple[Any, int]] = [(text, 0)]
    seed, index, slots = _words(model.words)
    sections.append((index, slots))
    singles = model.levels[0]
    sections.append((_filled(SINGLE, len(singles), singles), 0))
    place: Numbers | Slots = singles.last
    for order, level in enumerate(model.levels[1:], 2):
        kind = HIGHEST if order == model.order else MIDDLE
        table, slots, place = _table(kind, level, hashing.pairs(place[level.suffix], level.first))
        sections.append((table, slots))
    yield from _written(model, seed, [(memoryview(data).cast("B"), slots) for data, slots in sections])


def _written(model: NgramTables, seed: int, parts: list[tuple[memoryview, int]]) -> Iterator[bytes | memoryview]:
    def header(start: int) -> bytes:
        sections, at = [], start
        for data, slots in parts:
            sections.append(BlockSection(at, len(data), slots, zlib.crc32(data)))
            at += _padded(len(data))
        counts = [len(level) for level in model.levels]
        whole = Header(counts=counts, tokeniser=model.tokeniser, origin=model.origin, seed=seed, sections=sections)
        return msgspec.json.encode(whole)

    start = _padded(len(header(1 << 40)) + _START.size + _CHECK.size)
    written = header(start)
    first = _START.pack(MAGIC, VERSION, len(written)) + written + _CHECK.pack(zlib.crc32(written))
    yield first.ljust(start, b"\0")
    for data, _ in parts:
        yield data
        yield bytes(_padded(len(data)) - len(data))


def _padded(length: int) -> int:
    """Return the length up to the next section."""
    return -(-length // _ALIGN) * _ALIGN


def parse(data: Any, path: Path | str, check: bool = True) -> ModelBlock:
    """Return the block in these bytes; ConfigError if they are damaged or not a model. `check`: read all of them."""
    again = "train the model again with: windrow lm train"
    if len(data) < _START.size or data[: len(MAGIC)] != MAGIC:
        raise ConfigError(f"{path} is not a language model; train one with: windrow lm train TEXT -o MODEL")
    _, version, length = _START.unpack_from(data)
    if version != VERSION:
        raise ConfigError(f"{path} is a model of version {version}, and this program reads version {VERSION}; {again}")
    written = bytes(data[_START.size : _START.size + length])
    end = _START.size + length + _CHECK.size
    if len(data) < end or _CHECK.unpack_from(data, end - _CHECK.size)[0] != zlib.crc32(written):
        raise ConfigError(f"{path} is damaged: its header is cut or changed; {again}")
    try:
        header = msgspec.json.decode(written, type=Header)
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path} is damaged: its header cannot be read ({error}); {again}") from None
    view = memoryview(data)
    for section in header.sections:
        if (missing := section.offset + _padded(section.length) - len(data)) > 0:
            raise ConfigError(f"{path} is cut: at its end, {missing:,} or more bytes are missing; copy it again")
        if check and zlib.crc32(view[section.offset : section.offset + section.length]) != section.check:
            raise ConfigError(f"{path} is damaged: bytes after {section.offset:,} have changed; copy it again")
    return _block(header, data)


def _block(header: Header, data: Any) -> ModelBlock:
    def rows(section: BlockSection, kind: np.dtype[Any]) -> Rows:
        return np.frombuffer(data, kind, section.length // kind.itemsize, section.offset)

    text, index, single, *longer = header.sections
    levels = [rows(single, SINGLE)]
    levels += [rows(section, MIDDLE) for section in longer[:-1]]
    levels += [rows(section, HIGHEST) for section in longer[-1:]]
    words = bytes(data[text.offset : text.offset + text.length])
    return ModelBlock(header=header, data=data, plan=_plan(header), text=words, index=rows(index, WORD), levels=levels)


def _plan(header: Header) -> bytes:
    """Return the seed, then offset, length and slots of the index and of each order, for the kernel."""
    numbers = [number for one in header.sections[1:] for number in (one.offset, one.length, one.slots)]
    return struct.pack(f"={len(numbers) + 1}Q", header.seed, *numbers)


def unpacked(block: ModelBlock) -> NgramTables:
    """Return the n-grams of a block."""
    words = block.text.decode("utf-8", "surrogatepass").split("\n")
    rows = [np.arange(len(words), dtype=np.int32)[:, None]]
    used = [np.arange(len(words))]  # the slots that hold a row
    for table in block.levels[1:]:
        at = np.flatnonzero(table["key"])
        slot, first = hashing.unpaired(table["key"][at])
        row = np.zeros(int(used[-1][-1]) + 1, np.int64)
        row[used[-1]] = np.arange(len(used[-1]))
        rows.append(np.hstack([first.astype(np.int32)[:, None], rows[-1][row[slot]]]))
        used.append(at)
    levels = tables.indexed(rows)
    for level, table, at in zip(levels, block.levels, used, strict=True):
        level.log10 = table["log10"][at]
        level.backoff = (
            table["backoff"][at] if "backoff" in (table.dtype.names or ()) else np.zeros(len(at), np.float32)
        )
    return NgramTables(words=words, levels=levels, tokeniser=block.header.tokeniser, origin=block.header.origin)


def _table(kind: np.dtype[Any], level: Level, keys: Keys) -> tuple[Rows, int, Slots]:
    """Return the hash table of an order, the slots that its keys name, and the slot of each row."""
    order, at, slots, size = hashing.placed(keys)
    table = np.zeros(size, kind)
    table["key"][at] = keys[order]
    table["log10"][at] = level.log10[order]
    if "backoff" in (kind.names or ()):
        table["backoff"][at] = level.backoff[order]
    place = np.empty(len(keys), np.int64)
    place[order] = at
    return table, slots, place


def _filled(kind: np.dtype[Any], size: int, level: Level) -> Rows:
    table = np.zeros(size, kind)
    table["log10"], table["backoff"] = level.log10, level.backoff
    return table


def _words(words: list[str]) -> tuple[int, Rows, int]:
    """Return the seed with which no two words have the same hash, the index of the words, and its slots."""
    for seed in itertools.count(1):
        keys = word_hashes(words, seed)
        order, at, slots, size = hashing.placed(keys, _WORD_ROOM)
        if keys.all() and np.diff(keys[order]).all():
            break
    index = np.zeros(size, WORD)
    index["key"][at], index["number"][at] = keys[order], order
    return seed, index, slots


def word_hashes(words: list[str], seed: int) -> Keys:
    """Return the hash of each word, over its characters."""
    lengths = np.array([len(word) for word in words])
    hashes = np.full(len(words), np.uint64(seed), np.uint64)
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        at = np.flatnonzero(lengths == length)
        if not length:
            continue
        letters = np.array([words[place] for place in at.tolist()], f"<U{length}").view("<u4").reshape(-1, length)
        found = hashes[at]
        for column in range(length):
            found = (found ^ letters[:, column].astype(np.uint64) + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)
        hashes[at] = found
    return hashing.scramble(hashes)
