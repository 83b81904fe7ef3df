from collections.abc import Sequence

Classes = tuple[int, int, int, int, int, int]

def count(
    texts: Sequence[str], classes: bytes, looked: int, ends: str, least: int, /
) -> tuple[Classes, int, int, int, int, int]: ...
def octets(texts: Sequence[str], /) -> list[int]: ...
