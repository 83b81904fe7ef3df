"""Markdown exports: front matter, and files that can be cut into their documents again."""

import re
from pathlib import Path

import msgspec
import pytest

from tests.corpus import samples
from tests.corpus.formats.encoded import OPTIONS, read
from tests.corpus.samples import SAMPLES, Sample
from tests.jobs import exports
from windrow.corpus.formats import markdown
from windrow.corpus.formats.format import Item
from windrow.records import Document, Paragraph

DOCS = Path(__file__).resolve().parents[3] / "docs" / "corpus.md"


def encoded(document: Document) -> str:
    return markdown.encode(Item(document, b"", 1, "crawl"), OPTIONS).decode()


def documents(text: str) -> list[tuple[str, str]]:
    """Cut a file into its documents with the function that docs/corpus.md shows."""
    found = re.search(r're\.findall\(r"(.*?)", markdown, re\.MULTILINE \| re\.DOTALL\)', DOCS.read_text("utf-8"))
    assert found
    return re.findall(found[1], text, re.MULTILINE | re.DOTALL)


def test_a_document_has_front_matter_headline_and_text() -> None:
    document = read(SAMPLES[0], 0)
    assert encoded(document) == (
        '---\ntitle: "Alte \\"Mühlen\\" & <Wind>"\nurl: "http://www.wind.example.de/m%C3%BChle?a=1&b=2"\n'
        'date: "2020-05-04"\nlanguage: "deu"\ncrawled: "2026-11-15T10:44:21.123Z"\n'
        'id: "<urn:uuid:00000000-0000-4000-8000-000000000000>"\n---\n\n'
        '# Alte "Mühlen" & \\<Wind>\n\n## Die Mühle\n\nEr sagte: "Wind & Wetter" \\<hier>.\n\n'
    )


def test_the_licence_may_be_that_of_a_signal() -> None:
    document = read(SAMPLES[5], 5)
    assert 'licence: "https://l.example/by"\n' in encoded(document)


def test_structure_is_shown() -> None:
    document = read(Sample("http://a.example/", "eng", ("one",)))
    paragraphs = (Paragraph("one", structure="ol:1 li:1"), Paragraph("two", structure="ol:1 li:2"))
    assert "\n1. one\n2. two\n" in encoded(msgspec.structs.replace(document, paragraphs=paragraphs))


@pytest.mark.parametrize("structure", ["", "pre:1", "h2", "blockquote:1", "table:1 tr:1 td:1", "ul:1 li:1"])
def test_a_file_can_be_cut_into_its_documents_whatever_they_contain(structure: str) -> None:
    lines = '---\nurl: "x"\n---\n\ntext\n---'
    hostile = Paragraph(" ".join(lines.split()), structure=structure, lines=lines)
    document = read(Sample("http://a.example/", "eng", ("---",), title="---"))
    changed = msgspec.structs.replace(document, paragraphs=(hostile, hostile))
    found = documents(encoded(changed) * 3)
    assert len(found) == 3 and len(set(found)) == 1
    assert found[0][0].startswith('title: "---"\nurl: "http://a.example/"\n') and found[0][1].startswith("# ---\n")


def test_an_export_writes_every_document_and_a_card_that_says_how_to_read_it(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl")
    for output in (tmp_path / "out.md", tmp_path / "out"):
        summary = exports.run(crawl, output, "markdown")
        assert summary.documents_out == len(SAMPLES)
    found = documents((tmp_path / "out.md").read_text("utf-8"))
    assert len(found) == len(SAMPLES)
    assert {re.search('url: "(.*)"', facts)[1] for facts, _ in found} == {sample.url for sample in SAMPLES}  # type: ignore[index]
    assert (tmp_path / "out" / "data" / "00000.md.gz").is_file()
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "front matter" in card and "load_dataset" not in card and "configs:" not in card
