"""A crawl that an earlier Windrow began is read, and goes on."""

import collections
import json
import tarfile
from pathlib import Path

import pytest

from tests import crashing
from tests.frontier import old
from tests.frontier.hand import do
from tests.frontier.simulation import options
from tests.web import serve
from windrow import frontier, log
from windrow.frontier.store.lmdb import LmdbStore
from windrow.frontier.store.rows import VERSION
from windrow.records import History, Report


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    with tarfile.open(old.ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "crawl"


def folded(directory: Path) -> dict[str, int]:
    return log.fold(directory).tally.finished


def test_its_store_and_the_frames_behind_it_give_what_its_log_says(crawl: Path) -> None:
    store = LmdbStore(crawl / "state")
    assert store.meta().version == VERSION
    store.close()
    opened = frontier.open(crawl / "state", options(), 2e9)
    before = do(opened.counts())
    assert before.seen == before.waiting + sum(before.finished.values())
    assert 0 < sum(before.finished.values()) < sum(folded(crawl).values())
    position = opened.position()
    for frame, end in log.frames(crawl / "log", position.log, position.frame):
        do(opened.replay(frame, end))
    counts = do(opened.counts())
    assert {reason.value: count for reason, count in counts.finished.items()} == folded(crawl)
    assert (counts.earlier, counts.due) == ({}, 0)
    do(opened.close())


def test_it_goes_on_and_requests_no_page_twice(crawl: Path, tmp_path: Path) -> None:
    done = [entry.report for frame, _ in log.frames(crawl / "log") for entry in frame.entries if entry.report.final]
    with serve() as site:
        old.fill(site)
        hosts = site.hosts_file(tmp_path / "hosts")
        settings = [f"--set={setting}" for setting in (*old.SETTINGS, f"fetch.hosts_file={hosts}")]
        result = crashing.run(["crawl", str(crawl), *settings])
        assert result.code == 0, result.err
        requested = collections.Counter(f"http://{request.host}{request.path}" for request in site.log)
    finished = {report.task.url.text for report in done if not report.task.file}
    assert not finished & set(requested)
    pages = {f"http://{host}/{page}" for host, count in old.PAGES.items() for page in range(count)}
    assert pages <= finished | set(requested)
    assert {requested[page] for page in pages - finished} == {1}
    status = json.loads(crashing.run(["status", str(crawl), "--json"]).out)
    assert (status["waiting"], status["earlier"], status["due"]) == (0, {}, 0)
    assert status["seen"] == sum(status["finished"].values())


def test_its_urls_can_be_due_again_from_now_on(crawl: Path) -> None:
    def soon(history: History, report: Report) -> float:
        return report.time + 60.0

    opened = frontier.open(crawl / "state", options(), 2e9, policy=soon)
    position = opened.position()
    for frame, end in log.frames(crawl / "log", position.log, position.frame):
        do(opened.replay(frame, end))
    assert do(opened.counts()).due == 0
    do(opened.checkpoint(2e9))
    do(opened.close())
    again = frontier.open(crawl / "state", options(), 2e9)
    assert {reason.value: count for reason, count in do(again.counts()).finished.items()} == folded(crawl)
    do(again.close())
