"""Stop lists: the words that every text of a language is full of.

A paragraph with few of them does not consist of sentences: it is a menu.

`lists.zip` holds the lists of jusText 3.0.2 (ATTRIBUTION.md), and two lists of characters for Chinese and Japanese,
which have no blanks between words; tools/make_stoplists.py packs it. A list whose entries are all one character long
is counted by character. `make` builds a list for another language from a sample of text.
"""

import collections
import functools
import importlib.resources
import io
import re
import unicodedata
import zipfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from windrow.config import ConfigError

# Share of a running text that a list covers. jusText's lists cover .49 to .63 of the Declaration of Human Rights.
COVERAGE = 0.55
_UNSPACED = 12  # mean letters between two blanks; with more, the text has no blanks between words
_ALIASES = {
    "zho": ("zh", "cmn", "yue"),
    "jpn": ("ja",),
    "nob": ("no", "nor"),
    "tgl": ("fil",),
    "ind": ("in",),
    "heb": ("iw",),
}
_MIN_WORDS = 1000  # of a sample; with fewer, chance decides which words are the most frequent
_SAMPLE = 200  # words and characters that are examined to guess a language
# Share of words that are among the most frequent of a language. From _CLEAR on the language is certain (English text
# has .4, Finnish .2); below _UNCLEAR the text is in another language, or in none.
_CLEAR = 0.2
_UNCLEAR = 0.04
_LONG = 1 << 16  # characters of a paragraph that are examined
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u4e00-\u9fff]")


class Stoplist(msgspec.Struct, frozen=True):
    words: frozenset[str]
    by_character: bool = False

    def density(self, text: str) -> float:
        """Return the share of a text's words in the list; by character, the share of its letters and digits."""
        text = text[:_LONG]
        if not (text.isascii() or unicodedata.is_normalized("NFC", text)):
            text = unicodedata.normalize("NFC", text)
        if self.by_character:
            characters = [one for one in text if one.isalnum()]
            return sum(map(self.words.__contains__, characters)) / (len(characters) or 1)
        words = text.lower().split()
        return sum(map(self.words.__contains__, words)) / (len(words) or 1)


@functools.cache
def languages() -> list[tuple[str, str, str]]:
    """Return ISO 639-3 code, ISO 639-1 code or "", and jusText's name of every language that jusText has a list for."""
    table = _data("languages.tsv").decode()
    return [(code, short, name) for code, short, name in (line.split("\t") for line in table.splitlines())]


@functools.cache
def code(language: str) -> str:
    """Return the ISO 639-3 code of a language with a list, or "".

    The language may be written in any of these ways: "en", "eng", "en-GB", "English".
    """
    names = {name.lower(): code for code, *others in languages() for name in (code, *others) if name}
    names |= {alias: code for code, aliases in _ALIASES.items() for alias in (code, *aliases)}
    wanted = language.strip().lower().replace("_", "-")
    return names.get(wanted) or names.get(wanted.replace("-", "_")) or names.get(wanted.partition("-")[0], "")


@functools.cache
def load(language: str) -> Stoplist:
    known = code(language)
    if not known:
        raise ConfigError(
            f"there is no stop list for '{language}'; make one with 'windrow extract stoplist SAMPLE -o FILE'"
        )
    return _stoplist(_member(f"{known}.txt").split("\n"))


