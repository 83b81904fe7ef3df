"""A crawl does not request what is on its takedown list, from its start and as soon as the list changes."""

import logging
import os
from pathlib import Path

import pytest

from tests import crashing, truth, web
from windrow import config
from windrow.config import Config, ConfigError
from windrow.crawler.orders.takedown import TakedownFile
from windrow.frontier.policy.scope import Scope
from windrow.takedown import Takedown

OPTIONS = ("fetch.delay=0", "fetch.ip_delay=0", "fetch.allow_private=true", "fetch.hosts_file=hosts")
PAGES = {
    "/": ("/kept", "/private/1", "/moved", "http://gone.test/", "http://sub.gone.test/x", "http://other.test/"),
    "/kept": ("/private/2",),
}


def build(site: web.Site) -> None:
    for path, links in PAGES.items():
        site.page("a.test", path, b"<p>" + b"".join(f'<a href="{url}">x</a>'.encode() for url in links))
    site.page("a.test", "/private/1")
    site.page("a.test", "/moved", status=301, headers=(("Location", "http://gone.test/target"),))
    site.page("other.test", "/")
    for host in ("gone.test", "sub.gone.test"):
        site.page(host, "/")


def prepare(directory: Path, site: web.Site, *options: str) -> Path:
    site.hosts_file(directory / "hosts")
    (directory / "seeds.txt").write_text("http://a.test/\n")
    made = config.make([*OPTIONS, "extract.extractor=none", *options], directory)
    (directory / "crawl.toml").write_text(config.dump(made, changed=True))
    return directory


def crawl(directory: Path, *options: str) -> crashing.Result:
    result = crashing.run(["crawl", str(directory), "--json", *options])
    assert result.code == 0, result.err
    return result


def refused(directory: Path) -> int:
    status = crashing.run(["status", str(directory), "--json"]).json
    return int(status["refused"].get("takedown", 0))


def test_nothing_on_the_list_is_requested_and_links_to_it_are_counted(tmp_path: Path) -> None:
    with web.serve() as site:
        build(site)
        prepare(tmp_path, site)
        (tmp_path / "takedown.txt").write_text("gone.test\nhttp://a.test/private/*\n")
        crawl(tmp_path)
        asked = {(request.host, request.path) for request in site.requests()}
    assert {host for host, _ in asked} == {"a.test", "other.test"}, "not even a robots.txt of a listed host"
    assert {target for host, target in asked if host == "a.test"} == {"/robots.txt", "/", "/kept", "/moved"}
    assert refused(tmp_path) >= 5, "two private pages, two hosts, the target of a redirect"
    story = crashing.run(["why", str(tmp_path), "http://gone.test/", "--json"]).json
    assert (story["state"], story["reason"]) == ("not admitted", "it is on the takedown list")
    assert story["takedown"] == "takedown.txt, line 1: gone.test"


def test_a_url_that_waits_when_the_list_grows_ends_without_a_request(tmp_path: Path) -> None:
    with web.serve() as site:
        build(site)
        prepare(tmp_path, site)
        crawl(tmp_path, "--max-pages", "1")
        (tmp_path / "takedown.txt").write_text("gone.test\nhttp://a.test/private/*\n")
        before = len(site.requests())
        crawl(tmp_path)
        asked = {(request.host, request.path) for request in site.requests()[before:]}
    assert {host for host, _ in asked} == {"a.test", "other.test"}
    assert not any(target.startswith("/private") for _, target in asked)
    ends = {
        line["url"]: (line["reason"], line.get("detail", ""))
        for frame in truth.frames(tmp_path)
        for line in frame[1:]
        if line.get("kind", 0) == 0
    }
    assert ends["http://gone.test/"] == ("out-of-scope", "takedown (takedown.txt, line 1: gone.test)")
    assert ends["http://a.test/private/1"][0] == "out-of-scope"
    status = crashing.run(["status", str(tmp_path), "--json"]).json
    truth.assert_reconciled(status)
    assert status["waiting"] == 0


def test_a_crawl_whose_only_seed_is_listed_continues_with_its_other_urls(tmp_path: Path) -> None:
    with web.serve() as site:
        build(site)
        prepare(tmp_path, site)
        crawl(tmp_path, "--max-pages", "1")
        (tmp_path / "takedown.txt").write_text("http://a.test/\n")
        crawl(tmp_path)
        assert site.requests("other.test", "/")


def test_a_bad_line_stops_a_crawl_before_its_first_request(tmp_path: Path) -> None:
    with web.serve() as site:
        build(site)
        prepare(tmp_path, site)
        (tmp_path / "takedown.txt").write_text("gone.test\nnot a place\n")
        result = crashing.run(["crawl", str(tmp_path)])
        assert result.code == 2 and "takedown.txt, line 2: " in result.err
        assert site.requests() == []


def change(path: Path, text: str) -> None:
    """Change a file; its time differs however quick the test is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_running_crawl_follows_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, scope = tmp_path / "takedown.txt", Scope(Config().scope)
    file = TakedownFile(tmp_path, scope)

    def follow() -> Takedown:
        file.follow()
        return scope.takedown

    listed = scope.takedown
    assert not listed and follow() is listed
    change(path, "gone.test\n")
    with caplog.at_level(logging.INFO):
        listed = follow()
    assert listed.covers("http://gone.test/") and "has changed and is in force" in caplog.text
    assert follow() is listed, "an unchanged file is not read again"
    change(path, "not a place\n")
    assert follow() is listed and "stays in force" in caplog.text
    change(path, "other.test\n")
    listed = follow()
    assert listed.covers("http://other.test/") and not listed.covers("http://gone.test/")
    path.unlink()
    assert not follow()
    change(path, "not a place\n")
    with pytest.raises(ConfigError):
        TakedownFile(tmp_path, scope)


def test_a_crawl_that_runs_stops_requesting_a_page_that_is_listed_meanwhile(tmp_path: Path) -> None:
    """The host of the last page is slow, so that the list can grow before its request."""
    with web.serve() as site:
        site.page("a.test", "/", b'<p><a href="/1">x</a><a href="/2">x</a><a href="/3">x</a>')
        for path in ("/1", "/2", "/3"):
            site.page("a.test", path)
        prepare(tmp_path, site, "fetch.delay=0.7", "crawl.commit_seconds=0.05")
        process = crashing.launch("crawl", str(tmp_path))
        try:
            while not site.requests("a.test", "/1"):
                assert process.poll() is None, process.communicate()
            (tmp_path / "takedown.txt").write_text("http://a.test/3\n")
            assert process.wait(60) == 0, process.communicate()
        finally:
            crashing.kill(process)
        assert site.requests("a.test", "/2") and not site.requests("a.test", "/3")
