from collections.abc import Callable, Mapping, Sequence

from windrow.extraction.tags.reference import Record

UrlAttribute = tuple[int, str, list[int]]  # number of the attribute, its path, numbers of those that go with it

def compile(
    tags: Sequence[tuple[str, int, int, list[UrlAttribute]]],
    attributes: Sequence[str],
    entities: Mapping[str, str],
    functions: tuple[Callable[[str], list[Record]], Callable[[str], str]],
    limits: tuple[int, int, int],
    windows: str,
    /,
) -> object: ...
def read(
    source: bytes, rules: object, most: int, /
) -> tuple[str | None, str | None, list[Record], list[Record], list[Record], list[Record], bytes]: ...
