"""The process of a shard, as the machine sees it."""

import asyncio
from pathlib import Path

from windrow.cluster import process


def test_the_url_of_redis_is_not_among_the_arguments_that_every_user_sees(tmp_path: Path) -> None:
    async def main() -> tuple[bytes, bytes, int]:
        started = await process.start(tmp_path, "redis://:S3CRET@127.0.0.1:1", ["--run", "r"], notes.append)
        place = Path(f"/proc/{started.pid}")
        seen = (place / "cmdline").read_bytes(), (place / "environ").read_bytes()
        code, _ = await started.wait()
        return *seen, code

    notes: list[str] = []
    arguments, environment, code = asyncio.run(main())
    assert b"shard" in arguments and b"S3CRET" not in arguments
    assert b"WINDROW_REDIS=redis://:S3CRET@127.0.0.1:1" in environment
    assert code == process.REFUSED and "has no crawl.toml" in notes[0], "the directory is empty"
