from collections.abc import Buffer, Sequence

def score(
    texts: Sequence[str], data: Buffer, plan: bytes, classes: bytes, least: int, /
) -> tuple[int, float, int, float, int, float, int, float]: ...
