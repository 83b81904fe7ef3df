"""Split a paragraph in any language into sentences, for vertical files. Joined, the sentences give the paragraph back.

A sentence ends at a sign such as a full stop, with the quotes and brackets that close there. Signs with no other use
(。 । ؟ ። ။ ។) always end a sentence. A full stop may also belong to an abbreviation, an initial, a number or an
ellipsis, so the words before and after it decide. Three cases are not recognised: Thai and Lao, which end sentences
with a space as they end clauses; a capitalised name after an abbreviation that is not in the list; and two sentences
without a space between them, which look like a domain or a file name.
"""

import functools
import re
from typing import NamedTuple

from windrow import scripts
from windrow.corpus.segment import abbreviations
from windrow.corpus.segment.abbreviations import Words

# Unicode's sentence terminals of living scripts, without those that also end clauses, except Tibetan's.
_STRONG = (
    "\u0589\u061d-\u061f\u06d4\u0700-\u0702\u07f9\u0964\u0965\u0df4\u0f0d\u0f0e\u104b\u1362\u1367\u1368\u166e\u17d4\u17d5\u1803\u1809"
    "\u1944\u1945\u1b5a\u1b5b\u1b5e\u1b5f\u1c3b\u1c3c\u1c7e\u1c7f\u203c\u203d\u2047-\u2049\u3002\ua4ff\ua60e\ua60f\ua6f3\ua6f7\ua92f"
    "\ua9c8\ua9c9\uaa5d-\uaa5f\uabeb\ufe52\ufe56\ufe57\uff01\uff0e\uff1f\uff61"
)
_CLOSING = "\"'”’»›」』〞〟＂＇"
_EITHER = "“„‟‘‚‛«‹"  # opening quotes in one language, closing quotes in another
_QUOTES = _CLOSING + _EITHER + "「『〝"
_BRACKETS = ")]}）］｝】〉》〕"
_OPEN = "([{（［｛【〈《〔"
# Characters that may stand between the end of a sentence and the first word of the next.
_LEAD = rf"\s*_•·–—―‐\-{re.escape(_QUOTES + _OPEN)}¿¡"
_NEXT = re.compile(rf"([{_LEAD}]{{0,16}}+)(\w[\w'’]{{0,24}}+)?+(\.?)")
_NAME = re.compile(r"\A.[A-Z]|[\d_]")  # iPhone, x264, b_adapt: these begin a sentence without a capital
_WORD = re.compile(r"\w")
_UNSPACED = re.compile(f"[{scripts.UNSPACED}]")
_SLIP = re.compile(f"[{scripts.HANGUL}]{{3}}")
_ROMAN = re.compile(r"(?=.)L?X{0,3}(?:IX|IV|V?I{0,3})")  # up to 89, without C, D and M: a CD is not a number
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
# The number of a list item or heading: 1, A.6.2, iv, b; Korean counts 가 나 다.
_LABEL = re.compile(
    r"[§(\[]?(?:[A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,4}|[^\W\d_\u1100-\uffff]|[가나다라마바사아자차카타파하]|[IVXLC]{1,5}|[ivxlc]{1,5})"
)
_CAPTION = re.compile(r"\d+\.\d+")  # Figure 8.12. The wind
_PARTS = re.compile(r"[^\W\d_]{1,2}(?:\.-?[^\W\d_]{1,2})+")  # z.B, U.S.A, Ph.D
_APART = re.compile(r"(?<![^\s(])(?:[^\W\d_]{1,2}\. ){1,4}\Z")  # z. , J. R.
_VOWEL = re.compile("[aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýÿāăąēėęěīįıōőœūůűųαεηιοωυάέήίόώύаеёиоуыэюяіїє]")
_UNITS = frozenset(
    "km kg cm mm ml dl hl gb mb kb tb hz khz mhz ghz kw mw kwh db px cl dm hpa kpa mg bn tv pc cd hd hmm".split()
)
# Languages that capitalise every noun, so a capital does not show that a sentence begins.
_GERMAN = frozenset(("deu", "gsw", "nds", "ltz", "bar"))
_ORDINAL = _GERMAN | frozenset(  # languages where "3." means "the third"
    "ces slk pol hun fin est ekk dan nob nno nor hrv srp bos cnr slv lav lvs isl fao tur hsb dsb eus".split()
)
_SYLLABIC = frozenset("ces slk hrv srp bos cnr slv mkd bul".split())  # languages where r and l are vowels: prst, vlk
_OWN_SIGNS = {"hye": ":", "hyw": ":", "ell": ";\u037e"}  # they end sentences in this language only, before a capital
_QUOTED_ON = ("と", "って", "を", "が", "の", "に", "、")  # Japanese: after a quotation, these continue the sentence
_ON = tuple(",;:)]}>|=")  # no sentence begins with these
_LONG = 64  # characters before a full stop that are examined


