"""Running text or not: a page's text in a few numbers, and the first of them that tells against it.

The numbers follow what other corpus builders look at (Gopher, C4, jusText's paragraph classes). They are counted on bytes and sets, not
character by character: a page costs 60 µs. Bounds are wide on purpose; who wants only prose can narrow them in [quality].
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from windrow.config import Quality
from windrow.data import Paragraph

_BLANKS = b" \t\r\n"
_DIGITS = b"0123456789"
_MARKS = b".,;:!?'\"()-"  # punctuation of prose
_SYMBOLS = b"#$%&*+/<=>@[\\]^_`{|}~"
_MARK = re.compile(
    "[\u00a1\u00ab\u00b7\u00bb\u00bf\u060c\u061b\u061f\u06d4\u0964\u0965\u2010-\u201f\u2026\u2032\u2033\u2039\u203a"
    "\u3001-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]"
)
_SYMBOL = re.compile("[\u00a2-\u00a9\u00ac-\u00b1\u00d7\u00f7\u2020-\u2025\u2027-\u2031\u203b-\u2bff\ufffc\ufffd\U0001f000-\U0001faff]")
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDS = tuple(".!?…:;\"'”»。！？」』؟۔।॥།։።")
_LONG = 100  # characters from which a paragraph is a paragraph, however it ends
_WORDS = 200  # words from which repetition means something
_LOOKED = 3000  # characters of a text on which its shape and repetitions are counted

_TRANSLATORS = re.compile(r"google|bing|microsoft|gtranslate|weglot|conveythis|linguise|bablic|localize|machine|automatic", re.IGNORECASE)
_TRANSLATED_META = {"x-translated-by", "translated-by", "translation-tool"}
_TRANSLATED_LANGUAGE = re.compile(r"-x-mtfrom\b|-t-(?:[a-z0-9]+-)*t0\b", re.IGNORECASE)  # Google's mark; RFC 6497
_TRANSLATED_CLASS = re.compile(r"\btranslated-(?:ltr|rtl)\b")
_TRANSLATED_ATTRIBUTES = ("data-wg-translated", "data-gt-lang", "data-translated-by", "data-linguise-translated")
_NOTICES = re.compile(
    r"\b(?:machine|automatically|auto)[- ]translated\b|\bautomatic translation of\b|\btranslated (?:automatically|by (?:a )?machine)"
    r"|maschinell(?:e|en)? übersetz|automatisch übersetzt|tradui(?:te?|re)s? automatiquement|traduction automatique"
    r"|traducid[oa]s? automáticamente|traducción automática|tradotto automaticamente|traduzione automatica"
    r"|traduzid[oa] automaticamente|tradução automática|автоматическ(?:ий|и) перев|машинный перевод|strojov(?:ě|ý) přelo|strojový překlad"
    r"|tłumaczenie (?:maszynowe|automatyczne)|机器翻译|機器翻譯|機械翻訳|自動翻訳",
    re.IGNORECASE,
)
_NOTICE = 300  # characters of a paragraph that can be such a notice; longer ones speak about translation
_NUMBER = re.compile(r"[\d/]")


class Ruling(msgspec.Struct, frozen=True):
    reason: str  # "" where the text is kept; else the number that told against it
    scores: dict[str, float]


def judge(texts: Sequence[str], options: Quality, good: float = 1.0) -> Ruling:
    """Whether a page's text is running text. `good` is the share of it in good paragraphs, see `good_share`."""
    found = {**scores(texts), "good": good}
    return Ruling(refusal(found, options), found)


def scores(texts: Sequence[str]) -> dict[str, float]:
    """The numbers of a text; shares are from 0 to 1."""
    text = "\n".join(texts)
    shape = _shape(text)
    words = text.count(" ") + len(texts)  # paragraphs are lines with single blanks
    return {
        **shape,
        "words": float(words),
        "word_length": shape["characters"] / words if words else 0.0,
        "paragraph_length": shape["characters"] / len(texts) if texts else 0.0,
        "repeated_lines": repeated_lines(texts),
        "repeated_words": repeated_words(text[:_LOOKED].split()),
        "sentences": sentences(texts),
    }


