"""The descriptions of links in Python: oracle of the C kernel `_anchors` in the tests, and fallback without it.

The text of the whole page is collected in one string with single blanks. Blocks and rows are spans of it; so are
anchors. What belongs to a link is looked up when the page has ended, because a row may continue behind the link.
"""

import dataclasses
import enum
import re
from collections.abc import Iterator

from windrow.extraction.walk.elements import PLAIN, ROLES, TagKind, TagRole

Description = tuple[str, str, str]  # anchor, context, language as written

ANCHOR = 128  # characters of an anchor, as in WAT files
SIDE = 100  # characters of the context on each side of the anchor
LANGUAGE = 12  # characters of a language
BEHIND = 8  # blocks behind a heading that are examined; most of them are empty


class AnchorTag(enum.IntEnum):
    """What a tag means for the description of links. The kernel has the same numbers."""

    INLINE = 0
    VOID = 1  # without an end tag
    BREAK = 2  # a blank
    IMAGE = 3
    LINK = 4  # `<a>`
    BLOCK = 5  # a boundary before and after it
    VOID_BLOCK = 6
    HEADING = 7  # a block that describes what follows it
    ROW = 8  # a block whose parts belong together
    ROOT = 9  # `<html>`, whose language is that of the page


_KINDS = {
    TagKind.VOID: AnchorTag.VOID,
    TagKind.BLOCK: AnchorTag.BLOCK,
    TagKind.VOID_BLOCK: AnchorTag.VOID_BLOCK,
    TagKind.BREAK: AnchorTag.BREAK,
    TagKind.IMAGE: AnchorTag.IMAGE,
    TagKind.LINK: AnchorTag.LINK,
}
_ROLES = {TagRole.HEADING: AnchorTag.HEADING, TagRole.ITEM: AnchorTag.ROW, TagRole.ROW: AnchorTag.ROW}
_OWN = {"html": AnchorTag.ROOT, "article": AnchorTag.ROW, "dd": AnchorTag.ROW, "dt": AnchorTag.HEADING}
# Tags that are not inline, by their names.
TAGS: dict[str, AnchorTag] = {
    name: _OWN.get(name) or _ROLES.get(ROLES.get(name, TagRole.NONE)) or _KINDS[tag.kind]
    for name, tag in PLAIN.known.items()
    if not name.startswith("/") and tag.kind in _KINDS
}

_TOKEN = re.compile(r"<!--.*?(?:-->|\Z)|<(/?)([^ >]*)((?: [^>]*)?)(?:>|\Z)", re.DOTALL)
_ATTRIBUTE = re.compile(r' (href|hreflang|lang|title|aria-label|alt)="([^"]*)"')
_REFERENCES = (("&nbsp;", "\xa0"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))
_PRIMARY = re.compile(r"[ \t\n\r\f]*([^-_ \t\n\r\f]*)")
_BLANKS = " \t\n\r\f"


@dataclasses.dataclass(slots=True)
class Anchor:
    """A link whose text has been read. Places are those in the text of the page."""

    start: int
    end: int = 0
    opened: int = 0  # number of the block in which it starts
    closed: int = 0  # and of the one in which it ends
    row: int = -1  # number of the row around it
    heading: int = -1  # number of the block with the last heading above it
    label: str = ""  # stands for its text if it has none; as written
    language: str = ""  # as written


@dataclasses.dataclass(slots=True)
class TextSpan:
    start: int
    end: int
    heading: bool = False


def describe(markup: str, most: int) -> dict[str, Description]:
    """Return what a page says of its links, as the kernel does."""
    reader = AnchorReader(most)
    end = 0
    for match in _TOKEN.finditer(markup):
        if reader.is_full():
            break
        reader.add_text(markup[end : match.start()])
        end = match.end()
        if match[2] is not None and match[2][:1] not in ("!", "?"):
            reader.read(TAGS.get(match[2], AnchorTag.INLINE), match[1] == "/", match[3])
    if not reader.is_full():
        reader.add_text(markup[end:])
    return reader.finish()


