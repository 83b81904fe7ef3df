"""The section [language] of the options, ready for use: codes parsed, models loaded."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow import config
from windrow.config import ConfigError
from windrow.judge.language import codes, tools, trigrams
from windrow.judge.language.trigrams import TrigramModel


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
