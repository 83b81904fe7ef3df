"""Detect the language of a page and of each of its paragraphs, with two tools and a rule.

CLD2 reads each paragraph alone. That costs little more than reading the page at once, and finds short foreign
paragraphs, which otherwise get the language of their neighbours (of 40 to 60 characters: 99 % found instead of 71 %).
Once many paragraphs agree, CLD2 reads the others in groups, and one by one if a group is mixed. py3langid, ten times as
slow, is asked if CLD2 is unsure, and before a short paragraph is called foreign, unless CLD2 changes its answer when it
gets the page's language as a hint: together they correct four of five such errors. Models trained from samples
(`trigrams`) detect languages that neither tool knows.
"""

import contextlib
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow import config, scripts
from windrow.config import ConfigError
from windrow.judge import shape
from windrow.judge.language import codes, lookalikes, tools, trigrams
from windrow.judge.language.codes import UNKNOWN
from windrow.judge.language.lookalikes import NO_CLUE, Clue
from windrow.judge.language.tools import Answer
from windrow.judge.language.trigrams import TrigramModel

_WHOLE = 4000  # characters of a page that are read at once, if its paragraphs say too little each alone
_TINY = (
    12  # an ASCII text of fewer characters is a number or a name, which no tool can place; CLD2 would still take 3 µs
)
_LINE = 40  # the same for a paragraph among others that is no sentence: shorter "foreign" ones were names and commands
_SENTENCE = 3  # blanks that make a line a sentence
_PLAIN = "\u0370"  # letters from here on identify their script, however few they are
_GLANCE = 150  # characters of a paragraph that are read first
_ALONE = 24  # paragraphs that are read one by one
_FEW = 8  # the same on a page in a language that is not accepted: only whether half of it is in another one matters
_GROUP = 4  # of the paragraphs after these, how many are read together if all so far were in one language
_PART = 80  # characters read of each paragraph in a group
_LEAST = 1500  # characters read per page, if it has as many: of few paragraphs, more of each is read
# py3langid's probability from which it is believed. Of 1,300 texts of 60 characters 0.1 % are lost, and 0.1 % gained.
_SURE = 0.5
_BRIEF = 0.3  # the same for a line of text that CLD2 cannot place: the score says how far to trust it
_FOREIGN = 0.7  # the same if it contradicts CLD2 on a short text, or the page around a paragraph CLD2 could not place
_NAMED = 60  # characters from which py3langid is asked about a paragraph that CLD2 could not place
_ASKED = 150  # characters of a paragraph that py3langid reads: 0.1 ms
_DENSE = re.compile(f"[{scripts.DENSE}]")


class LanguageSettings(msgspec.Struct, frozen=True):
    """The section [language] with its codes parsed and its models loaded, see `prepare`."""

    accepted: tuple[str, ...] = ()  # ISO 639-3; empty: all
    recognised: tuple[str, ...] = ()  # the same; empty: all
    models: tuple[TrigramModel, ...] = ()
    min_share: float = 0.5
    short: int = 120
    read: int = 300
    second: int = 8
    sort: bool = True  # paragraphs are dropped by language: one that only CLD2 calls foreign is worth a second check
    least: int = (
        0  # characters, without blanks, that a page needs to be kept: for a shorter one CLD2's answer is enough
    )


class Finding(msgspec.Struct, frozen=True):
    """The languages of a text."""

    language: str  # ISO 639-3; "und": no letters, or no known language
    # 0 to 1: share of the text in the page's language by its own evidence; py3langid's probability if it decided.
    score: float
    shares: dict[str, float]  # of the characters, dense ones counted three times; greatest first
    paragraphs: tuple[str, ...]  # language of each


def prepare(options: config.LanguageOptions) -> LanguageSettings:
    """Parse the codes and load the models; raise ConfigError if no tool and no model knows a language."""
    with _option("models"):
        models = tuple(trigrams.read(Path(path)) for path in options.models)
    with _option("accepted"):
        accepted = _known(options.accepted, models)
    with _option("recognised"):
        recognised = _known(options.recognised, models)
    recognised = tuple(dict.fromkeys([*recognised, *accepted])) if recognised else ()
    return LanguageSettings(
        accepted=accepted,
        recognised=recognised,
        models=models,
        min_share=options.min_share,
        short=options.short,
        read=options.read,
        second=options.second,
        sort=bool(accepted),
    )


