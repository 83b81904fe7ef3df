"""Captures from files: equal to those that were written, or an error."""

import gzip
import shutil
import tarfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.archive.captures import any_capture, capture, files, write
from tests.shared import shared
from windrow import archive
from windrow.archive import Earlier, StoredCapture, Writer
from windrow.config import ArchiveOptions
from windrow.records import Capture, Place

SITE = [
    capture("http://example.org/robots.txt", b"User-agent: *\nDisallow:\n", file="robots"),
    capture("http://example.org/"),
    capture("http://example.org/gone", b"", 404),
    capture("http://example.org/2", bytes(range(256)) * 300),
    capture("http://example.org/moved", b"", 301),
]


@given(st.lists(any_capture, min_size=1, max_size=4), st.integers(0, 3))
def test_any_capture_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, captures: list[Capture], level: int
) -> None:
    directory = tmp_path_factory.mktemp("crawl")
    places = write(directory, captures, ArchiveOptions(level=level))
    entries = sorted((entry for path in files(directory) for entry in archive.read(path)), key=lambda entry: entry.seq)
    assert [entry.capture for entry in entries] == captures
    assert [entry.place for entry in entries] == places
    assert [archive.open_place(directory, place) for place in places] == captures


def test_an_entry_has_the_facts_of_its_file(tmp_path: Path) -> None:
    writer = Writer(tmp_path, ArchiveOptions(), "n0", {})
    page = writer.compress(SITE[1])
    place = writer.append(page, 77, {"charset-detected": "UTF-8", "note": "two\nlines"})
    writer.flush()
    (entry,) = archive.read(tmp_path / place.file)
    assert entry.seq == 77 and entry.digest == page.digest and entry.place == place
    assert (
        entry.fields["charset-detected"] == "UTF-8"
        and entry.fields["note"] == "two\nlines"
        and entry.fields["fetchTimeMs"] == "258"
    )


def test_a_place_of_every_subset_is_opened(tmp_path: Path) -> None:
    places = write(tmp_path, SITE)
    assert {place.file.partition("/")[0] for place in places} == {"warc", "robotstxt", "diagnostics"}
    assert [archive.open_place(tmp_path, place) for place in places] == SITE


def test_a_place_is_the_gzip_member_of_the_response(tmp_path: Path) -> None:
    place = write(tmp_path, SITE)[3]
    member = (tmp_path / place.file).read_bytes()[place.offset : place.offset + place.length]
    assert b"WARC-Type: response" in gzip.decompress(member) and gzip.decompress(member).endswith(
        SITE[3].body + b"\r\n\r\n"
    )


def test_a_wrong_place_is_an_error(tmp_path: Path) -> None:
    place = write(tmp_path, SITE)[1]
    for offset in (0, 1, place.offset - 1, place.offset + 1, place.offset + place.length, 1 << 40):
        with pytest.raises(archive.ArchiveError):
            archive.open_place(tmp_path, Place(place.file, offset, place.length))


def test_a_place_whose_block_differs_from_its_digest_is_an_error(tmp_path: Path) -> None:
    place = write(tmp_path, SITE)[1]
    path = tmp_path / place.file
    whole = path.read_bytes()
    member = gzip.compress(
        gzip.decompress(whole[place.offset : place.offset + place.length]).replace(b"hello", b"hullo")
    )
    path.write_bytes(whole[: place.offset] + member + whole[place.offset + place.length :])
    with pytest.raises(archive.ArchiveError, match="no complete response"):
        archive.open_place(tmp_path, place)


def test_a_file_cut_at_any_byte_gives_complete_captures_and_then_an_error(tmp_path: Path) -> None:
    captures = [capture(), capture("http://example.org/2", b"second" * 50)]
    write(tmp_path, captures)
    (path,) = files(tmp_path)
    whole, ends = path.read_bytes(), [0]
    ends += [found.offset + found.length for found in archive.records(path) if found.type in ("warcinfo", "metadata")]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        found = []
        try:
            found += (entry.capture for entry in archive.read(path))
        except archive.ArchiveError:
            assert size not in ends
        else:
            assert size in ends
        assert found == captures[: sum(end <= size for end in ends[2:])]


