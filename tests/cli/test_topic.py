"""`windrow init --topic`: what it prints and writes, and one sentence for each error."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.judge.focus import subjects
from windrow import cli, config
from windrow.config import ConfigError


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seeds.txt").write_text("http://a.example/\n")
    (tmp_path / "cats.txt").write_text("\n".join(subjects.text("cats", 600)))
    return tmp_path


def init(*arguments: str) -> str:
    result = CliRunner().invoke(cli.app, ["init", "crawl", "--seeds", "seeds.txt", *arguments], catch_exceptions=True)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return " ".join(result.stdout.split())


def test_the_file_says_where_each_number_comes_from_and_how_certain_it_is(place: Path) -> None:
    printed = init("--topic", "cats.txt", "--language", "eng", "--contact", "me@example.org")
    assert re.search(r"The topic: [\d,]+ words of English, compared with the stop list of English", printed)
    text = " ".join((place / "crawl" / "crawl.toml").read_text().replace("\n#", "").split())
    typical = config.load(place / "crawl" / "crawl.toml").focus.typical_perplexity
    found = re.search(
        r"each scored by the rest of it: ([\d.]+) \(90 % interval ([\d.]+) to ([\d.]+), (\d+) parts\)", text
    )
    assert found is not None
    value, low, high, parts = map(float, found.groups())
    assert value == pytest.approx(typical, rel=0.01)
    assert low <= value <= high
    assert parts > 10
    assert 'model = "topic.bin"' in text  # relative: the directory can be moved


def test_the_directory_can_be_moved(place: Path) -> None:
    init("--topic", "cats.txt")
    (place / "crawl").rename(place / "moved")
    assert Path(config.load(place / "moved" / "crawl.toml").focus.words).is_file()


def test_options_of_the_topic_can_be_set_with_it(place: Path) -> None:
    init("--topic", "cats.txt", "--set", "focus.max_perplexity=5000", "--background", "sample")
    assert config.load(place / "crawl" / "crawl.toml").focus.max_perplexity == 5000
    assert "spread evenly over the sample" in (place / "crawl" / "topic.words").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--background", "stoplist"), "give the topic with --topic TEXT"),
        (("--topic", "cats.txt", "--background", "none.txt"), r"none\.txt"),
        (("--topic", "cats.txt", "--language", "xx"), "xx"),
        (("--topic", "seeds.txt"), "needs at least 300 words"),
        (("--set", "focus.high=3"), "no model"),
        (("--topic", "cats.txt", "--set", "extract.extractor=none"), "extract.extractor"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(arguments: tuple[str, ...], said: str, place: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        init(*arguments)
    assert not (place / "crawl").exists()