def read(path: Path) -> Stoplist:
    """Read a user's stop list: UTF-8, one word per line, # before a comment."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot read the stop list {path}: {error.strerror}; check the path") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8; save the stop list as UTF-8, one word per line") from None
    lines = [written.partition("#")[0] for written in text.splitlines()]
    for number, written in enumerate(lines, 1):
        if len(written.split()) > 1:
            raise ConfigError(
                f"{path}, line {number}: {written.strip()!r} is more than one word; write one word per line"
            )
    found = _stoplist(lines)
    if not found.words:
        fix = "write one word per line, or make a list with 'windrow extract stoplist SAMPLE -o FILE'"
        raise ConfigError(f"{path} holds no words; {fix}")
    return found


def make(text: str, coverage: float = COVERAGE) -> list[str]:
    """Return the most frequent words of a sample that together cover this share of it.

    They are characters if the sample has no blanks between words.
    """
    counts = collections.Counter(_units(text))
    left = coverage * counts.total()
    found = []
    for word, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        if left <= 0:
            break
        left -= count
        found.append(word)
    return found


def of_sample(text: str, name: str, size: int = 0) -> list[str]:
    """Return the stop list of a sample: `size` words, or as many as `make` takes. Errors call the sample `name`."""
    words = _units(text)
    if len(words) < _MIN_WORDS:
        found = f"{name} holds {len(words):,} words (characters, if its script has no blanks)"
        raise ConfigError(
            f"{found}; a stop list needs a sample of {_MIN_WORDS:,} or more, better a hundred times as many"
        )
    counts = collections.Counter(words)
    repeated = [word for word in make(text, 1.0) if counts[word] > 1]
    if size > len(repeated):
        raise ConfigError(
            f"only {len(repeated):,} words occur more than once in {name}; give a longer sample, or a smaller --size"
        )
    return repeated[: size or len(make(text))]


def guess(texts: Iterable[str], declared: str) -> str:
    """Return the language of a page, among those with a list, by its most frequent words; "" if it is not clear."""
    words = _words(texts)
    by_script = _script("".join(words)[:_SAMPLE])
    if by_script:
        return by_script
    declared_code = code(declared)
    if declared_code and _share(words, declared_code) >= _CLEAR:
        return declared_code
    best, share = _likeliest(words, declared_code)
    doubt = _CLEAR if declared and not declared_code else _UNCLEAR
    return best if share >= doubt else declared_code


def clear_language(text: str) -> str:
    """Return the language of a paragraph, whatever the language of the page; "" if it is not clear."""
    words = _words([text])
    by_script = _script("".join(words)[:_SAMPLE])
    if by_script:
        return by_script
    best, share = _likeliest(words, "")
    return best if share >= _CLEAR else ""


def _likeliest(words: list[str], declared_code: str) -> tuple[str, float]:
    """Return the language that has most of these words among its most frequent ones, and their share."""
    hits: dict[str, int] = {}
    for word, count in collections.Counter(words).items():
        for language in _owners().get(word, ()):
            hits[language] = hits.get(language, 0) + count
    best = max(hits, key=lambda language: (hits[language], language == declared_code, language), default="")
    return best, hits[best] / len(words) if best else 0.0


def _units(text: str) -> list[str]:
    """Return the words with a letter, or the characters; none with "#", which begins a comment in a stop list file."""
    words = unicodedata.normalize("NFC", text).lower().split()
    if sum(map(len, words)) > _UNSPACED * len(words):
        words = list("".join(words))
    return [word for word in words if any(map(str.isalpha, word)) and "#" not in word]


def _share(words: list[str], language: str) -> float:
    return sum(map(_most_frequent(language).__contains__, words)) / (len(words) or 1)


def _words(texts: Iterable[str]) -> list[str]:
    """Return the first words, longer texts first: those are more likely to be sentences."""
    words: list[str] = []
    for text in sorted(texts, key=len, reverse=True):
        words += text[: 10 * _SAMPLE].lower().split()
        if len(words) >= _SAMPLE:
            break
    return words[:_SAMPLE]


def _script(letters: str) -> str:
    """Return "zho" or "jpn", which their characters show; else ""."""
    if letters.isascii():
        return ""
    kana, han = len(_KANA.findall(letters)), len(_HAN.findall(letters))
    if 4 * (han + kana) < len(letters):
        return ""
    return "jpn" if 10 * kana > han else "zho"


@functools.cache
def _owners() -> dict[str, tuple[str, ...]]:
    """Return for each of the most frequent words of all languages the languages that have it."""
    owners: dict[str, list[str]] = {}
    for line in _member("first.txt").splitlines():
        language, *words = line.split(" ")
        for word in words:
            owners.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in owners.items()}


@functools.cache
def _most_frequent(language: str) -> frozenset[str]:
    return frozenset(word for word, languages in _owners().items() if language in languages)


def _stoplist(lines: Iterable[str]) -> Stoplist:
    words = frozenset(word for line in lines if (word := line.strip().lower()))
    return Stoplist(words, by_character=bool(words) and all(len(word) == 1 for word in words))


def _member(name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(_data("lists.zip"))) as archive:
        return archive.read(name).decode()


def _data(name: str) -> bytes:
    return (importlib.resources.files(__package__) / name).read_bytes()
