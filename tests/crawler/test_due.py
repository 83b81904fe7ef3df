"""A whole crawl over loopback in which pages are visited again."""

import asyncio
import collections
import functools
from pathlib import Path

import pytest

from tests.web import HTML, PAGE, Reply, serve
from windrow import config, frontier, log
from windrow.archive import read
from windrow.crawler.setup import start
from windrow.inspect.status import status
from windrow.records import History, Reason, Report

STAMP = ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")


def three_times(history: History, report: Report) -> float:
    return report.time if history.visits < 3 else 0.0


def test_each_visit_is_requested_archived_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier, "open", functools.partial(frontier.open, policy=three_times))
    with serve() as site:
        link = b'<a href="/more">more</a>'
        first = Reply(PAGE + link, headers=(HTML, ("ETag", '"1"'), STAMP))
        site.script("a.test", "/", [first, first, Reply(PAGE + link + b"<p>new", headers=(HTML, ("ETag", '"2"')))])
        site.page("a.test", "/more")
        (tmp_path / "seeds.txt").write_text("http://a.test/\n", "utf-8")
        hosts = site.hosts_file(tmp_path / "hosts")
        settings = ["fetch.delay=0", "fetch.ip_delay=0", "fetch.allow_private=true", "extract.extractor=none"]
        settings += [f"fetch.hosts_file={hosts}", "identity.contact=mail@example.org"]
        asyncio.run(start.run(tmp_path, config.make(settings, tmp_path), start.Observer()))
        pages = [request.path for request in site.log if request.path in ("/", "/more")]
    assert collections.Counter(pages) == {"/": 3, "/more": 3}
    found = status(tmp_path)
    assert (found.seen, found.waiting, found.due) == (2, 0, 0)
    assert (found.finished, found.earlier) == ({"ok": 2}, {"ok": 4})
    reports = [entry.report for frame, _ in log.frames(tmp_path / "log") for entry in frame.entries]
    seen = [report for report in reports if report.task.url.text == "http://a.test/" and report.status]
    assert [(report.reason, report.etag, report.modified) for report in seen] == [
        (Reason.OK, '"1"', 784111777),
        (Reason.OK, '"1"', 784111777),
        (Reason.OK, '"2"', 0),
    ]
    assert [report.task.history for report in seen] == [None, History(visits=1), History(visits=2)]
    captures = [each for path in (tmp_path / "warc").iterdir() for each in read(path)]
    assert collections.Counter(each.capture.url for each in captures) == {"http://a.test/": 3, "http://a.test/more": 3}
