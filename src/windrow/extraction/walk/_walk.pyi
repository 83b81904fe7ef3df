from windrow.extraction.walk.reference import Columns

def compile(
    tags: list[tuple[str, int, int, int, int, int, int]],
    stock: bool,
    limits: tuple[int, int, int],
    bits: tuple[int, int, int],
    marks: tuple[str, str],
    automaton: tuple[bytes, bytes, bytes],
    /,
) -> object: ...
def scan(markup: str, rules: object, comments: bool, marks: bool = False, /) -> Columns | None: ...
