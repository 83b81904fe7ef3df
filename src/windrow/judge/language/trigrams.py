"""Language models of character trigrams, trained from a sample of text: for languages that no tool distinguishes.

A model gives each character its probability after the two before it, as counted in the sample. For a trigram that the
sample does not have, it uses the bigram and the single character (`focus.smoothing`, with one discount for all counts:
as good as discounts estimated from the sample, and for lines of 30 characters slightly better). A model file holds the
counts alone.
"""

import collections
import functools
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from windrow.config import ConfigError
from windrow.judge.language import codes, tools

if TYPE_CHECKING:
    from windrow.judge.focus.tables import NgramTables

VERSION = 2
FORMAT = "windrow trigrams"
LEAST = 2000  # letters of a sample; with fewer, models do not distinguish similar languages
_CHUNK = 100  # characters of a piece on which training tests the model
_FOLDS = 5
_DISCOUNT = 0.75  # taken from every count in the sample, for trigrams that are not in it
_UNKNOWN = -4.0  # log10 of the probability of a letter that the sample does not have
_OTHER_LETTER = "<unk>"
_BIT = math.log10(2)
_PIECES = (60, 150)  # characters of the pieces of a sample that the built-in tools are shown
_SHOWN = 500  # pieces of each length
_LIMIT = 1 << 17  # probabilities that are cached
_OTHER = re.compile(r"[\W\d_]+")

Counts = dict[str, int]


class TrigramModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model, as its file holds it."""

    format: str
    version: int
    name: str  # of the language: ISO 639-3
    letters: int  # of the sample
    bits: float  # per character, of held-out parts of the sample
    spread: float  # standard deviation of these bits between pieces of 100 characters
    trigrams: Counts
    cld2: dict[str, float] = {}  # what CLD2 calls the sample: share of its pieces by language
    py3langid: dict[str, float] = {}  # the same for py3langid


def train(name: str, text: str) -> TrigramModel:
    """Train a model on running text of at least 2,000 letters; more is better."""
    plain = normalise(text)
    letters = len(plain) - plain.count(" ")
    if letters < LEAST:
        need = f"a model needs at least {LEAST:,}: add text in this language"
        raise ConfigError(f"the sample for '{name}' has {letters:,} letters; {need}")
    bits, spread = _held_out(plain)
    pieces = _pieces(" ".join(text.split()))
    return TrigramModel(
        format=FORMAT,
        version=VERSION,
        name=name,
        letters=letters,
        bits=round(bits, 4),
        spread=round(spread, 4),
        cld2=_shares(tools.cld2(piece) for piece in pieces),
        py3langid=_shares(tools.py3langid(piece, ())[0] for piece in pieces),
        trigrams=dict(sorted(count(plain).items())),
    )


def classify(text: str, models: Sequence[TrigramModel]) -> tuple[str, float]:
    """Return the most probable language and its probability among these; ("und", 0) for a text without letters."""
    plain = normalise(text)
    if not plain.strip() or not models:
        return "und", 0.0
    scores = {model.name: _total(plain, model) for model in models}
    best = max(scores, key=lambda name: scores[name])
    # Characters depend on one another. Without division by the root of the length every answer would be certain.
    temper = math.sqrt(len(plain))
    return best, 1 / sum(2 ** ((score - scores[best]) / temper) for score in scores.values())


def distance(text: str, model: TrigramModel) -> float:
    """Return how much worse than the sample a text fits the model, in standard deviations of texts of its length."""
    plain = normalise(text)
    length = len(plain) - 2
    if length < 1:
        return math.inf
    deviation = model.spread * max(1.0, math.sqrt(_CHUNK / length))
    return (-_total(plain, model) / length - model.bits) / (deviation or 1.0)


def difference(text: str, model: TrigramModel) -> float:
    """Return SpiderLing's measure: 1 minus the cosine of the trigram counts of text and sample.

    0 for the sample itself, 1 for a text without a common trigram.
    """
    found = count(normalise(text))
    known = model.trigrams
    product = sum(number * known.get(trigram, 0) for trigram, number in found.items())
    size = math.sqrt(sum(number * number for number in found.values())) * _size(_Key(model))
    return max(0.0, 1 - product / size) if size else 1.0


def normalise(text: str) -> str:
    """Return the text in lower case, letters only, with one blank before and after each word."""
    return " " + _OTHER.sub(" ", unicodedata.normalize("NFC", text).lower()).strip() + " " if text.strip() else ""


def count(plain: str) -> Counts:
    return dict(collections.Counter(map("".join, zip(plain, plain[1:], plain[2:], strict=False))))


def write(model: TrigramModel, path: Path) -> None:
    path.write_bytes(msgspec.json.encode(model) + b"\n")


def read(path: Path) -> TrigramModel:
    try:
        model = msgspec.json.decode(path.read_bytes(), type=TrigramModel)
    except FileNotFoundError:
        raise ConfigError(
            f"there is no model {path}; train one with: windrow language train NAME SAMPLE -o {path}"
        ) from None
    except OSError as error:
        fix = "name a readable file made by: windrow language train"
        raise ConfigError(f"cannot read the model {path}: {error.strerror}; {fix}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a language model ({error}); train one with: windrow language train") from None
    if model.format != FORMAT or model.version != VERSION:
        raise ConfigError(
            f"{path} has format {model.format!r} version {model.version}, not version {VERSION}; train the model again"
        )
    if codes.find(model.name) is None:
        raise ConfigError(f"{path} is a model of {model.name!r}, which is not a language code; train the model again")
    if not model.trigrams or min(model.trigrams.values()) < 1 or any(len(text) != 3 for text in model.trigrams):
        raise ConfigError(f"{path} holds something other than counts of trigrams; train the model again")
    return model


def _pieces(text: str) -> list[str]:
    """Return pieces of a sample as long as lines and as paragraphs, spread over the whole of it."""
    found = []
    for length in _PIECES:
        pieces = [text[start : start + length] for start in range(0, len(text) - length // 2, length)]
        found += pieces[:: 1 + len(pieces) // _SHOWN]
    return found


def _shares(answers: Iterable[str]) -> dict[str, float]:
    """Return the share of each answer that was given more than once."""
    counts = collections.Counter(answers)
    return {code: round(number / counts.total(), 4) for code, number in counts.most_common() if number > 1}


def _held_out(plain: str) -> tuple[float, float]:
    """Return mean and standard deviation of the bits per character, over pieces that the model was not trained on."""
    pieces = [plain[start : start + _CHUNK] for start in range(0, len(plain) - _CHUNK // 2, _CHUNK)]
    found = []
    for fold in range(_FOLDS):
        rest = _merged(count(piece) for number, piece in enumerate(pieces) if number % _FOLDS != fold)
        table = _Probabilities(rest)
        found += [-_sum(piece, table) / max(1, len(piece) - 2) for piece in pieces[fold::_FOLDS]]
    mean = math.fsum(found) / len(found)
    return mean, math.sqrt(math.fsum((bits - mean) ** 2 for bits in found) / max(1, len(found) - 1))


def _merged(parts: Iterable[Counts]) -> Counts:
    whole: collections.Counter[str] = collections.Counter()
    for part in parts:
        whole.update(part)
    return dict(whole)


def _total(plain: str, model: TrigramModel) -> float:
    """Return the logarithm (base 2) of the text's probability."""
    return _sum(plain, _probabilities(_Key(model)))


