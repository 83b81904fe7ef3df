"""Counts of a text: characters by class, words, sentences. Computed by the C kernel `_shape` or its reference here."""

import functools
import re
from collections.abc import Sequence

from windrow import scripts

try:
    from windrow.judge import _shape
except ImportError:  # built without a compiler: the reference runs instead
    _shape = None  # type: ignore[assignment]

Classes = tuple[int, int, int, int, int, int]  # letters, blanks, digits, marks, symbols, dense characters
Counts = tuple[Classes, int, int, int, int, int]

LOOKED = 3000  # characters of a text that are counted by class
LONG = 100  # characters; a text of this length is a paragraph however it ends
ENDS = ".!?…:;\"'”»。！？」』؟۔।॥།։።"
_KNOWN = 0x40000  # characters beyond are letters
_BLANKS = b" \t\r\n"
_DIGITS = b"0123456789"
_MARKS = b".,;:!?'\"()-"  # punctuation of prose
_SYMBOLS = b"#$%&*+/<=>@[\\]^_`{|}~"
_MARK = re.compile(
    "[\u00a1\u00ab\u00b7\u00bb\u00bf\u060c\u061b\u061f\u06d4\u0964\u0965\u2010-\u201f\u2026\u2032\u2033\u2039\u203a"
    "\u3001-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+"
)
_SYMBOL = re.compile(
    "[\u00a2-\u00a9\u00ac-\u00b1\u00d7\u00f7\u2020-\u2025\u2027-\u2031\u203b-\u2bff\ufffc\ufffd\U0001f000-\U0001faff]+"
)
_DENSE = re.compile(f"[{scripts.DENSE}]+")


def count(texts: Sequence[str]) -> Counts:
    """Count the characters and words of some texts.

    Of the first LOOKED characters of the texts, joined by line ends: the characters by class, the words, the different
    word triples. Of all characters: their number, the spaces, and the characters of those texts that are long or end
    like a sentence, unlike menus and lists.
    """
    return _shape.count(texts, _class_table(), LOOKED, ENDS, LONG) if _shape else _count(texts)


def octets(texts: Sequence[str]) -> list[int]:
    """Return the length of each text in UTF-8."""
    if _shape:
        return _shape.octets(texts)
    return [len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts]


def _count(texts: Sequence[str]) -> Counts:
    """The reference implementation of `count`."""
    text = "\n".join(texts)
    looked = text[:LOOKED]
    data = looked.encode("utf-8", "surrogatepass")
    blanks, digits, symbols, marks = (
        len(data) - len(data.translate(None, kind)) for kind in (_BLANKS, _DIGITS, _SYMBOLS, _MARKS)
    )
    dense = 0
    if not looked.isascii():
        symbols += sum(map(len, _SYMBOL.findall(looked)))
        marks += sum(map(len, _MARK.findall(looked)))
        dense = sum(map(len, _DENSE.findall(looked)))
    words = looked.split()
    triples = set(zip(words, words[1:], words[2:], strict=False))
    letters = len(looked) - blanks - digits - marks - symbols - dense
    sentences = sum(len(text) for text in texts if len(text) >= LONG or text.endswith(tuple(ENDS)))
    classes = letters, blanks, digits, marks, symbols, dense
    return classes, len(words), len(triples), sum(map(len, texts)), text.count(" "), sentences


@functools.cache
def _class_table() -> bytes:
    """Return the class of each character, for the kernel."""
    table = bytearray(_KNOWN)
    for index, kind in enumerate((_BLANKS, _DIGITS, _MARKS, _SYMBOLS), 1):
        for octet in kind:
            table[octet] = index
    characters = "".join(map(chr, range(_KNOWN)))
    for index, pattern in ((3, _MARK), (4, _SYMBOL), (5, _DENSE)):
        for match in pattern.finditer(characters):
            table[match.start() : match.end()] = bytes([index]) * len(match[0])
    return bytes(table)
