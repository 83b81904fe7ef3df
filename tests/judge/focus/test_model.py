"""Model files: what is written is read again, and a file that is cut or changed is refused."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.judge.focus.test_training import ngrams
from windrow.config import ConfigError
from windrow.judge.focus import layout, model, training
from windrow.judge.focus.tables import NgramTables
from windrow.judge.focus.tokens import Tokeniser


def trained(words: int = 2000, order: int = 5) -> NgramTables:
    draw = random.Random(7)
    names = [f"w{chr(97 + one)}{chr(97 + two)}" for one in range(12) for two in range(12)]
    text = [[draw.choice(names) for _ in range(draw.randint(5, 20))] for _ in range(words // 12)]
    return training.train(text, order, tokeniser=Tokeniser(lower=False, characters=None, least=3))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    model.write(trained(), tmp_path / "topic.lm")
    return tmp_path / "topic.lm"


@pytest.mark.parametrize("order", range(1, 7))
def test_a_model_is_the_same_after_writing_and_reading(tmp_path: Path, order: int) -> None:
    tables = trained(order=order)
    model.write(tables, tmp_path / "topic.lm")
    found = model.read(tmp_path / "topic.lm")
    assert (found.order, found.counts) == (order, [len(level) for level in tables.levels])
    assert found.words == len(tables.words) == len(found.vocabulary)
    assert (found.tokeniser, found.origin) == (tables.tokeniser, tables.origin)
    assert found.log10(["waa", "wbb", "new"]) == model.make(tables).log10(["waa", "wbb", "new"])


def test_every_ngram_is_found_at_its_length() -> None:
    tables = trained(400)
    scorer = model.make(tables)
    for order in range(2, 6):
        level = tables.levels[order - 1]
        for row, log10 in zip(tables.rows(order).tolist(), level.log10.tolist(), strict=True):
            words = [tables.words[number] for number in row if number > 2]
            if row[0] == 1 and row[-1] != 2:  # those that begin a sentence are found without what comes before
                assert scorer.log10(words)[len(words) - 1][:2] == (log10, order)


def test_equal_text_gives_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        model.write(trained(), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.3, 0.9, 0.9999])
def test_a_file_that_is_cut_is_refused(file: Path, share: float) -> None:
    os.truncate(file, int(file.stat().st_size * share))
    with pytest.raises(ConfigError, match=r"topic\.lm is (?:cut|damaged|empty|not a language model)"):
        model.read(file)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.2, 0.5, 0.99])
def test_a_changed_byte_is_found(file: Path, share: float) -> None:
    data = bytearray(file.read_bytes())
    header = layout.parse(bytes(data), file).header
    place = int(len(data) * share)
    inside = any(one.offset <= place < one.offset + one.length for one in header.sections)
    place = place if inside or place < header.sections[0].offset else header.sections[-1].offset
    data[place] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(ConfigError, match=r"damaged|not a language model"):
        model.read(file)


def test_damage_that_is_not_looked_for_gives_wrong_scores_and_no_crash(file: Path) -> None:
    intact = file.read_bytes()
    start = layout.parse(intact, file).header.sections[1].offset
    draw = random.Random(3)
    for _ in range(30):
        data = bytearray(intact)
        for _ in range(200):
            data[draw.randrange(start, len(data))] = draw.randrange(256)
        file.write_bytes(data)
        scorer = model.read(file, check=False)
        assert scorer.score_texts(["waa wbb wcc wdd wee waa wab wac wad wae. new words here"]).words


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "is empty"), (b"x", "is not a language model"), (b"<html>" * 9, "is not a language model")],
)
def test_another_file_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ConfigError, match=message):
        model.read(tmp_path / "a")


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no model .*windrow lm train"):
        model.read(tmp_path / "a")
    with pytest.raises(ConfigError, match="cannot read the model"):
        model.read(tmp_path)


def test_a_file_of_a_later_version_is_refused(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[8] = 99
    file.write_bytes(data)
    with pytest.raises(ConfigError, match="version 99, and this program reads version 1"):
        model.read(file)


def test_an_arpa_file_is_recognised_by_its_content(tmp_path: Path) -> None:
    model.write(trained(order=2), tmp_path / "a.arpa")
    (tmp_path / "a.arpa").rename(tmp_path / "model")
    assert model.read(tmp_path / "model").order == 2


@pytest.mark.parametrize("order", range(1, 7))
def test_the_ngrams_of_a_file_can_be_read_again(tmp_path: Path, order: int) -> None:
    found = trained(400, order)
    model.write(found, tmp_path / "topic.lm")
    again = model.tables(tmp_path / "topic.lm")
    assert again.words == found.words
    for size in range(1, order + 1):
        assert ngrams(again, size) == ngrams(found, size)
    model.write(again, tmp_path / "again.lm")
    assert (tmp_path / "again.lm").read_bytes() == (tmp_path / "topic.lm").read_bytes()


def test_processes_map_one_file(file: Path) -> None:
    """A block of megabytes is not copied into the memory of a process that reads it."""
    script = (
        "import sys, pathlib\n"
        "from windrow.judge.focus import model\n"
        "found = model.read(pathlib.Path(sys.argv[1]), check=False)\n"
        "print(any(sys.argv[1] in line for line in open('/proc/self/maps')), found.order)\n"
    )
    if not Path("/proc/self/maps").exists():
        pytest.skip("needs /proc/self/maps")
    source = Path(model.__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    assert done.stdout.split() == ["True", "5"]
