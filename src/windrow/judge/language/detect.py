"""Which language a page is in, and each of its paragraphs.

Two tools and a rule. CLD2 reads paragraphs by themselves: that costs little more than reading the page at once and finds short foreign
paragraphs, which in one go are taken for their neighbours' language (40 to 60 characters: 99 % found against 71 %). Where many have said
the same, it reads some of the others together, and looks closer where they are mixed. py3langid, ten times as slow, is asked where CLD2 is
unsure, and before a short paragraph is called foreign, unless CLD2 changes its mind when it is told the page's language: the two save four
of five that are not. Models trained from samples (`trigrams`) speak for languages that neither knows.
"""

import copy
import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pycld2

from windrow import config
from windrow.config import ConfigError
from windrow.judge import shape
from windrow.judge.language import codes, trigrams
from windrow.judge.language.codes import UNKNOWN
from windrow.judge.language.trigrams import Model

_WHOLE = 4000  # characters of a page that are read at once, where its paragraphs say too little by themselves
_TINY = 12  # characters of a text in ASCII that nobody can name: a number, a name; CLD2 would still take 3 µs
_LINE = 40  # the same of a paragraph beside others, if it is no sentence: shorter ones that were called foreign were names and commands
_SENTENCE = 3  # blanks of a sentence
_PLAIN = "\u0370"  # letters from here on are told by their script, however few
_GLANCE = 150  # characters of a paragraph that are read first
_ALONE = 24  # paragraphs that are read one by one;
_FEW = 8  # of a page in a language that is not accepted: what matters is whether half of it is in another
_GROUP = 4  # and of those after them, if all were in one language, how many are read together,
_PART = 80  # characters of each,
_PURE = 97  # and from how many percent in that language all of them are: CLD2 counts in pieces of about 50 characters
_LEAST = 1500  # characters read of a page that has as many: of few paragraphs, more is read
_SECOND = 1000  # characters that py3langid reads: beyond, it gets no surer
_SURE = 0.5  # py3langid's probability from which it is believed: of 1,300 texts of 60 characters 0.1 % are lost and 0.1 % errors saved
_BRIEF = 0.3  # the same for a line of text that CLD2 cannot name: the score says how far to trust it
_FOREIGN = (
    0.7  # the same where it contradicts: CLD2 on a short text, or the page around a paragraph that CLD2 could not name
)
_NAMED = 60  # characters from which such a paragraph is worth asking about
_ASKED = 150  # characters of a paragraph that py3langid reads: 0.1 ms
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")
_UNREADABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")

Answer = tuple[str, float]  # language and how sure, 0 to 1; ("und", 0): unsure


class Settings(msgspec.Struct, frozen=True):
    """The [language] section made ready: see `prepare`."""

    accepted: tuple[str, ...] = ()  # ISO 639-3; empty: all
    recognised: tuple[str, ...] = ()  # the same; empty: all
    models: tuple[Model, ...] = ()
    min_share: float = 0.5
    short: int = 120
    read: int = 300
    second: int = 8
    sort: bool = True  # paragraphs are kept or dropped by their language: one that is foreign only by CLD2 is worth a second look
    least: int = 0  # characters without blanks of a page that may be kept: of less, CLD2's word is enough


class Finding(msgspec.Struct, frozen=True):
    """What a text is in."""

    language: str  # ISO 639-3; "und": no letters, or nothing we know
    score: float  # 0 to 1: share of the text whose language is the page's on its own evidence; py3langid's probability where it decided
    shares: dict[str, float]  # of the characters, an ideograph for three; greatest first
    paragraphs: tuple[str, ...]  # language of each


class Kept(msgspec.Struct, frozen=True):
    """What remains of a page in the accepted languages."""

    reason: str  # "" where the page is kept, else "language"
    detail: str  # one line for people
    paragraphs: tuple[bool, ...]  # which ones are kept
    dropped: int  # paragraphs in a language that is not accepted
    share: float = 1.0  # of the page's characters in accepted languages


def prepare(options: config.Language) -> Settings:
    """Codes read, models loaded; raises where a language is unknown, or known but told by no tool and no model."""
    models = tuple(trigrams.read(Path(path)) for path in options.models)
    accepted = tuple(dict.fromkeys(codes.parse(text) for text in options.accepted))
    recognised = tuple(
        dict.fromkeys([*map(codes.parse, options.recognised), *(accepted if options.recognised else ())])
    )
    for code in recognised or accepted:
        _check_known(code, models)
    return Settings(
        accepted,
        recognised,
        models,
        min_share=options.min_share,
        short=options.short,
        read=options.read,
        second=options.second,
        sort=bool(accepted),
    )


