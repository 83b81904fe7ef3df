"""ARPA files: models as text, which lmplz, SRILM, kenlm and others read and write.

An ARPA file does not say how text was divided into words. What its words show is assumed: lower case if there is no
capital letter, characters if every word is a single one.
"""

import codecs
import contextlib
import itertools
import math
import re
from collections.abc import Iterable
from typing import BinaryIO

import msgspec
import numpy as np

from windrow.config import ConfigError
from windrow.judge.focus import tables
from windrow.judge.focus.tables import ORDERS, SPECIAL, START, Floats, ModelOrigin, NgramTables, Numbers
from windrow.judge.focus.tokens import LEAST, Tokeniser

NEVER = -99.0  # log10 of what is never predicted; SRILM writes it for <s>
MISSING = -100.0  # log10 of unknown words in a model that has none; as kenlm has it
_LINES = 1 << 17  # lines that are handled at a time
_COUNT = re.compile(rb"ngram\s+(\d+)\s*=\s*(\d+)\s*")
_SECTION = re.compile(rb"\\(\d+)-grams:\s*")
_ROUNDED = 1e-4  # log10 of a probability of 1 that is rounded up


class Lines:
    """The lines of a file, counted, so that an error can name one."""

    def __init__(self, file: Iterable[bytes], name: str) -> None:
        self._lines = iter(file)
        self.name = name
        self.number = 0

    def filled(self) -> bytes:
        """Return the next line that is not empty; b"" at the end."""
        for line in self._lines:
            self.number += 1
            if line.strip():
                return line.strip()
        return b""

    def take(self, most: int) -> list[bytes]:
        """Return the next lines, as many as there are."""
        found = list(itertools.islice(self._lines, most))
        self.number += len(found)
        return found

    def error(self, said: str, number: int | None = None) -> ConfigError:
        fix = "write the ARPA file again, or train a model with: windrow lm train"
        return ConfigError(f"{self.name}, line {number or self.number:,}: {said}; {fix}")


class _Read(msgspec.Struct):
    """The n-grams of one order, as they are in the file."""

    rows: Numbers
    log10: Floats
    backoff: Floats


def write(model: NgramTables, file: BinaryIO) -> None:
    """Write a model. Probabilities have seven digits, as those of lmplz."""
    words = model.words
    counts = "".join(f"ngram {order}={len(one)}\n" for order, one in enumerate(model.levels, 1))
    file.write(f"\\data\\\n{counts}".encode())
    for order, level in enumerate(model.levels, 1):
        file.write(f"\n\\{order}-grams:\n".encode())
        line = "%.7g\t%s\n" if order == model.order else "%.7g\t%s\t%.7g\n"
        rows = model.rows(order)
        for start in range(0, len(level), _LINES):
            part = slice(start, start + _LINES)
            names = [" ".join([words[number] for number in row]) for row in rows[part].tolist()]
            columns: list[Iterable[object]] = [level.log10[part].tolist(), names]
            columns += [level.backoff[part].tolist()] if order < model.order else []
            text = "".join([line % row for row in zip(*columns, strict=True)])
            file.write(text.encode("utf-8", "surrogatepass"))
    file.write(b"\n\\end\\\n")


def read(file: Iterable[bytes], name: str) -> NgramTables:
    """Read a model of any maker. ConfigError, which names the line: the file is not one or is damaged."""
    lines = Lines(file, name)
    sizes, line = _sizes(lines)
    vocabulary = _Vocabulary()
    found = []
    for order, size in enumerate(sizes, 1):
        section = _SECTION.fullmatch(line)
        if section is None or int(section[1]) != order:
            raise lines.error(f"\\{order}-grams: is expected, not {_shown(line)}")
        found.append(_section(lines, order, size, vocabulary))
        line = lines.filled()
    if line != b"\\end\\":
        raise lines.error(f"\\end\\ is expected, not {_shown(line)}")
    return _tables([word.decode() for word in vocabulary.words], found, name)


class _Vocabulary:
    """The words of order 1, by number. SRILM and Google write <unk>, <s> and </s> in capitals."""

    def __init__(self) -> None:
        self.words = [name.encode() for name in SPECIAL]
        self.numbers = {written: number for number, name in enumerate(self.words) for written in (name, name.upper())}

    def add(self, word: bytes) -> None:
        if word not in self.numbers:
            self.numbers[word] = len(self.words)
            self.words.append(word)


def _sizes(lines: Lines) -> tuple[list[int], bytes]:
    """Return how many n-grams of each order the head announces, and the line after it."""
    line = lines.filled().removeprefix(codecs.BOM_UTF8)
    while line and line != b"\\data\\":  # SRILM allows text before it
        line = lines.filled()
    if not line:
        raise ConfigError(f"{lines.name} is not an ARPA file: it has no line \\data\\; name a model")
    sizes: list[int] = []
    while count := _COUNT.fullmatch(line := lines.filled()):
        if int(count[1]) != len(sizes) + 1:
            raise lines.error(f"ngram {len(sizes) + 1}= is expected, not {_shown(line)}")
        sizes.append(int(count[2]))
    if line.startswith(b"ngram"):
        raise lines.error(f"ngram {len(sizes) + 1}= with a whole number is expected, not {_shown(line)}")
    if len(sizes) not in ORDERS:
        raise lines.error(f"the model is of order {len(sizes)}, and only orders from 1 to {ORDERS[-1]} can be read")
    return sizes, line


