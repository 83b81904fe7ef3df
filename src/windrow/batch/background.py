"""How frequent words are in general language, for the weights of a topic's words: from what is at hand.

In this order: the word frequencies of the package wordfreq, if it is installed and knows the language; the stop list
of the language, whose words say nothing of any topic; the sample itself, of which words that are spread evenly over it
say nothing. docs/focus.md has what each is worth.
"""

import gzip
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow.batch import inputs
from windrow.config import ConfigError
from windrow.extract.justext import stoplists
from windrow.judge.focus import boundaries, weights
from windrow.judge.focus.weights import Background
from windrow.judge.language import codes

WORDFREQ, STOPLIST, SAMPLE = NAMES = ("wordfreq", "stoplist", "sample")
_SMALL = 1e-7  # added to each frequency of wordfreq: rarer words are not reliable
_SPREAD = 0.5  # share of a sample's parts from which a word that they have is spread evenly


def choose(wanted: str, language: str, sample: Sequence[str], pairs: bool) -> Background:
    """Return the background. `wanted`: one of NAMES, a file of general text, or "" for the best that there is."""
    if wanted and wanted not in NAMES:
        general = weights.count(inputs.text(wanted).splitlines(), pairs)
        if not general:
            raise ConfigError(f"{wanted} has no words; name a file of general text, or one of {', '.join(NAMES)}")
        found = weights.joined(_best(language, sample, pairs), general)
        return msgspec.structs.replace(found, source=f"{wanted} and {found.source.removesuffix(' and this crawl')}")
    if wanted == WORDFREQ:
        return _wordfreq(language, pairs) or _missing(wanted, language, "install the package wordfreq")
    if wanted == STOPLIST:
        return _stoplist(language, pairs) or _missing(wanted, language, "choose sample, or a file of general text")
    return _evenly(sample, pairs) if wanted else _best(language, sample, pairs)


def _best(language: str, sample: Sequence[str], pairs: bool) -> Background:
    return _wordfreq(language, pairs) or _stoplist(language, pairs) or _evenly(sample, pairs)


def _missing(wanted: str, language: str, fix: str) -> Background:
    raise ConfigError(f"--background {wanted}: there is none for {codes.name(language)} ({language}); {fix}")


def _wordfreq(language: str, pairs: bool) -> Background | None:
    """Return the frequencies in the package's own files: bins of words, each a hundredth of a power of ten rarer.

    The package itself is not imported: its dependencies are needed for other things.
    """
    found = importlib.util.find_spec("wordfreq")
    if found is None or pairs:
        return None
    places = [Path(place) / "data" for place in found.submodule_search_locations or ()]
    names = [f"{size}_{codes.short(language)}.msgpack.gz" for size in ("large", "small")]
    path = next((file for place in places for name in names if (file := place / name).is_file()), None)
    if path is None:
        return None
    try:
        _, *bins = msgspec.msgpack.decode(gzip.decompress(path.read_bytes()))
        frequencies = {word: 10 ** (-place / 100) + _SMALL for place, words in enumerate(bins) for word in words}
    except (OSError, EOFError, ValueError, TypeError, msgspec.MsgspecError) as error:
        raise ConfigError(f"cannot read {path} of the package wordfreq ({error}); install it again") from None
    return Background("the word frequencies of wordfreq", frequencies, _SMALL)


def _stoplist(language: str, pairs: bool) -> Background | None:
    if not stoplists.code(language):
        return None
    found = stoplists.load(language)
    if found.by_character is not pairs:
        return None
    return Background(f"the stop list of {codes.name(language)}", neutral=found.words)


def _evenly(sample: Sequence[str], pairs: bool) -> Background:
    parts = [set(weights.count([part], pairs)) for part in boundaries.parts(sample)]
    every = set().union(*parts) if parts else set()
    spread = {word for word in every if sum(word in part for part in parts) > _SPREAD * len(parts)}
    letters = {letter for pair in spread for letter in pair} if pairs else spread
    return Background("the words that are spread evenly over the sample", neutral=frozenset(letters))