def _sum(plain: str, table: "_Probabilities") -> float:
    return math.fsum([table[trigram] for trigram in map("".join, zip(plain, plain[1:], plain[2:], strict=False))])


class _Key:
    """A model as a key by identity: hashing its counts on each call would cost more than using them."""

    __slots__ = ("model",)

    def __init__(self, model: TrigramModel) -> None:
        self.model = model

    def __hash__(self) -> int:
        return id(self.model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.model is other.model


@functools.lru_cache(64)
def _size(key: _Key) -> float:
    return math.sqrt(sum(number * number for number in key.model.trigrams.values()))


@functools.lru_cache(64)
def _probabilities(key: _Key) -> "_Probabilities":
    return _Probabilities(key.model.trigrams)


class _Probabilities(dict[str, float]):
    """Trigram -> log2 of the probability of its last character. Those of the sample are computed at the start, others
    when they are first used, from shorter n-grams."""

    def __init__(self, trigrams: Counts) -> None:
        from windrow.judge.focus import counts  # imports numpy, which a crawl without models does not need

        tables = counts.of_characters(trigrams, 3, _DISCOUNT, _UNKNOWN)
        found = [_by_text(tables, order) for order in (1, 2, 3)]
        super().__init__({text: value for text, (value, _) in found[2].items()})
        self._singles, self._bigrams, _ = found
        self._other = self._singles[_OTHER_LETTER][0]

    def __missing__(self, trigram: str) -> float:
        found = self._backoff(self._bigrams, trigram[:2]) + self._bigram(trigram[1:])
        if len(self) < _LIMIT:
            self[trigram] = found
        return found

    def _bigram(self, text: str) -> float:
        if text in self._bigrams:
            return self._bigrams[text][0]
        return self._backoff(self._singles, text[0]) + self._singles.get(text[1], (self._other, 0.0))[0]

    @staticmethod
    def _backoff(known: Mapping[str, tuple[float, float]], context: str) -> float:
        return known[context][1] if context in known else 0.0


def _by_text(tables: "NgramTables", order: int) -> dict[str, tuple[float, float]]:
    """Return log2 of the probability and of the backoff of each n-gram of an order."""
    level = tables.levels[order - 1]
    texts = ["".join([tables.words[number] for number in row]) for row in tables.rows(order).tolist()]
    values = zip((level.log10 / _BIT).tolist(), (level.backoff / _BIT).tolist(), strict=True)
    return dict(zip(texts, values, strict=True))
