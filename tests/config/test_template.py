"""`windrow init` writes a crawl.toml that explains itself and loads back equal."""

import re
import tomllib
from pathlib import Path

from windrow import config
from windrow.config import Config, template
from windrow.config.schema import SECTIONS


def loaded(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "crawl.toml"
    path.write_text(text, "utf-8")
    return config.load(path)


def test_every_usual_option_exists() -> None:
    known = [option.name for option in config.options()]
    assert [name for name in template.USUAL if name not in known] == []
    sections = {section.name for section in SECTIONS}
    assert {name.partition(".")[0] for name in template.USUAL} == sections


def test_the_defaults_are_all_comments(tmp_path: Path) -> None:
    text = template.new_file(Config())
    assert loaded(tmp_path, text) == Config()
    assert all(values == {} for values in tomllib.loads(text).values())


def test_a_comment_can_be_made_an_option_by_removing_its_mark(tmp_path: Path) -> None:
    text = template.new_file(Config())
    names = [option.name.partition(".")[2] for option in config.options()]
    bare = re.sub(rf"^#(({'|'.join(names)}) = )", r"\1", text, flags=re.MULTILINE)
    assert loaded(tmp_path, bare).fetch == Config().fetch
    assert sum(map(len, tomllib.loads(bare).values())) == len(template.USUAL)


def test_options_that_differ_are_written_with_their_default_in_words(tmp_path: Path) -> None:
    made = config.make(["fetch.delay=7", "fetch.http2=true", 'identity.operator="a \\"b\\" ř"'], tmp_path)
    text = template.new_file(made)
    assert loaded(tmp_path, text) == made
    assert "\ndelay = 7.0\n" in text and "Default: 5.0." in text and "\nhttp2 = true\n" in text
    meaning = next(option.meaning for option in config.options() if option.name == "fetch.delay")
    assert meaning[:60] in text


def test_no_line_is_long(tmp_path: Path) -> None:
    assert max(map(len, template.new_file(Config()).splitlines())) <= 120
