"""Text as sequences of words: letters only, without numbers and punctuation, divided at lines and at sentence ends.

The rules are one table, character -> class. The regular expressions here are made from it, and the C kernel reads it.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator

import msgspec

from windrow import scripts

try:
    from windrow.judge.focus import _query
except ImportError:  # built without a compiler: the reference runs instead
    _query = None  # type: ignore[assignment]

LEAST = 5  # words of a sequence; shorter ones are headings and menus (Remus and Biemann 2016)

# Classes of characters.
OTHER, LETTER, ALONE, BLANK, LINE, DIGIT, STOP, MARK, CLOSER, END, SKIPPED = range(11)
KNOWN = 0x40000  # characters beyond are of class OTHER

_LINES = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # as str.splitlines
_MARKS = "!?…‼⁇⁈⁉"  # end a sentence if a blank follows
_ENDS = "。！？｡．।॥؟۔։።፧།"  # end a sentence whatever follows
_CLOSERS = "\"')]}’”»›“‘」』）】〉》"
_SKIPPED = "\u00ad\u200c\u200d\u2060\ufeff"  # soft hyphens and joiners do not divide words
_UNSPACED = re.compile(f"[{scripts.UNSPACED}]")


class Tokeniser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How text becomes words. A model records it, so that text is scored as the sample was read."""

    lower: bool = True  # letters in lower case: a word that begins a sentence is the same word
    characters: bool | None = None  # each letter is a word; None: only in scripts without spaces between words
    least: int = LEAST  # words of a sequence; shorter ones are left out

    def sequences(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Yield the sequences of some texts. A text is a paragraph, or many in lines."""
        for text in texts:
            if _query:
                yield from _query.sequences([self.prepare(text)], classes(self.characters), self.least)
            else:
                yield from self._sequences(self.prepare(text))

    def _sequences(self, text: str) -> Iterator[list[str]]:
        """The reference implementation of `sequences`."""
        rules = _rules(self.characters)
        for piece in rules.ends.split(rules.marks.sub(rules.divide, rules.skipped.sub("", text))):
            found: list[str] = rules.words.findall(piece)
            if len(found) >= max(1, self.least):
                yield found

    def prepare(self, text: str) -> str:
        """Return the text with equal letters written equally."""
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        return text.lower() if self.lower else text


def sequences(texts: Iterable[str], characters: bool | None = None) -> list[list[str]]:
    """Return the sequences of some texts."""
    return list(Tokeniser(characters=characters).sequences(texts))


@functools.cache
def classes(characters: bool | None) -> bytes:
    """Return the class of each of the first KNOWN characters."""
    table = bytearray(KNOWN)
    for code in range(0x20000):
        letter = chr(code)
        category = unicodedata.category(letter)
        if category[0] in "LM":
            table[code] = ALONE if code >= ord(scripts.FIRST) and _UNSPACED.match(letter) else LETTER
        elif category == "Nd":
            table[code] = DIGIT
        elif letter.isspace():
            table[code] = BLANK
    table[0x20000:KNOWN] = bytes([ALONE]) * (KNOWN - 0x20000)  # Chinese characters
    for kind, letters in ((LINE, _LINES), (MARK, _MARKS), (END, _ENDS), (CLOSER, _CLOSERS), (SKIPPED, _SKIPPED)):
        for letter in letters:
            table[ord(letter)] = kind
    table[ord(".")] = STOP
    if characters is not None:
        return bytes(table).replace(
            bytes([LETTER] if characters else [ALONE]), bytes([ALONE if characters else LETTER])
        )
    return bytes(table)


def _class(table: bytes, *kinds: int) -> str:
    """Return the inside of a regular expression's class with the characters of these kinds."""
    runs = re.finditer(b"[" + b"".join(re.escape(bytes([kind])) for kind in kinds) + b"]+", table)
    return "".join(f"{re.escape(chr(run.start()))}-{re.escape(chr(run.end() - 1))}" for run in runs)


class _Rules:
    """The regular expressions of a table of classes."""

    def __init__(self, table: bytes) -> None:
        self._table = table
        words = [f"[{_class(table, kind)}]{more}" for kind, more in ((LETTER, "+"), (ALONE, "")) if kind in table]
        self.words = re.compile("|".join(words))
        self.marks = re.compile(f"[{_class(table, STOP, MARK, CLOSER)}]+")  # a run of these may end a sentence
        self.ends = re.compile(f"[{_class(table, LINE, END)}]")
        self.skipped = re.compile(f"[{_class(table, SKIPPED)}]+")

    def divide(self, found: re.Match[str]) -> str:
        """Return a line end for marks that end a sentence, else a blank.

        A blank must follow the marks. A full stop after a single letter or a number belongs to an abbreviation.
        """
        run, text, start, end = found[0], found.string, found.start(), found.end()
        if self._kind(text, end) != BLANK:
            return " "
        if run[0] == "." and (self._kind(text, start - 1) == DIGIT or self._single(text, start - 1)):
            run = run[1:]
        return "\n" if any(self._kind(run, index) in (STOP, MARK) for index in range(len(run))) else " "

    def _single(self, text: str, place: int) -> bool:
        return self._kind(text, place) == LETTER and self._kind(text, place - 1) != LETTER

    def _kind(self, text: str, place: int) -> int:
        """Return the class of a character of the text; OTHER outside."""
        code = ord(text[place]) if 0 <= place < len(text) else KNOWN
        return self._table[code] if code < KNOWN else OTHER


@functools.cache
def _rules(characters: bool | None) -> _Rules:
    return _Rules(classes(characters))
