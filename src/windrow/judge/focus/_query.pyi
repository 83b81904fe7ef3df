from collections.abc import Sequence
from mmap import mmap

def score(
    texts: Sequence[str], data: bytes | mmap, plan: bytes, classes: bytes, least: int, /
) -> tuple[int, float, int, float, int, float, int, float]: ...
def sequences(texts: Sequence[str], classes: bytes, least: int, /) -> list[list[str]]: ...
