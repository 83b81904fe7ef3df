"""Boundaries of a topic from the scores in the log of a crawl, and from text on the topic."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests import logs
from tests.judge.focus import subjects
from windrow.config import Config, ConfigError, FocusOptions
from windrow.jobs.topic import calibrate, samples
from windrow.jobs.topic.calibrate import Proposal
from windrow.judge.focus import relevance
from windrow.judge.focus import topic as judge


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> FocusOptions:
    place = tmp_path_factory.mktemp("topic")
    (place / "cats.txt").write_text("\n".join(subjects.text("cats", 500)))
    made = samples.make([str(place / "cats.txt")], "", [])
    samples.write(made, place)
    return replace(made.options, model=str(place / "topic.bin"), words=str(place / "topic.words"))


def crawl(directory: Path, scores: list[dict[str, float]]) -> Path:
    """Write the log of a crawl whose pages have these scores."""
    entries = [logs.page(f"/{number}", scores=found) for number, found in enumerate(scores)]
    logs.write(directory / "log", logs.frame(1, *entries))
    return directory


def proposed(found: Proposal) -> dict[str, float]:
    return {one.name: one.proposed for one in found.boundaries}


def test_a_perplexity_is_divided_at_quantiles_of_the_crawl(options: FocusOptions, tmp_path: Path) -> None:
    scores = [{"perplexity": float(number)} for number in range(1, 202)] + [{"words": 3.0}]
    config = Config(focus=FocusOptions(model=options.model, high=20.0))
    found = calibrate.propose(crawl(tmp_path, scores), config, [])
    assert (found.by, found.pages, found.parts, found.typical) == ("perplexity", 201, 0, None)
    assert proposed(found) == {"high": 51.0, "medium": 101.0, "cutoff": 191.0}
    high = found.boundaries[0]
    assert high.now == 20.0
    assert high.low is not None and high.high is not None
    assert 30 < high.low < 51 < high.high < 75
    assert high.share == pytest.approx(0.25, abs=0.01)
    assert found.values() == {
        "focus.by": "perplexity",
        "focus.high": 51.0,
        "focus.medium": 101.0,
        "focus.cutoff": 191.0,
    }


def test_boundaries_by_odds_stay_where_they_divide_the_pages(options: FocusOptions, tmp_path: Path) -> None:
    scorer = judge.read(options)
    texts = [subjects.text(name, 20, seed) for name in ("cats", "ships", "bread") for seed in range(40)]
    scores = [scorer.score(text).named() for text in texts]
    found = calibrate.propose(crawl(tmp_path, scores), Config(focus=options), [])
    assert (found.by, found.pages) == ("odds", 120)
    limits = proposed(found)
    assert limits["high"] <= limits["medium"] <= limits["cutoff"] == options.cutoff
    shares = {one.name: one.share or 0.0 for one in found.boundaries}
    assert 0.05 <= shares["high"] <= 0.51
    assert shares["cutoff"] >= 0.9


def test_held_out_text_says_what_is_typical(options: FocusOptions, tmp_path: Path) -> None:
    path = tmp_path / "held.txt"
    path.write_text("\n".join(subjects.text("cats", 300, seed=8)))
    found = calibrate.propose(
        tmp_path, Config(focus=replace(options, typical_perplexity=0.0, by="perplexity")), [str(path)]
    )
    assert (found.by, found.pages) == ("odds", 0)
    assert found.parts > 10
    assert found.typical is not None and found.perplexity is not None
    assert found.perplexity.low <= found.typical.perplexity * 1.001
    assert found.values()["focus.typical_ratio"] == found.typical.ratio
    assert proposed(found)["high"] >= 1
    assert relevance.odds(found.typical.perplexity, found.typical.ratio, found.typical) < 1


def test_text_of_the_model_itself_and_text_on_another_topic_are_doubted(options: FocusOptions, tmp_path: Path) -> None:
    for name, text, doubt in (
        ("seen", subjects.text("cats", 500), "text of the model itself"),
        (
            "other",
            ["Nobody expected rain because clouds had moved away over mountains yesterday."] * 40,
            "topic",
        ),
    ):
        path = tmp_path / name
        path.write_text("\n".join(text))
        found = calibrate.propose(tmp_path, Config(focus=options), [str(path)])
        assert any(doubt in note for note in found.notes), found


def test_few_pages_are_said_to_be_few(options: FocusOptions, tmp_path: Path) -> None:
    found = calibrate.propose(crawl(tmp_path, [{"perplexity": 5.0}]), Config(focus=options), [])
    assert any("only 1 pages" in note for note in found.notes)


def test_a_crawl_without_a_topic_or_without_pages_is_refused(options: FocusOptions, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"focus\.model is not set"):
        calibrate.propose(tmp_path, Config(), [])
    with pytest.raises(ConfigError, match="no page with a score yet"):
        calibrate.propose(tmp_path, Config(focus=options), [])
