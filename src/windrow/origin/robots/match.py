"""Match paths against the Allow and Disallow rules of a robots.txt, in time linear in the length of the path."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# The places where a text differs from its canonical form. In a rule, `*` and a final `$` are operators. An escape that
# the end of a literal cuts stays as it is, so that it still matches the escapes it begins.
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NEEDLESS = r"%(?:2[DEde]|3[0-9]|4[1-9A-Fa-f]|5[0-9AFaf]|6[1-9A-Fa-f]|7[0-9AEae])"
_TO_REWRITE = _NEEDLESS + "|%(?:[0-9A-Fa-f][a-f]|[a-f][0-9A-F])"
_IN_RULE = re.compile(
    _TO_REWRITE + r"|%(?![0-9A-Fa-f]{2}|[0-9A-Fa-f]?(?:\*|\Z))|\$(?!\Z)|[^\w\-.~:/?#\[\]@!&'()+,;=*$%]",
    re.ASCII,
)
_IN_PATH = re.compile(_TO_REWRITE + r"|%(?![0-9A-Fa-f]{2})|[^\w\-.~:/?#\[\]@!&'()+,;=%]", re.ASCII)
_ESCAPED_LETTER = re.compile(_NEEDLESS)

# Rank and text of a rule. The rank is twice the length of the pattern, plus one if the rule allows. The highest wins.
Match = tuple[int, str]

_NO_RULE: Match = (1, "")
_ALWAYS: Match = (1, "allow: /robots.txt")
_TOO_MANY: Match = (0, "disallow: too many wildcard rules apply to say")
_FEW = 48  # wildcard rules that are tried one after the other, without an index
_PIECE = 3  # characters of an index key
_EFFORT = 2000  # literals searched in one path, plus two per character of the path, before the answer is no


def _canonical(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) == 3:
        character = chr(int(text[1:], 16))
        return character if character in _UNRESERVED else text.upper()
    return "".join(f"%{octet:02X}" for octet in text.encode("utf-8", "surrogatepass"))


def pattern(value: str) -> str:
    """Return the path of a rule in canonical form (§2.2.2): no needless escapes, capital hex digits in the others."""
    return _IN_RULE.sub(_canonical, value)


def canonical(path: str) -> str:
    """Return a path, with its query, in canonical form."""
    return _IN_PATH.sub(_canonical, path)


class _Wildcard(NamedTuple):
    """A rule with a `*` inside, split at its stars."""

    rank: int
    line: str
    head: str
    middle: tuple[str, ...]
    tail: str | None  # the required end of a path; None: any end
    least: int  # characters of the shortest path that matches

    def longest(self) -> str:
        return max(self.head, *self.middle, self.tail or "", key=len)

    def fits(self, path: str) -> bool:
        """Search each literal once, from the left: no later position can do better, so no backtracking is needed."""
        if not path.startswith(self.head):
            return False
        at = len(self.head)
        for literal in self.middle:
            at = path.find(literal, at)
            if at < 0:
                return False
            at += len(literal)
        return self.tail is None or (len(path) - at >= len(self.tail) and path.endswith(self.tail))


class _Prefixes:
    """Rules without wildcards, sorted; each has the best match of all rules that are a prefix of it."""

    __slots__ = ("_best", "_parents", "_texts")

    def __init__(self, matches: dict[str, Match]) -> None:
        self._texts = sorted(matches)
        self._best: list[Match] = []
        self._parents: list[int] = []
        stack: list[int] = []
        for number, text in enumerate(self._texts):
            while stack and not text.startswith(self._texts[stack[-1]]):
                stack.pop()
            self._parents.append(stack[-1] if stack else -1)
            self._best.append(max(matches[text], self._best[stack[-1]]) if stack else matches[text])
            stack.append(number)

    def find(self, path: str) -> Match:
        """Start at the text that sorts just before the path: each prefix of the path is that text or a prefix of it."""
        number = bisect_right(self._texts, path) - 1
        while number >= 0:
            if path.startswith(self._texts[number]):
                return self._best[number]
            number = self._parents[number]
        return _NO_RULE


class _FewWildcards:
    """Up to `_FEW` wildcard rules, the highest rank first."""

    __slots__ = ("_rules",)

    def __init__(self, rules: Sequence[_Wildcard]) -> None:
        self._rules = [(rule.rank, rule.longest(), rule) for rule in sorted(rules, key=lambda rule: -rule.rank)]

    def find(self, path: str, best: Match) -> Match:
        for rank, literal, rule in self._rules:
            if rank <= best[0]:
                break
            if literal in path and rule.fits(path):
                return rank, rule.line
        return best


class _ManyWildcards:
    """Wildcard rules indexed by a piece of text that a matching path must contain: the rarest piece of each rule.

    So only a few rules are tried per path.
    """

    __slots__ = ("_rules", "_sizes")

    def __init__(self, rules: Sequence[_Wildcard]) -> None:
        pieces = [_pieces(rule) for rule in rules]
        counts = Counter(piece for each in pieces for piece in each)
        self._rules: dict[str, list[_Wildcard]] = {}
        for rule, each in zip(rules, pieces, strict=True):
            self._rules.setdefault(min(each, key=counts.__getitem__), []).append(rule)
        self._sizes = {len(piece) for piece in self._rules}

    def find(self, path: str, best: Match) -> Match:
        effort = _EFFORT + 2 * len(path)
        for size in self._sizes:
            for piece in self._rules.keys() & {path[at : at + size] for at in range(len(path) - size + 1)}:
                for rule in self._rules[piece]:
                    effort -= 1
                    if rule.rank > best[0] and rule.least <= len(path):
                        effort -= len(rule.middle)
                        if rule.fits(path):
                            best = rule.rank, rule.line
                    if effort < 0:
                        return _TOO_MANY
        return best


def _pieces(rule: _Wildcard) -> list[str]:
    """Return up to 32 pieces of the longest literal of a rule, from both of its ends."""
    literal = rule.longest()
    size = min(_PIECE, len(literal))
    starts = range(len(literal) - size + 1)
    return [literal[at : at + size] for at in (starts if len(starts) <= 32 else [*starts[:16], *starts[-16:]])]


class Ruleset:
    """The rules of one origin for us, prepared for many queries."""

    __slots__ = ("_escapes", "_exact", "_free", "_prefixes", "_wildcards", "delay", "signals", "sitemaps")

    def __init__(
        self,
        rules: Iterable[tuple[bool, str]],  # whether it allows, canonical pattern
        delay: float | None = None,  # seconds
        sitemaps: tuple[str, ...] = (),
        signals: tuple[str, ...] = (),  # lines about the use of pages
    ) -> None:
        self.delay, self.sitemaps, self.signals = delay, sitemaps, signals
        self._free, self._escapes = True, False
        self._exact: dict[str, Match] = {}
        prefixes: dict[str, Match] = {}
        wildcards: list[_Wildcard] = []
        for allows, pattern in rules:
            self._free = self._free and allows
            self._escapes = self._escapes or "%" in pattern
            match = (2 * len(pattern) + allows, f"{'allow' if allows else 'disallow'}: {pattern}")
            literal = pattern.rstrip("*")
            if "*" in literal:
                wildcards.append(_split(pattern, match))
            elif literal.endswith("$") and literal == pattern:
                self._exact[literal[:-1]] = max(match, self._exact.get(literal[:-1], _NO_RULE))
            else:
                prefixes[literal] = max(match, prefixes.get(literal, _NO_RULE))
        self._prefixes = _Prefixes(prefixes) if prefixes else None
        many = len(wildcards) > _FEW
        self._wildcards = (_ManyWildcards if many else _FewWildcards)(wildcards) if wildcards else None

    def allows(self, path: str) -> bool:
        """Return whether a path, with its query, may be requested."""
        return self._free or self._find(path)[0] & 1 == 1

    def decide(self, path: str) -> tuple[bool, str]:
        """Return the same as `allows`, and the rule that decided; "" if no rule applies."""
        rank, line = self._find(path)
        return self._free or rank & 1 == 1, line

    def _find(self, path: str) -> Match:
        if path == "/robots.txt":
            return _ALWAYS
        # If no rule has an escape, no rule can match one: it is enough to unescape letters that needed no escape.
        if self._escapes or ("%" in path and _ESCAPED_LETTER.search(path)):
            path = canonical(path)
        best = self._prefixes.find(path) if self._prefixes else _NO_RULE
        if path in self._exact:
            best = max(best, self._exact[path])
        return self._wildcards.find(path, best) if self._wildcards else best


def _split(pattern: str, match: Match) -> _Wildcard:
    anchored = pattern.endswith("$")
    head, *middle = (pattern[:-1] if anchored else pattern).split("*")
    tail = middle.pop() if anchored else None
    literals = tuple(literal for literal in middle if literal)
    rank, line = match
    return _Wildcard(
        rank=rank,
        line=line,
        head=head,
        middle=literals,
        tail=tail,
        least=len(head) + sum(map(len, literals)) + len(tail or ""),
    )


class Location:
    """One path pattern in the notation of robots.txt, outside any rule."""

    __slots__ = ("_exact", "_literal", "_wildcard")

    def __init__(self, pattern: str) -> None:
        literal = pattern.rstrip("*")
        self._exact = literal == pattern and literal.endswith("$")
        self._literal = literal[:-1] if self._exact else literal
        self._wildcard = _split(pattern, _NO_RULE) if "*" in literal else None

    def fits(self, path: str) -> bool:
        """Return whether a path in canonical form matches."""
        if self._wildcard is not None:
            return self._wildcard.fits(path)
        return path == self._literal if self._exact else path.startswith(self._literal)
