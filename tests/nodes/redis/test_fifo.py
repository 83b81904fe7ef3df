"""A queue that processes share: first in, first out, each request to one of them, finished once."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.redisserver import Server, needs_redis, serve
from windrow.config import ConfigError
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.fifo import FifoAnswer, FifoQueue, FifoRound, FinishedRequest, NewRequest
from windrow.nodes.redis.keys import Keys

pytestmark = needs_redis


class Processes:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.runner = asyncio.Runner()
        self.queues: list[FifoQueue] = []

    def __call__(self, job: str = "test", seconds: float = 60.0) -> FifoQueue:
        self.queues.append(FifoQueue(RedisClient(self.server.url), job, seconds))
        return self.queues[-1]

    def round(self, queue: FifoQueue, said: FifoRound | None = None) -> FifoAnswer:
        return self.runner.run(queue.round(said or FifoRound()))

    def push(self, queue: FifoQueue, *names: str) -> FifoAnswer:
        return self.round(queue, FifoRound(new=tuple(new(name) for name in names)))

    def take(self, queue: FifoQueue, count: int = 1) -> list[tuple[int, bytes]]:
        return list(self.round(queue, FifoRound(wanted=count)).granted)

    def counts(self, job: str = "test") -> dict[str, int]:
        """Return what became of requests: admitted, known, finished, late, returned."""
        words = self.server.command("HGETALL", Keys(job)["counts"]).split(b"\r\n")[2:-1:2]
        return {name.decode(): int(count) for name, count in zip(words[::2], words[1::2], strict=True)}

    def expire(self, job: str = "test") -> None:
        """Let all leases be over, without waiting for it."""
        self.server.command("EVAL", EXPIRE, "1", f"windrow:{{{job}}}:request-leases")


EXPIRE = "for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 0, id) end"


def new(name: str) -> NewRequest:
    return NewRequest(name.encode(), b"request " + name.encode())


@pytest.fixture
def process() -> Iterator[Processes]:
    with serve() as server:
        processes = Processes(server)
        yield processes
        for queue in processes.queues:
            processes.runner.run(queue.close())
        processes.runner.close()


def test_the_first_request_in_is_the_first_out(process: Processes) -> None:
    one, two = process(), process()
    process.push(one, "a", "b", "c")
    process.push(two, "d")
    found = [process.take(queue)[0][1] for queue in (two, one, two, one)]
    assert found == [b"request a", b"request b", b"request c", b"request d"]


def test_a_request_that_is_known_is_not_admitted_again(process: Processes) -> None:
    one, two = process(), process()
    assert process.push(one, "a", "b").admitted == (True, True)
    assert process.push(two, "b", "c", "c").admitted == (False, True, False)
    assert process.round(two, FifoRound(new=(NewRequest(b"", b"always"), NewRequest(b"", b"always")))).waiting == 5


def test_jobs_do_not_mix(process: Processes) -> None:
    one, two = process("one"), process("two")
    process.push(one, "a")
    assert process.push(two, "a").admitted == (True,)
    process.take(one)
    assert process.round(two).waiting == 1


def test_the_links_of_a_request_are_there_when_it_is_finished_and_the_end_is_exact(process: Processes) -> None:
    one, two = process(), process()
    process.push(one, "a")
    [(number, _)] = process.take(one)
    assert not process.round(two).empty, "another process still works on it"
    done = FifoRound(finished=(FinishedRequest(number, (new("a"), new("b"))),))
    answer = process.round(one, done)
    assert (answer.waiting, answer.held, answer.empty) == (1, 0, False)
    [(number, data)] = process.take(two)
    assert data == b"request b"
    assert process.round(two, FifoRound(finished=(FinishedRequest(number),))).empty
    assert process.round(one).empty
    counts = process.counts()
    assert (counts["admitted"], counts["known"], counts["finished"]) == (2, 1, 2)


def test_the_requests_of_a_dead_process_come_back_first(process: Processes) -> None:
    dead, alive = process(), process()
    process.push(dead, "a", "b", "c")
    process.take(dead)
    assert [data for _, data in process.take(alive)] == [b"request b"]
    process.expire()
    assert {data for _, data in process.take(alive, 2)} >= {b"request a"}


def test_a_process_that_renews_keeps_its_requests(process: Processes) -> None:
    one, two = process(), process()
    process.push(one, "a", "b")
    [(kept, _)] = process.take(one)
    [(lost, _)] = process.take(two)
    process.expire()
    assert process.round(one, FifoRound(held=(kept,))).lost == ()
    answer = process.round(one, FifoRound(wanted=5))
    assert [number for number, _ in answer.granted] == [lost]
    assert process.round(two, FifoRound(held=(lost,))).lost == (lost,)


def test_a_late_answer_counts_once_and_its_links_are_not_admitted(process: Processes) -> None:
    zombie, other = process(), process()
    process.push(zombie, "a")
    [(number, _)] = process.take(zombie)
    process.expire()
    assert [taken for taken, _ in process.take(other)] == [number]
    late = FinishedRequest(number, (NewRequest(b"", b"always"), new("x")))
    assert process.round(zombie, FifoRound(finished=(late,))).waiting == 0
    answer = process.round(other, FifoRound(finished=(late,)))
    assert answer.waiting == 2
    counts = process.counts()
    assert (counts["finished"], counts["late"]) == (1, 1)
    again = process.round(other, FifoRound(finished=(late,)))  # a call that is repeated because its answer was lost
    assert again.waiting == 2


def test_requests_that_are_given_back_are_the_next(process: Processes) -> None:
    one = process()
    process.push(one, "a", "b", "c")
    numbers = [number for number, _ in process.take(one, 2)]
    process.round(one, FifoRound(given_back=tuple(reversed(numbers))))
    assert [data for _, data in process.take(one, 3)] == [b"request a", b"request b", b"request c"]


def test_urls_wait_in_a_queue_of_their_own_until_they_are_requests(process: Processes) -> None:
    one = process()
    for url in ("http://a/", "http://b/", "http://a/"):
        process.server.command("RPUSH", "windrow:{test}:urls", url)
    answer = process.round(one, FifoRound(urls=2))
    assert (answer.urls, answer.urls_waiting, answer.empty) == ((b"http://a/", b"http://b/"), 3, False)
    answer = process.round(one, FifoRound(urls=2, new=(new("a"), new("b")), taken=answer.urls))
    assert (answer.urls, answer.waiting) == ((b"http://a/",), 2)


@pytest.mark.parametrize("job", ["", "a b", "{a}"])
def test_a_job_needs_a_name(process: Processes, job: str) -> None:
    with pytest.raises(ConfigError, match="no name of a job"):
        process(job)
