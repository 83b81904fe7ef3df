"""`windrow corpus`: from seeds to an export in one command, which can die at any step and be repeated."""

import gzip
import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth
from tests.crashing import DEAD, Plan
from tests.world import World
from windrow.cli.crawl import start

WANTED = 600  # tokens, of some 2,000


@pytest.fixture
def world(prose_world: World) -> World:
    prose_world.reset()
    return prose_world


def arguments(tmp_path: Path, world: World, *more: str, tokens: str = str(WANTED)) -> list[str]:
    """Return the command; its files are in `web`, its result in `made`."""
    (tmp_path / "web").mkdir(exist_ok=True)
    world.write(tmp_path / "web")
    options = [*truth.QUICK, *truth.TEXT, "crawl.in_flight=2"]
    hosts = f"fetch.hosts_file={tmp_path / 'web' / 'hosts'}"
    settings = [part for option in [*options, hosts] for part in ("--set", option)]
    made = ["-o", str(tmp_path / "made"), "--seeds", str(tmp_path / "web" / "seeds.txt")]
    return ["corpus", *made, "--tokens", tokens, *settings, *more]


def run(tmp_path: Path, world: World, *more: str, plan: Plan | None = None, **options: str) -> crashing.Result:
    return crashing.run(arguments(tmp_path, world, *more, **options), plan)


