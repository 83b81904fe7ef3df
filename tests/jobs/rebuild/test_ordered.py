"""`windrow rebuild --corpus` on a crawl of the demo web: equal to the crawl's corpus, complete or absent."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.jobs import demos, inline
from tests.jobs.demos import documents
from windrow import cli, config
from windrow.config import ConfigError
from windrow.jobs.rebuild import crawled as recrawled
from windrow.jobs.rebuild import ordered


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demos.crawl(tmp_path_factory.mktemp("rebuild") / "crawl", "crawl.max_pages=150")


@pytest.fixture
def crawl(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "crawl"))


def run(crawl: Path, output: Path, *settings: str) -> ordered.Rebuilt:
    return ordered.corpus(crawl, config.load(crawl / "crawl.toml", settings), output, lambda done: None)


def test_the_corpus_equals_that_of_the_crawl(crawl: Path, tmp_path: Path) -> None:
    done = run(crawl, tmp_path / "again")
    assert list(documents(tmp_path / "again")) == list(documents(crawl))
    assert done.documents == len(list(documents(crawl))) > 50
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["corpus"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('language.accepted=["hsb"]', "language.accepted: no tool can detect Upper Sorbian"),
        ('language.models=["hsb.json"]', "language.models: there is no model"),
    ],
)
def test_a_language_or_a_model_that_is_missing_is_refused_at_the_start(
    crawl: Path, tmp_path: Path, setting: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        run(crawl, tmp_path / "again", setting)
    assert not (tmp_path / "again").exists()


def test_other_options_make_another_corpus(crawl: Path, tmp_path: Path) -> None:
    languages = sorted({str(document["language"]) for _, document in documents(crawl)})
    assert len(languages) > 1
    run(crawl, tmp_path / "one", f"language.accepted={languages[:1]}")
    assert {document["language"] for _, document in documents(tmp_path / "one")} == {languages[0]}


def damage_archive(crawl: Path) -> None:
    path = sorted((crawl / "warc").iterdir())[-1]
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
    path.write_bytes(data)


def cut_archive(crawl: Path) -> None:
    path = sorted((crawl / "warc").iterdir())[-1]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_log(crawl: Path) -> None:
    path = crawl / "log" / "00000.jsonl.gz"
    path.write_bytes(path.read_bytes()[:40] + b"damage" + path.read_bytes()[46:])


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (damage_archive, r"\.warc\.gz, byte \d+: .*; restore the file from a copy"),
        (cut_archive, r"\.warc\.gz, byte \d+: .*; restore the file from a copy"),
        (
            damage_log,
            r"00000\.jsonl\.gz, byte 0: damaged, and whole frames follow; restore the file from a copy",
        ),
        (lambda crawl: shutil.rmtree(crawl / "log"), "holds no crawl: there is no log in it; check the path"),
    ],
)
def test_damage_is_reported_and_no_output_is_left(crawl: Path, tmp_path: Path, harm: object, said: str) -> None:
    harm(crawl)  # type: ignore[operator]
    (tmp_path / "there").mkdir()
    for output in (tmp_path / "new", tmp_path / "there"):
        with pytest.raises(ConfigError, match=said):
            run(crawl, output)
    assert not (tmp_path / "new").exists() and not list((tmp_path / "there").iterdir())


def test_an_existing_corpus_is_not_overwritten(crawl: Path) -> None:
    before = list(documents(crawl))
    with pytest.raises(ConfigError, match="exists already; name another directory, or move it away"):
        run(crawl, crawl)
    assert list(documents(crawl)) == before


def test_the_remains_of_a_killed_rebuild_are_replaced(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / ".new.rebuild" / "corpus" / "deu").mkdir(parents=True)
    (tmp_path / "out" / ".new.rebuild" / "corpus" / "deu" / "n0-00000.jsonl.gz").write_bytes(b"half")
    run(crawl, tmp_path / "out")
    assert list(documents(tmp_path / "out")) == list(documents(crawl))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["corpus"]


def test_documents_on_the_takedown_list_do_not_come_back_and_their_copies_stay_duplicates(
    crawl: Path, tmp_path: Path
) -> None:
    whole = list(documents(crawl))
    (crawl / "takedown.txt").write_text("library.demo.test\n")
    extra = tmp_path / "more.txt"
    extra.write_text("knihovna.demo.test\n")
    options = config.load(crawl / "crawl.toml")
    done = ordered.corpus(crawl, options, tmp_path / "again", lambda done: None, extra)
    gone = ("http://library.demo.test/", "http://knihovna.demo.test/")
    left = [(name, document) for name, document in whole if not str(document["url"]).startswith(gone)]
    assert list(documents(tmp_path / "again")) == left
    assert done.listed == done.reasons["takedown"] == len(whole) - len(left) > 10
    assert done.purged == 0


def test_a_crawl_with_an_interrupted_purge_is_refused(crawl: Path, tmp_path: Path) -> None:
    (crawl / "purge.redo").write_bytes(b"")
    with pytest.raises(ConfigError, match="finish it with: windrow purge"):
        run(crawl, tmp_path / "again")


def files(directory: Path) -> dict[str, bytes]:
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.gz")}


def test_pages_refined_on_an_engine_give_the_same_corpus_byte_for_byte(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recrawled, "PART", 16)
    settings = ("dedup.near_duplicates=false",)
    alone = run(crawl, tmp_path / "alone", *settings)
    options = config.load(crawl / "crawl.toml", settings)
    work = tmp_path / "work"
    with inline.engine(work) as opened:
        rows = recrawled.rows(crawl, options, settings, opened, work / "pages")
        done = ordered.corpus(crawl, options, tmp_path / "parallel", lambda done: None, rows=rows)
    assert len(list(recrawled.parts(crawl))) > 5
    assert done == alone
    assert files(tmp_path / "parallel") == files(tmp_path / "alone") != {}


def test_an_engine_names_a_damaged_archive_and_writes_nothing(crawl: Path, tmp_path: Path) -> None:
    archive = next((crawl / "warc").iterdir())
    archive.write_bytes(archive.read_bytes()[:20000])
    options = config.load(crawl / "crawl.toml")
    with inline.engine() as opened, pytest.raises(ConfigError, match="restore the file from a copy"):
        rows = recrawled.rows(crawl, options, (), opened, tmp_path / "pages")
        ordered.corpus(crawl, options, tmp_path / "again", lambda done: None, rows=rows)
    assert not (tmp_path / "again").exists()


def test_the_command_rebuilds_with_workers(crawl: Path, tmp_path: Path) -> None:
    for name, workers in (("one", "1"), ("two", "2")):
        command = ["rebuild", str(crawl), "--corpus", str(tmp_path / name), "--workers", workers, "--json"]
        assert CliRunner().invoke(cli.app, command).exit_code == 0
    assert files(tmp_path / "two") == files(tmp_path / "one") != {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl", "one", "two"]
