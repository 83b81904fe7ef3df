"""The extractor `paragraphs`: jusText's rules over the blocks of the walk.

The preset `stock` decides as jusText 3.0.2 does. The preset `tuned` has other thresholds, knows HTML 5 and counts
languages without blanks between words by character.

    rules       a paragraph's class: by length, link density and stop words, then by its neighbours
    stoplists   the frequent words of each language, and which language a page is in
"""

import functools
from collections.abc import Container
from pathlib import Path

import msgspec

from windrow import config
from windrow.extraction import walk
from windrow.extraction.main.justext import rules, stoplists
from windrow.extraction.main.justext.rules import PRESETS, Thresholds
from windrow.extraction.main.justext.stoplists import Stoplist
from windrow.extraction.readers import html
from windrow.extraction.walk import Walk, structure
from windrow.records import Capture, Page, Paragraph

_DEFAULT = config.ParagraphsOptions()


def extract(
    capture: Capture,
    max_links: int,
    agent: str = "",
    options: config.ParagraphsOptions = _DEFAULT,
    known: Container[int] | None = None,
) -> Page:
    """Return the page of `html.extract` with all its paragraphs, each good or bad."""
    page, tree, markup, _ = html.read(capture, max_links, agent, known, stock=options.preset == "stock")
    if tree is None:
        return page
    return msgspec.structs.replace(page, paragraphs=paragraphs(markup or walk.markup(tree), page.language, options))


def check(options: config.ParagraphsOptions) -> None:
    """Raise ConfigError if there is no stop list for the language or file in the options."""
    if options.stoplist:
        _read_stoplist(options.stoplist)
    elif options.language:
        stoplists.load(options.language)


def paragraphs(markup: str, declared: str, options: config.ParagraphsOptions) -> tuple[Paragraph, ...]:
    """Return all paragraphs of a page that `walk.markup` wrote out, good and bad. `declared` is the language that the
    page declares."""
    stock = options.preset == "stock"
    page = walk.walk(markup, stock)
    found = rules.classified(page, _stoplist(page, declared, options), thresholds(options))
    return found if stock else structure.formed(page, found)


@functools.lru_cache(16)
def thresholds(options: config.ParagraphsOptions) -> Thresholds:
    """Return the thresholds of the preset, overridden by the options that are set.

    A language or a stop list in the options is meant for every paragraph: then `mixed` is off unless it is set too.
    """
    given = {name: getattr(options, name) for name in Thresholds.__struct_fields__}
    if options.language or options.stoplist:
        given["mixed"] = given["mixed"] or False
    changed = {name: value for name, value in given.items() if value is not None}
    return msgspec.structs.replace(PRESETS[options.preset], **changed)


def _stoplist(page: Walk, declared: str, options: config.ParagraphsOptions) -> Stoplist | None:
    if options.stoplist:
        return _read_stoplist(options.stoplist)
    language = options.language or stoplists.guess(page.texts, declared)
    known = stoplists.code(language)
    if not known or (options.preset == "stock" and known not in _languages_of_justext()):
        return None
    return stoplists.load(known)


@functools.lru_cache(4)
def _read_stoplist(path: str) -> Stoplist:
    return stoplists.read(Path(path))


@functools.cache
def _languages_of_justext() -> frozenset[str]:
    return frozenset(code for code, _, _ in stoplists.languages())
