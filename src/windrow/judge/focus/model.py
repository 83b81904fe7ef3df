"""Read and write language models, and score text with them."""

import contextlib
import functools
import math
import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from windrow import files
from windrow.config import ConfigError
from windrow.io import streams
from windrow.io.streams import ByteStream
from windrow.judge.focus import arpa, layout, query
from windrow.judge.focus.layout import ModelBlock
from windrow.judge.focus.tables import UNKNOWN, ModelOrigin, NgramTables
from windrow.judge.focus.tokens import Tokeniser

_HEAD = 1000  # bytes in which an ARPA file begins


class Scored(msgspec.Struct, frozen=True, gc=False):
    """How probable some text is: numbers of words with the sums of log10 of their probabilities."""

    words: int = 0
    log10: float = 0.0
    known_words: int = 0  # those in the model's vocabulary
    known_log10: float = 0.0
    windows: int = 0  # of as many words as the order, <s> and </s> included, as Remus and Biemann's program counts them
    windows_log10: float = 0.0
    ends: int = 0  # sequences; the probability of each one's end
    ends_log10: float = 0.0

    def __add__(self, other: "Scored") -> "Scored":
        """Return the score of both texts together."""
        return Scored(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    @property
    def perplexity(self) -> float:
        """2 to the mean number of bits per word; infinite for a text without any sequence."""
        return _perplexity(self.words, self.log10)

    @property
    def perplexity_known(self) -> float:
        """The same over the words of the vocabulary."""
        return _perplexity(self.known_words, self.known_log10)

    @property
    def perplexity_windows(self) -> float:
        """The same over windows of as many words as the order."""
        return _perplexity(self.windows, self.windows_log10)

    @property
    def perplexity_ends(self) -> float:
        """The same over words and ends of sequences, as kenlm and SRILM print it."""
        return _perplexity(self.words + self.ends, self.log10 + self.ends_log10)

    @property
    def unknown(self) -> float:
        """The share of the words that are not in the vocabulary."""
        return 1 - self.known_words / self.words if self.words else 0.0


def _scored(sums: query.Sums) -> Scored:
    words, log10, known_words, known_log10, windows, windows_log10, ends, ends_log10 = sums
    return Scored(
        words=words,
        log10=log10,
        known_words=known_words,
        known_log10=known_log10,
        windows=windows,
        windows_log10=windows_log10,
        ends=ends,
        ends_log10=ends_log10,
    )


def _perplexity(number: int, log10: float) -> float:
    return float(10 ** min(-log10 / number, 308.0)) if number else math.inf


class NgramModel:
    """A model that is ready to score text. Its block may be a mapped file, which all processes share."""

    def __init__(self, block: ModelBlock) -> None:
        self._block = block
        self.counts: list[int] = block.header.counts  # n-grams of each order
        self.order = len(self.counts)
        self.tokeniser: Tokeniser = block.header.tokeniser
        self.origin: ModelOrigin = block.header.origin
        self.unknown_log10 = float(block.levels[0]["log10"][UNKNOWN])

    @property
    def words(self) -> int:
        """The size of the vocabulary, with <unk>, <s> and </s>."""
        return self.counts[0]

    @functools.cached_property
    def vocabulary(self) -> dict[str, int]:
        """Word -> number."""
        words = self._block.text.decode("utf-8", "surrogatepass").split("\n")
        return dict(zip(words, range(len(words)), strict=True))

    def score_texts(self, texts: Iterable[str], prepared: bool = False) -> Scored:
        """Score some texts, such as the paragraphs of a page. `prepared`: the tokeniser has prepared them already."""
        texts = list(texts)
        found = query.of_texts(self._block, texts, prepared)
        return _scored(found) if found else self.score(self.tokeniser.sequences(texts))

    def score(self, sequences: Iterable[Sequence[str]]) -> Scored:
        """Score sequences of words."""
        number = self.vocabulary.get
        return _scored(
            query.sums(self._block, [[number(word, UNKNOWN) for word in sequence] for sequence in sequences])
        )

    def log10(self, words: Sequence[str]) -> list[tuple[float, int, bool]]:
        """Return for each word and for the end: log10 of its probability, the n-gram's length, whether it is unknown.

        Like kenlm's full_scores.
        """
        numbers = [self.vocabulary.get(word, UNKNOWN) for word in words]
        values, lengths = query.probabilities(self._block, *query.flatten([numbers]))
        unknown = [number == UNKNOWN for number in numbers]
        return list(zip(values.tolist()[1:], lengths.tolist()[1:], [*unknown, False], strict=True))


def make(found: NgramTables) -> NgramModel:
    """Return the model of these tables, in memory."""
    return NgramModel(layout.parse(b"".join(layout.build(found)), "the model", check=False))


def write(found: NgramTables, path: Path) -> None:
    """Write a model durably, complete or not at all: as ARPA text by the name of the file, else as a block."""
    pack = streams.packer(path)
    with files.replacing(path) as file:
        if is_arpa(path) and pack:
            with pack(file) as packed:
                arpa.write(found, packed)
        elif is_arpa(path):
            arpa.write(found, file)
        else:
            file.writelines(layout.build(found))


def is_arpa(path: Path) -> bool:
    """Return whether a file of this name is written as ARPA text."""
    return (path.with_suffix("") if streams.packer(path) else path).suffix.lower() == ".arpa"


def read(path: Path, check: bool = True) -> NgramModel:
    """Open a model. A block is mapped; `check`: read all of it once, to see that it is not damaged. ARPA is read."""
    data = _mapped(path)
    return make(_from_arpa(path)) if _is_text(path, data) else NgramModel(layout.parse(data, path, check))


def tables(path: Path) -> NgramTables:
    """Return the n-grams of a model."""
    data = _mapped(path)
    return _from_arpa(path) if _is_text(path, data) else layout.unpacked(layout.parse(data, path))


def _from_arpa(path: Path) -> NgramTables:
    with contextlib.closing(ByteStream(path)) as stream:
        return arpa.read(stream.parts(b""), str(path))


def _is_text(path: Path, data: Any) -> bool:
    return data[: len(layout.MAGIC)] != layout.MAGIC and (is_arpa(path) or b"\\data\\" in data[:_HEAD])


def _mapped(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise ConfigError(f"{path} is empty; train a model with: windrow lm train TEXT -o {path}")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise ConfigError(f"there is no model {path}; train one with: windrow lm train TEXT -o {path}") from None
    except OSError as error:
        raise ConfigError(f"cannot read the model {path}: {error.strerror}; name a readable file") from None
