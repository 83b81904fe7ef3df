"""Records as bytes."""

import base64
import gzip
import hashlib
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.archive.captures import capture
from windrow.archive import members
from windrow.archive.members import Earlier
from windrow.records import Place

INFO = b"11111111-2222-4333-8444-555555555555"


def unpacked(member: bytes) -> str:
    """Return a record with its random ids replaced by letters, in order of appearance."""
    text, seen = gzip.decompress(member).decode(), {INFO.decode(): "INFO"}
    for found in re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", text):
        seen.setdefault(found, f"ID{len(seen)}")
    for found, name in seen.items():
        text = text.replace(found, name)
    return text.replace("\r\n", "\n")


def test_a_request_record_is_as_common_crawl_writes_it() -> None:
    assert (
        unpacked(members.build(capture(), None, INFO, 2).request)
        == """WARC/1.1
WARC-Type: request
WARC-Date: 2025-11-15T09:46:40.123Z
WARC-Record-ID: <urn:uuid:ID1>
Content-Length: 37
Content-Type: application/http; msgtype=request
WARC-Warcinfo-ID: <urn:uuid:INFO>
WARC-IP-Address: 192.0.2.7
WARC-Target-URI: http://example.org/
WARC-Protocol: http/1.1

GET / HTTP/1.1
Host: example.org



"""
    )


def test_a_response_record_is_as_common_crawl_writes_it() -> None:
    page = msgspec.structs.replace(
        capture(), protocol="h2", cipher="tls/1.3 TLS_AES_256_GCM_SHA384", truncated="length"
    )
    assert (
        unpacked(members.build(page, None, INFO, 2).response)
        == """WARC/1.1
WARC-Type: response
WARC-Date: 2025-11-15T09:46:40.123Z
WARC-Record-ID: <urn:uuid:ID1>
Content-Length: 84
Content-Type: application/http; msgtype=response
WARC-Warcinfo-ID: <urn:uuid:INFO>
WARC-Concurrent-To: <urn:uuid:ID2>
WARC-IP-Address: 192.0.2.7
WARC-Target-URI: http://example.org/
WARC-Protocol: h2
WARC-Protocol: tls/1.3
WARC-Cipher-Suite: TLS_AES_256_GCM_SHA384
WARC-Payload-Digest: sha1:O57NSEYVH37NN5YSIJIQGZF2VAMOK4GK
WARC-Block-Digest: sha1:6T5WT3ESWOWIY6RCSQUUDMWVCB47VMLL
WARC-Truncated: length
WARC-Identified-Payload-Type: text/html

HTTP/1.1 200 Fine
Content-Type: text/html
Content-Length: 18

<html>hello</html>

"""
    )


def test_a_metadata_record_holds_everything_for_which_the_others_have_no_header() -> None:
    page = members.build(capture(), None, INFO, 2)
    assert (
        unpacked(members.metadata(page, 42, {"charset-detected": "UTF-8"}, 2)).replace(str(len(page.request)), "LENGTH")
        == """WARC/1.1
WARC-Type: metadata
WARC-Date: 2025-11-15T09:46:40.123Z
WARC-Record-ID: <urn:uuid:ID1>
Content-Length: 129
Content-Type: application/warc-fields
WARC-Warcinfo-ID: <urn:uuid:INFO>
WARC-Concurrent-To: <urn:uuid:ID2>
WARC-Target-URI: http://example.org/

seq: 42
fetchTimeMs: 258
via: http://example.org/from
depth: 2
downloaded: 321
requestLength: LENGTH
charset-detected: UTF-8


"""
    )


def test_a_revisit_record_points_to_the_payload_and_has_none() -> None:
    origin = Earlier(
        "http://example.org/first", 1763100000.5, Place("warc/W-n0-20251115094640-00007.warc.gz", 1234, 567)
    )
    text = unpacked(members.build(capture(), origin, INFO, 2).response)
    assert "WARC-Type: revisit\n" in text and "Content-Type: message/http\n" in text
    assert "WARC-Payload-Digest: sha1:O57NSEYVH37NN5YSIJIQGZF2VAMOK4GK\n" in text
    assert (
        "WARC-Refers-To-Target-URI: http://example.org/first\nWARC-Refers-To-Date: 2025-11-14T06:00:00.500Z\n" in text
    )
    assert "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\n" in text
    assert text.endswith("Content-Length: 18\n\n\n\n") and "<html>" not in text


def test_the_payload_digest_covers_only_the_body() -> None:
    one = capture()
    other = msgspec.structs.replace(
        one, head=b"HTTP/1.1 200 OK\r\nX-Crawler-Transfer-Encoding: chunked\r\nContent-Length: 18\r\n\r\n"
    )
    assert members.build(one, None, INFO, 2).digest == members.build(other, None, INFO, 2).digest
    assert members.build(one, None, INFO, 2).digest == base64.b32encode(hashlib.sha1(one.body).digest()).decode()


def test_a_capture_without_request_has_no_request_record() -> None:
    page = members.build(msgspec.structs.replace(capture(), request=b""), None, INFO, 2)
    assert page.request == b"" and b"Concurrent" not in gzip.decompress(page.response)


def test_members_bound_to_another_file_differ_only_in_its_name() -> None:
    page, other = (
        members.build(capture(body=b"WARC-Warcinfo-ID: <urn:uuid:" + INFO), None, INFO, 2),
        INFO.replace(b"1", b"9"),
    )
    bound = members.bind(page, other, 2)
    for before, after in ((page.request, bound.request), (page.response, bound.response)):
        old = gzip.decompress(before)
        assert gzip.decompress(after) == old.replace(INFO, other, 1) != old
    assert members.bind(bound, other, 2) is bound and bound.digest == page.digest


def test_extra_fields_may_not_have_the_names_of_the_archive() -> None:
    with pytest.raises(ValueError, match="seq"):
        members.metadata(members.build(capture(), None, INFO, 2), 1, {"seq": "2"}, 2)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_every_level_gives_complete_gzip_members(level: int) -> None:
    page = members.build(capture(), None, INFO, level)
    for member in (page.request, page.response, members.metadata(page, 1, {}, level)):
        assert member.startswith(b"\x1f\x8b\x08\x00") and gzip.decompress(member).endswith(b"\r\n\r\n")


@given(st.binary(min_size=20, max_size=20))
def test_base32_equals_that_of_the_standard_library(digest: bytes) -> None:
    assert members.base32(digest) == base64.b32encode(digest)


def test_record_ids_are_version_4_uuids_and_all_different() -> None:
    ids = [members.build(capture(), None, INFO, 0).id.decode() for _ in range(2000)]
    assert len(set(ids)) == 2000
    assert all(
        re.fullmatch("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", found) for found in ids
    )


@pytest.mark.parametrize(
    ("moment", "date"),
    [
        (0.0, b"1970-01-01T00:00:00.000Z"),
        (1763200000.9996, b"2025-11-15T09:46:41.000Z"),
        (951782400.001, b"2000-02-29T00:00:00.001Z"),
    ],
)
def test_dates_have_milliseconds(moment: float, date: bytes) -> None:
    assert members.date(moment) == date
