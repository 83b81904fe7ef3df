"""The three classifiers: what they can tell, that they are deterministic, and that the machine is the one it claims to be."""

from types import ModuleType

import msgspec
import numpy as np
import pytest

from windrow.extract.lines_model import bayes, features, svm, tree
from windrow.extract.lines_model.features import Cuts

AT = Cuts((0.0,) * 6, (0.4,) * 6, (1.0,) * 6)
EACH = pytest.mark.parametrize("classifier", [svm, bayes, tree], ids=["svm", "bayes", "tree"])


def made(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Lines whose class hangs on text length and density together, with one in fifty wrong."""
    generator = np.random.default_rng(seed)
    scaled = np.full((count, 6), 0.4)
    scaled[:, [1, 3]] = generator.random((count, 2))
    topical = (scaled[:, 1] > AT.low[1]) & (scaled[:, 3] > AT.high[3])
    return features.discretised(scaled, AT), topical ^ (generator.random(count) < 0.02)


@EACH
def test_what_two_features_decide_is_learnt(classifier: ModuleType) -> None:
    model = classifier.fit(*made(2000))
    rows, topical = made(1000, seed=2)
    assert (classifier.decide(model, rows) == topical).mean() > 0.9


@EACH
def test_the_same_lines_give_the_same_model(classifier: ModuleType) -> None:
    assert msgspec.json.encode(classifier.fit(*made(500))) == msgspec.json.encode(classifier.fit(*made(500)))


@EACH
def test_no_line_is_no_answer(classifier: ModuleType) -> None:
    assert classifier.decide(classifier.fit(*made(100)), np.zeros((0, 18))).tolist() == []


@EACH
def test_two_lines_are_enough_to_begin_with(classifier: ModuleType) -> None:
    rows = features.discretised(np.array([[0.5, 0.9, 0.9, 0.9, 0, 0], [0.5, 0.1, 0.1, 0.1, 1, 0]]), AT)
    topical = np.array([True, False])
    answer = classifier.decide(classifier.fit(rows, topical), rows)
    assert answer.tolist() == [True, False] or classifier is tree  # a leaf of a tree has eight lines


def test_the_machine_decides_either_way_where_no_straight_line_would() -> None:
    """Exclusive or of two features."""
    generator = np.random.default_rng(3)
    scaled = np.full((1000, 6), 0.4)
    scaled[:, [1, 3]] = generator.random((1000, 2))
    topical = (scaled[:, 1] > AT.high[1]) ^ (scaled[:, 3] > AT.high[1])
    rows = features.discretised(scaled, AT)
    assert (svm.decide(svm.fit(rows, topical), rows) == topical).mean() > 0.98


def test_the_machine_answers_as_another_implementation_does() -> None:
    other = pytest.importorskip("sklearn.svm")
    rows, topical = made(1500)
    peer = other.SVC(C=svm.COST, gamma=svm.GAMMA).fit(rows, topical)
    tried, _ = made(1000, seed=2)
    assert (svm.decide(svm.fit(rows, topical), tried) == peer.predict(tried)).mean() > 0.98


def test_equal_lines_count_as_often_as_they_occur() -> None:
    """Nine of ten equal lines are topical: so are all of them."""
    rows = features.discretised(np.array([[0.5, 0.9, 0.9, 0.9, 0, 0]] * 10 + [[0.5, 0.1, 0.1, 0.1, 1, 0]] * 10), AT)
    topical = np.array([True] * 9 + [False] * 11)
    for classifier in (svm, bayes, tree):
        assert classifier.decide(classifier.fit(rows, topical), rows).tolist() == [True] * 10 + [False] * 10


@EACH
def test_a_line_that_weighs_more_counts_for_more(classifier: ModuleType) -> None:
    """Eleven lines say no and nine say yes, each of which weighs twice as much."""
    rows = features.discretised(np.array([[0.5, 0.9, 0.9, 0.9, 0, 0]] * 20), AT)
    topical = np.array([True] * 9 + [False] * 11)
    weights = np.where(topical, 2.0, 1.0)
    assert classifier.decide(classifier.fit(rows, topical), rows).tolist() == [False] * 20
    assert classifier.decide(classifier.fit(rows, topical, weights), rows).tolist() == [True] * 20


def test_what_few_lines_have_is_learnt_where_many_others_have_something_else() -> None:
    """One line in two thousand is long, with many links, and topical; the basis must not leave out its combination of scopes."""
    generator = np.random.default_rng(5)
    scaled = generator.random((12_000, 6)) * [1, 0.5, 0.5, 0.5, 0.2, 0.2]
    rare = np.array([0.1, 0.98, 0.98, 0.95, 0.98, 0.0])
    scaled[:6] = rare + generator.random((6, 6)) * 0.02
    topical = generator.random(12_000) < 0.1
    topical[:6] = True
    rows = features.discretised(scaled, AT)
    assert svm.decide(svm.fit(rows, topical), features.discretised(rare[None] + 0.01, AT)).tolist() == [True]


def test_many_lines_are_decided_as_few_are() -> None:
    machine = svm.fit(*made(500))
    rows, _ = made(9000, seed=2)
    assert (svm.decide(machine, rows)[8000:] == svm.decide(machine, rows[8000:])).all()


def test_a_split_that_tells_nothing_is_pruned() -> None:
    generator = np.random.default_rng(4)
    rows = features.discretised(generator.random((400, 6)), AT)
    assert isinstance(tree.fit(rows, np.ones(400, dtype=bool)).root, tree.Leaf)
    noisy = tree.fit(rows, generator.random(400) < 0.1)
    assert tree.decide(noisy, rows).mean() < 0.05