def detect(texts: Sequence[str], settings: LanguageSettings, clue: Clue = NO_CLUE) -> Finding:
    """Return the language of a page and of each of its paragraphs."""
    read = max(settings.read, _LEAST // max(1, len(texts)))
    sizes = _sizes(texts)
    total = sum(sizes)
    answers = _answers(texts, read, total <= settings.short, settings)
    if settings.models:
        answers = [_by_model(text[:read], answer, settings) for text, answer in zip(texts, answers, strict=True)]
    if not lookalikes.MARKED.isdisjoint(answers):
        answers = lookalikes.settle(texts, answers, sizes, clue)
    page, score = _page(texts, _weights(sizes, answers), settings)
    unclear = UNKNOWN in answers and any(
        answer == UNKNOWN and len(text) >= _NAMED for text, answer in zip(texts, answers, strict=True)
    )
    if total and not unclear and {*answers} <= {page, UNKNOWN}:
        return Finding(page, score, {page: 1.0}, (page,) * len(texts))
    found = _paragraphs(texts, answers, page, settings)
    shares = {code: weight / (total or 1) for code, weight in _weights(sizes, found).items()}
    return Finding(page, score, dict(sorted(shares.items(), key=lambda item: -item[1])), tuple(found))


def share(text: str, code: str) -> float | None:
    """Return the share of a paragraph that CLD2 finds in this language or a related one; None if it cannot say."""
    if len(text) < _LINE and not _is_evidence(text, False):
        return None
    sure, _, best = tools.detect(text)
    return sum(percent for _, label, percent, _ in best if _related(codes.label(label), code)) / 100 if sure else None


def accepts(code: str, settings: LanguageSettings) -> bool:
    return not settings.accepted or any(codes.covers(wanted, code) for wanted in settings.accepted)


@contextlib.contextmanager
def _option(name: str) -> Iterator[None]:
    """Name the option of [language] in an error."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"language.{name}: {error}") from None


def _known(texts: Iterable[str], models: Sequence[TrigramModel]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(map(codes.parse, texts)))
    for code in found:
        _check_known(code, models)
    return found


def _check_known(code: str, models: Iterable[TrigramModel]) -> None:
    quick = [*tools.known_to_cld2(), *(model.name for model in models)]  # py3langid takes half a second to load
    if not any(codes.covers(code, one) for one in quick) and not any(codes.covers(code, one) for one in tools.known()):
        fix = f"train a model (windrow language train {code} SAMPLE -o FILE) and name its file in language.models"
        raise ConfigError(f"no tool can detect {codes.name(code)} ('{code}'); {fix}")


def _answers(texts: Sequence[str], read: int, brief: bool, settings: LanguageSettings) -> list[str]:
    """Return CLD2's answer for each text, from its first `read` characters; "und" if CLD2 is unsure or was not asked.

    `brief`: the page is so short that every line counts.
    """
    answers = [UNKNOWN] * len(texts)
    least = _TINY if brief else _LINE
    places = [place for place, text in enumerate(texts) if len(text) >= least or _is_evidence(text, brief)]
    one, alone, size, part = "", _ALONE, 1, _PART  # `one`: the language of all so far
    for number, place in enumerate(places):
        if number in (_FEW, _ALONE) and one and {*answers} <= {one, UNKNOWN}:
            if not (settings.sort and accepts(one, settings)) and not settings.models:
                alone, size, part = number, 3 * _GROUP, _PART // 3  # no single paragraph decides anything
            elif number == _ALONE:
                size = _GROUP
        if number >= alone:
            break
        answer = answers[place] = _read(texts[place], read, one)
        one = answer if not one and answer != UNKNOWN else one
    for start in range(alone, len(places), size):
        group = places[start : start + size]
        pure = size > 1 and tools.is_pure("\n".join([texts[place][:part] for place in group]), one)
        for place in group:
            answers[place] = one if pure else _read(texts[place], read, one)
    return answers


def _read(text: str, read: int, expected: str) -> str:
    """Return CLD2's answer for a paragraph; its beginning is enough if that is in the expected language."""
    if expected and len(text) > _GLANCE and (answer := tools.cld2(text[:_GLANCE])) == expected:
        return answer
    return tools.cld2(text[:read])


def _is_evidence(text: str, brief: bool) -> bool:
    """Return whether a short paragraph alone shows its language: by its script, or because it is a sentence."""
    if not text.isascii() and (brief or max(text) >= _PLAIN):
        return True
    return len(text) >= _TINY and text[-1] in ".!?" and text.count(" ") >= _SENTENCE


def _by_model(text: str, answer: str, settings: LanguageSettings) -> str:
    """Return the language of a trained model if the text fits it.

    A model of a language that a tool knows counts only if the tool answered that language, or none.
    """
    best, _ = trigrams.classify(text, settings.models)
    names = {model.name: model for model in settings.models}
    known = any(codes.covers(best, one) for one in tools.known())
    if best not in names or (known and answer != UNKNOWN and answer not in names and not codes.covers(best, answer)):
        return answer
    return best if trigrams.fits(text, names[best]) else answer


def _weights(sizes: Sequence[int], answers: Sequence[str]) -> dict[str, int]:
    """Return the size of the text in each language."""
    weights: dict[str, int] = {}
    for size, answer in zip(sizes, answers, strict=True):
        weights[answer] = weights.get(answer, 0) + size
    return weights


def _sizes(texts: Sequence[str]) -> list[int]:
    """Return the characters of each text. A dense one counts three times: it says as much as three letters."""
    sizes = list(map(len, texts))
    for place, octets in enumerate(shape.octets(texts)):
        if 4 * octets >= 5 * sizes[place]:  # otherwise there are few dense characters, if any
            sizes[place] += 2 * len(_DENSE.findall(texts[place]))
    return sizes


def _page(texts: Sequence[str], weights: dict[str, int], settings: LanguageSettings) -> Answer:
    """Return the language with most text; if most paragraphs have none alone, that of the whole page."""
    total = sum(weights.values())
    named = {code: weight for code, weight in weights.items() if code != UNKNOWN}
    if 0 < total <= settings.short and settings.second and _printed(texts, total) >= settings.least:
        return _brief(texts, weights, settings)
    best = max(named, key=lambda code: named[code], default=UNKNOWN)
    if 2 * sum(named.values()) >= total and _expected(best, total, settings):
        return best, named[best] / total if total else 0.0
    whole = "\n".join(texts)[:_WHOLE]
    answer = tools.cld2(whole)
    if answer != UNKNOWN and _expected(answer, total, settings):
        return answer, weights.get(answer, 0) / total
    if settings.second and total >= settings.least and not whole.isspace() and whole:
        answer, probability = tools.py3langid(whole, settings.recognised)
        if probability >= _SURE and answer != UNKNOWN:
            return answer, probability
    return best, named.get(best, 0) / total if total else 0.0


def _printed(texts: Sequence[str], total: int) -> int:
    """Return the characters without blanks."""
    return total - sum([text.count(" ") for text in texts])


def _brief(texts: Sequence[str], weights: dict[str, int], settings: LanguageSettings) -> Answer:
    """Return the language of a line or two. Both tools are asked; py3langid decides about the languages it knows."""
    best = max((code for code in weights if code != UNKNOWN), key=lambda code: weights[code], default=UNKNOWN)
    answer, probability = tools.py3langid("\n".join(texts), settings.recognised)
    yields = best == UNKNOWN or len(tools.known().get(best, ())) == 2 or not _expected(best, 0, settings)
    if answer != UNKNOWN and yields and probability >= (_BRIEF if best == UNKNOWN else _FOREIGN):
        return answer, probability
    return best, weights[best] / sum(weights.values()) if best != UNKNOWN else 0.0


def _expected(code: str, length: int, settings: LanguageSettings) -> bool:
    """Return whether the answer is one of the recognised languages; a long text may be in any."""
    if not settings.recognised or length >= settings.short:
        return True
    return any(codes.covers(one, code) for one in settings.recognised)


def _paragraphs(texts: Sequence[str], answers: Sequence[str], page: str, settings: LanguageSettings) -> list[str]:
    """Give unknown paragraphs the page's language, and check short ones that CLD2 calls foreign."""
    found = []
    left, kept = settings.second if settings.sort else 0, accepts(page, settings)
    checked: set[str] = set()  # languages that both tools have found
    for text, answer in zip(texts, answers, strict=True):
        if answer != page and _doubtful(text, answer, page, settings) and _matters(answer, kept, settings):
            asked = text[:_ASKED]
            own = _related(tools.cld2(asked, page), page)
            if own and (answer == UNKNOWN or len(text) < _NAMED):
                answer = page
            elif left and (own or answer not in checked):
                left -= 1
                answer = _checked(asked, answer, page, settings)
                checked.add(answer)
        found.append(page if answer == UNKNOWN else answer)
    return found


def _doubtful(text: str, answer: str, page: str, settings: LanguageSettings) -> bool:
    if answer in lookalikes.MARKED and page in lookalikes.MARKED:
        return False  # the words have decided
    if answer == UNKNOWN:
        return len(text) >= _NAMED
    return len(text) < settings.short


def _matters(answer: str, kept: bool, settings: LanguageSettings) -> bool:
    """Return whether the answer decides if the paragraph is kept, given that only some languages are accepted."""
    return not settings.accepted or accepts(answer, settings) != kept


def _checked(asked: str, answer: str, page: str, settings: LanguageSettings) -> str:
    other, probability = tools.py3langid(asked, settings.recognised)
    if answer == UNKNOWN:
        return other if probability >= _FOREIGN and not _related(other, page) else page
    return page if _related(other, page) else answer


@functools.lru_cache(4096)
def _related(one: str, other: str) -> bool:
    """Return whether two languages share a macrolanguage (Croatian, Bosnian): one line does not distinguish them."""
    whole = codes.macro(one) or one
    return one == other or whole == (codes.macro(other) or other)
