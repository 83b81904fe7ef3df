"""CLD2's answer for each paragraph of a page, without reading more than it takes.

CLD2 reads each paragraph alone. That costs little more than reading the page at once, and finds short foreign
paragraphs, which otherwise get the language of their neighbours (of 40 to 60 characters: 99 % found instead of 71 %).
Once many paragraphs agree, CLD2 reads the others in groups, and one by one if a group is mixed.
"""

from collections.abc import Sequence

from windrow.judge.language import settings as options
from windrow.judge.language import tools
from windrow.judge.language.codes import UNKNOWN
from windrow.judge.language.settings import LanguageSettings
from windrow.judge.language.tools import Answer

_TINY = (
    12  # an ASCII text of fewer characters is a number or a name, which no tool can place; CLD2 would still take 3 µs
)
LINE = 40  # the same for a paragraph among others that is no sentence: shorter "foreign" ones were names and commands
_SENTENCE = 3  # blanks that make a line a sentence
_PLAIN = "\u0370"  # letters from here on identify their script, however few they are
_GLANCE = 150  # characters of a paragraph that are read first
_ALONE = 24  # paragraphs that are read one by one
_FEW = 8  # the same on a page in a language that is not accepted: only whether half of it is in another one matters
_GROUP = 4  # of the paragraphs after these, how many are read together if all so far were in one language
_PART = 80  # characters read of each paragraph in a group


def answers(texts: Sequence[str], read: int, brief: bool, settings: LanguageSettings) -> tuple[list[str], list[float]]:
    """Return CLD2's answer for each text, from its first `read` characters, and the share of them in this language.

    The answer is "und" if CLD2 is unsure or was not asked. `brief`: the page is so short that every line counts.
    """
    answers, certain = [UNKNOWN] * len(texts), [0.0] * len(texts)
    least = _TINY if brief else LINE
    places = [index for index, text in enumerate(texts) if len(text) >= least or is_evidence(text, brief)]
    one, alone, size, part = "", _ALONE, 1, _PART  # `one`: the language of all so far
    for number, place in enumerate(places):
        if number in (_FEW, _ALONE) and one and {*answers} <= {one, UNKNOWN}:
            if not (settings.sort and options.accepts(one, settings)) and not settings.models:
                alone, size, part = number, 3 * _GROUP, _PART // 3  # no single paragraph decides anything
            elif number == _ALONE:
                size = _GROUP
        if number >= alone:
            break
        answer, certain[place] = _read(texts[place], read, one)
        answers[place] = answer
        one = answer if not one and answer != UNKNOWN else one
    for start in range(alone, len(places), size):
        group = places[start : start + size]
        pure = size > 1 and tools.is_pure("\n".join([texts[place][:part] for place in group]), one)
        for place in group:
            answers[place], certain[place] = (one, 1.0) if pure else _read(texts[place], read, one)
    return answers, certain


def _read(text: str, read: int, expected: str) -> Answer:
    """Return CLD2's answer for a paragraph; its beginning is enough if that is in the expected language."""
    if expected and len(text) > _GLANCE and (answer := tools.read(text[:_GLANCE]))[0] == expected:
        return answer
    return tools.read(text[:read])


def is_evidence(text: str, brief: bool) -> bool:
    """Return whether a short paragraph alone shows its language: by its script, or because it is a sentence."""
    if not text.isascii() and (brief or max(text) >= _PLAIN):
        return True
    return len(text) >= _TINY and text[-1] in ".!?" and text.count(" ") >= _SENTENCE
