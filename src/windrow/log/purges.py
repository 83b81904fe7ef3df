"""Which pages `windrow purge` has removed, and how many documents are on the takedown list, according to the log."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from windrow.log import reader
from windrow.log.format import Head, Line
from windrow.records import Order

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
    found = {}
    for head, _, _ in reader.raw_frames(directory):
        for given in head.orders:
            if given.verb == VERB:
                by, urls = split(given)
                found.update(dict.fromkeys(urls, PurgeNote(head.frame, given.time, by)))
    return found


class Removals:
    """Counts documents on the takedown list and purged pages, in the pass over the log that a `fold` makes."""

    reads_scores = False

    def __init__(self, covers: Callable[[str], bool]) -> None:
        """`covers`: returns whether a URL is on the takedown list."""
        self.listed: set[str] = set()  # documents that are on the list and not purged
        self.purged: set[str] = set()
        self._covers = covers

    def begin(self, head: Head, seconds: float) -> None:
        for given in head.orders:
            if given.verb == VERB:
                urls = split(given)[1]
                self.purged.update(urls)
                self.listed.difference_update(urls)

    def add(self, line: Line) -> None:
        if line.kept and self._covers(line.url):
            self.listed.add(line.url)
