"""tools/train_blocks.py: labels of blocks, splits of pages, and that the same pages give the same model."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from windrow.extraction.main.blocks import model, rules

TOOLS = Path(__file__).resolve().parents[4] / "tools"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for library in ("rapidfuzz", "lightgbm"):  # here: every process of a run collects all files
        pytest.importorskip(library)
    if not TOOLS.is_dir():
        pytest.skip("needs tools/, which a package leaves out")
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])
    return importlib.import_module("train_blocks")


def labels(tool: ModuleType, blocks: list[str], gold: str) -> list[float]:
    found: list[float] = tool.blocks_gold.labels([block.split() for block in blocks], gold.split())
    return found


def test_blocks_in_the_order_of_the_gold_text_are_found(tool: ModuleType) -> None:
    blocks = ["home", "the mill stood by the river", "ten more stories", "it was old and grey", "home"]
    assert labels(tool, blocks, "the mill stood by the river it was old and grey") == [0, 1, 0, 1, 0]


def test_a_long_block_is_found_out_of_order(tool: ModuleType) -> None:
    late, early = "and so they all went home again before night", "in the morning the sun rose over the quiet valley"
    assert labels(tool, [late, early, "menu"], f"{early} {late}") == [1, 1, 0]


def test_a_short_block_is_found_next_to_its_neighbours_only(tool: ModuleType) -> None:
    text = "the mill stood by the river and it was old"
    assert labels(tool, ["menu", "News", text, *["menu"] * 30, "News"], f"News {text}") == [0, 1, 1, *[0] * 30, 0]


def test_of_equal_blocks_the_one_beside_the_text_is_taken(tool: ModuleType) -> None:
    headline, text = "Flood of 1909", "A river had risen in one night and many fields were under water"
    menu = ["News", headline, "Sport", "Weather", "About us", "Imprint"]
    blocks = [one.split() for one in (*menu, headline, text, "Read more")]
    assert tool.blocks_gold.labels(blocks, f"{headline} {text}".split()) == [0, 0, 0, 0, 0, 0, 1, 1, 0]


def test_half_of_a_block_gives_half_a_label(tool: ModuleType) -> None:
    assert labels(tool, ["one two three four five six seven eight"], "one two three four") == [0.5]


@pytest.mark.parametrize(("blocks", "gold"), [([], "text"), (["text"], ""), ([""], "text")])
def test_empty_texts_give_no_labels(tool: ModuleType, blocks: list[str], gold: str) -> None:
    assert labels(tool, blocks, gold) == [0.0] * len(blocks)


def test_passages_label_the_blocks_that_hold_them_and_no_others(tool: ModuleType) -> None:
    texts = [
        "Home",
        "A story of a mill, and more.",
        "Subscribe now",
        "A long text of which the words Subscribe now are but a small part indeed. " * 2,
    ]
    found, weights = tool.by_passages(texts, (["story of a mill"], ["Subscribe now", "nowhere"]))
    assert list(found) == [0, 1, 0, 0]
    assert [weight > 0 for weight in weights] == [False, True, True, False]


def page(folder: Path, name: str, words: str) -> None:
    story = " ".join(
        f"{words} {number} came to the mill, and {words} said a word or two to {words}." for number in range(9)
    )
    menu = "".join(f"<li><a href=/{number}>{words} {number}</a>" for number in range(9))
    for part, text in (
        ("html", f"<title>{words}</title><ul>{menu}</ul><div><p>{story}</p><p>{story[::-1]}</p></div>"),
        ("gold", f"{story}\n{story[::-1]}"),
    ):
        (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / part / f"{name}.{'html' if part == 'html' else 'txt'}").write_text(text, encoding="utf-8")


def test_the_same_pages_give_the_same_model(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "TREES", 3)
    for number in range(24):
        page(tmp_path / "set", f"page{'abcdefghijklmnopqrstuvwxyz'[number]}", f"miller{number}")
    made = [tool.train(tool.read(tmp_path / "set")) for _ in range(2)]
    assert made[0] == made[1]
    assert made[0].trained_on == {"set": 24}
    model.save(made[0], tmp_path / "model.json")
    assert model.load(tmp_path / "model.json", rules.FIRST, rules.SECOND).first == made[0].first


def test_pages_of_one_site_or_text_are_in_one_part(tool: ModuleType, tmp_path: Path) -> None:
    for name, words in (("a", "one"), ("b", "two"), ("c", "one")):
        page(tmp_path / "set", name, words)
    (tmp_path / "set" / "meta.jsonl").write_text(
        "".join(
            f'{{"id": "{name}", "url": "http://{host}.test/{name}"}}\n'
            for name, host in (("a", "x"), ("b", "y"), ("c", "z"))
        ),
        "utf-8",
    )
    groups = {labelled.key[1]: labelled.group for labelled in tool.read(tmp_path / "set")}
    assert groups["a"] == groups["c"] != groups["b"]


def test_too_few_pages_are_refused(tool: ModuleType, tmp_path: Path) -> None:
    page(tmp_path / "set", "a", "one")
    with pytest.raises(tool.ConfigError, match="1 pages with gold text are too few"):
        tool.train(tool.read(tmp_path / "set"))
