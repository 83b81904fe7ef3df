"""The two language detectors: CLD2, which is fast, and py3langid, ten times as slow and better on short text."""

import copy
import functools
import re
from typing import Any

import pycld2

from windrow.judge.language import codes, decoded
from windrow.judge.language.codes import UNKNOWN

Answer = tuple[str, float]  # language and certainty, 0 to 1; ("und", 0): unknown

_PURE = 97  # percent in one language from which CLD2 found no other: it counts in pieces of about 50 characters
_DENSE = ("zho", "jpn", "kor")  # a name in Latin letters is a great share of a text in these languages
_NAMED = 60  # percent from which such a text has only names in other letters
_SECOND = 1000  # characters that py3langid reads: more does not make it surer
_UNREADABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


@functools.cache
def known() -> dict[str, tuple[str, ...]]:
    """Return every language that can be detected without a model, with the tools that know it."""
    found: dict[str, list[str]] = {}
    by_py3langid = {codes.label(label) for label in _whole().labels} - {UNKNOWN}
    for tool, theirs in (("cld2", known_to_cld2()), ("py3langid", by_py3langid)):
        for code in theirs:
            found.setdefault(code, []).append(tool)
    return {code: tuple(tools) for code, tools in sorted(found.items())}


@functools.cache
def known_to_cld2() -> frozenset[str]:
    names = set(pycld2.DETECTED_LANGUAGES)
    return frozenset(codes.label(label) for name, label in pycld2.LANGUAGES if name in names) - {UNKNOWN}


def cld2(text: str, hint: str = "") -> str:
    """Return CLD2's answer if it is sure; with a hint of the expected language, return its best guess."""
    sure, _, best = detect(text, _hints().get(hint, ""))
    return codes.label(best[0][1]) if sure or hint else UNKNOWN


def read(text: str) -> Answer:
    """Return CLD2's answer and the share of the text that it found in this language; ("und", 0) if it is unsure."""
    sure, _, best = detect(text)
    if not sure:
        return UNKNOWN, 0.0
    _, label, percent, _ = best[0]
    code = codes.label(label)
    return code, 1.0 if percent >= (_NAMED if code in _DENSE else _PURE) else percent / 100


def is_pure(text: str, language: str) -> bool:
    """Return whether CLD2 finds only this language in the text."""
    sure, _, best = detect(text)
    return sure and best[0][2] >= _PURE and codes.label(best[0][1]) == language


def detect(text: str, hint: str = "") -> Any:
    """Return CLD2's raw answer."""
    given = {"isPlainText": True, "hintLanguage": hint, "bestEffort": True} if hint else {"isPlainText": True}
    try:
        return pycld2.detect(text, **given)
    except (pycld2.error, UnicodeEncodeError):  # checking every text first would cost more than the rare exception
        return pycld2.detect(_UNREADABLE.sub(" ", _without_noncharacters(text)), **given)


@functools.cache
def _hints() -> dict[str, str]:
    """Return CLD2's own label for each language."""
    return {code: label for _, label in reversed(pycld2.LANGUAGES) if (code := codes.label(label)) != UNKNOWN}


def _without_noncharacters(text: str) -> str:
    """Replace U+1FFFE, U+1FFFF and their equivalents in every plane."""
    return text if text.isascii() else "".join(" " if ord(char) & 0xFFFE == 0xFFFE else char for char in text)


def py3langid(text: str, recognised: tuple[str, ...]) -> Answer:
    """Return py3langid's answer, restricted to the recognised languages; an empty tuple allows all."""
    label, probability = _identifier(recognised).classify(text[:_SECOND])
    return codes.label(label), float(probability)


@functools.lru_cache(16)
def _identifier(recognised: tuple[str, ...]) -> Any:
    chosen = [label for label in _whole().labels if any(codes.covers(code, codes.label(label)) for code in recognised)]
    if not chosen:
        return _whole()
    identifier = copy.copy(_whole())
    identifier.set_languages(chosen)
    return identifier


@functools.cache
def _whole() -> Any:
    return decoded.identifier(decoded.directory())
