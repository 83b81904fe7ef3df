"""Language models of character trigrams, trained from a sample of text: for languages and look-alikes that no tool tells apart.

A model gives each character its probability after the two before it, as seen in the sample; where a trigram was not seen, the
bigram and the single character speak (Kneser and Ney 1995: of five smoothings tried, the one that told look-alikes best and did not
favour the smaller sample). What a model has learnt is the counts alone; that is what a file holds.
"""

import collections
import functools
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.judge.language import codes

VERSION = 1
FORMAT = "windrow trigrams"
LEAST = 2000  # letters of a sample; below, models of close languages are not told apart
_CHUNK = 100  # characters of a piece on which a model is tried out while it is trained
_FOLDS = 5
_ALPHABET = 2000  # characters that might come; a letter never seen has this share of what is left
_DISCOUNT = 0.75  # taken from every count that was seen, for those that were not
_LIMIT = 1 << 17  # trigrams not in the sample whose probability is remembered
_OTHER = re.compile(r"[\W\d_]+")

Counts = dict[str, int]


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """As in a file."""

    format: str
    version: int
    name: str  # of the language: ISO 639-3
    letters: int  # of the sample
    bits: float  # per character, of text like the sample that was held out
    spread: float  # standard deviation of that between pieces of 100 characters
    trigrams: Counts


def train(name: str, text: str) -> Model:
    """Learns from running text; the more the better, from 2,000 letters on."""
    plain = normalise(text)
    letters = len(plain) - plain.count(" ")
    if letters < LEAST:
        raise ConfigError(
            f"the sample for '{name}' has {letters:,} letters; a model needs at least {LEAST:,}: add text in this language"
        )
    bits, spread = _tried(name, plain)
    return Model(FORMAT, VERSION, name, letters, round(bits, 4), round(spread, 4), dict(sorted(count(plain).items())))


def classify(text: str, models: Sequence[Model]) -> tuple[str, float]:
    """The likeliest of these languages and its probability among them; ("und", 0) for a text without letters."""
    plain = normalise(text)
    if not plain.strip() or not models:
        return "und", 0.0
    scores = {model.name: _total(plain, model) for model in models}
    best = max(scores, key=lambda name: scores[name])
    # characters depend on one another: their bits are tempered by the root of the length, or every answer would be certain
    temper = math.sqrt(len(plain))
    return best, 1 / sum(2 ** ((score - scores[best]) / temper) for score in scores.values())


def fits(text: str, model: Model, tolerance: float = 3.0) -> bool:
    """Whether a text may be of this language at all, seen from the pieces of the sample: no more than so many deviations worse."""
    plain = normalise(text)
    length = len(plain) - 2
    if length < 1:
        return False
    deviation = model.spread * max(1.0, math.sqrt(_CHUNK / length))
    return cost(text, model) <= model.bits + tolerance * deviation


def cost(text: str, model: Model) -> float:
    """Bits per character; the fewer, the better the model knows the text. Infinite where there are no letters."""
    plain = normalise(text)
    return -_total(plain, model) / (len(plain) - 2) if len(plain) > 2 else math.inf


def difference(text: str, model: Model) -> float:
    """1 minus the cosine of the counts of trigrams in text and sample: SpiderLing's measure. 0 for the sample, 1 without a common one."""
    found = count(normalise(text))
    known = model.trigrams
    product = sum(number * known.get(gram, 0) for gram, number in found.items())
    size = math.sqrt(sum(number * number for number in found.values())) * _size(_Key(model))
    return max(0.0, 1 - product / size) if size else 1.0


def normalise(text: str) -> str:
    """Lower case, letters only, one blank around each word."""
    return " " + _OTHER.sub(" ", unicodedata.normalize("NFC", text).lower()).strip() + " " if text.strip() else ""


def count(plain: str) -> Counts:
    return dict(collections.Counter(map("".join, zip(plain, plain[1:], plain[2:], strict=False))))


def write(model: Model, path: Path) -> None:
    path.write_bytes(msgspec.json.encode(model) + b"\n")


