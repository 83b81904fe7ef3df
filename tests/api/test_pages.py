"""`windrow.extract`."""

import pytest

import windrow
from windrow.records import Page, Paragraph

PARAGRAPH = (
    "Der Wind weht über das weite Feld, und die Mühle am Bach dreht sich langsam, weil das Wasser im Sommer niedrig "
    "steht und der Müller schläft."
)
HTML = (
    f'<html lang="de-AT"><head><title>Die Mühle</title><meta name="author" content="Ada">'
    f'<meta name="date" content="2024-02-29"></head><body><nav><a href="/start">Start</a></nav>'
    f"<h1>Die Mühle</h1><p>{PARAGRAPH}</p><p>{PARAGRAPH} Abends ist es still.</p>"
    f'<a href="next.html">weiter</a></body></html>'
)


def test_a_page_gives_its_text_title_date_and_language() -> None:
    page = windrow.extract(HTML, "http://a.example/x/y.html")
    assert (page.title, page.author, page.date) == ("Die Mühle", "Ada", "2024-02-29")
    assert (page.language, page.declared, page.url) == ("deu", "de-AT", "http://a.example/x/y.html")
    assert PARAGRAPH in page.text.split("\n") and str(page) == page.text
    assert page.text == "\n".join(paragraph.text for paragraph in page.paragraphs)


def test_text_and_bytes_give_the_same_page() -> None:
    page = windrow.extract(HTML)
    assert windrow.extract(HTML.encode()) == page
    assert windrow.extract(HTML.encode("windows-1252"), charset="windows-1252").text == page.text


def test_a_charset_that_a_page_declares_is_not_believed_of_text() -> None:
    wrong = HTML.replace("<head>", '<head><meta charset="windows-1251">')
    assert windrow.extract(wrong).text == windrow.extract(HTML).text


def test_links_are_absolute_and_only_there_if_they_are_wanted() -> None:
    page = windrow.extract(HTML, "http://a.example/x/y.html", links=True)
    assert set(page.links) == {"http://a.example/start", "http://a.example/x/next.html"}
    assert windrow.extract(HTML, "http://a.example/x/y.html").links == ()


def test_the_extractor_and_its_options_can_be_chosen() -> None:
    strict = {"paragraphs.length_low": 5000, "paragraphs.length_high": 6000}
    assert windrow.extract(HTML, extractor="paragraphs", language="de").text
    assert windrow.extract(HTML, extractor="paragraphs", language="de", settings=strict).text == ""


@pytest.mark.parametrize("html", ["", b"", "<", "\ud800<p>x", b"\xff\xfe\x00", "<p>" * 5000])
def test_any_page_gives_a_result(html: str | bytes) -> None:
    page = windrow.extract(html)
    assert page.text.encode() or page.language == "und"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"html": None}, "takes a page as str or bytes, not NoneType"),
        ({"html": "", "url": "ftp://a.example/"}, "is not an http or https URL"),
        ({"html": "", "extractor": "block"}, "there is no extractor 'block'"),
        ({"html": "", "settings": "fetch.delay=1"}, "is not a dict"),
        ({"html": "", "settings": {"paragraphs.lenght_low": 1}}, "length_low"),
        ({"html": b"", "charset": "utf-8\r\nX-A: b"}, "is not the name of an encoding"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(windrow.Error, match=message) as raised:
        windrow.extract(**arguments)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_a_page_can_be_shown_as_markdown_html_and_tei() -> None:
    page = windrow.extract(HTML, "http://a.example/x/y.html")
    assert page.markdown() == f"# Die Mühle\n\n{PARAGRAPH}\n\n{PARAGRAPH} Abends ist es still.\n"
    assert page.markdown(title=False) == page.markdown().removeprefix("# Die Mühle\n\n")
    assert f"<h1>Die Mühle</h1>\n<p>{PARAGRAPH}</p>" in page.html() and '<html lang="de-AT">' in page.html()
    assert '<idno type="URL">http://a.example/x/y.html</idno>' in page.tei() and "<h1>" not in page.html(title=False)


def test_facts_that_a_page_does_not_state_are_empty() -> None:
    page = windrow.extract("<p>Kurz.</p>")
    assert (page.site, page.description, page.tags, page.image, page.author, page.date) == ("", "", (), "", "", "")


def test_a_comment_of_a_reader_is_a_section_at_the_end() -> None:
    page = windrow.extract(HTML, extractor="tests.api.test_pages:with_comment")
    assert page.text == "Schön!\nDer Text."
    assert page.markdown() == "# Titel\n\nDer Text.\n\n## Comments\n\nSchön!\n"


def with_comment(capture: windrow.Capture) -> Page:
    return Page(
        title="Titel", paragraphs=(Paragraph("Schön!", "comment"), Paragraph("Der Text."), Paragraph("x", "bad"))
    )
