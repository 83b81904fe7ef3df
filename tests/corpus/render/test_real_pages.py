"""Every form on real pages: the text that a parser reads back is the text of the page."""

import xml.etree.ElementTree as etree

import pytest

from tests.corpus.render import oracle
from tests.corpus.render.test_html import read
from tests.shared import shared
from windrow import extraction
from windrow.corpus.render import html, markdown, subject, tei
from windrow.extraction.evaluation import files, gold
from windrow.jobs.inputs import pages
from windrow.records import Paragraph

EVERY = 5


def letters(text: str) -> str:
    return "".join(text.split())


def shown(paragraph: Paragraph) -> str:
    return letters(paragraph.text)


@pytest.mark.long
def test_the_text_of_real_pages_survives_every_form() -> None:
    extractor = extraction.extractor(files.options("blocks", pages.marks(True)))
    count = 0
    for number, sample in enumerate(gold.samples(shared("extraction/wcxb-dev.tar.xz"))):
        if number % EVERY:
            continue
        page = subject.headed(subject.of_page(extractor(sample.capture()), "http://a.example/"))
        # The order may differ: a caption comes before its table, a comment at the end.
        expected = sorted("".join(map(shown, page.paragraphs)))
        assert sorted("".join(letters(block.text) for block in oracle.blocks(markdown.markdown(page)))) == expected
        body = html.document(page).partition("<body>")[2].removesuffix(html.END)
        assert sorted(letters("".join(text for _, text in read(body).found)).replace("|", "")) == [
            letter for letter in expected if letter != "|"
        ]
        root = etree.fromstring(tei.document(page))
        text = next(root.iter(f"{{{tei.NAMESPACE}}}body"))
        assert sorted(letters("".join(text.itertext()))) == expected
        count += 1
    assert count > 250
