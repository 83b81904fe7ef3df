"""Words of Thai, Lao, Khmer, Burmese, Chinese and Japanese, by the dictionaries of ICU. Needs the library icu4py."""

import functools
from typing import Any

from windrow.config import ConfigError

_LOCALES = {"tha": "th", "lao": "lo", "khm": "km", "mya": "my", "zho": "zh", "cmn": "zh", "yue": "yue", "jpn": "ja"}
_JOINED = ("\u200b", "\u200c", "\u200d")  # zero-width: each stays with the character before it


def check() -> None:
    """Raise ConfigError if the library is missing."""
    _breaker()


@functools.cache
def _breaker() -> Any:
    try:
        from icu4py.breakers import WordBreaker
    except ImportError:
        raise ConfigError(
            "--words icu needs the library icu4py; install it with: pip install 'windrow-corpus[words]'"
        ) from None
    return WordBreaker


def cut(run: str, language: str = "") -> list[str]:
    """Return the words of a run of letters; joined, they are the run. For other languages ICU goes by the script."""
    ends = [
        end for _, end in _breaker()(run, _LOCALES.get(language, "en")).segments() if run[end : end + 1] not in _JOINED
    ]
    return [run[start:end] for start, end in zip([0, *ends], ends, strict=False)]
