"""Tombstones: as long as what they replace, and read without complaint by every program."""

import contextlib
import gzip
import io
import zlib
from pathlib import Path

import msgspec
import pytest
from fastwarc import warc as fastwarc
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio_cli

from tests.archive.captures import any_capture, capture, files, write
from windrow import archive
from windrow.archive import ArchiveError, Earlier, Writer, purge
from windrow.archive.purge import LEAST, Span
from windrow.config import ArchiveOptions
from windrow.records import Capture, Place

MOMENT = 1794739461.5


def overwrite(directory: Path, place: Place) -> list[Span]:
    """Purge a capture; return where."""
    found = purge.spans(directory, place)
    with (directory / place.file).open("r+b") as file:
        for span in found:
            file.seek(span.offset)
            file.write(purge.tombstone(span.length, MOMENT))
    return found


@pytest.mark.parametrize(
    "lengths",
    [range(LEAST, LEAST + 3000), range(10_200, 10_260), range(65_500, 65_800), range(131_000, 131_100), (3_000_017,)],
    ids=str,
)
def test_a_tombstone_has_any_length_from_the_least_on_and_is_a_whole_record(lengths: range) -> None:
    for length in lengths:
        made = purge.tombstone(length, MOMENT)
        assert len(made) == length
        inflate = zlib.decompressobj(31)
        head, _, rest = inflate.decompress(made).partition(b"\r\n\r\n")
        assert inflate.eof and not inflate.unused_data
        size = int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0])
        assert len(rest) == size + 4 and rest.endswith(b"\r\n\r\n") and rest[:size].strip() == b"purged: takedown"


def test_a_length_below_the_least_is_refused() -> None:
    with pytest.raises(ValueError, match="the shortest has"):
        purge.tombstone(LEAST - 1, MOMENT)


@given(st.lists(st.integers(20, 2 * LEAST), min_size=2, max_size=3))
def test_records_that_are_too_short_are_joined_with_their_neighbours(lengths: list[int]) -> None:
    starts = [sum(lengths[:count]) for count in range(len(lengths))]
    found = purge.joined([Span(*pair) for pair in zip(starts, lengths, strict=True)])
    assert [span.offset for span in found] == [0, *[one.offset + one.length for one in found[:-1]]]
    assert sum(span.length for span in found) == sum(lengths)
    assert len(found) == 1 or all(span.length >= LEAST for span in found)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_the_smallest_capture_has_room_for_its_tombstones(level: int, tmp_path: Path) -> None:
    bare = capture("http://a.b/", b"")
    bare = msgspec.structs.replace(
        bare, request=b"GET / HTTP/1.0\r\n\r\n", head=b"HTTP/1.0 200\r\n\r\n", ip="", protocol="", downloaded=0
    )
    bare = msgspec.structs.replace(bare, task=msgspec.structs.replace(bare.task, via="", depth=0))
    first, second = write(tmp_path, [bare, bare], ArchiveOptions(level=level))
    expected = 2 if level == 3 else 3  # the best compression makes the smallest request that HTTP allows too short
    assert len(overwrite(tmp_path, second)) == expected
    assert purge.spans(tmp_path, second) == []
    assert [entry.capture for path in files(tmp_path) for entry in archive.read(path)] == [bare]
    assert len(overwrite(tmp_path, first)) == expected
    assert purge.spans(tmp_path, first) == []
    assert [entry for path in files(tmp_path) for entry in archive.read(path)] == []


@given(st.lists(any_capture, min_size=3, max_size=6), st.data())
def test_every_other_capture_stays_at_its_place(
    tmp_path_factory: pytest.TempPathFactory, captures: list[Capture], data: st.DataObject
) -> None:
    directory = tmp_path_factory.mktemp("crawl")
    places = write(directory, captures)
    before = {path: path.read_bytes() for path in files(directory)}
    gone = data.draw(st.sets(st.sampled_from(range(len(captures))), min_size=1))
    spans = [(places[index].file, span) for index in gone for span in overwrite(directory, places[index])]
    for index, place in enumerate(places):
        if index in gone:
            assert purge.spans(directory, place) == [], "it is purged already"
            with pytest.raises(ArchiveError, match="was purged"):
                archive.open_place(directory, place)
        else:
            assert archive.open_place(directory, place) == captures[index]
    for path, old in before.items():
        new = bytearray(path.read_bytes())
        assert len(new) == len(old)
        own = [span for file, span in spans if file == f"{path.parent.name}/{path.name}"]
        for span in own:
            new[span.offset : span.offset + span.length] = old[span.offset : span.offset + span.length]
        assert new == old, "nothing but the records of the capture was changed"
    left = [entry.capture for path in files(directory) for entry in archive.read(path)]
    kept = [one for index, one in enumerate(captures) if index not in gone]
    assert sorted(left, key=repr) == sorted(kept, key=repr)


def test_other_programs_read_a_purged_file_without_complaint(tmp_path: Path) -> None:
    pages = [capture(f"http://example.org/{name}", b"<p>secret " + name.encode() * 9000) for name in "abcd"]
    places = write(tmp_path, pages)
    overwrite(tmp_path, places[1])
    overwrite(tmp_path, places[3])
    (path,) = files(tmp_path)
    with path.open("rb") as file:
        ours = [(record.rec_type, record.rec_headers.get("WARC-Target-URI")) for record in ArchiveIterator(file)]
    tombstones = [("metadata", None)] * 3
    records = [("request", "http://example.org/a"), ("response", "http://example.org/a")]
    records += [("metadata", "http://example.org/a"), *tombstones]
    assert ours[1:7] == records and ours[-3:] == tombstones and len(ours) == 13
    with path.open("rb") as file:
        found = list(fastwarc.ArchiveIterator(file, record_types=fastwarc.WarcRecordType.any_type, parse_http=True))
    assert len(found) == 13
    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.raises(SystemExit) as end:
        warcio_cli(["check", str(path)])
    assert end.value.code == 0 and "fail" not in said.getvalue()
    assert b"bbbb" not in gzip.decompress(path.read_bytes()) and b"aaaa" in gzip.decompress(path.read_bytes())
    assert archive.tail(path) == path.stat().st_size


def test_a_revisit_names_the_payload_that_it_refers_to(tmp_path: Path) -> None:
    page, other = capture("http://example.org/a"), capture("http://example.org/b")
    writer = Writer(tmp_path, ArchiveOptions(), "n0", {})
    first = writer.append(writer.compress(page), 1)
    second = writer.append(writer.revisit(other, Earlier(page.task.url.text, page.time, first)), 2)
    writer.flush()
    writer.close()
    assert purge.refers_to(tmp_path, second) == (first.file, first.offset)
    assert purge.refers_to(tmp_path, first) is None
    assert len(overwrite(tmp_path, second)) == 3
    assert archive.open_place(tmp_path, first) == page


def test_a_capture_that_lacks_a_record_is_not_purged(tmp_path: Path) -> None:
    (place,) = write(tmp_path, [capture()])
    path = tmp_path / place.file
    path.write_bytes(path.read_bytes()[: place.offset + place.length])
    with pytest.raises(ArchiveError, match="lacks one of its records"):
        purge.spans(tmp_path, place)