def judge(texts: Sequence[str], settings: Settings) -> Finding:
    """The language of a page and of each of its paragraphs."""
    read = max(settings.read, _LEAST // max(1, len(texts)))
    sizes = _sizes(texts)
    total = sum(sizes)
    answers = _answers(texts, read, total <= settings.short, settings)
    if settings.models:
        answers = [_modelled(text[:read], answer, settings) for text, answer in zip(texts, answers, strict=True)]
    page, score = _page(texts, _weights(sizes, answers), settings)
    unclear = UNKNOWN in answers and any(
        answer == UNKNOWN and len(text) >= _NAMED for text, answer in zip(texts, answers, strict=True)
    )
    if total and not unclear and {*answers} <= {page, UNKNOWN}:
        return Finding(page, score, {page: 1.0}, (page,) * len(texts))
    found = _paragraphs(texts, answers, page, settings)
    shares = {code: weight / (total or 1) for code, weight in _weights(sizes, found).items()}
    return Finding(page, score, dict(sorted(shares.items(), key=lambda item: -item[1])), tuple(found))


def detect(text: str, settings: Settings | None = None) -> Answer:
    """The language of one text, line by line."""
    found = judge([line for line in text.splitlines() if line.strip()], settings or Settings())
    return found.language, found.score


def share(text: str, code: str) -> float | None:
    """Of a paragraph by itself, how much CLD2 finds in this language or its kin, 0 to 1; None where it is unsure, or not to be asked."""
    if len(text) < _LINE and not _telling(text, False):
        return None
    sure, _, best = _detect(text)
    return sum(percent for _, label, percent, _ in best if _kin(codes.label(label), code)) / 100 if sure else None


def keep(found: Finding, settings: Settings) -> Kept:
    """Paragraphs in an accepted language are kept, if they make enough of the page. A page of unknown language is refused too."""
    if not settings.accepted:
        return Kept("", found.language, (True,) * len(found.paragraphs), 0)
    wanted = {code: accepts(code, settings) for code in {*found.shares, *found.paragraphs}}
    kept = tuple(wanted[code] for code in found.paragraphs)
    share = sum(share for code, share in found.shares.items() if wanted[code])
    if share and share >= settings.min_share:
        return Kept("", found.language, kept, len(kept) - sum(kept), share)
    detail = f"{found.language}, {share:.0%} in the accepted languages"
    return Kept("language", detail, (False,) * len(kept), len(kept), share)


def accepts(code: str, settings: Settings) -> bool:
    return not settings.accepted or any(covers(wanted, code) for wanted in settings.accepted)


covers = functools.lru_cache(4096)(codes.covers)


@functools.cache
def known() -> dict[str, tuple[str, ...]]:
    """Every language that can be told without a model, and by which tools."""
    found: dict[str, list[str]] = {}
    for tool, told in (
        ("cld2", _told_by_cld2()),
        ("py3langid", {codes.label(label) for label in _whole().labels} - {UNKNOWN}),
    ):
        for code in told:
            found.setdefault(code, []).append(tool)
    return {code: tuple(tools) for code, tools in sorted(found.items())}


@functools.cache
def _told_by_cld2() -> frozenset[str]:
    names = set(pycld2.DETECTED_LANGUAGES)
    return frozenset(codes.label(label) for name, label in pycld2.LANGUAGES if name in names) - {UNKNOWN}


def _check_known(code: str, models: Iterable[Model]) -> None:
    quick = [*_told_by_cld2(), *(model.name for model in models)]  # py3langid takes a moment to load
    if not any(codes.covers(code, one) for one in quick) and not any(codes.covers(code, one) for one in known()):
        fix = f"train a model (windrow language train {code} SAMPLE -o FILE) and name its file in language.models"
        raise ConfigError(f"no tool tells {codes.name(code)} ('{code}') from other languages; {fix}")


def _answers(texts: Sequence[str], read: int, brief: bool, settings: Settings) -> list[str]:
    """CLD2's answer for each, from so many characters; "und" where it is unsure or was not asked. `brief`: there is little to go by."""
    answers = [UNKNOWN] * len(texts)
    least = _TINY if brief else _LINE
    places = [place for place, text in enumerate(texts) if len(text) >= least or _telling(text, brief)]
    one, alone, size, part = "", _ALONE, 1, _PART  # `one`: the language of all so far
    for number, place in enumerate(places):
        if number in (_FEW, _ALONE) and one and {*answers} <= {one, UNKNOWN}:
            if (
                not (settings.sort and accepts(one, settings)) and not settings.models
            ):  # nothing hangs on a single paragraph
                alone, size, part = number, 3 * _GROUP, _PART // 3
            elif number == _ALONE:
                size = _GROUP
        if number >= alone:
            break
        answer = answers[place] = _looked(texts[place], read, one)
        one = answer if not one and answer != UNKNOWN else one
    for start in range(alone, len(places), size):
        group = places[start : start + size]
        pure = size > 1 and _pure("\n".join([texts[place][:part] for place in group]), one)
        for place in group:
            answers[place] = one if pure else _looked(texts[place], read, one)
    return answers


def _looked(text: str, read: int, expected: str) -> str:
    """A glance is enough where it shows what is expected."""
    if expected and len(text) > _GLANCE and (answer := _cld2(text[:_GLANCE])) == expected:
        return answer
    return _cld2(text[:read])


def _telling(text: str, brief: bool) -> bool:
    """Whether a short paragraph may be told by itself: by its script, or because it is a sentence."""
    if not text.isascii() and (brief or max(text) >= _PLAIN):
        return True
    return len(text) >= _TINY and text[-1] in ".!?" and text.count(" ") >= _SENTENCE


def _cld2(text: str, hint: str = "") -> str:
    """CLD2's answer where it is sure of it; where it is told what to expect, its best guess."""
    sure, _, best = _detect(text, _hints().get(hint, ""))
    return codes.label(best[0][1]) if sure or hint else UNKNOWN


def _pure(text: str, language: str) -> bool:
    """Whether CLD2 finds nothing else in it."""
    sure, _, best = _detect(text)
    return sure and best[0][2] >= _PURE and codes.label(best[0][1]) == language


def _detect(text: str, hint: str = "") -> Any:
    given = {"isPlainText": True, "hintLanguage": hint, "bestEffort": True} if hint else {"isPlainText": True}
    try:
        return pycld2.detect(text, **given)
    except (pycld2.error, UnicodeEncodeError):  # looking for what it cannot read costs more than being told
        return pycld2.detect(_UNREADABLE.sub(" ", _without_noncharacters(text)), **given)


@functools.cache
def _hints() -> dict[str, str]:
    """CLD2's own name for each language."""
    return {code: label for _, label in reversed(pycld2.LANGUAGES) if (code := codes.label(label)) != UNKNOWN}


def _without_noncharacters(text: str) -> str:
    """U+1FFFE, U+1FFFF and their likes of every plane."""
    return text if text.isascii() else "".join(" " if ord(char) & 0xFFFE == 0xFFFE else char for char in text)


def _py3langid(text: str, settings: Settings) -> Answer:
    label, probability = _identifier(settings.recognised).classify(text[:_SECOND])
    return codes.label(label), float(probability)


@functools.lru_cache(16)
def _identifier(recognised: tuple[str, ...]) -> Any:
    """py3langid's, restricted to the recognised languages that it knows."""
    chosen = [label for label in _whole().labels if any(codes.covers(code, codes.label(label)) for code in recognised)]
    if not chosen:
        return _whole()
    identifier = copy.copy(_whole())
    identifier.set_languages(chosen)
    return identifier


@functools.cache
def _whole() -> Any:
    # imported when first needed: it brings numpy and 110 MB, and takes half a second
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _modelled(text: str, answer: str, settings: Settings) -> str:
    """A trained model's language where the text fits it; what a tool knows itself, it must have answered itself, or not at all."""
    best, _ = trigrams.classify(text, settings.models)
    names = {model.name: model for model in settings.models}
    told = any(codes.covers(best, one) for one in known())
    if best not in names or (told and answer != UNKNOWN and answer not in names and not codes.covers(best, answer)):
        return answer
    return best if trigrams.fits(text, names[best]) else answer


def _weights(sizes: Sequence[int], answers: Sequence[str]) -> dict[str, int]:
    """Size of the text by language."""
    weights: dict[str, int] = {}
    for size, answer in zip(sizes, answers, strict=True):
        weights[answer] = weights.get(answer, 0) + size
    return weights


def _sizes(texts: Sequence[str]) -> list[int]:
    """Characters of each, an ideograph for three: it says as much as three letters, and pages mix the two."""
    sizes = list(map(len, texts))
    for place, octets in enumerate(shape.octets(texts)):
        if 4 * octets >= 5 * sizes[place]:  # else there are few ideographs if any
            sizes[place] += 2 * len(_IDEOGRAPHS.findall(texts[place]))
    return sizes


def _page(texts: Sequence[str], weights: dict[str, int], settings: Settings) -> Answer:
    """The heaviest language; where most of the text has none by itself, that of the whole."""
    total = sum(weights.values())
    named = {code: weight for code, weight in weights.items() if code != UNKNOWN}
    if (
        0 < total <= settings.short
        and settings.second
        and total - sum([text.count(" ") for text in texts]) >= settings.least
    ):
        return _brief(texts, weights, settings)
    best = max(named, key=lambda code: named[code], default=UNKNOWN)
    if 2 * sum(named.values()) >= total and _expected(best, total, settings):
        return best, named[best] / total if total else 0.0
    whole = "\n".join(texts)[:_WHOLE]
    answer = _cld2(whole)
    if answer != UNKNOWN and _expected(answer, total, settings):
        return answer, weights.get(answer, 0) / total
    if settings.second and total >= settings.least and not whole.isspace() and whole:
        answer, probability = _py3langid(whole, settings)
        if probability >= _SURE and answer != UNKNOWN:
            return answer, probability
    return best, named.get(best, 0) / total if total else 0.0


def _brief(texts: Sequence[str], weights: dict[str, int], settings: Settings) -> Answer:
    """Of a line or two both tools are asked, and py3langid has the last word on languages it knows."""
    best = max((code for code in weights if code != UNKNOWN), key=lambda code: weights[code], default=UNKNOWN)
    answer, probability = _py3langid("\n".join(texts), settings)
    yields = best == UNKNOWN or len(known().get(best, ())) == 2 or not _expected(best, 0, settings)
    if answer != UNKNOWN and yields and probability >= (_BRIEF if best == UNKNOWN else _FOREIGN):
        return answer, probability
    return best, weights[best] / sum(weights.values()) if best != UNKNOWN else 0.0


def _expected(code: str, length: int, settings: Settings) -> bool:
    """Whether the answer is one of the recognised languages; a long text may be in any."""
    if not settings.recognised or length >= settings.short:
        return True
    return any(covers(one, code) for one in settings.recognised)


def _paragraphs(texts: Sequence[str], answers: Sequence[str], page: str, settings: Settings) -> list[str]:
    """What CLD2 could not name is in the page's language; what it calls foreign is checked where it is short."""
    found = []
    left, kept = settings.second if settings.sort else 0, accepts(page, settings)
    checked: set[str] = set()  # languages that both tools have found
    for text, answer in zip(texts, answers, strict=True):
        if answer != page and _doubtful(text, answer, settings) and _matters(answer, kept, settings):
            asked = text[:_ASKED]
            own = _kin(_cld2(asked, page), page)
            if own and (answer == UNKNOWN or len(text) < _NAMED):
                answer = page
            elif left and (own or answer not in checked):
                left -= 1
                answer = _checked(asked, answer, page, settings)
                checked.add(answer)
        found.append(page if answer == UNKNOWN else answer)
    return found


def _doubtful(text: str, answer: str, settings: Settings) -> bool:
    if answer == UNKNOWN:
        return len(text) >= _NAMED
    return len(text) < settings.short


def _matters(answer: str, kept: bool, settings: Settings) -> bool:
    """Whether it makes a difference which of the two a paragraph is in, where only some languages are accepted."""
    return not settings.accepted or accepts(answer, settings) != kept


def _checked(asked: str, answer: str, page: str, settings: Settings) -> str:
    other, probability = _py3langid(asked, settings)
    if answer == UNKNOWN:
        return other if probability >= _FOREIGN and not _kin(other, page) else page
    return page if _kin(other, page) else answer


@functools.lru_cache(4096)
def _kin(one: str, other: str) -> bool:
    """Of one macrolanguage (Croatian and Bosnian, Bokmål and Nynorsk, Malay and Indonesian): a line of text does not tell them apart."""
    whole = codes.macro(one) or one
    return one == other or whole == (codes.macro(other) or other)
