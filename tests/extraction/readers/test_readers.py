"""The table of readers: which reader a capture gets, what it may cost, and what comes of it."""

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from windrow import config, extraction, urls
from windrow.config import Config, ConfigError
from windrow.extraction import readers
from windrow.extraction.readers import READERS
from windrow.records import Capture, Listing, Page, Task

PAGE = b"<!doctype html><title>t</title><a href=/x>x</a><p>" + b"A story of the mill that turns day and night. " * 9
MAP = b"<urlset><url><loc>http://a.test/1</loc></url></urlset>"


def capture(body: bytes, kind: str, *fields: str, encoded: bool = False) -> Capture:
    url = urls.parse("http://a.test/file")
    assert url is not None
    head = "\r\n".join(("HTTP/1.1 200 OK", f"Content-Type: {kind}", *fields, "", "")).encode()
    return Capture(Task(url), 200, b"", head, body, 0.0, 0.0, "127.0.0.1", "http/1.1", encoded=encoded)


def options(*names: str) -> Config:
    return config.make([f"extract.readers={list(names)}"], Path())


@pytest.fixture(autouse=True)
def clean_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("mine_"):
            del sys.modules[name]


def own(folder: Path, name: str, code: str) -> str:
    """Return the reference of a reader whose module has this code."""
    start = "from windrow.extraction.readers import Reader\nfrom windrow.records import Listing, Page, Paragraph\n"
    (folder / f"mine_{name}.py").write_text(start + code)
    return f"{folder}/mine_{name}:build"


def test_without_further_readers_every_capture_goes_to_the_extractor() -> None:
    table, extract = readers.table(Config()), extraction.extractor(Config())
    for body, kind in [
        (PAGE, "text/html"),
        (PAGE, ""),
        (b"words", "text/plain"),
        (MAP, "text/xml"),
        (b"\0", "image/x"),
    ]:
        found = capture(body, kind, "X-Robots-Tag: noindex")
        assert table(found) == extract(found) and table.reader(found).types == ("text/html",)


def test_further_readers_leave_html_as_it_is() -> None:
    table, extract = readers.table(options("plain", "sitemap")), extraction.extractor(Config())
    for kind in ("text/html", "", "application/xhtml+xml"):
        assert table(capture(PAGE, kind)) == extract(capture(PAGE, kind))
    assert table(capture(b"\x89PNG\r\n", "image/png")) == Page()


def test_plain_text_has_a_paragraph_per_line_in_its_own_charset() -> None:
    page = readers.table(options("plain"))(
        capture("Zażółć\r\n\n  gęślą \0jaźń ".encode("iso-8859-2"), "text/plain; charset=latin2")
    )
    assert isinstance(page, Page)
    assert ([paragraph.text for paragraph in page.paragraphs], page.charset) == (["Zażółć", "gęślą jaźń"], "ISO-8859-2")
    assert not readers.table(options("sitemap")).page(capture(b"words", "text/plain")).paragraphs


def test_a_listing_is_a_page_without_text_where_a_page_is_wanted() -> None:
    table = readers.table(options("sitemap"))
    listing = table(capture(MAP, "text/html", "X-Robots-Tag: windrow: nofollow"))
    assert isinstance(listing, Listing) and listing.nofollow and len(listing.links) == 1
    assert table.page(capture(MAP, "text/html")) == Page()


def test_the_header_rules_over_the_page_of_any_reader() -> None:
    table = readers.table(options("plain"))
    page = table.page(capture(b"words", "text/plain", "X-Robots-Tag: none"))
    assert (page.nofollow, page.noindex) == (True, True)
    page = table.page(capture(b"words", "text/plain", "X-Robots-Tag: otherbot: none"))
    assert (page.nofollow, page.noindex) == (False, False)


def test_of_two_readers_for_a_type_the_last_counts_and_may_wrap_a_built_in_one(tmp_path: Path) -> None:
    code = (
        "def build(options, inner):\n"
        "    def read(capture):\n"
        "        page = inner.read(capture)\n"
        "        return Page(title=page.title + options['mark'], paragraphs=page.paragraphs[:1])\n"
        "    return Reader(inner.types, read)\n"
    )
    name = own(tmp_path, "wrapping", code)
    sections = {
        "first": {"use": name, "inner": "html", "mark": "!"},
        "second": {"use": name, "inner": "plain", "mark": "?"},
    }
    chosen = dataclasses.replace(options("first", "plain", "second"), plugins=sections)
    table = readers.table(chosen)
    page = table.page(capture(PAGE, "text/html"))
    assert (page.title, len(page.paragraphs)) == ("t!", 1)
    page = table.page(capture(b"one\ntwo", "text/plain"))
    assert (page.title, [paragraph.text for paragraph in page.paragraphs]) == ("?", ["one"])
    assert table(capture(b"\x89PNG", "text/html")) == Page(), "what is not HTML goes to no reader of HTML"


@pytest.mark.parametrize(("size", "title"), [(10, "read"), (11, "")])
def test_a_body_longer_than_its_reader_allows_is_not_read(size: int, title: str, tmp_path: Path) -> None:
    read = (
        "def build(options, inner):\n    return Reader(('text/csv',), lambda capture: Page(title='read'), bytes=10)\n"
    )
    table = readers.table(options(own(tmp_path, "limited", read)))
    assert table.page(capture(b"x" * size, "text/csv")).title == title
    assert table.page(capture(b"x" * size, "text/csv", encoded=True)) == Page(), "its bytes are not those of its type"


def test_a_reader_that_returns_something_else_is_a_bug_of_its_author(tmp_path: Path) -> None:
    read = "def build(options, inner):\n    return Reader(('text/csv',), lambda capture: 'text')\n"
    with pytest.raises(TypeError, match="the reader returned str, not a Page, a Listing or None"):
        readers.table(options(own(tmp_path, "wrong", read)))(capture(b"x", "text/csv"))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "build = 3",
            "makes no reader; name a function (options, inner) that returns a windrow.extraction.readers.Reader",
        ),
        ("def build(options, inner): return lambda capture: None", "makes no reader"),
        ("x = 1", "defines no 'build'"),
    ],
)
def test_what_makes_no_reader_is_refused_before_the_first_page(code: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        readers.table(options(own(tmp_path, "broken", code)))
    assert message in str(raised.value) and "option 'extract.readers' names" in str(raised.value)


def test_an_unknown_name_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ConfigError, match=f"the known names are {', '.join(READERS)}"):
        readers.table(options("pdf"))
