"""The user's own extractor: a function from Capture to Page, named in the options."""

from pathlib import Path

import msgspec
import pytest

from tests.extraction.readers.test_html import capture
from windrow import config, extraction
from windrow.config import Config, ConfigError
from windrow.extraction import Extractor
from windrow.plugins import WrongResult
from windrow.records import Capture, Page
from windrow.refine import Refiner

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "extraction.md"
PAGE = f"<html lang=en><a href=one>Menu</a><p>{'The old mill stood by the river for years. ' * 12}</p>"


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Return the options of a crawl with the extractor that docs/extraction.md shows."""
    code = DOCUMENT.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    folder = tmp_path_factory.mktemp("crawl")
    (folder / "extractor_of_the_documentation.py").write_text(code, encoding="utf-8")
    return Config(extract=config.ExtractOptions(extractor=f"{folder}/extractor_of_the_documentation:extract"))


def test_a_function_of_the_user_extracts_pages(options: Config) -> None:
    page = extraction.extractor(options)(capture(PAGE))
    assert isinstance(page, Page)
    assert [one.text[:12] for one in page.paragraphs] == ["The old mill"]


def test_a_worker_refines_pages_with_a_function_of_the_user(options: Config) -> None:
    refined = Refiner(options)(capture(PAGE))
    assert [link.url.text for link in refined.links] == ["http://site.test/dir/one"]
    assert refined.draft is not None
    (paragraph,) = (msgspec.json.decode(one) for one in refined.draft.paragraphs)
    assert paragraph["text"].startswith("The old mill")


def test_the_error_for_an_unknown_extractor_names_the_built_in_ones() -> None:
    with pytest.raises(ConfigError, match="the known names are blocks, paragraphs, lines, none; did you mean 'blocks'"):
        extraction.extractor(Config(extract=config.ExtractOptions(extractor="block")))


def shouted(options: dict[str, str], inner: Extractor) -> Extractor:
    """A user's extractor that wraps another one."""

    def extract(capture: Capture) -> Page:
        page = inner(capture)
        paragraphs = tuple(
            msgspec.structs.replace(paragraph, text=paragraph.text.upper() + options["end"])
            for paragraph in page.paragraphs
        )
        return msgspec.structs.replace(page, paragraphs=paragraphs)

    return extract


def lost(capture: Capture) -> None:
    return None


@pytest.mark.parametrize("inner", ["", "paragraphs", "blocks"])
def test_an_extractor_of_the_user_wraps_a_configured_one(inner: str) -> None:
    settings = [f"extract.extractor={__name__}:shouted", "plugins.shouted.end=!"]
    settings += [f"plugins.shouted.inner={inner}"] if inner else []
    own = extraction.extractor(config.make(settings, Path()))(capture(PAGE))
    theirs = extraction.extractor(config.make([f"extract.extractor={inner or 'blocks'}"], Path()))(capture(PAGE))
    assert own.links == theirs.links
    assert [paragraph.text for paragraph in own.paragraphs] == [
        f"{paragraph.text.upper()}!" for paragraph in theirs.paragraphs
    ]
    assert own.paragraphs


def test_an_extractor_that_returns_no_page_is_named() -> None:
    with pytest.raises(WrongResult, match="the extractor returned NoneType, not a Page"):
        extraction.extractor(config.make([f"extract.extractor={__name__}:lost"], Path()))(capture(PAGE))
