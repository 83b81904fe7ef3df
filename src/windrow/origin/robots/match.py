"""Match paths against the Allow and Disallow rules of a robots.txt, in time linear in the length of the path."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from windrow.urls import patterns

# Rank and text of a rule. The rank is twice the length of the pattern, plus one if the rule allows. The highest wins.
Match = tuple[int, str]

_NO_RULE: Match = (1, "")
_ALWAYS: Match = (1, "allow: /robots.txt")
_TOO_MANY: Match = (0, "disallow: too many wildcard rules apply to say")
_FEW = 48  # wildcard rules that are tried one after the other, without an index
_PIECE = 3  # characters of an index key
_EFFORT = 2000  # literals searched in one path, plus two per character of the path, before the answer is no


class _WildcardRule(NamedTuple):
    """A rule with a `*` inside."""

    match: Match
    wildcard: patterns.Wildcard
    literal: str  # the longest of the pattern: every matching path contains it
    shortest: int  # characters of the shortest path that matches


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

    def __init__(self, rules: Sequence[_WildcardRule]) -> None:
        ranked = sorted(rules, key=lambda rule: -rule.match[0])
        self._rules = [(rule.match[0], rule.literal, rule) for rule in ranked]

    def find(self, path: str, best: Match) -> Match:
        for rank, literal, rule in self._rules:
            if rank <= best[0]:
                break
            if literal in path and rule.wildcard.matches(path):
                return rule.match
        return best


class _ManyWildcards:
    """Wildcard rules indexed by a piece of text that a matching path must contain: the rarest piece of each rule.

    So only a few rules are tried per path.
    """

    __slots__ = ("_rules", "_sizes")

    def __init__(self, rules: Sequence[_WildcardRule]) -> None:
        pieces = [_pieces(rule.literal) for rule in rules]
        counts = Counter(piece for each in pieces for piece in each)
        self._rules: dict[str, list[_WildcardRule]] = {}
        for rule, each in zip(rules, pieces, strict=True):
            self._rules.setdefault(min(each, key=counts.__getitem__), []).append(rule)
        self._sizes = {len(piece) for piece in self._rules}

    def find(self, path: str, best: Match) -> Match:
        effort = _EFFORT + 2 * len(path)
        for size in self._sizes:
            for piece in self._rules.keys() & {path[at : at + size] for at in range(len(path) - size + 1)}:
                for rule in self._rules[piece]:
                    effort -= 1
                    if rule.match[0] > best[0] and rule.shortest <= len(path):
                        effort -= len(rule.wildcard.middle)
                        if rule.wildcard.matches(path):
                            best = rule.match
                    if effort < 0:
                        return _TOO_MANY
        return best


def _pieces(literal: str) -> list[str]:
    """Return up to 32 pieces of a literal, from both of its ends."""
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
        wildcards: list[_WildcardRule] = []
        for allows, pattern in rules:
            self._free = self._free and allows
            self._escapes = self._escapes or "%" in pattern
            match = (2 * len(pattern) + allows, f"{'allow' if allows else 'disallow'}: {pattern}")
            literal = pattern.rstrip("*")
            if "*" in literal:
                wildcard = patterns.split(pattern)
                wildcards.append(_WildcardRule(match, wildcard, wildcard.longest_literal, wildcard.shortest))
            elif literal.endswith("$") and literal == pattern:
                self._exact[literal[:-1]] = max(match, self._exact.get(literal[:-1], _NO_RULE))
            else:
                prefixes[literal] = max(match, prefixes.get(literal, _NO_RULE))
        self._prefixes = _Prefixes(prefixes) if prefixes else None
        many = len(wildcards) > _FEW
        self._wildcards = (_ManyWildcards if many else _FewWildcards)(wildcards) if wildcards else None

    def decide(self, path: str) -> tuple[bool, str]:
        """Return whether a path, with its query, may be requested, and the rule that decided; "" if none applies."""
        rank, line = self._find(path)
        return self._free or rank & 1 == 1, line

    def _find(self, path: str) -> Match:
        if path == "/robots.txt":
            return _ALWAYS
        # If no rule has an escape, no rule can match one: it is enough to decode the needless escapes.
        if self._escapes or ("%" in path and patterns.has_needless_escape(path)):
            path = patterns.canonical(path)
            if path == "/robots.txt":
                return _ALWAYS
        best = self._prefixes.find(path) if self._prefixes else _NO_RULE
        if path in self._exact:
            best = max(best, self._exact[path])
        return self._wildcards.find(path, best) if self._wildcards else best


class Location:
    """One path pattern outside any rule."""

    __slots__ = ("fits",)

    def __init__(self, pattern: str) -> None:
        self.fits = patterns.PathPattern(pattern).matches
