"""Prevertical: the files that SpiderLing writes. One line per paragraph."""

from windrow.corpus.formats import markup
from windrow.corpus.formats.format import FormatOptions, Item

read = markup.read


def encode(item: Item, options: FormatOptions) -> bytes:
    return markup.encode(item, options, _body)


def _body(text: str, language: str, options: FormatOptions) -> str:
    return markup.escape(text)
