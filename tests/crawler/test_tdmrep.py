"""tdmrep.json in a real crawl: requested once before the first page, kept with each document, obeyed by profile."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth, web
from tests.crawler.test_soft404 import page
from windrow import config

PATH = "/.well-known/tdmrep.json"
JSON = (("Content-Type", "application/json"),)
RESERVED = b'[{"location": "/", "tdm-reservation": 1, "tdm-policy": "/policy"}]'
SIGNALS = [("tdmrep.json", "tdm-reservation", "1"), ("tdmrep.json", "tdm-policy", "http://a.test/policy")]


@pytest.fixture
def site() -> Iterator[web.Site]:
    with web.serve() as site:
        for host in ("a.test", "b.test"):
            site.robots(host, "User-agent: *\nDisallow: /secret\n")
            for number in range(4):
                site.page(host, f"/{number}", page(number if host == "a.test" else number + 10).encode())
        yield site


def prepare(directory: Path, site: web.Site, *options: str) -> None:
    site.hosts_file(directory / "hosts")
    (directory / "seeds.txt").write_text("http://a.test/0\n")
    given = [
        "fetch.delay=0",
        "fetch.ip_delay=0",
        "fetch.allow_private=true",
        "fetch.hosts_file=hosts",
        "fetch.backoff=0.02",
    ]
    given += [
        "extract.extractor=paragraphs",
        "dedup.near_duplicates=false",
        "frontier.yield_threshold=off",
        "scope.homepages=false",
    ]
    given += ['scope.allow=["/[0-3]$"]', "quality.soft_404=0", "fetch.timeout=2", "fetch.header_timeout=2"]
    (directory / "crawl.toml").write_text(config.dump(config.make([*given, *options], directory), changed=True))


def crawl(directory: Path, site: web.Site, *options: str) -> None:
    prepare(directory, site, *options)
    result = crashing.run(["crawl", str(directory)])
    assert result.code == 0, result.err
    truth.assert_reconciled(crashing.run(["status", str(directory), "--json"]).json)
    if "extract.extractor=none" not in options:
        truth.assert_corpus(directory)


def lines(directory: Path) -> dict[str, dict[str, Any]]:
    return {
        line["url"]: line
        for frame in truth.frames(directory)
        for line in frame[1:]
        if line.get("kind", truth.PAGE) == truth.PAGE
    }


def said(directory: Path, host: str = "a.test") -> dict[str, list[tuple[str, str, str]]]:
    """Return the signals of the documents by path."""
    documents = [document for document in truth.documents(directory) if document["url"].startswith(f"http://{host}/")]
    return {
        document["url"].removeprefix(f"http://{host}"): [
            (entry["source"], entry["name"], entry.get("value", "")) for entry in document["signals"]
        ]
        for document in documents
    }


def paths(site: web.Site, host: str = "a.test") -> list[str]:
    return [request.path for request in site.requests(host)]


def test_the_file_is_requested_once_before_the_first_page_and_each_document_has_its_signals(
    site: web.Site, tmp_path: Path
) -> None:
    site.page("a.test", PATH, RESERVED, headers=JSON)
    crawl(tmp_path, site)
    assert paths(site)[:2] == ["/robots.txt", PATH] and paths(site).count(PATH) == 1
    assert said(tmp_path) == {f"/{number}": SIGNALS for number in range(4)}
    [kept] = [
        record
        for record in truth.archive(tmp_path, "robotstxt")
        if record.type == "response" and record.url.endswith(PATH)
    ]
    assert kept.payload == RESERVED


@pytest.mark.parametrize(
    ("options", "count"), [((), 4), (("--profile", "training"), 0), (("--without-signal", "tdm-reservation=1"), 0)]
)
def test_an_export_can_be_filtered_by_its_signals(
    site: web.Site, tmp_path: Path, options: tuple[str, ...], count: int
) -> None:
    site.page("a.test", PATH, RESERVED)
    crawl(tmp_path, site)
    exported = crashing.run(
        ["export", str(tmp_path), "--format", "jsonl", "--output", str(tmp_path / "out.jsonl"), *options]
    )
    assert exported.code == 0, exported.err
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == count


def test_a_profile_for_training_leaves_out_what_is_reserved_unless_the_page_says_otherwise(
    site: web.Site, tmp_path: Path
) -> None:
    site.page("a.test", PATH, b'[{"location": "/0$", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]')
    site.page("a.test", "/2", page(2).encode(), headers=(web.HTML, ("tdm-reservation", "0")))
    site.page("a.test", "/3", b'<meta name="tdm-reservation" content="0">' + page(3).encode())
    crawl(tmp_path, site, "signals.profile=training")
    found = {url.rpartition("/")[2]: (line["reason"], line.get("detail", "")) for url, line in lines(tmp_path).items()}
    assert found == {
        "0": ("ok", ""),
        "1": ("opted-out", "tdm-reservation=1 (tdmrep.json: tdm-reservation)"),
        "2": ("ok", ""),
        "3": ("ok", ""),
    }
    assert said(tmp_path) == {
        "/0": [("tdmrep.json", "tdm-reservation", "0")],
        "/2": [("header", "tdm-reservation", "0"), ("tdmrep.json", "tdm-reservation", "1")],
        "/3": [("meta", "tdm-reservation", "0"), ("tdmrep.json", "tdm-reservation", "1")],
    }


@pytest.mark.parametrize("option", ["signals.tdmrep=false", "extract.extractor=none"])
def test_the_file_is_not_requested_if_switched_off_or_if_no_text_is_extracted(
    site: web.Site, tmp_path: Path, option: str
) -> None:
    crawl(tmp_path, site, option)
    assert len(paths(site)) == 5 and PATH not in paths(site)


def test_robots_txt_may_disallow_the_file(site: web.Site, tmp_path: Path) -> None:
    site.robots("a.test", "User-agent: *\nDisallow: /.well-known/\n")
    site.page("a.test", PATH, RESERVED)
    crawl(tmp_path, site)
    assert PATH not in paths(site)
    assert said(tmp_path) == {f"/{number}": [] for number in range(4)}
    why = [line for frame in truth.frames(tmp_path) for line in frame[1:] if line["url"].endswith(PATH)]
    assert [(line["reason"], line["detail"], line["origin"]["files"]["tdmrep"]) for line in why] == [
        ("robots", "disallow: /.well-known/", {"state": "absent", "text": ""})
    ]


@pytest.mark.parametrize(
    ("status", "body", "asked"),
    [
        (404, b"", 1),
        (200, b"<!doctype html><p>Welcome</p>", 1),
        (200, b"[" * 100_000, 1),
        (200, b"[1, {}, null]", 1),
        (403, RESERVED, 1),
        (500, RESERVED, 2),
        (429, RESERVED, 2),
        (302, RESERVED, 1),
    ],
)
def test_any_other_answer_is_no_statement_and_costs_no_page(
    site: web.Site, tmp_path: Path, status: int, body: bytes, asked: int
) -> None:
    site.page("a.test", PATH, body, status)
    crawl(tmp_path, site, "signals.profile=training")
    assert paths(site).count(PATH) == asked
    assert said(tmp_path) == {f"/{number}": [] for number in range(4)}


def test_an_origin_that_answers_the_second_request_is_heard(site: web.Site, tmp_path: Path) -> None:
    site.script("a.test", PATH, [web.Reply(b"", 503), web.Reply(RESERVED)])
    crawl(tmp_path, site)
    assert said(tmp_path) == {f"/{number}": SIGNALS for number in range(4)}


@pytest.mark.parametrize(
    "wire",
    [
        web.head(200, [("Content-Length", "104857600")]) + b"[" + b" " * 3_000_000,
        web.head(200, [("Content-Length", "100")]) + b"[",
        b"garbage",
        b"",
    ],
    ids=["100 MB", "cut short", "no HTTP", "nothing"],
)
def test_a_hostile_server_takes_bounded_resources_and_no_page(site: web.Site, tmp_path: Path, wire: bytes) -> None:
    site.raw("a.test", PATH, wire)
    crawl(tmp_path, site)
    assert paths(site).count(PATH) <= 4, (
        "twice, each perhaps again where a connection that was kept turned out to be closed"
    )
    assert said(tmp_path) == {f"/{number}": [] for number in range(4)}
    kept = [
        record
        for record in truth.archive(tmp_path, "robotstxt")
        if record.type == "response" and record.url.endswith(PATH)
    ]
    assert all(len(record.payload) <= 512_000 for record in kept)


def test_a_hundred_megabytes_are_cut_off_after_the_first_half(site: web.Site, tmp_path: Path) -> None:
    site.raw("a.test", PATH, web.head(200, [("Content-Length", "104857600")]) + b"[" + b" " * 3_000_000)
    crawl(tmp_path, site)
    [kept] = [
        record
        for record in truth.archive(tmp_path, "robotstxt")
        if record.type == "response" and record.url.endswith(PATH)
    ]
    assert (len(kept.payload), kept.fields["warc-truncated"]) == (512_000, "length")


@pytest.mark.parametrize("target", ["http://a.test/policy.json", "/policy.json", "http://b.test/policy.json"])
def test_a_redirect_is_followed(site: web.Site, tmp_path: Path, target: str) -> None:
    site.page("a.test", PATH, b"", 302, [("Location", target)])
    for host in ("a.test", "b.test"):
        site.page(host, "/policy.json", RESERVED.replace(b'"/policy"', b'"http://a.test/policy"'))
    crawl(tmp_path, site)
    assert said(tmp_path) == {f"/{number}": SIGNALS for number in range(4)}
    if "b.test" in target:
        assert paths(site, "b.test") == ["/robots.txt", "/policy.json"]


def test_a_redirect_to_a_disallowed_place_is_not_followed(site: web.Site, tmp_path: Path) -> None:
    site.page("a.test", PATH, b"", 302, [("Location", "http://b.test/secret.json")])
    site.page("b.test", "/secret.json", RESERVED)
    crawl(tmp_path, site)
    assert paths(site, "b.test") == ["/robots.txt"]
    assert said(tmp_path) == {f"/{number}": [] for number in range(4)}


@pytest.mark.parametrize(
    "target", ["http://b.test/policy.json", "http://a.test:22/policy.json", "ftp://a.test/x", "http://a.test:99999/"]
)
def test_a_redirect_out_of_scope_or_to_nowhere_is_not_followed(site: web.Site, tmp_path: Path, target: str) -> None:
    site.page("a.test", PATH, b"", 302, [("Location", target)])
    crawl(tmp_path, site, 'scope.hosts_denied=["b.test"]')
    assert site.requests("b.test") == []
    assert (paths(site).count(PATH), said(tmp_path)) == (1, {f"/{number}": [] for number in range(4)})


def test_redirects_in_a_circle_end(site: web.Site, tmp_path: Path) -> None:
    site.page("a.test", PATH, b"", 302, [("Location", f"http://b.test{PATH}")])
    site.page("b.test", PATH, b"", 302, [("Location", f"http://a.test{PATH}")])
    site.page("a.test", "/0", (page(0) + '<a href="http://b.test/0">b</a>').encode())
    crawl(tmp_path, site)
    assert paths(site).count(PATH) + paths(site, "b.test").count(PATH) <= 12, "six for each of the two origins"
    assert set(said(tmp_path)) == set(said(tmp_path, "b.test")) == {f"/{number}" for number in range(4)}


def test_the_file_is_not_requested_again_after_a_restart(site: web.Site, tmp_path: Path) -> None:
    site.page("a.test", PATH, RESERVED)
    prepare(tmp_path, site, "crawl.max_pages=1")
    assert crashing.run(["crawl", str(tmp_path)]).code == 0
    crawl(tmp_path, site)
    assert paths(site).count(PATH) == 1
    assert said(tmp_path) == {f"/{number}": SIGNALS for number in range(4)}


def test_a_state_made_from_the_log_knows_the_file(site: web.Site, tmp_path: Path) -> None:
    site.page("a.test", PATH, RESERVED)
    prepare(tmp_path, site, "crawl.max_pages=1")
    assert crashing.run(["crawl", str(tmp_path)]).code == 0
    assert crashing.run(["rebuild", str(tmp_path)]).code == 0
    crawl(tmp_path, site)
    assert (paths(site).count("/robots.txt"), paths(site).count(PATH)) == (1, 1)
    assert said(tmp_path) == {f"/{number}": SIGNALS for number in range(4)}


def test_a_rebuild_for_training_leaves_out_what_the_file_reserves(site: web.Site, tmp_path: Path) -> None:
    site.page("a.test", PATH, b'[{"location": "/1", "tdm-reservation": 1}]')
    crawl(tmp_path, site)
    options = ["--corpus", str(tmp_path / "out"), "--set", "signals.profile=training"]
    done = crashing.run(["rebuild", str(tmp_path), *options])
    assert done.code == 0, done.err
    texts = [truth.members(path.read_bytes())[0] for path in (tmp_path / "out").glob("corpus/*/*")]
    kept = {json.loads(line)["url"] for text in texts for member in text for line in member.splitlines()}
    assert kept == {f"http://a.test/{number}" for number in (0, 2, 3)}
