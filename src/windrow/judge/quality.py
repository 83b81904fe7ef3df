"""Running text or not: a page's text in a few numbers, and the first of them that tells against it.

The numbers follow what other corpus builders look at (Gopher, C4, jusText's paragraph classes). Bounds are wide on purpose; who wants only
prose can narrow them in [quality].
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from windrow.config import Quality
from windrow.data import Paragraph
from windrow.judge import shape

_WORDS = 200  # words from which repetition means something

_TRANSLATORS = re.compile(
    r"google|bing|microsoft|gtranslate|weglot|conveythis|linguise|bablic|localize|machine|automatic", re.IGNORECASE
)
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
_STEMS = (
    "translat",
    "bersetz",
    "tradu",
    "tradott",
    "перев",
    "přelo",
    "překl",
    "tłumacz",
    "翻",
)  # one of which every notice has in it
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
    """The numbers of a text; shares are from 0 to 1. Characters: ideographs, kana and hangul count for three; shares of letters, digits and
    symbols are of the first characters that are not blank."""
    (letters, _, digits, marks, symbols, wide), words, triples, characters, spaces, told = shape.count(texts)
    letters += wide
    inked = letters + digits + marks + symbols
    whole = inked or 1
    joined = characters + len(texts) - 1
    return {
        "characters": (inked + 2 * wide) * max(1.0, joined / shape.LOOKED),
        "words": float(spaces + len(texts)),  # paragraphs are lines with single blanks
        "letters": letters / whole,
        "digits": digits / whole,
        "symbols": symbols / whole,
        "repeated_lines": repeated_lines(texts, characters),
        "repeated_words": 1 - triples / (words - 2) if words >= _WORDS else 0.0,
        "sentences": told / characters if characters else 0.0,
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


def good_share(paragraphs: Sequence[Paragraph]) -> float:
    """Share of the characters of all paragraphs that are in good ones."""
    good = sum([len(paragraph.text) for paragraph in paragraphs if paragraph.kind == "good"])
    return good / (sum([len(paragraph.text) for paragraph in paragraphs]) or 1)


def repeated_lines(texts: Sequence[str], characters: int) -> float:
    """Share of the characters in paragraphs that stand further up already."""
    different = set(texts)
    return 1 - sum(map(len, different)) / characters if len(different) < len(texts) and characters else 0.0


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
        if lower in _TRANSLATED_META or (
            lower == "generator" and "translat" in value.lower() and _TRANSLATORS.search(value)
        ):
            return lower
    edges = "\n".join([text for text in (*texts[:3], *texts[-3:]) if len(text) <= _NOTICE])
    lower = edges.lower()
    return (
        "notice" if any(stem in lower for stem in _STEMS) and _NOTICES.search(edges) else ""
    )  # the stems take a tenth of the time


def likeness(texts: Sequence[str], others: Sequence[str]) -> float:
    """How much two texts have in common, 0 to 1: word triples of both among those of either, addresses and numbers left out.

    A page as like the host's answer for an address that cannot exist as `quality.soft_404` is that answer again.
    """
    one, other = triples(texts), triples(others)
    return len(one & other) / len(one | other) if one and other else float(one == other)


def triples(texts: Sequence[str]) -> set[tuple[str, ...]]:
    words = [word for word in " ".join(texts).lower().split() if not _NUMBER.search(word)]
    if len(words) < 3:
        return {tuple(words)} if words else set()
    return set(zip(words, words[1:], words[2:], strict=False))
