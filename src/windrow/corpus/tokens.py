"""Words of a text in any language, for vertical files. Joined again as the glue between them says, they give the text back.

Words keep what is inside them (rock'n'roll, COVID-19, 3,14, z.B.); signs stand alone; Chinese and Japanese are cut into characters, because
where their words end is a matter of dictionaries. Marks belong to the letter before them, so that Hindi is not torn.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator

GLUE = "<g/>"

_HAN = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
_TONES = "\U0001f3fb-\U0001f3ff"  # of skin, behind an emoji
_ABBREVIATIONS = frozenset(
    """
    mr mrs ms dr prof st jr sr vs etc inc ltd corp hon rev gen col lt sgt capt dept univ approx ed eds vol fig figs pp cf al
    usw bzw evtl ggf inkl exkl zzgl abs bd kap nr str hrsg jh jhd sog vgl dipl bspw ca tel
    např tzv tzn tj atd apod resp mj popř příp mgr judr mudr phdr rndr ing č nám odst písm roč
    mme mlle mm éd env chap sig sigg dott avv ecc pag art núm pág sra dra uds aprox
    dhr mevr drs bijv enz blz hab inż ul godz tzw np itd itp zob
    ул стр тыс млн млрд руб др напр проф
    """.split()
)
_ELIDING = frozenset(("fra", "ita", "cat", "oci", "cos", "frp", "lmo", "pms", "scn", "srd", "wln"))
_ELISION = re.compile(
    r"(?:[^\W\d_]{1,2}|jusqu|lorsqu|puisqu|quoiqu|quelqu|[^\W\d_]{1,4}ll|sant|tutt|senz|cent)['’](?=[^\W_])", re.IGNORECASE
)
_WHOLE = frozenset(("aujourd'hui", "d'accord", "presqu'île"))
_CLITIC = re.compile(r"(?:(?<=[^\W\d_])n['’]t|['’](?:s|m|d|re|ve|ll))$", re.IGNORECASE)


def tokens(text: str, language: str = "") -> Iterator[tuple[str, bool]]:
    """Each token, and whether it follows the one before without a blank."""
    glued = False
    for line in lines(text, language):
        if line is not GLUE:
            yield line, glued
        glued = line is GLUE


def lines(text: str, language: str = "") -> list[str]:
    """A token a line, and GLUE where there is no blank between two. No token reads like GLUE: "<" is one by itself.

    `language`: ISO 639-3, for l'|homme and do|n't.
    """
    apart = language == "eng" or language in _ELIDING
    rows = _pattern().findall(text)
    found: list[str] = []
    for number, (blank, token, _) in enumerate(rows):
        if not blank and found:
            if token == "." and _shortened(found[-1], rows[number + 1 : number + 2]):
                found[-1] += token
                continue
            found.append(GLUE)
        if apart and ("'" in token or "’" in token):
            first, *rest = _pieces(token, language)
            found.append(first)
            for piece in rest:
                found += (GLUE, piece)
        else:
            found.append(token)
    return found


def _shortened(word: str, following: list[tuple[str, str, str]]) -> bool:
    """Whether a full stop makes a word an abbreviation: a known one, or an initial before a name."""
    if word.lower() in _ABBREVIATIONS:
        return True
    return len(word) == 1 and word.isupper() and bool(following) and bool(following[0][0]) and following[0][1][0].isupper()


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
    """The blanks before a token, and the token: the first alternative that fits. The last takes any sign, so that nothing but blanks is
    between two tokens. What may repeat is possessive or bounded: no text takes more than linear time."""
    marks = _marks()
    word = rf"[^\W{_HAN}](?:[^\W{_HAN}]++|[{marks}\u00ad\u200c\u200d]++)*+\u200b*+"
    end = r"[^\s<>\"“”„«».,;:!?'’…)\]}]"
    alternatives = (
        rf"[^\W\d_{_HAN}]++(?=[ ,;]|$)",  # most words: the others cost three times as much
        rf"(?:https?://|ftp://|www\.)[^\s<>\"“”„«»]{{0,2000}}{end}",
        r"[\w.+-]{1,64}+@(?:[\w-]{1,63}+\.){1,8}+[^\W\d_]{2,}+",
        rf"(?<!\w)(?:[a-z0-9-]{{1,63}}\.){{1,8}}(?:com|org|net|edu|gov|info|eu)(?:/[^\s<>\"“”„«»]{{0,2000}}{end})?(?!\.?\w)",
        r"\d{4}-\d\d-\d\d(?!\w)",
        r"(?<![\w.,])[-+−]?\d++(?:[.,:/'’]\d++){0,8}+(?!\w)",
        rf"(?<!\w)(?:[^\W\d_{_HAN}]\.){{2,8}}+(?!\w)",
        rf"{word}(?:[-‐‑·'’ʼ]{word})*+",
        r"[#@]\w++",
        r"([.!?…*=_~-])\3++",
        "[\U0001f1e6-\U0001f1ff]{2}",  # a flag
        rf"\S[{marks}{_TONES}]*+(?:\u200d\S[{marks}{_TONES}]*+)*+",
    )
    return re.compile(rf"(\s*+)({'|'.join(alternatives)})")


@functools.cache
def _marks() -> str:
    """What joins the letter before it, as the inside of a character class: `re` knows no Unicode categories."""
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
