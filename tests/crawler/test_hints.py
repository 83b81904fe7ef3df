"""What links say of their targets, in real crawls: it reaches the log with each URL, and the URL keeps it."""

import base64
from pathlib import Path

import pytest

from tests import crashing, truth, web
from windrow import config, urls
from windrow.frontier.policy import hints
from windrow.records import Link

HOME = "<p>fish of the <a href=/one hreflang=cs>river Vltava</a> in colour <a href=/two>Danube</a>"


def prepare(directory: Path, site: web.Site, *options: str) -> None:
    site.page("a.test", "/", HOME.encode())
    for path in ("/one", "/two"):
        site.page("a.test", path, b"<p>text")
    site.hosts_file(directory / "hosts")
    (directory / "seeds.txt").write_text("http://a.test/\n")
    given = ["fetch.delay=0", "fetch.ip_delay=0", "fetch.allow_private=true", "fetch.hosts_file=hosts"]
    given += ["quality.soft_404=0", "signals.tdmrep=false", *options]
    (directory / "crawl.toml").write_text(config.dump(config.make(given, directory), changed=True))


def run(*command: str) -> None:
    done = crashing.run(list(command))
    assert done.code == 0, done.err


def logged(directory: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the hints of URLs as they were admitted, and as they were requested, in base64."""
    lines = [line for frame in truth.frames(directory) for line in frame[1:]]
    admitted = {link[0]: link[-1] for line in lines for link in line.get("admitted", []) if isinstance(link[-1], str)}
    return admitted, {line["url"]: line.get("hints", "") for line in lines if line.get("kind", 0) == 0}


def expected(path: str, anchor: str, context: str, language: str = "") -> bytes:
    url = urls.parse(f"http://a.test{path}")
    assert url
    return hints.of(Link(url, anchor, "", context, language))


SAID = {
    "http://a.test/one": ("river Vltava", "fish of the in colour Danube", "cs"),
    "http://a.test/two": ("Danube", "fish of the river Vltava in colour"),
}


def test_hints_are_in_the_log_and_in_the_store_and_survive_a_rebuild(tmp_path: Path) -> None:
    with web.serve() as site:
        prepare(tmp_path, site)
        run("crawl", str(tmp_path), "--max-pages", "1")
        admitted, _ = logged(tmp_path)
        run("rebuild", str(tmp_path))
        run("crawl", str(tmp_path))
    for url, said in SAID.items():
        own = expected(url.removeprefix("http://a.test"), *said)
        assert base64.b64decode(admitted[url])[3:].startswith(own), "after three bytes about the page with the link"
    assert logged(tmp_path)[1] == {"http://a.test/": "", **admitted}


@pytest.mark.parametrize("order", ["breadth", "yield"])
def test_a_crawl_in_another_order_has_none(order: str, tmp_path: Path) -> None:
    with web.serve() as site:
        prepare(tmp_path, site, f"frontier.order={order}")
        run("crawl", str(tmp_path))
    admitted, requested = logged(tmp_path)
    assert admitted == {}
    assert requested == dict.fromkeys(["http://a.test/", *SAID], "")
