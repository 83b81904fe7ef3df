"""jusText's rules: each class, each step of the second pass, the presets and their options; jusText itself."""

import itertools
from pathlib import Path

import pytest
import turbohtml

from windrow import config
from windrow.extraction import walk
from windrow.extraction.main import justext
from windrow.extraction.main.justext import rules
from windrow.extraction.main.justext.rules import PRESETS, in_context
from windrow.extraction.main.justext.stoplists import Stoplist
from windrow.records import Paragraph

THE = Stoplist(frozenset({"the"}))
STOCK = PRESETS["stock"]
LONG, MIDDLE, SHORT = "the dog " * 26, "the dog " * 10, "the dog"  # 207, 79 and 7 characters


def page(html: str, **options: object) -> tuple[Paragraph, ...]:
    given = config.ParagraphsOptions(**{"language": "en", "preset": "stock", **options})  # type: ignore[arg-type]
    tree = turbohtml.parse(html)
    walk.strip(tree, given.preset == "stock")
    return justext.paragraphs(walk.markup(tree), "", given)


def own(html: str, **options: object) -> list[str]:
    return [paragraph.own for paragraph in page(html, **options)]


def kinds(html: str, **options: object) -> list[str]:
    return [paragraph.kind for paragraph in page(html, **options)]


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        (f"<p>{LONG}", "good"),
        (f"<p>{MIDDLE}", "neargood"),
        (f"<p>{SHORT}", "short"),
        (f"<p>{'cat dog ' * 26}", "bad"),
        (f"<p>{'the ' * 31}{'dog ' * 69}", "neargood"),  # .31 is between the two thresholds
        (f"<p>{'the ' * 29}{'dog ' * 71}", "bad"),
        (f"<p>{LONG} ©", "bad"),
        (f"<p>{LONG} &amp;copy 2020", "bad"),
        (f"<p>{LONG}<a>{'the dog ' * 8}</a>", "bad"),
        (f"<p>{LONG}<a>{'the dog ' * 4}</a>", "good"),
        ("<p>the dog <a>x</a>", "bad"),
    ],
)
def test_a_paragraph_without_neighbours(html: str, kind: str) -> None:
    assert own(html) == [kind]


@pytest.mark.parametrize(
    ("alone", "decided"),
    [
        ("g s g", "g g g"),
        ("b s b", "b b b"),
        ("g s b", "g b b"),
        ("b s g", "b b g"),
        ("g s n b", "g g g b"),  # the bad side begins with a nearly good one
        ("g s s n b", "g g g g b"),
        ("b n s g", "b g g g"),
        ("n", "b"),
        ("b n b", "b b b"),
        ("g n b", "g g b"),
        ("b n n g", "b g g g"),  # the first is decided before the second: its neighbour below counts as good
        ("s s", "b b"),
        ("", ""),
    ],
)
def test_neighbours_decide_short_and_nearly_good_paragraphs(alone: str, decided: str) -> None:
    names = {"g": "good", "b": "bad", "s": "short", "n": "neargood"}
    classes = [names[letter] for letter in alone.split()]
    assert in_context(classes, [10] * len(classes), [False] * len(classes), 200) == [
        names[letter] for letter in decided.split()
    ]


def test_a_heading_is_good_if_good_text_follows() -> None:
    html = f"<h2>{SHORT}</h2><p>{SHORT}</p><p>{LONG}</p>"
    assert kinds(html) == ["good", "bad", "good"]
    assert kinds(html, max_heading_distance=5) == ["bad", "bad", "good"]
    assert kinds(html, headings=False) == ["bad", "bad", "good"]
    assert kinds(f"<h2><a href=x>{SHORT}</a></h2><p>{LONG}") == ["bad", "good"]


def test_class_heading_and_path_are_kept() -> None:
    first, second = page(f"<body><article><h1>{SHORT}</h1><div><p>{LONG}")
    assert first == Paragraph(SHORT, "good", True, "html.body.article.h1", "short")
    assert second == Paragraph(LONG.strip(), "good", False, "html.body.article.div.p", "good")


def test_good_paragraphs_have_their_structure_and_lines_with_the_tuned_preset() -> None:
    source = f"<ul><li>x<li>{LONG}<br>{LONG}</ul>"
    assert [(one.structure, one.lines) for one in page(source, preset="tuned")] == [
        ("", ""),
        ("ul:1 li:2", f"{LONG.strip()}\n{LONG.strip()}"),
    ]
    assert [(one.structure, one.lines) for one in page(source)] == [("", "")] * 2


