"""`windrow crawl --store-to` and `windrow store` on a crawl of the demo web."""

import fcntl
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import crashing
from windrow import demo
from windrow.cli.corpus import storing
from windrow.cli.corpus.storing import StoreTarget, StoringProcess
from windrow.config import ConfigError
from windrow.corpus import reader
from windrow.demo import web
from windrow.jobs.inputs.committed import Lengths

PATIENCE = 120  # seconds for the first document


def run(*words: object, address: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "windrow.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, input=address, cwd=crashing.ROOT)


def prepared(directory: Path, site: web.Web) -> Path:
    directory.mkdir()
    (directory / "seeds.txt").write_text("\n".join(site.seeds) + "\n")
    (directory / "hosts").write_text("".join(f"{host}\t{place}\n" for host, place in site.hosts.items()))
    (directory / "crawl.toml").write_text(demo.OPTIONS)
    return directory


def stored(path: Path) -> dict[str, str]:
    with sqlite3.connect(path) as client:
        rows = client.execute("SELECT id, document FROM windrow_documents").fetchall()
    found = dict(rows)
    assert len(found) == len(rows)
    return found


class Stored(NamedTuple):
    crawl: Path
    target: str
    database: Path
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """A crawl that has stored its documents while it ran."""
    folder = tmp_path_factory.mktemp("store")
    target = f"sqlite:///{folder}/corpus.db"
    with web.serve() as site:
        crawl = prepared(folder / "crawl", site)
        done = run("crawl", crawl, "--max-pages", 60, "--quiet", "--store-to", target)
    return Stored(crawl, target, folder / "corpus.db", done)


def test_a_crawl_stores_its_documents_while_it_runs_and_the_rest_at_its_end(finished: Stored) -> None:
    assert (finished.done.returncode, finished.done.stderr) == (0, "")
    kept = {document.id: document.url for document in reader.documents(finished.crawl)}
    found = stored(finished.database)
    assert found.keys() == kept.keys() and len(kept) > 10
    assert {own: json.loads(line)["url"] for own, line in found.items()} == kept
    again = run("store", finished.crawl, "--to", "-", "--json", address=f"{finished.target}\n")
    assert json.loads(again.stdout)["documents"] == 0


def test_a_merge_of_one_crawl_is_its_corpus_and_can_be_stored(finished: Stored, tmp_path: Path) -> None:
    done = run("merge", finished.crawl, "-o", tmp_path / "merged", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    corpora = [finished.crawl / "corpus", tmp_path / "merged" / "corpus"]
    own, merged = ([line for shard in reader.find(path) for line, _, _ in reader.lines(shard)] for path in corpora)
    assert merged == own and len(own) == json.loads(done.stdout)["documents_out"] > 10
    assert run("store", tmp_path / "merged", "--to", f"sqlite:///{tmp_path}/m.db").returncode == 0
    assert stored(tmp_path / "m.db") == stored(finished.database)


@pytest.mark.parametrize("command", ["crawl", "store"])
def test_a_wrong_address_is_refused_before_anything_is_requested(tmp_path: Path, command: str) -> None:
    with web.serve() as site:
        crawl = prepared(tmp_path / "crawl", site)
        options = {"crawl": ["--store-to"], "store": ["--to"]}[command]
        done = run(command, crawl, *options, "mysql://user:secret@127.0.0.1:9/corpus")
    assert done.returncode == 2
    assert done.stderr.startswith("windrow: mysql://user@127.0.0.1:9/corpus cannot be opened: ")
    assert done.stderr.count("\n") == 1 and "secret" not in done.stderr
    assert not (crawl / "log").exists()


def test_a_crawl_that_is_killed_has_stored_what_it_committed(tmp_path: Path) -> None:
    """The process that stores outlives the crawl, and ends when everything is stored."""
    database = tmp_path / "corpus.db"
    with web.serve() as site:
        crawl = prepared(tmp_path / "crawl", site)
        words = ["crawl", str(crawl), "--quiet", "--store-to", f"sqlite:///{database}"]
        running = subprocess.Popen([sys.executable, "-m", "windrow.cli", *words], cwd=crashing.ROOT)
        end = time.monotonic() + PATIENCE
        while running.poll() is None and not (database.exists() and _count(database)) and time.monotonic() < end:
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
        running.wait()
    (lock,) = crawl.glob(".store-*.lock")
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the process that stores has ended
    committed = {document.id for document in reader.documents(crawl, length=Lengths())}
    assert stored(database).keys() == committed != set()


def _count(database: Path) -> int:
    with sqlite3.connect(database) as client:
        try:
            return int(client.execute("SELECT count(*) FROM windrow_documents").fetchone()[0])
        except sqlite3.OperationalError:  # there is no table yet
            return 0


def test_a_process_that_stores_and_fails_is_reported_with_the_command_to_repeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def begin(own: StoringProcess, mode: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", f"raise SystemExit({int(mode == '--follow')})"])

    monkeypatch.setattr(StoringProcess, "_begin", begin)
    with StoringProcess(tmp_path, StoreTarget("mysql://me:secret@host/db", captures=True)) as child:
        child.start()
    assert child.failed
    said = capsys.readouterr().err
    assert f"store {tmp_path} --to mysql://me@host/db --captures\n" in said and "secret" not in said


def test_an_address_comes_from_standard_input_and_leaves_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDROW_STORE_TO", "mysql://me:secret@host/db")
    monkeypatch.setattr(sys, "stdin", io.StringIO("mongodb://host/db\nsomething else\n"))
    assert storing.target("-", captures=True) == ("mongodb://host/db", True)
    assert "WINDROW_STORE_TO" not in os.environ
    with pytest.raises(ConfigError, match="say where with --store-to URL"):
        storing.target("", captures=True)
