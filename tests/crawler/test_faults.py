"""Whatever a server does affects its URL or its host, never the crawl, and ends in a reason."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth, web
from tests.web import Reply, Site
from windrow import config
from windrow.records import Reason

FAST = (
    "crawl.progress_seconds=0",
    "fetch.delay=0",
    "fetch.ip_delay=0",
    "fetch.backoff=0.01",
    "fetch.max_backoff=0.05",
    "fetch.max_crawl_delay=0.05",
    "fetch.header_timeout=0.7",
    "fetch.timeout=1.2",
    "fetch.max_bytes=300000",
    "fetch.allow_private=true",
    "fetch.hosts_file=hosts",
    "crawl.commit_seconds=0.1",
    "extract.extractor=none",  # these tests are about servers, not about text
)
STATUSES = (204, 300, 304, 400, 401, 402, 403, 404, 405, 410, 418, 429, 451, 500, 501, 502, 503, 504, 599)
ADDRESSES = [f"127.0.0.{number}" for number in range(1, 33)]  # each address gets one request at a time
REASONS = {reason.value for reason in Reason}


@pytest.fixture
def site() -> Iterator[Site]:
    with web.serve(ADDRESSES) as served:
        yield served


def crawl(site: Site, directory: Path, seeds: list[str], *options: str) -> dict[str, dict[str, Any]]:
    """Crawl the seeds to the end and return the last log line of each URL. Checks that every URL seen has one end."""
    directory.mkdir(exist_ok=True)
    (directory / "seeds.txt").write_text("\n".join(seeds))
    site.hosts_file(directory / "hosts")
    (directory / "crawl.toml").write_text(config.dump(config.make([*FAST, *options], directory), changed=True))
    result = crashing.run(["crawl", str(directory)])
    assert (result.code, result.err) == (0, ""), result.err
    truth.assert_reconciled(crashing.run(["status", str(directory), "--json"]).json)
    assert set(truth.committed(directory).values()) == {1}
    lines = [line for frame in truth.frames(directory) for line in frame[1:] if line.get("kind", 0) == 0]
    assert {line["reason"] for line in lines} <= REASONS
    for subset in truth.SUBSETS:
        truth.archive(directory, subset)  # every digest
    return {line["url"]: line for line in lines}


def host(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()) + ".test"


# The reason for each misbehaviour: a usable response is kept, an invalid one refused, a failing host tried again.
ENDS = {
    "ok": "no-length long-body length-twice length-list chunked chunk-extension chunk-trailer header-fold "
    "header-latin header-none header-lf version-1.0 early body-204 empty gzip x-gzip deflate deflate-raw "
    "br zstd gzip-twice gzip-thrice gzip-empty gzip-cut gzip-not gzip-checksum gzip-chunked "
    "coding-unknown coding-charset in-pieces poison poison-late poison-bytes poison-chunk poison-length "
    "poison-204 slow-close endless endless-chunks big bomb drip-body stall status-bare chunk-and-length "
    "short-body reset-body chunk-no-end gzip-short",
    "redirect": "redirect-userinfo redirect-port redirect-self redirect-there redirect-back redirect redirect-grow "
    "redirect-metadata",
    "bad-redirect": "redirect-none redirect-empty redirect-file redirect-script redirect-data",
    "protocol": "garbage http09 header-many header-long header-nul header-cr length-conflict endless-header "
    "status-word redirect-two",
    "disconnect": "close reset short-empty partial-header",
    "timeout": "silent drip-header stall-empty",
}


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, dict[str, Any]], list[web.Request]]:
    """Crawl every named misbehaviour at once, each on a host of its own together with a good page."""
    names = [*web.RAW, *web.BAD]
    web.packed_bomb("gzip")  # packing it takes longer than a server may take to answer
    with web.serve(ADDRESSES) as site:
        for number, name in enumerate(names):
            site.page(host(name), "/good")
            site.at[host(name)] = ADDRESSES[number % len(ADDRESSES)]
        site.page("site.test", "/")
        seeds = [f"http://{host(name)}/{path}" for name in names for path in (f"bad/{name}", "good")]
        found = crawl(site, tmp_path_factory.mktemp("matrix") / "crawl", seeds)
        return found, site.log


def test_every_misbehaviour_ends_in_a_reason(matrix: tuple[dict[str, dict[str, Any]], list[web.Request]]) -> None:
    found, _ = matrix
    ends = {name: found[f"http://{host(name)}/bad/{name}"]["reason"] for name in [*web.RAW, *web.BAD]}
    expected = {name: reason for reason, names in ENDS.items() for name in names.split()}
    assert {name: ends[name] for name in expected} == expected


def test_no_misbehaviour_affects_another_page_of_its_host(
    matrix: tuple[dict[str, dict[str, Any]], list[web.Request]],
) -> None:
    found, _ = matrix
    assert {line["reason"] for url, line in found.items() if url.endswith("/good")} == {"ok"}


def test_a_url_with_wrong_answers_is_requested_a_few_times_at_most(
    matrix: tuple[dict[str, dict[str, Any]], list[web.Request]],
) -> None:
    _, log = matrix
    asked = [(request.host, request.path) for request in log]
    assert max(map(asked.count, set(asked))) <= 9


def test_each_status_ends_in_a_reason(site: Site, tmp_path: Path) -> None:
    for number, status in enumerate(STATUSES):
        site.page(f"s{status}.test", "/", b"sorry", status)
        site.at[f"s{status}.test"] = ADDRESSES[number]
    found = crawl(site, tmp_path / "crawl", [f"http://s{status}.test/" for status in STATUSES])
    ends = {status: found[f"http://s{status}.test/"]["reason"] for status in STATUSES}
    assert {status for status, reason in ends.items() if reason == "forbidden"} == {401, 402, 403, 451}
    assert {status for status, reason in ends.items() if reason == "not-found"} == {404, 410}
    assert {status for status, reason in ends.items() if reason == "server-error"} == {500, 501, 502, 503, 504, 599}
    assert ends[429] == "throttled" and ends[204] == "ok" and ends[304] == ends[300] == "bad-status"
    assert {len(site.requests(f"s{status}.test", "/")) for status in (401, 402, 403, 404, 410, 451)} == {1}, (
        "final, never worked around"
    )


def test_a_host_that_never_answers_is_given_up(site: Site, tmp_path: Path) -> None:
    site.raw("dead.test", "/robots.txt", web.whole(b"", 404))
    pages = [f"http://dead.test/bad/close?n={number}" for number in range(40)]
    found = crawl(site, tmp_path / "crawl", pages)
    assert {found[url]["reason"] for url in pages} <= {"disconnect", "host-dead"}
    assert [found[url]["reason"] for url in pages].count("host-dead") > 20
    assert len(site.requests("dead.test")) < 20


ROBOTS: dict[str, tuple[Reply | bytes, bool]] = {  # the answer for robots.txt, and whether pages may then be requested
    "200-empty": (Reply(b""), True),
    "200-allows": (Reply(b"User-agent: *\nDisallow: /other"), True),
    "200-disallows": (Reply(b"User-agent: *\nDisallow: /"), False),
    "200-disallows-us": (Reply(b"User-agent: windrow\nDisallow: /\n\nUser-agent: *\nDisallow:"), False),
    "200-html": (Reply(b"<!doctype html><title>Not robots</title><p>Disallow: /</p>"), True),
    "200-binary": (Reply(bytes(range(256)) * 10), True),
    "200-bom": (Reply(b"\xef\xbb\xbfUser-agent: *\nDisallow: /"), False),
    "200-huge": (Reply(b"User-agent: *\nDisallow: /\n" + b"# filler\n" * 100_000), False),
    "400": (Reply(status=400), True),
    "401": (Reply(status=401), True),
    "403": (Reply(status=403), True),
    "404": (Reply(status=404), True),
    "410": (Reply(status=410), True),
    "429": (Reply(status=429), False),
    "429-later": (Reply(status=429, headers=(("Retry-After", "0"),)), False),
    "500": (Reply(status=500), False),
    "503": (Reply(status=503), False),
    "503-later": (Reply(status=503, headers=(("Retry-After", "0"),)), False),
    "slow": (Reply(seconds=30.0), False),
    "close": (web.RAW["close"], False),
    "garbage": (web.RAW["garbage"], False),
    "cut": (web.head(200, [("Content-Length", "1000")]) + b"User-agent: *\nDisallow:", False),
    "to-allowing": (Reply(status=301, headers=(("Location", "http://rules.test/allowing"),)), True),
    "to-forbidding": (Reply(status=301, headers=(("Location", "http://rules.test/forbidding"),)), False),
    "to-broken": (Reply(status=302, headers=(("Location", "http://rules.test/broken"),)), False),
    "to-missing": (Reply(status=302, headers=(("Location", "http://rules.test/missing"),)), True),
    "to-nowhere": (Reply(status=302, headers=(("Location", "http://nowhere.test/"),)), False),
    "to-metadata": (Reply(status=302, headers=(("Location", "http://169.254.169.254/robots.txt"),)), False),
    "to-file": (Reply(status=302, headers=(("Location", "file:///etc/passwd"),)), True),
    "to-itself": (Reply(status=302, headers=(("Location", "/robots.txt"),)), True),
    "five-hops": (Reply(status=302, headers=(("Location", "http://rules.test/hop/4"),)), False),
    "six-hops": (Reply(status=302, headers=(("Location", "http://rules.test/hop/5"),)), True),
}


def test_robots_txt_decides_whatever_it_answers(site: Site, tmp_path: Path) -> None:
    for number, (name, (answer, _)) in enumerate(ROBOTS.items()):
        site.page(f"r-{name}.test", "/page")
        site.at[f"r-{name}.test"] = ADDRESSES[number]
        if isinstance(answer, bytes):
            site.raw(f"r-{name}.test", "/robots.txt", answer)
        else:
            site.script(f"r-{name}.test", "/robots.txt", [answer])
    site.at["rules.test"] = "127.0.0.2"
    site.robots("rules.test", "")
    site.page("rules.test", "/allowing", b"User-agent: *\nDisallow:")
    site.page("rules.test", "/forbidding", b"User-agent: *\nDisallow: /page")
    site.page("rules.test", "/broken", status=500)
    site.page("rules.test", "/hop/0", b"User-agent: *\nDisallow: /")
    for hop in range(1, 6):
        site.page("rules.test", f"/hop/{hop}", b"", 302, [("Location", f"/hop/{hop - 1}")])
    found = crawl(site, tmp_path / "crawl", [f"http://r-{name}.test/page" for name in ROBOTS])
    asked = {name: len(site.requests(f"r-{name}.test", "/page")) for name in ROBOTS}
    assert asked == {name: int(allowed) for name, (_, allowed) in ROBOTS.items()}
    ends = {name: found[f"http://r-{name}.test/page"]["reason"] for name in ROBOTS}
    rules = {"200-disallows", "200-disallows-us", "200-bom", "200-huge", "to-forbidding", "five-hops"}
    assert {name for name, reason in ends.items() if reason == "robots"} == rules
    assert {ends[name] for name, (_, allowed) in ROBOTS.items() if not allowed and name not in rules} == {
        "robots-unreachable"
    }


def test_a_strict_crawl_treats_a_forbidden_robots_txt_as_disallow_all(site: Site, tmp_path: Path) -> None:
    for status in (401, 403, 404):
        site.page(f"r{status}.test", "/page")
        site.robots(f"r{status}.test", "", status)
    seeds = [f"http://r{status}.test/page" for status in (401, 403, 404)]
    crawl(site, tmp_path / "crawl", seeds, "fetch.forbidden_robots_closes=true")
    assert [len(site.requests(f"r{status}.test", "/page")) for status in (401, 403, 404)] == [0, 0, 1]


def test_a_redirect_is_followed_like_a_link_and_checked_like_one(site: Site, tmp_path: Path) -> None:
    site.robots("b.test", "User-agent: *\nDisallow: /private")
    site.robots("closed.test", "", 500)
    targets = {
        "file": "file:///etc/passwd",
        "ftp": "ftp://b.test/",
        "script": "javascript:alert(1)",
        "data": "data:text/html,hello",
        "forbidden": "http://b.test/private/1",
        "closed": "http://closed.test/",
        "metadata": "http://169.254.169.254/latest/",
        "mapped": "http://[::ffff:169.254.169.254]/",
        "zero": "http://0.0.0.0/",
        "decimal": "http://3232235777/",
        "private": "http://10.0.0.1/",
        "port": "http://b.test:22/",
        "good": "http://b.test/good",
        "image": "http://b.test/picture.jpg",
    }
    for name, target in targets.items():
        site.page("a.test", f"/{name}", b"", 302, [("Location", target)])
    site.page("b.test", "/good")
    found = crawl(site, tmp_path / "crawl", [f"http://a.test/{name}" for name in targets])
    ends = {name: found[f"http://a.test/{name}"]["reason"] for name in targets}
    assert {name for name, reason in ends.items() if reason == "bad-redirect"} == {"file", "ftp", "script", "data"}
    assert {reason for name, reason in ends.items() if name not in ("file", "ftp", "script", "data")} == {"redirect"}
    assert found["http://b.test/good"]["reason"] == "ok"
    assert found["http://b.test/private/1"]["reason"] == "robots"
    assert found["http://closed.test/"]["reason"] == "robots-unreachable"
    blocked = {url for url, line in found.items() if line["reason"] == "blocked-address"}
    assert blocked == {
        "http://169.254.169.254/latest/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://0.0.0.0/",
        "http://192.168.1.1/",
        "http://10.0.0.1/",
    }, "without a contact nothing but loopback is called"
    assert not site.requests("b.test", "/private/1") and not site.requests("closed.test", "/")


def test_chains_and_loops_of_redirects_end(site: Site, tmp_path: Path) -> None:
    site.at["a.test"] = "127.0.0.1"
    seeds = [
        "http://a.test/bad/redirect-chain?left=10",
        "http://a.test/bad/redirect-chain?left=31",
        "http://a.test/bad/redirect-there",
    ]
    found = crawl(site, tmp_path / "crawl", [*seeds, "http://a.test/bad/redirect-grow"])
    assert found["http://a.test/bad/redirect-chain?left=0"]["reason"] == "ok"
    assert found["http://a.test/bad/redirect-chain?left=21"]["reason"] == "too-many-redirects"
    assert "http://a.test/bad/redirect-chain?left=20" not in found
    assert (
        found["http://a.test/bad/redirect-there"]["reason"]
        == found["http://a.test/bad/redirect-back"]["reason"]
        == "redirect"
    )
    assert max(len(url) for url in found) <= 2048
    assert len(site.requests("a.test", "/bad/redirect-there")) == 1


def test_a_host_that_wants_a_pause_gets_it_before_the_next_page_of_the_visit(site: Site, tmp_path: Path) -> None:
    names = [f"/{number}" for number in range(12)]
    for name in names:
        site.script("a.test", name, [web.Reply(b"", 429), web.Reply()])
    seeds = [f"http://a.test{name}" for name in names]
    found = crawl(site, tmp_path / "crawl", seeds, "fetch.backoff=0.1", "fetch.max_backoff=0.2")
    assert {found[url]["reason"] for url in seeds} == {"ok"}
    asked = [request for request in site.requests("a.test") if request.path != "/robots.txt"]
    refused = {request.path: request for request in reversed(asked)}  # the first of each
    for before, after in itertools.pairwise(asked):
        assert after.time - before.time >= 0.1 or refused[before.path] is not before


SESSION = ";jsessionid=0A1B2C3D4E5F60718293A4B5C6D7E8F9"


def test_a_redirect_that_only_adds_a_session_id_is_followed_and_the_page_kept(site: Site, tmp_path: Path) -> None:
    moved = web.Reply(b"", 302, (("Location", f"/page{SESSION}"),))
    site.script("a.test", "/page", [moved])
    site.page("a.test", f"/page{SESSION}", b"<a href=/next>on</a>")
    site.page("a.test", "/next")
    site.script("b.test", "/round", [web.Reply(b"", 302, (("Location", f"/round{SESSION}"),))])
    site.script("b.test", f"/round{SESSION}", [web.Reply(b"", 302, (("Location", "/round"),))])
    site.robots("c.test", "User-agent: *\nDisallow: /*jsessionid\n")
    site.script("c.test", "/page", [moved])
    found = crawl(site, tmp_path / "crawl", ["http://a.test/page", "http://b.test/round", "http://c.test/page"])
    assert found["http://a.test/page"]["reason"] == found["http://a.test/next"]["reason"] == "ok"
    assert found["http://b.test/round"]["reason"] == found["http://c.test/page"]["reason"] == "redirect"
    assert [len(site.requests("b.test", path)) for path in ("/round", f"/round{SESSION}")] == [1, 1]
    assert not site.requests("c.test", f"/page{SESSION}")
    kept = truth.archive(tmp_path / "crawl", "diagnostics")
    assert [record.url for record in kept if record.type == "response"].count("http://a.test/page") == 1, (
        "the redirect is archived too"
    )
    assert truth.pages(tmp_path / "crawl")["http://a.test/page"] == 1


def test_a_page_that_takes_a_worker_too_long_costs_only_that_page(site: Site, tmp_path: Path) -> None:
    site.page("a.test", "/", b"".join(b"<a href=/%d>page</a>" % number for number in range(5)))
    for number in range(5):
        site.page("a.test", f"/{number}")
    heavy = b"<p>" + b"".join(b"<a href=/%d/%d><b>" % (number, number) for number in range(25_000))
    site.page("b.test", "/", heavy)
    options = ("workers.seconds=0.02", "fetch.max_bytes=10000000", "extract.max_links=1000000")
    found = crawl(site, tmp_path / "crawl", ["http://a.test/", "http://b.test/"], *options)
    assert found["http://b.test/"]["reason"] == "parse-timeout"
    assert [found[f"http://a.test/{number}"]["reason"] for number in range(5)] == ["ok"] * 5
    assert truth.pages(tmp_path / "crawl")["http://b.test/"] == 1, "archived all the same"
    assert len(site.requests("b.test", "/")) == 1


def test_a_proxy_named_in_the_environment_is_not_used(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.page("a.test", "/")
    site.page("proxy.test", "/")
    site.hosts_file(tmp_path / "hosts")
    (tmp_path / "seeds.txt").write_text("http://a.test/")
    (tmp_path / "crawl.toml").write_text(config.dump(config.make(list(FAST), tmp_path), changed=True))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.2:{site.port}")
    process = crashing.launch("crawl", str(tmp_path))
    assert "ok 1" in process.communicate(timeout=60)[0]
    assert {request.path for request in site.log} == {"/robots.txt", "/"}