def test_captures_before_an_error_are_complete(tmp_path: Path) -> None:
    write(tmp_path, [SITE[1], SITE[3]])
    (path,) = files(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    entries = archive.read(path)
    assert next(entries).capture == SITE[1]
    with pytest.raises(archive.ArchiveError):
        next(entries)


@pytest.mark.parametrize(
    "garbage",
    [bytes(100), b"\x1f\x8b", gzip.compress(b"not a record"), gzip.compress(b"x" * 99)[:-9]],
    ids=["zeros", "start of a member", "other member", "cut member"],
)
def test_damage_after_a_capture_does_not_cost_that_capture(tmp_path: Path, garbage: bytes) -> None:
    write(tmp_path, [SITE[1]])
    (path,) = files(tmp_path)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + garbage)
    entries = archive.read(path)
    assert next(entries).capture == SITE[1]
    with pytest.raises(archive.ArchiveError) as raised:
        next(entries)
    assert raised.value.offset == size


def test_a_growing_file_is_read_up_to_its_committed_length(tmp_path: Path) -> None:
    writer = Writer(tmp_path, ArchiveOptions(), "n0", {})
    writer.append(writer.compress(SITE[1]), 1)
    ((name, length),) = writer.flush().items()
    writer.append(writer.compress(SITE[3]), 2)
    writer.flush()
    assert [entry.capture for entry in archive.read(tmp_path / name, length)] == [SITE[1]]
    with pytest.raises(archive.ArchiveError):
        list(archive.read(tmp_path / name, length + 600))


def revisit(directory: Path, origin_file: str | None = None) -> Place:
    """Write a crawl in which the second capture has the payload of the first."""
    writer = Writer(directory, ArchiveOptions(), "n0", {})
    place = writer.append(writer.compress(SITE[3]), 1)
    origin = Earlier(
        SITE[3].task.url.text, SITE[3].time, msgspec.structs.replace(place, file=origin_file or place.file)
    )
    again = writer.append(writer.revisit(msgspec.structs.replace(SITE[3], status=404, time=1763200009.5), origin), 2)
    writer.flush()
    return again


def test_a_revisit_is_read_with_the_payload_it_refers_to(tmp_path: Path) -> None:
    place = revisit(tmp_path)
    expected = msgspec.structs.replace(SITE[3], status=404, time=1763200009.5)
    assert place.file.startswith("diagnostics/") and place.length < 1000
    assert archive.open_place(tmp_path, place) == expected
    assert [entry.capture for entry in archive.read(tmp_path / place.file)] == [expected]


@pytest.mark.parametrize("file", ["warc/GONE-n0-20251115094640-00000.warc.gz", "../../etc/passwd", "/dev/zero"])
def test_a_revisit_whose_earlier_capture_is_missing_is_an_error(tmp_path: Path, file: str) -> None:
    place = revisit(tmp_path, file)
    with pytest.raises(archive.ArchiveError):
        archive.open_place(tmp_path, place)
    with pytest.raises(archive.ArchiveError):
        list(archive.read(tmp_path / place.file))


def test_a_revisit_does_not_lead_out_of_its_crawl_directory(tmp_path: Path) -> None:
    name = "WINDROW-n0-20251115094640-00000.warc.gz"
    place = revisit(tmp_path / "crawl", f"../other/warc/{name}")
    shutil.copytree(tmp_path / "crawl/warc", tmp_path / "other/warc")
    assert (tmp_path / "other/warc" / name).exists()
    with pytest.raises(archive.ArchiveError):
        archive.open_place(tmp_path / "crawl", place)


def test_a_revisit_that_points_to_itself_is_an_error(tmp_path: Path) -> None:
    place = revisit(tmp_path)
    path = tmp_path / place.file
    whole = path.read_bytes()
    text = gzip.decompress(whole[place.offset : place.offset + place.length])
    first = next(
        found for found in archive.records(tmp_path / "warc" / files(tmp_path)[1].name) if found.type == "response"
    )
    text = text.replace(files(tmp_path)[1].name.encode(), path.name.encode()).replace(
        b"Filename: warc/", b"Filename: diagnostics/"
    )
    text = text.replace(b"File-Offset: %d" % first.offset, b"File-Offset: %d" % place.offset)
    path.write_bytes(whole[: place.offset] + gzip.compress(text) + whole[place.offset + place.length :])
    with pytest.raises(archive.ArchiveError):
        list(archive.read(path))


BLOCKS = {
    "request": "GET / HTTP/1.0\r\n\r\n",
    "response": "HTTP/1.0 200 OK\r\nA: b\r\n\r\nbody",
    "metadata": "via: x\r\nfetchTimeMs: 5\r\n",
}