class AnchorReader:
    """The text so far, its blocks and rows, the link that is open, and those before it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.pieces: list[str] = []
        self.length = 0
        self.pending = False  # a blank precedes the next character
        self.blocks: list[TextSpan] = []  # empty ones too
        self.start = 0  # of the current block
        self.in_heading = False
        self.heading = -1
        self.rows: list[TextSpan] = []
        self.open_rows: list[int] = []
        self.depth = 0  # open elements
        self.languages: list[tuple[int, str]] = []  # of the elements around, with their depths; "": that of the page
        self.own_language = b""  # of the page
        self.open: tuple[str, Anchor, list[str]] | None = None  # href, link, and what may stand for its text
        self.found: dict[str, Anchor] = {}
        self.last = 0  # number of the block in which the last new href ended

    def is_full(self) -> bool:
        """Return whether all links have been found, with the blocks behind the last one."""
        return len(self.found) >= self.most and len(self.blocks) > self.last + BEHIND

    def add_text(self, node: str) -> None:
        """Add text with single blanks."""
        node = _decoded(node)
        self.pending |= node[:1].isspace()
        for number, word in enumerate(node.split()):
            if (self.pending or number) and self.length:
                self.pieces.append(" ")
                self.length += 1
            self.pieces.append(word)
            self.length += len(word)
            self.pending = False
        self.pending |= node[-1:].isspace()

    def read(self, kind: AnchorTag, ends: bool, attributes: str) -> None:
        if kind >= AnchorTag.BLOCK:
            self.end_block()
        if ends:
            self.leave(kind)
        else:
            self.enter(kind, attributes)

    def enter(self, kind: AnchorTag, attributes: str) -> None:
        match kind:
            case AnchorTag.BREAK:
                self.pending = True
            case AnchorTag.IMAGE if self.open:
                self.open[2].insert(-2, _attributes(attributes).get("alt", ""))
            case AnchorTag.HEADING:
                self.in_heading = True
            case AnchorTag.ROW:
                self.open_rows.append(len(self.rows))
                self.rows.append(TextSpan(self.length, self.length))
        if kind in (AnchorTag.VOID, AnchorTag.BREAK, AnchorTag.IMAGE, AnchorTag.VOID_BLOCK):
            return
        self.depth += 1
        if ' lang="' in attributes:
            self.enter_language(kind, _attributes(attributes).get("lang", ""))
        if kind is AnchorTag.LINK:
            self.end_link()
            self.start_link(_attributes(attributes))

    def enter_language(self, kind: AnchorTag, language: str) -> None:
        primary = _primary(language)
        if kind is AnchorTag.ROOT:
            self.own_language = primary
        else:
            self.languages.append((self.depth, language if primary != self.own_language else ""))

    def leave(self, kind: AnchorTag) -> None:
        if kind is AnchorTag.HEADING:
            self.in_heading = False
        elif kind is AnchorTag.ROW and self.open_rows:
            self.rows[self.open_rows.pop()].end = self.length
        elif kind is AnchorTag.LINK:
            self.end_link()
        self.depth = max(self.depth - 1, 0)
        while self.languages and self.languages[-1][0] > self.depth:
            self.languages.pop()

    def end_block(self) -> None:
        if self.in_heading and self.length > self.start:
            self.heading = len(self.blocks)
        self.blocks.append(TextSpan(self.start, self.length, self.in_heading))
        self.start = self.length
        self.pending = True

    def start_link(self, attributes: dict[str, str]) -> None:
        href = attributes.get("href")
        if href is None:
            return
        language = attributes.get("hreflang", "")
        if not language.strip(_BLANKS):
            language = self.languages[-1][1] if self.languages else ""
        row = self.open_rows[-1] if self.open_rows else -1
        link = Anchor(self.length, opened=len(self.blocks), row=row, heading=self.heading, language=language)
        labels = [attributes.get("title", ""), attributes.get("aria-label", "")]
        self.open = _decoded(href.partition("#")[0]), link, labels

    def end_link(self) -> None:
        """Keep the link, unless its href is known: then only if the one before it has no anchor, and this one has."""
        if self.open is None:
            return
        href, link, labels = self.open
        self.open = None
        link.end, link.closed = self.length, len(self.blocks)
        if link.start == link.end:
            link.label = next((label for label in labels if label.strip(_BLANKS)), "")
        known = self.found.get(href)
        if known is None:
            if len(self.found) < self.most:
                self.found[href] = link
                self.last = link.closed
        elif known.start == known.end and not known.label and (link.start < link.end or link.label):
            self.found[href] = link

    def finish(self) -> dict[str, Description]:
        """Close everything and return the descriptions."""
        self.end_link()
        self.end_block()
        for number in self.open_rows:
            self.rows[number].end = self.length
        text = "".join(self.pieces)
        return {href: self.describe(text, link) for href, link in self.found.items()}

    def describe(self, text: str, link: Anchor) -> Description:
        anchor = text[link.start : link.end].lstrip()[:ANCHOR] or _line(_decoded(link.label))[:ANCHOR]
        context = next((one for one in self.contexts(text, link) if any(map(str.isalnum, one))), "")
        return anchor.rstrip(), context, _line(_decoded(link.language))[:LANGUAGE].rstrip()

    def contexts(self, text: str, link: Anchor) -> Iterator[str]:
        """Yield the texts that may be the context of a link, the nearest first."""
        own = self.blocks[link.opened]
        yield _around(text, link, TextSpan(own.start, self.blocks[link.closed].end))
        if link.row >= 0:
            yield _around(text, link, self.rows[link.row])
        if own.heading:
            behind = self.blocks[link.closed + 1 : link.closed + 1 + BEHIND]
            following = next((block for block in behind if block.start < block.end), own)
            if not following.heading:
                yield _opening(text, following)
        elif link.heading >= 0:
            yield _opening(text, self.blocks[link.heading])


def _around(text: str, link: Anchor, span: TextSpan) -> str:
    """Return the words of a span on both sides of a link."""
    first = max(span.start, link.start - SIDE)
    before = text[first : link.start].rstrip(" ")
    if first > span.start and text[first - 1] != " " and " " in before:
        before = before[before.index(" ") :]
    last = min(span.end, link.end + SIDE)
    behind = text[link.end : last].lstrip(" ")
    if last < span.end and text[last] != " " and " " in behind:
        behind = behind[: behind.rindex(" ")]
    return f"{before.lstrip(' ')} {behind.rstrip(' ')}".strip(" ")


def _opening(text: str, span: TextSpan) -> str:
    """Return the first words of a span."""
    last = min(span.end, span.start + 2 * SIDE)
    opening = text[span.start : last].lstrip(" ")
    if last < span.end and text[last] != " " and " " in opening:
        opening = opening[: opening.rindex(" ")]
    return opening.rstrip(" ")


def _attributes(text: str) -> dict[str, str]:
    return dict(_ATTRIBUTE.findall(text))


def _primary(language: str) -> bytes:
    """Return the primary subtag of a language. As bytes, so that only ASCII letters change, as in the kernel."""
    found = _PRIMARY.match(language)
    return found[1].encode("utf-8", "surrogatepass").lower() if found else b""


def _decoded(text: str) -> str:
    """Replace the references that the serialiser writes; it writes no others."""
    if "&" in text:
        for written, character in _REFERENCES:
            text = text.replace(written, character)
    return text


def _line(text: str) -> str:
    return " ".join(text.split())
