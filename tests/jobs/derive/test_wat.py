"""WAT files: field by field as Common Crawl's, for records of every kind."""

import base64
import gzip
import hashlib
import json
import zlib
from pathlib import Path

from tests.jobs import warcs
from tests.jobs.derive.made import derived, envelopes, records, sample
from windrow import archive

PAGE = b"""<html lang="en"><head><title>Mill</title><base href="/b/"><meta name="robots" content="all">
<link rel="canonical" href="/c"><script src="s.js"></script></head>
<body><a href="x" rel="nofollow" hreflang="de" target="_top" title="T">to <b>x</b></a>
<img src="i" alt="I"></body></html>"""


def sha1(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def test_the_envelope_of_a_real_record_is_that_of_common_crawl(tmp_path: Path) -> None:
    derived(sample(tmp_path, "whirlwind.warc"), tmp_path / "out", wat=True)
    theirs = list(archive.records(sample(tmp_path, "whirlwind.warc.wat")))[1]
    ours = next(
        record
        for record in records(tmp_path / "out" / "wat")
        if record.header("WARC-Refers-To") == theirs.header("WARC-Refers-To")
    )
    one, other = json.loads(ours.block), json.loads(theirs.block)
    assert json.dumps(one["Envelope"]) == json.dumps(other["Envelope"])  # the order of members too
    assert list(one) == list(other)
    assert [name for name, _ in ours.headers] == [name for name, _ in theirs.headers]


def test_there_is_one_record_for_each_of_the_archive(tmp_path: Path) -> None:
    source = sample(tmp_path, "whirlwind.warc.gz")
    account = derived(source, tmp_path / "out", wat=True)
    described = records(tmp_path / "out" / "wat")[1:]
    originals = list(archive.records(source))
    assert account["wat"] == len(described) == len(originals) == 4
    assert [one.header("WARC-Refers-To") for one in described] == [one.header("WARC-Record-ID") for one in originals]


def test_the_container_says_where_and_how_a_record_is_packed(tmp_path: Path) -> None:
    source = warcs.write(
        tmp_path / "a.warc.gz", [warcs.record("http://a.example/", PAGE), warcs.record("http://a.example/2", b"x")]
    )
    derived(source, tmp_path / "out", wat=True)
    data = source.read_bytes()
    for envelope, record in zip(envelopes(tmp_path / "out"), archive.records(source), strict=True):
        container = envelope["Container"]
        member = data[
            int(container["Offset"]) : int(container["Offset"]) + int(container["Gzip-Metadata"]["Deflate-Length"])
        ]
        plain = gzip.decompress(member)
        assert container["Filename"] == "a.warc.gz" and container["Compressed"] is True
        assert int(container["Gzip-Metadata"]["Inflated-Length"]) == len(plain)
        assert int(container["Gzip-Metadata"]["Inflated-CRC"]) % (1 << 32) == zlib.crc32(plain)
        assert container["Gzip-Metadata"]["Header-Length"] == "10"
        length, behind = (
            int(envelope["Envelope"]["WARC-Header-Length"]),
            int(envelope["Envelope"]["Payload-Metadata"]["Trailing-Slop-Length"]),
        )
        assert (length, behind) == (plain.index(b"\r\n\r\n") + 4, 4)
        assert length + record.size + behind == len(plain)


def test_a_member_with_the_name_of_a_file_in_its_header(tmp_path: Path) -> None:
    plain = warcs.record("http://a.example/", PAGE)
    packed = gzip.compress(plain)
    named = packed[:3] + b"\x08" + packed[4:10] + b"a.warc\0" + packed[10:]
    (tmp_path / "a.warc.gz").write_bytes(named)
    derived(tmp_path / "a.warc.gz", tmp_path / "out", wat=True)
    assert envelopes(tmp_path / "out")[0]["Container"]["Gzip-Metadata"]["Header-Length"] == "17"


def test_a_plain_file_and_a_shared_member_have_no_gzip_metadata(tmp_path: Path) -> None:
    made = [warcs.record("http://a.example/", PAGE), warcs.record("http://a.example/2", PAGE)]
    derived(warcs.write(tmp_path / "plain.warc", made, ""), tmp_path / "plain", wat=True)
    (tmp_path / "one.warc.gz").write_bytes(gzip.compress(b"".join(made)))
    derived(tmp_path / "one.warc.gz", tmp_path / "one", wat=True)
    assert [one["Container"] for one in envelopes(tmp_path / "plain")] == [
        {"Filename": "plain.warc", "Compressed": False, "Offset": "0"},
        {"Filename": "plain.warc", "Compressed": False, "Offset": str(len(made[0]))},
    ]
    assert [one["Container"] for one in envelopes(tmp_path / "one")] == [
        {"Filename": "one.warc.gz", "Compressed": True, "Offset": "0"}
    ] * 2
    ids = [record.header("WARC-Record-ID") for record in records(tmp_path / "one" / "wat")]
    assert len(set(ids)) == len(ids)


def test_what_is_said_of_a_response(tmp_path: Path) -> None:
    source = warcs.write(
        tmp_path / "a.warc.gz", [warcs.record("http://a.example/", PAGE, Set_Cookie="a=1", Link="<x>; rel=y")]
    )
    derived(source, tmp_path / "out", wat=True)
    block = next(iter(archive.records(source))).block
    head, _, body = block.partition(b"\r\n\r\n")
    payload = envelopes(tmp_path / "out")[0]["Envelope"]["Payload-Metadata"]
    response = payload["HTTP-Response-Metadata"]
    assert payload["Actual-Content-Type"] == "application/http; msgtype=response"
    assert (payload["Actual-Content-Length"], payload["Block-Digest"]) == (str(len(block)), sha1(block))
    assert response["Response-Message"] == {"Status": "200", "Version": "HTTP/1.1", "Reason": "OK"}
    assert response["Headers-Length"] == str(len(head) + 4)
    assert response["Headers"] == {"Content-Type": warcs.HTML, "Set-Cookie": "a=1", "Link": "<x>; rel=y"}
    assert (response["Entity-Length"], response["Entity-Digest"]) == (str(len(body)), sha1(body))
    assert response["Entity-Trailing-Slop-Length"] == "0"
    assert response["HTML-Metadata"] == {
        "Head": {
            "Title": "Mill",
            "Base": "/b/",
            "Metas": [{"name": "HTML@/lang", "content": "en"}, {"name": "robots", "content": "all"}],
            "Link": [{"path": "LINK@/href", "url": "/c", "rel": "canonical"}],
            "Scripts": [{"path": "SCRIPT@/src", "url": "s.js"}],
        },
        "Links": [
            {
                **{"path": "A@/href", "url": "x", "target": "_top", "title": "T", "rel": "nofollow"},
                **{"hreflang": "de", "text": "to x"},
            },
            {"path": "IMG@/src", "url": "i", "alt": "I"},
        ],
    }


def test_a_header_that_occurs_twice_is_a_list(tmp_path: Path) -> None:
    plain = b"HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nA: 3\r\nno field\r\n\r\n"
    head = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n"
    (tmp_path / "a.warc").write_bytes(head % len(plain) + plain + b"\r\n\r\n")
    derived(tmp_path / "a.warc", tmp_path / "out", wat=True)
    response = envelopes(tmp_path / "out")[0]["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]
    assert response["Headers"] == {"A": ["1", "3"], "B": "2"}
    assert response["Headers-Corrupt"] is True


def test_a_body_with_a_content_coding_is_read_and_digested_as_it_is_stored(tmp_path: Path) -> None:
    packed = gzip.compress(PAGE)
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.record("http://a.example/", packed, Content_Encoding="gzip")])
    derived(source, tmp_path / "out", wat=True)
    response = envelopes(tmp_path / "out")[0]["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]
    assert (response["Entity-Length"], response["Entity-Digest"]) == (str(len(packed)), sha1(packed))
    assert response["HTML-Metadata"]["Head"]["Title"] == "Mill"


def test_a_title_has_at_most_128_characters(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.record("http://a.example/", b"<title>" + b"t" * 300)])
    derived(source, tmp_path / "out", wat=True)
    page = envelopes(tmp_path / "out")[0]["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]["HTML-Metadata"]
    assert page == {"Head": {"Title": "t" * 128}}


def test_other_types_have_no_html_metadata(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.record("http://a.example/", b"%PDF-1.7", "application/pdf")])
    derived(source, tmp_path / "out", wat=True)
    assert (
        "HTML-Metadata" not in envelopes(tmp_path / "out")[0]["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]
    )
