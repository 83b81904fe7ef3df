"""Read the Universal Declaration of Human Rights from the texts of the package."""

import functools
from importlib import resources
from typing import NamedTuple


class Section(NamedTuple):
    heading: str
    paragraphs: tuple[str, ...]


class Declaration(NamedTuple):
    language: str
    title: str
    sections: tuple[Section, ...]  # the preamble, then the thirty articles


@functools.cache
def load(language: str) -> Declaration:
    text = resources.files(__package__).joinpath("texts", f"{language}.txt").read_text(encoding="utf-8")
    title, *blocks = text.strip().split("\n\n")
    return Declaration(language, title, tuple(_section(block) for block in blocks))


def _section(block: str) -> Section:
    heading, *paragraphs = block.split("\n")
    return Section(heading, tuple(paragraphs))
