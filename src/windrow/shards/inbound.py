"""The protocol from the side of the receiver, for one sender: what to take, what to acknowledge, when to ask."""

import enum

from windrow import sharding
from windrow.records import Watermark
from windrow.shards.messages import Ack, Batch, ErrandReply, Hello

PATIENCE = 3.0  # seconds without progress, while links are missing, until they are requested again
IN_VAIN = 3  # asks in a row after which the inbox itself is doubted


class Offer(enum.Enum):
    """What to do with a batch."""

    TAKE = enum.auto()  # it follows what is here
    KNOWN = enum.auto()  # all of it is here
    STRANGE = enum.auto()  # of another incarnation: a hello will say how it fits, or the sender has been replaced
    GAP = enum.auto()  # links before it are missing


class Inbound:
    """What one sender has sent.

    `taken` runs ahead of `durable`: the crawl has the links up to there, and its next frame says so. Both only move
    forward within an incarnation of the sender. A watermark that moved back would make the end of a crawl undecidable.
    """

    def __init__(self, mark: Watermark, patience: float = PATIENCE) -> None:
        self._patience = patience
        self.taken = self.durable = mark
        self._tail = 0  # the last frame with links to us that the sender has, in the incarnation of `taken`
        self._asked = 0
        self._in_vain = 0  # asks since links came
        self._progress = self._last_ask = float("-inf")  # when
        self._gap = False

    def heard(self, hello: Hello, now: float) -> bool:
        """Take note of a hello; return whether the watermark has changed."""
        if hello.incarnation < self.taken.incarnation or not hello.incarnations:
            return False
        if hello.incarnations[-1].incarnation != hello.incarnation:
            return False
        if hello.tail != self._tail or hello.incarnation > self.taken.incarnation:
            self._progress = now  # what it has just sent may still be under way
        self._tail = hello.tail
        if hello.incarnation == self.taken.incarnation:
            return False
        self.taken = sharding.translated(self.taken, hello.incarnations)
        self._gap = False
        return True

    def offered(self, batch: Batch) -> Offer:
        """Return what to do with a batch."""
        mark = self.taken
        if batch.incarnation != mark.incarnation:
            return Offer.STRANGE
        if batch.frame <= mark.frame:
            return Offer.KNOWN
        if batch.previous > mark.frame:
            self._gap = True
            return Offer.GAP
        return Offer.TAKE

    def take(self, batch: Batch, now: float) -> None:
        self.taken = Watermark(batch.incarnation, batch.frame)
        self._progress = now
        self._gap = False
        self._in_vain = 0

    def asks(self, now: float) -> bool:
        """Return whether it is time to ask for missing links; if so, the ask is counted.

        A gap is proof of a loss. Without one, links that the sender has and that do not come are taken for lost after a
        while: nothing else would reveal that the last batch of a sender was lost.
        """
        missing = self._gap or self._tail > self.taken.frame
        since = self._last_ask if self._gap else max(self._last_ask, self._progress)
        if not missing or now - since < self._patience:
            return False
        self._asked += 1
        self._in_vain += 1
        self._last_ask = now
        return True

    @property
    def in_vain(self) -> bool:
        """Whether several asks brought nothing."""
        return self._in_vain >= IN_VAIN

    def ack(self, incarnation: int, told: tuple[ErrandReply, ...] = ()) -> Ack:
        """Return what to say to the sender: only what is durable, because the sender may forget the rest."""
        return Ack(incarnation, self.durable, self._asked, told)


def covers(durable: Watermark, mark: Watermark) -> bool:
    """Return whether everything up to a watermark is durable."""
    return (durable.incarnation, durable.frame) >= (mark.incarnation, mark.frame)
