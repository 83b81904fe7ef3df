"""A page with everything that it needs to be shown, and in the form in which it was sent, in real crawls."""

import gzip
from pathlib import Path

import brotli
import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator

from tests import truth, web
from tests.crawler.test_oddities import crawl
from tests.fetch.client.support import captured, fetch
from windrow import archive, config

PAGE = b"""<!doctype html><html><head><base href="/site/">
<link rel=stylesheet href=style.css><link rel="icon" href=/favicon.ico><link rel=next href=/two>
<style>@import "more.css"; body { background: url( 'bg.png' ) }</style><script src=//cdn.other/app.js></script></head>
<body background=old.gif><p style="background: url(&quot;inline.png&quot;)">text <a href=/two>two</a>
<a href=http://outside.test/page>outside</a>
<img src=a.png srcset="a-2x.png 2x, http://cdn.other/a,3x.png 3x"><picture><source srcset="b.webp, c.webp 2x"></picture>
<video poster=p.jpg><source src=v.mp4><track src=t.vtt></video><object data=o.pdf></object><img src="data:image/png;x">
<iframe src=http://frame.other/frame></iframe><svg><image href=s.svg /></svg></body></html>"""
CSS = b"@font-face { src: url(fonts/f.woff2) } /* url(comment.png) */ @import url('deep.css');"
FRAME = b'<a href="/far">far</a><img src="f.png"><script src="f.js"></script>'

HERE = """/ /site/style.css /favicon.ico /two /site/more.css /site/bg.png /site/old.gif /site/inline.png /site/a.png
/site/a-2x.png /site/b.webp /site/c.webp /site/p.jpg /site/v.mp4 /site/t.vtt /site/o.pdf /site/s.svg
/site/fonts/f.woff2 /site/deep.css"""


@pytest.fixture
def site_directory(tmp_path: Path) -> Path:
    with web.serve() as site:
        site.page("a.test", "/", PAGE)
        for path in HERE.split()[1:]:
            site.page("a.test", path, b"x", headers=[("Content-Type", "application/octet-stream")])
        site.page("a.test", "/two", b"<img src=/site/a.png>")
        site.page("a.test", "/site/style.css", CSS, headers=[("Content-Type", "text/css")])
        site.page("a.test", "/site/deep.css", b"", headers=[("Content-Type", "text/css")])
        for path in ("/app.js", "/a,3x.png"):
            site.page("cdn.other", path, b"x", headers=[("Content-Type", "text/javascript")])
        site.robots("frame.other", "User-agent: *\nDisallow: /f.js")
        site.page("frame.other", "/frame", FRAME)
        site.page("frame.other", "/f.png", b"x", headers=[("Content-Type", "image/png")])
        site.page("outside.test", "/page", b"out")
        settings = [one.setting for one in config.PRESETS["archive"]]
        crawl(tmp_path, site, "http://a.test/\n", *settings, 'scope.domains=["a.test"]')
        asked = {host: [request.path for request in site.requests(host)] for host in ("a.test", "cdn.other")}
        assert sorted(asked["a.test"]) == sorted(["/robots.txt", *HERE.split()])  # each once
        assert sorted(asked["cdn.other"]) == ["/a,3x.png", "/app.js", "/robots.txt"]
        assert [one.path for one in site.requests("frame.other")] == ["/robots.txt", "/frame", "/f.png"]
        assert site.requests("outside.test") == []
        order = asked["a.test"]
        first = HERE.split()[1:-2]  # named by the page itself; the rest is known once the style sheet is read
        assert order.index("/two") > max(order.index(path) for path in first if path != "/two")
    return tmp_path


def test_every_requisite_is_requested_once_and_archived(site_directory: Path) -> None:
    captures = [capture for path in sorted((site_directory / "warc").iterdir()) for capture in archive.read(path)]
    stored = {one.capture.task.url.text: one.capture.task for one in captures}
    wanted = {f"http://a.test{path}" for path in HERE.split()}
    wanted |= {"http://cdn.other/app.js", "http://cdn.other/a,3x.png", "http://frame.other/frame"}
    assert wanted | {"http://frame.other/f.png"} == set(stored)
    hops = {"http://a.test/": 0, "http://a.test/two": 0, "http://a.test/site/style.css": 1}
    hops |= {"http://a.test/site/fonts/f.woff2": 2, "http://frame.other/frame": 1, "http://frame.other/f.png": 2}
    assert {url: stored[url].embed for url in hops} == hops
    assert stored["http://a.test/site/fonts/f.woff2"].via == "http://a.test/site/style.css"
    reasons = {line["url"]: line["reason"] for frame in truth.frames(site_directory) for line in frame[1:]}
    assert reasons["http://frame.other/f.js"] == "robots"


def test_bodies_stay_in_the_coding_in_which_they_were_sent(tmp_path: Path) -> None:
    with web.serve() as site:
        text = b"<p>packed</p>" * 50
        packed = {"gzip": gzip.compress(text), "br": brotli.compress(text), "zstd": zstandard.compress(text)}
        for name, body in packed.items():
            fields = [web.HTML, ("Content-Encoding", name)]
            site.page("a.test", f"/{name}", body, headers=fields)
        site.page("a.test", "/broken", b"not gzip", headers=[web.HTML, ("Content-Encoding", "gzip")])
        site.page("a.test", "/plain", text)
        paths = [*packed, "broken", "plain", "bad/gzip-chunked"]
        seeds = "".join(f"http://a.test/{path}\n" for path in paths)
        crawl(tmp_path, site, seeds, "fetch.raw_bodies=true", "fetch.max_decoded=100")
    captures = {
        one.capture.task.url.text.partition("a.test/")[2]: one.capture
        for path in (tmp_path / "warc").iterdir()
        for one in archive.read(path)
    }
    for name, body in packed.items():
        capture = captures[name]
        assert capture.headers("content-encoding") == [name]
        assert capture.headers("content-length") == [str(len(body))]
        assert (capture.raw, capture.body, capture.truncated) == (body, text[:100], "length")
    assert (captures["plain"].raw, captures["plain"].body) == (b"", text)
    assert (captures["broken"].raw, captures["broken"].body, captures["broken"].encoded) == (b"", b"not gzip", True)
    chunked = captures["bad/gzip-chunked"]
    assert chunked.headers("transfer-encoding") == [] and chunked.headers("content-encoding") == ["gzip"]
    assert (chunked.raw, chunked.body) == (web.PACKED, web.PAGE)
    for path in (tmp_path / "warc").iterdir():  # an independent reader decodes them, and finds the digests right
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                if record.rec_type == "response" and record.http_headers.get_header("Content-Encoding") == "gzip":
                    assert record.content_stream().read() in (text, web.PAGE, b"not gzip")


@pytest.mark.parametrize(
    "name", ["gzip", "br", "zstd", "gzip-twice", "gzip-cut", "gzip-short", "br-not", "coding-charset"]
)
def test_a_capture_with_a_raw_body_is_read_back_equal(tmp_path: Path, name: str) -> None:
    with web.serve() as site:
        capture = captured(f"http://a.test/bad/{name}", site.address, fetch(raw_bodies=True))
    writer = archive.Writer(tmp_path, config.ArchiveOptions(), "n0", {})
    place = writer.append(writer.compress(capture), 1, {})
    writer.flush()
    writer.close()
    assert archive.open_place(tmp_path, place) == capture
