"""Misbehaving servers: each ends in the right Capture or Failure."""

import asyncio
import json
from pathlib import Path

import brotli
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio_cli

from tests import web
from tests.archive.captures import files, write
from tests.fetch.client.support import QUICK, WELL_FORMED, captured, failed, fetch, task, use
from tests.shared import shared
from windrow import archive, config
from windrow.fetch.client import Client
from windrow.records import Capture, Failure, Reason, Request

# Name of the misbehaviour -> status and truncation of the capture.
KEPT: dict[str, tuple[int, str]] = {
    "no-length": (200, ""),
    "short-body": (200, "disconnect"),
    "long-body": (200, ""),
    "length-huge": (200, ""),
    "length-twice": (200, ""),
    "length-list": (200, ""),
    "chunked": (200, ""),
    "chunk-extension": (200, ""),
    "chunk-trailer": (200, ""),
    "chunk-garbage": (200, "disconnect"),
    "chunk-huge": (200, "disconnect"),
    "chunk-no-end": (200, "disconnect"),
    "chunk-and-length": (200, ""),
    "chunked-twice": (200, ""),
    "header-fold": (200, ""),
    "header-fold-first": (200, ""),
    "header-lf": (200, ""),
    "header-no-name": (200, ""),
    "header-space": (200, ""),
    "header-latin": (200, ""),
    "header-none": (200, ""),
    "status-bare": (200, ""),
    "status-600": (600, ""),
    "status-999": (999, ""),
    "version-1.0": (200, ""),
    "early": (200, ""),
    "upgrade": (101, ""),
    "body-204": (204, ""),
    "body-304": (304, ""),
    "empty": (200, ""),
    "gzip": (200, ""),
    "x-gzip": (200, ""),
    "deflate": (200, ""),
    "deflate-raw": (200, ""),
    "br": (200, ""),
    "zstd": (200, ""),
    "gzip-twice": (200, ""),
    "gzip-thrice": (200, ""),
    "gzip-empty": (200, ""),
    "gzip-cut": (200, ""),
    "gzip-not": (200, ""),
    "br-cut": (200, ""),
    "br-not": (200, ""),
    "zstd-not": (200, ""),
    "gzip-checksum": (200, ""),
    "gzip-chunked": (200, ""),
    "gzip-short": (200, "disconnect"),
    "coding-unknown": (200, ""),
    "coding-charset": (200, ""),
    "poison": (200, ""),
    "poison-late": (200, ""),
    "poison-bytes": (200, ""),
    "poison-chunk": (200, ""),
    "poison-length": (200, ""),
    "poison-204": (204, ""),
    "in-pieces": (200, ""),
    "reset-body": (200, "disconnect"),
    "drip-body": (200, "time"),
    "stall": (200, "time"),
    "slow-close": (200, ""),
    "endless": (200, "length"),
    "endless-chunks": (200, "length"),
    "big": (200, "length"),
    "bomb": (200, "length"),
    "status": (503, ""),
    "redirect": (302, ""),
    "redirect-chain": (302, ""),
    "redirect-grow": (302, ""),
    **dict.fromkeys((name for name in web.RAW if name.startswith("redirect-") and name != "redirect-two"), (302, "")),
}


LOST: dict[str, Reason] = {
    "close": Reason.DISCONNECT,
    "partial-header": Reason.DISCONNECT,
    "garbage": Reason.PROTOCOL,
    "http09": Reason.PROTOCOL,
    "short-empty": Reason.DISCONNECT,
    "length-negative": Reason.PROTOCOL,
    "length-junk": Reason.PROTOCOL,
    "length-empty": Reason.PROTOCOL,
    "length-conflict": Reason.PROTOCOL,
    "length-list-conflict": Reason.PROTOCOL,
    "chunk-garbage-first": Reason.DISCONNECT,
    "chunked-not-last": Reason.PROTOCOL,
    "transfer-unknown": Reason.PROTOCOL,
    "transfer-gzip": Reason.PROTOCOL,
    "header-many": Reason.PROTOCOL,
    "header-long": Reason.PROTOCOL,
    "header-nul": Reason.PROTOCOL,
    "header-cr": Reason.PROTOCOL,
    "header-no-colon": Reason.PROTOCOL,
    "blank-first": Reason.PROTOCOL,
    "blank-lf-first": Reason.PROTOCOL,
    "no-colon-kept": Reason.PROTOCOL,
    "no-colon-chunks": Reason.PROTOCOL,
    "status-short": Reason.PROTOCOL,
    "status-long": Reason.PROTOCOL,
    "status-word": Reason.PROTOCOL,
    "version-7": Reason.PROTOCOL,
    "icy": Reason.PROTOCOL,
    "early-only": Reason.DISCONNECT,
    "redirect-two": Reason.PROTOCOL,
    "silent": Reason.TIMEOUT,
    "reset": Reason.DISCONNECT,
    "drip-header": Reason.TIMEOUT,
    "stall-empty": Reason.TIMEOUT,
    "endless-header": Reason.PROTOCOL,
    "endless-trailer": Reason.PROTOCOL,
    "endless-early": Reason.PROTOCOL,
}


