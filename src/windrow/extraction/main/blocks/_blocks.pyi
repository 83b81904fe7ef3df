from collections.abc import Callable
from typing import TypeVar

from windrow.records import Mark

_Paragraph = TypeVar("_Paragraph")
ForestArrays = tuple[
    bytes, bytes, bytes, bytes, int, int, int
]  # features, thresholds, masks, values; questions, early, cut

def compile(
    forests: tuple[ForestArrays, ForestArrays, int, int],
    likely: tuple[bytes, int, int],
    tags: tuple[bytes, int, int, int],
    bits: bytes,
    marks: tuple[str, str, str],
    limits: tuple[int, int, int, int],
    comments: tuple[int, int, int],
    tables: tuple[int, int, int, int, int],
    choice: tuple[int, int, int, int],
    /,
) -> object: ...
def classify(texts: list[str], blocks: bytes, containers: bytes, model: object, /) -> tuple[bytes, bytes, int]: ...
def features(texts: list[str], blocks: bytes, containers: bytes, model: object, buckets: bytes, /) -> bytes: ...
def paragraphs(
    make: Callable[..., _Paragraph],
    texts: list[str],
    blocks: bytes,
    paths: list[str],
    kinds: tuple[str, str],
    first: tuple[bytes, int],
    second: tuple[bytes, int],
    forms: tuple[list[str], dict[int, str], dict[int, tuple[Mark, ...]]] = ...,
    /,
) -> tuple[_Paragraph, ...]: ...
