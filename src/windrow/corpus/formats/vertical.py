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
    lines: list[str] = []
    for sentence, glued in sentences.split(text, language):
        if glued:
            lines.append(tokens.GLUE)
        lines += ("<s>", _tokens(sentence, language, options.cut), "</s>")
    return "\n".join(lines)


def _tokens(text: str, language: str, cut: Cut) -> str:
    """Escape every token but the glue, which is the object GLUE itself."""
    lines = tokens.lines(text, language, cut)
    if "<" in text or "&" in text:
        lines = [line if line is tokens.GLUE else markup.escape(line) for line in lines]
    return "\n".join(lines)
