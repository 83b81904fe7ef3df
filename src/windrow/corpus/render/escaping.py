"""The text of a paragraph in Markdown: every character that a parser would take for markup is escaped, no other.

The rules are those of CommonMark 0.31 and GFM; where 0.30 differs, what holds in both is written.
"""

import bisect
import itertools
import re
import string
import unicodedata
from collections.abc import Mapping, Sequence

from windrow.corpus.render import inline
from windrow.records import Mark, Paragraph

_SPECIAL = re.compile(r"[\\`*_\[\]<&~|!]")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")
_TAG = re.compile(r"<[A-Za-z/!?]")
_BRACKET = re.compile(r"[\[\]]")
_ALWAYS = frozenset("`*~")
# What begins a block if it begins a line. A table is one only from its second line, which may begin with | or a colon.
_BLOCK = re.compile(r"#{1,6}(?=\s|$)|>|[-+](?=[\s-]|$)|=|\[|[0-9]{1,9}(?P<stop>[.)])(?=\s|$)|[|:]")
_END = re.compile(r"(?:^|\s)#+$")  # of a heading: Markdown would take it for an ornament
_PUNCTUATION = frozenset(string.punctuation)
_URL_ESCAPED = re.compile(r"[\\()]|" + _ENTITY.pattern)
_URL_ENCODED = re.compile(r"[\x00-\x20\x7f<>]")
_LONGEST_RUN = re.compile("`+")
_PASSES = 4


class Context:
    """Where a text stands."""

    def __init__(self, line: bool = True, cell: bool = False) -> None:
        self.line = line  # at the beginning of a line, and may have several lines
        self.cell = cell  # in a cell of a table


def markdown(paragraph: Paragraph, context: Context) -> str:
    """Return the text with its marks and line ends. Without a `line` in the context it is one line."""
    text = paragraph.text
    lines = inline.breaks(paragraph) if context.line or context.cell else []
    if not paragraph.marks and not lines and not _SPECIAL.search(text):
        return _plain(text) if context.line else _heading_end(text, context)
    nested, signs = _shown(paragraph, lines)
    return _heading_end(_Writer(text, nested, lines, context).write(signs), context)


def _plain(text: str) -> str:
    """Return a text without special characters that begins a line."""
    at = _block_start(text, 0, first=True)
    return text if at < 0 else f"{text[:at]}\\{text[at:]}"


def _heading_end(text: str, context: Context) -> str:
    return f"{text[:-1]}\\#" if not context.line and not context.cell and _END.search(text) else text


def _block_start(text: str, at: int, first: bool) -> int:
    """Return the offset of the character to escape so that no block begins here; -1 if none would."""
    match = _BLOCK.match(text, at)
    if not match or (first and match[0] in "|:"):
        return -1
    return match.start("stop") if match["stop"] else at


class _Writer:
    def __init__(self, text: str, nested: Sequence[Mark], lines: Sequence[int], context: Context) -> None:
        self._text, self._nested, self._lines, self._context = text, nested, lines, context
        escaped = _escapes(text, context.cell)
        if context.line:
            starts = ((0, True), *((line, False) for line in lines))
            escaped |= {_block_start(text, at, first) for at, first in starts} - {-1}
        self._escaped = sorted(escaped)

    def write(self, signs: Mapping[Mark, str]) -> str:
        parts: list[str] = []
        links, code = 0, False
        for kind, start, end, mark in inline.events(self._text, self._nested, self._lines):
            if kind == "text":
                parts.append(self._code(start, end) if code else self._piece(start, end, links > 0))
            elif kind == "break":
                parts.append("<br>" if self._context.cell else "\\\n")
            elif mark is not None:
                opens = kind == "open"
                if mark.kind == "code":
                    code = opens
                elif mark.kind == "link":
                    links += 1 if opens else -1
                    parts.append("[" if opens else f"]({destination(mark.target, self._context.cell)})")
                else:
                    parts.append(signs[mark])
        return "".join(parts)

    def _piece(self, start: int, end: int, link: bool) -> str:
        """Return a piece of text between two marks. Its ends must not become a part of them."""
        text = self._text
        points = self._escaped[bisect.bisect_left(self._escaped, start) : bisect.bisect_left(self._escaped, end)]
        if start or end < len(text):
            points += [start] if text[start] == "_" else []
            points += [end - 1] if text[end - 1] in "\\!]_" else []
        if link:
            points += [match.start() for match in _BRACKET.finditer(text, start, end)]
        if not points:
            return text[start:end]
        edges = [start, *sorted({*points} - {start}), end]
        parts = [text[first:last] for first, last in itertools.pairwise(edges)]
        return ("\\" if start in points else "") + "\\".join(parts)

    def _code(self, start: int, end: int) -> str:
        text = self._text[start:end]
        fence = "`" * (longest_run(text) + 1)
        padding = " " if text[0] == "`" or text[-1] == "`" else ""
        code = f"{fence}{padding}{text}{padding}{fence}"
        return code.replace("|", "\\|") if self._context.cell else code


