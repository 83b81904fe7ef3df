"""A crawl of a real web through a cable that is pulled, or without its name server for a while."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, netns, truth
from tests.netns import Wired
from tests.shared import shared
from windrow import config

SECONDS = float(os.environ.get("WINDROW_OUTAGE_SECONDS", "20"))  # from the moment at which the crawl notices
OPTIONS = (
    "identity.contact=https://example.org/bot",
    "fetch.delay=0.02",
    "fetch.ip_delay=0.01",
    "fetch.allow_private=true",
    "fetch.dns_ttl=3",  # so that names are looked up all the time
    "fetch.dns_negative_ttl=1",
    "fetch.no_such_host_seconds=2",
    "fetch.host_failures=3",
    "frontier.yield_threshold=off",
    "frontier.checkpoint=3",
    "archive.max_bytes=200000",  # the tests read small files faster
    "extract.extractor=none",
    'scope.tlds=["test"]',
)
# Hosts that want a second between two requests, have thousands of pages, or make up new links for each request.
DENIED = (
    "sutta.es.test",
    "sutta.hu.test",
    "api.gecode.dev.test",
    "creativecommons.org.test",
    "labyrinth.trap.com.test",
)
OUTAGES = {"cable": (Wired.cut_cable, Wired.join_cable), "names": (Wired.cut_names, Wired.join_names)}


def crawl(web: Wired, directory: Path) -> "subprocess.Popen[str]":
    return web.launch("crawl", str(directory), stderr=subprocess.PIPE, start_new_session=True)


def end(process: "subprocess.Popen[str]") -> None:
    try:
        _, err = process.communicate(timeout=400)
    finally:
        crashing.kill(process)
    assert process.returncode == 0, err


def status(directory: Path) -> dict[str, Any]:
    result = crashing.run(["status", str(directory), "--json"])
    return json.loads(result.out) if result.code == 0 else {"requests": 0, "offline": 0.0}


def prepared(web: Wired, directory: Path) -> Path:
    directory.mkdir()
    (directory / "seeds.txt").write_text((web.directory / "seeds.txt").read_text())
    options = config.make([*OPTIONS, f"scope.hosts_denied={list(DENIED)}"], directory)
    (directory / "crawl.toml").write_text(config.dump(options, changed=True))
    return directory


def wait_for_outage(process: "subprocess.Popen[str]", directory: Path) -> dict[str, Any]:
    while not (found := status(directory))["offline"]:
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
    return found


@pytest.mark.long
@pytest.mark.skipif(not netns.possible(), reason="needs root, ip and nginx: network namespaces of its own")
def test_an_outage_of_a_real_network_changes_nothing_of_a_crawl_of_a_real_web(tmp_path: Path) -> None:
    serve = shared("web/serve")
    shared("web/small.tar.xz")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)  # nginx serves it as another user
        with netns.wired(serve, Path(name)) as web:
            plain = prepared(web, tmp_path / "plain")
            end(crawl(web, plain))
            expected = truth.pages(plain)
            assert len(expected) > 4000
            for outage, (cut, join) in OUTAGES.items():
                directory = prepared(web, tmp_path / outage)
                process = crawl(web, directory)
                while status(directory)["requests"] < 400:
                    assert process.poll() is None, process.communicate()
                    time.sleep(0.2)
                cut(web)
                before = wait_for_outage(process, directory)
                time.sleep(SECONDS / 2)
                assert status(directory)["finished"] == before["finished"], "nothing ends during an outage"
                crashing.kill(process)  # the rest of the outage meets a new process
                process = crawl(web, directory)
                wait_for_outage(process, directory)
                time.sleep(SECONDS / 2)
                join(web)
                end(process)
                assert truth.pages(directory) == expected, outage
                assert set(truth.committed(directory)) == set(truth.committed(plain)), outage
                found = status(directory)
                assert "host-dead" not in found["finished"] and not found["retried"].keys() & {"dns", "connect"}
