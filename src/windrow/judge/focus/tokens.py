"""Text as sequences of words: letters only, without numbers and punctuation, divided at lines and at sentence ends.

The rules are one table, character -> class. The regular expressions here are made from it, and the C kernel reads it.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator

import msgspec

from windrow import scripts

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

    lower: bool = False  # letters in lower case
    characters: bool | None = None  # each letter is a word; None: only in scripts without spaces between words
    least: int = LEAST  # words of a sequence; shorter ones are left out

    def sequences(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Yield the sequences of some texts. A text is a paragraph, or many in lines."""
        words, run, split = _patterns(self.characters)
        for text in texts:
            for piece in split.split(run.sub(_divide, self.prepare(text))):
                found: list[str] = words.findall(piece)
                if len(found) >= self.least:
                    yield found

    def prepare(self, text: str) -> str:
        """Return the text with equal letters written equally."""
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
            if _skipped().search(text):
                text = _skipped().sub("", text)
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


@functools.cache
def _patterns(characters: bool | None) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return what matches a word, a run of marks that may end a sentence, and the end of a sequence."""
    table = classes(characters)
    letters, alone = _class(table, LETTER), _class(table, ALONE)
    word = "|".join(part for part in (f"[{letters}]+" if letters else "", f"[{alone}]" if alone else "") if part)
    return (
        re.compile(word),
        re.compile(f"[{_class(table, STOP, MARK, CLOSER)}]+"),
        re.compile(f"[{_class(table, LINE, END)}]+"),
    )


@functools.cache
def _skipped() -> re.Pattern[str]:
    return re.compile(f"[{_SKIPPED}]+")


def _divide(found: re.Match[str]) -> str:
    """Return a line end for marks that end a sentence, else a blank.

    A blank must follow the marks. A full stop after a single letter or a number belongs to an abbreviation.
    """
    text, start, end = found.string, found.start(), found.end()
    if end < len(text) and _kind(text[end]) != BLANK:
        return " "
    run = found[0]
    if run[0] == "." and start and (_kind(text[start - 1]) == DIGIT or _single(text, start - 1)):
        run = run[1:]
    return "\n" if any(_kind(mark) in (STOP, MARK) for mark in run) else " "


def _single(text: str, place: int) -> bool:
    return _kind(text[place]) == LETTER and (place == 0 or _kind(text[place - 1]) != LETTER)


def _kind(letter: str) -> int:
    table = classes(None)
    return table[ord(letter)] if ord(letter) < KNOWN else OTHER