@pytest.fixture(scope="module")
def misbehaved(site: web.Site) -> dict[str, Capture | Failure]:
    """The outcome of every misbehaviour, requested at once, each on a host of its own."""
    found: dict[str, Capture | Failure] = {}

    async def job(one: Client) -> None:
        async def ask(name: str) -> None:
            found[name] = await one.get(Request(task(f"http://{name}.bad.test/bad/{name}"), site.address))

        await asyncio.gather(*map(ask, [*web.RAW, *web.BAD]))

    use(job, config.FetchOptions(**QUICK))  # type: ignore[arg-type]
    return found


def test_every_misbehaviour_has_its_expected_end() -> None:
    assert {*KEPT, *LOST} == {*web.RAW, *web.BAD}
    assert not {*KEPT} & {*LOST}


@pytest.mark.parametrize("name", KEPT)
def test_an_answer_that_can_be_kept_is_kept_and_marked(misbehaved: dict[str, Capture | Failure], name: str) -> None:
    answer = misbehaved[name]
    assert isinstance(answer, Capture), answer
    assert (answer.status, answer.truncated) == KEPT[name]
    assert WELL_FORMED.fullmatch(answer.head)
    assert answer.headers("content-length") == [str(len(answer.body))]
    assert answer.headers("transfer-encoding") == []
    assert answer.headers("content-encoding") == []


@pytest.mark.parametrize("name", LOST)
def test_a_lost_answer_has_a_reason_on_one_line(misbehaved: dict[str, Capture | Failure], name: str) -> None:
    answer = misbehaved[name]
    assert isinstance(answer, Failure), answer
    assert answer.reason is LOST[name]
    assert answer.detail and answer.detail.isprintable() and len(answer.detail) <= 200


@pytest.mark.parametrize(
    "name",
    [
        *(
            "no-length",
            "length-huge",
            "length-twice",
            "length-list",
            "chunked",
            "chunk-trailer",
            "chunk-and-length",
            "chunked-twice",
        ),
        *(
            "header-fold",
            "header-fold-first",
            "header-lf",
            "header-no-name",
            "header-space",
            "header-latin",
            "header-none",
            "early",
        ),
        *(
            "gzip",
            "x-gzip",
            "deflate",
            "deflate-raw",
            "br",
            "zstd",
            "gzip-twice",
            "gzip-checksum",
            "gzip-chunked",
            "coding-charset",
        ),
        *(
            "in-pieces",
            "slow-close",
            "poison",
            "poison-late",
            "poison-bytes",
            "poison-chunk",
            "short-body",
            "chunk-garbage",
            "chunk-no-end",
            "stall",
        ),
    ],
)
def test_the_page_arrives_despite_the_misbehaviour(misbehaved: dict[str, Capture | Failure], name: str) -> None:
    answer = misbehaved[name]
    assert isinstance(answer, Capture)
    assert (answer.body, answer.encoded) == (web.PAGE, False)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("gzip-not", web.PAGE),
        ("gzip-cut", web.PACKED[:-20]),
        ("br-not", web.PAGE),
        ("br-cut", brotli.compress(web.PAGE)[:-5]),
        ("zstd-not", web.PAGE),
        ("coding-unknown", web.PAGE),
    ],
)
def test_a_body_that_cannot_be_decoded_is_kept_as_it_arrived(
    misbehaved: dict[str, Capture | Failure], name: str, body: bytes
) -> None:
    answer = misbehaved[name]
    assert isinstance(answer, Capture)
    assert (answer.body, answer.encoded) == (body, True)
    assert answer.header("x-crawler-content-encoding") in (name.partition("-")[0], "compress")


