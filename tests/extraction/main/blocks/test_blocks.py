"""The extractor `blocks`: what it keeps and drops, that kernel and reference agree, and errors for broken models."""

import array
import dataclasses
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shared import shared
from tests.spent import cpu_seconds
from windrow.config import ConfigError
from windrow.extraction import walk
from windrow.extraction.evaluation import gold
from windrow.extraction.main import blocks
from windrow.extraction.main.blocks import features, model, reference, rules
from windrow.extraction.main.blocks.model import BlocksModel, Forest
from windrow.extraction.readers import html
from windrow.extraction.walk import Walk, structure
from windrow.records import Capture, Page, Paragraph, Task, Url

NAMES = rules.FIRST, rules.SECOND
FIRST = model.shipped(*NAMES).first
SENTENCE = (
    "The river had risen in the night, and in the morning the lower fields were under water as far as the old mill. "
)
PAGE = f"""<!doctype html><html lang=en><head><title>The flood of 1909 - The Valley News</title></head><body>
<header><nav><ul><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/sport>Sport</a></ul></nav></header>
<main><article><h1>The flood of 1909</h1><p>{SENTENCE * 3}</p><h2>The bridge</h2><p>{SENTENCE * 2}</p>
<ul><li>{SENTENCE}</li><li>{SENTENCE}</li></ul><blockquote><p>{SENTENCE * 2}</p></blockquote>
<p>{SENTENCE * 4}</p></article></main>
<aside><h3>More</h3><ul><li><a href=/1>Ten bridges to see</a><li><a href=/2>The mill reopens</a></ul></aside>
<div id=comments class=comments><h3>Comments</h3>
<div class=comment>My grandmother told us of that night, she was six years old.</div></div>
<footer><p>© The Valley News. <a href=/privacy>Privacy</a> <a href=/terms>Terms</a></p></footer></body></html>"""


def capture(page: str | bytes) -> Capture:
    body = page if isinstance(page, bytes) else page.encode("utf-8", "surrogatepass")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    return Capture(
        Task(Url("http://page.test/", "page.test", "page.test", 0)), 200, b"", head, body, 0.0, 0.0, "", "http/1.1"
    )


def by_kernel() -> blocks.BlockClassifier:
    if blocks._blocks is None:
        pytest.skip("needs the C kernel, which was not built")
    return blocks.classifier()


def by_reference() -> blocks.BlockClassifier:
    return blocks.classifier(kernel=False)


@pytest.fixture(params=[by_kernel, by_reference], ids=["kernel", "reference"])
def extracted(request: pytest.FixtureRequest) -> Callable[..., Page]:
    classify = request.param()
    return lambda page, **options: blocks.extract(capture(page), 10, classify=classify, **options)


def good(page: Page) -> list[str]:
    return [one.text for one in page.paragraphs if one.kind == "good"]


def walked(page: str | bytes) -> Walk:
    tree = html.read(capture(page), 0).tree
    assert tree is not None
    return walk.walk(walk.markup(tree))


def test_the_text_is_kept_and_the_boilerplate_is_not(extracted: Callable[..., Page]) -> None:
    kept = good(extracted(PAGE))
    assert "The bridge" in kept
    assert sum(SENTENCE.strip() in text for text in kept) == 6
    assert not {"Home", "News", "Sport", "Ten bridges to see", "The mill reopens"}.intersection(kept)


def test_a_page_has_title_links_and_language(extracted: Callable[..., Page]) -> None:
    page = extracted(PAGE)
    assert page.title == "The flood of 1909"  # without the name of the site: its heading says the same
    assert [link.url.text for link in page.links][1:3] == ["http://page.test/news", "http://page.test/sport"]
    assert page.language == "en"


def test_every_block_is_a_paragraph_with_its_path(extracted: Callable[..., Page]) -> None:
    page = extracted(PAGE)
    assert [one.text for one in page.paragraphs] == walked(PAGE).texts
    heading = next(one for one in page.paragraphs if one.text == "The bridge")
    assert (heading.heading, heading.path) == (True, "html.body.main.article.h2")
    assert {one.kind for one in page.paragraphs} == {one.own for one in page.paragraphs} == {"good", "bad"}


