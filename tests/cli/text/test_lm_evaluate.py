"""`windrow lm evaluate`: a table, a file for the report, JSON for programs."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.world import World


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with World(seed=5, pages=14, hosts=2, kinds=("absent", "mirror"), prose=True) as world:
        directory = truth.prepare(tmp_path_factory.mktemp("lm") / "crawl", world, *truth.TEXT)
        assert crashing.run(["crawl", str(directory)]).code == 0
        yield directory


@pytest.fixture
def held_out(directory: Path, tmp_path: Path) -> Path:
    """Text of the same words as the crawl's, in another order."""
    texts = [paragraph["text"] for document in truth.documents(directory) for paragraph in document["paragraphs"]]
    path = tmp_path / "held-out.txt"
    path.write_text("".join(" ".join(text.rstrip(".").split()[::-1]) + ".\n" for text in texts[:20]))
    return path


def test_an_evaluation_is_printed_and_shown_by_the_report(directory: Path, held_out: Path) -> None:
    command = ["lm", "evaluate", str(directory), "--held-out", str(held_out), "--sizes", "0.2K,1K", "--language", "lat"]
    result = crashing.run(command)
    assert result.code == 0, result.err
    assert "Wanted: Latin." in result.out and f"{directory / 'evaluation.json'} written" in result.out
    shown = crashing.run([*command, "--json"]).json
    assert shown == json.loads((directory / "evaluation.json").read_text())
    assert [row["size"] for row in shown[0]["rows"]][:2] == [200, 1000]
    assert crashing.run(["report", str(directory)]).code == 0
    assert (directory / "report" / "perplexity.svg").is_file()


def test_two_crawls_are_printed_side_by_side(directory: Path, held_out: Path, tmp_path: Path) -> None:
    before = (directory / "evaluation.json").exists()
    command = ["lm", "evaluate", str(directory), "--held-out", str(held_out), "--against", str(directory)]
    result = crashing.run([*command, "--sizes", "500", "-o", str(tmp_path / "both.json")])
    assert result.code == 0, result.err
    assert "crawl against crawl:" in result.out
    assert len(json.loads((tmp_path / "both.json").read_text())) == 2
    assert (directory / "evaluation.json").exists() is before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sizes", "many"], "--sizes 'many' is not a number"),
        (["--memory", "x"], "--memory 'x' is not a number"),
        (["--language", "nonsense"], "unknown language 'nonsense'"),
        (["--train", "nowhere.txt"], "nowhere.txt"),
        (["--train", os.devnull], "/dev/null has no sentence of five words and more"),
        (["--against", "nowhere"], "nowhere holds no crawl"),
    ],
)
def test_wrong_options_get_one_sentence(options: list[str], words: str, directory: Path, held_out: Path) -> None:
    result = crashing.run(["lm", "evaluate", str(directory), "--held-out", str(held_out), *options])
    assert result.code == 2 and result.err.count("\n") == 1, result.err
    assert words in result.err
