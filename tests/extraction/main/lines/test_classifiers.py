"""The three classifiers: what they learn, that they are deterministic, and that the SVM decides as another one."""

import sys
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.late import Late
from windrow.config import ConfigError
from windrow.extraction.main.lines import bayes, features, svm, training, tree
from windrow.extraction.main.lines.features import Cuts

fit = Late("windrow.extraction.main.lines.fit")  # with scikit-learn
AT = Cuts((0.0,) * 6, (0.4,) * 6, (1.0,) * 6)
LOW, HIGH = 0.2, 0.7  # the cut points lie halfway between minimum, mean and maximum
EACH = pytest.mark.parametrize("classifier", ["svm", "bayes", "tree"])
DECIDE = {"svm": svm.decide, "bayes": bayes.decide, "tree": tree.decide}


def decide(
    classifier: str, rows: np.ndarray, topical: np.ndarray, tried: np.ndarray, weights: Any = None
) -> np.ndarray:
    return DECIDE[classifier](fit.CLASSIFIERS[classifier](rows, topical, weights), tried)


def made(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return lines whose class depends on text length and density together, with one in fifty wrong."""
    generator = np.random.default_rng(seed)
    scaled = np.full((count, 6), 0.4)
    scaled[:, [1, 3]] = generator.random((count, 2))
    topical = (scaled[:, 1] > LOW) & (scaled[:, 3] > HIGH)
    return features.discretised(scaled, AT), topical ^ (generator.random(count) < 0.02)


@EACH
def test_a_class_that_depends_on_two_features_is_learned(classifier: str) -> None:
    rows, topical = made(1000, seed=2)
    assert (decide(classifier, *made(2000), rows) == topical).mean() > 0.9


@EACH
def test_the_same_lines_give_the_same_model(classifier: str) -> None:
    first, second = (fit.CLASSIFIERS[classifier](*made(500), None) for _ in range(2))
    assert msgspec.json.encode(first) == msgspec.json.encode(second)


@EACH
def test_no_lines_give_no_decisions(classifier: str) -> None:
    assert decide(classifier, *made(100), np.zeros((0, 18))).tolist() == []


@EACH
def test_two_lines_are_enough_for_training(classifier: str) -> None:
    rows = features.discretised(np.array([[0.5, 0.9, 0.9, 0.9, 0, 0], [0.5, 0.1, 0.1, 0.1, 1, 0]]), AT)
    topical = np.array([True, False])
    decided = decide(classifier, rows, topical, rows)
    assert decided.tolist() == [True, False] or classifier == "tree"  # a leaf of a tree has eight lines


def test_the_machine_learns_what_is_not_linear() -> None:
    """Exclusive or of two features."""
    generator = np.random.default_rng(3)
    scaled = np.full((1000, 6), 0.4)
    scaled[:, [1, 3]] = generator.random((1000, 2))
    topical = (scaled[:, 1] > HIGH) ^ (scaled[:, 3] > HIGH)
    rows = features.discretised(scaled, AT)
    assert (svm.decide(fit.svm(rows, topical), rows) == topical).mean() > 0.98


def test_the_machine_decides_as_one_with_all_lines_in_its_basis() -> None:
    other = pytest.importorskip("sklearn.svm")
    rows, topical = made(1500)
    peer = other.SVC(C=fit.COST, gamma=fit.GAMMA).fit(rows, topical)
    tried, _ = made(1000, seed=2)
    assert (svm.decide(fit.svm(rows, topical), tried) == peer.predict(tried)).mean() > 0.98


def test_equal_lines_count_as_often_as_they_occur() -> None:
    """Nine of ten equal lines are topical: all ten are decided so."""
    rows = features.discretised(np.array([[0.5, 0.9, 0.9, 0.9, 0, 0]] * 10 + [[0.5, 0.1, 0.1, 0.1, 1, 0]] * 10), AT)
    topical = np.array([True] * 9 + [False] * 11)
    for classifier in DECIDE:
        assert decide(classifier, rows, topical, rows).tolist() == [True] * 10 + [False] * 10


@EACH
def test_a_line_with_more_weight_counts_for_more(classifier: str) -> None:
    """Of equal lines eleven are not topical; nine are, and each of those has twice the weight."""
    rows = features.discretised(np.array([[0.5, 0.9, 0.9, 0.9, 0, 0]] * 20), AT)
    topical = np.array([True] * 9 + [False] * 11)
    weights = np.where(topical, 2.0, 1.0)
    assert decide(classifier, rows, topical, rows).tolist() == [False] * 20
    assert decide(classifier, rows, topical, rows, weights).tolist() == [True] * 20


def test_a_rare_combination_of_scopes_is_learned() -> None:
    """One line in two thousand is long, with many links, and topical; the basis must hold its combination of scopes."""
    generator = np.random.default_rng(5)
    scaled = generator.random((12_000, 6)) * [1, 0.5, 0.5, 0.5, 0.2, 0.2]
    rare = np.array([0.1, 0.98, 0.98, 0.95, 0.98, 0.0])
    scaled[:6] = rare + generator.random((6, 6)) * 0.02
    topical = generator.random(12_000) < 0.1
    topical[:6] = True
    rows = features.discretised(scaled, AT)
    assert svm.decide(fit.svm(rows, topical), features.discretised(rare[None] + 0.01, AT)).tolist() == [True]


def test_many_lines_are_decided_as_few_lines_are() -> None:
    machine = fit.svm(*made(500))
    rows, _ = made(9000, seed=2)
    assert (svm.decide(machine, rows)[8000:] == svm.decide(machine, rows[8000:])).all()


def test_a_split_without_gain_is_pruned() -> None:
    generator = np.random.default_rng(4)
    rows = features.discretised(generator.random((400, 6)), AT)
    assert isinstance(fit.tree(rows, np.ones(400, dtype=bool)).root, tree.Leaf)
    noisy = fit.tree(rows, generator.random(400) < 0.1)
    assert tree.decide(noisy, rows).mean() < 0.05


def test_training_without_scikit_learn_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    monkeypatch.delitem(sys.modules, "windrow.extraction.main.lines.fit", raising=False)
    monkeypatch.delattr("windrow.extraction.main.lines.fit", raising=False)
    with pytest.raises(
        ConfigError, match=r"training needs scikit-learn; install it with: pip install 'windrow-corpus\[train\]'"
    ):
        training.check("svm")