def foreign(path: Path, *types: str) -> None:
    """Write the records of one exchange in any order, linked as Heritrix links them."""
    parts = []
    for kind in types:
        link = "" if kind == "response" else "WARC-Concurrent-To: <urn:uuid:response>\r\n"
        header = f"WARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{kind}>\r\n{link}WARC-Target-URI: <http://EXAMPLE.org/a#b>\r\n"
        size = len(BLOCKS[kind])
        about = f"WARC-Date: 2008-04-30T20:48:25Z\r\nContent-Type: application/http\r\nContent-Length: {size}\r\n"
        parts.append(f"WARC/1.0\r\n{header}{about}\r\n{BLOCKS[kind]}\r\n\r\n")
    path.write_text("".join(parts), newline="")


@pytest.mark.parametrize(
    "types",
    [("request", "response", "metadata"), ("response", "request", "metadata"), ("response", "metadata", "request")],
)
def test_the_records_of_an_exchange_are_found_in_any_order(tmp_path: Path, types: tuple[str, ...]) -> None:
    foreign(tmp_path / "x.warc", *types)
    (entry,) = archive.read(tmp_path / "x.warc")
    found = entry.capture
    assert (found.task.url.text, found.status, found.request) == (
        "http://example.org/a",
        200,
        b"GET / HTTP/1.0\r\n\r\n",
    )
    assert (found.head, found.body, found.time, entry.seq) == (
        b"HTTP/1.0 200 OK\r\nA: b\r\n\r\n",
        b"body",
        1209588505.0,
        0,
    )
    assert entry.fields["via"] == "x"


def test_a_single_response_of_another_program_is_a_capture(tmp_path: Path) -> None:
    foreign(tmp_path / "x.warc", "response", "response")
    assert [entry.capture.body for entry in archive.read(tmp_path / "x.warc")] == [b"body", b"body"]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("types", [("response",), ("request", "response"), ("response", "metadata")])
