"""Which paragraphs are in the language of a model that the user trained.

A model knows only its own language, so any text fits the best of a few models to some degree: English lists of contents
were taken for Upper Sorbian. So the built-in tools are heard first. `train` stores how they answer on the sample. A
text that a tool surely places in a language in which it places nothing of the sample is in that language, not in the
model's. Otherwise the text belongs to the model if it is as probable under it as the sample was.
"""

from collections.abc import Sequence

from windrow.judge.language import codes, reading, tools, trigrams
from windrow.judge.language.codes import UNKNOWN
from windrow.judge.language.settings import LanguageSettings
from windrow.judge.language.tools import Answer
from windrow.judge.language.trigrams import TrigramModel

_SHARE = (
    0.02  # of the sample, which a tool places in a language, from which its answer does not speak against the model
)
_OFTEN = 0.2  # the same, from which its answer says nothing
_LOOSE, _STRICT = 3.0, 2.0  # standard deviations above the sample's bits that a text may have
_SURE = 0.9  # py3langid's probability from which it is heard
_LETTERS = 20  # a text with fewer shows nothing: a number, a name, an address
_READ = 300  # characters of a paragraph that are read
_DISTANCE = 0.03  # certainty lost per squared standard deviation


def ask(texts: Sequence[str], answers: list[str], certain: list[float], settings: LanguageSettings) -> None:
    """Change the answers for the paragraphs that are in the language of a model. Short lines are no evidence."""
    for index, text in enumerate(texts):
        if len(text) >= reading.LINE or reading.is_evidence(text, False):
            answers[index], certain[index] = name(text[:_READ], (answers[index], certain[index]), settings)


def name(text: str, answer: Answer, settings: LanguageSettings) -> Answer:
    """Return the language of a text, given CLD2's answer."""
    said, _ = answer
    best, probability = trigrams.classify(text, settings.models)
    model = next((model for model in settings.models if model.name == best), None)
    if model is None or sum(map(str.isalpha, text)) < _LETTERS or not _possible(model, said, settings):
        return answer
    distance = trigrams.distance(text, model)
    share = model.cld2.get(said, 0.0)
    if distance > (_LOOSE if share >= _OFTEN else _STRICT):
        return answer
    if said == UNKNOWN and settings.second:
        other, sure = tools.py3langid(text, settings.recognised)
        if sure >= _SURE and model.py3langid.get(other, 0.0) < _SHARE and not codes.covers(model.name, other):
            return other, sure
    return best, probability * (1 - _DISTANCE * max(0.0, distance) ** 2)


def _possible(model: TrigramModel, said: str, settings: LanguageSettings) -> bool:
    """Return whether a text may be in the model's language although CLD2 says this of it."""
    if said == UNKNOWN or codes.covers(model.name, said) or any(said == model.name for model in settings.models):
        return True
    if any(codes.covers(model.name, one) for one in tools.known()):
        return False  # CLD2 or py3langid knows the language: the model does not know it better
    return model.cld2.get(said, 0.0) >= _SHARE
