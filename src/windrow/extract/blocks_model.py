"""The model of the extractor `blocks`: two forests of decision trees in one JSON file, which tools/train_blocks.py writes.

A forest is kept in arrays, little-endian, with an entry for each node: the figure it asks for, the threshold, the node where it goes on if
the figure is not above it (the other one is next to that), and, of a leaf, what it adds. A leaf goes on at itself.
"""

import array
import hashlib
import importlib.resources
import sys
from pathlib import Path

import msgspec

from windrow.config import ConfigError

KIND = "windrow blocks"
VERSION = 1
UNIT = 4096  # what a leaf adds to the logarithm of odds is in parts of this
_HINT = "tools/train_blocks.py writes one"


class Forest(msgspec.Struct, frozen=True):
    depth: int  # steps from a root to any leaf
    early: int  # trees after which a block that is far from being text is let go
    cut: int  # and the sum below which it is
    roots: bytes  # uint16
    features: bytes  # uint16
    thresholds: bytes  # float32
    children: bytes  # uint16
    values: bytes  # int16


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
    except msgspec.MsgspecError as error:
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
        raise _broken(f"it is '{model.kind}' of version {model.version}, this program reads '{KIND}' of version {VERSION}", "version")
    if model.checksum != _checksum(model):
        raise _broken("its checksum is another: the file was changed or cut", "checksum")
    if model.features != features[0] + features[1]:
        raise _broken("it was trained with other figures than this program takes from a page", "features")
    _check_forest(model.first, "first", len(features[0]))
    _check_forest(model.second, "second", len(model.features))


def _check_forest(forest: Forest, name: str, features: int) -> None:
    """Every way through it ends, at a leaf, and asks for figures that there are."""
    count = len(forest.children) // 2
    sizes = {"features": 2, "thresholds": 4, "children": 2, "values": 2}
    for field, size in sizes.items():
        if len(getattr(forest, field)) != count * size:
            raise _broken(f"expected {count * size} bytes, got {len(getattr(forest, field))}", f"{name}.{field}")
    roots, children = numbers("H", forest.roots[: len(forest.roots) // 2 * 2]), numbers("H", forest.children)
    if not roots or max(roots) >= count:
        raise _broken("a tree begins outside of the nodes, or there is none", f"{name}.roots")
    if not 0 <= forest.early <= len(roots):
        raise _broken(f"there are {len(roots)} trees, not {forest.early}", f"{name}.early")
    for node, asked in enumerate(numbers("H", forest.features)):
        child = int(children[node])
        if asked >= features:
            raise _broken(f"node {node} asks for figure {asked} of {features}", f"{name}.features")
        if child != node and not node < child < count - 1:
            raise _broken(f"node {node} goes on at {child}, which is not after it in the file", f"{name}.children")
    if forest.depth != _depth([int(child) for child in children]):
        raise _broken(f"the longest way has not {forest.depth} steps", f"{name}.depth")


def _depth(children: list[int]) -> int:
    below = [0] * (len(children) + 1)
    for node in range(len(children) - 1, -1, -1):
        if children[node] != node:
            below[node] = 1 + max(below[children[node]], below[children[node] + 1])
    return max(below)


def _broken(problem: str, field: str) -> msgspec.ValidationError:
    return msgspec.ValidationError(f"{problem} - at `$.{field}`")
