"""The protocol from the side of the sender, for one receiver: which links to publish, and from where again."""

import collections

import msgspec

from windrow.shards.messages import Ack

WINDOW = 4 << 20  # bytes that are published and not acknowledged, per receiver; the rest waits in the log
INBOX = 32 << 20  # bytes that all senders together may leave in the inbox of a shard that is down


class Packet(msgspec.Struct, frozen=True):
    """Links up to and with a frame, packed."""

    frame: int
    links: bytes


def window_of(shards: int) -> int:
    """Return the window of each sender in a job of so many shards."""
    return min(WINDOW, INBOX // shards)


class Outbound:
    """The links that were published for one receiver.

    `cursor`: all links up to this frame were published. It is None until the receiver has durably accepted our
    incarnation: a batch before that would be refused. So a receiver that is down gets nothing, and its inbox stays
    small.
    """

    def __init__(self, tail: int, window: int = WINDOW) -> None:
        self.tail = tail  # the last committed frame with links to the receiver
        self._window = window
        self.cursor: int | None = None
        self._acked = 0
        self._answered = (0, 0)  # the last ask that was answered: incarnation of the receiver, and its number
        self._unacked: collections.deque[tuple[int, int]] = collections.deque()  # frame, bytes
        self._bytes = 0

    def reset(self) -> None:
        """Wait until the receiver has accepted a new incarnation."""
        self.cursor = None
        self._clear()

    def _clear(self) -> None:
        self._unacked.clear()
        self._bytes = 0

    def acknowledged(self, ack: Ack, incarnation: int) -> None:
        """Take note of what the receiver has: of our incarnation, or of an earlier one."""
        if ack.mark.incarnation != incarnation:
            return self.reset()
        frame, ask = ack.mark.frame, (ack.incarnation, ack.asked)
        again = ack.asked > 0 and ask != self._answered
        if self.cursor is None or again or frame < self._acked:  # below: the receiver has lost its directory
            self.cursor = frame
            self._clear()
        self._answered = ask
        self.cursor = max(self.cursor, frame)
        self._acked = frame
        while self._unacked and self._unacked[0][0] <= frame:
            self._bytes -= self._unacked.popleft()[1]

    def lost(self) -> None:
        """The transport has lost everything: continue from what was acknowledged."""
        if self.cursor is not None and self._unacked:
            self.cursor = self._acked
            self._clear()

    @property
    def room(self) -> int:
        """Return how many bytes may be published now."""
        return max(0, self._window - self._bytes)

    @property
    def behind(self) -> int | None:
        """Return the frame after which links have to be read from the log now; None: nothing has to be read.

        Half of the window must be free: to find a place in the log costs more than to read a few links there.
        """
        reads = self.cursor is not None and self.cursor < self.tail and self.room >= self._window // 2
        return self.cursor if reads else None

    def append(self, frame: int) -> bool:
        """Note a committed frame with links; return whether to publish them at once, instead of from the log later."""
        in_step = self.cursor is not None and self.cursor >= self.tail and self.room > 0
        self.tail = frame
        return in_step

    def publish(self, packet: Packet) -> int:
        """Note that links are published; return the frame before the first of them."""
        assert self.cursor is not None, "the receiver has not accepted this incarnation"
        previous, self.cursor = self.cursor, packet.frame
        self._unacked.append((packet.frame, len(packet.links)))
        self._bytes += len(packet.links)
        return previous