def test_every_threshold_is_an_option() -> None:
    assert own(f"<p>{MIDDLE}", length_high=70) == ["good"]
    assert own(f"<p>{MIDDLE}", length_low=80) == ["short"]
    assert own(f"<p>{MIDDLE}", stopwords_low=0.6, stopwords_high=0.6) == ["bad"]
    assert own(f"<p>{MIDDLE}", stopwords_low=0.4, stopwords_high=0.6) == ["neargood"]
    assert own(f"<p>{MIDDLE} <a>{MIDDLE}</a>", max_link_density=0.6) == ["neargood"]
    assert own(f"<nav><p>{LONG}</nav>", preset="tuned") == ["bad"]
    assert own(f"<nav><p>{LONG}</nav>", preset="tuned", landmarks=False) == ["good"]
    assert own("<p>" + "我们在这里是的" * 4, preset="tuned", language="zh") == ["neargood"]
    assert own("<p>" + "我们在这里是的" * 4, preset="tuned", language="zh", unspaced=1.0) == ["short"]


def test_an_option_that_is_not_set_has_the_value_of_the_preset() -> None:
    assert justext.thresholds(config.ParagraphsOptions()) == PRESETS["tuned"]
    assert justext.thresholds(config.ParagraphsOptions(preset="stock", length_low=0)).length_low == 0
    assert justext.thresholds(config.ParagraphsOptions(preset="stock", length_low=0)).length_high == 200


def test_the_tuned_preset_keeps_blanks_between_inline_elements() -> None:
    html = f"<p><b>{LONG.strip()}</b> <i>end</i>"
    assert page(html)[0].text.endswith("dogend")
    assert page(html, preset="tuned")[0].text.endswith("dog end")


def test_the_language_is_guessed_if_none_is_given() -> None:
    czech = "<p>" + "Všichni lidé se rodí svobodní a sobě rovní co do důstojnosti a práv. " * 4
    assert own(czech, language="", preset="tuned") == ["good"]
    assert own(czech, language="ja", preset="tuned") == ["bad"]


def test_a_paragraph_in_a_foreign_language_is_checked_with_the_list_of_that_language() -> None:
    czech = "<p>" + "Všichni lidé jsou si před zákonem rovni a mají právo na stejnou ochranu zákona. " * 4
    both = f"<p>{'All the people of the world are born free and they are equal in their rights. ' * 9}{czech}"
    assert (
        own(both, language="", preset="tuned")
        == own(both, language="en", preset="tuned", mixed=True)
        == ["good", "good"]
    )
    assert (
        own(both, language="en", preset="tuned")
        == own(both, language="", preset="tuned", mixed=False)
        == ["good", "bad"]
    )
    assert own(both, language="en") == own(both, language="") == ["good", "bad"]
    names = "<p>" + "Nikon Z6; Canon R5; Sony A7; Fujifilm XT4; Leica M11; Pentax K3; " * 4
    assert own(both + names, language="", preset="tuned") == ["good", "good", "bad"]


def test_a_language_without_a_list_is_read_without_stop_words() -> None:
    thai = "<p>" + "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ" * 4
    assert own(thai, language="th") == own(thai, language="") == ["good"]
    assert own("<p>" + "股票基金" * 60, language="zh") == ["good"]  # stock, as jusText has no list
    assert own("<p>" + "股票基金" * 60, language="zh", preset="tuned") == ["bad"]


def test_a_stop_list_of_the_user_overrides_the_language(tmp_path: Path) -> None:
    path = tmp_path / "dogs.txt"
    path.write_text("cat\n", "utf-8")
    assert own(f"<p>{LONG}", stoplist=str(path)) == ["bad"]
    assert own(f"<p>{'cat dog ' * 26}", stoplist=str(path)) == ["good"]


def test_very_many_short_paragraphs_take_linear_time() -> None:
    count = 200_000
    assert in_context(["short"] * count, [1] * count, [True] * count, 200) == ["bad"] * count
    assert in_context(["short", "neargood"] * count, [1] * 2 * count, [True] * 2 * count, 200) == ["bad"] * 2 * count


def test_every_short_sequence_is_decided_as_justext_decides_it() -> None:
    original = pytest.importorskip("justext")
    forms = {
        "good": f"<p>{'the ' * 60}</p>",
        "neargood": f"<p>{'the ' * 25}</p>",
        "bad": "<p><a>zz zz</a></p>",
        "short": "<p>zz</p>",
        "heading": "<h2>zz</h2>",
    }
    sequences = itertools.chain.from_iterable(itertools.product(forms, repeat=length) for length in range(1, 5))
    for sequence in sequences:
        html = "<html><body>" + "".join(forms[name] for name in sequence) + "</body></html>"
        theirs = [(one.class_type, one.cf_class, one.heading) for one in original.justext(html, THE.words)]
        tree = turbohtml.parse(html)
        walk.strip(tree, True)
        ours = rules.classified(walk.walk(walk.markup(tree), True), THE, STOCK)
        assert [(one.kind, one.own, one.heading) for one in ours] == theirs, sequence