FORMED = f"""<html><head><base href="/dir/"></head><body><main><h1>The flood</h1><p>{SENTENCE * 3}<br>Signed</p>
<p>{SENTENCE}<b>Read</b> <a href="more?a=1&amp;b=2"><i>the rest</i></a>, <a href="#note">a note</a>.</p>
<ol><li></li><li>{SENTENCE * 2}<ul><li>{SENTENCE * 2}</li></ul></li></ol><blockquote><p>{SENTENCE * 2}</blockquote>
<table><tr><th>{SENTENCE}<th>{SENTENCE}<tr><td>{SENTENCE}<td>{SENTENCE}</table>
<pre>{SENTENCE}\n\t{SENTENCE}\n</pre><p>{SENTENCE * 3}</p></main><ul><li><a href=/>Home</a></ul></body></html>"""


@pytest.fixture(params=["kernel", "reference"])
def formed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Page]:
    """Extract FORMED with everything kept but its last block."""
    if request.param == "reference":
        monkeypatch.setattr(blocks, "_blocks", None)
        monkeypatch.setattr(structure, "_structure", None)

    def classify(page: Walk) -> tuple[bytes, bytes, int]:
        scores = array.array("H", [1] * (len(page.texts) - 1) + [0]).tobytes()
        return scores, scores, 1

    return lambda **options: blocks.extract(capture(FORMED), 10, classify=classify, **options)


def test_paragraphs_have_their_structure_and_lines(formed: Callable[..., Page]) -> None:
    page = formed()
    kept = [one for one in page.paragraphs if one.kept]
    assert [one.structure for one in kept] == [
        *("title", "", "", "ol:1 li:2", "ol:1 li:2 ul:2 li:1", "blockquote:1"),
        *("table:1 tr:1 th:1", "table:1 tr:1 th:2", "table:1 tr:2 td:1", "table:1 tr:2 td:2", "pre:1", ""),
    ]
    sentence = SENTENCE.strip()
    assert {one.structure: one.lines for one in kept if one.lines} == {
        "": f"{(SENTENCE * 3).strip()}\nSigned",
        "pre:1": f"{sentence}\n\t{sentence}",
    }
    assert not any(one.structure or one.lines for one in page.paragraphs if not one.kept)
    assert not any(one.marks for one in page.paragraphs)


def test_marks_are_kept_on_request(formed: Callable[..., Page]) -> None:
    page, plain = formed(marks=True), formed()
    found = [(one.text[mark.start : mark.end], mark.kind, mark.target) for one in page.paragraphs for mark in one.marks]
    rest = "http://page.test/dir/more?a=1&b=2"
    assert found == [("Read", "strong", ""), ("the rest", "em", ""), ("the rest", "link", rest)]
    assert tuple(msgspec.structs.replace(one, marks=()) for one in page.paragraphs) == plain.paragraphs


def test_comments_are_kept_on_request(extracted: Callable[..., Page]) -> None:
    page = extracted(PAGE, comments=True)
    comments = [one.text for one in page.paragraphs if one.kind == "comment"]
    assert comments == ["My grandmother told us of that night, she was six years old."]
    assert good(page) == good(extracted(PAGE))


@pytest.mark.parametrize("page", ["", "<html><body></body></html>", "<script>1</script>", "<p> &nbsp; </p>"])
def test_a_page_without_text_has_no_paragraphs(extracted: Callable[..., Page], page: str) -> None:
    assert extracted(page).paragraphs == ()


def test_a_body_that_is_not_html_has_no_paragraphs(extracted: Callable[..., Page]) -> None:
    assert extracted(b"%PDF-1.4 some text").paragraphs == ()


@pytest.mark.parametrize(
    "page", ["x", "<p>.", '<p>"', "<title>word</title><p>word", "<p>one<p>two", "<h1>h</h1>", "<a href=/>link</a>"]
)
def test_the_smallest_pages_are_extracted(extracted: Callable[..., Page], page: str) -> None:
    assert len(extracted(page).paragraphs) == page.count("<p>") or 1


def test_lone_surrogates_are_removed(extracted: Callable[..., Page]) -> None:
    page = extracted(PAGE.replace("river", "ri\ud800ver").replace("<title>", "<title>\udfff"))
    assert len(good(page)) > 4
    "".join(one.text for one in page.paragraphs).encode()


