"""The end of a crawl is seen exactly when nothing can happen any more."""

import msgspec
import pytest

from windrow.records import Watermark
from windrow.shards import end
from windrow.shards.messages import Ack, Hello, Standing
from windrow.shards.transport import Survey

COUNT = 3


def survey(tail: int = 4) -> Survey:
    """Return what three shards say that have nothing left to do."""
    pairs = [(sender, receiver) for sender in range(COUNT) for receiver in range(COUNT) if sender != receiver]
    return Survey(
        {shard: Standing(10 + shard, frame=9, idle=True) for shard in range(COUNT)},
        {(sender, receiver): Hello(10 + sender, tail, (Watermark(10 + sender, 1),)) for sender, receiver in pairs},
        {(sender, receiver): Ack(10 + receiver, Watermark(10 + sender, tail)) for sender, receiver in pairs},
    )


@pytest.mark.parametrize("tail", [0, 4])
def test_the_end_is_reached_when_all_are_idle_and_have_everything(tail: int) -> None:
    assert end.reached(survey(tail), COUNT)


def test_the_end_names_the_incarnations_of_all_shards() -> None:
    assert end.incarnations(survey(), COUNT) == (10, 11, 12)


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        ("standings", 1, Standing(11, frame=9)),  # at work
        ("standings", 1, None),  # never heard of, or forgotten by the transport
        ("standings", 1, Standing(15, frame=9, idle=True)),  # a new process, which has not said hello to all
        ("hellos", (1, 2), Hello(11, 5, (Watermark(11, 1),))),  # has sent more
        ("hellos", (1, 2), None),
        ("acks", (1, 2), Ack(12, Watermark(11, 3))),  # has less
        ("acks", (1, 2), Ack(12, Watermark(9, 4))),  # has as much, but of an earlier incarnation
        ("acks", (1, 2), Ack(9, Watermark(11, 4))),  # said by an earlier process of the receiver
        ("acks", (1, 2), None),
    ],
)
def test_one_shard_that_says_otherwise_is_enough(where: str, key: object, value: object) -> None:
    said = survey()
    values = {**getattr(said, where)}
    values.pop(key)
    if value is not None:
        values[key] = value
    assert not end.reached(msgspec.structs.replace(said, **{where: values}), COUNT)


def test_all_shards_of_the_job_count_and_not_only_those_that_are_there() -> None:
    assert not end.reached(survey(), COUNT + 1)
    assert not end.all_idle({}, COUNT)
