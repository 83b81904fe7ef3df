"""The tags of a page in the order of its source, without a tree: every link with its attributes, and all text.

`read` is what WAT and WET files, and the tables of links and pages, are made from (jobs/derive). It differs from the
rest of `extract` in three ways. It takes every attribute that leads to a URL, also of images, scripts and forms, and
leaves the URLs as they are written. It gives all text of a page, without a choice of what is main text: a line per
block. And it builds no tree: it reads the source once as the tokenizer of the HTML standard does, in little more than
half of the time that parsing alone takes. What a page says stays the same; only how elements are nested is not known,
and an anchor that is not closed ends at the next one.

The C kernel `_tags` does it where it was built; otherwise `reference` does, with the same result. The time is linear
whatever the page, so no limit on time is needed; `most` limits the number of records.

    title      of the head, else the first; on one line
    base       the href of the first base element that has one
    metas      meta elements and the language of the page, as {"name", "content", …}
    relations  link elements
    scripts    script elements
    links      all others, as {"path": "A@/href", "url": …, "text": …}
    text       UTF-8: no control characters, single blanks, one line per block
"""

import functools
from html.entities import html5
from typing import NamedTuple

from windrow.extraction.tags import elements, reference, tokens
from windrow.extraction.tags.reference import Record

try:
    from windrow.extraction.tags import _tags
except ImportError:  # there was no compiler: the reference does it
    _tags = None  # type: ignore[assignment]

__all__ = ["PageTags", "Record", "read"]


class PageTags(NamedTuple):
    title: str | None
    base: str | None
    metas: list[Record]
    relations: list[Record]
    scripts: list[Record]
    links: list[Record]
    text: bytes


def read(source: str, most: int) -> PageTags:
    """Return what the tags of a page say, and its text; of metas, links and scripts together at most so many."""
    if _tags is None:
        return by_reference(source, most)
    return PageTags._make(_tags.read(source.encode("utf-8", "replace"), _compiled(), most))


def by_reference(source: str, most: int) -> PageTags:
    reader = reference.TagReader(source.encode("utf-8", "replace").decode(), most)
    reader.read()
    links, relations, scripts = reader.lists
    return PageTags(
        title=reader.title,
        base=reader.base,
        metas=reader.metas,
        relations=relations,
        scripts=scripts,
        links=links,
        text="".join(reader.text).encode(),
    )


@functools.cache
def _compiled() -> object:
    """Return the rules in the kernel's form."""
    number = {name: index for index, name in enumerate(elements.ATTRIBUTES)}
    tags = [
        (
            tag,
            int(rule.flags),
            int(rule.where),
            [
                (number[name], f"{tag.upper()}@/{name}", [number[other] for other in others])
                for name, others in rule.urls
            ],
        )
        for tag, rule in elements.TAGS.items()
    ]
    windows = "".join(map(tokens.character, range(0x80, 0xA0)))
    limits = (elements.ANCHOR, elements.TITLE, elements.LONGEST)
    return _tags.compile(
        tags, list(elements.ATTRIBUTES), html5, (elements.of_style, elements.of_click), limits, windows
    )
