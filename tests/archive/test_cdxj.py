import base64
import contextlib
import gzip
import hashlib
import io
import json
import tarfile
import warnings
from pathlib import Path

import msgspec
import pytest
from warcio.exceptions import ArchiveLoadFailed

from tests.archive.captures import capture, write
from tests.jobs import warcs
from tests.late import Late
from tests.shared import shared
from windrow import archive
from windrow.archive import ArchiveError, Damage, Earlier, WarcRecord, Writer, cdxj
from windrow.config import ArchiveOptions
from windrow.records import Capture

cdxj_indexer = Late("cdxj_indexer.main")


def lines(directory: Path, captures: list[Capture]) -> list[bytes]:
    places = write(directory, captures)
    return [cdxj.line(record, "a.warc.gz", record.offset) for record in archive.records(directory / places[0].file)]


def test_a_response_has_its_key_time_and_place(tmp_path: Path) -> None:
    made = capture("http://www.example.org/B?z=1&a=2", b"<html>")
    places = write(tmp_path, [made])
    found = [record for record in archive.records(tmp_path / places[0].file) if record.type == "response"]
    key, time, values = cdxj.line(found[0], "a.warc.gz", 7).decode().split(" ", 2)
    assert (key, time) == ("org,example)/b?a=2&z=1", "20251115094640")
    assert json.loads(values) == {
        "url": "http://www.example.org/B?z=1&a=2",
        "mime": "text/html",
        "status": "200",
        "digest": found[0].header("WARC-Payload-Digest"),
        "length": str(places[0].length),
        "offset": "7",
        "filename": "a.warc.gz",
    }


def test_other_records_have_no_line(tmp_path: Path) -> None:
    assert [bool(line) for line in lines(tmp_path, [capture()])] == [False, False, True, False]


def record(**headers: str) -> WarcRecord:
    usual = {"WARC-Type": "response", "Content-Type": "application/http", "WARC-Target-URI": "http://a.example/"}
    written = {**usual, "WARC-Date": "2026-11-15T10:44:21.123Z", **{k.replace("_", "-"): v for k, v in headers.items()}}
    block = b"HTTP/1.1 200 OK\r\ncontent-TYPE: Text/HTML; charset=x\r\n\r\nContent-Type: not/this\r\n"
    return WarcRecord(
        offset=0, length=9, version="WARC/1.1", headers=tuple(written.items()), block=block, size=len(block)
    )


def test_the_media_type_is_that_of_the_header() -> None:
    assert cdxj.mime(record()) == "text/html"
    assert cdxj.mime(record(WARC_Type="revisit")) == "warc/revisit"
    assert cdxj.mime(msgspec.structs.replace(record(), block=b"HTTP/1.1 301 Moved\r\n\r\n")) == "unk"


def test_the_time_has_14_digits_whatever_the_precision() -> None:
    assert cdxj.moment(record()) == "20261115104421"
    assert cdxj.moment(record(WARC_Date="2026-11-15T10:44Z")) == "20261115104400"


def test_a_response_that_is_not_http_has_no_line() -> None:
    assert cdxj.line(record(Content_Type="text/dns"), "a", 0) == b""
    assert cdxj.line(record(WARC_Target_URI="dns:a.example"), "a", 0) == b""


def common(path: Path, **options: bool) -> list[tuple[str, str, dict[str, str]]]:
    """Return the lines in Common Crawl's form, taken apart."""
    found = []
    for text in cdxj.CdxLines(path, "warc/a.warc.gz", **options).read():
        key, time, values = text.decode("ascii").split(" ", 2)
        found.append((key, time, json.loads(values)))
    return found


