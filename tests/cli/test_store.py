"""`windrow crawl --store-to` and `windrow store` on a crawl of the demo web."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests import crashing
from windrow import demo
from windrow.corpus import reader
from windrow.demo import web


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


def test_a_crawl_stores_its_documents_while_it_runs_and_the_rest_at_its_end(tmp_path: Path) -> None:
    target = f"sqlite:///{tmp_path}/corpus.db"
    with web.serve() as site:
        crawl = prepared(tmp_path / "crawl", site)
        done = run("crawl", crawl, "--max-pages", 60, "--quiet", "--store-to", target)
    assert (done.returncode, done.stderr) == (0, "")
    kept = {document.id: document.url for document in reader.documents(crawl)}
    found = stored(tmp_path / "corpus.db")
    assert found.keys() == kept.keys() and len(kept) > 10
    assert {own: json.loads(line)["url"] for own, line in found.items()} == kept
    again = run("store", crawl, "--to", "-", "--json", address=f"{target}\n")
    assert json.loads(again.stdout)["documents"] == 0


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
