"""What each word says for or against the topic: its frequency in the sample against its frequency in general language.

The weight of a word is ln(½·p + ½), p being how many times more frequent the word is in the sample than elsewhere. So
the mean weight of a text is how much better a mixture of both languages explains it than general language alone, and
`ratio`, e to the minus mean weight, is the quotient of the two perplexities: below 1 the topic explains something, and
2 is a text without any word of the sample.

General language is not stored: only the weights are, in a file that people can read. In scripts without spaces between
words, a weight belongs to a pair of characters.
"""

import collections
import itertools
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import numpy as np

from windrow import files
from windrow.config import ConfigError
from windrow.judge.focus import model
from windrow.judge.focus.model import NgramModel
from windrow.judge.focus.tables import SPECIAL, Floats, Level, ModelOrigin, NgramTables, Numbers
from windrow.judge.focus.tokens import Tokeniser

SHARE = 0.5  # of general language in the mixture
UNKNOWN = math.log(SHARE)  # weight of a word that the sample does not have
REST = 1e-5  # frequency in general language of a word that its table does not have
_LESS = 0.5  # taken from each count: a word that occurs once in the sample may do so by chance
_HEAD = "# windrow topic words"
_EXPLAINED = """\
# Words of the topic with their weights: the natural logarithm of how much more a mixture of the topic's language and
# general language expects the word than general language does. 0 says nothing, {unknown:.4f} is any other word. Words
# may be changed, added and removed."""


class Background(msgspec.Struct, frozen=True):
    """How frequent words are in general language."""

    source: str  # in words, for people
    frequencies: Mapping[str, float] = {}  # lower case
    rest: float = REST  # of any other word
    # Words that say nothing, because they are frequent everywhere; where it is not known how frequent.
    neutral: frozenset[str] = frozenset()


class TopicWords(msgspec.Struct, frozen=True):
    """The weights, and how they were made."""

    weights: dict[str, float]  # a word in lower case, or with `pairs` two characters
    pairs: bool = False
    source: str = ""  # of the background


def count(texts: Iterable[str], pairs: bool = False) -> collections.Counter[str]:
    """Count the words of some texts, or the pairs of neighbouring characters."""
    found: collections.Counter[str] = collections.Counter()
    for words in _tokeniser(pairs).sequences(texts):
        found.update(map("".join, itertools.pairwise(words)) if pairs else words)
    return found


def make(sample: Mapping[str, int], background: Background, pairs: bool = False) -> TopicWords:
    """Return the weights of the words that were counted in the sample."""
    total = sum(sample.values()) or 1
    neutral = {one + other for one in background.neutral for other in background.neutral if pairs}
    weights = dict.fromkeys(neutral or background.neutral, 0.0)
    for word, number in sample.items():
        if word not in weights:
            more = (number - _LESS) / total / background.frequencies.get(word, background.rest)
            weights[word] = math.log((1 - SHARE) * more + SHARE)
    return TopicWords(weights, pairs, background.source)


def worst(sample: Mapping[str, int], words: TopicWords, background: Background) -> float:
    """Return the ratio that general text in the language of the sample is expected to have.

    Where the frequencies of words are not known, it has as many neutral words as the sample, and no other of its words.
    """
    total = sum(sample.values()) or 1
    neutral = sum(number for word, number in sample.items() if words.weights.get(word) == 0.0) / total
    known = {word: background.frequencies.get(word, background.rest) for word in sample}
    mass = min(1.0, sum(known.values()))
    mean = sum(known[word] * words.weights[word] for word in sample if words.weights[word]) + (1 - mass) * UNKNOWN
    return math.exp(-(1 - neutral) * mean)


def joined(first: Background, counts: Mapping[str, int]) -> Background:
    """Return the background of a general table and of the words counted in a crawl: the geometric mean of both.

    A word that the crawl does not have counts as half an occurrence.
    """
    total = sum(counts.values()) + len(counts) or 1
    least = 0.5 / total
    frequencies = {
        word: math.sqrt(frequency * (counts[word] / total if word in counts else least))
        for word, frequency in first.frequencies.items()
    }
    for word, number in counts.items():
        if word not in frequencies:
            frequencies[word] = math.sqrt(first.rest * number / total)
    return Background(first.source + " and this crawl", frequencies, math.sqrt(first.rest * least), first.neutral)