class _FullStop(NamedTuple):
    """A full stop where a sentence may end."""

    word: str  # before the full stop, without opening quotes and brackets
    number: int  # words of the sentence up to here, among the last _LONG characters
    following: str  # the next word
    initial: bool  # the next word is one letter with a full stop: "V." of V. Havel
    words: Words


def split(text: str, language: str = "") -> list[tuple[str, bool]]:
    """Return each sentence, and whether it follows the one before without a space. `language`: ISO 639-3."""
    cuts = _cuts(text, language)
    sentences = []
    start = 0
    for end in (*cuts, len(text)):
        sentence = text[start:end].strip()
        if sentence:
            sentences.append((sentence, start > 0 and not text[start].isspace()))
        start = end
    return sentences


def _cuts(text: str, language: str) -> list[int]:
    """Return where the sentences end, without the last. Signs alone are not a sentence."""
    cuts: list[int] = []
    words = abbreviations.of(language)
    signs, pattern = _patterns(_OWN_SIGNS.get(language, ""))
    position, start, worded = 0, 0, _first_word(text, 0)
    while sign := signs.search(text, position):
        match = pattern.match(text, sign.start())
        position = match.end() if match else sign.end()
        if match and worded < position < len(text) and _ends(text, start, match, words):
            cuts.append(position)
            start, worded = position, _first_word(text, position)
    return cuts[:-1] if cuts and worded == len(text) else cuts


def _first_word(text: str, start: int) -> int:
    match = _WORD.search(text, start)
    return match.start() if match else len(text)


