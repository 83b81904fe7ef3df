"""Choose extractors and their options: the checks of `windrow extract`."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from windrow import config
from windrow.config import ConfigError
from windrow.extraction import EXTRACTORS

if TYPE_CHECKING:
    from windrow.extraction.evaluation.gold import Sample

WITH_MODEL = ("blocks", "lines")
MEASURED = ("blocks", "paragraphs", "lines")


def overrides(language: str, preset: str, stoplist: str, model: str, others: Sequence[str] | None) -> list[str]:
    """Return the arguments as overrides, which are checked like any option. --set wins over its short form."""
    named = {
        "paragraphs.language": language,
        "paragraphs.preset": preset,
        "paragraphs.stoplist": stoplist,
        "extract.model": model,
    }
    given = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in named.items() if value]
    return [*given, *(others or [])]


def chosen(extractor: str, given: Sequence[str]) -> str:
    """Return the extractor's name. Options of `paragraphs` choose it; with another extractor they would have no
    effect."""
    if extractor:
        known(extractor)
    if extractor and extractor not in WITH_MODEL and any(setting.startswith("extract.model=") for setting in given):
        raise ConfigError(f"the extractor {extractor} has no model; --model is for {' and '.join(WITH_MODEL)}")
    theirs = next((setting.strip() for setting in given if setting.strip().startswith("paragraphs.")), "")
    if theirs and extractor not in ("", "paragraphs"):
        name = theirs.partition("=")[0]
        raise ConfigError(f"{name} is an option of the extractor paragraphs, not of {extractor}; remove one of them")
    return extractor or ("paragraphs" if theirs else config.ExtractOptions().extractor)


def measured(listed: str, model: str) -> list[str]:
    """Return the extractors to measure: those of a list with commas, or all. One model belongs to one extractor."""
    tools = [known(name) for name in names(listed)] or [*MEASURED]
    if model and len([name for name in tools if name in WITH_MODEL]) > 1:
        fix = "measure that one alone: --extractor lines, or --extractor blocks"
        raise ConfigError(f"--model {model} belongs to one extractor; {fix}")
    return tools


def known(extractor: str) -> str:
    """Return the name; ConfigError where it is neither built in nor a reference to the user's own code."""
    if extractor not in EXTRACTORS and ":" not in extractor:
        raise ConfigError(f"there is no extractor {extractor!r}; choose one of {', '.join(EXTRACTORS)}")
    return extractor


def names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def peers(listed: str) -> tuple[str, ...]:
    """Return the peers of a list with commas; for `all`, those that are installed."""
    from windrow.extraction.evaluation import peers

    chosen = names(listed)
    return tuple(peers.installed()) if chosen == ["all"] else tuple(dict.fromkeys(chosen))


def pages(path: Path, only: str, every: int) -> "Iterator[Sample]":
    """Yield the chosen pages of data sets. A data set that is not there is an error before the first page."""
    from windrow.extraction.evaluation import gold

    wanted = names(only)
    if wanted and (unknown := sorted(set(wanted) - set(known_sets := gold.datasets(path)))):
        raise ConfigError(f"{path} has no data set '{unknown[0]}'; it has {', '.join(known_sets)}")
    return gold.chosen(gold.samples(path), every, wanted)
