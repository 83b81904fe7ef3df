"""Other programs read our index: cdx_toolkit fetches records with its lines, pywb replays pages with its files."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import cdx_toolkit
import pytest

from tests.jobs import ranges
from tests.jobs.index import crawls

PYWB = "pywb==2.10.0"
CONFIG = """
collections:
  flat:
    index_paths: {crawl}/index/index.cdxj
    archive_paths: {crawl}/
  shards:
    index_paths: {crawl}/index/
    archive_paths: {crawl}/
"""


def test_cdx_toolkit_fetches_captures_by_their_lines(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    crawls.index(crawl)
    bodies = {one.task.url.text: one.body for one in crawls.SITE}
    found = []
    with ranges.serve(crawl) as server:
        for line in (crawl / "index" / "index.cdxj").read_text().splitlines()[1:3]:  # it waits between two requests
            values = json.loads(line.split(" ", 2)[2])
            capture = cdx_toolkit.CaptureObject(values, warc_download_prefix=server.url)
            found.append(capture.content == bodies[values["url"]])
    assert found == [True, True]


@pytest.fixture(scope="module")
def pywb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with pywb: it needs older versions of libraries that we use."""
    home = tmp_path_factory.mktemp("pywb")
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    done = subprocess.run([home / "bin" / "pip", "install", "--quiet", PYWB], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{PYWB} cannot be installed here")
    return home / "bin" / "wayback"


@pytest.mark.long
def test_pywb_replays_pages_with_the_flat_index_and_with_the_shards(pywb: Path, tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    crawls.index(crawl)
    (tmp_path / "config.yaml").write_text(CONFIG.format(crawl=crawl))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [pywb, "-b", "127.0.0.1", "-p", str(port), "-d", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for collection in ("flat", "shards"):
                base = f"http://127.0.0.1:{port}/{collection}"
                assert b"The wind blows over the field." in fetched(f"{base}/mp_/http://www.example.org/")
                assert b"news" in fetched(f"{base}/mp_/https://news.bbc.co.uk:8443/x/y.html?b=1&a=2")
        finally:
            server.terminate()


def fetched(url: str) -> bytes:
    """Request a page; wait for the server, which takes some seconds to start."""
    for _ in range(120):
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"nothing answers at {url}")
