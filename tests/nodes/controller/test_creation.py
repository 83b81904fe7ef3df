"""A job for nodes is made of options and seeds: what of them reaches other machines."""

from pathlib import Path

import pytest

from windrow.config import ConfigError
from windrow.nodes.controller import creation

OPTIONS = """\
[identity]
contact = "https://example.org/bot"
[judge]
judges = ["topics:topic"]
[plugins.topic]
word = "salt"
weights = {sea = 2.5}
"""


def written(folder: Path, text: str) -> Path:
    (folder / "crawl.toml").write_text(text)
    (folder / "seeds.txt").write_text("http://example.org/\n")
    return folder


def test_the_options_of_plug_ins_reach_every_node(tmp_path: Path) -> None:
    job = creation.make("news", written(tmp_path, OPTIONS), ["plugins.topic.word=sea"], "", 2)
    assert creation.options_of(job.spec).plugins == {"topic": {"word": "sea", "weights": {"sea": 2.5}}}


def test_a_plug_in_beside_crawl_toml_is_refused_because_nodes_get_no_files(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    text = OPTIONS.replace("[plugins.topic]\n", '[plugins.topic]\nuse = "mine:topic"\n')
    with pytest.raises(ConfigError, match=r"'plugins\.topic\.use' names a file relative to crawl\.toml"):
        creation.make("news", written(tmp_path, text), [], "", 2)
