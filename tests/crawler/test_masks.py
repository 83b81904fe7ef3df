"""A judge of the user masks and marks text: the corpus, its duplicates and a rebuild know the masked text alone."""

import gzip
import json
from pathlib import Path

import pytest

from tests import crashing, truth, web

CODE = """\
import re

from windrow.judge import Ruling, Span


def private(options, inner):
    def judge(page, facts):
        spans = []
        for number, text in enumerate(facts.texts):
            spans += [Span(number, *found.span(), mask=options["mask"]) for found in re.finditer(r"[0-9]{6}", text)]
            spans += [Span(number, *found.span(), label="person") for found in re.finditer("Anna|Bert", text)]
        return Ruling(spans=tuple(spans))

    return judge
"""
OPTIONS = """\
[fetch]
delay = 0.01
ip_delay = 0
allow_private = true
hosts_file = "hosts"
[quality]
min_characters = 20
probe_after = 0
[dedup]
near_duplicates = false
[judge]
judges = ["masks:private"]
[plugins.private]
mask = "[number]"
"""
CALL = "Call {} at 030 {} at the harbour of the town, on any day of the week, from nine in the morning until noon."
LINK = '<p>The wind came from the sea all day, and {} was still there in the evening.<p><a href="{}">on</a>'


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl three pages; without their numbers the first two are equal."""
    directory = tmp_path_factory.mktemp("masks")
    with web.serve() as site:
        for path, number, name in (("/", "123456", "Anna"), ("/2", "654321", "Anna"), ("/3", "111111", "Bert")):
            link = LINK.format(name, {"/": "/2", "/2": "/3", "/3": "/"}[path])
            site.page("a.test", path, f"<title>x</title><p>{CALL.format(name, number)}{link}".encode())
        site.hosts_file(directory / "hosts")
        (directory / "seeds.txt").write_text("http://a.test/\n")
        (directory / "masks.py").write_text(CODE)
        (directory / "crawl.toml").write_text(OPTIONS)
        ended = crashing.run(["crawl", str(directory)])
        assert ended.code == 0, ended.err
    return directory


def test_the_corpus_has_the_masked_text_and_the_marks(crawl: Path) -> None:
    documents = {document["url"]: document for document in truth.documents(crawl)}
    assert set(documents) == {"http://a.test/", "http://a.test/3"}
    paragraph = documents["http://a.test/3"]["paragraphs"][0]
    assert paragraph["text"] == CALL.format("Bert", "[number]")
    assert paragraph["marks"] == [[5, 9, "person", ""]]
    assert all("marks" not in part for part in documents["http://a.test/"]["paragraphs"] if "Anna" not in part["text"])


def test_every_archive_file_says_what_the_options_of_the_judge_were(crawl: Path) -> None:
    [path] = (crawl / "warc").iterdir()
    written = gzip.decompress(path.read_bytes()).partition(b"\r\n\r\nWARC/")[0].decode()
    assert "[plugins.private]" in written and 'mask = "[number]"' in written


def test_pages_that_are_equal_without_what_is_masked_are_duplicates(crawl: Path) -> None:
    lines = {line["url"]: line for frame in truth.frames(crawl) for line in frame[1:] if not line.get("kind")}
    assert (lines["http://a.test/2"]["reason"], lines["http://a.test/3"]["reason"]) == ("duplicate", "ok")


def test_a_rebuild_makes_the_same_lines(crawl: Path, tmp_path: Path) -> None:
    assert crashing.run(["rebuild", str(crawl), "--corpus", str(tmp_path / "again")]).code == 0
    [again], [first] = [[*(place / "corpus").glob("*/*.gz")] for place in (tmp_path / "again", crawl)]
    assert gzip.decompress(again.read_bytes()) == gzip.decompress(first.read_bytes())


def test_an_export_has_the_marks_where_its_style_has_paragraphs(crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert crashing.run(["export", str(crawl), "--format", "jsonl", "--style", "windrow", "-o", str(out)]).code == 0
    marks = [part.get("marks") for line in out.read_text().splitlines() for part in json.loads(line)["paragraphs"]]
    assert [[5, 9, "person", ""]] in marks
