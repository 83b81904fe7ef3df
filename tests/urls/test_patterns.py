"""Patterns match paths as a regular expression would, without its cost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.urls import patterns

PATTERN = st.text(st.sampled_from("/ab*$"), min_size=1, max_size=8).map(lambda text: "/" + text.replace("$", ""))
PATH = st.text(st.sampled_from("/ab"), max_size=8).map(lambda text: "/" + text)


@given(PATTERN, st.sampled_from(["", "$"]), PATH)
def test_a_pattern_matches_as_a_regular_expression_does(pattern: str, end: str, path: str) -> None:
    expression = ".*".join(map(re.escape, pattern.split("*"))) + (r"\Z" if end else "")
    assert patterns.PathPattern(pattern + end).matches(path) == bool(re.match(expression, path))


@pytest.mark.parametrize(
    ("written", "canonical"),
    [("/%7Euser", "/~user"), ("/%c3%a9", "/%C3%A9"), ("/é", "/%C3%A9"), ("/100%", "/100%25"), ("/%2f", "/%2F")],
)
def test_equal_paths_and_patterns_have_one_canonical_form(written: str, canonical: str) -> None:
    assert patterns.canonical(written) == canonical
    assert patterns.canonical(canonical) == canonical
    if not written.endswith("%"):
        assert patterns.canonical_pattern(written) == canonical


def test_operators_of_a_pattern_stay_and_a_dollar_inside_is_escaped() -> None:
    assert patterns.canonical_pattern("/*.pdf$") == "/*.pdf$"
    assert patterns.canonical_pattern("/a$b") == "/a%24b"
    assert patterns.canonical("/*.pdf$") == "/%2A.pdf%24"
    assert patterns.canonical_pattern("/100%") == "/100%"


def test_only_an_escaped_letter_is_a_needless_escape() -> None:
    assert patterns.has_needless_escape("/%41")
    assert not patterns.has_needless_escape("/%2F%20")
    assert not patterns.has_needless_escape("/A")


def test_many_stars_are_matched_without_backtracking() -> None:
    assert not patterns.PathPattern("/" + "*a" * 2000 + "$").matches("/" + "a" * 1999 + "b" * 10_000)


def test_a_wildcard_knows_what_every_match_contains() -> None:
    wildcard = patterns.split("/a*long*/b$")
    assert (wildcard.shortest, wildcard.longest_literal) == (8, "long")