def test_a_line_of_common_crawl_has_its_fields_in_their_order(tmp_path: Path) -> None:
    redirect = b"HTTP/1.1 301 Moved\r\nContent-Type: Text/HTML; x\r\nLocation: ../b\r\n\r\n"
    made = msgspec.structs.replace(
        capture("http://www.example.org/a/?z=1&a=2", b"<html>", 301), head=redirect, truncated="length"
    )
    writer = Writer(tmp_path, ArchiveOptions(), "n0", {})
    place = writer.append(writer.compress(made), 1, {"languages": "mal,eng", "charset-detected": "UTF-8"})
    writer.flush()
    writer.close()
    raw = next(cdxj.CdxLines(tmp_path / place.file, "warc/ä.warc.gz").read()).decode("ascii")
    digest = base64.b32encode(hashlib.sha1(b"<html>").digest()).decode()
    assert raw == (
        'org,example)/a?a=2&z=1 20251115094640 {"url": "http://www.example.org/a/?z=1&a=2", "mime": "text/html", '
        f'"mime-detected": "text/html", "status": "301", "digest": "{digest}", "length": "{place.length}", '
        f'"offset": "{place.offset}", "filename": "warc/\\u00e4.warc.gz", "charset": "UTF-8", "languages": "mal,eng", '
        '"truncated": "length", "redirect": "http://www.example.org/b"}\n'
    )


def test_the_languages_of_cld2_are_read_from_a_metadata_record() -> None:
    written = (
        '{"reliable":true,"text-bytes":9,"languages":[{"code":"ml","code-iso-639-3":"mal"},{"code-iso-639-3":"eng"}]}'
    )
    assert cdxj.languages({"languages-cld2": written}) == "mal,eng"
    assert cdxj.languages({"languages-cld2": "no JSON"}) == ""
    assert cdxj.languages({}) == ""


def test_a_metadata_record_of_another_response_adds_nothing(tmp_path: Path) -> None:
    writer = Writer(tmp_path, ArchiveOptions(), "n0", {})
    for number in range(2):
        place = writer.append(
            writer.compress(capture(f"http://a.example/{number}")), number, {"languages": f"l{number}"}
        )
    writer.flush()
    writer.close()
    path = tmp_path / place.file
    kept = [one for one in archive.records(path) if not (one.type == "metadata" and b"languages: l0" in one.block)]
    data = path.read_bytes()
    path.write_bytes(b"".join(data[one.offset : one.offset + one.length] for one in kept))
    assert [values.get("languages") for _, _, values in common(path)] == [None, "l1"]


def test_digest_and_type_of_a_foreign_record_without_them_are_computed(tmp_path: Path) -> None:
    body = b"<html>" + bytes(range(256)) * 100
    bare = b"\r\n".join(
        line for line in warcs.record("http://a.example/", body).split(b"\r\n") if not line.startswith(b"WARC-Payload")
    )
    [(_, _, values)] = common(warcs.write(tmp_path / "a.warc.gz", [bare]))
    assert values["digest"] == base64.b32encode(hashlib.sha1(body).digest()).decode()
    assert values["mime-detected"] == "text/html"


def test_a_body_that_cannot_be_unpacked_for_its_digest_is_damage(tmp_path: Path) -> None:
    body = bytes(range(256)) * 100
    bare = warcs.record("http://a.example/", body).replace(b"WARC-Payload-Digest", b"X-Digest")
    parts = [gzip.compress(bare), bytearray(gzip.compress(bare)), gzip.compress(bare)]
    parts[1][-60] ^= 255
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(parts))
    damages: list[Damage] = []
    assert len(list(cdxj.CdxLines(path, "a", report=damages.append).read())) == 2
    [damage] = damages
    assert (damage.start, damage.end) == (len(parts[0]), len(parts[0]) + len(parts[1]))
    with pytest.raises(ArchiveError, match=f"byte {len(parts[0])}"):
        list(cdxj.CdxLines(path, "a").read())


def test_a_body_with_a_coding_has_no_detected_type(tmp_path: Path) -> None:
    made = warcs.record("http://a.example/", gzip.compress(b"<html>"), Content_Encoding="gzip")
    assert "mime-detected" not in common(warcs.write(tmp_path / "a.warc.gz", [made]))[0][2]


def test_pages_that_are_refused_have_no_line(tmp_path: Path) -> None:
    made = [warcs.record(f"http://{name}.example/", b"x") for name in "abc"]
    found = cdxj.CdxLines(warcs.write(tmp_path / "a.warc.gz", made), "a").read(lambda url: "b." in url)
    assert [line.partition(b")")[0] for line in found] == [b"example,a", b"example,c"]


def test_a_record_that_shares_its_member_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(warcs.record("http://a.example/", b"a") + warcs.record("http://b.example/", b"b")))
    with pytest.raises(ArchiveError, match=r"a\.warc\.gz, byte 0: .*shares its gzip member"):
        common(path)