def test_warcio_reads_every_answer_in_the_archive(
    misbehaved: dict[str, Capture | Failure], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    captures = [answer for answer in misbehaved.values() if isinstance(answer, Capture)]
    write(tmp_path, captures)
    found = [entry for path in files(tmp_path) for entry in archive.read(path)]
    assert [entry.capture for entry in sorted(found, key=lambda entry: entry.seq)] == captures
    with pytest.raises(SystemExit) as end:
        warcio_cli(["check", *map(str, files(tmp_path))])
    assert (end.value.code, capsys.readouterr().out) == (0, "")
    bodies = []
    for path in files(tmp_path):
        with open(path, "rb") as file:
            bodies += [one.content_stream().read() for one in ArchiveIterator(file) if one.rec_type == "response"]
    assert sorted(bodies) == sorted(answer.body for answer in captures)


def test_renamed_fields_describe_the_wire(misbehaved: dict[str, Capture | Failure]) -> None:
    answer = misbehaved["gzip-chunked"]
    assert isinstance(answer, Capture)
    assert answer.header("x-crawler-transfer-encoding") == "chunked"
    assert answer.header("x-crawler-content-encoding") == "gzip"
    answer = misbehaved["short-body"]
    assert isinstance(answer, Capture)
    assert answer.header("x-crawler-content-length") == "1000"


def test_a_folded_field_becomes_one_line_and_a_trailer_is_not_a_header(
    misbehaved: dict[str, Capture | Failure],
) -> None:
    folded, trailed = misbehaved["header-fold"], misbehaved["chunk-trailer"]
    assert isinstance(folded, Capture) and isinstance(trailed, Capture)
    assert folded.header("x-fold") == "first second third"
    assert trailed.header("x-trailer") is None


def test_the_capture_names_the_protocol(misbehaved: dict[str, Capture | Failure]) -> None:
    old = misbehaved["version-1.0"]
    assert isinstance(old, Capture)
    assert (old.protocol, old.head[:9]) == ("http/1.0", b"HTTP/1.0 ")


def test_an_incomplete_compressed_body_is_decoded_as_far_as_possible(misbehaved: dict[str, Capture | Failure]) -> None:
    answer = misbehaved["gzip-short"]
    assert isinstance(answer, Capture)
    assert answer.body and (web.PAGE * 50).startswith(answer.body) and not answer.encoded


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_cut_at_the_limit(site: web.Site, coding: str) -> None:
    answer = captured(f"http://a.test/bad/bomb?coding={coding}", site.address, fetch(max_decoded=300_000))
    assert (answer.body, answer.truncated, answer.encoded) == (b"0" * 300_000, "length", False)


def test_a_header_beyond_the_limit_is_refused(site: web.Site) -> None:
    site.page("large.test", "/", b"x", headers=[("X-Large", "x" * 2000)])
    assert captured("http://large.test/", site.address, fetch(max_header=3000)).status == 200
    assert failed("http://large.test/", site.address, fetch(max_header=2000)).reason is Reason.PROTOCOL


def test_256_header_fields_are_accepted_and_one_more_is_refused(site: web.Site) -> None:
    for count, host in ((255, "many.test"), (256, "more.test")):  # plus Content-Length
        site.page(host, "/", b"x", headers=[(f"X-{number}", "x") for number in range(count)])
    assert captured("http://many.test/", site.address).status == 200
    assert failed("http://more.test/", site.address).reason is Reason.PROTOCOL


def replies() -> list[tuple[str, bytes]]:
    folder = shared("conformance")
    parsing = sorted((folder / "wpt-fetch/h1-parsing/resources").glob("*.asis"))
    lengths = json.loads((folder / "wpt-fetch/content-length/resources/content-lengths.json").read_text())
    cases = json.loads((folder / "llhttp/cases.json").read_text())["cases"]
    return [
        *((file.name, file.read_bytes()) for file in parsing),
        *(
            (case["title"], case["message"].encode("latin-1"))
            for case in cases
            if case["meta"]["type"].startswith("response")
        ),
        *(
            (str(case["input"]), b"HTTP/1.1 200 OK\r\n" + case["input"].encode("latin-1") + b"\r\n\r\n" + b"x" * 42)
            for case in lengths
        ),
    ]


@pytest.mark.parametrize("keep", [False, True])
def test_every_raw_reply_of_other_test_suites_ends_in_a_record(site: web.Site, keep: bool) -> None:
    collected = replies()

    async def job(one: Client) -> None:
        async def ask(number: int, raw: bytes) -> None:
            host = f"raw{number}-{int(keep)}.test"
            site.raw(host, "/", raw, keep)
            answer = await one.get(Request(task(f"http://{host}/"), site.address))
            if isinstance(answer, Capture):
                assert WELL_FORMED.fullmatch(answer.head), answer.head
                assert answer.headers("content-length") == [str(len(answer.body))]

        await asyncio.gather(*(ask(number, raw) for number, (_, raw) in enumerate(collected)))

    assert len(collected) > 200
    use(job, config.FetchOptions(**QUICK))  # type: ignore[arg-type]
