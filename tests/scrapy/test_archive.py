"""The files of a spider's crawl: WARC records as another reader sees them, and a corpus that a rebuild makes again."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests import redisserver, web
from tests.redisserver import needs_redis
from tests.scrapy.spiders import ADDON, ROOT, Spiders, page, tree
from tests.waiting import until
from windrow import config
from windrow.inspect.status import status
from windrow.jobs.rebuild import ordered

pytestmark = pytest.mark.long
BESIDE = {"DOWNLOADER_MIDDLEWARES": {"windrow.scrapy.ArchiveMiddleware": 1000}}


def records(crawl: Path) -> dict[str, dict[str, Any]]:
    """Return url -> the request and the response of each page, as warcio reads them."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted([*crawl.glob("warc/*.warc.gz"), *crawl.glob("diagnostics/*.warc.gz")]):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                url = record.rec_headers.get_header("WARC-Target-URI")
                if record.rec_type in ("request", "response"):
                    seen = found.setdefault(url, {})
                    assert record.rec_type not in seen, f"{url} is archived twice"
                    seen[record.rec_type] = (record.http_headers, record.content_stream().read(), record.rec_headers)
    return found


def documents(crawl: Path) -> list[dict[str, Any]]:
    shards = [gzip.decompress(path.read_bytes()) for path in sorted(crawl.glob("corpus/*/*.jsonl.gz"))]
    lines = [line for shard in shards for line in shard.splitlines()]
    return sorted((json.loads(line) for line in lines), key=lambda document: document["url"])


def rebuilt(crawl: Path, output: Path) -> list[dict[str, Any]]:
    ordered.corpus(crawl, config.load(crawl / "crawl.toml", ()), output, lambda done: None)
    return documents(output)


