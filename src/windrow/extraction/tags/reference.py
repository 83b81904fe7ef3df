"""The reference reader of tags in Python: oracle of the C kernel `_tags` in the tests, and fallback without it.

It goes through the source once, from tag to tag, as the tokenizer of the HTML standard does. No tree is built, so
nothing depends on how elements are nested, and the time is linear whatever the page.
"""

import re

from windrow.extraction.tags import elements, tokens
from windrow.extraction.tags.elements import TAGS, TagFlag, TagRule, Where
from windrow.extraction.tags.tokens import FoundTag, cut, unescaped

Record = dict[str, str]

_BLANK = "\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BLANKS = re.compile(f"[{_BLANK}]+")
_NO_RULE = TagRule()


class TagReader:
    """Holds what was found so far."""

    def __init__(self, source: str, most: int) -> None:
        self.source = source
        self.room = most  # records that may still be added
        self.title: str | None = None
        self.base: str | None = None
        self.lists: tuple[list[Record], ...] = ([], [], [])  # links, relations, scripts
        self.metas: list[Record] = []
        self.text: list[str] = []  # of the lines so far, in pieces
        self.last = ""  # the last character of the text
        self.length = 0  # characters of the text
        self.pending = False  # a blank precedes the next character
        self.pre = self.head = self.svg = False
        self.open: Record | None = None  # the anchor that is being read
        self.start = 0  # index in `text` of its first piece
        self.unclosed: set[str] = set()  # elements of which no end tag follows

    def read(self) -> None:
        source, at = self.source, 0
        while (tag := source.find("<", at)) >= 0:
            if tag > at:
                self.add_text(unescaped(source[at:tag], False))
            at = self.read_markup(tag)
        if at < len(source):
            self.add_text(unescaped(source[at:], False))
        self.end_anchor()

    def read_markup(self, at: int) -> int:
        """Read what begins with "<"; return the place behind it."""
        source = self.source
        first = source[at + 1 : at + 2]
        if first.isascii() and first.isalpha():
            return self.read_start(at)
        if first == "/":
            following = source[at + 2 : at + 3]
            if following.isascii() and following.isalpha():
                return self.read_end(at)
            return tokens.behind(source, ">", at + 2)
        if first == "!" and source.startswith("--", at + 2):
            return tokens.after_comment(source, at + 4)
        if first in ("!", "?") and first:
            return tokens.behind(source, ">", at + 1)
        self.add_text("<")
        return at + 1

    def read_start(self, at: int) -> int:
        tag = tokens.tag(self.source, at + 1)
        if not tag.name:
            return tag.end
        rule = TAGS.get(tag.name, _NO_RULE)
        self.enter(rule.flags, tag.empty)
        self.add_records(tag, rule)
        if not tag.empty and rule.flags & (TagFlag.RAW | TagFlag.PLAIN) and not (self.svg and tag.name == "title"):
            return self.read_content(tag, rule.flags)
        return tag.end

    def enter(self, flags: TagFlag, empty: bool) -> None:
        if flags & TagFlag.HEAD:
            self.head = True
        if flags & TagFlag.BODY:
            self.head = False
        if flags & TagFlag.SVG:
            self.svg = not empty
        self.separate(flags)
        if flags & TagFlag.PRE:
            self.pre = not empty

    def read_end(self, at: int) -> int:
        tag = tokens.tag(self.source, at + 2)
        flags = TAGS.get(tag.name, _NO_RULE).flags if tag.name else TagFlag(0)
        if flags & TagFlag.ANCHOR:
            self.end_anchor()
        if flags & TagFlag.HEAD:
            self.head = False
        if flags & TagFlag.SVG:
            self.svg = False
        if flags & TagFlag.PRE:
            self.pre = False
        self.separate(flags)
        return tag.end

    def separate(self, flags: TagFlag) -> None:
        if flags & TagFlag.BLOCK:
            self.pending = False
            if self.length and self.last != "\n":
                self.append("\n")
        elif flags & TagFlag.SPACE:
            self.pending = True

    def read_content(self, tag: FoundTag, flags: TagFlag) -> int:
        """Read the content of an element up to its end tag, which is read later. Return its place.

        A style or script that is not closed extends to the end of the page, other content to the next tag.
        """
        end = self.find_end(tag.name, tag.end)
        raw = flags & TagFlag.RAW
        if end < 0:
            end = len(self.source) if raw else self.source.find("<", tag.end)
            end = len(self.source) if end < 0 else end
        content = self.source[tag.end : end]
        if not raw:
            self.read_plain(content, flags)
        elif flags & TagFlag.STYLE and ("url" in content or "@import" in content):
            for record in elements.of_style(content)[: self.room]:
                self.add(Where.LINKS, record)
        return end

    def read_plain(self, content: str, flags: TagFlag) -> None:
        before = len(self.text)
        self.add_text(unescaped(content, False))
        if flags & TagFlag.TITLE and (self.head or self.title is None):
            self.title = line("".join(self.text[before:]), elements.TITLE) or self.title

    def find_end(self, name: str, at: int) -> int:
        if name in self.unclosed:
            return -1
        match = _END_TAGS[name].search(self.source, at)
        if match is None:
            self.unclosed.add(name)
            return -1
        return match.start()

    def add_records(self, tag: FoundTag, rule: TagRule) -> None:
        found = tag.attributes
        if rule.flags & TagFlag.ANCHOR:
            self.end_anchor()
        for name in found:
            if name in elements.GLOBAL:
                self.add_url(Where.LINKS, f"{tag.name.upper()}@/{name}", found[name])
        if rule.flags & TagFlag.CLICK and "onclick" in found:
            url = elements.of_click(unescaped(cut(found["onclick"]), True))
            if url:
                self.add(Where.LINKS, {"path": f"{tag.name.upper()}@/onclick", "url": url})
        if rule.where is Where.METAS:
            self.add_meta(found)
        elif rule.where is Where.HTML:
            for name, path in elements.LANGUAGES:
                if name in found:
                    self.add(Where.METAS, {"name": path, "content": unescaped(cut(found[name]), True)})
        elif rule.where is Where.BASE:
            if self.base is None and "href" in found:
                self.base = unescaped(cut(found["href"]), True)
        else:
            self.add_urls(tag, rule)

    def add_urls(self, tag: FoundTag, rule: TagRule) -> None:
        for name, others in rule.urls:
            value = tag.attributes.get(name)
            if value is None or len(value.encode("utf-8", "replace")) > elements.LONGEST or self.room <= 0:
                continue
            record = {"path": f"{tag.name.upper()}@/{name}", "url": unescaped(value, True)}
            for other in others:
                if other in tag.attributes:
                    record[other] = unescaped(cut(tag.attributes[other]), True)
            if rule.flags & TagFlag.ANCHOR and not tag.empty:
                self.open, self.start = record, len(self.text)
                self.room -= 1
            else:
                self.add(rule.where, record)

    def add_url(self, where: Where, path: str, value: str) -> None:
        if len(value.encode("utf-8", "replace")) <= elements.LONGEST:
            self.add(where, {"path": path, "url": unescaped(value, True)})

    def add_meta(self, found: dict[str, str]) -> None:
        if any(name in found for name in elements.NAMED):
            self.add(
                Where.METAS,
                {name: unescaped(cut(found[name]), True) for name in elements.METAS if name in found},
            )

    def add(self, where: Where, record: Record) -> None:
        if self.room > 0:
            self.room -= 1
            (self.metas if where is Where.METAS else self.lists[where]).append(record)

    def end_anchor(self) -> None:
        if self.open is None:
            return
        text = line("".join(self.text[self.start :]), elements.ANCHOR)
        if text:
            self.open["text"] = text
        self.lists[Where.LINKS].append(self.open)
        self.open = None

    def add_text(self, text: str) -> None:
        if self.pre:
            self.add_preformatted(text)
            return
        for number, word in enumerate(_BLANKS.split(text)):
            self.pending = self.pending or number > 0
            if word:
                self.flush()
                self.append(word)

    def add_preformatted(self, text: str) -> None:
        for char in text:
            if char in "\n\t ":
                self.flush()
                self.append(char)
            elif char != "\r":
                if _BLANKS.match(char):
                    self.pending = True
                else:
                    self.flush()
                    self.append(char)

    def flush(self) -> None:
        """Write the blank that is due; none at the start of a line."""
        if self.pending and self.length and self.last != "\n":
            self.append(" ")
        self.pending = False

    def append(self, text: str) -> None:
        self.text.append(text)
        self.last = text[-1]
        self.length += len(text)


_END_TAGS = {
    name: re.compile(rf"</{name}(?=[\t\n\f\r />]|\Z)", re.IGNORECASE | re.ASCII)
    for name, rule in TAGS.items()
    if rule.flags & (TagFlag.RAW | TagFlag.PLAIN)
}


def line(text: str, most: int) -> str:
    """Return a text on one line, with single blanks, of at most so many characters."""
    return _BLANKS.sub(" ", text).strip(" ")[:most].rstrip(" ")
