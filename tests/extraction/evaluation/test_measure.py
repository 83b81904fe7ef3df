"""Extractors over many pages: the same scores from one process and from several, in the order of the pages."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from windrow.config import ConfigError
from windrow.extraction.evaluation import files, measure
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.measure import Choice
from windrow.extraction.evaluation.score import PageScore

STORY = "The old mill by the river had been closed for years when the children found that the door was not locked. "
BODY = f"<p>{STORY * 3}</p><div>© 2026</div>".encode()
BLOCKS = Choice((("blocks", files.options("blocks")), ("paragraphs", files.options("paragraphs"))))


def pages(count: int) -> Iterator[Sample]:
    return (Sample(str(number), "set", BODY * (number % 3 + 1), STORY * 3) for number in range(count))


def timeless(scores: list[list[PageScore]]) -> list[list[PageScore]]:
    return [[msgspec.structs.replace(one, milliseconds=0.0) for one in page] for page in scores]


def test_several_processes_give_what_one_gives_in_the_same_order() -> None:
    found = list(measure.scores(pages(25), BLOCKS))
    assert [page[0].name for page in found] == [str(number) for number in range(25)]
    assert [one.extractor for one in found[0]] == ["blocks", "paragraphs"]
    assert timeless(list(measure.scores(pages(25), BLOCKS, jobs=2))) == timeless(found)


def test_few_pages_are_read_ahead_of_the_processes() -> None:
    read = []

    def watched() -> Iterator[Sample]:
        for sample in pages(100):
            read.append(sample.name)
            yield sample

    scores = measure.scores(watched(), BLOCKS, jobs=2)
    list(itertools.islice(scores, 2))
    assert len(read) < 20
    scores.close()  # type: ignore[attr-defined]


def test_an_error_of_the_set_up_is_raised_before_the_first_page(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no peer 'x'"):
        list(measure.scores(iter(()), Choice(BLOCKS.extractors, ("x",)), jobs=2))
    with pytest.raises(ConfigError, match="there is nothing to evaluate"):
        list(measure.scores(iter(()), Choice(())))


def test_a_process_that_dies_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dying.py").write_text("import os\n\ndef extract(capture):\n    os._exit(9)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    choice = Choice((("dying", files.options("dying:extract")),))
    with pytest.raises(ConfigError, match="a process that evaluates pages was killed; use fewer --jobs"):
        list(measure.scores(pages(3), choice, jobs=2))
