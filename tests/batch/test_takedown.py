from pathlib import Path

import pytest

from tests.corpus import samples
from tests.corpus.samples import SAMPLES
from windrow.batch.takedown import Takedown
from windrow.config import ConfigError
from windrow.corpus import document

DEU, CES, NEWS, BLOG, IP, ZHO = range(len(SAMPLES))


def covered(text: str, folder: Path) -> list[int]:
    """Return the numbers of the samples that the list covers."""
    takedown = Takedown()
    (folder / "list.txt").write_text(text)
    takedown.read(folder / "list.txt")
    found = [document.read(samples.line(sample, number), "here") for number, sample in enumerate(SAMPLES)]
    return [number for number, one in enumerate(found) if takedown.covers(one.url)]


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
