"""Jobs share a server without touching each other, and one that does not fit is refused in one sentence."""

from typing import Any

import msgspec
import pytest

from tests.nodes.redis.calls import with_client as run
from tests.redisserver import Server, needs_redis
from windrow.config import ConfigError
from windrow.nodes.redis import job

RECORD = job.make("news", 4, "digest", 1.5)


@needs_redis
def test_a_job_is_written_once_and_read_as_it_was_written(server: Server) -> None:
    run(server, lambda client: job.put_back(client, RECORD))
    assert run(server, lambda client: job.read(client, "news")) == RECORD
    other = job.make("news", 8, "digest", 2.5)
    assert run(server, lambda client: job.put_back(client, other)) == RECORD
    assert run(server, lambda client: job.read(client, "news")) == RECORD


@needs_redis
def test_a_record_that_redis_lost_is_put_back(server: Server) -> None:
    assert run(server, lambda client: job.put_back(client, RECORD)) == RECORD
    assert run(server, job.names) == ["news"]


@needs_redis
def test_a_job_that_does_not_exist_is_named_with_those_that_do(server: Server) -> None:
    with pytest.raises(ConfigError, match=r"no job 'x' at .*; the jobs there are: none"):
        run(server, lambda client: job.read(client, "x"))
    run(server, lambda client: job.put_back(client, RECORD))
    with pytest.raises(ConfigError, match="the jobs there are: news"):
        run(server, lambda client: job.read(client, "x"))


@needs_redis
def test_a_record_of_another_program_is_refused(server: Server) -> None:
    server.command("SET", "windrow:{news}:job", "junk")
    with pytest.raises(ConfigError, match="cannot be read"):
        run(server, lambda client: job.read(client, "news"))


@needs_redis
def test_forgetting_a_job_leaves_all_others_alone(server: Server) -> None:
    for name in ("news", "new", "news2", "n.ws"):
        run(server, lambda client, name=name: job.put_back(client, job.make(name, 1, "", 1.0)))
        server.command("HSET", f"windrow:{{{name}}}:slots", "a", "b")
    assert run(server, lambda client: job.forget(client, "n.ws")) == 2
    assert run(server, lambda client: job.forget(client, "news")) == 2
    assert run(server, job.names) == ["new", "news2"]
    assert server.command("EXISTS", "windrow:{new}:slots", "windrow:{news2}:slots", "windrow:{news}:slots") == b":2\r\n"


@pytest.mark.parametrize("name", ["", "a b", "a{b}", "*", "-a", "ä", "x" * 65])
def test_a_name_that_could_be_mistaken_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is no name of a job"):
        job.make(name, 1, "", 1.0)


@pytest.mark.parametrize("shards", [0, -1, 5000])
def test_a_number_of_shards_that_cannot_be_is_refused(shards: int) -> None:
    with pytest.raises(ConfigError, match="1 to 4096"):
        job.make("news", shards, "", 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "other"}, "is another crawl than that of this directory"),
        ({"shards": 8}, "has 8 shards, this directory is of one with 4"),
        ({"options": "other"}, "has other options than this directory"),
        ({"format": 99, "windrow": "9.9"}, "speaks format 99, this Windrow 1; use Windrow 9.9"),
        ({"suffixes": "2020"}, "install publicsuffixlist==2020"),
    ],
)
def test_a_job_that_does_not_fit_is_refused_in_one_sentence(change: dict[str, Any], message: str) -> None:
    job.check(RECORD, RECORD, "localhost")
    with pytest.raises(ConfigError, match=message):
        job.check(msgspec.structs.replace(RECORD, **change), RECORD, "localhost")
