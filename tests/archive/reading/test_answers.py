"""What an index says of a record: the kernel says it as its reference does, also behind damage."""

import gzip
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.archive.captures import capture, files, write
from tests.jobs import warcs
from windrow import archive
from windrow.archive import ArchiveError, Damage, WarcRecord
from windrow.archive.reading import answers, heads
from windrow.archive.reading.answers import Answers

WARC = (
    b"WARC-Target-URI: http://a.example/",
    b"WARC-Target-URI: <http://a.example/>",
    b"WARC-Target-URI: http://a.example/\xc3\xa9\xff/",
    b"WARC-Target-URI: http://a.example/\xc3\xa9",
    b"warc-target-uri: http://b.example/",
    b"WARC-Date: 2026-11-15T10:44:21Z",
    b"WARC-Record-ID: <urn:uuid:1>",
    b"WARC-Concurrent-To: <urn:uuid:2>",
    b"WARC-Concurrent-To: <urn:uuid:3>",
    b"Content-Type: application/http; msgtype=response",
    b"WARC-Identified-Payload-Type: text/html",
    b"WARC-Payload-Digest: sha1:ABC",
    b"WARC-Truncated: length",
    b"WARC-Truncated:length",
    b"X: y ",
    b"X-Folded: a\r\n b",
    b"no field",
)
HTTP = (
    b"Content-Type: Text/HTML; charset=x",
    b"content-type:text/plain,text/html",
    b"Content-Type: ;x",
    b"Content-Type: text/\xe9",
    b"Content-Type: a\x01b",
    b"Content-Type: a\x0bb",
    b"Content-Type : a/b",
    b"Content-Type",
    b"Location: /x",
    b"LOCATION: \xe9 ",
    b"Location:",
    b"X: \r y",
)
STATUSES = (b"HTTP/1.1 200 OK", b"HTTP/1.1  301", b"HTTP/2 404 ", b"HTTP/1.1 2000", b"HTTP/1.1", b"", b"HTTP/1.1 20x")
_ends = st.sampled_from([b"\r\n"] * 6 + [b"\n"])


@st.composite
def _records(draw: st.DrawFn) -> tuple[bytes, int]:
    """Return the bytes of a record, and where its block begins."""
    lines = [b"WARC/1.1", b"WARC-Type: " + draw(st.sampled_from([b"response", b"Revisit", b"metadata"]))]
    lines += draw(st.lists(st.sampled_from(WARC), max_size=6))
    lines.append(b"Content-Length: 99")
    header = b"".join(line + b"\r\n" for line in lines) + b"\r\n"
    http = [draw(st.sampled_from(STATUSES)), *draw(st.lists(st.sampled_from(HTTP), max_size=4))]
    block = b"".join(line + draw(_ends) for line in http) + draw(st.sampled_from([b"\r\n", b"\n", b""]))
    return header + block + draw(st.sampled_from([b"", b"body\r\n\r\nLocation: /not\r\n\r\n"])), len(header)


def reference(data: bytes) -> answers.About | None:
    usual = heads.reference_head(data, 0)
    if usual is None:
        return None
    start, size, version, headers = usual
    record = WarcRecord(offset=0, length=1, version=version, headers=headers, block=data[start:], size=size)
    return answers.reference_describe(record)


@given(_records())
@example((b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 52))
def test_the_kernel_equals_its_reference(made: tuple[bytes, int]) -> None:
    data, start = made
    found, expected = answers.describe(data, start), reference(data)
    assert found is None or expected is None or found == expected


@given(st.binary(max_size=60), st.integers(-2, 70))
def test_the_kernel_survives_any_bytes(data: bytes, start: int) -> None:
    assert answers.describe(b"WARC/1.1\r\n" + data, start) is None or data


def test_a_usual_record_is_described(tmp_path: Path) -> None:
    write(tmp_path, [capture("http://a.example/x", b"<html>" * 900)])
    path = files(tmp_path)[0]
    [answer] = Answers(path).read()
    [record] = [one for one in archive.records(path) if one.type == "response"]
    assert answer.about == answers.reference_describe(record)
    assert answer.about[1] == "http://a.example/x" and answer.about[9:] == (200, "text/html", None)
    assert isinstance(answer.source, tuple)


def read(path: Path, check: bool = False) -> tuple[list[str], list[Damage]]:
    damages: list[Damage] = []
    return [answer.about[1] for answer in Answers(path, check=check, report=damages.append).read()], damages


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("packing", ["", "gzip", "zstd"])
def test_what_is_behind_damage_is_read_too(tmp_path: Path, packing: str, check: bool) -> None:
    made = [warcs.record(f"http://{name}.example/", name.encode() * 3000) for name in "abc"]
    parts = [warcs.write(tmp_path / "part", [one], packing).read_bytes() for one in made]
    path = tmp_path / "a.warc"
    path.write_bytes(parts[0] + b"garbage\r\n" + parts[1] + parts[2][:-40])
    found, damages = read(path, check)
    assert found == ["http://a.example/", "http://b.example/"]
    assert [damage.start for damage in damages] == [len(parts[0]), len(parts[0]) + 9 + len(parts[1])]
    assert damages[0].end == len(parts[0]) + 9
    with pytest.raises(ArchiveError, match=f"byte {len(parts[0])}"):
        list(Answers(path, check=check).read())


def test_a_record_with_a_wrong_length_is_named_and_has_no_answer(tmp_path: Path) -> None:
    """Who opens it by its place would find the damage."""
    good, bad = (warcs.record(f"http://{name}.example/", b"x" * 3000) for name in ("good", "bad"))
    parts = [gzip.compress(one) for one in (good, bad.replace(b"Content-Length: 3", b"Content-Length: 2", 1), good)]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(parts))
    found, damages = read(path)
    assert found == ["http://good.example/"] * 2
    assert [(damage.start, damage.file) for damage in damages] == [(len(parts[0]), str(path))]


def test_records_that_share_a_member_are_named_once(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    shared = gzip.compress(b"".join(warcs.record(f"http://{name}.example/", b"x") for name in "abc"))
    path.write_bytes(gzip.compress(warcs.record("http://own.example/", b"x")) + shared)
    damages: list[Damage] = []
    reading = Answers(path, report=damages.append)
    for answer in reading.read():
        if not answer.length:
            reading.shared(answer)
    [damage] = damages
    assert "shares its gzip member" in damage.what and damage.start == path.stat().st_size - len(shared)


def test_a_record_that_does_not_match_its_digest_is_skipped_when_everything_is_checked(tmp_path: Path) -> None:
    made = warcs.record("http://a.example/", b"abc" * 1000)
    wrong = made.replace(b"abcabc", b"abcabd", 1)
    path = warcs.write(tmp_path / "a.warc.gz", [made, wrong, made])
    assert (len(read(path)[0]), read(path)[1]) == (3, [])
    found, [damage] = read(path, check=True)
    assert len(found) == 2
    assert (damage.start, damage.end) == (len(gzip.compress(made)), len(gzip.compress(made) + gzip.compress(wrong)))