@functools.cache
def _patterns(own: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return two patterns: one sign that may end a sentence, to find it fast; and the whole end of a sentence.

    The second has all signs, and the quotes, brackets and note marks that close there. It never backtracks, so any text
    takes linear time.
    """
    weak = rf"[.!?…{own}]"
    run = rf"(?:\.(?: \.)++|{weak}++)"  # . . .
    notes = r"\[\w{1,3}\]|[⁰¹²³⁴-⁹]"
    closing = rf"((?:[{re.escape(_CLOSING + _EITHER + _BRACKETS)}]|{notes})*+)"
    # After a strong sign the next sentence may follow without a space and open a quotation: take closing quotes only.
    only = rf"((?:[{re.escape(_CLOSING + _BRACKETS)}]|{notes})*+)"
    spaced = r"(?: [»›](?=\s|$))?+"  # closes in French, with a space before it; where it opens, no space follows
    stop = rf"(?<!{weak})(?<!\. )({run}){closing}{spaced}(?=\s|$|[{scripts.UNSPACED}{scripts.HANGUL}])"
    own_sign = rf"(?:(?!\u17d4\u179b\u17d4)(?<!\u17d4\u179b)[{_STRONG}]|\u1361\u1361)"  # "។ល។" is Khmer for "etc."
    return re.compile(rf"[.!?…{own}{_STRONG}\u1361]"), re.compile(
        rf"{stop}|({own_sign}(?: ?{own_sign}|[.!?…])*+){only}"
    )


def _ends(text: str, start: int, match: re.Match[str], words: Words) -> bool:
    sign, closed, strong, strongly_closed = match.groups("")
    end = match.end()
    closed = closed or strongly_closed
    if any(bracket in closed for bracket in _BRACKETS) and "[" not in closed and not _opened(text, start):
        return False  # (!), (see Fig.): the sentence continues after the bracket
    if closed and text[end : end + 3].lstrip().startswith(_QUOTED_ON):
        return False
    if strong:
        return True
    if not text[end].isspace():
        return _unspaced(sign, text[max(0, match.start() - 2) : match.start()], text[end])
    return _spaced(text, start, match, words)


def _spaced(text: str, start: int, match: re.Match[str], words: Words) -> bool:
    """Return whether a sentence ends at an ambiguous sign that a space follows."""
    sign, following = match[1], _NEXT.match(text, match.end())
    assert following is not None  # it matches anything
    lead, word = following[1], following[2] or ""
    if not word and text[following.end() : following.end() + 1] in _ON:
        return False
    lower = word[:1].islower() and not _NAME.search(word)
    if "!" in sign or "?" in sign:
        apart = match.start() > start and text[match.start() - 1].isspace()
        return not (lower and (match[2] or apart or "–" in lead or "—" in lead or " - " in lead))  # "Why?" he asked
    if lower or (sign[0] in ";:\u037e" and not word[:1].isupper()):
        return False
    if sign != ".":
        return not re.search(r"[–—([-]", lead)  # the ellipsis continues
    before = text[max(start, match.start() - _LONG) : match.start()]
    number = len(before.split()) if match.start() - start < _LONG else _LONG
    return _stops(_FullStop(_last(before), number, word, len(word) == 1 and bool(following[3]), words))


def _last(before: str) -> str:
    """Return the last word, without opening quotes and brackets; an abbreviation with spaces (z. B.) is one word."""
    begin = before.rfind(" ") + 1
    apart = _APART.search(before[:begin]) if len(before) - begin <= 2 else None
    return (apart[0].replace(" ", "") if apart else "") + before[begin:].lstrip(_QUOTES + _OPEN + "¿¡*_–—-")


def _unspaced(sign: str, before: str, after: str) -> bool:
    """Return whether a sentence ends although no space follows.

    It does in a script without spaces, but not after a Latin name (Yahoo!知恵袋). In Korean it also does after a full
    stop, because leaving out that space is the most common typing error.
    """
    if sign == ".":
        return bool(_SLIP.fullmatch(before + after))
    return "." not in sign and "…" not in sign and bool(_UNSPACED.fullmatch(before[-1:]))


def _opened(text: str, start: int) -> bool:
    """Return whether the sentence began with a bracket: only then can a closing bracket end it."""
    return text[start : start + 3].lstrip()[:1] in tuple(_OPEN)


def _stops(stop: _FullStop) -> bool:
    """Return whether a full stop ends a sentence. The next word does not begin with a small letter."""
    word, words = stop.word, stop.words
    short = re.split(r"[-/'’]", word)[-1].lower()
    if not word:
        return True
    if (stop.number == 1 and _LABEL.fullmatch(word)) or (stop.number == 2 and _CAPTION.fullmatch(word)):
        return False
    if short in words.before or word.lower() in words.before:
        return False
    if stop.following.lower() in words.starts and not stop.initial:
        return True
    if short in words.numbered and (stop.following[:1].isdigit() or _ROMAN.fullmatch(stop.following)):
        return False
    if _NUMBER.fullmatch(word):
        return not _ordinal(word, stop)
    if word.lower() in words.closing:
        return True
    return not (short in words.after or _abbreviated(word, short, words.language))


def _ordinal(number: str, stop: _FullStop) -> bool:
    """Return whether it is an ordinal or part of a date: am 3. Oktober, 28. 10. 1918, 1918. 10. 28."""
    if stop.words.language not in _ORDINAL:
        return False
    last = re.split(r"\D", number)[-1]
    if stop.following[:1].isdigit():
        return len(last) <= 2 or stop.words.language == "hun"
    return len(last) <= 2 and stop.words.language in _GERMAN


def _abbreviated(word: str, short: str, language: str) -> bool:
    """Return whether a word has an abbreviation's shape: inner full stops, one letter, or few letters and no vowel.

    In Thai and Lao every word with a full stop is one: their sentences do not end with a full stop.
    """
    if _PARTS.fullmatch(word) or "\u0e00" <= word[-1] <= "\u0eff":
        return True
    letters = sum(map(str.isalpha, short))
    if letters == 1 and len(word) == len(short) <= 3:
        if language == "eng":
            return word.isupper() and word != "I"
        return word[0] < "\u1100"  # one Korean or Chinese character is a word
    if short[:1] >= "\u0530" or not short.isalpha():
        return False
    if word.isupper():
        return language in _ORDINAL and bool(_ROMAN.fullmatch(word))  # Karel IV.
    vowelless = 2 <= len(short) <= 5 and short not in _UNITS and not _VOWEL.search(short)
    return vowelless and not (language in _SYLLABIC and ("r" in short or "l" in short))
