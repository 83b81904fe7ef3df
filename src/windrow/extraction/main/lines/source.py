"""The decoded source of a page -> its text lines, with the six features that the paper gives a line.

Each step is a pass of compiled code over the whole text, and none reads a part twice: a pattern stops only at what
ends it or at the end of the text. So a page written to be slow costs no more than any other page of its length.
"""

import functools
import html
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]

FEATURES = ("Index", "TextLength", "OutputTextLength", "Density", "LinkNum", "ImgNum")
INDEX, TEXT, OUTPUT, DENSITY, LINKS, IMAGES = range(6)

_MAX_CHARS = 1 << 23  # characters of a page that are read; a longer text is not a page
_MAX_LINES = 1 << 16
_CONTAINERS = ("form", "fieldset", "object")  # useless elements that some sites put around the whole page

# Table I of the paper: 22 elements and the comment. RAW elements hold no markup before their own end tag; VOID elements
# have no content.
RAW = ("script", "style", "noscript", "textarea", "iframe")
PAIRED = ("a", "button", "select", "optgroup", "option", "label", "fieldset", "legend", "map", "form", "object")
VOID = ("meta", "param", "input", "image", "area", "embed")
_BLOCKS = (
    "(?:address|article|aside|blockquote|center|dd|details|dialog|dir|div|dl|dt|figcaption|figure|footer|h[1-6]|header"
    "|hgroup|hr|li|main|menu|nav|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)"
)