@pytest.mark.parametrize("most", [40_000, pytest.param(200_000, marks=pytest.mark.long)])
def test_very_many_blocks_take_linear_time(extracted: Callable[..., Page], most: int) -> None:
    def spent(count: int) -> float:
        page = "<div><p>one line of text and a word</div>" * count
        found: list[Page] = []
        seconds = cpu_seconds(lambda: found.append(extracted(page)))
        assert len(found[0].paragraphs) == count
        return seconds

    spent(10)
    few, many = spent(most // 20), spent(most)
    assert many < 20 * few * 4


def test_many_nested_elements_take_linear_time(extracted: Callable[..., Page]) -> None:
    page = "<div>text of a block here" * 20_000
    found: list[Page] = []
    assert cpu_seconds(lambda: found.append(extracted(page))) < 20
    assert len(found[0].paragraphs) == 20_000


def both_features(page: Walk, buckets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the features that the kernel and the reference compute."""
    if blocks._blocks is None:
        pytest.skip("needs the C kernel, which was not built")
    compiled = blocks.compiled_model(model.shipped(*NAMES))
    data = blocks._blocks.features(
        page.texts, page.blocks, page.containers, compiled, buckets.astype(np.uint16).tobytes()
    )
    table, context = features.first(page)
    return np.frombuffer(data, np.float32).reshape(len(buckets), -1).T, np.concatenate(
        (table, features.second(context, buckets))
    )


def check_equal(page: Walk) -> None:
    buckets = np.random.default_rng(len(page.texts)).integers(0, rules.BUCKETS, len(page.texts))
    ours, theirs = both_features(page, buckets)
    wrong = np.flatnonzero((ours != theirs).any(axis=1))
    assert not len(wrong), [(*NAMES[0], *NAMES[1])[row] for row in wrong]
    assert np.isfinite(theirs).all()
    assert by_kernel()(page) == by_reference()(page)


PIECES = st.sampled_from(
    (
        *"<div> </div> <p> <ul><li> </ul> </a> <h1> </h1> <table><tr><td> </table> <br><br>".split(),
        *"<article> </article> 。 1984".split(),
        *(
            "<a href=x>",
            "<div class=content>",
            "<div class=comments>",
            "<div class=forum>",
            "<tr><td>12 €<td>cell<td>3",
            "<div><b>A name of a thing</b><p>12,50 €</div>" * 5,
            "</div><div><h3>name</h3>12.30<br><br>words of it</div><div>",
            "word. ",
            "x" * 400,
            "a longer run of words, with a comma and a full stop. " * 3,
            "字" * 40,
            '"',
        ),
    )
)


@given(st.lists(PIECES, max_size=80))
@settings(deadline=None, max_examples=150)
def test_kernel_and_reference_agree_on_pages_of_pieces(pieces: list[str]) -> None:
    check_equal(walked("".join(pieces) + "end"))


def test_kernel_and_reference_agree_on_real_pages() -> None:
    pages = (
        list(gold.samples(shared("extraction/zh-web.tar.xz")))[::6]
        + list(gold.samples(shared("extraction/readability.tar.xz")))[::8]
    )
    for sample in pages:
        page = walked(sample.body)
        if page.texts:
            check_equal(page)


def test_the_kernel_refuses_tables_of_different_sizes() -> None:
    run = by_kernel()
    page = walked(PAGE)
    with pytest.raises(ValueError, match="do not fit together"):
        run(changed_walk(page, texts=page.texts[:-1]))
    with pytest.raises(ValueError, match="do not fit together"):
        run(changed_walk(page, containers=b""))
    broken = np.frombuffer(page.blocks, np.int32).reshape(len(walk.BLOCK), -1).copy()
    broken[walk.BLOCK.index("container")] = 1 << 20
    with pytest.raises(ValueError, match="do not fit together"):
        run(changed_walk(page, blocks=broken.tobytes()))


def changed_walk(page: Walk, **changed: object) -> Walk:
    fields = {name: getattr(page, name) for name in ("texts", "blocks", "containers", "path_parents", "path_tags")}
    return Walk(**(fields | changed))


def test_the_kernel_makes_the_paragraphs_that_python_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    classify = by_kernel()
    page = dataclasses.replace(walked(PAGE + FORMED), marks=[(3, 0, 3, 1, ""), (4, 4, 9, 0, "http://x.test/")])
    made = blocks.paragraphs(page, classify)
    assert {one.structure for one in made} >= {"", "h2", "blockquote:1", "pre:1"}
    with pytest.raises(ValueError, match="do not fit together"):
        blocks._blocks.paragraphs(
            Paragraph, page.texts, page.blocks[4:], page.paths(), ("bad", "good"), (b"", 0), (b"", 0)
        )
    monkeypatch.setattr(blocks, "_blocks", None)
    assert blocks.paragraphs(page, classify) == made


def test_the_second_stage_raises_a_block_only_a_little() -> None:
    page = walked(PAGE)
    first, second, _ = by_reference()(page)
    answers = (memoryview(stage).cast("H").tolist() for stage in (first, second))
    rows = list(zip(*answers, page.column("heading"), strict=True))
    assert all(late <= early + rules.RAISE for early, late, level in rows if level < 2)
    assert any(level > 1 for _, _, level in rows)  # a subheading goes with the block below it


def bucket(probability: float) -> int:
    return int(rules.EVEN + rules.STEPS * np.log(probability / (1 - probability)))


def kept(probabilities: Sequence[float], lengths: Sequence[int]) -> list[bool]:
    buckets = np.array([bucket(one) for one in probabilities])
    return (buckets >= reference.threshold(buckets, np.array(lengths))).tolist()


def test_the_blocks_with_the_greatest_expected_f1_are_kept() -> None:
    assert kept([0.99, 0.99, 0.01, 0.01], [100] * 4) == [True, True, False, False]
    # The text is all four with .6, and one with .4: together .6 + .4 · 2/5, alone .6 · 2/5 + .4.
    assert kept([0.99, 0.6, 0.6, 0.6], [100] * 4) == [True] * 4
    assert kept([0.99, 0.3, 0.3, 0.3], [100] * 4) == [True, False, False, False]
    assert kept([0.2, 0.1], [100] * 2) != [False, False]  # of a fragment something is always kept


def test_nothing_is_kept_of_a_page_without_text() -> None:
    assert kept([0.2, *[0.01] * 40], [20] * 41) == [False] * 41
    assert any(kept([0.9, *[0.01] * 40], [20] * 41))
    assert any(kept([0.2] * 80, [20] * 80))


@given(st.lists(st.tuples(st.integers(0, rules.BUCKETS - 1), st.integers(1, 10**7)), min_size=1, max_size=40))
def test_the_choice_is_that_of_the_formula(blocks: list[tuple[int, int]]) -> None:
    """Compare with the expected F1 of every choice, computed from its definition."""
    buckets, lengths = (np.array(column) for column in zip(*blocks, strict=True))
    found = reference.threshold(buckets, lengths)
    if found == rules.BUCKETS:
        return
    weighted = [(grade, length + rules.SLIGHT) for grade, length in zip(buckets // rules.GRADE, lengths, strict=True)]
    likely = {grade: rules.GRADES[grade] / (1 << rules.SCALE) for grade, _ in weighted}
    used = sorted(likely, reverse=True)
    size = {least: sum(weight for grade, weight in weighted if grade >= least) for least in used}
    right = {least: sum(weight * likely[grade] for grade, weight in weighted if grade >= least) for least in used}
    chances = zip(used, [*used[1:], None], strict=True)
    chance = {grade: likely[grade] - (likely[after] if after is not None else 0) for grade, after in chances}

    def expected(least: int) -> float:
        nested = sum(chance[one] * 2 * min(size[least], size[one]) / (size[least] + size[one]) for one in used)
        return float(nested + 2 * right[least] / (size[least] + right[used[-1]])) / 2

    assert expected(found // rules.GRADE) == pytest.approx(max(map(expected, used)), abs=1e-4)


def test_a_table_of_short_cells_is_kept_or_dropped_as_a_whole(extracted: Callable[..., Page]) -> None:
    rows = "".join(f"<tr><td>Oak plank, number {number}</td><td>{number},50 €</td></tr>" for number in range(1, 9))
    table = f"<table><tr><th>Plank</th><th>Price</th></tr>{rows}</table>"
    page = extracted(PAGE.replace("<h2>The bridge</h2>", f"<h2>The bridge</h2>{table}"))
    cells = [one.kind for one in page.paragraphs if ".table" in one.path]
    assert len(cells) == 18 and len(set(cells)) == 1


def test_prices_are_kept_with_their_names() -> None:
    cards = "".join(f"<div><h3>Oak plank, number {number}</h3><p>{number},50 €</p></div>" for number in range(1, 9))
    page = walked(f"<div>{cards}</div><p>2024</p>")
    _, context = features.first(page)
    names = [bool(level) for level in page.column("heading")]
    buckets = np.where(names, bucket(0.9), bucket(0.1))
    reference._join_cards(buckets, context)
    assert buckets.tolist() == [bucket(0.9)] * 16 + [bucket(0.1)]


def test_a_subheading_is_kept_with_the_list_below_it() -> None:
    page = walked(
        "<div><h2>Opening hours</h2><ul><li>Monday to Friday<li>Saturday</ul></div><h2>News</h2><div><p>x</div>"
    )
    _, context = features.first(page)
    buckets = np.array([bucket(one) for one in (0.1, 0.9, 0.8, 0.1, 0.9)])
    reference._join_headings(buckets, context)
    # The element around the second heading is the page, which holds what follows; a box around a heading does not.
    assert buckets.tolist() == [bucket(one) for one in (0.9, 0.9, 0.8, 0.9, 0.9)]
    boxed = walked("<div><h2>News</h2></div><div><p>x</div>")
    buckets = np.array([bucket(0.1), bucket(0.9)])
    reference._join_headings(buckets, features.first(boxed)[1])
    assert buckets.tolist() == [bucket(0.1), bucket(0.9)]


def test_a_long_word_is_one_word() -> None:
    names = list(rules.FIRST)
    for word, length in (("x" * 3000, 10), ("字" * 3000, 17910)):
        table, _ = features.first(walked(f"<p>{word}</p>"))
        assert table[names.index("length"), 0] == length


def test_the_headline_is_kept_and_marked(extracted: Callable[..., Page]) -> None:
    headline = next(one for one in extracted(PAGE).paragraphs if one.text == "The flood of 1909")
    assert (headline.kind, headline.heading, headline.structure) == ("good", True, "title")
    crumbs = PAGE.replace("<main>", "<ol><li><a href=/>News</a><li>The flood of 1909</ol><main>")
    assert [one.path[-2:] for one in extracted(crumbs).paragraphs if one.structure == "title"] == ["h1"]
    page = blocks.extract(capture(PAGE), 10, title=False)
    assert not any(one.structure == "title" for one in page.paragraphs)


def test_a_page_without_text_has_no_headline(extracted: Callable[..., Page]) -> None:
    links = "".join(f"<li><a href=/{number}>Part {number}</a></li>" for number in range(40))
    page = extracted(f"<title>Contents</title><h1>Contents</h1><ul>{links}</ul>")
    assert good(page) == []


def test_a_page_is_doubtful_if_no_block_of_its_text_is_certain() -> None:
    def answers(first: float, second: float) -> blocks.BlockClassifier:
        return lambda page: (
            np.full(len(page.texts), bucket(first), np.uint16).tobytes(),
            np.full(len(page.texts), bucket(second), np.uint16).tobytes(),
            bucket(0.3),
        )

    for first, second, doubtful in ((0.4, 0.4, True), (0.6, 0.4, False), (0.4, 0.2, False)):
        page = blocks.extract(capture(PAGE), 10, classify=answers(first, second))
        assert (page.doubtful, bool(good(page))) == (doubtful, second > 0.3)


def test_text_that_only_the_linked_data_have_is_the_text(extracted: Callable[..., Page]) -> None:
    body = json.dumps({"@type": "NewsArticle", "headline": "The flood", "articleBody": f"{SENTENCE * 4}\n\n{SENTENCE}"})
    script = f"<script type=application/ld+json>{body}</script>"
    page = extracted(f"<title>The flood</title>{script}<h1>The flood</h1><p>Loading …</p>")
    assert good(page) == ["The flood", (SENTENCE * 4).strip(), SENTENCE.strip()]
    assert [one.text for one in page.paragraphs if one.structure == "title"] == ["The flood"]
    shown = extracted(PAGE.replace("<body>", f"<body>{script}"))
    assert good(shown) == good(extracted(PAGE))


def shipped() -> BlocksModel:
    return model.shipped(*NAMES)


def test_the_shipped_model_is_complete_and_small() -> None:
    data = (Path(model.__file__).parent / "model.json").read_bytes()
    assert len(data) < 2 << 20
    assert shipped().trained_on


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    model.save(shipped(), tmp_path / "model.json")
    assert model.load(tmp_path / "model.json", *NAMES) == shipped()
    assert good(blocks.extract(capture(PAGE), 0, classify=blocks.classifier(str(tmp_path / "model.json"))))


def rewritten(path: Path, **changed: object) -> str:
    """Write a model with changed fields and the right checksum."""
    model.save(msgspec.structs.replace(shipped(), **changed), path)
    return str(path)


def forest(**changed: object) -> Forest:
    return msgspec.structs.replace(shipped().first, **changed)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"version": 7}, r"of version 7, .* at `\$\.version`"),
        ({"features": ("length",)}, r"other features .* at `\$\.features`"),
        ({"first": {"features": b""}}, r"expected \d+ bytes, got 0 - at `\$\.first\.features`"),
        (
            {"first": {"features": b"\xff" * len(FIRST.features)}},
            r"question 0 is about feature 65535 of \d+ - at `\$\.first\.features`",
        ),
        ({"first": {"thresholds": b"1234"}}, r"expected \d+ bytes, got 4 - at `\$\.first\.thresholds`"),
        (
            {"first": {"masks": b"\xff" * len(FIRST.masks)}},
            r"question 0 puts every leaf out of reach - at `\$\.first\.masks`",
        ),
        ({"first": {"values": b"\0"}}, r"expected 0 bytes, got 1 - at `\$\.first\.values`"),
        (
            {"first": {"values": b"", "features": b"", "thresholds": b"", "masks": b""}},
            r"got 0 - at `\$\.first\.values`",
        ),
        ({"first": {"early": 9999}}, r"got 9999 - at `\$\.first\.early`"),
        ({"first": {"questions": -1}}, r"expected \d+ bytes, got \d+ - at `\$\.first\."),
        ({"first": {"questions": 9}}, r"expected \d+ bytes, got \d+ - at `\$\.first\.features`"),
    ],
)
def test_the_error_for_a_malformed_model_names_the_field(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    parts = {name: forest(**value) if isinstance(value, dict) else value for name, value in changed.items()}
    path = rewritten(tmp_path / "model.json", **parts)
    with pytest.raises(ConfigError, match=f"model.json is not a model of 'blocks'.*{said}.*train_blocks"):
        blocks.classifier(path)


def test_a_changed_model_file_is_refused(tmp_path: Path) -> None:
    data = (Path(model.__file__).parent / "model.json").read_bytes()
    (tmp_path / "cut.json").write_bytes(data[: len(data) // 2])
    (tmp_path / "other.json").write_bytes(data.replace(b'"skip":', b'"skip":1', 1))
    (tmp_path / "list.json").write_bytes(b"[]")
    for name, said in (
        ("cut.json", "truncated"),
        ("other.json", "checksum"),
        ("list.json", "object"),
        ("none.json", "No such file"),
    ):
        with pytest.raises(ConfigError, match=f"{name}.*{said}"):
            blocks.classifier(str(tmp_path / name))


def test_any_bytes_of_a_model_file_are_read_or_refused() -> None:
    data = bytearray((Path(model.__file__).parent / "model.json").read_bytes())
    chance = random.Random(1)
    for _ in range(30):
        place = chance.randrange(len(data))
        kept, data[place] = data[place], chance.randrange(256)
        try:
            model.read(bytes(data), "model", NAMES)
        except ConfigError as error:
            assert str(error).startswith("model is not a model of 'blocks'")
        data[place] = kept
