"""A topic crawl: `windrow init --topic` with nothing but text, and what the crawl then knows of each page."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, plug, web
from tests.judge.focus import subjects
from windrow.archive.cdxj import CdxLines

PAGES = 8  # of each subject
SUBJECTS = ("cats", "ships")


def page(subject: str, number: int) -> bytes:
    links = "".join(f'<li><a href="/{one}/{other}">{one} {other}</a>' for one in SUBJECTS for other in range(PAGES))
    texts = "".join(f"<p>{text}</p>" for text in subjects.text(subject, 20, seed=100 + number))
    return f"<title>{subject} {number}</title><article>{texts}</article><ul>{links}</ul>".encode()


def options(directory: Path) -> list[str]:
    values = [
        "fetch.delay=0",
        "fetch.ip_delay=0",
        "fetch.allow_private=true",
        f"fetch.hosts_file={directory / 'hosts'}",
        "quality.soft_404=0",
        "dedup.near_duplicates=false",
        "frontier.yield_threshold=off",
        "scope.homepages=false",
        "workers.count=1",
    ]
    return [part for value in values for part in ("--set", value)]


def prepare(place: Path, site: web.Site) -> Path:
    """Make a crawl of both subjects, with the topic cats."""
    (place / "cats.txt").write_text("\n".join(subjects.text("cats", 600)))
    (place / "seeds.txt").write_text("http://a.test/cats/0\n")
    for subject in SUBJECTS:
        for number in range(PAGES):
            site.page("a.test", f"/{subject}/{number}", page(subject, number))
    site.hosts_file(place / "hosts")
    topic = ["--language", "eng", "--topic", str(place / "cats.txt")]
    made = crashing.run(["init", str(place / "crawl"), "--seeds", str(place / "seeds.txt"), *topic, *options(place)])
    assert made.code == 0, made.err
    return place / "crawl"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with web.serve() as site:
        directory = prepare(tmp_path_factory.mktemp("focus"), site)
        result = crashing.run(["crawl", str(directory), "--set", "frontier.order=breadth"])
        assert result.code == 0, result.err
    return directory


def lines(directory: Path, pattern: str) -> list[dict[str, Any]]:
    return [json.loads(line) for path in directory.glob(pattern) for line in gzip.open(path, "rt")]


def reports(directory: Path) -> dict[str, dict[str, Any]]:
    return {
        line["url"].split("a.test")[1]: line
        for line in lines(directory, "log/*")
        if "perplexity" in line.get("scores", {})
    }


def test_every_page_has_scores_in_the_log_and_those_on_the_topic_are_relevant(crawled: Path) -> None:
    found = reports(crawled)
    assert len(found) == len(SUBJECTS) * PAGES
    cats = [line["scores"]["relevance"] for path, line in found.items() if path.startswith("/cats")]
    ships = [line["scores"]["relevance"] for path, line in found.items() if path.startswith("/ships")]
    assert min(cats) > max(ships)


def test_the_relevant_bytes_of_a_page_are_its_kept_bytes_times_its_relevance(crawled: Path) -> None:
    for line in reports(crawled).values():
        assert line["relevant"] == round(line["kept"] * line["scores"]["relevance"])
        assert 0 < line["relevant"] < line["kept"]


def test_the_corpus_and_the_metadata_records_have_the_same_scores(crawled: Path) -> None:
    found = reports(crawled)
    documents = lines(crawled, "corpus/*/*.gz")
    assert {one["url"].split("a.test")[1]: one["scores"] for one in documents} == {
        path: line["scores"] for path, line in found.items()
    }
    archive = b"".join(gzip.decompress(path.read_bytes()) for path in crawled.glob("warc/*.gz"))
    for line in found.values():
        assert b"relevance: %b\r\n" % f"{line['scores']['relevance']:g}".encode() in archive
        assert b"perplexity: %b\r\n" % f"{line['scores']['perplexity']:g}".encode() in archive


def test_the_lines_of_an_index_have_the_languages_of_the_log(crawled: Path) -> None:
    languages = {path: line["language"] for path, line in reports(crawled).items()}
    [file] = crawled.glob("warc/*.gz")
    found = [json.loads(line.split(b" ", 2)[2]) for line in CdxLines(file, file.name).read()]
    assert {line["url"].split("a.test")[1]: line["languages"] for line in found if "languages" in line} == languages


def test_the_lines_of_an_index_have_the_charset_of_the_documents(crawled: Path) -> None:
    charsets = {one["url"]: one["charset"] for one in lines(crawled, "corpus/*/*.gz")}
    assert set(charsets.values()) == {"UTF-8"}
    [file] = crawled.glob("warc/*.gz")
    found = [json.loads(line.split(b" ", 2)[2]) for line in CdxLines(file, file.name).read()]
    assert {line["url"]: line["charset"] for line in found if line["url"] in charsets} == charsets


def test_a_rebuild_gives_the_same_documents(crawled: Path) -> None:
    before = sorted(json.dumps(one, sort_keys=True) for one in lines(crawled, "corpus/*/*.gz"))
    again = crawled.parent / "again"
    result = crashing.run(["rebuild", str(crawled), "--corpus", str(again)])
    assert result.code == 0, result.err
    assert sorted(json.dumps(one, sort_keys=True) for one in lines(again, "**/*.jsonl.gz")) == before


def test_boundaries_are_proposed_from_the_pages_of_the_crawl_and_written(crawled: Path) -> None:
    result = crashing.run(["lm", "calibrate", str(crawled), "--json"])
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert (found["by"], found["pages"]) == ("odds", len(SUBJECTS) * PAGES)
    high, medium, cutoff = (one["proposed"] for one in found["boundaries"])
    assert high <= medium <= cutoff
    assert all(one["low"] <= one["high"] for one in found["boundaries"])
    written = crashing.run(["lm", "calibrate", str(crawled), "--write"])
    assert written.code == 0, written.err
    shown = crashing.run(["lm", "calibrate", str(crawled), "--json"])
    assert [one["now"] for one in json.loads(shown.out)["boundaries"]] == [high, medium, cutoff]


def test_a_running_crawl_gets_its_boundaries_as_an_order(tmp_path: Path) -> None:
    with web.serve() as site:
        directory = prepare(tmp_path, site)
        toml = (directory / "crawl.toml").read_text()
        process = crashing.launch("crawl", str(directory), "--set", "fetch.delay=2")
        try:
            plug.wait_for(process, lambda: (directory / "log").is_dir() and reports(directory))
            fixed = crashing.run(
                ["lm", "calibrate", str(directory), "--held-out", str(tmp_path / "cats.txt"), "--write"]
            )
            written = crashing.run(["lm", "calibrate", str(directory), "--write"])
            stopped = crashing.run(["stop", str(directory)])
            process.communicate(timeout=60)
        finally:
            crashing.kill(process)
    assert fixed.code == 2 and "cannot change while the crawl runs" in fixed.err
    assert (written.code, stopped.code) == (0, 0), written.err
    assert (directory / "crawl.toml").read_text() == toml
    changed = [
        order["values"] for line in lines(directory, "log/*") for order in line.get("orders", ()) if "set" in str(order)
    ]
    assert any("focus.high=" in value for values in changed for value in values), changed
