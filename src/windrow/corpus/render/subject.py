"""What a renderer draws."""

from collections.abc import Iterable

import msgspec

from windrow.records import Document, Page, Paragraph

TITLE = "title"  # the structure of the headline


class PageText(msgspec.Struct, frozen=True, kw_only=True):
    """The paragraphs of a page that are shown, and what is known of the page. Unknown facts are empty."""

    paragraphs: tuple[Paragraph, ...] = ()
    url: str = ""
    title: str = ""
    author: str = ""
    date: str = ""  # of publication: YYYY-MM-DD
    site: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    image: str = ""  # URL
    language: str = ""
    licence: str = ""  # URL
    doubtful: bool = False  # see data.Page

    @property
    def text(self) -> str:
        """The paragraphs, one per line."""
        return "\n".join([paragraph.text for paragraph in self.paragraphs])

    @property
    def links(self) -> list[str]:
        """The targets of the links within the paragraphs, each once."""
        marks = (mark for paragraph in self.paragraphs for mark in paragraph.marks)
        return list(dict.fromkeys(mark.target for mark in marks if mark.kind == "link" and mark.target))


def of_page(page: Page, url: str) -> PageText:
    return PageText(
        paragraphs=kept(page.paragraphs),
        url=url,
        title=page.title,
        author=page.author,
        date=page.date,
        site=page.site,
        description=page.description,
        tags=page.tags,
        image=page.image,
        language=page.language,
        licence=page.licence,
        doubtful=page.doubtful,
    )


def of_document(document: Document, licence: str) -> PageText:
    """`licence`: of the page, which a signal may name."""
    return PageText(
        paragraphs=document.paragraphs,
        url=document.url,
        title=document.title,
        author=document.author,
        date=document.date,
        site=document.site,
        description=document.description,
        tags=document.tags,
        image=document.image,
        language=document.language,
        licence=licence,
    )


def kept(paragraphs: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
    """Return the main text and the comments of readers."""
    return tuple([paragraph for paragraph in paragraphs if paragraph.kept])


def without_links(page: PageText) -> PageText:
    return msgspec.structs.replace(page, paragraphs=tuple(map(_without_links, page.paragraphs)))


def _without_links(paragraph: Paragraph) -> Paragraph:
    left = tuple([mark for mark in paragraph.marks if mark.kind != "link"])
    return paragraph if len(left) == len(paragraph.marks) else msgspec.structs.replace(paragraph, marks=left)


def headed(page: PageText) -> PageText:
    """Return the page with its headline as a paragraph: one that it has or, if its text has none, its title."""
    paragraphs = page.paragraphs
    if not paragraphs or not page.title or any(paragraph.structure == TITLE for paragraph in paragraphs):
        return page
    headline = _headline(page)
    if headline is None:
        shown = (Paragraph(page.title, heading=True, structure=TITLE), *paragraphs)
    else:
        title = msgspec.structs.replace(paragraphs[headline], structure=TITLE)
        shown = (*paragraphs[:headline], title, *paragraphs[headline + 1 :])
    return msgspec.structs.replace(page, paragraphs=shown)


def headless(page: PageText) -> PageText:
    """Return the page without its headline."""
    headline = _headline(page)
    shown = tuple(
        [
            paragraph
            for number, paragraph in enumerate(page.paragraphs)
            if paragraph.structure != TITLE and number != headline
        ]
    )
    return msgspec.structs.replace(page, paragraphs=shown)


def _headline(page: PageText) -> int | None:
    """Return the number of the first heading that says what the title says, if no paragraph is marked as headline."""
    title = page.title.casefold()
    for number, paragraph in enumerate(page.paragraphs):
        if paragraph.structure == TITLE:
            return None
        if title and paragraph.heading and paragraph.text.casefold() == title:
            return number
    return None
