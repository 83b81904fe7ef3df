"""Whole crawls, from the seeds to the end, judged by what the servers saw and what the archive holds."""

import contextlib
import fcntl
import io
import itertools
import os
import pty
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastwarc import warc as fastwarc
from warcio.cli import main as warcio_cli

from tests import crashing, truth
from tests.finished import Finished
from tests.world import QUICK, World
from windrow.demo import web


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    with World(seed=5, pages=10, hosts=2, kinds=QUICK) as world:
        yield world


def crawl(directory: Path, *options: str) -> crashing.Result:
    return crashing.run(["crawl", str(directory), "--json", *options])


def status(directory: Path) -> dict[str, object]:
    found: dict[str, object] = crashing.run(["status", str(directory), "--json"]).json
    return found


def when(condition: object, process: "subprocess.Popen[str]") -> None:
    """Wait for something that a running crawl does."""
    assert callable(condition)
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def archive_files(directory: Path) -> list[str]:
    return [str(path) for subset in truth.SUBSETS for path in sorted((directory / subset).iterdir())]


def test_a_crawl_ends_when_nothing_is_left(finished: Finished) -> None:
    assert finished.result.code == 0 and finished.result.err == ""
    assert finished.result.json["why"] == "done"
    assert finished.result.json["counts"]["waiting"] == 0


def test_every_page_is_archived_once_and_as_it_was_served(finished: Finished) -> None:
    truth.assert_whole(finished.directory, finished.world)


def test_a_page_that_failed_at_first_is_archived_once_and_its_failures_are_diagnostics(finished: Finished) -> None:
    flaky = {
        url
        for url, place in finished.world.graph.places.items()
        if place.fails and url in finished.world.expected.must_have
    }
    failures = [
        entry
        for entry in truth.archive(finished.directory, "diagnostics")
        if entry.type == "response" and entry.url in flaky
    ]
    assert len(failures) == sum(finished.world.graph.places[url].fails for url in flaky) > 0
    assert {entry.status for entry in failures} == {503}


def test_hosts_and_addresses_are_left_alone_for_their_delay(finished: Finished) -> None:
    truth.assert_polite(finished.world, delay=0.01, ip_delay=0.005)


def test_a_host_that_wants_fewer_requests_gets_fewer(finished: Finished) -> None:
    rows = [row for row in finished.world.requests() if row.host.startswith("throttled")]
    waits = [after.wall - before.wall for before, after in itertools.pairwise(rows) if before.status == 429]
    assert len(waits) == finished.world.plan.throttles
    assert min(waits) >= finished.world.plan.retry_after


def test_traps_take_few_requests(finished: Finished) -> None:
    assert 0 < finished.world.traps() <= 0.2 * finished.requests


def test_no_page_is_requested_from_a_host_whose_robots_txt_is_unavailable(finished: Finished) -> None:
    asked = {row.path for row in finished.world.requests() if row.host.startswith(("broken", "silent"))}
    assert asked == {"/robots.txt"}


def test_the_counts_of_a_run_are_those_of_the_log(finished: Finished) -> None:
    found, counts = status(finished.directory), finished.result.json["counts"]
    truth.assert_reconciled(found)
    assert (counts["seen"], counts["finished"]) == (found["seen"], found["finished"])
    assert found["requests"] == finished.requests
    assert found["finished"] == finished.result.json["tally"]["finished"]
    assert len(truth.committed(finished.directory)) == found["seen"]


def test_other_tools_read_every_file_without_complaint(finished: Finished) -> None:
    files = archive_files(finished.directory)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.raises(SystemExit) as end:
        warcio_cli(["check", *files])
    assert end.value.code == 0 and "fail" not in said.getvalue()
    records = 0
    for path in files:
        with open(path, "rb") as file:
            for entry in fastwarc.ArchiveIterator(file, parse_http=False):
                assert "WARC-Block-Digest" not in entry.headers or entry.verify_block_digest(), entry.record_id
                records += 1
    assert records == sum(len(truth.archive(finished.directory, subset)) for subset in truth.SUBSETS)


def test_a_finished_crawl_that_is_resumed_requests_and_writes_nothing(finished: Finished) -> None:
    before = {path: Path(path).read_bytes() for path in archive_files(finished.directory)}
    counted = status(finished.directory)
    again = crawl(finished.directory)
    assert again.code == 0 and again.json["why"] == "done"
    assert len(finished.world.requests()) == finished.requests
    assert {path: Path(path).read_bytes() for path in archive_files(finished.directory)} == before
    assert status(finished.directory) == counted


