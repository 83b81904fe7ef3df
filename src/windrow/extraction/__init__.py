"""Capture in, Page out: the content of a page, independent of how it was fetched and of what will be done with it.

`extractor` is the whole stage. It returns the extractor that the options name: one of EXTRACTORS, or the user's own
function `Capture -> Page`, named as "package.module:name", which may wrap one of ours. Each of ours begins with `html`,
which lets `decode` decode the body as a browser would, builds the tree once, and takes everything from it but the text:
the links as canonical URLs (`links`), on request with what the page says of their targets (`anchors`), the author's
directives to robots in the page or the header, the language, what the page says of itself, and the shape, by which the
pages of an endless calendar are recognised. What a page says of itself is found by `metadata` in `linked` data, meta
elements and marked elements; `title`, `byline` and `dates` know how titles, names and days are written. From the same
tree, or the same source, an extractor then makes the paragraphs:

    readers       from bytes to a tree or a text: encodings, media types, `html`
    page          all that a page says besides its text
    walk          one pass over the tree that gives the blocks of a page; `blocks` and `justext` start from it
    main/blocks   the extractor `blocks`: a learned classifier of blocks
    main/justext  the extractor `paragraphs`: jusText's rules
    main/lines    the extractor `lines`: DGWC's classifier of source lines
    tags          the tokens of a page's source, for WAT files and tables
    evaluation    gold texts and scores; not part of a crawl

The functions here are pure and hold nothing but models. Their input is hostile, so they run in worker processes
(crawler/workers) that may be killed at any instant: a function here must take linear time, but needs no limit of its
own on time or memory. Whatever comes in, the output is valid Unicode without control characters.

turbohtml, the parser, is imported in `html` and, for its decoders and its detector of encodings, in `guess`; nowhere
else.
"""

import functools
from collections.abc import Callable, Container
from typing import NamedTuple

import msgspec

from windrow import plugins
from windrow.config import Config, ExtractOptions
from windrow.plugins import OpenTable, WrongResult
from windrow.records import Capture, Page

Extractor = Callable[[Capture], Page]


class ExtractorOptions(NamedTuple):
    """What our extractors are made from."""

    config: Config
    known: Container[int] | None = None  # see `extractor`


def extractor(options: Config, known: Container[int] | None = None) -> Extractor:
    """Return the extractor that the options name, with its model loaded: errors appear before the first page.

    `known` adds to each link what the page says of it (the anchor, the words around it, the language), except to those
    whose URLs have these keys.
    """
    name = options.extract.extractor
    table = OpenTable("extract.extractor", EXTRACTORS, inner=ExtractOptions().extractor)
    made = plugins.build(table, name, options.plugins, ExtractorOptions(options, known))
    return functools.partial(_with_lines, made, name)


def _with_lines(extract: Extractor, name: str, capture: Capture) -> Page:
    """Look for the author and the date in the text of a page that declares none. name: of the extractor."""
    page = extract(capture)
    if not isinstance(page, Page):
        raise WrongResult(f"the extractor returned {type(page).__name__}, not a Page", name, extract)
    if not page.paragraphs:
        return page
    from windrow.extraction.page import byline, dates, metadata, title

    named = page.author and not title.names_site(page.author, capture.task.url.host)
    if page.date and named:
        return page
    author = page.author if named else metadata.author(byline.find(page.paragraphs)) or page.author
    date = page.date or dates.line(page.paragraphs, capture.time, page.language)
    return msgspec.structs.replace(page, author=author, date=date)


def _blocks(options: ExtractorOptions, inner: Extractor | None) -> Extractor:
    from windrow.extraction.main import blocks

    config, known = options
    return functools.partial(
        blocks.extract,
        max_links=config.extract.max_links,
        agent=config.identity.name,
        classify=blocks.classifier(config.extract.model),
        comments=config.extract.comments,
        title=config.extract.title,
        marks=config.extract.marks,
        known=known,
    )


def _paragraphs(options: ExtractorOptions, inner: Extractor | None) -> Extractor:
    from windrow.extraction.main import justext

    config, known = options
    justext.check(config.paragraphs)
    return functools.partial(
        justext.extract,
        max_links=config.extract.max_links,
        agent=config.identity.name,
        options=config.paragraphs,
        known=known,
    )


def _lines(options: ExtractorOptions, inner: Extractor | None) -> Extractor:
    from windrow.extraction.main import lines  # imports numpy, which the others do not need

    config, known = options
    return functools.partial(
        lines.extract,
        max_links=config.extract.max_links,
        agent=config.identity.name,
        model=lines.load_model(config.extract.model),
        known=known,
    )


def _none(options: ExtractorOptions, inner: Extractor | None) -> Extractor:
    from windrow.extraction.readers import html

    config, known = options
    links, agent = config.extract.max_links, config.identity.name
    return functools.partial(html.extract, max_links=links, agent=agent, known=known)


# Each module is imported when it is chosen. A new extractor is a package here, a line below, and a floor in
# tests/quality.
EXTRACTORS: dict[str, Callable[[ExtractorOptions, Extractor | None], Extractor]] = {
    "blocks": _blocks,
    "paragraphs": _paragraphs,
    "lines": _lines,
    "none": _none,
}
