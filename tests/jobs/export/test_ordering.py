"""Documents in the order of a score."""

import gzip
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus import samples
from tests.corpus.samples import SAMPLES
from tests.jobs import exports
from windrow.config import ConfigError
from windrow.corpus import document as documents
from windrow.jobs.export import ordering
from windrow.jobs.inputs.filters import Wanted
from windrow.jobs.inputs.selection import Selected

LINE = samples.line(SAMPLES[0], 0)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def selected(number: int, scores: dict[str, float]) -> Selected:
    line = msgspec.json.encode({**msgspec.json.decode(LINE), "scores": scores, "title": str(number)})
    return Selected(documents.read(line, "test"), line, "a crawl")


@given(st.lists(FINITE | st.none(), min_size=1, max_size=40), st.sampled_from(("relevance", "perplexity")))
def test_the_best_come_first_equal_ones_in_their_order_and_those_without_the_score_last(
    values: list[float | None], score: str
) -> None:
    found = [selected(number, {} if value is None else {score: value}) for number, value in enumerate(values)]
    if all(value is None for value in values):
        found.append(selected(len(values), {score: 0.0}))
        values = [*values, 0.0]
    sign = 1 if score == "perplexity" else -1
    missing = [place for place, value in enumerate(values) if value is None]
    given = [(sign * value, place) for place, value in enumerate(values) if value is not None]
    expected = [place for _, place in sorted(given)] + missing
    for run in (1, 1 << 20):  # bytes in memory: each line in a file of its own, or all in memory
        ordered = list(ordering.ordered(found, score, run))
        assert [int(one.document.title) for one in ordered] == expected
        assert {one.dump for one in ordered} == {"a crawl"}
        assert [one.line.rstrip() for one in ordered] == [found[place].line for place in expected]


def test_a_score_that_no_document_has_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"--sort relevance: .* the scores are perplexity, words"):
        list(ordering.ordered([selected(1, {"perplexity": 2.0, "words": 3.0})], "relevance"))


def test_no_document_at_all_is_no_error() -> None:
    assert list(ordering.ordered([], "relevance")) == []


def test_an_export_is_sorted_and_filtered_by_perplexity_and_its_card_says_so(tmp_path: Path) -> None:
    scored = [
        msgspec.structs.replace(sample, scores={"perplexity": 100.0 * (number * 7 % 5)})
        for number, sample in enumerate(SAMPLES[:5])
    ]
    crawl, wanted = samples.crawl(tmp_path / "crawl", scored), Wanted(most=("perplexity=300",))
    summary = exports.run(crawl, tmp_path / "out", style="windrow", wanted=wanted, sort="perplexity")
    [file] = (tmp_path / "out" / "data").iterdir()
    lines = gzip.decompress(file.read_bytes()).splitlines()
    found = [json.loads(line)["scores"]["perplexity"] for line in lines]
    assert found == [0.0, 100.0, 200.0, 300.0]
    assert summary.left_out == {"score perplexity": 1}
    card = (tmp_path / "out" / "README.md").read_text()
    assert '"sort": "perplexity"' in card and "perplexity=300" in card
