"""A trained model: cut points and classifier, as one JSON file."""

import importlib.resources
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.extraction.main.lines import bayes, features, svm, tree
from windrow.extraction.main.lines.source import FEATURES, Array, Flags

VERSION = 1
_COLUMNS = len(FEATURES) * len(features.SCOPES)
_LARGEST = 1e6  # of any number: a larger one could overflow in single precision


class LinesModel(msgspec.Struct, frozen=True):
    cuts: features.Cuts
    classifier: svm.Svm | bayes.Bayes | tree.DecisionTree
    version: int = VERSION
    pages: int = 0  # of the training

    def topical(self, scaled: Array) -> Flags:
        """Return which of these normalised lines are main text, each decided alone."""
        rows = features.discretised(scaled, self.cuts)
        match self.classifier:
            case svm.Svm() as machine:
                return svm.decide(machine, rows)
            case bayes.Bayes() as table:
                return bayes.decide(table, rows)
            case root:
                return tree.decide(root, rows)


def save(model: LinesModel, path: Path) -> None:
    path.write_bytes(msgspec.json.encode(model) + b"\n")


def load(path: Path) -> LinesModel:
    try:
        return read(path.read_bytes(), str(path))
    except OSError as error:
        raise ConfigError(
            f"cannot read the model {path}: {error.strerror}; 'windrow extract train --extractor lines' makes one"
        ) from None


def shipped() -> LinesModel:
    file = importlib.resources.files("windrow.extraction.main.lines") / "model.json"
    return read(file.read_bytes(), str(file))


def read(data: bytes, name: str) -> LinesModel:
    """Decode a model file. The error for a broken one names the problem and the line."""
    try:
        model = msgspec.json.decode(data, type=LinesModel)
        _check(model)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        place = f"{name}, line {_line(data, str(error))}"
        raise ConfigError(
            f"{place}: not a model of 'lines': {error}; 'windrow extract train --extractor lines' makes one"
        ) from None
    return model


def _line(data: bytes, error: str) -> int:
    """Return the line of an error: msgspec names the byte, or the end, or the field, as in "$.cuts.mean[0]"."""
    byte = re.search(r"\(byte (\d+)\)", error)
    offset = int(byte[1]) if byte else len(data) if "truncated" in error else 0
    for key in re.findall(r"\.([a-z]+)", error.partition("`$")[2]):
        offset = max(offset, data.find(f'"{key}"'.encode(), offset))
    return data.count(b"\n", 0, offset) + 1


def _check(model: LinesModel) -> None:
    """Check what the types of the records do not express."""
    if model.version != VERSION:
        raise msgspec.ValidationError(
            f"it has version {model.version}, but this program reads {VERSION} - at `$.version`"
        )
    for field in ("minimum", "mean", "maximum"):
        _check_row(getattr(model.cuts, field), len(FEATURES), f"cuts.{field}", 1.0)
    match model.classifier:
        case svm.Svm() as machine:
            _check_svm(machine)
        case bayes.Bayes() as table:
            _check_bayes(table)
        case tree.DecisionTree(root=root):
            _check_node(root, "classifier.root")


def _check_svm(machine: svm.Svm) -> None:
    _check_row([machine.gamma], 1, "classifier.gamma")
    _check_row([machine.bias], 1, "classifier.bias")
    if machine.gamma <= 0:
        raise msgspec.ValidationError("expected a number above 0 - at `$.classifier.gamma`")
    _check_row(machine.weights, len(machine.basis), "classifier.weights")
    for number, row in enumerate(machine.basis):
        _check_row(row, _COLUMNS, f"classifier.basis[{number}]", 1.0)


def _check_bayes(table: bayes.Bayes) -> None:
    _check_row([table.prior], 1, "classifier.prior")
    if len(table.evidence) != len(FEATURES):
        problem = f"expected {len(FEATURES)} rows, got {len(table.evidence)}"
        raise msgspec.ValidationError(f"{problem} - at `$.classifier.evidence`")
    for number, row in enumerate(table.evidence):
        _check_row(row, len(features.SCOPES), f"classifier.evidence[{number}]")


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
