"""A topic from sample text: what is made of it, and one sentence for each text that cannot be used."""

import dataclasses
from pathlib import Path

import pytest

from tests.judge import declarations
from tests.judge.focus import subjects
from windrow import config
from windrow.config import ConfigError, FocusOptions
from windrow.jobs.topic import samples
from windrow.judge.focus import model, training, weights
from windrow.judge.focus import topic as judge
from windrow.judge.focus.tokens import Tokeniser


def written(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines), "utf-8")
    return str(path)


@pytest.fixture
def sample(tmp_path: Path) -> str:
    return written(tmp_path / "cats.txt", subjects.text("cats", 500))


def test_a_text_is_enough_for_model_words_and_boundaries(sample: str, tmp_path: Path) -> None:
    made = samples.make([sample], "", ["eng"])
    options = made.options
    assert (options.model, options.words, options.by) == ("topic.bin", "topic.words", "odds")
    assert 1 <= options.high < options.medium < options.cutoff
    assert 0 < options.typical_ratio < options.worst_ratio
    assert made.reasons.keys() == {f"focus.{name}" for name, value in set_options(options).items()}
    samples.write(made, tmp_path)
    here = dataclasses.replace(options, model=str(tmp_path / "topic.bin"), words=str(tmp_path / "topic.words"))
    judge.check(here)
    scorer = judge.read(here)
    own, other = (scorer.score(subjects.text(name, 20, seed=9)).relevance or 0.0 for name in ("cats", "ships"))
    assert own > 0.75 > other + 0.2
    assert (tmp_path / "topic.txt").read_text() == Path(sample).read_text() + "\n"


def set_options(options: FocusOptions) -> dict[str, object]:
    return {name: value for name, value in dataclasses.asdict(options).items() if value}


