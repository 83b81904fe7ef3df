"""The options of the user's own code are read as they are written, and a section that nothing uses is refused."""

from pathlib import Path

import msgspec
import pytest

from windrow import config
from windrow.config import Config, ConfigError, NamedFile, template

TYPED = """\
[judge]
judges = ["mine:wind"]
[plugins.wind]
word = "wind"
least = 3
share = 0.5
strict = true
words = ["a", "b\\n"]
[plugins.wind.weights]
"two words" = 1
"""
VALUES = {
    "word": "wind",
    "least": 3,
    "share": 0.5,
    "strict": True,
    "words": ["a", "b\n"],
    "weights": {"two words": 1},
}


def write(folder: Path, text: str) -> Path:
    path = folder / "crawl.toml"
    path.write_text(text, "utf-8")
    return path


def complaint(folder: Path, text: str, *overrides: str) -> str:
    path = write(folder, text)
    with pytest.raises(ConfigError) as raised:
        config.load(path, overrides)
    assert "\n" not in str(raised.value)
    return str(raised.value).replace(str(path), "crawl.toml")


def test_a_section_of_a_plug_in_has_values_of_every_type(tmp_path: Path) -> None:
    assert config.load(write(tmp_path, TYPED)).plugins == {"wind": VALUES}


@pytest.mark.parametrize("changed", [False, True])
def test_the_sections_are_among_the_options_in_force_and_load_back_equal(tmp_path: Path, changed: bool) -> None:
    options = config.load(write(tmp_path, TYPED))
    assert config.load(write(tmp_path, config.dump(options, changed))) == options
    assert config.load(write(tmp_path, template.new_file(options))) == options


def test_a_worker_process_gets_the_same_sections(tmp_path: Path) -> None:
    options = config.load(write(tmp_path, TYPED))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(options), type=Config) == options


def test_an_override_sets_an_option_of_a_plug_in(tmp_path: Path) -> None:
    path = write(tmp_path, TYPED)
    settings = ["plugins.wind.word=storm", "plugins.wind.least=4", "plugins.wind.new=[1, 2]"]
    changed = config.load(path, settings).plugins["wind"]
    assert changed == VALUES | {"word": "storm", "least": 4, "new": [1, 2]}
    made = config.make(["extract.extractor=mine:plain", "plugins.plain.tag=p"], tmp_path)
    assert made.plugins == {"plain": {"tag": "p"}}


def test_code_named_by_its_section_is_found_beside_the_crawl(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    path = write(
        tmp_path, '[judge]\njudges = ["gale"]\n[plugins.gale]\nuse = "mine:wind"\n[plugins.tsv]\nuse = "p.q:t"\n'
    )
    assert config.load(path).plugins == {"gale": {"use": f"{tmp_path}/mine:wind"}, "tsv": {"use": "p.q:t"}}
    assert config.named_files(path) == [NamedFile("plugins.gale.use", f"{tmp_path}/mine:wind", False)]


REFUSED = {
    "[plugins.wnd]\nword = 1": "nothing uses the section [plugins.wnd]; did you mean [plugins.wind]?",
    "[plugins.qqq]\nword = 1": "nothing uses the section [plugins.qqq]; "
    'say what it is for with use = "package.module:qqq"',
    "[plugins]\nwind = 1": "'plugins' in crawl.toml holds something that is no section of a plug-in; write "
    "[plugins.NAME] on a line of its own and its options below, or --set plugins.NAME.option=value",
    "[plugins.wind]\nday = 2026-11-15": "option 'plugins.wind.day' in crawl.toml holds 2026-11-15, a date or time; "
    "write it as text, in quotes",
    "[plugins.wind]\nuse = 3": "option 'plugins.wind.use' in crawl.toml must name your code as "
    '"package.module:name", not 3',
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_section_that_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    assert complaint(tmp_path, f'[judge]\njudges = ["mine:wind"]\n{text}\n') == REFUSED[text]


def test_a_section_that_may_belong_to_two_is_refused(tmp_path: Path) -> None:
    text = '[judge]\njudges = ["a:wind", "b:wind"]\n[plugins.wind]\nword = 1\n'
    assert complaint(tmp_path, text) == (
        '[plugins.wind] may belong to a:wind and b:wind; give it to one of them with use = "package.module:name"'
    )


def test_an_override_of_a_section_that_nothing_uses_is_refused(tmp_path: Path) -> None:
    assert "did you mean [plugins.wind]" in complaint(tmp_path, TYPED, "plugins.wimd.word=a")
    assert complaint(tmp_path, TYPED, "plugins.wind=a") == (
        "unknown option 'plugins.wind' in --set; write [plugins.NAME] on a line of its own and its options below, "
        "or --set plugins.NAME.option=value"
    )


def test_an_option_of_a_plug_in_cannot_change_while_the_crawl_runs() -> None:
    with pytest.raises(ConfigError, match="cannot change while a crawl runs"):
        config.live("plugins.wind.word=a")
