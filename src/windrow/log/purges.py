"""Which pages `windrow purge` has removed, and how many documents are on the takedown list, according to the log."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from windrow.log import reader
from windrow.log.format import Head, Line
from windrow.records import Order
from windrow.takedown import Takedown

VERB = "purge"
_BY = "by="  # begins the first value of an order: the line of the takedown list; the other values are URLs


class PurgeNote(msgspec.Struct, frozen=True):
    """A page was purged: every capture of it in earlier frames, and its document."""

    frame: int
    time: float  # epoch seconds
    by: str  # the line of the takedown list


def order(by: str, urls: tuple[str, ...], id: str, time: float) -> Order:
    """Return the order that names the pages that an entry of the takedown list has removed."""
    return Order(id=id, time=time, verb=VERB, values=(f"{_BY}{by}", *urls))


def split(given: Order) -> tuple[str, tuple[str, ...]]:
    """Return the line of the takedown list and the URLs of such an order."""
    first, *rest = given.values or ("",)
    return (first.removeprefix(_BY), tuple(rest)) if first.startswith(_BY) else ("", given.values)


def purged(directory: Path) -> dict[str, PurgeNote]:
    """Return the pages that were purged, each with its latest order. `directory` is that of the log."""
    notes = {}
    for head, _, _ in reader.raw_frames(directory):
        for given in head.orders:
            if given.verb == VERB:
                by, urls = split(given)
                notes.update(dict.fromkeys(urls, PurgeNote(head.frame, given.time, by)))
    return notes


class Removals(msgspec.Struct):
    """Documents on the takedown list, and purged pages."""

    reads: ClassVar = ("url", "kept")

    listing: Takedown
    listed: set[str] = set()  # documents that are on the list and not purged
    purged: set[str] = set()

    def add(self, head: Head, lines: Sequence[Line]) -> None:
        for given in head.orders:
            if given.verb == VERB:
                urls = split(given)[1]
                self.purged.update(urls)
                self.listed.difference_update(urls)
        if self.listing:
            self.listed.update([line.url for line in lines if line.kept and self.listing.covers(line.url)])
