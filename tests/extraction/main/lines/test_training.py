"""Labels, the paper's measure, training and cross-validation, on generated pages."""

import random
from pathlib import Path

import pytest

from tests.extraction.main.lines.assessed import assess
from tests.shared import shared
from windrow.config import ConfigError
from windrow.extraction.evaluation import files, gold
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.main import lines
from windrow.extraction.main.lines import features, labels, measure, model, source, training
from windrow.extraction.main.lines.svm import Svm

WORDS = (
    *("rain", "river", "stone", "field", "winter", "letter", "garden", "evening"),
    *("window", "market", "travel", "engine", "minister", "harvest", "silver", "narrow"),
)


def sentence(generator: random.Random, least: int, most: int) -> str:
    return " ".join(generator.choice(WORDS) for _ in range(generator.randint(least, most))) + "."


def sample(number: int, site: str = "site") -> Sample:
    """Return a page with a menu, an article of some paragraphs and a footer; the gold text is the article."""
    generator = random.Random(number)
    gold = [sentence(generator, 12, 60) for _ in range(generator.randint(4, 9))]
    menu = [f"<li><a href='/{item}'>{item}</a> |</li>" for item in WORDS]
    article = [f"<p>{text}</p>" for text in gold]
    footer = ["<div>", "<p>Copyright</p>", *menu, "</div>"]
    html = "\n".join(["<html><body>", *menu, f"<h1>Number {number}</h1>", *article, *footer, "</body></html>"])
    return Sample(f"{site}-{number}", "made", html.encode(), "\n".join(gold), site=site, encoding="utf-8")


def flags(html: str, gold: str) -> list[bool]:
    return [bool(flag) for flag in labels.labels(source.lines(html), gold)]


def test_lines_that_occur_in_the_gold_text_are_topical() -> None:
    gold = "The minister said on Tuesday that the harvest was good.\nShort.\nAnother line of the text, long enough."
    text = "<p>The minister <b>said</b> on&nbsp;Tuesday that the harvest was good.</p>"
    assert flags(f"<p>Menu and navigation of this site</p>{text}<p>Short.</p><p>Or.</p>", gold) == [
        False,
        True,
        True,
        False,
    ]


def test_deleted_links_make_no_difference_to_labels() -> None:
    gold = "Die Regierung in Berlin hat gestern in Potsdam ein neues Gesetz zur Ernte beschlossen."
    html = "<p>Die Regierung in <a>Berlin</a> hat gestern in <a>Potsdam</a> ein neues Gesetz zur Ernte beschlossen.</p>"
    assert flags(html, gold) == [True]


def test_chinese_lines_are_labelled_too() -> None:
    gold = "青岛市在城市社区设置近3000个志愿服务站点，为游客们提供志愿服务。"
    assert flags(f"<p>　　{gold}</p><p>责任编辑：季丽亚，未经许可不得转载本网站内容</p>", gold) == [True, False]


def test_a_page_holds_its_gold_text_even_if_this_extractor_deletes_it() -> None:
    gold = "Die Regierung in Berlin hat gestern ein neues Gesetz beschlossen."
    assert labels.holds(f"<body><form><a>{gold}</a></form><p>Impressum</p></body>", gold)
    assert not labels.holds(f"<body><!-- {gold} --><h1>403 Forbidden</h1></body>", gold)
    assert labels.holds("<body>Kurz</body>", "Kurz")
    assert labels.holds("", "")


def test_precision_and_recall_weight_words_by_bytes() -> None:
    found, gold = measure.bag("one three three"), measure.bag("three one one seven")
    assert (measure.size(found), measure.size(gold)) == (13, 16)
    match = measure.agreement(found, gold)
    assert match == (8 / 13, 8 / 16)
    assert match.f1 == pytest.approx(2 * 8 / (13 + 16))


def test_scripts_without_blanks_are_counted_by_character() -> None:
    assert measure.bag("青岛 2018年") == {"青": 1, "岛": 1, "2018": 1, "年": 1}
    assert measure.agreement(measure.bag("青岛"), measure.bag("青山")) == (0.5, 0.5)


def test_two_empty_texts_agree_and_an_empty_one_agrees_with_no_other() -> None:
    nothing, text = measure.bag(" . "), measure.bag("text")
    assert measure.agreement(nothing, nothing) == (1, 1)
    assert measure.agreement(nothing, text) == (0, 0)
    assert measure.agreement(text, nothing) == (0, 0)
    assert measure.agreement(nothing, text).f1 == 0


@pytest.mark.parametrize("classifier", ["svm", "bayes", "tree"])
def test_a_model_finds_the_article_of_pages_it_has_not_seen(classifier: str) -> None:
    model = training.train(map(sample, range(20)), classifier)
    assert model.pages == 20
    unseen = sample(99)
    texts = [one.text for one in lines.paragraphs(unseen.body.decode(), model)]
    assert set(unseen.gold.splitlines()) <= set(texts) <= {*unseen.gold.splitlines(), "Number 99", "Copyright"}


