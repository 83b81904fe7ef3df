"""Other people's extractors: missing ones are named with their packages, and their failures are counted."""

import sys
import types

import pytest

from windrow.config import ConfigError
from windrow.extraction.evaluation import PEERS, evaluate, peers
from windrow.extraction.evaluation.gold import Sample

STORY = "<p>" + "The words of the story are many and they are in the text of the page. " * 6 + "</p>"
HTML = f"<html><head><title>The mill</title></head><body><article>{STORY * 3}</article></body></html>"
PAGE = Sample("1", "set", HTML.encode(), "", language="en")


def test_an_unknown_peer_is_an_error_with_the_names_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="there is no peer 'boilerpipe'; the peers are trafilatura, readability, "):
        peers.peer("boilerpipe")


@pytest.mark.parametrize(
    ("name", "module", "packages"),
    [
        ("trafilatura", "trafilatura", "trafilatura"),
        ("readability", "readability", "readability-lxml lxml_html_clean"),
        ("newspaper", "newspaper", "newspaper4k jieba"),
    ],
)
def test_a_peer_that_is_not_installed_is_an_error_with_the_command(
    name: str, module: str, packages: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=f"{module} is not installed; try: pip install {packages}$"):
        peers.peer(name)
    assert name not in peers.installed()


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_gives_text_and_its_version(name: str) -> None:
    try:
        tool = peers.peer(name)
    except ConfigError as error:
        pytest.skip(str(error))
    page = tool.read(PAGE, HTML)
    assert page is not None and "words of the story" in evaluate.text(page)
    assert tool.version
    empty = tool.read(PAGE, "")
    assert empty is None or evaluate.text(empty) == ""
    if tool.has_facts:
        facts = (tool.facts or tool.read)(PAGE, HTML)
        assert facts is not None and facts.title == "The mill"


def test_a_peer_that_raises_has_failed_on_this_page_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class ArticleExtractor:
        def get_content(self, markup: str) -> str:
            if not markup:
                raise RecursionError
            return markup

    module = types.ModuleType("boilerpy3")
    module.extractors = types.SimpleNamespace(ArticleExtractor=ArticleExtractor)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "boilerpy3", module)
    tool = peers.peer("boilerpy3")
    assert tool.read(PAGE, "") is None
    page = tool.read(PAGE, "text")
    assert page is not None and evaluate.text(page) == "text"
    assert "boilerpy3" in peers.installed()