def test_damage_does_not_cost_the_capture_before_it_in_files_of_other_programs(
    tmp_path: Path, types: tuple[str, ...], packed: bool
) -> None:
    path = tmp_path / "x.warc"
    foreign(path, *types, *types)
    text = path.read_bytes()[: path.stat().st_size // 2 + 20]
    path.write_bytes(gzip.compress(text)[:-8] if packed else text)
    entries = archive.read(path)
    found = next(entries)
    assert (found.capture.body, found.fields.get("via")) == (b"body", "x" if "metadata" in types else None)
    with pytest.raises(archive.ArchiveError):
        next(entries)


def test_a_record_with_a_wrong_length_is_part_of_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    foreign(path, "request", "response")
    path.write_bytes(path.read_bytes().replace(b"Content-Length: 29", b"Content-Length: 27"))
    with pytest.raises(archive.ArchiveError):
        next(archive.read(path))


def test_metadata_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    foreign(tmp_path / "x.warc", "response", "metadata")
    for bad in (b"seq: x\r\n", b"seq: 1\r\nkind: strange\r\n", b"seq: 1\r\nheadLength: ten\r\n"):
        text = (tmp_path / "x.warc").read_bytes().replace(b"via: x\r\nfetchTimeMs: 5\r\n", bad)
        (tmp_path / "bad.warc").write_bytes(text.replace(b"Content-Length: 24", b"Content-Length: %d" % len(bad)))
        with pytest.raises(archive.ArchiveError):
            list(archive.read(tmp_path / "bad.warc"))


@pytest.mark.parametrize(
    ("date", "time"),
    [
        (b"2008-04-30T20:48:25Z", 1209588505.0),
        (b"2008-04-30T20:48:25.123456Z", 1209588505.123456),
        (b"2008-04-30T20:48Z", 1209588480.0),
        (b"2008-04-30", 1209513600.0),
        (b"2008-04", 1207008000.0),
        (b"2008", 1199145600.0),
        (b"20080430204825", 1209588505.0),
        (b"yesterday", 0.0),
    ],
)
def test_dates_of_any_precision_are_read(tmp_path: Path, date: bytes, time: float) -> None:
    foreign(tmp_path / "x.warc", "response")
    (tmp_path / "x.warc").write_bytes((tmp_path / "x.warc").read_bytes().replace(b"2008-04-30T20:48:25Z", date))
    assert [entry.capture.time for entry in archive.read(tmp_path / "x.warc")] == [time]


def test_a_record_of_common_crawl_becomes_a_capture(tmp_path: Path) -> None:
    with tarfile.open(shared("conformance/warc.tar.xz")) as packed:
        packed.extract("warc/whirlwind-python/whirlwind.warc.gz", tmp_path, filter="data")
    (entry,) = archive.read(tmp_path / "warc/whirlwind-python/whirlwind.warc.gz")
    assert (entry.capture.task.url.text, entry.capture.status, entry.capture.ip) == (
        "https://an.wikipedia.org/wiki/Escopete",
        200,
        "208.80.154.224",
    )
    assert entry.digest == "RY7PLBUFQNI2FFV5FTUQK72W6SNPXLQU" and entry.fields["charset-detected"] == "UTF-8"
    assert (
        entry.capture.request.startswith(b"GET /wiki/Escopete HTTP/1.1\r\n")
        and len(entry.capture.head + entry.capture.body) == 74581
    )
    assert archive.open_place(tmp_path / "warc", entry.place).body == entry.capture.body


def response(path: Path, block: bytes, **headers: str) -> StoredCapture:
    """Write one response record of another program, and read it."""
    written = {
        "WARC-Type": "response",
        "WARC-Record-ID": "<urn:uuid:a>",
        "WARC-Target-URI": "http://a.example/",
        "WARC-Date": "2020-01-01T00:00:00Z",
        "Content-Type": "application/http; msgtype=response",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in written.items())
    path.write_bytes(f"WARC/1.0\r\n{head}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n")
    (found,) = archive.captures(path, archive.ReadOptions(resources=True, conversions=True))
    return found


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: a b\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Type: text/html\nX: a b\n\n",
        b"HTTP/1.1 200 OK\nContent-Type: text/html\r\nX: a b\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: a\r\n   b\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Type: text/html\nX: a\n\tb\n\n",
        b"HTTP/2 200\r\ncontent-type: text/html\r\nx: a b\r\n\r\n",
        b"HTTP/2.0 200 \r\ncontent-type: text/html\r\nx: a b\r\n\r\n",
        b"HTTP/3 200 OK\r\nContent-type:text/html\r\nX:a b\r\n\r\n",
    ],
)
def test_headers_of_every_form_are_read(tmp_path: Path, head: bytes) -> None:
    found = response(tmp_path / "a.warc", head + b"<p>body</p>\n\n").capture
    assert (found.status, found.header("Content-Type"), found.header("X")) == (200, "text/html", "a b")
    assert (found.body, found.encoded) == (b"<p>body</p>\n\n", False)


def test_the_codings_of_other_programs_are_undone(tmp_path: Path) -> None:
    packed = gzip.compress(b"<p>body</p>")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    found = response(tmp_path / "a.warc", head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)).capture
    assert (found.body, found.encoded) == (b"<p>body</p>", False)
    assert found.stored == b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)


def test_a_record_that_is_cut_is_a_truncated_capture(tmp_path: Path) -> None:
    response(tmp_path / "a.warc", b"HTTP/1.1 200 OK\r\n\r\n" + b"<p>body</p>" * 50)
    (tmp_path / "a.warc").write_bytes((tmp_path / "a.warc").read_bytes()[:-40])
    (found,) = archive.captures(tmp_path / "a.warc", archive.ReadOptions(report=lambda damage: None))
    assert found.capture.truncated == "unspecified" and found.capture.body.startswith(b"<p>body</p>")


@pytest.mark.parametrize("kind", ["resource", "conversion"])
def test_resources_and_conversions_are_captures_where_they_are_wanted(tmp_path: Path, kind: str) -> None:
    found = response(tmp_path / "a.warc", b"some text", WARC_Type=kind, Content_Type="text/plain")
    assert (found.type, found.capture.status, found.capture.body) == (kind, 200, b"some text")
    assert found.capture.header("Content-Type") == "text/plain"
    assert list(archive.read(tmp_path / "a.warc")) == []


def test_a_response_without_a_type_is_read_by_its_first_bytes(tmp_path: Path) -> None:
    response(tmp_path / "a.warc", b"HTTP/1.1 200 OK\r\n\r\n<p>body</p>")
    whole = (tmp_path / "a.warc").read_bytes()
    (tmp_path / "a.warc").write_bytes(whole.replace(b"Content-Type: application/http; msgtype=response\r\n", b""))
    assert [stored.capture.body for stored in archive.read(tmp_path / "a.warc")] == [b"<p>body</p>"]
