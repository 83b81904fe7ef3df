"""A trained model: cut points and classifier, as one JSON file."""

import importlib.resources
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from windrow.config import ConfigError
from windrow.extract.lines_model import bayes, features, svm, tree
from windrow.extract.lines_model.source import FEATURES, Array, Flags

VERSION = 1
CLASSIFIERS: dict[str, Callable[[Array, Flags, Array], Any]] = {"svm": svm.fit, "bayes": bayes.fit, "tree": tree.fit}
_COLUMNS = len(FEATURES) * len(features.SCOPES)
_LARGEST = 1e6  # of any number: what is beyond it would overflow in single precision


class Model(msgspec.Struct, frozen=True):
    cuts: features.Cuts
    classifier: svm.Svm | bayes.Bayes | tree.Tree
    version: int = VERSION
    pages: int = 0  # that it was trained on

    def topical(self, scaled: Array) -> Flags:
        """Which of these normalised lines are main text, each by itself."""
        rows = features.discretised(scaled, self.cuts)
        match self.classifier:
            case svm.Svm() as machine:
                return svm.decide(machine, rows)
            case bayes.Bayes() as table:
                return bayes.decide(table, rows)
            case root:
                return tree.decide(root, rows)


def save(model: Model, path: Path) -> None:
    path.write_bytes(msgspec.json.encode(model) + b"\n")


def load(path: Path) -> Model:
    try:
        return read(path.read_bytes(), str(path))
    except OSError as error:
        raise ConfigError(
            f"cannot read the model {path}: {error.strerror}; 'windrow extract train --extractor lines' writes one"
        ) from None


def shipped() -> Model:
    file = importlib.resources.files("windrow.extract") / "models" / "lines.json"
    return read(file.read_bytes(), str(file))


def read(data: bytes, name: str) -> Model:
    """A model from the bytes of its file; of a broken one the message says what is wrong, and where in the file."""
    try:
        model = msgspec.json.decode(data, type=Model)
        _check(model)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        place = f"{name}, line {_line(data, str(error))}"
        raise ConfigError(
            f"{place}: no model of 'lines': {error}; 'windrow extract train --extractor lines' writes one"
        ) from None
    return model


def _line(data: bytes, error: str) -> int:
    """Where it went wrong: msgspec says at which byte, at the end, or by which names one gets there, as in "$.cuts.mean[0]"."""
    byte = re.search(r"\(byte (\d+)\)", error)
    offset = int(byte[1]) if byte else len(data) if "truncated" in error else 0
    for key in re.findall(r"\.([a-z]+)", error.partition("`$")[2]):
        offset = max(offset, data.find(f'"{key}"'.encode(), offset))
    return data.count(b"\n", 0, offset) + 1


def _check(model: Model) -> None:
    """What the types of the records do not say."""
    if model.version != VERSION:
        raise msgspec.ValidationError(
            f"it is of version {model.version}, this program reads {VERSION} - at `$.version`"
        )
    for field in ("minimum", "mean", "maximum"):
        _check_row(getattr(model.cuts, field), len(FEATURES), f"cuts.{field}", 1.0)
    match model.classifier:
        case svm.Svm(gamma=gamma, bias=bias, weights=weights, basis=basis):
            _check_row([gamma, bias], 2, "classifier.gamma" if abs(gamma) > _LARGEST else "classifier.bias")
            if gamma <= 0:
                raise msgspec.ValidationError("expected a number above 0 - at `$.classifier.gamma`")
            _check_row(weights, len(basis), "classifier.weights")
            for number, row in enumerate(basis):
                _check_row(row, _COLUMNS, f"classifier.basis[{number}]", 1.0)
        case bayes.Bayes(prior=prior, evidence=evidence):
            _check_row([prior], 1, "classifier.prior")
            if len(evidence) != len(FEATURES):
                raise msgspec.ValidationError(
                    f"expected {len(FEATURES)} rows, got {len(evidence)} - at `$.classifier.evidence`"
                )
            for number, row in enumerate(evidence):
                _check_row(row, len(features.SCOPES), f"classifier.evidence[{number}]")
        case tree.Tree(root=root):
            _check_node(root, "classifier.root")


def _check_row(row: Sequence[float], length: int, place: str, largest: float = _LARGEST) -> None:
    if len(row) != length:
        raise msgspec.ValidationError(f"expected {length} numbers, got {len(row)} - at `$.{place}`")
    if not all(abs(value) <= largest for value in row):
        raise msgspec.ValidationError(f"expected no number beyond {largest:g} - at `$.{place}`")


def _check_node(node: tree.Leaf | tree.Split, place: str) -> None:
    if isinstance(node, tree.Split):
        if not 0 <= node.column < _COLUMNS:
            raise msgspec.ValidationError(
                f"expected a column below {_COLUMNS}, got {node.column} - at `$.{place}.column`"
            )
        _check_node(node.below, f"{place}.below")
        _check_node(node.above, f"{place}.above")
