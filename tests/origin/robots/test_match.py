"""Which rule decides about a path."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.origin.robots.support import rules


def test_the_longest_rule_decides_and_is_returned() -> None:
    found = rules("Disallow: /a", "Allow: /a/b", "Disallow: /a/b/c")
    assert found.decide("/a/x") == (False, "disallow: /a")
    assert found.decide("/a/b/x") == (True, "allow: /a/b")
    assert found.decide("/a/b/c/d") == (False, "disallow: /a/b/c")
    assert found.decide("/b") == (True, "")


def test_of_two_equally_long_rules_the_one_that_allows_decides() -> None:
    assert rules("Disallow: /a", "Allow: /a").decide("/a") == (True, "allow: /a")
    assert rules("Allow: /a/*", "Disallow: /*/b").decide("/a/b") == (True, "allow: /a/*")


def test_operators_count_in_the_length_of_a_rule() -> None:
    assert not rules("Allow: /a", "Disallow: /a*").decide("/a")[0]
    assert rules("Allow: /$", "Disallow: /").decide("/")[0]
    assert not rules("Allow: /abc", "Disallow: /a***").decide("/abcd")[0]


def test_robots_txt_itself_is_always_allowed() -> None:
    assert rules("Disallow: /").decide("/robots.txt")[0] and not rules("Disallow: /").decide("/robots.txt.html")[0]


@pytest.mark.parametrize("path", ["/robots%2Etxt", "/%72obots.txt", "/robots%2etx%74"])
@pytest.mark.parametrize("pattern", ["/", "/robots.txt", "/*.txt$", "/robots%2Ftxt", "/%25"])
def test_robots_txt_is_allowed_however_its_path_is_escaped(path: str, pattern: str) -> None:
    assert rules("Disallow: /", f"Disallow: {pattern}").decide(path) == (True, "allow: /robots.txt")


def test_paths_are_compared_with_case_and_query() -> None:
    found = rules("Disallow: /A", "Disallow: /s?q=")
    assert [found.decide(path)[0] for path in ("/a", "/A", "/s", "/s?q=1", "/s?p=1&q=1")] == [
        True,
        False,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("/*.gif$", ["/a.gif", "/.gif", "/a.gif.gif"], ["/a.gif?", "/a.gift", "/gif"]),
        ("*.gif", ["/a.gif", "/a.gift"], ["/a.png"]),
        ("/a*b*c", ["/abc", "/a-b-c-", "/aabbcc"], ["/acb", "/ab", "/xabc"]),
        ("/a*b*c$", ["/abc", "/abcc"], ["/abcd", "/ac"]),
        ("/a*a$", ["/aa", "/aba"], ["/a", "/ab"]),
        ("/*ab*ab$", ["/abab", "/ab/ab"], ["/ab", "/aab"]),
        ("/a$", ["/a"], ["/a/", "/a?b", "/"]),
        ("/*$", ["/", "/a"], []),
        ("*", ["/", "/a"], []),
        ("/a**b", ["/ab", "/axb"], ["/a"]),
        ("/a$b", ["/a$b", "/a%24b"], ["/a", "/ab"]),
    ],
)
def test_wildcards_match_any_characters_and_a_dollar_sign_the_end(
    pattern: str, matched: list[str], others: list[str]
) -> None:
    found = rules(f"Disallow: {pattern}")
    assert [path for path in matched if found.decide(path)[0]] == []
    assert [path for path in others if not found.decide(path)[0]] == []


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/%62%61%7a", "/baz", True),
        ("/baz", "/%62%61%7A", True),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2Fb", "/a/b", False),
        ("/a/b", "/a%2Fb", False),
        ("/ツ", "/%e3%83%84", True),
        ("/%E3%83%84", "/ツ", True),
        ("/a b", "/a%20b", True),
        ("/a|b", "/a%7cb", True),
        ("/a%7Cb", "/a|b", True),
        ("/%2A", "/*", True),
        ("/%2A", "/x", False),
        ("/%24", "/$", True),
        ("/x%24", "/x", False),
        ("/%7Ejoe", "/~joe/", True),
        ("/100%", "/100%25", True),
        ("/100%$", "/100%25", True),
        ("/100%x", "/100%25x", True),
        ("/*%", "/a%20b", True),
        ("/*%*c", "/a%20bc", True),
        ("/%2541", "/%41", False),
        ("/a?b=%3D", "/a?b==", False),
    ],
)
def test_paths_and_rules_are_compared_in_canonical_form(pattern: str, path: str, matches: bool) -> None:
    assert rules(f"Disallow: {pattern}").decide(path)[0] is not matches


def test_each_of_ten_thousand_rules_is_obeyed() -> None:
    found = rules(*(f"Disallow: /d{n}/" for n in range(10_000)), *(f"Allow: /d{n}/a" for n in range(0, 10_000, 2)))
    assert [n for n in range(10_000) if found.decide(f"/d{n}/b")[0]] == []
    assert [found.decide(f"/d{n}/a")[0] for n in range(4)] == [True, False, True, False]
    assert found.decide("/d10000/")[0] and found.decide("/d")[0]


def test_each_of_ten_thousand_wildcard_rules_is_obeyed() -> None:
    found = rules(
        *(f"Disallow: /*/item{n}/*.html$" for n in range(10_000)), "Disallow: /*?", "Disallow: /*$", "Allow: /*"
    )
    assert [
        n for n in range(0, 10_000, 7) if found.decide(f"/a/item{n}/b.html") != (False, f"disallow: /*/item{n}/*.html$")
    ] == []
    assert found.decide("/a?b") == (False, "disallow: /*?") and found.decide("/a") == (False, "disallow: /*$")


def test_a_rule_of_many_stars_is_matched_in_linear_time() -> None:
    found = rules("Disallow: /" + "*a" * 8000 + "$")
    assert found.decide("/" + "a" * 1_000_000 + "b")[0]
    assert not found.decide("/" + "a" * 1_000_000)[0]
    assert found.decide("/" + "a" * 7999)[0]


def test_too_many_wildcard_rules_that_might_apply_disallow_the_path() -> None:
    found = rules(*(f"Disallow: /*abcabcabc*{n:x}x" for n in range(20_000)))
    assert found.decide("/abcabcabc" * 20) == (False, "disallow: too many wildcard rules apply to say")
    assert found.decide("/index.html")[0]


def symbols(text: str, operators: str = "") -> list[str]:
    """Return a text as the octets that are compared: a character that needs no escape, or an escape."""
    found = []
    for piece in re.findall(r"%[0-9A-Fa-f]{2}|.", text, re.DOTALL):
        octets = [int(piece[1:], 16)] if len(piece) == 3 else piece.encode()
        for octet in octets:
            plain = chr(octet) if octet < 128 and (chr(octet).isalnum() or chr(octet) in "-._~") else ""
            kept = piece if piece in operators or (piece in ":/?#[]@!&'()+,;=" and len(piece) == 1) else ""
            found.append(plain or kept or f"%{octet:02X}")
    return found


def matches(pattern: str, path: str) -> bool:
    anchored = pattern.endswith("$")
    places = {0}
    octets = symbols(path)
    for symbol in symbols(pattern[:-1] if anchored else pattern, "*"):
        if symbol == "*":
            places = {later for place in places for later in range(place, len(octets) + 1)}
        else:
            places = {place + 1 for place in places if place < len(octets) and octets[place] == symbol}
    return len(octets) in places if anchored else bool(places)


def allowed(lines: list[tuple[bool, str]], path: str) -> bool:
    best = (0, True)
    for allow, pattern in lines:
        anchored = pattern.endswith("$")
        length = len("".join(symbols(pattern[:-1] if anchored else pattern, "*"))) + anchored
        if matches(pattern, path):
            best = max(best, (length, allow))
    return best[1]


def text_of(lines: list[tuple[bool, str]]) -> list[str]:
    return [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in lines]


LITERALS = ["/", "a", "b", "%61", "%2F", "%2f", "%2A", "%24", "é", "%C3%A9", "%c3", "?", "|", "%7C", "-", "$"]


PATTERNS = st.lists(st.sampled_from([*LITERALS, "*", "*", "*"]), max_size=7).map(lambda parts: "/" + "".join(parts))


PATHS = st.lists(st.sampled_from([*LITERALS, "*"]), max_size=10).map(lambda parts: "/" + "".join(parts))


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=8), st.lists(PATHS, min_size=1, max_size=8))
def test_a_simple_matcher_agrees_on_a_few_rules(lines: list[tuple[bool, str]], paths: list[str]) -> None:
    found = rules(*text_of(lines))
    assert [found.decide(path)[0] for path in paths] == [allowed(lines, path) for path in paths]


@given(st.integers(0, 10**6))
def test_a_simple_matcher_agrees_on_many_rules(seed: int) -> None:
    chance = random.Random(seed)
    parts = [*LITERALS, "*", "*", "*", "abc", "cab"]
    lines = [(chance.random() < 0.4, "/" + "".join(chance.choices(parts, k=chance.randint(1, 6)))) for _ in range(150)]
    found = rules(*text_of(lines))
    paths = ["/" + "".join(chance.choices([*LITERALS, "abc", "cab"], k=chance.randint(0, 8))) for _ in range(20)]
    assert [found.decide(path)[0] for path in paths] == [allowed(lines, path) for path in paths]
