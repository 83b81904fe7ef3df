"""The model file: it is read as it was written, and the error for a broken one names the line and the field."""

from pathlib import Path

import numpy as np
import pytest

from tests.late import Late
from windrow.config import ConfigError
from windrow.extraction.main.lines import bayes, features, model, svm, tree
from windrow.extraction.main.lines.features import Cuts
from windrow.extraction.main.lines.model import LinesModel

fit = Late("windrow.extraction.main.lines.fit")  # with scikit-learn
CUTS = Cuts((0.0,) * 6, (0.4,) * 6, (1.0,) * 6)


def lines() -> tuple[np.ndarray, np.ndarray]:
    scaled = np.random.default_rng(1).random((300, 6))
    return scaled, scaled[:, 1] > 0.5


@pytest.mark.parametrize("name", ["svm", "bayes", "tree"])
def test_a_model_is_read_as_it_was_written_and_decides_the_same(name: str, tmp_path: Path) -> None:
    scaled, topical = lines()
    trained = LinesModel(CUTS, fit.CLASSIFIERS[name](features.discretised(scaled, CUTS), topical, None), pages=3)
    model.save(trained, tmp_path / "model.json")
    again = model.load(tmp_path / "model.json")
    assert again == trained
    assert (again.topical(scaled) == trained.topical(scaled)).all()


def test_the_shipped_model_is_complete_and_small() -> None:
    shipped = model.shipped()
    assert isinstance(shipped.classifier, svm.Svm)
    assert shipped.pages > 1000
    assert (Path(model.__file__).parent / "model.json").stat().st_size < 50_000


GOOD = model.msgspec.json.encode(LinesModel(CUTS, bayes.Bayes(0.0, [[0.0] * 3] * 6)))
SVM = model.msgspec.json.encode(LinesModel(CUTS, svm.Svm(1.0, 0.0, [1.0, 2.0], [[0.0] * 18] * 2)))
TREE = model.msgspec.json.encode(
    LinesModel(CUTS, tree.DecisionTree(tree.Split(3, 0.5, tree.Leaf(True), tree.Leaf(False))))
)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", "truncated"),
        (GOOD[:-9], "truncated"),
        (b"[" * 100000, "not a model of 'lines'"),
        (b"\n\n" + GOOD.replace(b"0.4", b"x", 1), "line 3: "),
        (GOOD.replace(b",", b",\n").replace(b"0.4", b'"x"', 1), "line 7: "),
        (GOOD.replace(b"bayes", b"\xff"), "line 1: "),
        (GOOD.replace(b",", b",\n")[:-9], f"line {GOOD.count(b',') + 1}: "),
        (GOOD.replace(b"0.4", b"x", 1), "byte"),
        (GOOD.replace(b"0.4", b'"x"', 1), "$.cuts.mean[0]"),
        (GOOD.replace(b'"version":1', b'"version":2'), "$.version"),
        (GOOD.replace(b"[0.4,", b"[", 1), "$.cuts.mean"),
        (GOOD.replace(b'"bayes"', b'"oracle"'), "$.classifier"),
        (GOOD.replace(b"[0.0,0.0,0.0],", b"", 1), "$.classifier.evidence"),
        (GOOD.replace(b"[0.0,0.0,0.0],", b"[0.0,0.0],", 1), "$.classifier.evidence[0]"),
        (SVM.replace(b"[1.0,2.0]", b"[1.0]"), "$.classifier.weights"),
        (SVM.replace(b"[[0.0,", b"[["), "$.classifier.basis[0]"),
        (TREE.replace(b'"column":3', b'"column":18'), "$.classifier.root.column"),
        (SVM.replace(b'"gamma":1.0', b'"gamma":-1.0'), "$.classifier.gamma"),
        (SVM.replace(b'"gamma":1.0', b'"gamma":1e30'), "$.classifier.gamma"),
        (SVM.replace(b'"bias":0.0', b'"bias":1e300'), "$.classifier.bias"),
        (SVM.replace(b"[1.0,2.0]", b"[1.0,1e300]"), "$.classifier.weights"),
        (SVM.replace(b"[[0.0,", b"[[3.0,"), "$.classifier.basis[0]"),
        (GOOD.replace(b"0.4", b"4", 1), "$.cuts.mean"),
        (GOOD.replace(b'"prior":0.0', b'"prior":1e300'), "$.classifier.prior"),
    ],
)
def test_the_error_for_a_broken_model_names_the_place(data: bytes, place: str, tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_bytes(data)
    with pytest.raises(ConfigError) as error:
        model.load(file)
    assert str(file) in str(error.value)
    assert place in str(error.value)


def test_the_error_for_a_missing_model_names_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere.json.*windrow extract train"):
        model.load(tmp_path / "nowhere.json")
