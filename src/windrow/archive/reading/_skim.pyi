import mmap

def find(
    packed: mmap.mmap | bytes, at: int, stop: int, wanted: tuple[tuple[bytes, tuple[bytes, ...]], ...], /
) -> tuple[int, int, bytes, int, int] | int: ...
def describe(
    data: bytes, start: int, /
) -> tuple[str, str, str, str, str, str, str, str, str, int, str, str | None] | None: ...
