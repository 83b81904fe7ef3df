"""How frequent words are in general language, for the weights of a topic's words: from what is at hand.

In this order: the word frequencies of the package wordfreq, if it is installed and knows the language; the stop list
of the language, whose words say nothing of any topic; the sample itself, of which words that are spread evenly over it
say nothing. docs/focus.md has what each is worth.
"""

import gzip
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.extraction.main.justext import stoplists
from windrow.jobs.inputs import texts
from windrow.judge.focus import boundaries, weights
from windrow.judge.focus.weights import Background
from windrow.judge.language import codes

WORDFREQ, STOPLIST, SAMPLE = NAMES = ("wordfreq", "stoplist", "sample")
_SMALL = 1e-7  # added to each frequency of wordfreq: rarer words are not reliable
_SPREAD = 0.5  # share of a sample's parts from which a word that they have is spread evenly


def choose(wanted: str, languages: Sequence[str], sample: Sequence[str], pairs: bool) -> Background:
    """Return the background. `wanted`: one of NAMES, a file of general text, or "" for the best that there is.

    `languages`: of the sample, the first one with the greatest share.
    """
    if wanted and wanted not in NAMES:
        general = weights.count(texts.lines([wanted], lambda read: None), pairs)
        if not general:
            raise ConfigError(f"{wanted} has no words; name a file of general text, or one of {', '.join(NAMES)}")
        background = weights.joined(_best(languages, sample, pairs), general)
        return msgspec.structs.replace(
            background, source=f"{wanted} and {background.source.removesuffix(' and this crawl')}"
        )
    if wanted == WORDFREQ:
        return _wordfreq(languages, pairs) or _missing(wanted, languages[0], "install the package wordfreq")
    if wanted == STOPLIST:
        return _stoplist(languages, pairs) or _missing(wanted, languages[0], "choose sample, or a file of general text")
    return _evenly(sample, pairs) if wanted else _best(languages, sample, pairs)


def _best(languages: Sequence[str], sample: Sequence[str], pairs: bool) -> Background:
    return _wordfreq(languages, pairs) or _stoplist(languages, pairs) or _evenly(sample, pairs)


def _missing(wanted: str, language: str, fix: str) -> Background:
    raise ConfigError(f"--background {wanted}: there is none for {codes.name(language)} ({language}); {fix}")


def _wordfreq(languages: Sequence[str], pairs: bool) -> Background | None:
    """Return the frequencies in the package's own files: bins of words, each a hundredth of a power of ten rarer.

    The package itself is not imported: its dependencies are needed for other things.
    """
    spec = importlib.util.find_spec("wordfreq")
    if spec is None or pairs:
        return None
    places = [Path(location) / "data" for location in spec.submodule_search_locations or ()]
    frequencies: dict[str, float] = {}
    for language in languages:
        names = [f"{size}_{codes.short(language)}.msgpack.gz" for size in ("large", "small")]
        path = next((file for folder in places for name in names if (file := folder / name).is_file()), None)
        if path is not None:
            for word, frequency in _bins(path):
                frequencies[word] = max(frequency, frequencies.get(word, 0.0))
    return Background("the word frequencies of wordfreq", frequencies, _SMALL) if frequencies else None


def _bins(path: Path) -> Iterator[tuple[str, float]]:
    try:
        _, *bins = msgspec.msgpack.decode(gzip.decompress(path.read_bytes()))
        for index, words in enumerate(bins):
            yield from ((word, 10 ** (-index / 100) + _SMALL) for word in words)
    except (OSError, EOFError, ValueError, TypeError, msgspec.MsgspecError) as error:
        raise ConfigError(f"cannot read {path} of the package wordfreq ({error}); install it again") from None


def _stoplist(languages: Sequence[str], pairs: bool) -> Background | None:
    covered = [language for language in languages if stoplists.code(language)]
    lists = [stoplist for stoplist in map(stoplists.load, covered) if stoplist.by_character is pairs]
    if not lists:
        return None
    names = " and ".join(map(codes.name, covered))
    return Background(f"the stop list of {names}", neutral=frozenset().union(*(stoplist.words for stoplist in lists)))


def _evenly(sample: Sequence[str], pairs: bool) -> Background:
    parts = [set(weights.count([part], pairs)) for part in boundaries.parts(sample)]
    every = set().union(*parts) if parts else set()
    spread = {word for word in every if sum(word in part for part in parts) > _SPREAD * len(parts)}
    letters = {letter for pair in spread for letter in pair} if pairs else spread
    return Background("the words that are spread evenly over the sample", neutral=frozenset(letters))
