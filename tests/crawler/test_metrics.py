"""Metrics of a crawl: while it runs, and from its log."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.openmetrics import parser as open_parser
from prometheus_client.parser import text_string_to_metric_families

from tests import crashing, truth
from tests.finished import Finished
from tests.redisserver import needs_redis
from tests.world import World
from windrow.metrics import METRICS

Samples = dict[tuple[str, ...], float]  # (name, shard if there is one, value of each other label but crawl …) -> value


def samples(text: str) -> Samples:
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            labels = sorted(one.labels, key=lambda label: (label != "shard", label))
            key = (one.name, *(one.labels[label] for label in labels if label != "crawl"))
            assert key not in found, f"{key} is there twice"
            found[key] = one.value
    return found


def scrape(url: str) -> Samples:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=20) as answer:
        return samples(answer.read().decode())


def until(url: str, holds: Callable[[Samples], object]) -> Samples:
    """Return the first answer for which something holds."""
    for _ in range(600):
        found = scrape(url)
        if holds(found):
            return found
        time.sleep(0.1)
    raise AssertionError(f"it never came: {found}")


def place_of_metrics(process: "subprocess.Popen[str]") -> str:
    """Return the URL that a crawl says it serves its metrics at."""
    assert process.stderr is not None
    for line in process.stderr:
        if "metrics are served at " in line:
            return line.split("metrics are served at ")[1].split('"')[0].strip()
    raise AssertionError("the crawl ended without a word of metrics")


def total(found: Samples, name: str) -> float:
    return sum(value for key, value in found.items() if key[0] == name)


def test_the_metrics_of_a_log_are_the_numbers_of_its_status(finished: Finished, tmp_path: Path) -> None:
    directory = str(finished.directory)
    status = crashing.run(["status", directory, "--json"]).json
    shown = crashing.run(["status", directory, "--format", "prometheus"])
    assert shown.code == 0, shown.err
    found = samples(shown.out)
    for name, count in (
        ("windrow_running", 0),
        ("windrow_urls_seen_total", status["seen"]),
        ("windrow_urls_waiting", status["waiting"]),
        ("windrow_urls_in_hand", 0),
        ("windrow_requests_total", status["requests"]),
        ("windrow_request_duration_seconds_count", status["requests"]),
        ("windrow_downloaded_bytes_total", status["downloaded"]),
        ("windrow_text_found_bytes_total", status["clean"]),
        ("windrow_text_kept_bytes_total", status["kept"]),
        ("windrow_documents_total", status["documents"]),
        ("windrow_corpus_documents", status["documents"]),
        ("windrow_corpus_tokens", status["tokens"]),
        ("windrow_frames_total", status["frames"]),
        ("windrow_archive_bytes", sum(status["bytes"][subset] for subset in ("warc", "robotstxt", "diagnostics"))),
        ("windrow_last_commit_timestamp_seconds", status["last"]),
    ):
        assert total(found, name) == count, name
    for name, key in (
        ("windrow_urls_finished_total", "finished"),
        ("windrow_attempts_failed_total", "retried"),
        ("windrow_links_refused_total", "refused"),
    ):
        assert {key[1]: value for key, value in found.items() if key[0] == name} == status[key]
    families = {family.name for family in text_string_to_metric_families(shown.out)}
    assert families == {name.removesuffix("_total") for name, meaning in METRICS.items() if meaning.log}
    as_file = tmp_path / "windrow.prom"
    assert crashing.run(["status", directory, "-f", "openmetrics", "-o", str(as_file)]).code == 0
    text = as_file.read_text()
    read = list(open_parser.text_string_to_metric_families(text))
    assert len(read) == len(families) and all('crawl="crawl"' in line for line in text.splitlines() if line[0] != "#")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--format", "xml"], "give prometheus or openmetrics"),
        (["--format", "prometheus", "--json"], "give prometheus or openmetrics"),
        (["-o", "x.prom"], "say --format prometheus too"),
    ],
)
def test_a_wrong_format_is_refused_in_one_sentence(finished: Finished, arguments: list[str], sentence: str) -> None:
    result = crashing.run(["status", str(finished.directory), *arguments])
    assert (result.code, result.out) == (2, "") and sentence in result.err and result.err.count("\n") == 1


def test_a_running_crawl_serves_the_numbers_that_its_log_gets(tmp_path: Path) -> None:
    with World(seed=3, pages=40, hosts=3) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=1", "fetch.ip_delay=0")
        process = crashing.launch("crawl", str(directory), "--metrics", "127.0.0.1:0", "--log-json")
        try:
            url = place_of_metrics(process)
            running = until(url, lambda found: total(found, "windrow_urls_finished_total") >= 5)
            names = {family.removesuffix("_total") for family in METRICS}
            served = {next((name for name in names if key[0].startswith(name)), key[0]) for key in running}
            empty = {"windrow_attempts_failed", "windrow_domains_retired", "windrow_links_refused"}
            empty |= {"windrow_documents", "windrow_text_kept_bytes"}
            assert served | empty >= names, "every metric of the list is served"
            assert running["windrow_running",] == 1 and running["process_open_fds",] > 3
            assert running["windrow_disk_free_bytes",] > 0 and running["process_resident_memory_bytes",] > 1 << 20
            assert sum(value for key, value in running.items() if key[0] == "windrow_workers") >= 1
            assert crashing.run(["pause", str(directory)]).code == 0
            live = until(url, lambda found: found["windrow_paused", "order"] and not found["windrow_urls_in_hand",])
            logged = samples(crashing.run(["status", str(directory), "--format", "prometheus"]).out)
            changing = {"windrow_disk_free_bytes"}
            assert {key: value for key, value in logged.items() if key[0] not in changing} == {
                key: value for key, value in live.items() if key in logged and key[0] not in changing
            }
        finally:
            os.kill(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out == ""
        last = json.loads(err.splitlines()[-1])
        assert (last["event"], last["why"], last["crawl"]) == ("end", "stopped", "crawl")


def test_a_port_that_is_taken_refuses_the_start_and_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("[fetch]\nallow_private = true\n")
    (tmp_path / "seeds.txt").write_text("http://127.0.0.1:9/\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = crashing.run(["crawl", str(tmp_path), "--metrics", port])
    assert result.code == 2 and f"--metrics {port} cannot be served" in result.err and result.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.toml", "seeds.txt"]


@needs_redis
def test_all_shards_have_one_endpoint(tmp_path: Path) -> None:
    with World(seed=61, pages=60, hosts=8, domains=True, kinds=("absent",)) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=2", "fetch.ip_delay=0")
        process = crashing.launch("crawl", str(directory), "--shards", "2", "--metrics", "0", "--log-json")
        try:
            url = place_of_metrics(process)
            found = until(
                url, lambda found: all(found.get(("windrow_urls_seen_total", shard)) for shard in ("000", "001"))
            )
            assert found["windrow_running", "000"] == found["windrow_running", "001"] == 1
        finally:
            os.kill(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert all(json.loads(line)["crawl"] == "crawl" for line in err.splitlines())
        logged = samples(crashing.run(["status", str(directory), "--format", "prometheus"]).out)
        assert {key[1] for key in logged} == {"000", "001"}
        status = crashing.run(["status", str(directory), "--json"]).json
        assert total(logged, "windrow_urls_seen_total") == status["seen"]
