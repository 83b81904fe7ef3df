def structures(
    blocks: bytes,
    containers: bytes,
    kept: tuple[bytes, int],
    tags: tuple[bytes, tuple[str, ...]],
    limits: tuple[int, int],
    /,
) -> list[str]: ...