# The text after the name in a tag. It ends at the first > outside quotes, or with the text, as in the HTML standard.
_REST = r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+(?:>|\Z)"""
_raw_start = re.compile(r"<(?:!--|(" + "|".join(RAW) + r")(?=[\s/>]))", re.IGNORECASE)
_body_start = re.compile(r"<body(?=[\s/>])" + _REST, re.IGNORECASE)
_body_end = re.compile(r"</body(?=[\s/>])", re.IGNORECASE)
_head_end = re.compile(r"</(?:head|title)\s*>", re.IGNORECASE)
_blank = re.compile(r"&(?:nbsp|ensp|emsp|thinsp|#160|#8194|#8195|#12288|#x0*a0|#x0*3000);?", re.IGNORECASE)
# A tag with a line end, or something like a tag, before its first >.
_folded = re.compile(r"<[a-zA-Z/](?=[^<>\n]*+[<\n])" + _REST)
_closed_early = re.compile(r"""=\s*+(?:"[^"<>\n]*+>|'[^'<>\n]*+>)""")  # a > in quotes: anything may follow it
_useless = re.compile(
    r"<(/?)(?=[abefilmops])(" + "|".join((*PAIRED, *VOID, "img")) + r")(?=[\s/>])" + _REST, re.IGNORECASE
)
_block_start = re.compile(r"<(?=" + _BLOCKS + r"[\s/>])", re.IGNORECASE)
_block_end = re.compile(r"(?:</" + _BLOCKS + r"\s*+>|<br(?=[\s/>])[^>]*+>)(?!\n)", re.IGNORECASE)
_tag = re.compile(r"<[a-zA-Z/!?]" + _REST)
_border = re.compile(r"</?" + _BLOCKS + r"[\s/>]|<br[\s/>]", re.IGNORECASE)
_heading = re.compile(r"[\s\x01-\x03]*<(h[1-6])[\s>]", re.IGNORECASE)
_control = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")

# Marks in the text where a link with its anchor text, or an image, was deleted.
_LINK, _IMAGE, _LINK_END = "\x01", "\x02", "\x03"
_anchor = re.compile("\x01[^\x03]*\x03")


class TextLines(NamedTuple):
    """The text lines of a page: those that have text of their own after the useless elements are deleted."""

    marked: list[str]  # output text of each line, not decoded, with its links between marks
    features: Array  # (lines, 6), in the order of FEATURES, not normalised
    numbers: list[int]  # index of each in `sources`
    sources: list[str]  # every line, with text or without


def _end_tag(name: str) -> re.Pattern[str]:
    """Match an end tag in any case. Unlike IGNORECASE, classes of letters keep the literal start of the pattern."""
    return re.compile("</" + "".join(f"[{letter}{letter.upper()}]" for letter in name) + r"(?=[\s/>])")


_raw_ends = {name: _end_tag(name) for name in RAW}


def lines(page: str) -> TextLines:
    broken = _broken(_without_useless(_unfolded(_body(_without_raw(_clean(page[:_MAX_CHARS]))))))
    sources, outputs = broken.split("\n"), _tag.sub("", broken).split("\n")
    if len(outputs) != len(sources):  # a tag with something like a block inside was broken into two lines
        outputs = [_tag.sub("", line) for line in sources]
    marked: list[str] = []
    numbers: list[int] = []
    rows: list[tuple[int, int, int, int]] = []
    links = images = 0  # since the last text line: those of a line without text count in the next text line
    for number, output in enumerate(outputs):
        if not output or output.isspace():
            continue
        links += output.count(_LINK)
        images += output.count(_IMAGE)
        own = len(_squeezed(output))
        if own:
            rows.append((max(own, len(_squeezed(sources[number]))), own, links, images))
            marked.append(output)
            numbers.append(number)
            links = images = 0
            if len(rows) == _MAX_LINES:
                break
    return TextLines(marked, _features(rows), numbers, sources)


def _features(rows: list[tuple[int, int, int, int]]) -> Array:
    features = np.zeros((len(rows), 6))
    if rows:
        features[:, [TEXT, OUTPUT, LINKS, IMAGES]] = rows
        features[:, INDEX] = np.arange(1, len(rows) + 1)
        features[:, DENSITY] = features[:, OUTPUT] / features[:, TEXT]
    return features


def _squeezed(line: str) -> bytes:
    """Return a line without deleted links, and with single blanks."""
    if _LINK in line:
        line = _anchor.sub("", line)
    if _IMAGE in line:
        line = line.replace(_IMAGE, "")
    return " ".join(line.split()).encode("utf-8", "replace")


def visible(page: str) -> str:
    """Return all text that a page shows, useless elements included: no extractor can find more."""
    return html.unescape(_tag.sub(" ", _body(_without_raw(_clean(page[:_MAX_CHARS])))))


def texts(found: TextLines, anchors: bool) -> list[str]:
    """Return the output text of each line, decoded: one line, single blanks, no control characters."""
    return [text(marked, anchors) for marked in found.marked]


def text(marked: str, anchors: bool) -> str:
    if not anchors and _LINK in marked:
        marked = _anchor.sub("", marked)
    decoded = html.unescape(marked) if "&" in marked else marked
    if not decoded.isprintable():
        decoded = _control.sub("", decoded.replace("\t", " "))
    return " ".join(decoded.split())


def pieces(marked: str) -> list[str]:
    """Return the output text of a line, split where a link was deleted."""
    return [html.unescape(piece) for piece in _anchor.sub(_LINK, marked).replace(_IMAGE, "").split(_LINK)]


def heading(found: TextLines, line: int) -> str:
    """Return the tag of the heading that this line begins with, h1 to h6; empty if it begins with none."""
    match = _heading.match(found.sources[found.numbers[line]])
    return match[1].lower() if match else ""


def continues(found: TextLines, line: int) -> bool:
    """Return whether this line is in the same block as the previous text line: no block begins or ends between them."""
    before, here = found.numbers[line - 1], found.numbers[line]
    first = found.sources[before].rstrip()
    return not (
        _border.match(found.sources[here].lstrip())
        or (first.endswith(">") and _border.match(first, first.rfind("<")))
        or any(_border.search(source) for source in found.sources[before + 1 : here])
    )


def _clean(page: str) -> str:
    for mark in (_LINK, _IMAGE, _LINK_END):
        if mark in page:
            page = page.replace(mark, "")
    return page.replace("\r\n", "\n").replace("\r", "\n")


def _without_raw(page: str) -> str:
    """Delete comments and the elements whose content is not markup.

    Of an element that never ends only the tag is deleted, but a script or a style is deleted to the end of the page.
    """
    kept: list[str] = []
    endless: set[str] = set()
    position = 0
    while match := _raw_start.search(page, position):
        kept.append(page[position : match.start()])
        name = (match[1] or "--").lower()
        end = -1 if name in endless else _raw_end(page, match.end(), name)
        if end < 0:
            if name in ("script", "style", "--"):
                return "".join(kept)
            endless.add(name)
            end = match.end()
            kept.append(match[0])
        position = end
    kept.append(page[position:])
    return "".join(kept)


def _raw_end(page: str, position: int, name: str) -> int:
    """Return where the element of this name, or the comment, ends that began before this position; -1: never."""
    if name == "--":
        return page.find("-->", position - 2) + 3 if page.find("-->", position - 2) >= 0 else -1
    match = _raw_ends[name].search(page, position)
    return page.find(">", match.end()) + 1 or len(page) if match else -1


def _body(page: str) -> str:
    """Return the text between the body tags; without them, the text after the head."""
    start = _body_start.search(page) or _last(_head_end, page)
    page = page[start.end() :] if start else page
    end = _last(_body_end, page)
    return page[: end.start()] if end else page


def _last(pattern: re.Pattern[str], page: str) -> re.Match[str] | None:
    return functools.reduce(lambda _, match: match, pattern.finditer(page), None)


def _unfolded(body: str) -> str:
    """Replace references to blanks, put every tag on one line, and remove what looks like a tag inside another."""
    body = _blank.sub(" ", body)
    return (_tag if _closed_early.search(body) else _folded).sub(_on_one_line, body)


def _on_one_line(match: re.Match[str]) -> str:
    tag = match[0]
    return "<" + tag[1:].replace("\n", " ").replace("<", " ") if "\n" in tag or "<" in tag[1:] else tag


class _Span(NamedTuple):
    start: int
    end: int
    name: str


def _without_useless(body: str) -> str:
    """Delete the useless elements with their content; put marks where links and images were."""
    kept: list[str] = []
    position = 0
    for start, end, name in sorted(_spans(body), key=lambda span: (span[0], -span[1])):
        visible = start >= position
        if visible:
            kept.append(body[position:start])
        if name == "a":
            anchor = _tag.sub("", body[start:end]).replace("\n", " ") if visible else ""
            kept.append(f"{_LINK}{anchor}{_LINK_END}")
        elif name in ("img", "image"):
            kept.append(_IMAGE)
        position = max(position, end)
    kept.append(body[position:])
    return "".join(kept)


def _spans(body: str) -> Iterator[_Span]:
    """Find the useless elements. Take only the tag of one that never ends or that holds most of the page."""
    opened: dict[str, list[tuple[int, int]]] = {name: [] for name in PAIRED}
    for match in _useless.finditer(body):
        name = match[2].lower()
        if name not in opened:
            if not match[1]:
                yield _Span(match.start(), match.end(), name)
        elif not match[1]:
            opened[name].append(match.span())
        elif opened[name]:
            start, end = opened[name].pop()
            if name not in _CONTAINERS or match.end() - start <= len(body) // 2:
                end = match.end()
            yield _Span(start, end, name)
    for name, starts in opened.items():
        for start, end in starts:
            yield _Span(start, end, name)


def _broken(body: str) -> str:
    """Break lines around every block, in addition to the lines of the source."""
    return _block_end.sub(r"\g<0>\n", _block_start.sub("\n<", body))
