"""An evaluation reads every page of a crawl, in the order of its log, and tests a model at each size."""

import shutil
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.jobs import demos
from windrow import config, demo
from windrow.config import ConfigError
from windrow.jobs.lm.heldout import crawled, evaluate
from windrow.jobs.lm.heldout import steps as table
from windrow.jobs.lm.heldout.evaluate import EvaluateOptions
from windrow.judge.focus import model, training
from windrow.judge.focus.tokens import Tokeniser
from windrow.records import CrawlEvaluation


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    options = demo.OPTIONS + '\n[language]\naccepted = ["ces"]\n'
    return demos.crawl(tmp_path_factory.mktemp("evaluate") / "crawl", "crawl.max_pages=150", options=options)


@pytest.fixture
def crawl(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "crawl"))


def sentences(crawl: Path, language: str = "") -> list[list[str]]:
    """Return the sentences of all pages in the order of the log."""
    pages = crawled.read(crawl, config.load(crawl / "crawl.toml"))
    texts = [text for page in pages for text in page.texts if language in ("", page.language)]
    return list(Tokeniser().sequences(texts))


@pytest.fixture
def texts(crawl: Path, tmp_path: Path) -> tuple[str, str]:
    """Return the files of a train and a held-out text: some Czech sentences of the crawl, and the same in disorder."""
    czech = sentences(crawl, "ces")
    assert len(czech) > 20
    train, held_out = tmp_path / "train.txt", tmp_path / "held-out.txt"
    train.write_text("".join(" ".join(words) + ".\n" for words in czech[:6]))
    held_out.write_text("".join(" ".join(words[::-1]) + ".\n" for words in czech[6:20]))
    return str(train), str(held_out)


def run(crawl: Path, texts: tuple[str, str], **options: object) -> CrawlEvaluation:
    given: dict[str, object] = {"train": texts[0], "held_out": texts[1], **options}
    return evaluate.run(crawl, EvaluateOptions(**given), lambda pages: None)  # type: ignore[arg-type]


def perplexity(sample: list[list[str]], held_out: str) -> float:
    """Return the perplexity of a text, by a model that is trained on this sample alone."""
    tested = list(Tokeniser().sequences(Path(held_out).read_text().splitlines()))
    return model.make(training.train(sample, unknown=evaluate.UNKNOWN_LOG10)).score(tested).perplexity


def test_the_rows_are_those_of_models_trained_on_the_text_so_far(crawl: Path, texts: tuple[str, str]) -> None:
    pages = list(crawled.read(crawl, config.load(crawl / "crawl.toml")))
    found = run(crawl, texts, sizes=(3000, 8000, 10**9))
    assert found.language == "ces" and found.note == "" and found.held_out_words > 50
    assert [row.size for row in found.rows] == [0, 3000, 8000, found.rows[-1].tokens]
    train = list(Tokeniser().sequences(Path(texts[0]).read_text().splitlines()))
    for row in found.rows:
        so_far = pages[: row.pages]
        assert row.tokens == sum(page.tokens for page in so_far)
        assert row.tokens >= row.size
        assert (
            row.wanted == sum(page.tokens for page in so_far if page.language == "ces") == row.languages.get("ces", 0)
        )
        assert row.kept == sum(page.kept for page in so_far)
        assert sum(row.languages.values()) == row.tokens
        assert row.fit is not None and row.fit_wanted is not None
        for fit, language in ((row.fit, ""), (row.fit_wanted, "ces")):
            chosen = [text for page in so_far for text in page.texts if language in ("", page.language)]
            sample = [*train, *Tokeniser().sequences(chosen)]
            assert fit.perplexity == pytest.approx(perplexity(sample, texts[1]), rel=1e-6)
            assert fit.sentences == len({tuple(words) for words in sample}), "each sentence once"
    assert found.rows[-1].pages == len(pages)


def test_pages_that_the_crawl_rejected_are_read_from_the_archive_in_the_order_of_the_log(crawl: Path) -> None:
    lines = [line for frame in truth.frames(crawl) for line in frame[1:] if line.get("clean")]
    pages = list(crawled.read(crawl, config.load(crawl / "crawl.toml")))
    assert [page.language for page in pages] == [line.get("page_language") or line["language"] for line in lines]
    assert [page.kept for page in pages] == [line.get("tokens", 0) for line in lines]
    assert {line["reason"] for line in lines} >= {"ok", "language"}
    sizes = [sum(len(text.encode()) for text in page.texts) for page in pages]
    assert sizes == [line["clean"] for line in lines]


