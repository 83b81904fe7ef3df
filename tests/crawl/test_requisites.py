"""A page with everything that it needs to be shown, in a real crawl."""

from pathlib import Path

import pytest

from tests import truth, web
from tests.crawl.test_oddities import crawl
from windrow import archive

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
        crawl(tmp_path, site, "http://a.test/\n", "scope.requisites=true", 'scope.domains=["a.test"]')
        asked = {host: [request.path for request in site.requests(host)] for host in ("a.test", "cdn.other")}
        assert sorted(asked["a.test"]) == sorted(["/robots.txt", *HERE.split()])  # each once
        assert sorted(asked["cdn.other"]) == ["/a,3x.png", "/app.js", "/robots.txt"]
        assert [one.path for one in site.requests("frame.other")] == ["/robots.txt", "/frame", "/f.png"]
        assert site.requests("outside.test") == []
        order = asked["a.test"]
        assert order.index("/two") > order.index("/site/fonts/f.woff2")  # a page is complete before the next one
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
