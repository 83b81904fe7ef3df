"""What a topic's words are compared with."""

import gzip
from pathlib import Path

import msgspec
import pytest

from tests.judge.focus import subjects
from windrow.config import ConfigError
from windrow.jobs.topic import background

SAMPLE = subjects.text("cats", 300)


@pytest.fixture
def wordfreq(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with word frequencies in the form of wordfreq: bins, each a hundredth of a power of ten rarer."""
    data = tmp_path / "wordfreq" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").touch()
    bins: list[object] = [{"format": "cB", "version": 1}, *([[]] * 200), ["the"], *([[]] * 299), ["cat", "ship"]]
    path = data / "small_en.msgpack.gz"
    path.write_bytes(gzip.compress(msgspec.msgpack.encode(bins)))
    monkeypatch.syspath_prepend(tmp_path)
    return path


def test_word_frequencies_are_taken_where_the_package_has_the_language(wordfreq: Path) -> None:
    found = background.choose("", ["eng"], SAMPLE, False)
    assert "wordfreq" in found.source
    assert found.frequencies == pytest.approx({"the": 0.01, "cat": 1e-5, "ship": 1e-5}, rel=0.02)
    assert "stop list of German" in background.choose("", ["deu"], SAMPLE, False).source


def test_damaged_word_frequencies_are_refused_with_their_path(wordfreq: Path) -> None:
    wordfreq.write_bytes(b"no gzip")
    with pytest.raises(ConfigError, match=r"small_en\.msgpack\.gz"):
        background.choose("wordfreq", ["eng"], SAMPLE, False)


def test_the_words_of_a_stop_list_are_neutral() -> None:
    found = background.choose("stoplist", ["eng", "deu"], SAMPLE, False)
    assert {"the", "und"} <= found.neutral
    assert "cat" not in found.neutral


def test_without_a_list_the_words_that_are_spread_over_the_sample_are_neutral() -> None:
    found = background.choose("sample", ["qaa"], SAMPLE, False)
    assert background.choose("", ["qaa"], SAMPLE, False) in (found, background.choose("", ["qaa"], SAMPLE, False))
    assert "the" in found.neutral
    assert "whisker" not in found.neutral or len(found.neutral) < 100


def test_general_text_of_the_user_is_joined_with_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "general.txt"
    path.write_text("The cat and the dog are at home. " * 50)
    found = background.choose(str(path), ["eng"], SAMPLE, False)
    assert str(path) in found.source
    assert found.frequencies["dog"] > found.rest
    assert "the" in found.neutral


@pytest.mark.parametrize("wanted", ["wordfreq", "stoplist"])
def test_a_background_that_is_not_there_is_refused(wanted: str) -> None:
    with pytest.raises(ConfigError, match=f"--background {wanted}: there is none for"):
        background.choose(wanted, ["qaa"], SAMPLE, False)


def test_general_text_without_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("123\n")
    with pytest.raises(ConfigError, match="no words"):
        background.choose(str(tmp_path / "empty.txt"), ["eng"], SAMPLE, False)
