"""The judge of the topic."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.judge.focus import subjects
from windrow.config import Config, ConfigError, FocusOptions, JudgeOptions, LanguageOptions
from windrow.judge.focus import model, topic, training, weights
from windrow.judge.focus.tokens import Tokeniser
from windrow.judge.focus.weights import Background
from windrow.judge.panel import Judged, Panel
from windrow.judge.ruling import KEPT, Facts
from windrow.records import Page, Paragraph, Reason

NAMES = {"perplexity", "perplexity_windows", "ratio", "odds", "relevance"}
GERMAN = ["Die Katze schläft den ganzen Tag in der Sonne und wacht erst am Abend wieder auf, wenn es Futter gibt."] * 3


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> FocusOptions:
    """A topic with a model and words."""
    folder = tmp_path_factory.mktemp("topic")
    sample = subjects.text("cats", 500)
    model.write(training.train(Tokeniser().sequences(sample)), folder / "topic.bin")
    background = Background("test", neutral=frozenset("the of a and is in it to with".split()))
    weights.write(weights.make(weights.count(sample), background), folder / "topic.words")
    found = FocusOptions(model=str(folder / "topic.bin"), words=str(folder / "topic.words"), by="odds")
    typical, other = (topic.read(found).score(subjects.text(name, 100, seed=3)) for name in ("cats", "ships"))
    assert typical.ratio is not None and other.ratio is not None
    return replace(
        found,
        typical_perplexity=typical.perplexity,
        typical_ratio=typical.ratio,
        worst_ratio=1.5 * other.ratio,
    )


def page(texts: list[str]) -> Page:
    return Page(paragraphs=tuple(map(Paragraph, texts)))


def judged(config: Config, texts: list[str]) -> Judged:
    return Panel(config)(page(texts), "http://a.example/")


def test_a_page_gets_its_scores_and_is_kept(options: FocusOptions) -> None:
    found = judged(Config(focus=options), subjects.text("cats", 20, seed=7)).verdict
    assert found.reason is Reason.OK
    assert found.scores.keys() >= NAMES
    off = judged(Config(focus=options), subjects.text("ships", 20, seed=7)).verdict
    assert off.reason is Reason.OK
    assert found.scores["relevance"] > 0.5 > off.scores["relevance"]
    assert found.scores["ratio"] < off.scores["ratio"]
    assert found.scores["relevance"] == pytest.approx(1 / (1 + found.scores["odds"]), abs=1e-3)


def test_a_page_whose_language_is_not_accepted_has_its_bad_scores_too(options: FocusOptions) -> None:
    config = Config(focus=options, language=LanguageOptions(accepted=("eng",)))
    found = judged(config, GERMAN * 5).verdict
    assert found.reason is Reason.LANGUAGE
    assert found.scores["relevance"] < 0.2
    assert found.scores["ratio"] > 1.5


def test_text_of_a_language_that_was_dropped_does_not_count(options: FocusOptions) -> None:
    texts = subjects.text("cats", 20, seed=9)
    judge = topic.build(Config(focus=options))
    mixed = judge(page(texts + GERMAN), Facts(url="", texts=texts + GERMAN, dropped=frozenset((4, 5, 6))))
    assert mixed.scores == judge(page(texts), Facts(url="", texts=texts)).scores


def test_the_limit_keeps_pages_off_the_topic_out_of_the_corpus(options: FocusOptions) -> None:
    limit = round(1.25 * options.typical_perplexity)
    limited = Config(focus=replace(options, max_perplexity=float(limit)))
    on_topic = judged(limited, subjects.text("cats", 20, seed=7))
    assert (on_topic.verdict.reason, bool(on_topic.paragraphs)) == (Reason.OK, True)
    off_topic = judged(limited, subjects.text("ships", 20, seed=7))
    assert (off_topic.verdict.reason, off_topic.paragraphs) == (Reason.TOPIC, ())
    assert f"focus.max_perplexity is {limit}" in off_topic.verdict.detail
    assert off_topic.verdict.scores.keys() >= NAMES


def test_without_a_topic_no_page_has_these_scores() -> None:
    assert topic.build(Config())(page(GERMAN), Facts(url="", texts=GERMAN)) is KEPT


def test_a_page_without_text_has_no_scores_of_the_topic(options: FocusOptions) -> None:
    assert NAMES.isdisjoint(judged(Config(focus=options), []).verdict.scores)


def test_text_without_a_sequence_of_words_is_as_bad_as_unknown_words(options: FocusOptions) -> None:
    scorer = topic.read(options)
    assert scorer.score(["Home", "News", "1 2 3"]).perplexity == scorer.worst


@pytest.mark.parametrize("lower", [True, False])
def test_both_scores_are_those_of_the_text_as_it_is_written(lower: bool, options: FocusOptions) -> None:
    tokeniser = Tokeniser(lower=lower)
    ngrams = model.make(training.train(tokeniser.sequences(subjects.text("cats", 100)), tokeniser=tokeniser))
    weigher = weights.Weigher(weights.read(Path(options.words)))
    texts = [text.upper() for text in subjects.text("cats", 20, seed=5)] + ["Das Cafe\u0301 der FURRY Cat ist heute zu"]
    found = topic.TopicScorer(ngrams, weigher).score(texts)
    assert (found.perplexity, found.ratio) == (ngrams.score_texts(texts).perplexity, weigher.ratio(texts))


def test_without_words_and_typical_scores_there_is_only_the_perplexity(options: FocusOptions) -> None:
    found = judged(Config(focus=FocusOptions(model=options.model)), subjects.text("cats", 20)).verdict.scores
    assert found.keys() & NAMES == {"perplexity", "perplexity_windows"}


def test_a_panel_that_stops_early_leaves_the_topic_out(options: FocusOptions) -> None:
    config = Config(focus=options, language=LanguageOptions(accepted=("eng",)), judge=JudgeOptions(stop_early=True))
    assert "relevance" not in judged(config, GERMAN * 5).verdict.scores


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"model": "/nowhere/topic.bin"}, r"/nowhere/topic\.bin"),
        ({"words": "/nowhere/topic.words"}, r"/nowhere/topic\.words"),
        ({"model": ""}, "no model"),
        ({"by": "odds", "typical_perplexity": 0.0}, r"without focus\.typical_perplexity"),
        ({"by": "ratio", "words": ""}, r"without focus\.words"),
    ],
)
def test_a_topic_that_cannot_be_used_is_refused(changed: dict[str, object], said: str, options: FocusOptions) -> None:
    with pytest.raises(ConfigError, match=said):
        topic.check(replace(options, **changed))  # type: ignore[arg-type]


def test_a_damaged_model_is_refused_before_the_start(options: FocusOptions, tmp_path: Path) -> None:
    data = bytearray(Path(options.model).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "topic.bin").write_bytes(data)
    with pytest.raises(ConfigError, match="damaged"):
        topic.check(replace(options, model=str(tmp_path / "topic.bin")))
