"""Split a text in any language into tokens, for vertical files. Joined as the glue says, the tokens give the text back.

A word keeps its inner signs (rock'n'roll, COVID-19, 3,14, z.B.); other signs are tokens of their own. A mark belongs to
the letter before it, so Hindi words stay whole. In scripts without spaces between words, only a dictionary shows where
a word ends: a `Cut` decides. The built-in one splits Chinese and Japanese into characters, Thai, Lao, Khmer and Burmese
into `clusters`, and Tibetan into syllables.
"""

import functools
import re
import unicodedata
from collections.abc import Callable

from windrow import scripts
from windrow.corpus.segment import abbreviations, clusters
from windrow.corpus.segment.abbreviations import Words

GLUE = "<g/>"

_TIBETAN = "\u0f40-\u0f6c\u0f71-\u0f84\u0f88-\u0fbc"
_HAN = scripts.CHINESE_JAPANESE
_SOLID = _HAN + scripts.CLUSTERED
_RUN = re.compile(f"[{_SOLID}]")
_IDEOGRAPHS = re.compile(f"[{_HAN}]")
_TONES = "\U0001f3fb-\U0001f3ff"  # skin tones, after an emoji
_ELIDING = frozenset(("fra", "ita", "cat", "oci", "cos", "frp", "lmo", "pms", "scn", "srd", "wln"))
_ELISION = re.compile(
    r"(?:[^\W\d_]{1,2}|jusqu|lorsqu|puisqu|quoiqu|quelqu|[^\W\d_]{1,4}ll|sant|tutt|senz|cent)['’](?=[^\W_])",
    re.IGNORECASE,
)
_WHOLE = frozenset(("aujourd'hui", "d'accord", "presqu'île"))
_CLITIC = re.compile(r"(?:(?<=[^\W\d_])n['’]t|['’](?:s|m|d|re|ve|ll))$", re.IGNORECASE)


Cut = Callable[[str, str], list[str]]  # a run of letters of a script without spaces, ISO 639-3 code -> its words


def builtin(run: str, language: str) -> list[str]:
    """Split a run of letters without a dictionary."""
    return _characters().findall(run) if _IDEOGRAPHS.match(run) else clusters.cut(run, language)


def lines(text: str, language: str = "", cut: Cut = builtin) -> list[str]:
    """Return the tokens, with GLUE between two that no space separates. No token equals GLUE: "<" is always a token.

    `text`: one sentence or more; `language`: ISO 639-3, for abbreviations, l'|homme and do|n't.
    """
    apart = language == "eng" or language in _ELIDING
    words = abbreviations.of(language)
    rows = _pattern().findall(text)
    tokens: list[str] = []
    for number, (space, token, _) in enumerate(rows):
        if not space and tokens:
            if token == "." and _shortened(tokens[-1], rows[number + 1 : number + 2], words):  # noqa: S105 - of a text
                tokens[-1] += token
                continue
            tokens.append(GLUE)
        if token >= scripts.FIRST and _RUN.match(token) and token[-1] != ".":
            _glue(tokens, cut(token, language))
        elif apart and ("'" in token or "’" in token):
            _glue(tokens, _pieces(token, language))
        else:
            tokens.append(token)
    return tokens


def _glue(tokens: list[str], pieces: list[str]) -> None:
    tokens.append(pieces[0])
    for piece in pieces[1:]:
        tokens += (GLUE, piece)


def _shortened(word: str, following: list[tuple[str, str, str]], words: Words) -> bool:
    """Return whether a word and its full stop are one token: an abbreviation, or an initial before a name."""
    low = word.lower()
    if low in words.shortened:
        return True
    if not following or not following[0][0]:
        return False
    first = following[0][1][0]
    return (low in words.numbered and first.isdigit()) or (len(word) == 1 and word.isupper() and first.isupper())


def _pieces(word: str, language: str) -> list[str]:
    if language == "eng":
        match = _CLITIC.search(word)
        return [word[: match.start()], match[0]] if match and match.start() else [word]
    match = _ELISION.match(word)
    if match is None or word.lower().replace("’", "'") in _WHOLE:
        return [word]
    return [match[0], word[match.end() :]]


@functools.cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of a token and the spaces before it.

    The first alternative that fits wins. The last one matches any sign, so only spaces stand between two tokens. Every
    repetition is possessive or bounded, so any text takes linear time.
    """
    marks = _marks()
    letter = rf"[^\W{_SOLID}]"
    word = rf"{letter}(?:{letter}++|[{marks}\u00ad\u200c\u200d]++)*+\u200b*+"
    end = r"[^\s<>\"“”„«».,;:!?'’…)\]}]"
    alternatives = (
        rf"[^\W\d_{_SOLID}]++(?=[ ,;]|$)",  # most words: the other alternatives cost three times as much
        rf"(?:https?://|ftp://|www\.)[^\s<>\"“”„«»]{{0,2000}}{end}",
        rf"(?:{letter}|[.+-]){{1,64}}+@(?:[\w-]{{1,63}}+\.){{1,8}}+[^\W\d_]{{2,}}+",
        rf"(?<!\w)(?:[a-z0-9-]{{1,63}}\.){{1,8}}(?:com|org|net|edu|gov|info|eu)(?:/[^\s<>\"“”„«»]{{0,2000}}{end})?(?!\.?\w)",
        r"\d{4}-\d\d-\d\d(?!\w)",
        r"(?<![\w.,])[-+−]?\d++(?:[.,:/'’]\d++){0,8}+(?!\w)",
        rf"(?<!\w)(?:[^\W\d_{_HAN}]\.){{2,8}}+(?!\w)",
        rf"[{scripts.CLUSTERED}][{scripts.CLUSTERED}\u200b-\u200d]*+",
        rf"[{_HAN}][{_HAN}{marks}]*+",
        rf"[{_TIBETAN}]++[\u0f0b\u0f0c]*+",
        rf"{word}(?:[-‐‑·'’ʼ]{word})*+",
        rf"[#@]\w(?:\w++|[{marks}]++)*+",
        r"([.!?…*=_~-])\3++",
        "[\U0001f1e6-\U0001f1ff]{2}",  # a flag
        rf"\S[{marks}{_TONES}]*+(?:\u200d\S[{marks}{_TONES}]*+)*+",
    )
    return re.compile(rf"(\s*+)({'|'.join(alternatives)})")


@functools.cache
def _characters() -> re.Pattern[str]:
    return re.compile(rf".[{_marks()}]*+")


@functools.cache
def _marks() -> str:
    """Return all combining marks as the inside of a character class: `re` has no Unicode categories."""
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