def test_sentences_of_the_held_out_text_are_not_trained_on(crawl: Path, texts: tuple[str, str]) -> None:
    czech = sentences(crawl, "ces")
    Path(texts[1]).write_text("".join(" ".join(words) + ".\n" for words in czech[10:15]))
    found = run(crawl, texts)
    assert found.left_out >= 5
    sample = [words for words in sentences(crawl) if words not in czech[10:15]]
    train = list(Tokeniser().sequences(Path(texts[0]).read_text().splitlines()))
    last = found.rows[-1].fit
    assert last is not None
    assert last.perplexity == pytest.approx(perplexity([*train, *sample], texts[1]), rel=1e-6)


def test_pages_on_the_takedown_list_are_left_out(crawl: Path) -> None:
    options = config.load(crawl / "crawl.toml")
    before = sum(page.tokens for page in crawled.read(crawl, options))
    url = next(line["url"] for frame in truth.frames(crawl) for line in frame[1:] if line.get("kept"))
    (crawl / "takedown.txt").write_text(f"{url}\n")
    assert sum(page.tokens for page in crawled.read(crawl, options)) < before


def test_a_table_ends_where_the_memory_does(crawl: Path, texts: tuple[str, str]) -> None:
    found = run(crawl, texts, sizes=(200, 400), memory=350_000)  # a thousand words
    whole = run(crawl, texts, sizes=(200, 400))
    assert found.rows[-1].tokens < whole.rows[-1].tokens
    assert found.note.startswith(f"the table ends after {found.rows[-1].tokens:,} tokens: ")
    assert found.note.endswith("; allow more with --memory") and found.note in table.text([found])


def test_without_a_train_text_the_first_row_is_that_of_the_first_size(crawl: Path, texts: tuple[str, str]) -> None:
    found = run(crawl, ("", texts[1]), sizes=(300,))
    assert found.rows[0].size == 300 and set(found.shares) == {"held-out"}
    assert "over the words that the model has" in table.text([found])


def test_steps_that_one_page_reaches_together_are_one_row(crawl: Path, texts: tuple[str, str]) -> None:
    found = run(crawl, texts, sizes=(1, 2, 3))
    assert [row.size for row in found.rows][:2] == [0, 3]


def test_the_steps_are_those_of_the_paper() -> None:
    steps = evaluate._ladder()
    assert [next(steps) for _ in range(6)] == [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000]


def test_the_language_is_that_of_the_held_out_text_if_the_crawl_accepts_all(
    crawl: Path, texts: tuple[str, str]
) -> None:
    (crawl / "crawl.toml").write_text(demo.OPTIONS)
    assert run(crawl, texts, sizes=(300,)).language == "ces"
    assert run(crawl, texts, sizes=(300,), language="German").language == "deu"


def test_two_crawls_are_compared_at_the_sizes_that_both_have(crawl: Path, texts: tuple[str, str]) -> None:
    one, other = run(crawl, texts, sizes=(3000, 8000)), run(crawl, texts, sizes=(8000, 11000))
    assert [first.size for first, _ in table.pairs(one, other)] == [8000, one.rows[-1].size]
    shown = table.text([one, other]).splitlines()
    ratios = next(line for line in shown if line.strip().startswith("8,000 "))
    assert ratios.split()[-1] == "1.00"


def test_wrong_input_gets_one_sentence(crawl: Path, texts: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("Too short.\n")
    with pytest.raises(ConfigError, match="has no sentence of five words"):
        run(crawl, ("", str(tmp_path / "short.txt")))
    with pytest.raises(ConfigError, match="holds no crawl"):
        run(tmp_path / "nothing", texts)
    options = config.load(crawl / "crawl.toml", ["extract.extractor=none"])
    with pytest.raises(ConfigError, match="extracts no text"):
        next(crawled.read(crawl, options))


def test_pages_that_were_purged_are_left_out(crawl: Path) -> None:
    options = config.load(crawl / "crawl.toml")
    before = list(crawled.read(crawl, options))
    url = next(line["url"] for frame in truth.frames(crawl) for line in frame[1:] if line.get("kept"))
    (crawl / "takedown.txt").write_text(f"{url}\n")
    assert crashing.run(["purge", str(crawl)]).code == 0
    (crawl / "takedown.txt").write_text("")
    assert len(list(crawled.read(crawl, options))) == len(before) - 1
