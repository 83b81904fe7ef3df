"""The copies of jobs in a data directory, whatever has happened to their files."""

from pathlib import Path

import pytest

from windrow import sharding
from windrow.config import ConfigError
from windrow.nodes import copies, directories, forward
from windrow.nodes.forward import Forwarded
from windrow.nodes.redis import job
from windrow.nodes.redis.registry import JobSpec
from windrow.nodes.redis.state import JobState

RECORD = job.make("news", 2, "digest", 1.0)
DAMAGED = [b"", b"{", b"null", b'{"wanted": "\xff"}']


def write(directory: Path) -> Path:
    return copies.write(directory, RECORD, JobSpec("", "http://a.example/\n"), JobState("run", 1)).directory


@pytest.mark.parametrize("damaged", DAMAGED)
@pytest.mark.parametrize("name", [copies.STATE, copies.ORDERS, directories.RECORD])
def test_a_damaged_file_of_a_job_is_named(name: str, damaged: bytes, tmp_path: Path) -> None:
    place = write(tmp_path)
    (place / name).write_bytes(damaged or b"\0")
    with pytest.raises(ConfigError, match=f"{place}.* cannot be read"):
        copies.read(tmp_path)


@pytest.mark.parametrize("damaged", DAMAGED)
def test_the_id_of_a_data_directory_that_is_damaged_is_named(damaged: bytes, tmp_path: Path) -> None:
    (tmp_path / copies.HOME).write_bytes(damaged.replace(b"wanted", b"home"))
    with pytest.raises(ConfigError, match=f"{copies.HOME} cannot be read"):
        copies.home(tmp_path)


@pytest.mark.parametrize("damaged", DAMAGED)
def test_the_record_of_a_shard_that_is_damaged_is_named(damaged: bytes, tmp_path: Path) -> None:
    (tmp_path / directories.RECORD).write_bytes(damaged.replace(b"wanted", b"job"))
    for read in (directories.read, sharding.identity):
        with pytest.raises(ConfigError, match=f"{directories.RECORD} cannot be read"):
            read(tmp_path)


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_shard_that_does_not_know_what_it_has_got_gets_everything_again(damaged: bytes, tmp_path: Path) -> None:
    (tmp_path / forward.FILE).write_bytes(damaged)
    assert forward.read(tmp_path) == Forwarded()


def test_the_directory_of_a_job_or_of_a_crawl_is_no_data_directory(tmp_path: Path) -> None:
    job_place = write(tmp_path)
    with pytest.raises(ConfigError, match=f"is the directory of a job; .*: --dir {tmp_path}$"):
        copies.home(job_place)
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    (crawl / "crawl.toml").touch()
    with pytest.raises(ConfigError, match="is the directory of a crawl; give another --dir"):
        copies.home(crawl)
    assert not list(tmp_path.rglob(copies.HOME))
