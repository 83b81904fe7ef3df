"""A sender publishes in step while there is room, and continues from its log otherwise."""

import pytest

from windrow.records import Watermark
from windrow.shards.messages import Ack
from windrow.shards.outbound import INBOX, WINDOW, Outbound, Packet, window_of

OWN = 20


def ack(frame: int, asked: int = 0, of: int = OWN, by: int = 5) -> Ack:
    return Ack(by, Watermark(of, frame), asked)


def accepted(tail: int = 0, frame: int = 0) -> Outbound:
    outbound = Outbound(tail)
    outbound.acknowledged(ack(frame), OWN)
    return outbound


def publish(outbound: Outbound, frame: int, size: int = 10) -> int:
    assert outbound.append(frame)
    return outbound.publish(Packet(frame, b"x" * size))


@pytest.mark.parametrize("said", [None, ack(7, of=10), ack(0, of=0)])
def test_nothing_is_published_before_the_receiver_has_accepted_the_incarnation(said: Ack | None) -> None:
    outbound = Outbound(7)
    if said is not None:
        outbound.acknowledged(said, OWN)
    assert outbound.behind is None and not outbound.append(8)
    outbound.acknowledged(ack(7), OWN)
    assert outbound.behind == 7


def test_batches_form_a_chain() -> None:
    outbound = accepted(3, 3)
    assert [publish(outbound, frame) for frame in (5, 6, 9)] == [3, 5, 6]
    assert outbound.behind is None


def test_the_window_stops_publishing_and_an_acknowledgement_continues_from_the_log() -> None:
    outbound = accepted()
    publish(outbound, 1, WINDOW)
    assert outbound.room == 0 and not outbound.append(2) and outbound.behind is None
    assert not outbound.append(3), "later links must not overtake those that wait in the log"
    outbound.acknowledged(ack(1), OWN)
    assert outbound.behind == 1 and outbound.room == WINDOW
    assert not outbound.append(4)
    assert outbound.publish(Packet(4, b"234")) == 1
    assert outbound.behind is None and publish(outbound, 5) == 4


def test_an_ask_is_answered_once() -> None:
    outbound = accepted()
    publish(outbound, 1)
    publish(outbound, 2)
    outbound.acknowledged(ack(1, asked=1), OWN)
    assert outbound.behind == 1
    outbound.publish(Packet(2, b"x"))
    for _ in range(3):
        outbound.acknowledged(ack(1, asked=1), OWN)
        assert outbound.behind is None
    outbound.acknowledged(ack(1, asked=2), OWN)
    assert outbound.behind == 1


def test_the_first_ask_of_a_receiver_that_started_again_is_answered_although_its_number_is_lower() -> None:
    outbound = accepted()
    publish(outbound, 1)
    outbound.acknowledged(ack(0, asked=5, by=5), OWN)
    outbound.publish(Packet(1, b"x"))
    outbound.acknowledged(ack(0, asked=1, by=6), OWN)
    assert outbound.behind == 0


def test_an_empty_watermark_is_an_answer_to_nothing() -> None:
    """A prototype took the empty watermark of a receiver for an ask that was answered, and the crawl never ended."""
    outbound = Outbound(4)
    outbound.acknowledged(ack(0, asked=0), OWN)
    assert outbound.behind == 0


def test_a_receiver_that_went_back_gets_the_links_again() -> None:
    outbound = accepted()
    for frame in (1, 2, 3):
        publish(outbound, frame)
    outbound.acknowledged(ack(3), OWN)
    outbound.acknowledged(ack(0), OWN)
    assert outbound.behind == 0 and outbound.room == WINDOW


def test_after_a_loss_of_the_transport_only_what_was_not_acknowledged_is_sent_again() -> None:
    outbound = accepted()
    for frame in (1, 2, 3):
        publish(outbound, frame)
    outbound.acknowledged(ack(2), OWN)
    outbound.lost()
    assert outbound.behind == 2
    outbound.publish(Packet(3, b"x"))
    outbound.acknowledged(ack(3), OWN)
    outbound.lost()
    assert outbound.behind is None


def test_the_log_is_read_again_only_when_half_of_the_window_is_free() -> None:
    outbound = accepted()
    for frame in range(1, 5):
        publish(outbound, frame, WINDOW // 4)
    assert not outbound.append(5)
    outbound.acknowledged(ack(1), OWN)
    assert outbound.behind is None
    outbound.acknowledged(ack(2), OWN)
    assert outbound.behind == 4


@pytest.mark.parametrize("shards", [1, 2, 8, 9, 64, 1024, 4096])
def test_what_all_senders_leave_in_one_inbox_does_not_grow_with_their_number(shards: int) -> None:
    assert window_of(shards) <= WINDOW and window_of(shards) * (shards - 1) <= INBOX
    outbound = Outbound(0, window_of(shards))
    outbound.acknowledged(ack(0), OWN)
    publish(outbound, 1, window_of(shards))
    assert outbound.room == 0 and not outbound.append(2)
    outbound.acknowledged(ack(1), OWN)
    assert outbound.behind == 1 and outbound.room == window_of(shards)
