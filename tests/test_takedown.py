from pathlib import Path

import pytest

from tests.corpus import samples
from tests.corpus.samples import SAMPLES
from windrow import takedown
from windrow.config import ConfigError
from windrow.corpus import document
from windrow.takedown import Takedown

DEU, CES, NEWS, BLOG, IP, ZHO = range(len(SAMPLES))


def covered(text: str, folder: Path) -> list[int]:
    """Return the numbers of the samples that the list covers."""
    listed = Takedown()
    (folder / "list.txt").write_text(text)
    listed.read(folder / "list.txt")
    found = [document.read(samples.line(sample, number), "here") for number, sample in enumerate(SAMPLES)]
    return [number for number, one in enumerate(found) if listed.covers(one.url)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("example.co.uk", [NEWS, BLOG]),
        ("blog.example.co.uk  # asked by mail", [BLOG]),
        ("*.example.de\n\n# nothing\n", [DEU]),
        ("http://blog.example.co.uk/post", [BLOG]),
        ("https://blog.example.co.uk/post", [BLOG]),
        ("news.example.co.uk/story", [NEWS]),
        ("http://news.example.co.uk/stories", []),
        ("http://www.wind.example.de/mühle?a=1&b=2", [DEU]),
        ("http://www.wind.example.de/m*", [DEU]),
        ("http://pole.example.cz/", [CES]),
        ("http://192.0.2.7/*\nzh.example.org", [IP, ZHO]),
        ("\ufeffpole.example.cz", [CES]),
        ("POLE.Example.CZ", [CES]),
        ("ample.cz", []),
    ],
)
def test_an_entry_covers_a_page_a_host_or_all_below_a_domain(tmp_path: Path, text: str, expected: list[int]) -> None:
    assert covered(text, tmp_path) == expected


@pytest.mark.parametrize("line", ["not a place", "ftp://example.org/", "http://", "word"])
def test_an_invalid_entry_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match=r"list\.txt, line 2: "):
        covered(f"example.org\n{line}\n", tmp_path)


def test_an_empty_list_covers_nothing(tmp_path: Path) -> None:
    assert not Takedown() and covered("", tmp_path) == []


def test_the_line_that_covers_a_page_is_named(tmp_path: Path) -> None:
    own, other = tmp_path / "takedown.txt", tmp_path / "more.txt"
    own.write_text("# by mail\nexample.co.uk\nhttp://example.de/a/*  # by phone\n")
    other.write_text("http://example.cz/page\n")
    found = takedown.of(tmp_path, tmp_path / "no crawl", extra=other)
    lines = {
        "http://news.example.co.uk/x": "takedown.txt, line 2: example.co.uk",
        "https://example.de/a/b": "takedown.txt, line 3: http://example.de/a/*",
        "https://example.cz/page": "more.txt, line 1: http://example.cz/page",
    }
    assert {url: str(found.find(url)) for url in lines} == lines
    assert all(found.covers(url) for url in lines)
    assert found.find("http://example.de/") is None and not found.covers("http://example.de/")
    own.write_text("example.co.uk\nexample.de:8080/*\nexample.cz/robots.txt\n")
    origins = (
        "http://a.example.co.uk/",
        "http://example.de:8080/x",
        "http://example.de/",
        "http://example.cz/robots.txt",
    )
    assert [takedown.of(tmp_path).covers_origin(url) for url in origins] == [True, True, False, False]
    assert found.covers_host("a.b.example.co.uk") and not found.covers_host("example.de")


def test_a_crawl_with_an_unfinished_purge_is_not_read(tmp_path: Path) -> None:
    takedown.check_purged(tmp_path)
    (tmp_path / takedown.UNFINISHED).write_bytes(b"")
    with pytest.raises(ConfigError, match=f"finish it with: windrow purge {tmp_path}"):
        takedown.check_purged(tmp_path)