class Weigher:
    """Computes the ratio of a text."""

    def __init__(self, words: TopicWords) -> None:
        self._model = _model(words)

    def ratio(self, texts: Iterable[str], prepared: bool = False) -> float | None:
        """Return how much worse general language alone explains some texts; None if they have no words.

        `prepared`: the texts are in lower case already, as a tokeniser prepares them.
        """
        scored = self._model.score_texts(texts, prepared)
        return scored.perplexity if scored.words else None


def _model(words: TopicWords) -> NgramModel:
    """Return the weights as a model without contexts, whose kernel then sums them; pairs are its bigrams."""
    alphabet = sorted({letter for pair in words.weights for letter in pair}) if words.pairs else list(words.weights)
    names = [*SPECIAL, *alphabet]
    every = np.arange(len(names), dtype=np.int32)
    unknown = UNKNOWN / math.log(10)
    log10 = np.full(len(names), unknown, np.float32)
    if not words.pairs:
        log10[len(SPECIAL) :] = np.array(list(words.weights.values())) / math.log(10)
    levels = [_level(every, every, log10)]
    if words.pairs:
        number = {letter: index for index, letter in enumerate(names)}
        first, last = (np.array([number[pair[side]] for pair in words.weights], np.int32) for side in (0, 1))
        values = (np.array(list(words.weights.values())) / math.log(10)).astype(np.float32)
        levels.append(_level(first, last, values))
    return model.make(NgramTables(names, levels, _tokeniser(words.pairs), ModelOrigin()))


def _level(first: Numbers, last: Numbers, log10: Floats) -> Level:
    """Return rows of words, or of pairs: the context of a pair is its first word, and its suffix the last one."""
    return Level(context=first, suffix=last, first=first, last=last, log10=log10, backoff=np.zeros_like(log10))


def _tokeniser(pairs: bool) -> Tokeniser:
    return Tokeniser(lower=True, characters=True if pairs else None, least=1)


def write(words: TopicWords, path: Path) -> None:
    """Write the weights, the highest first."""
    head = msgspec.json.encode({"pairs": words.pairs, "background": words.source}).decode()
    lines = [f"{_HEAD} {head}", _EXPLAINED.format(unknown=UNKNOWN)]
    ordered = sorted(words.weights.items(), key=lambda item: (-item[1], item[0]))
    lines += [f"{word}\t{weight:.4f}" for word, weight in ordered]
    with files.replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))


class _Head(msgspec.Struct):
    pairs: bool = False
    background: str = ""


def read(path: Path) -> TopicWords:
    """Read the weights; ConfigError names the line that is wrong."""
    make_again = "windrow init --topic makes such a file"
    try:
        lines = path.read_text("utf-8", "surrogatepass").splitlines()
    except FileNotFoundError:
        raise ConfigError(f"there is no {path}; {make_again}") from None
    except OSError as error:
        raise ConfigError(f"cannot read the words of the topic, {path}: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8; {make_again}") from None
    if not lines or not lines[0].startswith(_HEAD):
        raise ConfigError(f"{path} is not a file of topic words: its first line is not '{_HEAD} …'; {make_again}")
    try:
        head = msgspec.json.decode(lines[0].removeprefix(_HEAD), type=_Head)
    except msgspec.MsgspecError:
        raise ConfigError(f"{path}, line 1: {lines[0]!r} is damaged; {make_again}") from None
    weights = {}
    for number, line in enumerate(lines[1:], 2):
        if line.strip() and not line.startswith("#"):
            word, weight = _row(line, path, number)
            weights[word] = weight
    return TopicWords(weights, head.pairs, head.background)


def _row(line: str, path: Path, number: int) -> tuple[str, float]:
    word, tab, written = line.partition("\t")
    try:
        weight = float(written)
    except ValueError:
        weight = math.nan
    if not (tab and word and math.isfinite(weight)):
        raise ConfigError(f"{path}, line {number}: {line!r} is not a word, a tab and a number; correct the line")
    return word, weight