def exported(directory: Path) -> list[dict[str, Any]]:
    files = sorted((directory / "export" / "jsonl" / "data").iterdir())
    return [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def assert_made(directory: Path) -> None:
    """The corpus has its tokens, the export has its documents, and the report is there."""
    status = crashing.run(["status", str(directory), "--json"]).json
    assert status["tokens"] >= WANTED
    found = truth.documents(directory)
    truth.assert_corpus(directory)
    assert sorted(document["url"] for document in found) == sorted(
        row["metadata"]["url"] for row in exported(directory)
    )
    assert b"windrow report" in (directory / "report" / "index.html").read_bytes()
    left = [path.name for path in (directory / "export").iterdir()]
    assert left == ["jsonl"]


def test_a_size_that_is_left_empty_is_refused_before_anything_is_made(world: World, tmp_path: Path) -> None:
    result = run(tmp_path, world, tokens="")
    assert (result.code, result.err.count("--tokens has no number; write 300K, 10M or 1500000")) == (2, 1)
    assert not (tmp_path / "made").exists()


def test_one_command_makes_crawl_report_and_export(world: World, tmp_path: Path) -> None:
    result = run(tmp_path, world)
    assert result.code == 0, result.err
    directory = tmp_path / "made"
    assert_made(directory)
    assert "The corpus is complete: " in result.out and f"{directory / 'export' / 'jsonl'}/" in result.out
    requests = len(world.requests())
    again = run(tmp_path, world, "--json")
    assert again.code == 0, again.err
    assert len(world.requests()) == requests, "the corpus is complete: nothing is requested"
    made = again.json
    assert (made["why"], made["complete"], made["wanted"]) == ("tokens", True, WANTED)
    assert made["tokens"] >= WANTED and made["documents"] == len(exported(directory))
    assert Path(made["report"]).is_file() and Path(made["export"]).is_dir()


def test_a_larger_corpus_continues_the_smaller_one_and_a_web_without_more_text_says_so(
    world: World, tmp_path: Path
) -> None:
    assert run(tmp_path, world).code == 0
    larger = run(tmp_path, world, tokens="1M")
    assert larger.code == 1, "not as large as wanted"
    assert "The web around the seeds has no more: " in larger.out and "of 1,000,000 wanted" in larger.out
    truth.assert_whole(tmp_path / "made", world)
    assert_made(tmp_path / "made")


STEPS = [("replace", "crawl.toml"), ("create", "report/"), ("replace", "export/")]
FURTHER = [
    ("create", "purpose.json"),
    ("create", "seeds.txt"),
    ("create", "crawl.toml"),
    ("write", "log/"),
    ("pwrite", "corpus/"),
    ("create", "export/"),
    ("mkdir", "export"),
    ("fsync", "export/"),
    ("rename", "export/"),
]
LATE = ("report", "export")  # steps after a crawl


@pytest.fixture(scope="module")
def traces(prose_world: World, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Return the file operations of the command, and of the same command again."""
    place = tmp_path_factory.mktemp("trace")
    (place / "made").mkdir()
    return [run(place, prose_world, plan=Plan(directory=str(place / "made"))).trace for _ in range(2)]


@pytest.mark.parametrize(("verb", "file"), [*STEPS, *[pytest.param(*step, marks=pytest.mark.long) for step in FURTHER]])
def test_a_command_that_dies_at_any_step_is_continued_by_the_same_command(
    verb: str, file: str, traces: list[list[str]], world: World, tmp_path: Path
) -> None:
    (tmp_path / "made").mkdir()
    late = file.startswith(LATE)
    if late:
        assert run(tmp_path, world).code == 0
        if file.startswith("report"):
            shutil.rmtree(tmp_path / "made" / "report")  # as if the first run had died here
    count = sum(entry.startswith(f"{verb} ") and file in entry for entry in traces[late])
    middle = Plan(at=count // 2 + 1, among=(verb, file), directory=str(tmp_path / "made"))
    died = run(tmp_path, world, plan=middle)
    assert died.code == DEAD, died.err
    after = run(tmp_path, world)
    assert after.code == 0, after.err
    assert_made(tmp_path / "made")


def test_a_crawl_that_stops_before_its_target_is_not_exported_yet(world: World, tmp_path: Path) -> None:
    stopped = run(tmp_path, world, "--set", "crawl.max_pages=2")
    assert stopped.code == 1
    assert f"of {WANTED} wanted. Run the same command again to continue." in stopped.out
    assert not (tmp_path / "made" / "export").exists()
    (tmp_path / "made" / "crawl.toml").write_text(
        (tmp_path / "made" / "crawl.toml").read_text().replace("max_pages = 2", "max_pages = 0")
    )
    assert run(tmp_path, world).code == 0
    assert_made(tmp_path / "made")


def test_a_directory_of_another_corpus_is_refused(world: World, tmp_path: Path) -> None:
    assert run(tmp_path, world).code == 0
    before = sorted(path.name for path in (tmp_path / "made").iterdir())
    command = arguments(tmp_path, world)
    other = tmp_path / "other.txt"
    other.write_text("http://example.org/\n")
    cases = {
        "all languages": [*command, "--language", "deu"],
        "other seeds": [*command, "--seeds", str(other)],
        "no topic": [*command, "--topic", str(other)],
    }
    for words, wrong in cases.items():
        result = crashing.run(wrong)
        assert result.code == 2 and result.err.count("\n") == 1
        assert f"{tmp_path / 'made'} was made for {words}; name another directory with -o" in result.err
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == before


def test_a_crawl_made_by_init_is_refused(world: World, tmp_path: Path) -> None:
    truth.prepare(tmp_path / "made", world)
    result = run(tmp_path, world)
    assert result.code == 2 and result.err.count("\n") == 1
    assert "holds a crawl that `windrow corpus` did not make" in result.err
    assert not (tmp_path / "made" / "purpose.json").exists()


def test_bad_input_is_refused_before_anything_is_made(world: World, tmp_path: Path) -> None:
    cases = {
        "--tokens 'ten' is not a number": ["--tokens", "ten"],
        "--format names 'docx'": ["--format", "docx"],
        "nowhere.txt": ["--topic", str(tmp_path / "nowhere.txt")],
        "unknown language 'nonsense'": ["--language", "nonsense"],
        "give the topic with --topic TEXT": ["--background", "stoplist"],
    }
    for words, wrong in cases.items():
        result = crashing.run([*arguments(tmp_path, world), *wrong])
        assert result.code == 2 and result.err.count("\n") == 1, result.err
        assert words in result.err
        assert not (tmp_path / "made").exists(), words


def test_a_command_that_is_corrected_before_the_crawl_began_is_taken(world: World, tmp_path: Path) -> None:
    wrong = run(tmp_path, world, "--language", "Klingon")
    assert wrong.code == 2 and "no tool can detect Klingon" in wrong.err
    assert run(tmp_path, world).code == 0


@pytest.mark.skipif("topic" not in inspect.signature(start.init).parameters, reason="windrow init has no --topic")
def test_a_topic_reaches_the_crawl(world: World, tmp_path: Path) -> None:
    text = tmp_path / "topic.txt"
    text.write_text("\n".join(f"Die Katze Nummer {number} schläft heute lange auf dem Sofa." for number in range(200)))
    result = run(tmp_path, world, "--topic", str(text), "--background", "sample", tokens="100")
    assert result.code in (0, 1), result.err
    assert "[focus]" in (tmp_path / "made" / "crawl.toml").read_text()
    options = crashing.run(["report", str(tmp_path / "made"), "--json"]).json["settings"]
    assert "[focus]" in options and "model" in options
