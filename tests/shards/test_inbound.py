"""A receiver takes every link once, says only what is durable, and asks for what does not come."""

import pytest

from windrow.records import Watermark
from windrow.shards.inbound import PATIENCE, Inbound, Offer, covers
from windrow.shards.messages import Ack, Batch, Hello

LIVED = (Watermark(10, 1), Watermark(20, 6))


def batch(previous: int, frame: int, incarnation: int = 20) -> Batch:
    return Batch(1, incarnation, previous, frame, b"")


def at(incarnation: int, frame: int) -> Inbound:
    return Inbound(Watermark(incarnation, frame))


@pytest.mark.parametrize(
    ("offer", "expected"),
    [
        (batch(8, 9), Offer.TAKE),
        (batch(3, 9), Offer.TAKE),  # frames were joined when they were sent again
        (batch(7, 8), Offer.KNOWN),
        (batch(0, 3), Offer.KNOWN),
        (batch(9, 12), Offer.GAP),
        (batch(8, 9, incarnation=10), Offer.STRANGE),  # a process that has been replaced
        (batch(8, 9, incarnation=30), Offer.STRANGE),  # a later one: its numbers may mean other frames
    ],
)
def test_a_batch_is_taken_if_it_follows_what_is_here(offer: Batch, expected: Offer) -> None:
    assert at(20, 8).offered(offer) is expected


def test_a_watermark_never_moves_back_within_an_incarnation() -> None:
    inbound = at(20, 8)
    assert not inbound.heard(Hello(20, 3, LIVED), 0.0)
    assert not inbound.heard(Hello(10, 3, LIVED[:1]), 0.0)
    assert inbound.taken == Watermark(20, 8)


def test_a_hello_of_a_later_incarnation_carries_the_watermark_over() -> None:
    inbound = at(10, 4)
    assert inbound.heard(Hello(20, 9, LIVED), 0.0)
    assert (inbound.taken, inbound.durable) == (Watermark(20, 4), Watermark(10, 4))
    assert not inbound.heard(Hello(20, 9, LIVED), 0.0)


def test_a_hello_after_the_loss_of_the_senders_log_begins_from_nothing() -> None:
    inbound = at(10, 400)
    assert inbound.heard(Hello(20, 2, (Watermark(20, 1),)), 0.0)
    assert inbound.taken == Watermark(20, 0)


@pytest.mark.parametrize("hello", [Hello(30, 2, ()), Hello(30, 2, LIVED)])
def test_a_hello_that_does_not_know_its_own_incarnation_is_ignored(hello: Hello) -> None:
    inbound = at(20, 8)
    assert not inbound.heard(hello, 0.0)
    assert inbound.taken == Watermark(20, 8)


def test_only_what_is_durable_is_acknowledged() -> None:
    inbound = at(20, 8)
    inbound.take(batch(8, 9), 0.0)
    assert inbound.ack(5) == Ack(5, Watermark(20, 8))
    inbound.durable = inbound.taken
    assert inbound.ack(5) == Ack(5, Watermark(20, 9))


def test_a_gap_is_asked_about_at_once_and_then_now_and_then() -> None:
    inbound = at(20, 8)
    assert not inbound.asks(0.0)
    inbound.offered(batch(9, 12))
    assert inbound.asks(0.0) and inbound.ack(5).asked == 1
    assert not inbound.asks(PATIENCE - 0.1)
    assert inbound.asks(PATIENCE) and inbound.ack(5).asked == 2


def test_the_first_ask_counts_although_nothing_was_ever_received() -> None:
    """A prototype read the watermark of a new receiver as the answer to an ask of its own, and never sent."""
    inbound = Inbound(Watermark())
    inbound.heard(Hello(20, 9, LIVED), 0.0)
    assert inbound.asks(PATIENCE)
    assert inbound.ack(5) == Ack(5, Watermark(), 1)


def test_links_that_do_not_come_are_asked_for_after_a_while_even_without_a_gap() -> None:
    inbound = at(20, 8)
    inbound.heard(Hello(20, 9, LIVED), 100.0)
    assert not inbound.asks(100.0 + PATIENCE - 0.1)
    assert inbound.asks(100.0 + PATIENCE)
    inbound.take(batch(8, 9), 104.0)
    assert not inbound.asks(200.0)


def test_a_sender_that_makes_progress_is_not_asked() -> None:
    inbound = at(20, 0)
    for frame in range(1, 20):
        inbound.heard(Hello(20, 100, LIVED), float(frame))
        inbound.take(batch(frame - 1, frame), float(frame))
        assert not inbound.asks(frame + 0.9)


def test_a_later_incarnation_covers_an_earlier_one() -> None:
    assert covers(Watermark(20, 1), Watermark(10, 5)) and covers(Watermark(20, 5), Watermark(20, 5))
    assert not covers(Watermark(10, 5), Watermark(20, 1)) and not covers(Watermark(20, 4), Watermark(20, 5))
