"""Vertical: the files that Sketch Engine compiles. An <s> per sentence, one line per token, <g/> for no space."""

from windrow.corpus.formats import markup
from windrow.corpus.formats.format import FormatOptions, Item
from windrow.corpus.segment import sentences, tokens
from windrow.corpus.segment.tokens import Cut

read = markup.read


def encode(item: Item, options: FormatOptions) -> bytes:
    return markup.encode(item, options, _body)


def _body(text: str, language: str, options: FormatOptions) -> str:
    """Glue between two sentences stands outside of both."""
    found: list[str] = []
    for sentence, glued in sentences.split(text, language):
        if glued:
            found.append(tokens.GLUE)
        found += ("<s>", _tokens(sentence, language, options.cut), "</s>")
    return "\n".join(found)


def _tokens(text: str, language: str, cut: Cut) -> str:
    """Escape every token but the glue, which is the object GLUE itself."""
    found = tokens.lines(text, language, cut)
    if "<" in text or "&" in text:
        found = [line if line is tokens.GLUE else markup.escape(line) for line in found]
    return "\n".join(found)