def test_the_same_text_gives_the_same_files(sample: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        samples.write(samples.make([sample], "", []), tmp_path / name)
    for name in (samples.MODEL, samples.WORDS, samples.TEXT):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_options_that_the_user_sets_stay(sample: str) -> None:
    given = ["focus.high=0.25", "focus.max_perplexity=5000"]
    options, reasons = samples.applied(config.make(given, Path()), samples.make([sample], "", []), given)
    found = options.focus
    assert (found.high, found.max_perplexity, found.model) == (0.25, 5000.0, "topic.bin")
    assert "focus.high" not in reasons and "focus.medium" in reasons


def test_an_option_that_the_user_sets_to_its_default_stays(sample: str) -> None:
    given = ["focus.high=0", "focus.medium=0", "focus.cutoff=0"]
    options, _ = samples.applied(config.make(given, Path()), samples.make([sample], "", []), given)
    assert (options.focus.high, options.focus.medium, options.focus.cutoff, options.focus.by) == (0, 0, 0, "odds")


@pytest.mark.parametrize(("score", "worst"), [("perplexity", None), ("ratio", 2.0)])
def test_boundaries_are_of_the_score_that_the_user_chooses(score: str, worst: float | None, sample: str) -> None:
    made = samples.make([sample], "", [])
    given = [f"focus.by={score}"]
    options, reasons = samples.applied(config.make(given, Path()), made, given)
    focus = options.focus
    typical = focus.typical_perplexity if score == "perplexity" else focus.typical_ratio
    assert focus.by == score
    assert (
        typical < focus.high < focus.medium < focus.cutoff < (worst or judge.TopicScorer(model.make(made.tables)).worst)
    )
    assert score in reasons["focus.high"]


def test_boundaries_that_the_user_sets_across_those_of_the_topic_are_refused(sample: str) -> None:
    given = ["focus.high=500"]
    with pytest.raises(ConfigError, match=r"'focus\.medium' \(4\) is below 'focus\.high' \(500\)"):
        samples.applied(config.make(given, Path()), samples.make([sample], "", []), given)


@pytest.mark.parametrize("name", ["focus.model", "focus.words"])
def test_a_file_of_the_topic_cannot_be_set_beside_its_text(name: str, sample: str) -> None:
    given = [f"{name}=other"]
    with pytest.raises(ConfigError, match=f"its own file for '{name}'"):
        samples.applied(config.make(given, Path()), samples.make([sample], "", []), given)


@pytest.mark.parametrize("lines", [[], ["A few words are not enough."]])
def test_a_tiny_text_is_refused_with_what_is_needed(lines: list[str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs at least 300 words"):
        samples.make([written(tmp_path / "tiny.txt", lines)], "", [])


def test_a_sentence_that_occurs_again_does_not_make_a_text_longer(tmp_path: Path) -> None:
    path = written(tmp_path / "again.txt", ["The same sentence is here again and again."] * 2000)
    notes = samples.make([path], "", []).notes
    assert any("has only 8 words, without sentences that occur again: with fewer than 3,000" in note for note in notes)


def test_a_small_text_is_taken_with_a_warning(tmp_path: Path) -> None:
    notes = samples.make([written(tmp_path / "small.txt", subjects.text("cats", 60))], "", []).notes
    assert any("with fewer than 3,000" in note for note in notes)


def test_a_text_in_several_languages_is_taken_with_their_shares(tmp_path: Path) -> None:
    english, german = declarations.shipped("en"), declarations.shipped("de")
    made = samples.make([written(tmp_path / "mixed.txt", english + german)], "", [])
    [note] = [note for note in made.notes if "several languages" in note]
    assert "German" in note and "English" in note and "%" in note
    assert made.words is not None
    assert (made.words.weights["the"], made.words.weights["und"]) == (0.0, 0.0)


def test_a_text_in_a_language_that_the_crawl_does_not_accept_is_refused(sample: str) -> None:
    with pytest.raises(ConfigError, match=r"English \(eng\), and the crawl accepts only deu"):
        samples.make([sample], "", ["deu"])


def test_a_text_mostly_in_a_language_that_is_not_accepted_is_refused_with_the_shares(tmp_path: Path) -> None:
    english, german = declarations.shipped("en"), declarations.shipped("de")
    path = written(tmp_path / "mixed.txt", english + german[: len(german) // 2])
    with pytest.raises(ConfigError, match=r"mostly English \(eng\) \(\d+% English, \d+% German\), and the crawl"):
        samples.make([path], "", ["deu"])


def test_a_text_without_a_language_is_refused_without_naming_one(tmp_path: Path) -> None:
    path = written(tmp_path / "names.txt", [f"Xq{chr(97 + n % 26)}{chr(97 + n // 26)} zrk vvq." for n in range(200)])
    with pytest.raises(ConfigError, match="in no language that Windrow recognises, and the crawl accepts only deu"):
        samples.make([path], "", ["deu"])


def test_a_model_beside_text_is_refused(sample: str, tmp_path: Path) -> None:
    path = tmp_path / "cats.bin"
    model.write(training.train(Tokeniser().sequences(subjects.text("cats", 100))), path)
    with pytest.raises(ConfigError, match=r"cats\.bin is a language model; give one model and nothing else"):
        samples.make([sample, str(path)], "", [])


def test_html_is_read_as_its_main_text(tmp_path: Path) -> None:
    paragraphs = "".join(f"<p>{text}</p>" for text in subjects.text("cats", 300))
    menu = "<nav><a href=/a>Imprint</a> <a href=/b>Impressum</a></nav>"
    path = written(tmp_path / "cats.html", [f"<html><body>{menu}<article>{paragraphs}</article></body></html>"])
    made = samples.make([path], "", [])
    assert any("HTML" in note for note in made.notes)
    assert made.words is not None and "impressum" not in made.words.weights


@pytest.mark.parametrize("suffix", [".arpa", ".bin"])
def test_a_model_is_taken_as_it_is_and_boundaries_need_text(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"cats{suffix}"
    model.write(training.train(Tokeniser().sequences(subjects.text("cats", 100))), path)
    made = samples.make([str(path)], "", [])
    assert made.options == FocusOptions(model="topic.bin")
    assert "--held-out TEXT" in made.notes[0]
    samples.write(made, tmp_path)
    text = subjects.text("cats", 20, seed=3)
    copied, own = model.read(tmp_path / "topic.bin").score_texts(text), model.read(path).score_texts(text)
    assert copied.perplexity == pytest.approx(own.perplexity, rel=1e-5)
    assert not (tmp_path / "topic.words").exists()


def test_a_broken_arpa_file_is_refused_with_its_line(tmp_path: Path) -> None:
    path = written(
        tmp_path / "broken.arpa", ["\\data\\", "ngram 1=2", "", "\\1-grams:", "-1.0\tcat", "x\tdog", "\\end\\"]
    )
    with pytest.raises(ConfigError, match="line 6"):
        samples.make([path], "", [])


def test_a_missing_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.txt"):
        samples.make([str(tmp_path / "none.txt")], "", [])


def test_japanese_is_weighed_by_pairs_of_characters(tmp_path: Path) -> None:
    made = samples.make([written(tmp_path / "ja.txt", declarations.shipped("ja"))], "", ["jpn"])
    assert made.words is not None and made.words.pairs
    assert {len(word) for word in made.words.weights} == {2}
    samples.write(made, tmp_path)
    assert weights.read(tmp_path / "topic.words").pairs


def test_boundaries_that_do_not_rise_are_refused_when_they_are_loaded(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    path.write_text("[focus]\nhigh = 9\nmedium = 5\n")
    with pytest.raises(ConfigError, match=r"'focus.medium' \(5\) is below 'focus.high' \(9\)"):
        config.load(path)
    path.write_text("[focus]\nhigh = 9\ncutoff = 50\n")
    assert config.load(path).focus.cutoff == 50