def _section(lines: Lines, order: int, size: int, vocabulary: _Vocabulary) -> _Read:
    """Read the n-grams of an order. Those of order 1 make the vocabulary."""
    parts = []
    left = size
    while left:
        start = lines.number
        taken = lines.take(min(left, _LINES))
        if not taken:
            raise lines.error(f"the file ends where {left:,} more {order}-grams are announced")
        if order == 1:
            _check_text(lines, taken, start)
        parts.append(_rows(lines, taken, start, order, vocabulary))
        left -= len(taken)
    rows = [np.zeros((0, order), np.int32), *(part.rows for part in parts)]
    log10, backoff = [part.log10 for part in parts], [part.backoff for part in parts]
    return _Read(np.concatenate(rows), np.concatenate([tables.NONE, *log10]), np.concatenate([tables.NONE, *backoff]))


def _check_text(lines: Lines, taken: list[bytes], start: int) -> None:
    for number, line in enumerate(taken, start + 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            fix = "convert the file first, for instance with iconv"
            raise ConfigError(f"{lines.name}, line {number:,}: a word is not UTF-8 text; {fix}") from None


def _rows(lines: Lines, taken: list[bytes], start: int, order: int, vocabulary: _Vocabulary) -> _Read:
    """Read some lines. All have the same fields in most files: then they are read together."""
    whole = b"\n".join(taken).split()
    width = len(whole) // len(taken)
    if len(whole) == width * len(taken) and width in (order + 1, order + 2):
        with contextlib.suppress(ValueError, KeyError):
            return _parsed(whole, width, order, vocabulary)
    return _one_by_one(lines, taken, start, order, vocabulary)


def _parsed(fields: list[bytes], width: int, order: int, vocabulary: _Vocabulary) -> _Read:
    """Return lines of the same width. ValueError, KeyError: one of them is wrong."""
    size = len(fields) // width
    log10 = np.fromiter(map(float, fields[::width]), np.float64, size)
    backoff = np.zeros(size)
    if width == order + 2:
        backoff = np.fromiter(map(float, fields[order + 1 :: width]), np.float64, size)
    if not ((log10 <= _ROUNDED) & (backoff < math.inf)).all():
        raise ValueError
    if order == 1:
        for word in fields[1::width]:
            vocabulary.add(word)
    number = vocabulary.numbers.__getitem__
    columns = [np.fromiter(map(number, fields[index::width]), np.int32, size) for index in range(1, order + 1)]
    return _Read(np.stack(columns, 1), _floats(log10), _floats(backoff))


def _one_by_one(lines: Lines, taken: list[bytes], start: int, order: int, vocabulary: _Vocabulary) -> _Read:
    """Return lines of which some have no backoff; ConfigError, if one is wrong."""
    fields = []
    for number, line in enumerate(taken, start + 1):
        one = line.split()
        if len(one) not in (order + 1, order + 2):
            raise lines.error(f"a {order}-gram with its probability is expected, not {_shown(line)}", number)
        for text in (one[0], *one[order + 1 :]):
            if not _is_number(text):
                raise lines.error(f"{_shown(text)} is not a number", number)
        if not float(one[0]) <= _ROUNDED:
            raise lines.error("a probability must be a logarithm of at most 0", number)
        for word in one[1 : order + 1]:
            if order > 1 and word not in vocabulary.numbers:
                raise lines.error(f"the word {_shown(word)} is not among the 1-grams", number)
        fields += one if len(one) == order + 2 else [*one, b"0"]
    return _parsed(fields, order + 2, order, vocabulary)


def _floats(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Floats:
    """Return probabilities without minus infinity, with which sums would have no value."""
    return np.clip(values, MISSING, None).astype(np.float32)


def _is_number(text: bytes) -> bool:
    try:
        return float(text) < math.inf
    except ValueError:
        return False


def _shown(text: bytes) -> str:
    return f"'{text[:60].decode('utf-8', 'replace').strip()}'" if text else "the end of the file"


def _tables(words: list[str], found: list[_Read], name: str) -> NgramTables:
    singles = found[0]
    log10, backoff = np.full(len(words), MISSING, np.float32), np.zeros(len(words), np.float32)
    log10[START] = log10[START + 1] = NEVER
    log10[singles.rows[:, 0]], backoff[singles.rows[:, 0]] = singles.log10, singles.backoff
    every = np.arange(len(words), dtype=np.int32)[:, None]
    rows = tables.closed([every, *(one.rows for one in found[1:])])
    try:
        levels = tables.indexed(rows)
    except ValueError as error:
        order, row = error.args
        twice = " ".join(words[number] for number in rows[order - 1][row])
        raise ConfigError(f"{name}: the {order}-gram '{twice}' is there twice; write the ARPA file again") from None
    levels[0].log10, levels[0].backoff = log10, backoff
    for below, level, one in zip(levels, levels[1:], found[1:], strict=False):
        added = len(level) - len(one.log10)
        more = slice(len(one.log10), None)
        given = below.backoff[level.context[more]] + below.log10[level.suffix[more]]
        level.log10 = np.concatenate([one.log10, given])
        level.backoff = np.concatenate([one.backoff, np.zeros(added, np.float32)])
    return NgramTables(words=words, levels=levels, tokeniser=_tokeniser(words), origin=ModelOrigin())


def _tokeniser(words: list[str]) -> Tokeniser:
    own = words[len(SPECIAL) :]
    lower = all(word == word.lower() for word in own)
    return Tokeniser(lower=lower, characters=True if own and all(len(word) == 1 for word in own) else None, least=LEAST)
