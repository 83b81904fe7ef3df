"""The orders of `windrow purge` in the log."""

from pathlib import Path

import msgspec

from tests.logs import frame, ok, write
from windrow import log, takedown
from windrow.log import purges
from windrow.log.purges import PurgeNote, Removals
from windrow.records import Frame, Order

LINE = "takedown.txt, line 3: a.example.org"
ONE, TWO, THREE = (f"http://a.example.org/{name}" for name in "123")


def purging(number: int, *urls: str) -> Frame:
    return msgspec.structs.replace(frame(number), orders=(purges.order(LINE, urls, f"p{number}", 2000.0 + number),))


def made(directory: Path) -> Path:
    other = Order(id="x", time=1.0, verb="pause", values=(THREE,))
    frames = [frame(1, ok(1, "1", kept=9), ok(2, "2", kept=9), ok(3, "3", kept=9)), purging(2, ONE, TWO)]
    frames += [msgspec.structs.replace(frame(3, ok(4, "1", kept=9)), orders=(other,)), purging(4, TWO)]
    write(directory / "log", *frames)
    return directory


def test_the_latest_order_of_each_page_is_found(tmp_path: Path) -> None:
    found = log.purged(made(tmp_path) / "log")
    assert found == {ONE: PurgeNote(2, 2002.0, LINE), TWO: PurgeNote(4, 2004.0, LINE)}


def test_documents_on_the_list_count_until_they_are_purged(tmp_path: Path) -> None:
    (tmp_path / "takedown.txt").write_text(f"{ONE}\n{THREE}\n")
    removals = Removals(takedown.of(tmp_path))
    log.fold(made(tmp_path), removals)
    assert removals.purged == {ONE, TWO}
    assert removals.listed == {ONE, THREE}, "the first one was fetched again after its purge"


def test_orders_are_among_the_mentions_of_a_url(tmp_path: Path) -> None:
    mentions = list(log.mentions(made(tmp_path) / "log", TWO))
    found = [(mention.frame, mention.order.verb if mention.order else "") for mention in mentions]
    assert found == [(1, ""), (2, "purge"), (3, "pause"), (4, "purge")]
