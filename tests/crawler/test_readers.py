"""A new media type is one source file: the user's own readers in a crawl, in `windrow extract` and in a rebuild."""

import json
from pathlib import Path

import pytest

from tests import crashing, truth, web
from tests.web import Site

READERS = """
import csv
import re
from email.utils import parsedate_to_datetime

from windrow import urls
from windrow.extraction.readers import Reader
from windrow.records import ListedUrl, Listing, Page, Paragraph


def rows(options, inner):
    def read(capture):
        lines = csv.reader(capture.body.decode("utf-8", "replace").splitlines(), delimiter=options["delimiter"])
        return Page(title="A table", paragraphs=tuple(Paragraph(". ".join(line)) for line in lines))

    return Reader(("text/csv",), read, bytes=4000, seconds=2, megabytes=200)


def feed(options, inner):
    def read(capture):
        items = re.findall(r"<link>([^<]*)</link><pubDate>([^<]*)</pubDate>", capture.body.decode())
        parsed = [(urls.parse(link), parsedate_to_datetime(date).timestamp()) for link, date in items]
        return Listing(tuple(ListedUrl(url, changed) for url, changed in parsed if url))

    return Reader(("application/rss+xml",), read)
"""
WIND = "The wind came from the sea all day, and in the evening the wind was still there, warm and full of salt"
ROWS = [f"{WIND};This is row {number} of the table about the wind" for number in range(4)]
DATE = "<pubDate>Wed, 01 May 2024 12:00:00 GMT</pubDate>"
FEED = "".join(f"<item><link>{link}</link>{DATE}</item>" for link in ("http://a.test/item", "http://b.test/"))
PAGES = {
    "/": (
        "text/html",
        f"<title>t</title><a href=/table>x</a><a href=/feed>x</a><a href=/large>x</a><p>{WIND}. {WIND}.",
    ),
    "/table": ("text/csv; charset=utf-8", "\n".join(ROWS)),
    "/large": ("text/csv", "\n".join(ROWS * 20)),
    "/feed": ("text/xml", f'<?xml version="1.0"?>\n<rss version="2.0"><channel>{FEED}</channel></rss>'),
    "/item": ("text/html", f"<title>i</title><p>{WIND.replace('sea', 'north')}. {WIND.upper()}."),
}
OPTIONS = """
[fetch]
delay = 0.02
ip_delay = 0
allow_private = true
hosts_file = "hosts"
[scope]
domains = ["a.test"]
[quality]
min_characters = 20
probe_after = 0
[dedup]
near_duplicates = false
"""
CHOSEN = """
[extract]
readers = ["kinds:rows", "kinds:feed"]
[plugins.rows]
delimiter = ";"
"""


def crawled(site: Site, directory: Path, options: str) -> Path:
    directory.mkdir()
    site.hosts_file(directory / "hosts")
    (directory / "seeds.txt").write_text("http://a.test/\n")
    (directory / "kinds.py").write_text(READERS)
    (directory / "crawl.toml").write_text(options)
    done = crashing.run(["crawl", str(directory), "--json"])
    assert done.code == 0, done.err
    return directory


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a crawl with the readers, and one without."""
    folder = tmp_path_factory.mktemp("crawls")
    with web.serve() as site:
        for path, (kind, body) in PAGES.items():
            site.page("a.test", path, body.encode(), headers=(("Content-Type", kind),))
        return crawled(site, folder / "with", OPTIONS + CHOSEN), crawled(site, folder / "without", OPTIONS)


def reasons(directory: Path) -> dict[str, str]:
    lines = [line for frame in truth.frames(directory) for line in frame[1:] if not line.get("kind")]
    return {line["url"][13:]: line["reason"] for line in lines}


def texts(directory: Path) -> dict[str, str]:
    return {
        document["url"][13:]: "\n".join(paragraph["text"] for paragraph in document["paragraphs"])
        for document in truth.documents(directory)
    }


def test_a_crawl_keeps_the_text_and_follows_the_links_of_what_the_readers_read(crawls: tuple[Path, Path]) -> None:
    directory, _ = crawls
    assert reasons(directory) == {"/": "ok", "/table": "ok", "/large": "no-text", "/feed": "no-text", "/item": "ok"}
    assert texts(directory)["/table"] == "\n".join(row.replace(";", ". ") for row in ROWS)
    [line] = [line for frame in truth.frames(directory) for line in frame[1:] if line["url"].endswith("/feed")]
    assert [link[0] for link in line["admitted"]] == ["http://a.test/item"] and line["refused"] == {"domain": 1}


def test_without_them_the_same_web_gives_what_it_always_gave(crawls: tuple[Path, Path]) -> None:
    _, directory = crawls
    assert reasons(directory) == {"/": "ok", "/table": "no-text", "/large": "no-text", "/feed": "no-text"}


def test_a_rebuild_reads_the_archive_with_the_same_readers(crawls: tuple[Path, Path], tmp_path: Path) -> None:
    directory, without = crawls
    done = crashing.run(["rebuild", str(directory), "--corpus", str(tmp_path / "again"), "--workers", "1"])
    assert done.code == 0, done.err
    again = [json.loads(line) for path in sorted(tmp_path.glob("again/corpus/*/*")) for line in lines(path)]
    assert sorted(again, key=url) == sorted(truth.documents(directory), key=url)
    chosen = ["--set", f"extract.readers=['{without}/kinds:rows']", "--set", 'plugins.rows.delimiter=";"']
    done = crashing.run(["rebuild", str(without), "--corpus", str(tmp_path / "read"), "--workers", "1", *chosen])
    assert done.code == 0, done.err
    read = [json.loads(line) for path in sorted(tmp_path.glob("read/corpus/*/*")) for line in lines(path)]
    assert sorted(map(url, read)) == ["http://a.test/", "http://a.test/table"]


def url(document: dict[str, str]) -> str:
    return document["url"]


def lines(path: Path) -> list[bytes]:
    return b"".join(truth.members(path.read_bytes())[0]).splitlines()


def test_extract_reads_an_archive_and_files_with_the_same_readers(crawls: tuple[Path, Path], tmp_path: Path) -> None:
    directory, _ = crawls
    (tmp_path / "table.csv").write_text("\n".join(ROWS))
    chosen = ["--set", f"extract.readers=['{directory}/kinds:rows']", "--set", 'plugins.rows.delimiter=";"']
    files = [*map(str, sorted((directory / "warc").glob("*.warc.gz"))), str(tmp_path / "table.csv")]
    done = crashing.run(["extract", *files, "--format", "jsonl", *chosen])
    assert done.code == 0, done.err
    pages = [json.loads(line) for line in done.out.splitlines()]
    found = {page["url"][13:] or page["path"]: page["text"] for page in pages if page["text"]}
    table = texts(directory)["/table"]
    assert found == {**texts(directory), str(tmp_path / "table.csv"): table}
