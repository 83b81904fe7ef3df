"""Files that options name: a job on many machines must know which of them depend on where crawl.toml is."""

from pathlib import Path

from windrow import config
from windrow.config import NamedFile


def test_files_are_listed_with_whether_their_path_was_absolute(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    path = tmp_path / "crawl.toml"
    path.write_text(
        '[fetch]\nhosts_file = "/etc/hosts"\ncookies_file = ""\n[focus]\nmodel = "topic/model.arpa"\n'
        '[extract]\nextractor = "mine:extract"\n[crawl]\nseeds = "list.txt"\n'
    )
    assert config.named_files(path) == [
        NamedFile("fetch.hosts_file", "/etc/hosts", True),
        NamedFile("focus.model", f"{tmp_path}/topic/model.arpa", False),
        NamedFile("extract.extractor", f"{tmp_path}/mine:extract", False),
    ]


def test_overrides_replace_what_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    path.write_text('[focus]\nmodel = "model.arpa"\n[extract]\nextractor = "package.module:name"\n')
    assert config.named_files(path, ["focus.model=/models/m.arpa"]) == [
        NamedFile("focus.model", "/models/m.arpa", True)
    ]
