"""Detect the language of a page and of each of its paragraphs, with two tools and a rule.

CLD2 reads the paragraphs (`reading`). py3langid, ten times as slow, is asked if CLD2 is unsure, and before a short
paragraph is called foreign, unless CLD2 changes its answer when it gets the page's language as a hint: together they
correct four of five such errors. Models trained from samples (`models`) detect languages that neither tool knows, and
words (`lookalikes`) distinguish those that both confuse.
"""

import functools
import re
from collections.abc import Iterable, Sequence

import msgspec

from windrow import scripts
from windrow.judge import shape
from windrow.judge.language import codes, lookalikes, models, reading, tools
from windrow.judge.language.codes import UNKNOWN
from windrow.judge.language.lookalikes import NO_CLUE, Clue
from windrow.judge.language.settings import LanguageSettings, accepts
from windrow.judge.language.tools import Answer

_WHOLE = 4000  # characters of a page that are read at once, if its paragraphs say too little each alone
_LEAST = 1500  # characters read per page, if it has as many: of few paragraphs, more of each is read
# py3langid's probability from which it is believed. Of 1,300 texts of 60 characters 0.1 % are lost, and 0.1 % gained.
_SURE = 0.5
_BRIEF = 0.3  # the same for a line of text that CLD2 cannot place: the score says how far to trust it
_FOREIGN = 0.7  # the same if it contradicts CLD2 on a short text, or the page around a paragraph CLD2 could not place
_NAMED = 60  # characters from which py3langid is asked about a paragraph that CLD2 could not place
_ASKED = 150  # characters of a paragraph that py3langid reads: 0.1 ms
_WHOLE_TRUST = 0.95  # how sure a language is for a paragraph that does not show it, if CLD2 read the page as one text
_DOUBT = 0.5  # the same if the two tools disagree
_DISTINCT = ("nor",)  # macrolanguages whose members both tools distinguish by a line: Bokmål, Nynorsk
_DENSE = re.compile(f"[{scripts.DENSE}]")


class Finding(msgspec.Struct, frozen=True):
    """The languages of a text."""

    language: str  # ISO 639-3; "und": no letters, or no known language
    shares: dict[str, float]  # of the characters, dense ones counted three times; greatest first
    paragraphs: tuple[str, ...]  # language of each
    certain: tuple[float, ...]  # 0 to 1: how much of each paragraph is in its language, and how sure that is
    sizes: tuple[int, ...]  # characters of each, dense ones counted three times

    @property
    def score(self) -> float:
        """The share of the text that is in the page's language."""
        return score(self.language, self.paragraphs, self.certain, self.sizes)


