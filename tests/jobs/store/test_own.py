"""A kind of storage of the user's own: one source file, named where a scheme stands in the address."""

import json
from pathlib import Path

import pytest

from tests import crashing
from tests.jobs.store.crawls import growing, sample
from tests.jobs.store.test_storages import store
from windrow.config import ConfigError

CODE = """\
import json
from pathlib import Path

import msgspec

from windrow.jobs.store.protocol import StoragePosition


class Lines:
    seconds = 1.0

    def __init__(self, path, end):
        self.path, self.end = Path(path), end
        self.place = self.path.with_suffix(".position")

    def position(self, crawl):
        return msgspec.json.decode(self.place.read_bytes(), type=StoragePosition) if self.place.exists() else None

    def write(self, batch):
        with self.path.open("a") as file:
            file.writelines(json.dumps(row.url + self.end) + "\\n" for row in batch.documents)
        self.place.write_bytes(msgspec.json.encode(batch.position))

    def remove(self, crawl, gone):
        return 0

    def clear(self, crawl):
        self.path.unlink()

    def close(self):
        pass


def lines(target, captures):
    return Lines(target.partition("://")[2], "")


def ended(options, inner):
    return lambda target, captures: Lines(target.partition("://")[2], options["end"])
"""


def urls(path: Path) -> list[str]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_storage_of_the_user_is_named_where_a_scheme_stands(tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=2) as crawl:
        (crawl.directory / "line_storage.py").write_text(CODE)
        target = f"line_storage:lines://{tmp_path}/out"
        assert store(crawl.directory, target).documents == 6
        assert sorted(urls(tmp_path / "out")) == [sample(number).url for number in range(6)]
        crawl.commit([sample(6)])
        assert store(crawl.directory, target).documents == 1
    assert len(urls(tmp_path / "out")) == 7


def test_a_section_gives_a_storage_of_the_user_a_scheme_and_options(tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=1) as crawl:
        (crawl.directory / "line_storage.py").write_text(CODE)
        section = '[plugins.lines]\nuse = "line_storage:ended"\nend = "#"\n'
        (crawl.directory / "crawl.toml").write_text(section)
        done = crashing.run(["store", str(crawl.directory), "--to", f"lines://{tmp_path}/out"])
        assert done.code == 0, done.err
    assert sorted(urls(tmp_path / "out")) == [f"{sample(number).url}#" for number in range(3)]


def test_a_storage_of_the_user_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=1) as crawl, pytest.raises(ConfigError, match="--to names 'nowhere:it'"):
        store(crawl.directory, "nowhere:it://host/place")


def test_an_error_of_a_storage_of_the_user_names_its_line(tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=1) as crawl:
        (crawl.directory / "line_storage.py").write_text(CODE.replace("row.url + self.end", "row.url + 1"))
        done = crashing.run(["store", str(crawl.directory), "--to", f"line_storage:lines://{tmp_path}/out"])
    line = next(number for number, text in enumerate(CODE.splitlines(), 1) if "row.url" in text)
    assert done.code == 2
    assert f"line_storage.py, line {line}: TypeError" in done.err
