from pathlib import Path

import pytest
from isal import igzip_lib

from tests import logs
from tests.corpus import samples
from windrow.config import ConfigError
from windrow.jobs.inputs import committed
from windrow.jobs.inputs.committed import Lengths
from windrow.records import Frame


def test_the_last_length_in_the_log_counts(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl", committed=False)
    shard = crawl / "corpus" / "ces" / "n0-00000.jsonl.gz"
    assert Lengths()(shard) is None
    first = Frame(1, 1.0, (), {"corpus/ces/n0-00000.jsonl.gz": 10, "corpus/deu/n0-00000.jsonl.gz": 20})
    logs.write(crawl / "log", first, Frame(2, 2.0, (), {"corpus/ces/n0-00000.jsonl.gz": 30}))
    length = Lengths()
    assert [length(crawl / "corpus" / code / "n0-00000.jsonl.gz") for code in ("ces", "deu", "eng")] == [30, 20, 0]


def test_a_file_that_is_not_a_shard_counts_whole(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl")
    for path in (crawl / "export.jsonl", tmp_path / "other.jsonl"):
        path.touch()
        assert Lengths()(path) is None


def test_a_log_with_a_gap_or_in_another_format_is_refused(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl", committed=False)
    logs.write(crawl / "log", Frame(1, 1.0, (), {}), Frame(3, 3.0, (), {}))
    with pytest.raises(ConfigError, match="frame 3 follows frame 1"):
        Lengths()(crawl / "corpus" / "ces" / "n0-00000.jsonl.gz")
    for text in (b'{"another": "kind"}\n', b'{"\xff": 1}\n', b""):
        (crawl / "log" / "00000.jsonl.gz").write_bytes(igzip_lib.compress(text, 1, igzip_lib.COMP_GZIP))
        with pytest.raises(ConfigError, match="a newer Windrow wrote it"):
            Lengths()(crawl / "corpus" / "ces" / "n0-00000.jsonl.gz")


def damaged(directory: Path, *frames: Frame) -> Path:
    """Write a log whose first frame is damaged."""
    positions = logs.write(directory, *frames)
    path = directory / "00000.jsonl.gz"
    data = bytearray(path.read_bytes())
    data[positions[0][1] - 8] ^= 0xFF  # in its checksum
    path.write_bytes(data)
    return path


def test_a_log_with_whole_frames_after_a_damaged_one_is_refused(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl", committed=False)
    damaged(crawl / "log", Frame(1, 1.0, (), {}), Frame(2, 2.0, (), {}))
    with pytest.raises(
        ConfigError,
        match=r"00000\.jsonl\.gz, byte 0: damaged, and whole frames follow; restore the file from a copy",
    ):
        Lengths()(crawl / "corpus" / "ces" / "n0-00000.jsonl.gz")
    with pytest.raises(ConfigError, match="damaged, and whole frames follow"):
        list(committed.frames(crawl / "log"))


def test_a_truncated_last_frame_does_not_exist(tmp_path: Path) -> None:
    positions = logs.write(tmp_path / "log", Frame(1, 1.0, (), {}), Frame(2, 2.0, (), {}))
    path = tmp_path / "log" / "00000.jsonl.gz"
    path.write_bytes(path.read_bytes()[: positions[1][1] - 3])
    assert [frame.number for frame in committed.frames(tmp_path / "log")] == [1]


def test_a_frame_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "00000.jsonl.gz").write_bytes(
        igzip_lib.compress(
            b'{"frame":1,"time":1.0,"lengths":{}}\n{"url":"http://a.example/","reason":"new","time":1.0}\n',
            1,
            igzip_lib.COMP_GZIP,
        )
    )
    with pytest.raises(
        ConfigError, match=r"cannot be read \(Invalid enum value 'new'.*\); it is damaged, or a newer Windrow wrote it"
    ):
        list(committed.frames(tmp_path))
