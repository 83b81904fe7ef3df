"""The capture of one record: response, request and resource, with the body as it is stored."""

import gzip
from pathlib import Path

from tests.jobs import warcs
from windrow import archive, urls

URL = urls.parse("http://a.example/page")
assert URL is not None


def test_a_response_is_a_capture_whose_codings_can_be_undone(tmp_path: Path) -> None:
    packed = gzip.compress(b"<p>text</p>")
    path = warcs.write(tmp_path / "a.warc.gz", [warcs.record(URL.text, packed, Content_Encoding="gzip")])
    capture = archive.capture_of(next(archive.records(path)), URL)
    assert (capture.status, capture.body, capture.encoded) == (200, packed, True)
    assert capture.time == 1714979289.0
    plain = archive.decoded(capture)
    assert (plain.body, plain.raw, plain.encoded) == (b"<p>text</p>", packed, False)


def test_a_resource_is_read_as_if_a_server_had_sent_it(tmp_path: Path) -> None:
    path = warcs.write(tmp_path / "a.warc.gz", [warcs.resource(URL.text, b"<p>text</p>")])
    capture = archive.capture_of(next(archive.records(path)), URL)
    assert (capture.status, capture.body, capture.header("Content-Type")) == (200, b"<p>text</p>", "text/html")


def test_a_request_has_no_status(tmp_path: Path) -> None:
    record = warcs.record(URL.text, b"").replace(b"WARC-Type: response", b"WARC-Type: request")
    path = warcs.write(tmp_path / "a.warc.gz", [record])
    assert archive.capture_of(next(archive.records(path)), URL).status == 0
