"""Presets: each of their settings is an option, and crawl.toml gives the reasons."""

from pathlib import Path

import pytest

from tests import crashing
from windrow import config


@pytest.mark.parametrize("name", config.PRESETS)
def test_every_setting_of_a_preset_changes_an_option(name: str, tmp_path: Path) -> None:
    for one in config.PRESETS[name]:
        assert config.make([one.setting], tmp_path) != config.Config(), one
        assert one.reason.endswith(".")


@pytest.mark.parametrize("name", config.PRESETS)
def test_the_file_of_a_preset_gives_reasons_and_loads_back_equal(name: str, tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("http://www.a.co.uk/x\nhttp://b.test/\n")
    made = crashing.run(["init", str(tmp_path / "crawl"), "--seeds", str(tmp_path / "seeds"), "--preset", name])
    assert made.code == 0, made.err
    text = (tmp_path / "crawl" / "crawl.toml").read_text()
    plain = " ".join(text.replace("\n#", " ").split())
    for one in config.PRESETS[name]:
        assert f"Here: {one.reason} {one.setting.partition('=')[0].partition('.')[2]} = " in plain
    settings = [one.setting for one in config.PRESETS[name]]
    expected = config.make([*settings, 'scope.domains=["a.co.uk", "b.test"]'], tmp_path / "crawl")
    assert config.load(tmp_path / "crawl" / "crawl.toml") == expected


def test_a_setting_of_the_user_is_stronger_than_the_preset(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("http://a.test/\n")
    arguments = ["--preset", "archive", "--tld", "test", "--set", "fetch.max_bytes=5000"]
    made = crashing.run(["init", str(tmp_path / "crawl"), "--seeds", str(tmp_path / "seeds"), *arguments])
    assert made.code == 0, made.err
    options = config.load(tmp_path / "crawl" / "crawl.toml")
    assert (options.fetch.max_bytes, options.scope.tlds, options.scope.domains) == (5000, ("test",), ())


def test_an_unknown_preset_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("http://a.test/\n")
    made = crashing.run(["init", str(tmp_path / "crawl"), "--seeds", str(tmp_path / "seeds"), "--preset", "archiv"])
    assert made.code == 2
    assert "there is no preset 'archiv'; the presets are archive" in made.err
    assert not (tmp_path / "crawl").exists()
