"""Read Markdown with a parser of its own, as an oracle: the blocks with their texts."""

from collections.abc import Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_CONTAINERS = ("bullet_list", "ordered_list", "list_item", "blockquote", "table", "tr", "th", "td")


class Block(NamedTuple):
    where: str  # the elements around it: "ul li p"
    text: str  # line breaks are "\n"


def blocks(markdown: str) -> list[Block]:
    """Return the blocks in order; an empty cell of a table is one too."""
    stack: list[str] = []
    found: list[Block] = []
    for token in PARSER.parse(markdown):
        if token.nesting == 1:
            stack.append(token.tag)
        elif token.nesting == -1:
            stack.pop()
        elif token.type == "inline":
            found.append(Block(_where(stack), plain(token.children or ())))
        elif token.type in ("fence", "code_block", "html_block", "hr"):
            found.append(Block(_where([*stack, token.type]), token.content.removesuffix("\n")))
    return found


def _where(stack: Sequence[str]) -> str:
    return " ".join(tag for tag in stack if tag not in ("thead", "tbody"))


def plain(tokens: Sequence[Token]) -> str:
    """Return the text as a reader sees it. Raw HTML other than <br> is shown as an error."""
    parts = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak") or (token.type == "html_inline" and token.content == "<br>"):
            parts.append("\n")
        elif token.type in ("text", "text_special", "code_inline"):
            parts.append(token.content)
        elif token.type in ("html_inline", "image", "s_open"):
            parts.append(f"[{token.type}]")
    return "".join(parts)


def spans(markdown: str) -> list[tuple[str, str]]:
    """Return the links, emphasis and code of the first block: kind, or target of a link, and text."""
    inline = next(token for token in PARSER.parse(markdown) if token.type == "inline")
    found: list[tuple[str, str]] = []
    opened: list[tuple[str, int]] = []
    text = ""
    for token in inline.children or ():
        if token.nesting == 1:
            opened.append((str(token.attrs.get("href", token.tag)), len(text)))
        elif token.nesting == -1:
            name, start = opened.pop()
            found.append((name, text[start:]))
        elif token.type == "code_inline":
            found.append(("code", token.content))
        text += plain([token])
    return found