def test_a_flipped_bit_in_a_body_is_damage(tmp_path: Path) -> None:
    places = write(tmp_path, [capture("http://a.example/", bytes(range(256)) * 400)])
    path = tmp_path / places[0].file
    data = bytearray(path.read_bytes())
    data[places[0].offset + places[0].length // 2] ^= 64
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match=f"byte {places[0].offset}"):
        common(path)


def test_checked_lines_equal_those_that_are_not(tmp_path: Path) -> None:
    places = write(tmp_path, [capture("http://a.example/", b"x" * 9000), capture("http://b.example/", b"")])
    assert common(tmp_path / places[0].file, check=True) == common(tmp_path / places[0].file)


def peer(path: Path) -> list[tuple[str, str, dict[str, str]]]:
    """Return what cdxj-indexer says of the http responses of a file."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cdxj_indexer.CDXJIndexer("-", [str(path)], records="response,revisit").process_all()
    found = [line.split(" ", 2) for line in out.getvalue().splitlines()]
    return [(key, time, json.loads(values)) for key, time, values in found]


def comparable(
    lines: list[tuple[str, str, dict[str, str]]], trailing: int = 0
) -> list[tuple[str, str, dict[str, str]]]:
    """Leave out the differences that docs/index-and-query.md names, and nothing else.

    `trailing`: bytes of the two line ends after a record, which the peer does not count in a file without compression.
    """
    ours = {"mime-detected", "charset", "languages", "truncated", "redirect", "filename"}
    result = []
    for key, time, values in lines:
        if not values["url"].startswith("http"):
            continue
        kept = {name: value for name, value in values.items() if name not in ours}
        kept["digest"] = kept.get("digest", "").removeprefix("sha1:")
        kept["mime"] = (kept.get("mime") or "unk").lower().partition(",")[0]
        kept["status"] = kept.get("status") or "0"
        kept["length"] = str(int(kept["length"]) - trailing)
        result.append((key, time, kept))
    return result


def test_cdxj_indexer_agrees_line_by_line(tmp_path: Path) -> None:
    writer = Writer(tmp_path, ArchiveOptions(), "n0", {})
    first = capture("http://www.example.org/B//c/../d?z=1&A=2&b", b"<html>" * 5000)
    place = writer.append(writer.compress(first), 1)
    writer.append(writer.revisit(first, Earlier("http://example.org/", 1.0, place)), 2)
    writer.append(writer.compress(capture("https://example.org:8443/%C3%A4?%41=%20", b"x")), 3)
    writer.flush()
    writer.close()
    path = tmp_path / place.file
    assert comparable(common(path)) == comparable(peer(path)) != []


@pytest.mark.parametrize("packing", ["", "gzip"])
def test_cdxj_indexer_agrees_on_files_of_other_programs(tmp_path: Path, packing: str) -> None:
    made = [
        warcs.record("http://example.org/a?utm_source=x&PHPSESSID=0123456789abcdef0123456789abcdef", b"a" * 9000),
        warcs.record("http://example.org/A;jsessionid=1?b", b"", "image/png", "404 Not Found"),
        warcs.record("HTTP://user@WWW2.Example.org:80/x#frag", b"c", "", "301 Moved", Location="/y"),
        warcs.resource("http://example.org/resource", b"d"),
        warcs.record("http://example.org/(S(0123456789abcdef01234567))/p.aspx?sid=abc", b"e"),
    ]
    path = warcs.write(tmp_path / "a.warc", made, packing)
    assert comparable(common(path), 0 if packing else 4) == comparable(peer(path)) != []


def test_cdxj_indexer_agrees_on_the_samples_of_other_projects(tmp_path: Path) -> None:
    with tarfile.open(shared("conformance/warc.tar.xz")) as packed:
        packed.extractall(tmp_path, filter="data")
    compared = 0
    for path in sorted(tmp_path.rglob("*.warc*")):
        try:
            ours, theirs = common(path), peer(path)
        except (ArchiveError, ArchiveLoadFailed, ValueError):  # damaged, or with dates that the peer cannot read
            continue
        packed_file = path.read_bytes().startswith(b"\x1f\x8b")
        assert comparable(ours, 0 if packed_file else 4) == comparable(theirs), path
        compared += len(ours)
    assert compared > 500
