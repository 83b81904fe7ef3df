"""Path patterns of robots.txt (RFC 9309 §2.2), which tdmrep.json and Content-Usage share: canonical forms and matching.

A pattern matches every path that begins with it; `*` stands for any characters, and a `$` at the end for the end of the
path. Matching never backtracks: many stars in a pattern would make a regular expression take exponential time.
"""

import re
from typing import NamedTuple

# Where a text differs from its canonical form. In a pattern `*` and a last `$` are operators. An escape that is cut
# off at the end of a literal stays as it is, so that it still matches the escapes that begin with it.
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NEEDLESS = r"%(?:2[DEde]|3[0-9]|4[1-9A-Fa-f]|5[0-9AFaf]|6[1-9A-Fa-f]|7[0-9AEae])"
_REWRITTEN = _NEEDLESS + "|%(?:[0-9A-Fa-f][a-f]|[a-f][0-9A-F])"
_IN_PATTERN = re.compile(
    _REWRITTEN + r"|%(?![0-9A-Fa-f]{2}|[0-9A-Fa-f]?(?:\*|\Z))|\$(?!\Z)|[^\w\-.~:/?#\[\]@!&'()+,;=*$%]", re.ASCII
)
_IN_PATH = re.compile(_REWRITTEN + r"|%(?![0-9A-Fa-f]{2})|[^\w\-.~:/?#\[\]@!&'()+,;=%]", re.ASCII)
_AS_LETTER = re.compile(_NEEDLESS)


def canonical(path: str) -> str:
    """Return a path with its query in the form that is compared: needless escapes decoded, all others in upper case."""
    return _IN_PATH.sub(_rewritten, path)


def canonical_pattern(pattern: str) -> str:
    """Return a pattern in the form that is compared."""
    return _IN_PATTERN.sub(_rewritten, pattern)


def has_needless_escape(path: str) -> bool:
    """Return whether `canonical` would decode an escape of this path: else a pattern without escapes needs no
    `canonical`."""
    return "%" in path and _AS_LETTER.search(path) is not None


def _rewritten(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) == 3:
        character = chr(int(text[1:], 16))
        return character if character in _UNRESERVED else text.upper()
    return "".join(f"%{octet:02X}" for octet in text.encode("utf-8", "surrogatepass"))


class Wildcard(NamedTuple):
    """A canonical pattern with a `*` inside, split at its stars."""

    head: str
    middle: tuple[str, ...]
    tail: str | None  # the end of a matching path; None: any

    @property
    def shortest(self) -> int:
        """The length of the shortest path that matches."""
        return len(self.head) + sum(map(len, self.middle)) + len(self.tail or "")

    @property
    def longest_literal(self) -> str:
        """A text that every matching path contains."""
        return max(self.head, *self.middle, self.tail or "", key=len)

    def matches(self, path: str) -> bool:
        """Return whether a canonical path matches. Linear: the leftmost place of a literal is as good as any later
        one."""
        if not path.startswith(self.head):
            return False
        at = len(self.head)
        for literal in self.middle:
            at = path.find(literal, at)
            if at < 0:
                return False
            at += len(literal)
        return self.tail is None or (len(path) - at >= len(self.tail) and path.endswith(self.tail))


def split(pattern: str) -> Wildcard:
    """Split a canonical pattern that has a `*` before its end."""
    anchored = pattern.endswith("$")
    head, *middle = (pattern[:-1] if anchored else pattern).split("*")
    tail = middle.pop() if anchored else None
    return Wildcard(head, tuple(literal for literal in middle if literal), tail)


class PathPattern:
    """One canonical pattern, ready to be compared with many canonical paths."""

    __slots__ = ("_exact", "_literal", "_wildcard")

    def __init__(self, pattern: str) -> None:
        literal = pattern.rstrip("*")
        self._exact = literal == pattern and literal.endswith("$")
        self._literal = literal[:-1] if self._exact else literal
        self._wildcard = split(pattern) if "*" in literal else None

    def matches(self, path: str) -> bool:
        if self._wildcard is not None:
            return self._wildcard.matches(path)
        return path == self._literal if self._exact else path.startswith(self._literal)
