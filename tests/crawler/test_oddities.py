"""Pages that browsers show and simple crawlers lose, in a real crawl."""

import gzip
from pathlib import Path

from tests import crashing, proxy, truth, web
from windrow import config

CONTACT = "identity.contact=https://example.org/bot"
HREFS = "/a?q=Привет&x=1 /a?q=日本 /é?é"


def crawl(directory: Path, site: web.Site, seeds: str, *options: str) -> None:
    site.hosts_file(directory / "hosts")
    (directory / "seeds.txt").write_text(seeds)
    given = ["fetch.delay=0", "fetch.ip_delay=0", "fetch.allow_private=true", "fetch.hosts_file=hosts"]
    given += ["fetch.backoff=0.02", "extract.extractor=none", "quality.soft_404=0", "scope.homepages=false"]
    (directory / "crawl.toml").write_text(config.dump(config.make([*given, *options], directory), changed=True))
    result = crashing.run(["crawl", str(directory)])
    assert result.code == 0, result.err
    truth.assert_reconciled(crashing.run(["status", str(directory), "--json"]).json)


def anchors(hrefs: str) -> str:
    return "".join(f'<a href="{href}">a</a>' for href in hrefs.split())


def test_links_are_requested_in_the_charset_of_their_page(tmp_path: Path) -> None:
    with web.serve() as site:
        for host, charset in {"a.test": "windows-1251", "b.test": "shift_jis", "c.test": "utf-8"}.items():
            body = anchors(HREFS).encode(charset, "xmlcharrefreplace")
            site.page(host, "/", body, headers=[("Content-Type", f"text/html; charset={charset}")])
        crawl(tmp_path, site, "http://a.test/\nhttp://b.test/\nhttp://c.test/\n")
        asked = {host: {one.path for one in site.requests(host)} for host in ("a.test", "b.test", "c.test")}
    assert asked["a.test"] >= {
        "/a?q=%CF%F0%E8%E2%E5%F2&x=1",
        "/a?q=%26%2326085%3B%26%2326412%3B",
        "/%C3%A9?%26%23233%3B",
    }
    assert asked["b.test"] >= {"/a?q=%84P%84%82%84y%84r%84u%84%84&x=1", "/a?q=%93%FA%96{", "/%C3%A9?%26%23233%3B"}
    assert asked["c.test"] >= {"/a?q=%E6%97%A5%E6%9C%AC", "/%C3%A9?%C3%A9"}


def test_pages_with_broken_headers_are_archived(tmp_path: Path) -> None:
    names = ["header-no-colon", "length-empty", "blank-first"]
    with web.serve() as site:
        seeds = "".join(f"http://{name}.test/bad/{name}\n" for name in names)
        for name in names:
            site.page(f"{name}.test", "/robots.txt", b"", 404)
        crawl(tmp_path, site, seeds)
        assert len([request for request in site.log if "/bad/" in request.path]) == 2 * len(names)
    ends = {
        line["url"]: line["reason"] for frame in truth.frames(tmp_path) for line in frame[1:] if line.get("final", True)
    }
    for name in names:
        assert ends[f"http://{name}.test/bad/{name}"] == "ok"


def test_a_whole_crawl_goes_through_a_proxy_and_resolves_no_name(tmp_path: Path) -> None:
    (tmp_path / "login").write_text("anna:s3cret\n")
    with web.serve() as site, proxy.serve(site.port, "anna:s3cret") as through:
        for host in ("a.invalid", "b.invalid"):
            site.page(host, "/", anchors("/1 /2").encode())
        options = [f"fetch.proxy=http://127.0.0.1:{through.port}", "fetch.proxy_login_file=login", CONTACT]
        crawl(tmp_path, site, "http://a.invalid/\nhttp://b.invalid/\n", *options, "fetch.hosts_file=")
        for host in ("a.invalid", "b.invalid"):
            assert [request.path for request in site.requests(host)] == ["/robots.txt", "/", "/1", "/2"]
        assert len(through.log) == len(site.log)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "login"]
    assert not any(b"s3cret" in content(path) for path in files)


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