def windrow(*arguments: str) -> str:
    command = [sys.executable, "-c", "from windrow.cli import main; main()", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout


def serve(spiders: Spiders) -> dict[str, bytes]:
    """Serve pages of every kind; return the body that each one has without its content coding."""
    bodies = {"/1": page(1), "/2": page(2), "/3": "<title>é</title><p>Ärger".encode("latin-1"), "/4": bytes(range(256))}
    links = "".join(f'<a href="{path}">x</a>' for path in [*bodies, "/gone", "/moved"])
    bodies["/0"] = page(0, links)
    html = ("Content-Type", "text/html; charset=utf-8")
    host = "127.0.0.1"
    spiders.site.page(host, "/0", bodies["/0"], headers=[html, ("X-Twice", "a"), ("X-Twice", "b")])
    spiders.site.page(host, "/1", gzip.compress(bodies["/1"]), headers=[html, ("Content-Encoding", "gzip")])
    spiders.site.page(host, "/2", bodies["/2"])
    spiders.site.page(host, "/3", bodies["/3"], headers=[("Content-Type", "text/html; charset=latin-1")])
    spiders.site.page(host, "/4", bodies["/4"], headers=[("Content-Type", "application/octet-stream")])
    spiders.site.page(host, "/gone", b"gone for ever", 410)
    spiders.site.page(host, "/moved", b"over there", 302, [("Location", "/2")])
    return bodies | {"/gone": b"gone for ever", "/moved": b"over there"}


def check(spiders: Spiders, bodies: dict[str, bytes], tmp_path: Path) -> None:
    found = records(spiders.crawl)
    assert {url: seen["response"][1] for url, seen in found.items()} == {
        spiders.url(path): body for path, body in bodies.items()
    }
    head, _, record = found[spiders.url("/1")]["response"]
    assert head.get_header("X-Crawler-Content-Encoding") == "gzip"
    assert head.get_header("Content-Length") == str(len(bodies["/1"]))
    assert record.get_header("WARC-IP-Address") == "127.0.0.1"
    twice, _, _ = found[spiders.url("/0")]["response"]
    assert [value for name, value in twice.headers if name == "X-Twice"] == ["a", "b"]
    for url, seen in found.items():
        assert seen["request"][0].protocol == "GET"
        sent = next(each.raw for each in spiders.site.log if url.endswith(each.path))
        assert all(f"{name}: {value}\r\n".encode() in sent for name, value in seen["request"][0].headers)
    kept = documents(spiders.crawl)
    assert [document["url"] for document in kept] == [spiders.url(path) for path in ("/0", "/1", "/2")]
    assert kept[1]["paragraphs"][-1]["text"] in bodies["/1"].decode()
    assert rebuilt(spiders.crawl, tmp_path / "again") == kept
    assert json.loads(windrow("status", str(spiders.crawl), "--json"))["documents"] == 3
    windrow("index", str(spiders.crawl))
    windrow("report", str(spiders.crawl))
    windrow("export", str(spiders.crawl), "--format", "jsonl", "-o", str(tmp_path / "out.jsonl"))


def test_in_windrows_order_every_answer_is_archived(spiders: Spiders, tmp_path: Path) -> None:
    bodies = serve(spiders)
    spiders.run([spiders.url("/0")], spiders.settings())
    check(spiders, bodies, tmp_path)


def test_with_scrapys_scheduler_every_answer_is_archived(spiders: Spiders, tmp_path: Path) -> None:
    bodies = serve(spiders)
    settings = {name: value for name, value in spiders.settings().items() if name != "ADDONS"}
    spiders.run([spiders.url("/0")], {**settings, **BESIDE})
    check(spiders, bodies, tmp_path)


def test_an_archive_of_scrapys_scheduler_can_be_killed_and_continued(spiders: Spiders, tmp_path: Path) -> None:
    tree(spiders.site, 40)
    settings = {name: value for name, value in spiders.settings().items() if name != "ADDONS"} | BESIDE
    process = spiders.start([spiders.url("/0")], {**settings, "DOWNLOAD_DELAY": 0.05})
    until(lambda: len(spiders.requested()) >= 25)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = status(spiders.crawl).documents
    assert before >= 3
    spiders.run([spiders.url("/0")], settings)  # Scrapy has forgotten everything, and requests all pages again
    after = status(spiders.crawl)
    assert after.documents == 40, "a page that was archived before is a duplicate"
    assert after.finished == {"ok": 40, "duplicate": after.pages - 40}
    kept = documents(spiders.crawl)
    assert len({document["url"] for document in kept}) == len(kept) == 40
    assert rebuilt(spiders.crawl, tmp_path / "again") == kept


def test_a_page_that_is_wanted_again_is_a_document_of_its_own_also_after_a_rebuild(
    spiders: Spiders, tmp_path: Path
) -> None:
    first, second = page(0, "<a class=again href=/0>again</a>"), page(1)
    spiders.site.script("127.0.0.1", "/0", [web.Reply(first), web.Reply(second)])
    spiders.run([spiders.url("/0")], spiders.settings())
    kept = documents(spiders.crawl)
    assert [document["url"].partition("#again-")[0] for document in kept] == [spiders.url("/0")] * 2
    assert rebuilt(spiders.crawl, tmp_path / "again") == kept


@needs_redis
def test_a_shared_job_is_archived_by_each_spider_and_a_kill_loses_no_page(spiders: Spiders) -> None:
    paths = tree(spiders.site, 40)
    with redisserver.serve() as server:
        job = {"ADDONS": ADDON, "WINDROW_ORDER": "fifo", "WINDROW_REDIS": server.url, "WINDROW_JOB": "test"}
        settings = {**spiders.settings(), **job, "WINDROW_LEASE_SECONDS": 2, "DOWNLOAD_DELAY": 0.05}
        process = spiders.start([spiders.url("/0")], settings)
        until(lambda: len(spiders.requested()) >= 25)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        spiders.run([spiders.url("/0")], settings)
    archived = {document["url"] for document in documents(spiders.crawl)}
    assert archived == {spiders.url(path) for path in paths}, "a page was finished before it was archived"
