"""Capture in, Page out: what a page says, with nothing of how it was fetched or what will be made of it.

`extractor` is the whole stage. It gives the extractor that the options name, one of EXTRACTORS; each takes a Capture and answers with a
Page. All of them begin with `html`, which asks `decode` for the text of the body, as a browser would read it, builds the tree once, and
takes from it everything but the text: the links as canonical URLs, each once; what the author wants of robots, said in the page or in the
header; title, language, author and date; and `shape`, by which the pages of a calendar without end are known to be one page. From the
same tree, or the same source, an extractor then makes the paragraphs. `walk` is the way over the tree that they share.

The functions here are pure and hold nothing but models. They run on input written by anyone, so they run in worker processes
(crawl/workers.py) that may be killed at any instant: no function here needs to defend itself against taking too long or too much memory,
only against costing more than linear time. Whatever comes in, what goes out is valid Unicode without control characters.

turbohtml, the parser, is imported in `html` and, for its decoders and its detector of encodings, in `decode`; nowhere else.
"""

import functools
from collections.abc import Callable

import msgspec

from windrow import plugins
from windrow.config import Config
from windrow.data import Capture, Page

Extractor = Callable[[Capture], Page]


def extractor(options: Config) -> Extractor:
    """The extractor that the options name, its model loaded: what is wrong with them is said now and not on the first page."""
    name = options.extract.extractor
    if name not in EXTRACTORS:
        return functools.partial(_dated, plugins.load(name, "extract.extractor", EXTRACTORS))
    return functools.partial(_dated, EXTRACTORS[name](options))


def _dated(read: Extractor, capture: Capture) -> Page:
    """A page that says nowhere when it was published may say so in its text."""
    page = read(capture)
    if page.date or not page.paragraphs:
        return page
    from windrow.extract import metadata

    date = metadata.dateline(page.paragraphs, capture.time)
    return msgspec.structs.replace(page, date=date) if date else page


def _with_blocks(options: Config) -> Extractor:
    from windrow.extract import blocks

    links, agent = options.extract.max_links, options.identity.name
    judge, comments = blocks.judge(options.extract.model), options.extract.comments
    return functools.partial(blocks.extract, max_links=links, agent=agent, judge=judge, comments=comments)


def _with_paragraphs(options: Config) -> Extractor:
    from windrow.extract import justext

    justext.check(options.paragraphs)
    links, agent = options.extract.max_links, options.identity.name
    return functools.partial(justext.extract, max_links=links, agent=agent, options=options.paragraphs)


def _with_lines(options: Config) -> Extractor:
    from windrow.extract import lines  # with numpy, which the others do without

    links, agent = options.extract.max_links, options.identity.name
    return functools.partial(lines.extract, max_links=links, agent=agent, model=lines.load_model(options.extract.model))


def _without_text(options: Config) -> Extractor:
    from windrow.extract import html

    return functools.partial(html.extract, max_links=options.extract.max_links, agent=options.identity.name)


# Each is imported when it is asked for. A new one is a line here, its name in config.PATTERNS, and a floor in tests/quality.
EXTRACTORS: dict[str, Callable[[Config], Extractor]] = {
    "blocks": _with_blocks,
    "paragraphs": _with_paragraphs,
    "lines": _with_lines,
    "none": _without_text,
}
