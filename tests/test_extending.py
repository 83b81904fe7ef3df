"""The lines of docs/extending.md run as they stand there."""

import contextlib
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests import crashing, truth, web
from windrow import config, urls
from windrow.extraction import readers
from windrow.frontier.policy import budget, rank
from windrow.frontier.store.rows import HostRow
from windrow.records import Capture, Task

DOCS = (Path(__file__).resolve().parents[1] / "docs" / "extending.md").read_text("utf-8")
WIND = "The wind came from the sea all day, and in the evening the wind was still there, warm and full of salt."
RAIN = "The rain fell on the roofs of the town all day, and in the evening nobody went out to look at the harbour."
PAGES = {
    "/": ("/other/1", "/other/2", "/news/1", "/news/2"),
    "/other/1": (),
    "/other/2": (),
    "/news/1": (),
    "/news/2": (),
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)


def modules() -> dict[str, str]:
    """Return the code of the page by the name of the file it is to be put into."""
    found = re.findall(r"Put this into `(\w+\.py)`:\n\n```python\n(.*?)```", DOCS, re.DOTALL)
    assert len(found) == len(blocks("python")), "every block of code names its file"
    return dict(found)


def page(path: str, links: tuple[str, ...]) -> bytes:
    text = RAIN if path == "/other/2" else WIND
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<title>{path}</title>{anchors}<p>{text} This is the page {path}.<p>{text[:60]} Again, at {path}.".encode()


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Crawl a small site with every example; return the directory and the paths in the order of requests."""
    directory = tmp_path_factory.mktemp("extended")
    with web.serve() as site:
        for path, links in PAGES.items():
            site.page("a.test", path, page(path, links))
        site.hosts_file(directory / "hosts")
        (directory / "seeds.txt").write_text("http://a.test/\n")
        for name, code in modules().items():
            (directory / name).write_text(code)
        fetch = '[fetch]\nclient = "tagged"\ndelay = 0.05\nip_delay = 0\nallow_private = true\nhosts_file = "hosts"\n'
        quality = "[quality]\nmin_characters = 20\nprobe_after = 0\n[dedup]\nnear_duplicates = false\n"
        (directory / "crawl.toml").write_text(fetch + quality + "".join(blocks("toml")))
        result = crashing.run(["crawl", str(directory), "--json"])
        assert result.code == 0, result.err
        requested = [request.path for request in site.requests("a.test") if request.path in PAGES]
        assert all(b"\r\nX-Study: winds of 2026\r\n" in request.raw for request in site.log), "the client tags all"
    return directory, requested


def test_the_judge_scores_every_page_and_rejects_what_it_does_not_want(extended: tuple[Path, list[str]]) -> None:
    directory, _ = extended
    lines = [line for frame in truth.frames(directory) for line in frame[1:] if not line.get("kind")]
    assert {line["url"][13:]: line["reason"] for line in lines} == {
        path: "quality" if path == "/other/2" else "ok" for path in PAGES
    }
    assert {line["scores"]["wind"] > 0 for line in lines if line["reason"] == "ok"} == {True}
    assert [line["detail"] for line in lines if line["reason"] == "quality"] == ["not about wind"]


def test_a_judge_has_the_options_of_its_section_and_one_code_serves_twice(extended: tuple[Path, list[str]]) -> None:
    directory, _ = extended
    scores = [document["scores"] for document in truth.documents(directory)]
    assert {score["salt"] for score in scores} == {0.5} and {score["harbour"] for score in scores} == {0.0}


def test_the_reader_takes_its_media_type_and_leaves_the_pages_to_the_extractor(
    extended: tuple[Path, list[str]],
) -> None:
    directory, _ = extended
    table = readers.table(config.load(directory / "crawl.toml"))
    url = urls.parse("http://a.test/table")
    assert url is not None
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n"
    capture = Capture(Task(url), 200, b"", head, b"a,b\n\nc,d\n", 0.0, 0.0, "127.0.0.1", "http/1.1")
    assert [paragraph.text for paragraph in table.page(capture).paragraphs] == ["a. b", "c. d"]
    assert table.reader(capture).types == ("text/csv",)


def test_the_extractor_finds_text_and_links(extended: tuple[Path, list[str]]) -> None:
    directory, _ = extended
    documents = truth.documents(directory)
    assert len(documents) == 4
    assert all(document["paragraphs"][0]["text"].startswith("The wind came") for document in documents)


def test_an_extractor_wraps_the_configured_one(extended: tuple[Path, list[str]], tmp_path: Path) -> None:
    directory, _ = extended
    (tmp_path / "page.html").write_text(f"<p>{WIND}<p>{RAIN[:70]} {RAIN[:50]}")
    arguments = ["extract", "--extractor", f"{directory}/wrappers:long", str(tmp_path / "page.html")]
    assert "wrappers:long --set plugins.long.words=20" in DOCS
    shown = {words: crashing.run([*arguments, "--set", f"plugins.long.words={words}"]).out for words in (20, 23)}
    assert "The wind" in shown[20] and "The rain" in shown[20]
    assert "The wind" not in shown[23] and "The rain" in shown[23]


def test_the_threshold_and_the_term_of_a_host_have_their_options(extended: tuple[Path, list[str]]) -> None:
    directory, _ = extended
    options = config.load(directory / "crawl.toml")
    rule = budget.rule(options.frontier, options.plugins)
    assert [budget.threshold(rule, pages) for pages in (50, 1000)] == [0.0, pytest.approx(0.01)]
    factor = rank.host_term(options.frontier.host_terms, options.plugins)
    assert [factor(HostRow(1, name, name)) for name in ("example.org", "a.test")] == [4.0, 1.0]


def test_the_storage_keeps_the_documents_in_its_languages(extended: tuple[Path, list[str]], tmp_path: Path) -> None:
    directory, _ = extended
    written = (directory / "crawl.toml").read_text()
    for language, count in (("deu", 0), ("eng", 4)):
        (directory / "crawl.toml").write_text(written.replace('languages = ["deu"]', f'languages = ["{language}"]'))
        done = crashing.run(["store", str(directory), "--to", f"chosen:///{tmp_path}/{language}.db"])
        assert done.code == 0, done.err
        with contextlib.closing(sqlite3.connect(tmp_path / f"{language}.db")) as database:
            assert database.execute("SELECT count(*) FROM windrow_documents").fetchone() == (count,)
    (directory / "crawl.toml").write_text(written)


def test_the_term_puts_its_links_first(extended: tuple[Path, list[str]]) -> None:
    _, requested = extended
    assert sorted(requested) == sorted(PAGES)
    assert requested[1:3] == ["/news/1", "/news/2"]


def test_the_format_writes_the_export(extended: tuple[Path, list[str]], tmp_path: Path) -> None:
    directory, _ = extended
    arguments = ["export", str(directory), "--format", "formats:tsv", "-o", str(tmp_path / "wind.tsv")]
    done = subprocess.run([sys.executable, "-m", "windrow.cli", *arguments, "--min-score", "wind=0.01"], check=False)
    assert done.returncode == 0
    header, *rows = (tmp_path / "wind.tsv").read_text().splitlines()
    assert header == "language\twind\turl"
    assert sorted(row.split("\t")[2] for row in rows) == sorted(f"http://a.test{p}" for p in PAGES if p != "/other/2")


def test_the_score_of_the_judge_is_in_the_report(extended: tuple[Path, list[str]]) -> None:
    directory, _ = extended
    scores = {row["name"]: row for row in crashing.run(["report", str(directory), "--json"]).json["scores"]}
    assert (scores["wind"]["pages"], scores["wind"]["documents"]) == (5, 4)
    assert 0 < scores["wind"]["mean"] < scores["wind"]["documents_mean"]


def test_each_example_takes_about_ten_lines() -> None:
    for name, code in modules().items():
        assert len([line for line in code.splitlines() if line.strip()]) <= 12, name
