"""A file on a domain of another shard is requested by that shard, and its answer comes back once."""

import pytest

from tests.logs import url
from windrow import sharding
from windrow.frontier import Territory
from windrow.records import Capture, Failure, Kind, Reason, Task
from windrow.shards import errands
from windrow.shards.errands import ShardErrands
from windrow.shards.messages import Errand

COUNT = 2
OURS, THEIRS = (
    next(f"d{number}.org" for number in range(99) if sharding.shard_of(f"d{number}.org", COUNT) == shard)
    for shard in range(COUNT)
)


def file(path: str = "r") -> Task:
    return Task(url(path, f"www.{THEIRS}"), kind=Kind.FILE, via=f"http://www.{OURS}", file="robots")


def capture(task: Task, body: bytes = b"User-agent: *") -> Capture:
    return Capture(
        task=task,
        status=200,
        request=b"",
        head=b"HTTP/1.1 200 OK\r\n\r\n",
        body=body,
        time=1.0,
        seconds=0.1,
        ip="127.0.0.1",
        protocol="http/1.1",
    )


def pair() -> tuple[ShardErrands, Territory, ShardErrands]:
    """Return the shard that needs files, its territory, and the shard that has them."""
    needing = Territory(0, COUNT, keys=16)
    return ShardErrands(needing), needing, ShardErrands(Territory(1, COUNT, keys=16))


def test_an_answer_comes_back_and_is_forgotten_when_nobody_asks_any_more() -> None:
    asking, needing, serving = pair()
    needing.asked[file()] = None
    serving.heard({0: asking.asks()[1]})
    serving.heard({0: asking.asks()[1]})
    assert serving.begin() == [file()] and serving.begin() == [], "it is run once, however often it is asked"
    assert serving.tells() == {}
    serving.tell(capture(file()))
    (answer,) = asking.answered(serving.tells()[0])
    assert answer == capture(file())
    del needing.asked[file()]
    assert asking.answered(serving.tells()[0]) == [], "it is repeated until the other shard has heard that it arrived"
    serving.heard({0: asking.asks().get(1, ())})
    assert serving.tells() == {}


def test_a_failure_is_an_answer_too() -> None:
    asking, needing, serving = pair()
    needing.asked[file()] = None
    serving.heard({0: asking.asks()[1]})
    failure = Failure(serving.begin()[0], Reason.TIMEOUT, detail="", time=1.0)
    serving.tell(failure)
    assert asking.answered(serving.tells()[0]) == [failure]


def test_an_answer_of_an_earlier_time_is_not_taken_for_that_to_a_new_question() -> None:
    asking, needing, serving = pair()
    needing.asked[file()] = None
    serving.heard({0: asking.asks()[1]})
    serving.tell(capture(serving.begin()[0]))
    old = serving.tells()[0]
    del needing.asked[file()]
    asking.asks()
    needing.asked[file()] = None
    asking.asks()
    assert asking.answered(old) == []


def test_a_shard_that_starts_again_runs_what_is_still_asked() -> None:
    asking, needing, _ = pair()
    needing.asked[file()] = None
    again = ShardErrands(Territory(1, COUNT, keys=16))
    again.heard({0: asking.asks()[1]})
    assert again.begin() == [file()]


def test_a_file_that_is_not_here_is_not_requested() -> None:
    _, _, serving = pair()
    serving.heard({0: (Errand("x", Task(url("r", f"www.{OURS}"), kind=Kind.FILE, file="robots")),)})
    assert serving.begin() == []


def test_large_answers_are_said_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errands, "MOST_BYTES", 10)
    asking, needing, serving = pair()
    needing.asked.update({file("1"): None, file("2"): None})
    serving.heard({0: asking.asks()[1]})
    for task in serving.begin():
        serving.tell(capture(task, b"x" * 20))
    (first,) = asking.answered(serving.tells()[0])
    del needing.asked[first.task]
    serving.heard({0: asking.asks()[1]})
    (second,) = asking.answered(serving.tells()[0])
    assert {first.task, second.task} == {file("1"), file("2")}