def test_the_demo_web_is_crawled_completely(tmp_path: Path) -> None:
    with web.serve() as site:
        directory = tmp_path / "crawl"
        directory.mkdir()
        (directory / "seeds.txt").write_text("\n".join(site.seeds))
        (directory / "hosts").write_text("".join(f"{host}\t{place}\n" for host, place in site.hosts.items()))
        (directory / "crawl.toml").write_text(
            '[fetch]\ndelay = 0\nip_delay = 0\nbackoff = 0.01\nallow_private = true\nhosts_file = "hosts"\n'
        )
        result = crawl(directory)
    assert result.code == 0
    pages = truth.pages(directory)
    assert max(pages.values()) == 1
    assert pages.keys() >= site.pages
    assert not {f"http://{request.host}{request.path}" for request in site.requests} & site.disallowed
    truth.assert_reconciled(status(directory))


def test_a_page_limit_is_kept_to_the_page_and_a_later_run_continues(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    first = crawl(directory, "--max-pages", "7")
    assert (first.code, first.json["why"], first.json["tally"]["finished"]["ok"]) == (0, "pages", 7)
    truth.assert_reconciled(status(directory), done=False)
    assert crawl(directory).json["why"] == "done"
    truth.assert_whole(directory, world)
    assert truth.repeats(world.requests()) == 0


def test_a_time_limit_ends_a_run_and_a_later_run_continues(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.05")
    first = crawl(directory, "--max-seconds", "0.5")
    assert (first.code, first.json["why"]) == (0, "seconds")
    assert first.json["counts"]["waiting"] > 0
    truth.assert_reconciled(status(directory), done=False)
    assert crawl(directory, "--set", "fetch.delay=0.01").json["why"] == "done"
    truth.assert_whole(directory, world)
    assert truth.repeats(world.requests()) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_crawl_cleanly_and_nothing_is_requested_twice(
    number: int, world: World, tmp_path: Path
) -> None:
    directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.1")
    process = crashing.launch("crawl", str(directory))
    when(lambda: len(world.requests()) >= 12, process)
    os.killpg(process.pid, number)  # like a terminal: to the workers too
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, ""), err
    assert "stopped" in out
    found = status(directory)
    truth.assert_reconciled(found, done=False)
    assert found["waiting"] and not found["in_flight"]
    assert crawl(directory, "--set", "fetch.delay=0.01").code == 0
    truth.assert_whole(directory, world)
    assert truth.repeats(world.requests()) == 0
    truth.assert_polite(world, delay=0.01, ip_delay=0.005)


def test_a_signal_while_the_crawl_is_being_set_up_ends_it_too(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    process = crashing.launch("crawl", str(directory))
    when((directory / "lock").exists, process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert crawl(directory).code == 0
    truth.assert_whole(directory, world)


def test_a_second_signal_gives_up_requests_in_flight(tmp_path: Path) -> None:
    with World(
        seed=6, pages=4, hosts=1, kinds=("slow",), slow=12.0
    ) as world:  # seconds; less than a crawl waits after the first signal
        directory = truth.prepare(tmp_path / "crawl", world)
        process = crashing.launch("crawl", str(directory))
        when(lambda: any(row.host.startswith("slow") and row.path == "/" for row in world.requests()), process)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)  # two signals at the same moment may count as one
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0
        assert not [url for url in truth.committed(directory) if "slow" in url]
        truth.assert_reconciled(status(directory), done=False)
        assert set(truth.pages(directory).values()) == {1}


def test_a_second_crawl_of_the_same_directory_is_refused(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.5")
    process = crashing.launch("crawl", str(directory))
    when(lambda: len(world.requests()) >= 3, process)
    for command in ("crawl", "rebuild"):
        second = crashing.run([command, str(directory)])
        assert second.code == 2
        fix = "stop it first, or use another directory"
        assert second.err == f"windrow: {directory} is being crawled by process {process.pid}; {fix}\n"
    running = status(directory)
    assert running["running"] is True
    truth.assert_reconciled(running, done=False)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert crawl(directory, "--set", "fetch.delay=0.01").code == 0
    truth.assert_whole(directory, world)


def test_a_crawl_starts_while_status_looks_at_the_lock(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    with (directory / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)  # as `status` does
        threading.Timer(0.1, lambda: fcntl.flock(file, fcntl.LOCK_UN)).start()
        assert crawl(directory, "--max-pages", "1").code == 0


def test_on_a_terminal_a_crawl_shows_its_progress(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.05")
    ours, theirs = pty.openpty()
    process = crashing.launch("crawl", str(directory), stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # a terminal whose other end is closed
        while data := os.read(ours, 4096):
            shown += data
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "nothing is left to crawl" in out
    for word in (b"pages", b"URLs", b"hosts", b"requests", b"per second", b"Ctrl-C stops cleanly"):
        assert word in shown
    truth.assert_whole(directory, world)


def test_seeds_that_are_new_at_a_later_start_are_added(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world)
    assert crawl(directory).code == 0
    seen = status(directory)["seen"]
    with (directory / "seeds.txt").open("a") as file:
        file.write(f"http://{world.graph.plain[0]}/late.html\n")
    assert crawl(directory).code == 0
    found = status(directory)
    assert found["seen"] == int(str(seen)) + 1
    assert world.requested()[f"http://{world.graph.plain[0]}/late.html"] == 1