def longest_run(text: str) -> int:
    """Return how many backticks in a row there are at most."""
    return max((len(run) for run in _LONGEST_RUN.findall(text)), default=0)


def destination(url: str, cell: bool = False) -> str:
    """Return a URL so that it ends where it ends."""
    encoded = _URL_ENCODED.sub(lambda match: f"%{ord(match[0]):02X}", url)
    escaped = _URL_ESCAPED.sub(lambda match: f"\\{match[0]}", encoded)
    return escaped.replace("|", "\\|") if cell else escaped


def _escapes(text: str, cell: bool) -> set[int]:
    """Return the offsets of characters to escape wherever they stand."""
    points: set[int] = set()
    for match in _SPECIAL.finditer(text):
        at, character = match.start(), match[0]
        following = text[at + 1 : at + 2]
        if (
            character in _ALWAYS
            or (character == "\\" and (following in _PUNCTUATION or not following))
            or (character == "_" and not _within_word(text, at))
            or (character == "[" and following == "^")
            or (character == "]" and following in ("(", "[", ":"))
            or (character == "<" and _TAG.match(text, at))
            or (character == "&" and _ENTITY.match(text, at))
            or (character == "|" and cell)
        ):
            points.add(at)
    return points


def _within_word(text: str, at: int) -> bool:
    """Return whether an underscore has letters or digits on both sides: then it is no markup."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return before.isalnum() and after.isalnum()


def _shown(paragraph: Paragraph, lines: Sequence[int]) -> tuple[list[Mark], dict[Mark, str]]:
    """Return the marks and the signs of each emphasis, without an emphasis that a parser would not read as such.

    Whether signs are read depends on the characters on both sides of them, which may be other signs: to leave one out
    may make others unreadable, and may join two that it divided.
    """
    text = paragraph.text
    nested = inline.marks(text, paragraph.marks, lines)
    for _ in range(_PASSES):
        edges = _Edges(text, nested, lines)
        signs = {mark: edges.sign(number) for number, mark in enumerate(nested) if mark.kind in ("strong", "em")}
        left = [mark for mark in nested if signs.get(mark, "?")]
        if len(left) == len(nested):
            return nested, signs
        nested = inline.marks(text, left, lines)
    return [mark for mark in nested if mark.kind in ("link", "code")], {}


class _Edges:
    """The characters and signs next to the ends of each mark."""

    def __init__(self, text: str, nested: Sequence[Mark], lines: Sequence[int]) -> None:
        self._text, self._nested = text, nested
        self._borders = {0, len(text), *lines}
        self._starts: dict[int, list[int]] = {}  # offset -> marks that begin there, outermost first
        self._ends: dict[int, list[int]] = {}
        for number, mark in enumerate(nested):
            self._starts.setdefault(mark.start, []).append(number)
            self._ends.setdefault(mark.end, []).append(number)

    def sign(self, number: int) -> str:
        """Return ** for strong and _ for em, or * where letters follow it on both sides; "" if none can be read."""
        mark, text = self._nested[number], self._text
        begun, ended = self._starts[mark.start], self._ends[mark.end]
        before = text[mark.start - 1] if mark.start else " "
        after = text[mark.end] if mark.end < len(text) else " "
        touched = mark.start in self._ends or mark.end in self._starts
        free_start = mark.start in self._borders or _parts(before) or mark.start in self._ends or begun[0] != number
        free_end = mark.end in self._borders or _parts(after) or mark.end in self._starts or ended[0] != number
        plain_start = begun[-1] == number and _is_letter(text[mark.start])
        plain_end = ended[-1] == number and _is_letter(text[mark.end - 1])
        readable = (free_start or plain_start) and (free_end or plain_end)
        if mark.kind == "strong":
            return "**" if readable else ""
        if free_start and free_end:
            return "_"
        return "*" if readable and not touched and len(begun) == len(ended) == 1 else ""


def _parts(character: str) -> bool:
    """Return whether a character separates words in every version of CommonMark."""
    return character.isspace() or character in _PUNCTUATION or unicodedata.category(character)[0] == "P"


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] not in "PSZC"
