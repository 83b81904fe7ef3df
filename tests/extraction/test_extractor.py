"""The user's own extractor: a function from Capture to Page, named in the options."""

from pathlib import Path

import msgspec
import pytest

from tests.extraction.readers.test_html import capture
from windrow import config, extraction
from windrow.config import Config, ConfigError
from windrow.records import Page
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
    with pytest.raises(ConfigError, match="the built-in names are blocks, paragraphs, lines, none"):
        extraction.extractor(Config(extract=config.ExtractOptions(extractor="block")))
