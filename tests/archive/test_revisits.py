"""Revisit records of other programs: the payload is that of the record they point to, in the same set of files."""

from pathlib import Path

import pytest

from windrow import archive
from windrow.archive import Originals, ReadOptions, StoredCapture

OLD, NEW = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
URL, DIGEST = "http://a.example/", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nA: new\r\n\r\n"


def record(kind: str, name: str, block: bytes, date: str = OLD, **headers: str) -> bytes:
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{name}>",
        "WARC-Date": date,
        "WARC-Target-URI": URL,
        "Content-Type": "application/http; msgtype=response",
        **{field.replace("_", "-"): value for field, value in headers.items()},
        "Content-Length": str(len(block)),
    }
    head = "".join(f"{field}: {value}\r\n" for field, value in fields.items())
    return f"WARC/1.0\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


ORIGINAL = record("response", "one", OK.replace(b"new", b"old") + b"<p>body</p>", WARC_Payload_Digest=DIGEST)


def read(*paths: Path) -> list[StoredCapture]:
    reading = ReadOptions(originals=Originals(paths))
    return [stored for path in paths for stored in archive.captures(path, reading)]


@pytest.mark.parametrize(
    "pointer",
    [
        {"WARC-Refers-To": "<urn:uuid:one>"},
        {"WARC-Refers-To-Target-URI": URL, "WARC-Refers-To-Date": OLD},
        {"WARC-Refers-To-Target-URI": f"<{URL}>", "WARC-Refers-To-Date": "2020-01-01T00:00:00.000Z"},
        {"WARC-Payload-Digest": DIGEST},
        {"WARC-Refers-To": "<urn:uuid:gone>", "WARC-Payload-Digest": DIGEST.lower()},
    ],
    ids=["id", "URL and date", "brackets and fractions", "digest", "digest where the id is unknown"],
)
def test_a_revisit_gets_the_payload_of_the_record_it_points_to(tmp_path: Path, pointer: dict[str, str]) -> None:
    (tmp_path / "1.warc").write_bytes(ORIGINAL)
    (tmp_path / "2.warc").write_bytes(record("revisit", "two", OK, NEW, **pointer))
    for paths in (("1.warc", "2.warc"), ("2.warc", "1.warc")):
        found = {stored.id: stored for stored in read(*[tmp_path / name for name in paths])}
        again = found["<urn:uuid:two>"]
        assert (again.capture.body, again.capture.head, again.type) == (b"<p>body</p>", OK, "revisit")
        assert again.capture.time > found["<urn:uuid:one>"].capture.time


def test_a_server_that_says_not_modified_gives_the_old_header(tmp_path: Path) -> None:
    path = tmp_path / "1.warc"
    path.write_bytes(
        ORIGINAL + record("revisit", "two", b"HTTP/1.1 304 Not\r\n\r\n", NEW, WARC_Refers_To="<urn:uuid:one>")
    )
    again = read(path)[1].capture
    assert (again.status, again.header("A"), again.body) == (200, "old", b"<p>body</p>")


def test_a_revisit_without_block_and_type_gives_the_old_header(tmp_path: Path) -> None:
    path = tmp_path / "1.warc"
    revisit = record("revisit", "two", b"", NEW, WARC_Refers_To="<urn:uuid:one>")
    path.write_bytes(ORIGINAL + revisit.replace(b"Content-Type: application/http; msgtype=response\r\n", b""))
    again = read(path)[1].capture
    assert (again.status, again.header("A"), again.body) == (200, "old", b"<p>body</p>")


@pytest.mark.parametrize(
    "pointer",
    [
        {"WARC-Refers-To": "<urn:uuid:gone>"},
        {"WARC-Refers-To": "<urn:uuid:one>", "WARC-Payload-Digest": "sha1:OTHERHEREOTHERHEREOTHERHEREOTHER"},
        {"WARC-Refers-To": "<urn:uuid:two>"},
        {},
    ],
    ids=["missing", "another digest", "itself", "nothing"],
)
def test_a_revisit_whose_payload_is_not_there_is_no_capture(tmp_path: Path, pointer: dict[str, str]) -> None:
    path = tmp_path / "1.warc"
    path.write_bytes(ORIGINAL + record("revisit", "two", OK, NEW, **pointer))
    assert [stored.id for stored in read(path)] == ["<urn:uuid:one>"]


def test_places_are_saved_for_other_processes(tmp_path: Path) -> None:
    path = tmp_path / "1.warc"
    path.write_bytes(ORIGINAL + record("revisit", "two", OK, NEW, WARC_Refers_To="<urn:uuid:one>"))
    Originals([path]).save(tmp_path / "saved")
    found = archive.captures(path, ReadOptions(originals=Originals.load(tmp_path / "saved")))
    assert [stored.capture.body for stored in found] == [b"<p>body</p>"] * 2
    assert not Originals([tmp_path / "none.warc"])