def refusal(found: Mapping[str, float], options: Quality) -> str:
    """The first bound that is passed, by its name; "" where all hold."""
    bounds = (
        ("short", found["characters"] < options.min_characters),
        ("boilerplate", found["good"] < options.min_good),
        ("digits", found["digits"] > options.max_digits),
        ("symbols", found["symbols"] > options.max_symbols),
        ("letters", found["letters"] < options.min_letters),
        ("repeated-lines", found["repeated_lines"] > options.max_repeated_lines),
        ("repeated-words", found["repeated_words"] > options.max_repeated_words),
        ("no-sentences", found["sentences"] < options.min_sentences),
    )
    return next((name for name, passed in bounds if passed), "")


def good_share(paragraphs: Iterable[Paragraph]) -> float:
    """Share of the characters of all paragraphs that are in good ones."""
    sizes = [(len(paragraph.text), paragraph.kind == "good") for paragraph in paragraphs]
    total = sum(size for size, _ in sizes)
    return sum(size for size, good in sizes if good) / total if total else 0.0


def repeated_lines(texts: Sequence[str]) -> float:
    """Share of the characters in paragraphs that stand further up already."""
    total = sum(map(len, texts))
    return 1 - sum(map(len, set(texts))) / total if total else 0.0


def repeated_words(words: Sequence[str]) -> float:
    """Share of the word triples that occurred before; 0 for a short text, in which chance has a say."""
    if len(words) < _WORDS:
        return 0.0
    return 1 - len(set(zip(words, words[1:], words[2:], strict=False))) / (len(words) - 2)


def sentences(texts: Sequence[str]) -> float:
    """Share of the characters in paragraphs that are long or end like a sentence: menus and lists of names do neither."""
    total = sum(map(len, texts))
    told = sum(len(text) for text in texts if len(text) >= _LONG or text.endswith(_ENDS))
    return told / total if total else 0.0


def _shape(text: str) -> dict[str, float]:
    """Characters (ideographs, kana and hangul count for three), and of those that are not blank the shares of letters, digits, symbols."""
    looked = text[:_LOOKED]
    data = looked.encode("utf-8", "replace")
    inked = len(looked) - _count(data, _BLANKS)
    digits, symbols, marks = (_count(data, kind) for kind in (_DIGITS, _SYMBOLS, _MARKS))
    wide = 0
    if not looked.isascii():
        symbols += len(_SYMBOL.findall(looked))
        marks += len(_MARK.findall(looked))
        wide = 2 * len(_IDEOGRAPH.findall(looked)) if 4 * len(data) >= 5 * len(looked) else 0
    whole = inked or 1
    return {
        "characters": (inked + wide) * max(1.0, len(text) / _LOOKED),
        "letters": (inked - digits - symbols - marks) / whole,
        "digits": digits / whole,
        "symbols": symbols / whole,
    }


def _count(data: bytes, kind: bytes) -> int:
    return len(data) - len(data.translate(None, kind))


def machine_translated(root: Mapping[str, str], fields: Iterable[tuple[str, str]], texts: Sequence[str]) -> str:
    """How a page says that a machine translated it; "" where it does not.

    `root` are the attributes of <html>, `fields` the names and values of meta elements and response headers.
    """
    if _TRANSLATED_LANGUAGE.search(root.get("lang", "")[:100]):
        return "lang"
    if _TRANSLATED_CLASS.search(root.get("class", "")) or any(name in root for name in _TRANSLATED_ATTRIBUTES):
        return "html"
    for name, value in fields:
        lower = name.lower()
        if lower in _TRANSLATED_META or (lower == "generator" and "translat" in value.lower() and _TRANSLATORS.search(value)):
            return lower
    return "notice" if any(len(text) <= _NOTICE and _NOTICES.search(text) for text in (*texts[:3], *texts[-3:])) else ""


def likeness(texts: Sequence[str], others: Sequence[str]) -> float:
    """How much two texts have in common, 0 to 1: word triples of both among those of either, addresses and numbers left out.

    A page as like the host's answer for an address that cannot exist as `quality.soft_404` is that answer again.
    """
    one, other = _triples(texts), _triples(others)
    return len(one & other) / len(one | other) if one and other else float(one == other)


def _triples(texts: Sequence[str]) -> set[tuple[str, ...]]:
    words = [word for word in " ".join(texts).lower().split() if not _NUMBER.search(word)]
    if len(words) < 3:
        return {tuple(words)} if words else set()
    return set(zip(words, words[1:], words[2:], strict=False))


def missing(texts: Sequence[str], probe: Sequence[str], options: Quality) -> bool:
    """Whether a page is the host's way to say "not found" with status 200. Both texts are the whole visible text of a page."""
    return bool(options.soft_404 and probe) and likeness(texts, probe) >= options.soft_404