@pytest.mark.parametrize("classifier", training.CLASSIFIERS)
def test_the_same_pages_give_the_same_bytes(classifier: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        model.save(training.train(map(sample, range(12)), classifier), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.long
def test_training_on_the_same_pages_gives_the_shipped_model(tmp_path: Path) -> None:
    """The same basis, and the same decisions. Weights differ in their second digit from one type of CPU to another,
    because lines of the basis are much alike; with the features of an older CPU, 0.13 % of all lines were decided
    otherwise."""
    pages = list(gold.samples(shared("extraction")))
    files.train(pages, "lines", "svm", tmp_path / "lines.json")
    made, shipped = (model.load(path) for path in (tmp_path / "lines.json", Path(lines.__file__).parent / "model.json"))
    assert isinstance(made.classifier, Svm) and isinstance(shipped.classifier, Svm)
    assert (made.cuts, made.pages, made.classifier.basis) == (shipped.cuts, shipped.pages, shipped.classifier.basis)
    agreed = total = 0
    for page in filter(lambda page: len(page.raw), map(training.labelled, pages[::6])):
        scaled = features.normalised(page.raw)
        agreed += int((made.topical(scaled) == shipped.topical(scaled)).sum())
        total += len(page.raw)
    assert total > 50_000 and agreed > 0.998 * total


def test_a_page_with_many_lines_weighs_as_much_as_one_with_few() -> None:
    """On nine pages short lines are main text; on one page with ten times their lines they are not."""
    short, long = "<p>a b c d e f g</p>", "<p>" + "river stone " * 30 + "</p>"
    say = Sample("x", "made", (short * 10 + long).encode(), "a b c d e f g\n" * 10)
    deny = Sample("y", "made", (short * 900 + long).encode(), "river stone " * 30)
    trained = training.train([say] * 9 + [deny])
    found = source.lines(short * 10 + long)
    assert trained.topical(features.normalised(found.features))[:10].all()


def test_pages_that_do_not_hold_their_gold_text_are_left_out() -> None:
    refused = Sample("x", "made", b"<body><h1>403 Forbidden</h1></body>", sample(1).gold, site="site")
    rows = training.evaluate([*map(sample, range(20)), refused], folds=5)
    assert [(row.site, row.pages, row.left_out) for row in rows] == [("site", 20, 1)]
    assert training.train([*map(sample, range(20)), refused]).pages == 20


def test_each_page_is_tried_once_by_a_model_that_was_not_trained_on_it() -> None:
    pages = [training.labelled(sample(number)) for number in range(13)]
    folds = list(training._folds(pages, 5, "site"))
    assert len(folds) == 5
    assert sorted(id(page) for _, tried in folds for page in tried) == sorted(map(id, pages))
    for learned, tried in folds:
        assert len(learned) + len(tried) == 13
        assert not {id(page) for page in learned} & {id(page) for page in tried}


def test_small_sites_are_tried_together_and_each_is_in_one_fold() -> None:
    samples = [sample(number, site=f"s{number // 3}") for number in range(12)] + [
        sample(number, site="big") for number in range(20, 26)
    ]
    rows = training.evaluate(samples, "bayes", folds=4)
    assert [(row.site, row.pages) for row in rows] == [("big", 6), (training.OTHERS, 12)]
    pages = [training.labelled(one) for one in samples[:12]]
    for learned, tried in training._folds(pages, 4, training.OTHERS):
        assert not {page.site for page in learned} & {page.site for page in tried}


def test_easy_pages_are_extracted_well() -> None:
    row = training.evaluate(map(sample, range(30)), folds=10)[0]
    assert row.f1 > 0.95
    assert row.f1 == pytest.approx(2 * row.precision * row.recall / (row.precision + row.recall))


def test_a_given_model_is_tried_without_training() -> None:
    model = training.train(map(sample, range(20)), "tree")
    rows = assess([sample(number, site=f"s{number % 2}") for number in range(40, 50)], model)
    assert [(row.site, row.pages) for row in rows] == [("s0", 5), ("s1", 5)]


def test_the_table_has_one_line_per_site_and_one_for_their_mean() -> None:
    rows = [training.SiteScore("a", 3, 0, 0.5, 1.0, 0.667, 0.6), training.SiteScore("bb", 1, 2, 1.0, 1.0, 1.0, 1.0)]
    table = training.table(rows).splitlines()
    assert [line.split()[0] for line in table] == ["site", "a", "bb", "mean"]
    assert table[3].split() == ["mean", "4", "2", "0.750", "1.000", "0.834", "0.800"]
    assert len(training.table(rows[:1]).splitlines()) == 2


def test_an_unknown_classifier_is_refused() -> None:
    with pytest.raises(ConfigError, match="no classifier 'forest'; choose one of svm, bayes, tree"):
        training.train(map(sample, range(3)), "forest")


@pytest.mark.parametrize(
    "samples", [[], [Sample("x", "made", b"", "")], [Sample("x", "made", b"<p>one</p>", "other text")]]
)
def test_pages_without_main_text_or_without_other_lines_are_refused(samples: list[Sample]) -> None:
    with pytest.raises(ConfigError, match="do not show what main text is"):
        training.train(samples)