def read(path: Path) -> Model:
    try:
        model = msgspec.json.decode(path.read_bytes(), type=Model)
    except FileNotFoundError:
        raise ConfigError(
            f"there is no model {path}; make one with: windrow language train NAME SAMPLE -o {path}"
        ) from None
    except OSError as error:
        raise ConfigError(f"cannot read the model {path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a language model ({error}); make one with: windrow language train") from None
    if model.format != FORMAT or model.version != VERSION:
        raise ConfigError(
            f"{path} is a model of format {model.format!r} version {model.version}, not {VERSION}; train it again"
        )
    if codes.find(model.name) is None:
        raise ConfigError(f"{path} is a model of {model.name!r}, which is no language; train it again")
    if not model.trigrams or min(model.trigrams.values()) < 1 or any(len(gram) != 3 for gram in model.trigrams):
        raise ConfigError(f"{path} holds counts that are no counts of trigrams; train it again")
    return model


def _tried(name: str, plain: str) -> tuple[float, float]:
    """Mean and standard deviation of the bits per character over pieces that the model has not seen."""
    pieces = [plain[start : start + _CHUNK] for start in range(0, len(plain) - _CHUNK // 2, _CHUNK)]
    found = []
    for fold in range(_FOLDS):
        rest = _merged(count(piece) for number, piece in enumerate(pieces) if number % _FOLDS != fold)
        table = _Table(rest)
        found += [-_sum(piece, table) / max(1, len(piece) - 2) for piece in pieces[fold::_FOLDS]]
    mean = math.fsum(found) / len(found)
    return mean, math.sqrt(math.fsum((bits - mean) ** 2 for bits in found) / max(1, len(found) - 1))


def _merged(parts: Iterable[Counts]) -> Counts:
    whole: collections.Counter[str] = collections.Counter()
    for part in parts:
        whole.update(part)
    return dict(whole)


def _total(plain: str, model: Model) -> float:
    """Logarithm (base 2) of the text's probability."""
    return _sum(plain, _table(_Key(model)))


def _sum(plain: str, table: "_Table") -> float:
    return math.fsum([table[gram] for gram in map("".join, zip(plain, plain[1:], plain[2:], strict=False))])


class _Key:
    """A model by its identity: hashing its counts each time would cost more than using them."""

    __slots__ = ("model",)

    def __init__(self, model: Model) -> None:
        self.model = model

    def __hash__(self) -> int:
        return id(self.model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.model is other.model


@functools.lru_cache(64)
def _size(key: _Key) -> float:
    return math.sqrt(sum(number * number for number in key.model.trigrams.values()))


@functools.lru_cache(64)
def _table(key: _Key) -> "_Table":
    return _Table(key.model.trigrams)


class _Table(dict[str, float]):
    """Trigram -> logarithm of the probability of its last character; what was not seen is worked out when asked for."""

    def __init__(self, trigrams: Counts) -> None:
        super().__init__()
        self._trigrams = trigrams
        self._bigrams = collections.Counter(gram[1:] for gram in trigrams)  # in how many trigrams, not how often
        self._singles = collections.Counter(gram[1] for gram in self._bigrams)
        self._after_two = _contexts(trigrams, 2)
        self._after_one = _contexts(self._bigrams, 1)
        self._kinds = len(self._bigrams)

    def __missing__(self, gram: str) -> float:
        found = math.log2(self._probability(gram))
        if len(self) < _LIMIT:
            self[gram] = found
        return found

    def _probability(self, gram: str) -> float:
        letters = len(self._singles)
        one = (self._singles[gram[2]] + letters / _ALPHABET) / (self._kinds + letters)
        two = _discounted(self._bigrams[gram[1:]], self._after_one.get(gram[1]), one)
        return _discounted(self._trigrams.get(gram, 0), self._after_two.get(gram[:2]), two)


def _discounted(number: int, context: tuple[int, int] | None, shorter: float) -> float:
    """What is taken from every count goes to the shorter context's opinion."""
    if context is None:
        return shorter
    total, kinds = context
    return (max(number - _DISCOUNT, 0.0) + _DISCOUNT * kinds * shorter) / total


def _contexts(grams: Mapping[str, int], length: int) -> dict[str, tuple[int, int]]:
    """How often each context was seen, and how many different characters came after it."""
    found: dict[str, tuple[int, int]] = {}
    for gram, number in grams.items():
        total, kinds = found.get(gram[:length], (0, 0))
        found[gram[:length]] = (total + number, kinds + 1)
    return found
