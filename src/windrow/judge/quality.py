"""Running text or not: scores of a page's text, and the limits that reject it.

The scores follow those of other corpus builders (Gopher, C4, jusText's paragraph classes). The limits are wide on
purpose; a user who wants only prose can narrow them in [quality].
"""

from collections.abc import Mapping, Sequence

from windrow.config import Config, QualityOptions
from windrow.judge import shape
from windrow.judge.ruling import Facts, Judge, Ruling
from windrow.records import KEPT_KINDS, Page, Paragraph, Reason

_WORDS = 200  # a text of fewer words is too short for the share of repeated words to mean anything


def build(config: Config, inner: Judge | None = None) -> Judge:
    options = config.quality

    def judge(page: Page, facts: Facts) -> Ruling:
        scored = scores(facts.kept)
        scored["good"] = good_share(page.paragraphs)
        if page.doubtful:
            scored["doubtful"] = 1.0
        limit = exceeded(scored, options)
        return Ruling(scores=scored, reason=Reason.QUALITY if limit else Reason.OK, detail=limit)

    return judge


def scores(texts: Sequence[str]) -> dict[str, float]:
    """Return the scores of a text.

    Shares are from 0 to 1. Those of letters, digits and symbols are of the first characters that are not blank. In the
    number of characters, Chinese and Japanese characters and hangul count three times.
    """
    (letters, _, digits, marks, symbols, dense), words, triples, characters, spaces, sentences = shape.count(texts)
    letters += dense
    printed = letters + digits + marks + symbols
    whole = printed or 1
    joined = characters + len(texts) - 1
    return {
        "characters": (printed + 2 * dense) * max(1.0, joined / shape.LOOKED),
        "words": float(spaces + len(texts)),  # a paragraph is one line with single blanks
        "letters": letters / whole,
        "digits": digits / whole,
        "symbols": symbols / whole,
        "repeated_lines": repeated_lines(texts, characters),
        "repeated_words": 1 - triples / (words - 2) if words >= _WORDS else 0.0,
        "sentences": sentences / characters if characters else 0.0,
    }


def exceeded(scores: Mapping[str, float], options: QualityOptions) -> str:
    """Return the name of the first limit that the scores exceed; "" if none."""
    limits = (
        ("short", scores["characters"] < options.min_characters),
        ("boilerplate", scores["good"] < options.min_good),
        ("digits", scores["digits"] > options.max_digits),
        ("symbols", scores["symbols"] > options.max_symbols),
        ("letters", scores["letters"] < options.min_letters),
        ("repeated-lines", scores["repeated_lines"] > options.max_repeated_lines),
        ("repeated-words", scores["repeated_words"] > options.max_repeated_words),
        ("no-sentences", scores["sentences"] < options.min_sentences),
    )
    return next((name for name, over in limits if over), "")


def good_share(paragraphs: Sequence[Paragraph]) -> float:
    """Return the share of the characters of all paragraphs that are in good ones or in comments."""
    good = sum([len(paragraph.text) for paragraph in paragraphs if paragraph.kind in KEPT_KINDS])
    return good / (sum([len(paragraph.text) for paragraph in paragraphs]) or 1)


def repeated_lines(texts: Sequence[str], characters: int) -> float:
    """Return the share of the characters in paragraphs that repeat an earlier one."""
    different = set(texts)
    return 1 - sum(map(len, different)) / characters if len(different) < len(texts) and characters else 0.0