def detect(texts: Sequence[str], settings: LanguageSettings, clue: Clue = NO_CLUE) -> Finding:
    """Return the language of a page and of each of its paragraphs."""
    read = max(settings.read, _LEAST // max(1, len(texts)))
    sizes = _sizes(texts)
    total = sum(sizes)
    answers, certain = reading.answers(texts, read, total <= settings.short, settings)
    if settings.models:
        models.ask(texts, answers, certain, settings)
    if not lookalikes.MARKED.isdisjoint(answers):
        answers = lookalikes.settle(texts, answers, certain, sizes, clue)
    page, trust = _page(texts, _weights(sizes, answers), settings)
    unclear = UNKNOWN in answers and any(
        answer == UNKNOWN and len(text) >= _NAMED for text, answer in zip(texts, answers, strict=True)
    )
    if total and not unclear and {*answers} <= {page, UNKNOWN}:
        sure = [trust if answer == UNKNOWN else own for answer, own in zip(answers, certain, strict=True)]
        return Finding(page, {page: 1.0}, (page,) * len(texts), tuple(sure), tuple(sizes))
    found = _paragraphs(texts, answers, certain, (page, trust), settings)
    shares = {code: weight / (total or 1) for code, weight in _weights(sizes, found).items()}
    ordered = dict(sorted(shares.items(), key=lambda item: -item[1]))
    return Finding(page, ordered, tuple(found), tuple(certain), tuple(sizes))


def score(language: str, languages: Iterable[str], certain: Iterable[float], sizes: Iterable[int]) -> float:
    """Return the share of paragraphs' text that is in a language: characters, each counted by how sure that is."""
    whole, own = 0, 0.0
    for code, sure, size in zip(languages, certain, sizes, strict=True):
        whole += size
        if code == language:
            own += size * sure
    return own / whole if whole and language != UNKNOWN else 0.0


def share(text: str, code: str) -> float | None:
    """Return the share of a paragraph that CLD2 finds in this language or a related one; None if it cannot say."""
    if len(text) < reading.LINE and not reading.is_evidence(text, False):
        return None
    sure, _, best = tools.detect(text)
    return sum(percent for _, label, percent, _ in best if _related(codes.label(label), code)) / 100 if sure else None


def _weights(sizes: Sequence[int], answers: Sequence[str]) -> dict[str, int]:
    """Return the size of the text in each language."""
    weights: dict[str, int] = {}
    for size, answer in zip(sizes, answers, strict=True):
        weights[answer] = weights.get(answer, 0) + size
    return weights


def _sizes(texts: Sequence[str]) -> list[int]:
    """Return the characters of each text. A dense one counts three times: it says as much as three letters."""
    sizes = list(map(len, texts))
    for index, octets in enumerate(shape.octets(texts)):
        if 4 * octets >= 5 * sizes[index]:  # otherwise there are few dense characters, if any
            sizes[index] += 2 * len(_DENSE.findall(texts[index]))
    return sizes


def _page(texts: Sequence[str], weights: dict[str, int], settings: LanguageSettings) -> Answer:
    """Return the language with most text; if most paragraphs have none alone, that of the whole page.

    The number says how sure the language is for the paragraphs that do not show it themselves.
    """
    total = sum(weights.values())
    named = {code: weight for code, weight in weights.items() if code != UNKNOWN}
    if 0 < total <= settings.short and settings.second and _printed(texts, total) >= settings.least:
        return _brief(texts, weights, settings)
    best = max(named, key=lambda code: named[code], default=UNKNOWN)
    if 2 * sum(named.values()) >= total and _expected(best, total, settings):
        return best, named[best] / sum(named.values()) if named else 0.0
    whole = "\n".join(texts)[:_WHOLE]
    answer = tools.cld2(whole)
    if settings.models:
        answer, _ = models.name(whole, (answer, 0.0), settings)
    if answer != UNKNOWN and _expected(answer, total, settings):
        return answer, _WHOLE_TRUST
    if settings.second and total >= settings.least and not whole.isspace() and whole:
        answer, probability = tools.py3langid(whole, settings.recognised)
        if probability >= _SURE and answer != UNKNOWN:
            return answer, probability
    return best, _DOUBT if best != UNKNOWN else 0.0


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
    if best == UNKNOWN:
        return best, 0.0
    return best, weights[best] / sum(weights.values()) if answer == best else _DOUBT


def _expected(code: str, length: int, settings: LanguageSettings) -> bool:
    """Return whether the answer is one of the recognised languages; a long text may be in any."""
    if not settings.recognised or length >= settings.short:
        return True
    return any(codes.covers(one, code) for one in settings.recognised)


def _paragraphs(
    texts: Sequence[str], answers: Sequence[str], certain: list[float], whole: Answer, settings: LanguageSettings
) -> list[str]:
    """Give unknown paragraphs the page's language, and check short ones that CLD2 calls foreign.

    `certain` is filled in. `whole`: the page's language, and how sure it is for a paragraph that does not show it.
    """
    found = []
    page, trust = whole
    left, kept = settings.second if settings.sort else 0, accepts(page, settings)
    checked: set[str] = set()  # languages that both tools have found
    for index, (text, said) in enumerate(zip(texts, answers, strict=True)):
        answer = said
        if answer != page and _doubtful(text, answer, page, settings) and _matters(answer, kept, settings):
            asked = text[:_ASKED]
            own = _confused(tools.cld2(asked, page), page)
            if own and (answer == UNKNOWN or len(text) < _NAMED):
                answer = page
            elif left and (own or answer not in checked):
                left -= 1
                answer = _checked(asked, answer, page, settings)
                checked.add(answer)
        found.append(page if answer == UNKNOWN else answer)
        if said == UNKNOWN or answer != said:
            certain[index] = trust if found[-1] == page else _FOREIGN
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
        return other if probability >= _FOREIGN and not _confused(other, page) else page
    return page if _confused(other, page) else answer


def _confused(one: str, other: str) -> bool:
    """Return whether one line does not distinguish two languages (Croatian, Bosnian)."""
    return one == other or (_related(one, other) and codes.macro(one) not in _DISTINCT)


@functools.lru_cache(4096)
def _related(one: str, other: str) -> bool:
    """Return whether two languages share a macrolanguage."""
    whole = codes.macro(one) or one
    return one == other or whole == (codes.macro(other) or other)
