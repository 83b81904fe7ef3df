"""The kernel computes the same features, sums and steps as the reference, and keeps different links apart."""

import functools
import math
import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.frontier.policy import features

kernel = pytest.importorskip("windrow.frontier.policy._features", reason="the kernel is not built")

PARTS = st.text(st.sampled_from("abcDE019._-~%é文"), max_size=9)
PATHS = st.lists(PARTS, max_size=9).map("/".join)
QUERIES = st.lists(st.tuples(PARTS, PARTS).map("=".join) | PARTS, max_size=6).map("&".join)
TEXTS = st.builds(
    lambda path, query, mark: f"http://Example.org/{path}{'?' if mark else ''}{query}", PATHS, QUERIES, st.booleans()
)


@functools.cache
def sines() -> array:  # type: ignore[type-arg]
    return array("f", map(math.sin, range(features.MODELS * features.SIZE)))


@given(TEXTS, st.binary(max_size=200))
def test_the_kernel_finds_the_features_of_the_reference(text: str, hints: bytes) -> None:
    assert kernel.of_page(text, "example.org", hints) == features._of_page(text, "example.org", hints)


@given(TEXTS, st.binary(max_size=200))
def test_the_kernel_expects_of_a_link_what_the_reference_does(text: str, hints: bytes) -> None:
    link = sines(), features.of_host("example.org", "example.org"), text, "example.org", hints, (-1.0, 2.0, 0.5)
    assert kernel.expect(*link) == features._expect(*link)


@given(st.binary(min_size=0, max_size=400), st.floats(-1, 1))
def test_the_kernel_adds_and_steps_like_the_reference(noise: bytes, error: float) -> None:
    found = features._packed(noise)
    rng = random.Random(len(noise))
    used, unused = features.MODELS * 256, array("f", bytes(4 * features.MODELS * (features.SIZE - 256)))
    tables = [array("f", [rng.uniform(least, 1) for _ in range(used)]) + unused for least in (-1, 0)]
    assert kernel.totals(tables[0], found) == features._totals(tables[0], found)
    copies = [array("f", table) for table in tables]
    model = len(noise) % features.MODELS
    kernel.step(*tables, found, model, error, 0.1, 0.05)
    features._step(*copies, found, model, error, 0.1, 0.05)
    assert [table.tobytes() for table in tables] == [copy.tobytes() for copy in copies]


def test_a_saved_table_has_the_features_that_were_used_and_comes_back() -> None:
    weights, squares = features.load(b"")
    for feature in (0, 5, features.SIZE - 1):
        kernel.step(weights, squares, array("I", [feature]).tobytes(), feature % features.MODELS, 0.5, 0.1, 0.05)
    saved = kernel.save(weights, squares)
    assert len(saved) == 3 * 36
    assert features._save(weights, squares) == saved
    assert features.load(saved) == (weights, squares)
    with pytest.raises(ValueError, match="no saved table"):
        features.load(saved[:-1])


def test_features_outside_of_the_table_are_refused() -> None:
    table, small, one = sines()[:], array("f", [0.0]), array("I", [1]).tobytes()
    with pytest.raises(ValueError, match="do not belong"):
        kernel.totals(table, array("I", [features.SIZE]).tobytes())
    with pytest.raises(ValueError, match="no table"):
        kernel.step(table, small, one, 0, 0.5, 0.1, 0.05)
    with pytest.raises(ValueError, match="no such model"):
        kernel.step(table, table, one, features.MODELS, 0.5, 0.1, 0.05)
    with pytest.raises(ValueError, match="no table"):
        kernel.expect(small, one, "http://example.org/", "example.org", b"", (0.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="do not belong"):
        kernel.expect(table, b"123", "http://example.org/", "example.org", b"", (0.0, 1.0, 1.0))


def test_links_of_two_hosts_share_the_features_of_their_paths() -> None:
    one = set(memoryview(features.of_page("http://a.org/de/seite.html", "a.org", b"")).cast("I"))
    other = set(memoryview(features.of_page("http://b.org/de/seite.html", "b.org", b"")).cast("I"))
    assert len(one & other) >= 3
    assert one - other
