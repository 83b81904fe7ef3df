"""The payloads to which a revisit record may refer."""

from pathlib import Path

import msgspec

from tests.logs import frame, ok, write
from windrow.crawler.recording.revisits import Revisits
from windrow.log import purges
from windrow.records import Place


def test_a_purged_payload_is_not_referred_to_any_more(tmp_path: Path) -> None:
    captures = [
        ok(1, "1", digest="ONE", place=Place("warc/x", 0, 9)),
        ok(2, "2", digest="TWO", place=Place("warc/x", 9, 9)),
    ]
    order = purges.order("takedown.txt, line 1: x", ("http://a.example.org/1",), "p", 2000.0)
    again = ok(3, "1", digest="NEW", place=Place("warc/x", 18, 9))
    frames = [frame(1, *captures), msgspec.structs.replace(frame(2), orders=(order,)), frame(3, again)]
    write(tmp_path / "log", *frames)
    known = Revisits.of(tmp_path)
    assert known.get("ONE") is None
    assert known.get("TWO") is not None and known.get("NEW") is not None, "it was fetched after the purge"
