"""Machine translations, found by what the page itself says: marks of translation tools, and notices to the reader."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence

from windrow.config import Config
from windrow.judge.ruling import KEPT, Facts, Judge, Ruling
from windrow.records import Page, Reason

SCORE = "machine_translated"

_ROOT = "html "  # prefix of the metas that hold attributes of <html>, see Page
_TRANSLATORS = re.compile(
    r"google|bing|microsoft|gtranslate|weglot|conveythis|linguise|bablic|localize|machine|automatic", re.IGNORECASE
)
_META = {"x-translated-by", "translated-by", "translation-tool"}
_LANGUAGE = re.compile(r"-x-mtfrom\b|-t-(?:[a-z0-9]+-)*t0\b", re.IGNORECASE)  # Google's mark; RFC 6497
_CLASS = re.compile(r"\btranslated-(?:ltr|rtl)\b")
_ATTRIBUTES = ("data-wg-translated", "data-gt-lang", "data-translated-by", "data-linguise-translated")
_NOTICES = re.compile(
    r"\b(?:machine|automatically|auto)[- ]translated\b|\bautomatic translation of\b"
    r"|\btranslated (?:automatically|by (?:a )?machine)"
    r"|maschinell(?:e|en)? übersetz|automatisch übersetzt|tradui(?:te?|re)s? automatiquement|traduction automatique"
    r"|traducid[oa]s? automáticamente|traducción automática|tradotto automaticamente|traduzione automatica"
    r"|traduzid[oa] automaticamente|tradução automática|автоматическ(?:ий|и) перев|машинный перевод"
    r"|strojov(?:ě|ý) přelo|strojový překlad|tłumaczenie (?:maszynowe|automatyczne)"
    r"|机器翻译|機器翻譯|機械翻訳|自動翻訳",
    re.IGNORECASE,
)
# Every notice contains one of these; looking for them first takes a tenth of the time.
_STEMS = ("translat", "bersetz", "tradu", "tradott", "перев", "přelo", "překl", "tłumacz", "翻")
_NOTICE = 300  # characters; a longer paragraph is not a notice but a text about translation


def build(config: Config, inner: Judge | None = None) -> Judge:
    drop = config.quality.drop_machine_translations

    def judge(page: Page, facts: Facts) -> Ruling:
        root = {name[len(_ROOT) :]: value for name, value in page.metas if name.startswith(_ROOT)}
        root.setdefault("lang", page.language)
        mark = machine_translated(root, itertools.chain(page.metas, facts.headers), facts.texts)
        if not mark:
            return KEPT
        if not drop:
            return Ruling(scores={SCORE: 1.0})
        return Ruling(scores={SCORE: 1.0}, reason=Reason.MACHINE_TRANSLATED, detail=mark)

    return judge


def machine_translated(root: Mapping[str, str], fields: Iterable[tuple[str, str]], texts: Sequence[str]) -> str:
    """Return the mark by which a page says that a machine translated it; "" if it has none.

    `root`: the attributes of <html>. `fields`: names and values of meta elements and response headers.
    """
    if _LANGUAGE.search(root.get("lang", "")[:100]):
        return "lang"
    if _CLASS.search(root.get("class", "")) or any(name in root for name in _ATTRIBUTES):
        return "html"
    for name, value in fields:
        lower = name.lower()
        if lower in _META or (lower == "generator" and "translat" in value.lower() and _TRANSLATORS.search(value)):
            return lower
    edges = "\n".join([text for text in (*texts[:3], *texts[-3:]) if len(text) <= _NOTICE])
    lower = edges.lower()
    return "notice" if any(stem in lower for stem in _STEMS) and _NOTICES.search(edges) else ""
