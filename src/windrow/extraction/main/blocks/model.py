"""The model of the extractor `blocks`: two forests of decision trees in one JSON file.

tools/train_blocks.py writes it.

A tree is a list of questions: is a feature above a threshold? Each question has a mask of the leaves that are out of
reach if the answer is yes: those of the branch that is not taken. A block reaches the first of the leaves that are
left. So all questions can be asked at once and in any order, and none waits for another. A forest is a set of
little-endian arrays, tree after tree; leaves are numbered from the left, and the last of 32 is never out of reach.
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
UNIT = 4096  # the unit of a leaf's value: 1/4096 of the log-odds
_FIX = "tools/train_blocks.py writes a model"


class Forest(msgspec.Struct, frozen=True):
    questions: int  # per tree
    early: int  # trees that decide alone about a block that is far from being text
    cut: int  # a block whose sum over the early trees is below this is far from being text
    features: bytes  # uint16 per question
    thresholds: bytes  # float32 per question
    masks: bytes  # uint32 per question: a bit for each leaf
    values: bytes  # int16 per leaf, added to the log-odds


class BlocksModel(msgspec.Struct, frozen=True):
    kind: str
    version: int
    trained_on: dict[str, int]  # data set -> pages
    features: tuple[str, ...]  # of the first stage, then those that the second stage adds
    skip: int  # blocks below this bucket of the first stage do not reach the second
    first: Forest
    second: Forest
    checksum: str = ""  # SHA-256 of the rest


def save(model: BlocksModel, path: Path) -> None:
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(model, checksum=_checksum(model))) + b"\n")


def load(path: Path, features: tuple[str, ...], more: tuple[str, ...]) -> BlocksModel:
    """Read a model for these features of the first stage, and these more of the second."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read the model {path}: {error.strerror}; {_FIX}") from None
    return read(data, str(path), (features, more))


def shipped(features: tuple[str, ...], more: tuple[str, ...]) -> BlocksModel:
    file = importlib.resources.files("windrow.extraction.main.blocks") / "model.json"
    return read(file.read_bytes(), str(file), (features, more))


def read(data: bytes, name: str, features: tuple[tuple[str, ...], tuple[str, ...]]) -> BlocksModel:
    """Decode a model file. The error for a broken one names the problem and the field."""
    try:
        model = msgspec.json.decode(data, type=BlocksModel)
        _check(model, features)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name} is not a model of 'blocks': {error}; {_FIX}") from None
    return model


def numbers(code: str, data: bytes) -> "array.array[int] | array.array[float]":
    """Return an array of the file in the byte order of this machine."""
    found = array.array(code, data)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _checksum(model: BlocksModel) -> str:
    return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(model, checksum=""))).hexdigest()


def _check(model: BlocksModel, features: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    if (model.kind, model.version) != (KIND, VERSION):
        raise _broken(
            f"it is '{model.kind}' of version {model.version}, but this program reads '{KIND}' of version {VERSION}",
            "version",
        )
    if model.checksum != _checksum(model):
        raise _broken("its checksum does not match: the file was changed or truncated", "checksum")
    if model.features != features[0] + features[1]:
        raise _broken("it was trained with other features than this version computes", "features")
    _check_forest(model.first, "first", len(features[0]))
    _check_forest(model.second, "second", len(model.features))


def _check_forest(forest: Forest, name: str, features: int) -> None:
    """Check that every question is about a feature that exists, and that every block reaches a leaf."""
    trees = len(forest.values) // (2 * LEAVES)
    asked = trees * max(forest.questions, 0)
    sizes = {"values": trees * 2 * LEAVES, "features": asked * 2, "thresholds": asked * 4, "masks": asked * 4}
    for field, size in sizes.items():
        if len(getattr(forest, field)) != size or not asked:
            raise _broken(f"expected {size} bytes, got {len(getattr(forest, field))}", f"{name}.{field}")
    if not 0 <= forest.early <= trees:
        raise _broken(f"expected at most {trees} trees, got {forest.early}", f"{name}.early")
    questions = zip(numbers("H", forest.features), numbers("I", forest.masks), strict=True)
    for number, (feature, mask) in enumerate(questions):
        if feature >= features:
            raise _broken(f"question {number} is about feature {feature:.0f} of {features}", f"{name}.features")
        if mask >= 1 << LEAVES - 1:
            raise _broken(f"question {number} puts every leaf out of reach", f"{name}.masks")


def _broken(problem: str, field: str) -> msgspec.ValidationError:
    return msgspec.ValidationError(f"{problem} - at `$.{field}`")
