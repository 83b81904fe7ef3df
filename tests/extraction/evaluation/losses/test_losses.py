"""The site of losses: which pages it shows, that it is complete and offline, and that no text of a page is executed."""

import html.parser
import json
import re
from pathlib import Path

import pytest

from windrow.config import ConfigError
from windrow.extraction.evaluation import losses, measure, score
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.losses import view
from windrow.extraction.evaluation.measure import Choice
from windrow.extraction.evaluation.score import Tool
from windrow.records import Page, Paragraph

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
GOLD = f"The mill burned.\nIt was old & {EVIL}"
VOID = ("meta", "br", "input")


def says(name: str, *texts: str, title: str = "") -> Tool:
    return Tool(name, lambda sample, markup: Page(title=title, paragraphs=tuple(map(Paragraph, texts))))


def sample(name: str, gold: str = GOLD) -> Sample:
    return Sample(name, "set", b"<p>source " + EVIL.encode(), gold, language="en", kind=EVIL, url="http://a.test/")


class Checker(html.parser.HTMLParser):
    """Check that elements are closed in order, and collect elements, links and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes |= {name for name, _ in attributes}
        self.links += [value or "" for name, value in attributes if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tools = [says("blocks", "The mill burned.", EVIL, title=EVIL), says("peer", *GOLD.split("\n"))]
    monkeypatch.setattr(measure, "tools", lambda choice: tools)
    samples = [sample("1"), sample("2"), sample("3", "\0The mill burned.")]
    scores = [score.page(tools, one) for one in samples]
    losses.write(tmp_path, losses.choose(scores, 1, 10), samples, Choice((), ("peer",)))
    return tmp_path


def test_the_greatest_losses_to_the_best_peer_come_first() -> None:
    tools = [says("blocks", "a b c"), says("other", "a"), says("peer", "a b"), says("best", "a b c d")]
    golds = ["a b c", "a b c d", "a b", "a b c d e f"]
    scores = [score.page(tools, sample(gold, gold)) for gold in golds]
    found = losses.choose(scores, 2, 10)
    assert [(one.ours.name, one.other and one.other.extractor) for one in found] == [
        ("a b", "peer"),
        ("a b c d", "best"),
        ("a b c d e f", "best"),
    ]
    assert found[0].lost == pytest.approx(1 - 4 / 5)
    assert [one.ours.name for one in losses.choose(scores, 2, 1)] == ["a b"]
    alone = losses.choose([page[:1] for page in scores], 1, 10)
    assert [(one.ours.name, one.other) for one in alone] == [("a b c d e f", None), ("a b", None), ("a b c d", None)]


def test_every_page_is_valid_html_and_every_link_leads_to_a_file(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert [page.name for page in pages] == ["index.html", "0001.html", "0002.html"]
    for page in pages:
        text = page.read_text("utf-8")
        assert text.startswith("<!DOCTYPE html>") and "\0" not in text
        found = Checker(text)
        assert all((page.parent / link).is_file() for link in found.links)
        assert not found.attributes & {"onerror", "onclick", "src"}


def test_no_text_of_a_page_becomes_markup(site: Path) -> None:
    assert Checker((site / "index.html").read_text("utf-8")).elements.count("script") == 1
    for page in (site / "pages").glob("*.html"):
        found = Checker(page.read_text("utf-8"))
        assert not {"script", "img", "iframe"} & set(found.elements)
        assert "default-src 'none'; style-src 'unsafe-inline'" in page.read_text("utf-8")


def test_a_page_shows_the_three_texts_the_blocks_and_the_source_as_text(site: Path) -> None:
    page = (site / "pages" / "0001.html").read_text("utf-8")
    assert "<del>It was old &amp; " in page
    assert "blocks <small>F1 " in page and "peer <small>F1 100.0" in page
    assert re.search(r'<tr class="right good"><td class=n>1</td><td>good</td>', page)
    source = (site / "pages" / "0001.txt").read_bytes()
    assert source == b"\xef\xbb\xbf<p>source " + EVIL.encode()


def test_the_index_has_a_row_and_a_record_per_page_and_filters(site: Path) -> None:
    index = (site / "index.html").read_text("utf-8")
    assert index.count("<tr data-dataset=") == 2
    assert all(f'data-filter="{name}"' in index for name in ("dataset", "kind", "language"))
    records = [json.loads(line) for line in (site / "losses.jsonl").read_bytes().splitlines()]
    assert [one["loss"]["ours"]["name"] for one in records] == ["1", "2"]


def test_a_site_is_written_if_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = [says("blocks", *GOLD.split("\n"))]
    monkeypatch.setattr(measure, "tools", lambda choice: tools)
    found = losses.choose([score.page(tools, sample("1"))], 1, 10)
    losses.write(tmp_path, found, [sample("1")], Choice(()))
    assert found == [] and list((tmp_path / "pages").iterdir()) == []
    assert "Nothing is lost" in (tmp_path / "index.html").read_text("utf-8")


def test_a_directory_that_holds_a_file_is_refused(tmp_path: Path) -> None:
    losses.check(tmp_path / "new")
    losses.check(tmp_path / "new")
    (tmp_path / "new" / "x").touch()
    with pytest.raises(ConfigError, match=r"new exists and is not empty; remove it, or name another directory"):
        losses.check(tmp_path / "new")


def test_a_block_is_wrong_if_it_was_dropped_from_the_gold_text_or_kept_outside_it() -> None:
    page = Page(
        paragraphs=(
            Paragraph("The mill burned down in May", "bad"),
            Paragraph("It was old"),
            Paragraph("Read also"),
            Paragraph("Menu", "bad"),
            Paragraph("It was old", "bad"),
            Paragraph("…"),
        )
    )
    gold = Sample("1", "set", b"", "The mill burned down in May.\nIt was old.")
    assert [one.wrong for one in view.blocks(gold, page)] == ["dropped", "", "kept", "", "", ""]
    passages = Sample("1", "set", b"", "", partial=True, wanted=("mill burned",), unwanted=("Read", "Menu"))
    assert [one.wrong for one in view.blocks(passages, page)] == ["dropped", "", "kept", "", "", ""]
