"""The process of a shard, as the machine sees it."""

import asyncio
import sys
from pathlib import Path

import msgspec
import pytest

from tests.redisserver import Server, needs_redis, serve
from windrow import config
from windrow.crawler.ending import Ending
from windrow.log import Tally
from windrow.nodes import directories
from windrow.nodes.process import child, shard
from windrow.nodes.process.shard import ShardAccess
from windrow.records import Counts
from windrow.shards.transport import Unavailable


def test_the_url_of_redis_is_not_among_the_arguments_that_every_user_sees(tmp_path: Path) -> None:
    async def main() -> tuple[bytes, bytes, int]:
        started = await child.start(tmp_path, "redis://:S3CRET@127.0.0.1:1", ["--run", "r"], notes.append)
        place = Path(f"/proc/{started.pid}")
        seen = (place / "cmdline").read_bytes(), (place / "environ").read_bytes()
        code, _ = await started.wait()
        return *seen, code

    notes: list[str] = []
    arguments, environment, code = asyncio.run(main())
    assert b"shard" in arguments and b"S3CRET" not in arguments
    assert b"WINDROW_REDIS=redis://:S3CRET@127.0.0.1:1" in environment
    assert code == child.REFUSED and "has no crawl.toml" in notes[0], "the directory is empty"


def test_a_line_of_any_length_does_not_end_the_wait_for_a_process() -> None:
    program = (
        "import sys\n"
        "print('windrow: first', file=sys.stderr)\n"
        "print('x' * 300_000, file=sys.stderr)\n"
        "print('last', end='', file=sys.stderr)\n"
        "sys.exit(7)"
    )

    async def main() -> int:
        pipe = asyncio.subprocess.PIPE
        started = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=pipe, stderr=pipe)
        code, _ = await child.ShardProcess(started, notes.append).wait()
        return code

    notes: list[str] = []
    assert asyncio.run(main()) == 7
    assert notes == ["first", "x" * child.LONGEST_LINE, "last"]


@pytest.mark.parametrize(
    ("program", "ends"),
    [
        ("print(shown)", True),
        ("print('a judge\\n{'); print({}); print(shown); print('}\\nof the user')", True),
        ("print('a judge of the user')", False),
        ("pass", False),
    ],
)
def test_the_ending_of_a_shard_is_found_among_what_code_of_the_user_prints(program: str, ends: bool) -> None:
    ending = Ending("done", 1.0, Tally(finished={"ok": 2}), Counts())
    shown = msgspec.json.format(msgspec.json.encode(ending)).decode()

    async def main() -> tuple[int, Ending | None]:
        pipe = asyncio.subprocess.PIPE
        words = [sys.executable, "-c", f"shown = {shown!r}\n{program}"]
        started = await asyncio.create_subprocess_exec(*words, stdout=pipe, stderr=pipe)
        return await child.ShardProcess(started, print).wait()

    assert asyncio.run(main()) == (0, ending if ends else None)


@needs_redis
def test_a_server_that_refuses_to_write_at_the_start_of_a_shard_gets_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text('[identity]\ncontact = "https://example.org/bot"\n')
    (tmp_path / "seeds.txt").write_text("http://a.example/\n")
    place = directories.prepare(tmp_path, config.load(tmp_path / "crawl.toml"), 1)[0]
    notes: list[str] = []

    async def main(url: str) -> int:
        started = await child.start(place, url, (), notes.append)
        code, _ = await started.wait()
        return code

    with serve("--maxmemory", "1") as server:
        code = asyncio.run(main(server.url))
    assert code not in (0, child.REFUSED), "the supervisor starts it again"
    assert len(notes) == 1 and "refuses to work: " in notes[0]


@needs_redis
def test_a_shard_waits_for_a_replica_that_becomes_the_master(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text('[identity]\ncontact = "https://example.org/bot"\n')
    (tmp_path / "seeds.txt").write_text("http://a.example/\n")
    place = directories.prepare(tmp_path, config.load(tmp_path / "crawl.toml"), 1)[0]

    async def enter(url: str, patience: float) -> None:
        options = config.load(place / "crawl.toml")
        async with shard.neighbours(place, options, ShardAccess(url, patience), lambda text: None):
            pass

    async def promote(server: Server) -> None:
        waiting = asyncio.create_task(enter(server.url, 60.0))
        await asyncio.sleep(0)
        server.command("REPLICAOF", "NO", "ONE")
        await waiting

    with serve("--replicaof", "127.0.0.1 1") as server:
        with pytest.raises(Unavailable, match="is a replica of"):  # not refused: another start may succeed
            asyncio.run(enter(server.url, 0.001))
        asyncio.run(promote(server))
    with pytest.raises(Unavailable, match="does not answer"):
        asyncio.run(enter(server.url, 0.001))
