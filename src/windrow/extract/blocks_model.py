"""The model of the extractor `blocks`: two forests of decision trees in one JSON file, which tools/train_blocks.py writes.

A tree is a list of questions, whether a figure is above a threshold, each with the leaves that are out of reach where it is: those of the
branch that is not taken. Of the leaves that are left, the first is the one that a block comes to. So all questions can be asked at once, in
any order, and none waits for another. A forest is kept in arrays, little-endian, tree after tree; leaves are numbered from the left, and
the last of 32 is never out of reach.
"""

import array
import hashlib
import importlib.resources
import sys
from pathlib import Path

import msgspec

from windrow.config import ConfigError

KIND = "windrow blocks"
VERSION = 2
LEAVES = 32  # of a tree, at most
UNIT = 4096  # what a leaf adds to the logarithm of odds is in parts of this
_HINT = "tools/train_blocks.py writes one"


class Forest(msgspec.Struct, frozen=True):
    questions: int  # of a tree
    early: int  # trees after which a block that is far from being text is let go
    cut: int  # and the sum below which it is
    features: bytes  # uint16, of each question
    thresholds: bytes  # float32, of each question
    masks: bytes  # uint32, of each question: a bit for each leaf
    values: bytes  # int16, what each leaf adds


class Model(msgspec.Struct, frozen=True):
    kind: str
    version: int
    trained_on: dict[str, int]  # data set -> pages
    features: tuple[str, ...]  # figures of the first stage, then those that the second has more
    skip: int  # bucket of the first stage below which the second is not asked
    first: Forest
    second: Forest
    checksum: str = ""  # SHA-256 of the rest


def save(model: Model, path: Path) -> None:
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(model, checksum=_checksum(model))) + b"\n")


def load(path: Path, features: tuple[str, ...], more: tuple[str, ...]) -> Model:
    """A model for these figures of the first stage, and these more of the second."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read the model {path}: {error.strerror}; {_HINT}") from None
    return read(data, str(path), (features, more))


def shipped(features: tuple[str, ...], more: tuple[str, ...]) -> Model:
    file = importlib.resources.files("windrow.extract") / "models" / "blocks.json"
    return read(file.read_bytes(), str(file), (features, more))


def read(data: bytes, name: str, features: tuple[tuple[str, ...], tuple[str, ...]]) -> Model:
    """A model from the bytes of its file; of a broken one the message says what is wrong, and where in the file."""
    try:
        model = msgspec.json.decode(data, type=Model)
        _check(model, features)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name} is no model of 'blocks': {error}; {_HINT}") from None
    return model


def numbers(code: str, data: bytes) -> "array.array[int] | array.array[float]":
    """An array of the file as numbers of this machine."""
    found = array.array(code, data)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _checksum(model: Model) -> str:
    return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(model, checksum=""))).hexdigest()


def _check(model: Model, features: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    if (model.kind, model.version) != (KIND, VERSION):
        raise _broken(
            f"it is '{model.kind}' of version {model.version}, this program reads '{KIND}' of version {VERSION}",
            "version",
        )
    if model.checksum != _checksum(model):
        raise _broken("its checksum is another: the file was changed or cut", "checksum")
    if model.features != features[0] + features[1]:
        raise _broken("it was trained with other figures than this program takes from a page", "features")
    _check_forest(model.first, "first", len(features[0]))
    _check_forest(model.second, "second", len(model.features))


def _check_forest(forest: Forest, name: str, features: int) -> None:
    """It asks for figures that there are, and every way ends at a leaf."""
    trees = len(forest.values) // (2 * LEAVES)
    asked = trees * max(forest.questions, 0)
    sizes = {"values": trees * 2 * LEAVES, "features": asked * 2, "thresholds": asked * 4, "masks": asked * 4}
    for field, size in sizes.items():
        if len(getattr(forest, field)) != size or not asked:
            raise _broken(f"expected {size} bytes, got {len(getattr(forest, field))}", f"{name}.{field}")
    if not 0 <= forest.early <= trees:
        raise _broken(f"there are {trees} trees, not {forest.early}", f"{name}.early")
    for number, (figure, mask) in enumerate(
        zip(numbers("H", forest.features), numbers("I", forest.masks), strict=True)
    ):
        if figure >= features:
            raise _broken(f"question {number} is for figure {figure:.0f} of {features}", f"{name}.features")
        if mask >= 1 << LEAVES - 1:
            raise _broken(f"question {number} leaves no leaf in reach", f"{name}.masks")


def _broken(problem: str, field: str) -> msgspec.ValidationError:
    return msgspec.ValidationError(f"{problem} - at `$.{field}`")
